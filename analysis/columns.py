"""The two tables, grades and scores: their columns, and the one door through which files become tables."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

TEXT, NUMBER, WHOLE, FLAG = "text", "number", "whole number", "flag"
GRADE_COLUMNS: dict[str, tuple[str, Any]] = {
    "study": (TEXT, ""),
    "wave": (TEXT, "main"),
    "problem": (TEXT, None),
    "system": (TEXT, None),
    "sample": (WHOLE, 0),
    "item": (TEXT, ""),
    "judged_metric": (TEXT, ""),
    "kind": (TEXT, "snippet"),
    "assignment": (TEXT, ""),
    "annotator": (TEXT, None),
    "question": (TEXT, "grade"),
    "grade": (NUMBER, None),
    "label": (TEXT, ""),
    "position": (NUMBER, math.nan),
    "side": (TEXT, ""),
    "stratum": (TEXT, ""),
    "weight": (NUMBER, 1.0),
    "seconds": (NUMBER, math.nan),
    "active_seconds": (NUMBER, math.nan),
    "submitted_at": (TEXT, ""),
    "protocol_version": (NUMBER, 1),
    "complete": (FLAG, True),
    "surplus": (FLAG, False),
    "excluded": (FLAG, False),
    "check": (TEXT, ""),
    "check_passed": (TEXT, ""),
    "reference": (FLAG, False),
    "simulated": (FLAG, False),
}
"""Column of the grades table -> (kind of its cells, value where a file leaves it out; None = it must be there)."""
SCORE_COLUMNS: dict[str, tuple[str, Any]] = {
    "study": (TEXT, ""),
    "problem": (TEXT, None),
    "system": (TEXT, None),
    "sample": (WHOLE, 0),
    "metric": (TEXT, None),
    "signature": (TEXT, ""),
    "score": (NUMBER, None),
    "undefined": (TEXT, ""),
}
GRADES = tuple(GRADE_COLUMNS)
SCORES = tuple(SCORE_COLUMNS)
TRUTH = ("question", "judged_metric", "problem", "system", "sample", "truth", "n", "mean")
MEASURES = ("kendall", "spearman", "pearson")
CORRELATIONS = (
    *("metric", "truth", "system", "question", "n", "problems"),
    *(f"{measure}{end}" for measure in MEASURES for end in ("", "_low", "_high")),
    "note",
)
KINDS = ("snippet", "pair", "score")
"""What an item shows: a snippet; a snippet beside its reference; a snippet with a metric's score."""
SNIPPET = ["problem", "system", "sample"]
TASK = ["question", "judged_metric", *SNIPPET]

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
MAX_LISTED = 50
LONGEST_CELL = 2**20
"""Characters. The csv module alone stops at 131,072."""
LARGEST = 1e15
"""Numbers beyond are typing errors; up to here sums of many stay exact enough."""


class TableError(ValueError):
    """A table that cannot be used. `lines` names every bad line as `file:line: what is wrong`."""

    def __init__(self, sentence: str, lines: list[str] | None = None) -> None:
        self.lines = lines or []
        shown = self.lines[:MAX_LISTED]
        more = len(self.lines) - len(shown)
        super().__init__("\n".join([sentence, *shown, *([f"... and {more} more."] if more else [])]))


def safe_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula: one that begins like one gets an apostrophe before it.

    A text that begins with apostrophes followed by such a start gets one more, so that reading it back is exact.
    """
    return "'" + text if text.lstrip("'").startswith(FORMULA_STARTS) else text


def plain_cell(cell: str) -> str:
    """The text behind `safe_cell`."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULA_STARTS) else cell


def read_grades(path: str | Path) -> pd.DataFrame:
    """The grades table of a CSV file: all columns of GRADES in their order, with defaults for those left out.

    Only problem, system, annotator and grade must be there. Texts stay texts ("007" is not 7).
    Raises TableError: missing columns, cells that are no numbers, the same annotator's usable grade of the same
    snippet and question twice; all bad lines together.
    """
    return read_table(Path(path), GRADE_COLUMNS, _repeated_grades)


