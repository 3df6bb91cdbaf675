"""`manage.py report S --output DIR`: truth, correlations, tables and figures of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotator.results import actions, export
from annotator.results.console import StudyCommand, table_lines
from annotator.results.models import Job, Report
from annotator.studies.access import get_study_by_slug


class Command(StudyCommand):
    help = (
        "Builds the report of the study S here in the foreground: the ground truth (truth.csv), the metrics' "
        "scores (scores.csv), how far each metric agrees with people (correlations.csv), more tables, the "
        "figures (figures/*.svg) and report.json with all that went into them. The same files are on the "
        "results page. Run compute_metrics first, or there are no correlations. The same grades, scores and "
        "seed give the same files. Example: manage.py report demo --output demo-report"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--output", metavar="DIR", required=True, help="the folder; made if missing")
        parser.add_argument("--seed", type=int, help="of the resampling (default: the study's)")
        parser.add_argument("--resamples", type=int, help=f"for the intervals (default: {actions.RESAMPLES})")
        parser.add_argument(
            "--aggregator",
            choices=actions.AGGREGATORS,
            help=f"how grades become the truth in truth.csv (default: {actions.AGGREGATORS[0]})",
        )

        parser.add_argument(
            "--decimals",
            type=int,
            help=f"at which scores are compared and written; closer ones are ties (default: {actions.DECIMALS}, as "
            f"published; {actions.MAX_DECIMALS} compares all of them)",
        )

    def work(self, **options: Any) -> None:
        study = get_study_by_slug(options["study"])
        folder = Path(options["output"])
        if folder.exists() and not folder.is_dir():
            raise CommandError(f"{folder} is a file: give the name of a folder.")
        folder.mkdir(parents=True, exist_ok=True)
        params = {name: options[name] for name in ("seed", "resamples", "aggregator", "decimals")}
        job = self.do_job(study, Job.Kind.REPORT, params)
        report = Report.objects.get(job=job)
        for file in report.files.iterator(chunk_size=1):
            path = folder / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            export.write_file([bytes(file.content)], path)
        self.print_summary(report, folder)

    def print_summary(self, report: Report, folder: Path) -> None:
        table = report.summary["tables"].get("correlations")
        if table and table["rows"]:
            self.stdout.write(table["title"])
            self.stdout.write("\n".join(table_lines(table["columns"], table["rows"])))
        for warning in report.summary["warnings"]:
            self.stdout.write(f"Note: {warning}")
        self.stdout.write(f"The report is in {folder}: {report.files.count()} files.")
        self.stdout.write(f"It is also at /results/{report.study.slug}/reports/{report.pk}/.")
