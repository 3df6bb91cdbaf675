"""`manage.py first_run`: from nothing to a database with an account and a demo study. `make run` calls it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import Q

from annotator.demo.simulate import SNIPPETS, simulate_grades
from annotator.errors import CodejuryError
from annotator.grading.importer import add_grades, read_grade_rows
from annotator.results import actions as results
from annotator.results import jobs
from annotator.results.models import Job
from annotator.studies import actions as studies
from annotator.studies.importer import read_snippets
from annotator.studies.models import Study
from annotator.studies.tabular import Row

ACCOUNT = "researcher"
DEMO = "demo"
SEED = 1
NOTES = (
    "This study was made to show how Codejury works. The grades by simulated-1 to simulated-6 were made by a "
    "program, not by people: the results say nothing about real systems."
)


class Command(BaseCommand):
    help = (
        "Gets a new installation ready: the database tables, the account `researcher` with a random password that "
        "is printed once, and a demo study with simulated grades, metrics and a report. What is there already "
        "stays as it is; a run that was interrupted is finished by the next one."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        try:
            if not Study.objects.exists():
                self.stdout.write("Loading the demo study ...")
                load_demo()
            demo = Study.objects.filter(slug=DEMO, title=TITLE).first()
            if demo is not None and not demo.reports.exists():
                self.stdout.write("Computing its metrics and a first report ...")
                make_report(demo, self.stderr.write)
        except CodejuryError as error:
            raise CommandError(str(error)) from None
        # Last, so that the password stands at the end of what is printed, and only once all else is done.
        password = make_account()
        if password:
            self.print_account(password)

    def print_account(self, password: str) -> None:
        lines = [
            "Your account for the admin and the results. It is shown only now: write it down.",
            f"    user name  {ACCOUNT}",
            f"    password   {password}",
            f"Another password: .venv/bin/python manage.py changepassword {ACCOUNT}",
        ]
        width = max(map(len, lines))
        frame = "+" + "-" * (width + 2) + "+"
        self.stdout.write("\n".join([frame, *(f"| {line.ljust(width)} |" for line in lines), frame]))


TITLE = "Demo: how helpful are these snippets?"


def make_account() -> str:
    """The random password of the new account; "" if there is an account already."""
    users = get_user_model().objects
    # One of that name without the rights of staff is somebody's decision, too.
    if users.filter(Q(is_staff=True) | Q(username=ACCOUNT)).exists():
        return ""
    password = secrets.token_urlsafe(12)
    users.create_superuser(ACCOUNT, password=password)
    return password


def load_demo() -> None:
    """The demo study with its simulated grades, open for people; all of it or nothing."""
    with transaction.atomic():
        study = studies.create_study(DEMO, TITLE, "helpfulness", seed=SEED)
        study.notes = NOTES
        study.save(update_fields=["notes"])
        studies.add_material(study, read_snippets(SNIPPETS))
        rows = [Row(f"grade {number}", cells) for number, cells in enumerate(simulate_grades(SEED), start=1)]
        add_grades(study, read_grade_rows(rows, "demo", study.read_protocol()))
        studies.open_study(study)


def make_report(study: Study, complain: Callable[[str], object]) -> None:
    """Metrics and a report. One that fails is told and no reason to stop: the next run tries again."""
    for kind in (Job.Kind.METRICS, Job.Kind.REPORT):
        job = jobs.run_here(results.start_job(study, kind))
        if job.state == Job.State.FAILED:
            complain(f"{job.get_kind_display()}: failed for the demo study. {job.error}")
            return
