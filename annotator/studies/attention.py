"""Pure: attention checks - when one is due, of which kind, what it shows and whether it was passed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotator.studies.draws import keyed_hash

LOUD = ("instructed", "gold")
"""Kinds whose failure can be told at once, with a second chance: their right answer stands by itself."""
COMMENT = {
    "python": "#",
    "ruby": "#",
    "bash": "#",
    "perl": "#",
    "r": "#",
    "sql": "--",
    "lua": "--",
    "haskell": "--",
}
"""How a line of comment begins; `//` in all other languages."""


def place(seed: int, annotator: int, check: int, every: int) -> int:
    """After how many tasks the annotator's check number `check` (from 0) is due: within its own stretch of `every`."""
    return check * every + 1 + keyed_hash(seed, "check", annotator, check) % every


def checks_among(seed: int, annotator: int, tasks: int, every: int) -> int:
    """How many checks come on top of so many tasks."""
    return sum(place(seed, annotator, check, every) <= tasks for check in range((tasks - 1) // every + 1))


def kinds_in_turn(seed: int, annotator: int, check: int, kinds: Sequence[str]) -> list[str]:
    """The kinds to try for a check: each comes once in every len(kinds) checks, in an order of the person's own."""
    rounds, turn = divmod(check, len(kinds))
    order = sorted(kinds, key=lambda kind: keyed_hash(seed, "kind", annotator, rounds, kind))
    return order[turn:] + order[:turn]


def passed(kind: str, value: float, *, low: float | None, high: float | None, original: float | None,
           lowest: float, tolerance: float) -> bool:  # fmt: skip
    """Whether a check's answer is as it must be.

    instructed, gold: from `low` to `high`. degraded: below the person's grade of the original (at the lowest grade
    nothing is below: then the lowest again). repeat: within `tolerance` of the person's first grade.
    """
    if kind == "degraded":
        return original is not None and (value < original or value == original == lowest)
    if kind == "repeat":
        return original is not None and abs(value - original) <= tolerance
    return (low is None or value >= low) and (high is None or value <= high)


def instructed(code: str, language: str, sentence: str) -> str:
    """The code with a comment at its end, the sentence that asks for one answer."""
    return f"{code.rstrip()}\n{COMMENT.get(language.lower(), '//')} {sentence}"


SWAPS = {
    "==": "!=", "!=": "==", "<=": ">", ">=": "<", "<": ">=", ">": "<=", "+=": "-=", "-=": "+=",
    "+": "-", "-": "+", "*": "+", "True": "False", "False": "True", "true": "false", "false": "true",
    "and": "or", "or": "and", "min": "max", "max": "min", "append": "remove", "reverse": "sort", "open": "print",
}  # fmt: skip
TOKEN = re.compile(
    r"\"[^\"\n]*\"|'[^'\n]*'|[A-Za-z_]\w*|\d+|==|!=|<=|>=|\+=|-=|\*\*|//|->|=>|[<>+*-]|\s+|.", re.DOTALL
)


def degrade(code: str, seed: int, salt: str | int = "") -> str:
    """A spoilt copy of the code, the same for the same seed: plainly worse, yet code at first sight.

    A third of its filled lines, drawn by the seed, is dropped (never the first); in the rest every operator, truth
    value and well-known call of SWAPS becomes its opposite, and every number grows by one. Where nothing of this
    changes the code (a single call, say), its last half is cut. Code of one character or less stays.
    """
    lines = code.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()][1:]
    ranked = sorted(filled, key=lambda number: keyed_hash(seed, "degrade", salt, number))
    dropped = set(ranked[: (len(filled) + 2) // 3])
    kept = "\n".join(line for number, line in enumerate(lines) if number not in dropped)
    spoilt = "".join(map(_swapped, TOKEN.findall(kept)))
    return spoilt if spoilt.strip() != code.strip() else code[: (len(code.rstrip()) + 1) // 2]


def _swapped(token: str) -> str:
    return (
        str(int(token) + 1)
        if token.isascii() and token.isdigit() and len(token) < 20
        else SWAPS.get(token, token)
    )
