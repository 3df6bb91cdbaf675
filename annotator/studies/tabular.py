"""Files of rows - CSV, JSON Lines, JSON, each also gzipped - read strictly, with every bad line reported."""

from __future__ import annotations

import csv
import gzip
import io
import json
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotator.errors import BadInput

MAX_CELL = 1_000_000
MAX_FILE = 200_000_000
MAX_NAME = 200
KINDS = (".csv", ".jsonl", ".ndjson", ".json")


@dataclass(frozen=True)
class Row:
    """One row of a file: its place as `file:line`, and its cells by column. A missing cell is left out."""

    place: str
    cells: dict[str, Any]

    def text(self, column: str) -> str:
        """The cell as text, "" if missing; numbers as they stand. Raises ValueError for anything else."""
        value = self.cells.get(column, "")
        if isinstance(value, str):
            return value.replace("\r\n", "\n")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        raise ValueError(f"`{column}` must be a text.")


def read_rows(path: Path) -> list[Row]:
    """All rows of the file, in its order.

    Raises BadInput: an unknown kind of file, text that is not UTF-8, and every bad line together.
    """
    kind = path.name.removesuffix(".gz")
    kind = kind[kind.rfind(".") :].lower()
    if kind not in KINDS:
        raise BadInput(f"{path.name} is of an unknown kind. Known: {', '.join(KINDS)}, each also with .gz.")
    text = read_text(path)
    if not text.strip():
        raise BadInput(f"{path.name} is empty.")
    bad: list[str] = []
    found = {".csv": _csv_rows, ".json": _json_rows}.get(kind, _jsonl_rows)(path.name, text, bad)
    rows = [row for row in found if _is_clean(row, bad)]
    if bad:
        raise BadInput(f"{path.name} has {len(bad)} bad lines. Nothing was imported.", bad)
    if not rows:
        raise BadInput(f"{path.name} has no rows.")
    return rows


def no_column(name: str, missing: list[str], columns: list[str]) -> str:
    """The sentence for columns that a file lacks: with those that it has, since they may only be spelled otherwise."""
    has = ", ".join(map(repr, columns))
    shown = has if len(has) <= 150 else has[:150] + " ..."
    return f"{name} has no column {', '.join(missing)}. It has {shown}."


def read_text(path: Path) -> str:
    """The file as text. Raises BadInput if it is no file, cannot be read, is too large or not UTF-8."""
    try:
        # Asked first: opening a pipe or a device could wait for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(f"{path} is not a file.")
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            raw = file.read(MAX_FILE + 1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise BadInput(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error
    if len(raw) > MAX_FILE:
        raise BadInput(f"{path.name} is larger than {MAX_FILE // 1_000_000} MB: split it.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path.name}:{line}: this is not UTF-8 text. Save the file as UTF-8.") from error


def _csv_rows(name: str, text: str, bad: list[str]) -> Iterator[Row]:
    # Above the limit of a cell, so that a cell that is too long is told with its column.
    limit = csv.field_size_limit(10 * MAX_CELL)
    line = 1
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        header: list[str] = []
        while True:
            line = reader.line_num + 1
            cells = next(reader, None)
            if cells is None:
                return
            if not cells:
                continue
            if not header:
                header = _header(f"{name}:{line}", cells)
            elif len(cells) != len(header):
                bad.append(
                    f"{name}:{line}: {len(cells)} cells, but {len(header)} columns (is a comma not quoted?)."
                )
            else:
                yield Row(f"{name}:{line}", dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        bad.append(f"{name}:{line}: {_csv_reason(error)}")
    finally:
        csv.field_size_limit(limit)


def _header(place: str, cells: list[str]) -> list[str]:
    header = [column.strip() for column in cells]
    # Spreadsheets leave columns without a name, often several: they are not used.
    twice = sorted({column for column in header if column and header.count(column) > 1})
    if twice:
        raise BadInput(f"{place}: the column {', '.join(repr(each) for each in twice)} is there twice.")
    return header


def _csv_reason(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end of data" in text:
        return "a quotation mark that begins in this row is not closed before the file ends."
    if "expected after" in text:
        return 'a quotation mark inside a quoted cell must be doubled: "".'
    if "field limit" in text:
        return f"a cell is longer than {MAX_CELL:,} characters. Is a quotation mark not closed?"
    return f"this is not CSV ({text})."


def _jsonl_rows(name: str, text: str, bad: list[str]) -> Iterator[Row]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            yield _object_row(f"{name}:{line}", _loads(content))
        except (ValueError, RecursionError) as error:
            bad.append(f"{name}:{line}: {_json_reason(error)}")


def _json_rows(name: str, text: str, bad: list[str]) -> Iterator[Row]:
    try:
        data = _loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: {_json_reason(error)}") from error
    if not isinstance(data, list):
        raise BadInput(f"{name}: a .json file must hold a list of objects.")
    for number, item in enumerate(data, start=1):
        try:
            yield _object_row(f"{name}, entry {number}", item)
        except ValueError as error:
            bad.append(f"{name}, entry {number}: {error}")


def _object_row(place: str, data: Any) -> Row:
    if not isinstance(data, dict):
        raise ValueError("this is not an object with names and values.")
    return Row(place, {key: value for key, value in data.items() if value is not None})


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON value.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) < len(pairs):
        raise ValueError("a name is there twice in one object.")
    return names


def _json_reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"this is not JSON ({error.msg} at character {error.colno} of line {error.lineno})."
    if isinstance(error, RecursionError):
        return "too deeply nested."
    return "a number has too many digits." if "integer string conversion" in str(error) else str(error)


def _is_clean(row: Row, bad: list[str]) -> bool:
    """Whether every text of the row can be stored and shown; else the reason goes to `bad`."""
    for column, value in row.cells.items():
        if unfit(column, MAX_NAME):
            bad.append(f"{row.place}: the name of a column {unfit(column, MAX_NAME)}")
            return False
        for text in value if isinstance(value, list) else [value]:
            reason = unfit(text) if isinstance(text, str) else ""
            if reason:
                bad.append(f"{row.place}: `{column}` {reason}")
                return False
    return True


def unfit(text: str, longest: int = MAX_CELL) -> str:
    """Why a text can be neither stored nor shown; "" if it can."""
    if len(text) > longest:
        return f"is longer than {longest:,} characters."
    if "\0" in text:
        return "holds a NUL character, which no database can store."
    try:
        text.encode()
    except UnicodeEncodeError:
        return "holds half a character (a lone surrogate), which no file can store."
    return ""
