"""Snippets read from a file, scores written to one."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

COLUMNS = ("problem", "system", "sample", "metric", "signature", "score")
NAMES = ("problem", "system", "sample")
TEXTS = ("code", "reference", "references")
REQUIRED = ("problem", "system", "code")

# A spreadsheet takes a cell that begins with one of these for a formula. A cell that already has apostrophes
# before such a character gets one more, so that reading gives back every text that was written.
_RISKY = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
FREED = "\0freed"
"""Key of a record: whether an apostrophe was taken off its code or references."""


class BadInput(ValueError):
    """A file cannot be used; `problems` holds one sentence for each thing that is wrong."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def guard(cell: str) -> str:
    """The cell with a leading apostrophe if a spreadsheet would take it for a formula."""
    return "'" + cell if _RISKY.match(cell) else cell


def unguard(cell: str) -> str:
    """The cell without the apostrophe that `guard` set before it."""
    return cell[1:] if _GUARDED.match(cell) else cell


def read_snippets(
    path: Path, *, need_references: bool, note: Callable[[str], None] = lambda text: None
) -> list[dict[str, Any]]:
    """The snippets of a .jsonl or .csv file as dicts with problem, system, sample, code, references.

    Blank lines are skipped; `note` gets a sentence about anything the user should know. Raises BadInput with
    every bad line's file and number, and OSError.
    """
    rows, problems, freed = [], [], 0
    first: dict[tuple[str, ...], int] = {}
    read = _csv_records if path.suffix.lower() == ".csv" else _json_records
    for number, record in read(path):
        try:
            row = _snippet(record, need_references=need_references)
            key = tuple(row[name] for name in NAMES)
            if first.setdefault(key, number) != number:
                raise BadInput(
                    f"problem, system and sample are those of line {first[key]}; number the samples."
                )
            rows.append(row)
            freed += isinstance(record, dict) and bool(record.get(FREED))
        except BadInput as error:
            problems += [f"{path}, line {number}: {problem}" for problem in error.problems]
    if not rows and not problems:
        problems = [f"{path} holds no snippets."]
    if problems:
        raise BadInput(*problems)
    if freed:
        note(
            f"{path}: an apostrophe before = + - @ was taken off code or references (rows: {freed:,}), as in "
            "Codejury's CSV files; if it was part of the code, use a .jsonl file."
        )
    return rows


def _json_records(path: Path) -> Iterator[tuple[int, Any]]:
    """Line number and parsed object (or the BadInput that tells why there is none) of each line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line.strip():
                yield number, _parsed(line)


def _parsed(line: bytes) -> Any:
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return BadInput("the line is not UTF-8; save the file as UTF-8.")
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "the line cannot be read")
        return BadInput(f"not a JSON object ({reason}); write one object a line.")
    return record if isinstance(record, dict) else BadInput("not a JSON object; write one object a line.")


def _csv_records(path: Path) -> Iterator[tuple[int, Any]]:
    """The same for CSV; the line number is that of the row's last line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{path}, line {line}: the line is not UTF-8; save the file as UTF-8.") from None
    limit = csv.field_size_limit(max(len(text), 131_072))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        wrong = [f"the column {name} is missing" for name in REQUIRED if name not in header]
        wrong += [f"the column {name} stands there twice" for name in {*header} if header.count(name) > 1]
        if wrong:
            raise BadInput(*(f"{path}, line 1: {problem}." for problem in sorted(wrong)))
        for cells in reader:
            if cells:
                yield reader.line_num, _csv_record(header, cells)
    except csv.Error as error:
        yield reader.line_num, BadInput(f"not CSV ({error}); the rest was not read.")
    finally:
        csv.field_size_limit(limit)


def _csv_record(header: list[str], cells: list[str]) -> Any:
    if len(cells) != len(header):
        return BadInput(f"{len(cells)} cells under {len(header)} columns.")
    record: dict[str, Any] = {name: unguard(cell) for name, cell in zip(header, cells, strict=True)}
    record[FREED] = any(
        _GUARDED.match(cell) for name, cell in zip(header, cells, strict=True) if name in TEXTS
    )
    for column in ("reference", "references"):
        if record.get(column) == "":
            del record[column]
    if not record.get("sample"):
        record.pop("sample", None)
    with suppress(KeyError, ValueError, RecursionError):
        listed = json.loads(record["references"])
        if isinstance(listed, list) and all(isinstance(text, str) for text in listed):
            record["references"] = listed
    return record


def _snippet(record: Any, *, need_references: bool) -> dict[str, Any]:
    """One checked snippet; raises BadInput with everything that is wrong with it."""
    if isinstance(record, BadInput):
        raise record
    problems: list[str] = []

    def take(function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BadInput as error:
            problems.extend(error.problems)

    row = {name: take(_name, record, name) for name in NAMES}
    row["code"] = take(_code, record)
    row["references"] = take(_references, record)
    if need_references and row["references"] == []:
        problems.append("the metrics asked for need at least one reference.")
    if problems:
        raise BadInput(*problems)
    return row


def _name(record: Mapping[str, Any], column: str) -> str:
    value = record.get(column, "0" if column == "sample" else None)
    if value is None or value == "":
        raise BadInput(f"{column} is missing.")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadInput(f"{column} must be text or a whole number.")
    text = str(value)
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise BadInput(f"{column} holds a character that cannot be written to a CSV file.")
    return text


def _code(record: Mapping[str, Any]) -> str:
    if record.get("code") is None:
        raise BadInput("code is missing.")
    if not isinstance(record["code"], str):
        raise BadInput("code must be text.")
    return record["code"]


def _references(record: Mapping[str, Any]) -> list[str]:
    given = [record[name] for name in ("references", "reference") if record.get(name) is not None]
    if len(given) > 1:
        raise BadInput("give either reference or references, not both.")
    listed = [] if not given else given[0] if isinstance(given[0], list) else given
    if not all(isinstance(text, str) for text in listed):
        raise BadInput("references must be a text or a list of texts.")
    return listed


class _Line:
    """Gives a row back, ended by "\\n". The writer quotes a lone "\\r" only if it is told of that line end."""

    def write(self, row: str) -> str:
        return row.removesuffix("\r\n") + "\n"


def write_scores(path: Path, scores: Iterable[Mapping[str, Any]]) -> None:
    """Writes a CSV file of COLUMNS, whole or not at all: to a temporary file that is then renamed.

    Scores are written so that reading them gives the same number; one that is None as an empty cell. Raises
    OSError.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="") as file:
            writer = csv.writer(_Line(), lineterminator="\r\n")
            file.write(writer.writerow(COLUMNS))
            for row in scores:
                texts = [guard(str(row[column])) for column in COLUMNS[:-1]]
                score = "" if row["score"] is None else repr(float(row["score"]))
                file.write(writer.writerow([*texts, score]))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
