"""`manage.py draw_sample S --anchor SYSTEM --per-bucket 20`: which problems a study shows."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotator.results import research
from annotator.results.console import StudyCommand, table_lines
from annotator.studies.access import get_study_by_slug


class Command(StudyCommand):
    help = (
        "Keeps a seeded sample of the problems of the draft S and stores the weights N/n of its strata. With --anchor "
        "the strata are the buckets of the published value study, from the anchor's PASS (a score of the imported "
        "file) and edit similarity: pass-low, fail-high, agree. Without it they are the column `stratum`. "
        "Example: manage.py draw_sample mine --anchor davinci2 --per-bucket 20"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--anchor", metavar="SYSTEM", help="the system whose snippets decide the bucket")
        parser.add_argument("--per-bucket", type=int, default=20, metavar="N", help="problems a stratum (20)")
        parser.add_argument("--seed", type=int, help="of the draw (default: the study's)")
        parser.add_argument(
            "--pass-metric", default=research.PASS, help="name of the score that is PASS, 0 or 1"
        )

    def work(self, **options: Any) -> None:
        study = get_study_by_slug(options["study"])
        sample = research.draw_sample(
            study,
            options["per_bucket"],
            anchor=options["anchor"],
            seed=options["seed"],
            pass_metric=options["pass_metric"],
        )
        rows = [
            tuple(f"{value:g}" if isinstance(value, float) else str(value) for value in row)
            for row in sample.sizes.itertuples(index=False)
        ]
        self.stdout.write("\n".join(table_lines(list(sample.sizes.columns), rows)))
        for warning in sample.warnings:
            self.stdout.write(f"Note: {warning}")
        study.refresh_from_db()
        self.stdout.write(f"{study.slug}: {len(sample.rows)} problems, {study.item_count} items to grade.")
