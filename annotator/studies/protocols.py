"""Protocols as data: the questions of a study and how they are shown, read from TOML files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotator.errors import BadInput

FOLDER = Path(__file__).resolve().parent.parent / "protocols"


@dataclass(frozen=True)
class Option:
    value: int
    label: str
    description: str = ""


@dataclass(frozen=True)
class Question:
    key: str
    text: str
    options: tuple[Option, ...]

    def option(self, value: int) -> Option | None:
        return next((option for option in self.options if option.value == value), None)


@dataclass(frozen=True)
class Protocol:
    name: str
    version: int
    title: str
    policy: str
    target: int | None
    lease_minutes: int
    grade_references: bool
    skip: bool
    problem_heading: str
    snippet_heading: str
    consent: str
    instructions: str
    thanks: str
    questions: tuple[Question, ...]


REQUIRED = {"name": str, "version": int, "title": str, "policy": str, "questions": list}
DEFAULTS: dict[str, Any] = {
    "target": None,
    "lease_minutes": 30,
    "grade_references": False,
    "skip": True,
    "problem_heading": "The problem",
    "snippet_heading": "A snippet that may or may not solve it",
    "consent": "",
    "instructions": "",
    "thanks": "Thank you.",
}
OPTIONAL_TYPES: Mapping[str, tuple[type, ...]] = {
    "target": (int,),
    "lease_minutes": (int,),
    "grade_references": (bool,),
    "skip": (bool,),
} | dict.fromkeys(("problem_heading", "snippet_heading", "consent", "instructions", "thanks"), (str,))
POLICIES = ("open", "everyone")


def read_protocol(data: dict[str, Any]) -> Protocol:
    """A checked Protocol from the table of its TOML file.

    Raises BadInput whose `lines` name every wrong key.
    """
    wrong = _wrong_keys(data)
    questions: list[Question] = []
    tables = data.get("questions")
    for number, table in enumerate(tables if isinstance(tables, list) else [], start=1):
        try:
            questions.append(_read_question(table))
        except (KeyError, TypeError, ValueError) as error:
            wrong.append(f"questions[{number}]: {_reason(error)}")
    if len({question.key for question in questions}) < len(questions):
        wrong.append("questions: each needs a `key` of its own.")
    if wrong:
        raise BadInput(f"The protocol {data.get('name', '')!r} cannot be used.", wrong)
    known = {key: data.get(key, default) for key, default in DEFAULTS.items()}
    return Protocol(
        name=data["name"],
        version=data["version"],
        title=data["title"],
        policy=data["policy"],
        questions=tuple(questions),
        **known,
    )


def _wrong_keys(data: dict[str, Any]) -> list[str]:
    wrong = [f"`{key}` is missing." for key in REQUIRED if key not in data]
    for key, value in data.items():
        kinds = (REQUIRED[key],) if key in REQUIRED else OPTIONAL_TYPES.get(key)
        if kinds is None:
            wrong.append(f"`{key}` is not known. Known: {', '.join([*REQUIRED, *DEFAULTS])}.")
        elif type(value) not in kinds and not (value is None and key == "target"):
            wrong.append(f"`{key}` must be of type {kinds[0].__name__}.")
    if data.get("policy") not in POLICIES:
        wrong.append(f"`policy` must be one of {', '.join(POLICIES)}.")
    for key in ("target", "lease_minutes"):
        if isinstance(data.get(key), int) and data[key] < 1:
            wrong.append(f"`{key}` must be at least 1.")
    if not data.get("questions"):
        wrong.append("`questions` must hold at least one question.")
    return wrong


def _read_question(table: dict[str, Any]) -> Question:
    options = tuple(
        Option(int(option["value"]), str(option["label"]), str(option.get("description", "")))
        for option in table["options"]
    )
    if len({option.value for option in options}) < max(len(options), 2):
        raise ValueError("needs at least two options, each with a `value` of its own.")
    return Question(str(table["key"]), str(table["text"]), options)


def _reason(error: Exception) -> str:
    return f"`{error.args[0]}` is missing." if isinstance(error, KeyError) else str(error)


def protocol_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_protocol(name: str) -> dict[str, Any]:
    """The checked table of a shipped protocol, ready for Study.protocol.

    Raises BadInput for an unknown name (it lists the known ones) or a wrong file.
    """
    if name not in protocol_names():
        raise BadInput(f"There is no protocol {name!r}. Known: {', '.join(protocol_names())}.")
    path = FOLDER / f"{name}.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path.name}: {error}") from error
    read_protocol(data)
    return data
