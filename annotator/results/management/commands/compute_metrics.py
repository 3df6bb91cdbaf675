"""`manage.py compute_metrics S`: score every generated snippet of a study."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

import metrics
from annotator.results.console import StudyCommand
from annotator.results.models import Job
from annotator.studies.access import get_study_by_slug


class Command(StudyCommand):
    help = (
        "Scores every generated snippet of the study S against the references of its problem, here in the "
        "foreground (running workers help). Each score is stored once, with the signature of its metric; "
        "doing it again replaces it. The result is in the report, and at /results/S/scores.csv. "
        f"Known metrics: {', '.join(metrics.names())}. "
        "Example: manage.py compute_metrics demo --metric bleu --metric chrf"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--metric",
            metavar="NAME",
            nargs="+",
            action="extend",
            default=[],
            help="a metric, or several; can be given more than once (default: all)",
        )

    def work(self, **options: Any) -> None:
        study = get_study_by_slug(options["study"])
        job = self.do_job(study, Job.Kind.METRICS, {"metrics": options["metric"]})
        names = ", ".join(job.params["metrics"])
        self.stdout.write(f"{job.total} scores of {study.slug} are stored ({names}). {job.text}".rstrip())
