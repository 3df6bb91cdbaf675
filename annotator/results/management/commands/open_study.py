"""`manage.py open_study S`: take grades from now on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from annotator.errors import BadInput
from annotator.results.console import StudyCommand
from annotator.studies import actions
from annotator.studies.access import get_study_by_slug


class Command(StudyCommand):
    help = (
        "Opens the study S. The first time what is handed out is settled by its seed: sample, groups, checks. "
        "Example: manage.py open_study mine"
    )

    def work(self, **options: Any) -> None:
        study = get_study_by_slug(options["study"])
        try:
            actions.open_study(study)
        except BadInput as error:
            raise CommandError("\n".join([str(error), *error.lines])) from None
        self.stdout.write(
            f"{study.slug} is open: {study.item_count} items to grade. Join: /join/{study.slug}/"
        )
