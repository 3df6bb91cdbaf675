"""Small tables for tests: what a row leaves out has the default of the column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from analysis import columns


def grades_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    return _table(rows, columns.GRADE_COLUMNS)


def scores_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    return _table(rows, columns.SCORE_COLUMNS)


def grades_from(votes: Iterable[tuple[int, int, float]]) -> pd.DataFrame:
    """Grades from (annotator, snippet, grade); two systems take turns."""
    return grades_of(
        {"problem": f"p{task // 2}", "system": "ab"[task % 2], "annotator": f"w{worker}", "grade": grade}
        for worker, task, grade in votes
    )


def _table(rows: Iterable[Mapping[str, Any]], wanted: Mapping[str, tuple[str, Any]]) -> pd.DataFrame:
    given = list(rows)
    dtypes = {columns.TEXT: "str", columns.NUMBER: "float64", columns.WHOLE: "int64", columns.FLAG: "bool"}
    return pd.DataFrame(
        {
            name: pd.Series([row.get(name, default) for row in given], dtype=dtypes[kind])
            for name, (kind, default) in wanted.items()
        }
    )
