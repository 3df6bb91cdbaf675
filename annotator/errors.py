"""One exception family: a sentence for the reader, a code for machines, an HTTP status."""

from __future__ import annotations


class CodejuryError(Exception):
    """An expected failure. `str(error)` is the sentence shown; it says what to do."""

    code = "error"
    status = 400


class BadInput(CodejuryError):
    """What was sent cannot be used. `lines` lists every bad line as `file:line: what is wrong`."""

    code = "bad_input"

    def __init__(self, sentence: str, lines: list[str] | None = None) -> None:
        super().__init__(sentence)
        self.lines = lines or []


class NotYours(CodejuryError):
    """Unknown, or somebody else's: the two look alike on purpose."""

    code = "not_found"
    status = 404


class Conflict(CodejuryError):
    """The state of things does not allow it (any more)."""

    code = "conflict"
    status = 409


class TooMany(CodejuryError):
    """Asked too often in too short a time."""

    code = "too_many"
    status = 429
