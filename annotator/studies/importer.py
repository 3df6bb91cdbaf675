"""From files of snippets to what a study judges: problems, systems, snippets. Nothing is stored here."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotator.errors import BadInput
from annotator.studies.images import checked_image
from annotator.studies.tabular import Row, no_column, read_rows, unfit

REFERENCE = "reference"
COLUMNS = (
    *("problem", "intent", "system", "code", "reference", "references", "language", "sample"),
    *("image", "image_alt", "stratum", "context", "tests"),
    *("scores", "gold", "gold_low", "gold_high"),
)
SCORE_COLUMN = "score:"
"""A column `score:BLEU` holds the scores of the metric BLEU."""
REQUIRED = ("problem", "system", "code")
READ_APART = ("references", "sample", "image", "scores", "gold", "gold_low", "gold_high")
ONCE = ("intent", "context", "image", "image_alt", "stratum", "tests")
MAX_SAMPLE = 1_000_000
LENGTHS = {"problem": 200, "system": 200, "language": 40, "stratum": 100, "image_alt": 300}


@dataclass
class ProblemData:
    """A problem as a file gives it. `image` is a checked path; `references` are texts in order."""

    key: str
    intent: str = ""
    context: str = ""
    image: Path | None = None
    image_alt: str = ""
    stratum: str = ""
    tests: str = ""
    place: str = ""


@dataclass(frozen=True)
class SnippetData:
    problem: str
    system: str
    sample: int
    code: str
    language: str
    place: str
    is_reference: bool = False
    scores: dict[str, float] = field(default_factory=dict)
    gold: tuple[float, float] | None = None


@dataclass
class Material:
    """What a file or a package holds. `notes` are for the readers of results, `remarks` for who imports."""

    problems: dict[str, ProblemData] = field(default_factory=dict)
    snippets: list[SnippetData] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def read_snippets(path: Path) -> Material:
    """The material of a file with one snippet a line. Raises BadInput with every bad line."""
    return material_of(read_rows(path), path)


def unused(columns: list[str]) -> str:
    """A sentence that names the columns, not more than 20 of them."""
    more = f" and {len(columns) - 20} more" if len(columns) > 20 else ""
    names = ", ".join(column or "one without a name" for column in columns[:20])
    return f"Columns that are not used: {names}{more}."


def material_of(rows: list[Row], path: Path) -> Material:
    columns = list(dict.fromkeys(column for row in rows for column in row.cells))
    missing = [column for column in REQUIRED if column not in columns]
    if missing:
        raise BadInput(
            f"{no_column(path.name, missing, columns)} A file of snippets has {', '.join(REQUIRED)}; "
            f"known besides: {', '.join(column for column in COLUMNS if column not in REQUIRED)}."
        )
    unknown = [column for column in columns if column not in COLUMNS and not column.startswith(SCORE_COLUMN)]
    reader = _Reader(path.parent)
    for row in rows:
        try:
            reader.add(row)
        except ValueError as error:
            reader.bad.append(f"{row.place}: {error}")
    material = reader.finish()
    if reader.bad:
        raise BadInput(f"{path.name} has {len(reader.bad)} bad lines. Nothing was imported.", reader.bad)
    if unknown:
        material.remarks.append(unused(unknown))
    return material


class _Reader:
    """Gathers rows into a Material. What a row adds to its problem must agree with the rows before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.material = Material()
        self.first: dict[str, Row] = {}
        self.references: dict[str, tuple[list[str], Row]] = {}
        self.seen: dict[tuple[str, str, int], Row] = {}
        self.bad: list[str] = []

    def add(self, row: Row) -> None:
        texts = {column: row.text(column) for column in COLUMNS if column not in READ_APART}
        for column in ("problem", "system"):
            texts[column] = texts[column].strip()
            if not texts[column]:
                raise ValueError(f"`{column}` is empty.")
        for column, length in LENGTHS.items():
            if len(texts[column]) > length:
                raise ValueError(f"`{column}` is longer than {length} characters.")
        if "code" not in row.cells:
            raise ValueError("`code` is missing.")
        self.add_problem(row, texts)
        self.add_references(row, texts["problem"])
        is_reference = texts["system"].lower() == REFERENCE
        snippet = SnippetData(
            problem=texts["problem"],
            system=REFERENCE if is_reference else texts["system"],
            sample=sample_of(row),
            code=texts["code"],
            language=texts["language"].strip() or "python",
            place=row.place,
            is_reference=is_reference,
            scores=scores_of(row),
            gold=gold_of(row),
        )
        self.add_snippet(snippet, row)

    def add_problem(self, row: Row, texts: dict[str, str]) -> None:
        key = texts["problem"]
        problem = self.material.problems.setdefault(key, ProblemData(key, place=row.place))
        first = self.first.setdefault(key, row)
        image = row.text("image").strip()
        values: dict[str, Any] = {name: texts[name] for name in ONCE if name != "image"}
        values["image"] = checked_image(self.folder, image) if image else None
        for name, value in values.items():
            known = getattr(problem, name)
            if value and known and value != known:
                raise ValueError(f"problem {key!r} has another `{name}` at {first.place}.")
            if value and not known:
                setattr(problem, name, value)

    def add_references(self, row: Row, problem: str) -> None:
        given = _references(row)
        known, first = self.references.setdefault(problem, (given, row))
        if given and known and given != known:
            raise ValueError(f"problem {problem!r} has other references at {first.place}.")
        if given and not known:
            self.references[problem] = (given, row)

    def add_snippet(self, snippet: SnippetData, row: Row) -> None:
        key = (snippet.problem, snippet.system, snippet.sample)
        before = self.seen.setdefault(key, row)
        if before is not row:
            raise ValueError(
                f"{snippet.system} has a snippet for problem {snippet.problem!r} at {before.place} already. "
                "Several of one system need a column `sample`: 0, 1, 2 ..."
            )
        self.material.snippets.append(snippet)

    def finish(self) -> Material:
        """Adds the references that stand in columns, and looks for problems that have nothing to show."""
        in_rows = {snippet.problem for snippet in self.material.snippets if snippet.is_reference}
        languages = {snippet.problem: snippet.language for snippet in reversed(self.material.snippets)}
        for key, (codes, row) in self.references.items():
            if codes and key in in_rows:
                self.bad.append(
                    f"{row.place}: problem {key!r} has references in rows and in a column. Keep one."
                )
                continue
            self.material.snippets += [
                SnippetData(key, REFERENCE, sample, code, languages.get(key, "python"), row.place, True)
                for sample, code in enumerate(codes)
            ]
        for key, problem in self.material.problems.items():
            if not (problem.intent.strip() or problem.context.strip() or problem.image):
                self.bad.append(
                    f"{self.first[key].place}: problem {key!r} has no intent, context or image: nothing to judge by."
                )
        return self.material


