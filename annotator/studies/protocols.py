"""Protocols as data: what a study asks and how it is shown. `protocol_reader` checks the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "protocols"
POLICIES = ("open", "everyone", "balanced", "blocks")
SHOWS = ("snippet", "pair", "score")
CHECK_KINDS = ("instructed", "gold", "degraded", "repeat")


@dataclass(frozen=True)
class Option:
    value: int
    label: str
    description: str = ""


@dataclass(frozen=True)
class Question:
    """One question on an item: `options` (an ordinal scale), `slider` (low to high) or `text` (a comment)."""

    key: str
    text: str
    kind: str
    options: tuple[Option, ...] = ()
    low: float = 0
    high: float = 100
    step: float = 1
    low_label: str = ""
    high_label: str = ""
    with_previous: bool = False
    reveal: bool = False

    def option(self, value: float) -> Option | None:
        return next((option for option in self.options if option.value == value), None)

    def accepts(self, value: float) -> bool:
        """Whether the value is on the scale."""
        if self.kind == "options":
            return self.option(value) is not None
        if not self.low <= value <= self.high:
            return False
        steps = (value - self.low) / self.step
        return abs(steps - round(steps)) < 1e-9

    def reaches(self, low: float, high: float) -> bool:
        """Whether some answer lies from `low` to `high`."""
        if self.options:
            return any(low <= option.value <= high for option in self.options)
        return low <= self.high and high >= self.low

    def label(self, value: float) -> str:
        option = self.option(value)
        return option.label if option else ""

    @property
    def lowest(self) -> float:
        return min(option.value for option in self.options) if self.options else self.low

    @property
    def highest(self) -> float:
        return max(option.value for option in self.options) if self.options else self.high

    @property
    def scale(self) -> str:
        """The scale in words, for messages."""
        if self.options:
            return ", ".join(str(option.value) for option in self.options)
        return f"{self.low:g} to {self.high:g} in steps of {self.step:g}"

    @property
    def keyed(self) -> tuple[tuple[str, Option], ...]:
        """Options as shown, each with the key that chooses it: its value where those rise, else its place."""
        values = [option.value for option in self.options]
        rising = values == sorted(values) and values[0] >= 0 and values[-1] <= 9
        keys = [str(value) for value in values] if rising else [str(place) for place in range(1, 10)]
        keys += [""] * (len(values) - len(keys))
        return tuple(zip(keys, self.options, strict=False))


@dataclass(frozen=True)
class Ask:
    """One question about the person (`background`) or at the end (`feedback`): text, number or choice."""

    key: str
    text: str
    kind: str
    choices: tuple[str, ...] = ()
    required: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Example:
    """A worked example in the instructions, or a practice task with the answers that are right and why."""

    intent: str
    code: str
    reference: str = ""
    language: str = "python"
    tests: str = ""
    score: str = ""
    why: str = ""
    expected: Mapping[str, tuple[float, ...]] | None = None

    def __hash__(self) -> int:
        return hash((self.intent, self.code, self.why))


@dataclass(frozen=True)
class Checks:
    """Attention checks: one at a seeded place in each stretch of `every` tasks, their kinds in turn."""

    kinds: tuple[str, ...] = ()
    every: int = 10
    loud: bool = False
    fail_at: int | None = None
    tolerance: float = 1


@dataclass(frozen=True)
class Protocol:
    name: str
    version: int
    title: str
    policy: str
    language: str
    target: int | None
    tasks_per_person: int | None
    blocks: int | None
    sample_snippets: int | None
    lease_minutes: float
    reservation_hours: float
    minimum_seconds: float
    deadline: datetime | None
    show: str
    truth: str
    intent_as_code: bool
    grade_references: bool
    skip: bool
    back: bool
    copy: bool
    problem_heading: str
    snippet_heading: str
    reference_heading: str
    score_heading: str
    consent: str
    instructions: str
    thanks: str
    questions: tuple[Question, ...]
    background: tuple[Ask, ...]
    feedback: tuple[Ask, ...]
    example: Example | None
    practice: tuple[Example, ...]
    checks: Checks
    codes: Mapping[str, str]

    def __hash__(self) -> int:
        return hash((self.name, self.version, self.title))

    @property
    def pages(self) -> tuple[tuple[Question, ...], ...]:
        """The questions of an item by page: one after another, but for those `with_previous`."""
        pages: list[list[Question]] = []
        for question in self.questions:
            if question.with_previous and pages:
                pages[-1].append(question)
            else:
                pages.append([question])
        return tuple(tuple(page) for page in pages)

    @property
    def scaled(self) -> tuple[Question, ...]:
        """The questions whose answers are grades."""
        return tuple(question for question in self.questions if question.kind != "text")

    @property
    def reserves(self) -> bool:
        """Whether a person's whole set is reserved at once."""
        return self.policy in ("balanced", "blocks")


def protocol_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))
