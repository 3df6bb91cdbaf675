"""Studies that go the whole way: a protocol's text and rows of snippets, imported and opened as a researcher does."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from annotator.studies import actions
from annotator.studies.importer import material_of
from annotator.studies.models import Study
from annotator.studies.tabular import Row

HEAD = """
name = "survey"
title = "A survey"
consent = "You will grade code. Your grades are stored."
instructions = "Read the code, then answer."
"""
ASIDE = """
[[background]]
key = "years"
text = "For how many years have you written code?"
kind = "number"
low = 0
high = 80
required = true

[[background]]
key = "role"
text = "What do you do?"
kind = "choice"
choices = ["Study", "Work"]

[[feedback]]
key = "opinion"
text = "What do you think of it?"
"""
PRACTICE = """
[[practice]]
intent = "Add two and two."
code = "2 + 2"
why = "It does."
{expected}
"""
QUALITY = """
[[questions]]
key = "quality"
text = "How good is it?"
options = [
    { value = 0, label = "Not at all" },
    { value = 1, label = "A little" },
    { value = 2, label = "Half" },
    { value = 3, label = "Mostly" },
    { value = 4, label = "Fully" },
]
"""
EFFORT = """
[[questions]]
key = "effort"
text = "How many of a hundred lines would you keep?"
kind = "slider"
low = 0
high = 100
step = 25
"""
REMARK = """
[[questions]]
key = "remark"
text = "Anything to add?"
kind = "text"
with_previous = true
"""
BESIDE = EFFORT + "with_previous = true\n"


def protocol_text(*parts: str, **keys: Any) -> str:
    """The text of a protocol: top-level keys first, then the parts."""
    lines = [f"{key} = {_toml(value)}" for key, value in keys.items()]
    return "\n".join([HEAD, *lines, *parts])


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def rows_of(
    problems: int, systems: Sequence[str] = ("a", "b"), *, references: int = 0, **cells: Any
) -> list[dict[str, Any]]:
    """Rows of a file: each system's code for each problem, all different, and references under their own name."""
    rows = []
    for number in range(problems):
        about = {"problem": f"p{number}", "intent": f"Pick the value of `item_{number:03}`."} | cells
        for place, system in enumerate(systems):
            code = f"first = item_{number:03}[{place}]\nsecond = first + {place}\nreturn second == first"
            rows.append(about | {"system": system, "code": code})
        for place in range(references):
            code = f"found = take({place}, item_{number:03})\nif found > 0:\n    return found"
            rows.append(about | {"system": "reference", "sample": place, "code": code})
    return rows


def gold(rows: Iterable[dict[str, Any]], answer: int) -> list[dict[str, Any]]:
    """The same rows as known items: each has one right answer."""
    return [row | {"gold": answer} for row in rows]


def make_survey(
    text: str,
    rows: Iterable[dict[str, Any]],
    *,
    slug: str = "survey",
    seed: int = 11,
    is_open: bool = True,
    folder: Path | None = None,
    **options: Any,
) -> Study:
    """A study by the protocol of the text (or of a shipped one's name) with the rows; `folder` has their images."""
    with tempfile.TemporaryDirectory() as own:
        name = text
        if "\n" in text:
            name = str(Path(own) / "survey.toml")
            Path(name).write_text(text, encoding="utf-8")
        study = actions.create_study(slug, "", name, seed=seed, **options)
    add_rows(study, rows, folder=folder)
    if is_open:
        actions.open_study(study)
    return study


def add_rows(study: Study, rows: Iterable[dict[str, Any]], *, folder: Path | None = None) -> None:
    """Imports the rows as one file; `folder` has their images."""
    table = [Row(f"x.csv:{line}", row) for line, row in enumerate(rows, start=2)]
    if table:
        actions.add_material(study, material_of(table, (folder or Path()) / "x.csv"))
