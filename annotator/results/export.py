"""The tables as CSV, streamed. Page, admin, command and API send these very bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
from django.http import StreamingHttpResponse

from analysis import columns
from annotator.results import records
from annotator.studies.models import Study

ROWS_A_CHUNK = 500


def csv_chunks(header: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> Iterator[bytes]:
    """UTF-8 CSV with "\\n" line ends: the header, then a few hundred rows a chunk."""
    rows = iter(rows)
    batch: list[tuple[Any, ...]] = [tuple(header)]
    while batch:
        yield "".join(columns.csv_lines([cell(value) for value in row] for row in batch)).encode("utf-8")
        batch = list(islice(rows, ROWS_A_CHUNK))


def cell(value: Any) -> str | int | float:
    """A value as it stands in a CSV: true/false, nothing for None, text that no spreadsheet will run."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return columns.safe_cell(value) if isinstance(value, str) else value


def grades_csv(study: Study) -> Iterator[bytes]:
    return csv_chunks(columns.GRADES, records.grade_table(study))


def scores_csv(study: Study) -> Iterator[bytes]:
    return csv_chunks(columns.SCORES, records.score_table(study))


def answers_csv(study: Study) -> Iterator[bytes]:
    return csv_chunks(records.ANSWERS, records.answer_table(study))


TABLES: dict[str, Callable[[Study], Iterator[bytes]]] = {
    "grades": grades_csv,
    "scores": scores_csv,
    "answers": answers_csv,
}


def download(study: Study, table: str) -> StreamingHttpResponse:
    """The table `grades` or `scores` as a file to save."""
    response = StreamingHttpResponse(TABLES[table](study), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{table}.csv"'
    response["Cache-Control"] = "no-store"
    return response


def grade_frame(study: Study) -> pd.DataFrame:
    """The grades as `analysis` reads them from the exported file: the same door for app and command line."""
    return _through_file(grades_csv(study), columns.read_grades)


def score_frame(study: Study) -> pd.DataFrame:
    """The scores as `analysis` reads them from the exported file."""
    return _through_file(scores_csv(study), columns.read_scores)


def _through_file(chunks: Iterator[bytes], read: Callable[[Path], pd.DataFrame]) -> pd.DataFrame:
    with tempfile.TemporaryDirectory(prefix="codejury-") as folder:
        path = Path(folder) / "table.csv"
        with path.open("wb") as file:
            file.writelines(chunks)
        return read(path)


def write_file(chunks: Iterable[bytes], path: Path) -> None:
    """All or nothing: a reader of `path` finds the old file or the whole new one. Raises OSError."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.writelines(chunks)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
