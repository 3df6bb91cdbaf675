"""`manage.py export_grades S --output FILE`: the grades as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis import columns
from annotator.results import export, records
from annotator.results.console import StudyCommand
from annotator.studies.access import get_study_by_slug


class Command(StudyCommand):
    help = (
        "Writes all grades of the study S as CSV, one row a grade; docs/columns.md explains the columns. "
        "People may go on grading meanwhile. FILE is replaced only when the new one is complete. "
        "Example: manage.py export_grades demo --output grades.csv"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--output", metavar="FILE", required=True, help="the file to write; - for stdout")

    def work(self, **options: Any) -> None:
        study = get_study_by_slug(options["study"])
        rows = Counted(records.grade_table(study))
        chunks = export.csv_chunks(columns.GRADES, rows)
        if options["output"] == "-":
            for chunk in chunks:
                self.stdout.write(chunk.decode("utf-8"), ending="")
            return
        path = Path(options["output"])
        if path.is_dir() or not path.parent.is_dir():
            raise CommandError(f"{path} cannot be written: give the name of a file in a folder that exists.")
        export.write_file(chunks, path)
        self.stdout.write(f"{rows.number} grades of {study.slug} are in {path}.")


class Counted:
    """Passes rows on and counts them."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self.rows, self.number = rows, 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for row in self.rows:
            self.number += 1
            yield row