def read_scores(path: str | Path) -> pd.DataFrame:
    """The scores table of a CSV file: all columns of SCORES. Scores may be empty (undefined).

    Raises TableError as `read_grades` does; a snippet has one score of each metric.
    """
    return read_table(Path(path), SCORE_COLUMNS, _repeated_scores)


def usable(grades: pd.DataFrame) -> pd.DataFrame:
    """The rows that analysis counts: complete, not surplus, not excluded, no checks, with a grade."""
    counts = (
        grades["complete"]
        & ~grades["surplus"]
        & ~grades["excluded"]
        & (grades["check"] == "")
        & grades["kind"].isin(KINDS)
        & grades["grade"].notna()
    )
    return grades[counts]


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """The table as UTF-8 CSV with "\\n" line ends: stable, formula-safe, empty cells for missing values."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.writelines(csv_lines([table.columns]))
        rows = table.itertuples(index=False, name=None)
        file.writelines(csv_lines([_cell(value) for value in row] for row in rows))


class _Line:
    """What the csv module writes to: gives a row back, ended by "\\n".

    The writer is told "\\r\\n" because it quotes a cell only for line ends that it knows.
    """

    def write(self, row: str) -> str:
        return row.removesuffix("\r\n") + "\n"


def csv_lines(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Each row as a line of a CSV file with its "\\n". Texts must have gone through `safe_cell`."""
    writer = csv.writer(_Line(), lineterminator="\r\n")
    return (writer.writerow(row) for row in rows)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return safe_cell(value)
    if pd.isna(value):
        return ""
    if str(value) in ("True", "False"):
        return str(value).lower()
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def read_table(
    path: Path, columns: Mapping[str, tuple[str, Any]], repeated: Callable[[str, pd.DataFrame], list[str]]
) -> pd.DataFrame:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            numbers, table = _parse(path.name, _numbered(csv.reader(file, strict=True)), columns)
    except OSError as error:
        raise TableError(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise TableError(f"{path.name} is not UTF-8 text: save it as CSV UTF-8.") from error
    except csv.Error as error:
        raise TableError(f"{path.name} is not a CSV file: {error}.") from error
    table.index = pd.Index(numbers, name="line")
    lines = repeated(path.name, table)
    if lines:
        raise TableError(f"{path.name} cannot be used: one snippet has one value.", lines)
    return table.reset_index(drop=True)


def _numbered(rows: Any) -> Iterator[tuple[int, list[str]]]:
    """The rows of a csv reader that are not empty, each with the line on which it begins."""
    last = 0
    try:
        for row in rows:
            number, last = last + 1, rows.line_num
            if row:
                yield number, row
    except csv.Error as error:
        raise csv.Error(f"{error}, near line {last + 1}") from error


def _parse(
    name: str, rows: Iterator[tuple[int, list[str]]], columns: Mapping[str, tuple[str, Any]]
) -> tuple[list[int], pd.DataFrame]:
    _, header = next(rows, (1, []))
    places = _places(name, header, columns)
    cells: dict[str, list[Any]] = {column: [] for column, _ in places}
    numbers: list[int] = []
    bad: list[str] = []
    for number, row in rows:
        if len(row) != len(header):
            bad.append(f"{name}:{number}: {len(row)} cells, but {len(header)} columns.")
            continue
        numbers.append(number)
        for column, place in places:
            kind, default = columns[column]
            try:
                cells[column].append(_value(row[place], kind, default))
            except ValueError as error:
                bad.append(f"{name}:{number}: {column} {error}")
                cells[column].append(default)
    if bad:
        raise TableError(f"{name} cannot be used: {len(bad)} bad cells or lines.", bad)
    whole = {column: cells.get(column, [default] * len(numbers)) for column, (_, default) in columns.items()}
    dtypes = {TEXT: "str", NUMBER: "float64", WHOLE: "int64", FLAG: "bool"}
    return numbers, pd.DataFrame(
        {column: pd.Series(values, dtype=dtypes[columns[column][0]]) for column, values in whole.items()}
    )


def _places(name: str, header: list[str], columns: Mapping[str, tuple[str, Any]]) -> list[tuple[str, int]]:
    """Our columns that the header has, and where."""
    if not header:
        raise TableError(f"{name} is empty. Its first line must name the columns.")
    missing = [column for column, (_, default) in columns.items() if default is None and column not in header]
    if missing:
        raise TableError(f"{name} has no column {', '.join(missing)}. Its first line must name the columns.")
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise TableError(f"{name} has the column {', '.join(twice)} more than once.")
    return [(column, header.index(column)) for column in columns if column in header]


def _value(cell: str, kind: str, default: Any) -> Any:
    """The value of a cell; the default for an empty one. Raises ValueError with the end of a sentence."""
    if kind == TEXT:
        text = plain_cell(cell)
        if "\0" in text:
            raise ValueError("has a NUL character.")
        if default is None and not text:
            raise ValueError("is empty.")
        return text or default
    text = cell.strip()
    if not text:
        return math.nan if default is None else default
    if kind == FLAG:
        if text.lower() not in ("true", "false", "1", "0"):
            raise ValueError(f"must be true or false, not {_quoted(cell)}.")
        return text.lower() in ("true", "1")
    number = _number(text, cell)
    if kind == WHOLE:
        if number < 0 or not number.is_integer():
            raise ValueError(f"must be a whole number from 0, not {_quoted(cell)}.")
        return int(number)
    return number


def _number(text: str, cell: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = None
    # Python also reads 1_000 and digits of other scripts; no other program that reads such files does.
    if number is None or "_" in text or not text.isascii():
        raise ValueError(f"must be a number, not {_quoted(cell)}.")
    if not math.isfinite(number):
        raise ValueError(f"must be a finite number, not {_quoted(cell)}.")
    if abs(number) > LARGEST:
        raise ValueError(f"must lie between -{LARGEST:g} and {LARGEST:g}, not {_quoted(cell)}.")
    return number


def _quoted(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:39] + "\N{HORIZONTAL ELLIPSIS}")


def _repeated_grades(name: str, grades: pd.DataFrame) -> list[str]:
    keys = ["annotator", "question", "judged_metric", *SNIPPET]
    counted = usable(grades)
    again = counted[counted.duplicated(keys)]
    return [
        f"{name}:{line}: {row.annotator} graded this snippet of {row.system} for problem {row.problem} before "
        f"(question {row.question})."
        for line, row in zip(again.index, again.itertuples(), strict=True)
    ]


def _repeated_scores(name: str, scores: pd.DataFrame) -> list[str]:
    again = scores[scores.duplicated(["metric", *SNIPPET])]
    return [
        f"{name}:{line}: {row.metric} of this snippet of {row.system} for problem {row.problem} is there before."
        for line, row in zip(again.index, again.itertuples(), strict=True)
    ]


def steady(number: float) -> float:
    """The number to 12 digits: sums come out a little different at another place in memory or on another machine."""
    return float(f"{number:.12g}")


def natural_order(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The rows sorted by the columns, with numbers inside texts in their own order: 2 before 10."""
    ranks = []
    for column in by:
        distinct = sorted(table[column].unique(), key=_natural_key)
        ranks.append(table[column].map({value: rank for rank, value in enumerate(distinct)}).to_numpy())
    return table.iloc[np.lexsort(ranks[::-1])]


def _natural_key(value: Any) -> tuple[Any, ...]:
    parts = re.split(r"([0-9]+)", str(value))
    return tuple(
        (len(part.lstrip("0")), part.lstrip("0"), part) if place % 2 else part
        for place, part in enumerate(parts)
    )
