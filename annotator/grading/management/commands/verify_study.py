"""`manage.py verify_study S`: the kept counts against the rows they were counted from."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotator.errors import NotYours
from annotator.grading import verify
from annotator.studies.access import get_study_by_slug


class Command(BaseCommand):
    help = (
        "Recounts what the app keeps count of (grades an item, items a person, the history of grades) and "
        "says what drifted. It changes nothing. Exit status 1 if anything did."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's slug: the last part of its join link")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = get_study_by_slug(options["study"])
        except NotYours as error:
            raise CommandError(str(error)) from None
        found = verify.drifted(study)
        for sentence in found:
            self.stdout.write(sentence)
        if found:
            raise CommandError(f"{len(found)} counts of {study.slug} differ from their rows.")
        self.stdout.write(f"{study.slug}: every count equals its rows.")
