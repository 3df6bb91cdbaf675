"""`manage.py first_run`: all that a new installation needs, once; whatever is missing comes the next time."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import models
from django.test import Client

from annotator.demo.simulate import simulate_grades
from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.grading.verify import drifted
from annotator.results import actions, tasks
from annotator.results.management.commands import first_run
from annotator.results.models import Job, MetricScore, Report
from annotator.studies.models import Item, Problem, Snippet, Study, System
from tests.factories import make_researcher, make_study

pytestmark = pytest.mark.django_db(databases=["default", "reader"], transaction=True)
KINDS: tuple[type[models.Model], ...] = (
    *(User, Study, Problem, System, Snippet, Item),
    *(Annotator, Assignment, Grade, GradeRevision, Job, MetricScore, Report),
)


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports as usual, only quicker; and no worker that could take the jobs."""
    monkeypatch.setattr(actions, "RESAMPLES", 20)
    monkeypatch.setattr(tasks.run_part, "apply_async", lambda *args, **options: None)


def run() -> str:
    out = StringIO()
    call_command("first_run", stdout=out, stderr=out)
    return out.getvalue()


def stored() -> list[Any]:
    return [list(kind._default_manager.order_by("pk").values()) for kind in KINDS]


def password_in(text: str) -> str:
    [found] = re.findall(r"password   (\S+)", text)
    return str(found)


def check_demo() -> None:
    study = Study.objects.get()
    assert (study.slug, study.state, study.protocol_name) == ("demo", "open", "helpfulness")
    assert "Demo" in study.title
    assert "not by people" in study.notes
    assert Grade.objects.count() == len(simulate_grades(first_run.SEED))
    assert set(Annotator.objects.values_list("origin", flat=True)) == {"simulated"}
    assert drifted(study) == []
    assert Report.objects.get().study == study


def test_a_new_installation_gets_all_it_needs_and_once(client: Client) -> None:
    text = run()
    check_demo()
    password = password_in(text)
    assert len(password) >= 16
    assert ".venv/bin/python manage.py changepassword researcher" in text
    user = User.objects.get()
    assert (user.username, user.is_staff, user.is_superuser) == ("researcher", True, True)
    assert client.login(username="researcher", password=password)
    assert client.get("/results/demo/").status_code == 200
    assert Client().get("/join/demo/").status_code == 200

    before = stored()
    assert run() == ""
    assert stored() == before


@pytest.mark.parametrize("reached", ["make_report", "make_account"])
def test_a_run_that_was_killed_is_finished_by_the_next(monkeypatch: pytest.MonkeyPatch, reached: str) -> None:
    def killed(*args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(first_run, reached, killed)
        with pytest.raises(KeyboardInterrupt):
            run()
    assert not User.objects.exists()
    password_in(run())
    check_demo()
    assert run() == ""


def test_a_run_that_was_killed_within_the_demo_leaves_no_half_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(first_run, "add_grades", killed)
        with pytest.raises(KeyboardInterrupt):
            run()
    assert not Study.objects.exists()
    run()
    check_demo()


def test_a_run_that_was_killed_within_a_job_is_finished_by_the_next() -> None:
    first_run.load_demo()
    demo = Study.objects.get()
    actions.start_job(demo, Job.Kind.METRICS)
    run()
    check_demo()


def test_an_account_that_is_there_is_left_alone() -> None:
    make_study()
    user = make_researcher("somebody")
    before = User.objects.values().get()
    assert "password" not in run()
    assert User.objects.values().get() == before
    assert user.check_password("a long password")


def test_the_name_of_the_account_may_be_taken() -> None:
    make_study()
    User.objects.create_user("researcher", password="a long password")
    assert "password" not in run()
    assert not User.objects.get().is_staff


@pytest.mark.parametrize("slug", ["mine", "demo"])
def test_studies_that_are_there_are_left_alone(slug: str) -> None:
    study = make_study(slug)
    assert "demo" not in run()
    assert Study.objects.get() == study
    assert not Report.objects.exists()


def test_a_demo_that_was_deleted_or_renamed_does_not_come_back() -> None:
    first_run.load_demo()
    Study.objects.update(title="Renamed", slug="other")
    run()
    assert Study.objects.get().title == "Renamed"


def test_a_report_that_fails_does_not_keep_the_account_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> Any:
        raise RuntimeError("broken")

    monkeypatch.setattr("annotator.results.work.build_report", broken)
    text = run()
    assert "Build report: failed for the demo study." in text
    password_in(text)