def sample_of(row: Row) -> int:
    """The cell `sample`, 0 if it is missing or empty. Raises ValueError."""
    text = row.text("sample").strip()
    if not text:
        return 0
    if len(text) > 7 or not text.isdecimal() or int(text) > MAX_SAMPLE:
        raise ValueError(f"`sample` must be a whole number from 0 to {MAX_SAMPLE}, not {text!r:.40}.")
    return int(text)


def scores_of(row: Row) -> dict[str, float]:
    """Metric -> score: from `scores` (a table, or its JSON text) and the columns `score:METRIC`. Raises ValueError."""
    value = row.cells.get("scores", "")
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, dict):
        raise ValueError('`scores` must be like {"BLEU": 0.4, "chrF": 0.5}.')
    named = {
        column.removeprefix(SCORE_COLUMN): cell
        for column, cell in row.cells.items()
        if column.startswith(SCORE_COLUMN)
    }
    scores = {}
    for metric, cell in [*value.items(), *named.items()]:
        name = str(metric).strip()
        if cell in ("", None):
            continue
        if unfit(name, 100) or not name:
            raise ValueError(f"`scores`: {name!r:.40} cannot name a metric.")
        scores[name] = _number(cell, f"the score of {name}")
    return dict(sorted(scores.items()))


def gold_of(row: Row) -> tuple[float, float] | None:
    """A gold check's lowest and highest right answer: `gold`, or `gold_low` with `gold_high`. Raises ValueError."""
    given = {name: row.cells.get(name, "") for name in ("gold", "gold_low", "gold_high")}
    found = {name: _number(cell, f"`{name}`") for name, cell in given.items() if cell not in ("", None)}
    if not found:
        return None
    low, high = found.get("gold_low", found.get("gold")), found.get("gold_high", found.get("gold"))
    if low is None or high is None or low > high:
        raise ValueError("a gold check needs `gold`, or `gold_low` and a `gold_high` that is not below it.")
    return low, high


def _number(cell: Any, name: str) -> float:
    try:
        number = float(str(cell).strip()[:40]) if not isinstance(cell, bool) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or abs(number) > 1e15:
        raise ValueError(f"{name} must be a number, not {str(cell)!r:.40}.")
    return number


def _references(row: Row) -> list[str]:
    """The references of a row: `references` (a list, a text that is a JSON list of texts, or one text) or `reference`.

    A text that only looks like a list, as `[x for x in y]` or `[1, 2]`, is one reference.
    """
    value = row.cells.get("references", "")
    if isinstance(value, str):
        listed = _listed(value)
        value = [value] if listed is None else listed
    if not isinstance(value, list) or not all(isinstance(code, str) for code in value):
        raise ValueError("`references` must be a list of texts.")
    reason = next(filter(None, map(unfit, value)), "")
    if reason:
        raise ValueError(f"`references` {reason}")
    codes = [code.replace("\r\n", "\n") for code in [*value, row.text("reference")] if code.strip()]
    return list(dict.fromkeys(codes))


def _listed(text: str) -> list[str] | None:
    """The texts of a JSON list; None for any other text."""
    if not text.lstrip().startswith("["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) and all(isinstance(code, str) for code in value) else None
