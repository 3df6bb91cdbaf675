"""Files of rows - CSV, JSON Lines, JSON, each also gzipped - read strictly, with every bad line reported."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotator.errors import BadInput

MAX_CELL = 1_000_000
MAX_FILE = 500_000_000
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


def read_text(path: Path) -> str:
    """The file as text. Raises BadInput if it cannot be read, is too large or not UTF-8."""
    try:
        raw = path.read_bytes()
        if path.suffix == ".gz":
            with gzip.open(io.BytesIO(raw)) as file:
                raw = file.read(MAX_FILE + 1)
    except (OSError, EOFError) as error:
        raise BadInput(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error
    if len(raw) > MAX_FILE:
        raise BadInput(f"{path.name} is larger than {MAX_FILE // 1_000_000} MB: split it.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path.name}:{line}: this is not UTF-8 text. Save the file as UTF-8.") from error


def _csv_rows(name: str, text: str, bad: list[str]) -> Iterator[Row]:
    limit = csv.field_size_limit(10 * MAX_CELL)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = [column.strip() for column in next(reader)]
        if len(set(header)) < len(header):
            twice = sorted({column for column in header if header.count(column) > 1})
            raise BadInput(f"{name}:1: the column {', '.join(repr(each) for each in twice)} is there twice.")
        while True:
            line = reader.line_num + 1
            cells = next(reader, None)
            if cells is None:
                return
            if not cells:
                continue
            if len(cells) != len(header):
                bad.append(f"{name}:{line}: {len(cells)} cells, but {len(header)} columns.")
                continue
            yield Row(f"{name}:{line}", dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        bad.append(f"{name}:{reader.line_num}: {error}.")
    finally:
        csv.field_size_limit(limit)


def _jsonl_rows(name: str, text: str, bad: list[str]) -> Iterator[Row]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            yield _object_row(f"{name}:{line}", json.loads(content, parse_constant=_refuse))
        except (ValueError, RecursionError) as error:
            bad.append(f"{name}:{line}: {_json_reason(error)}")


def _json_rows(name: str, text: str, bad: list[str]) -> Iterator[Row]:
    try:
        data = json.loads(text, parse_constant=_refuse)
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


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON value.")


def _json_reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"this is not JSON ({error.msg} at character {error.colno} of line {error.lineno})."
    return "too deeply nested." if isinstance(error, RecursionError) else str(error)


def _is_clean(row: Row, bad: list[str]) -> bool:
    """Whether every text of the row can be stored and shown; else the reason goes to `bad`."""
    for column, value in row.cells.items():
        for text in value if isinstance(value, list) else [value]:
            reason = _unfit(text) if isinstance(text, str) else ""
            if reason:
                bad.append(f"{row.place}: `{column}` {reason}")
                return False
    return True


def _unfit(text: str) -> str:
    if len(text) > MAX_CELL:
        return f"is longer than {MAX_CELL:,} characters."
    if "\0" in text:
        return "holds a NUL character, which no database can store."
    try:
        text.encode()
    except UnicodeEncodeError:
        return "holds half a character (a lone surrogate), which no file can store."
    return ""
