"""Python's tokens as Python 3.11 cuts them, on every Python.

Python 3.12 gave `tokenize` a new engine that refuses much of what models write (backticks, $, ?, open quotes), so
scores would depend on the Python they are computed with. This is a tokenizer of the old kind, for
https://docs.python.org/3.11/reference/lexical_analysis.html: it works line by line, and a character that begins no
token is a token of its own.
"""

from __future__ import annotations

import io
import re
from collections.abc import Generator, Iterator
from functools import cache
from itertools import permutations, product
from typing import NamedTuple

_OPERATORS = (
    "!= % %= & &= ( ) * ** **= *= + += , - -= -> . ... / // //= /= : := ; < << <<= <= = == > >= >> >>= "
    "@ @= [ ] ^ ^= { | |= } ~"
)
_PREFIXES = sorted(
    {
        "".join(letters)
        for prefix in ("", "b", "r", "u", "f", "br", "fr")
        for order in permutations(prefix)
        for letters in product(*((letter, letter.upper()) for letter in order))
    },
    key=len,
    reverse=True,
)
_LETTERS = "bBrRuUfF"
_PREFIX = f"(?:{'|'.join(_PREFIXES)})"
_DIGITS = r"[0-9](?:_?[0-9])*"
_EXPONENT = rf"[eE][-+]?{_DIGITS}"
_FLOAT = rf"(?:(?:{_DIGITS}\.(?:{_DIGITS})?|\.{_DIGITS})(?:{_EXPONENT})?|{_DIGITS}{_EXPONENT})"
_NUMBER = "|".join(
    [
        rf"{_DIGITS}[jJ]",
        rf"{_FLOAT}[jJ]",
        _FLOAT,
        r"0[xX](?:_?[0-9a-fA-F])+",
        r"0[bB](?:_?[01])+",
        r"0[oO](?:_?[0-7])+",
        r"0(?:_?0)*",
        r"[1-9](?:_?[0-9])*",
    ]
)
_OPERATOR = "|".join(map(re.escape, sorted(_OPERATORS.split(), reverse=True)))
# What closes a string, from within it and on one line
_ENDS = {
    "'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*'"),
    '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"'),
    "'''": re.compile(r"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"),
    '"""': re.compile(r'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'),
}
_BLANKS = re.compile(r"[ \f\t]*")
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
TAB = 8


class Token(NamedTuple):
    kind: str
    """The name of the type in the module `token`."""
    text: str


class UnfinishedError(ValueError):
    """The text ends within brackets, a string of several lines, or after a backslash."""


def tokenize(code: str) -> list[Token]:
    """All tokens, the ENDMARKER last.

    Raises UnfinishedError where `tokenize.generate_tokens` of Python 3.11 raises TokenError, and IndentationError
    where it does, when a line goes back to an indentation that no line before it has.
    """
    return [*_Scanner(code)]


@cache
def _pattern(quotes: str) -> re.Pattern[str]:
    """Blanks and one token, of which strings have one of these quotes and do not go on after the line."""
    strings = [
        rf"{_PREFIX}{quote}[^\n{quote}\\]*(?:\\.[^\n{quote}\\]*)*(?:{quote}|\\\r?\n)" for quote in quotes
    ]
    kinds = {
        "BACKSLASH": r"\\\r?\n|\Z",
        "COMMENT": r"#[^\r\n]*",
        "TRIPLE": rf"{_PREFIX}(?:'''|\"\"\")",
        "NUMBER": _NUMBER,
        "NEWLINE": r"\r?\n",
        "OP": _OPERATOR,
        "STRING": "|".join(strings) or r"(?!)",
        "NAME": r"\w+",
    }
    return re.compile(r"[ \f\t]*+(?:" + "|".join(f"(?P<{kind}>{rule})" for kind, rule in kinds.items()) + ")")


class _Scanner:
    """The tokens of a text, line by line."""

    def __init__(self, code: str) -> None:
        self.lines = io.StringIO(code, newline="\n")
        self.indents = [0]
        self.depth = 0  # of brackets; below 0 after too many closing ones
        self.joined = False  # by a backslash to the line before
        self.string = ""  # what is there of a string that is still open
        self.quote = ""  # what closes it
        self.needs_backslash = False  # at the end of each of its lines; stays true when that was missing

    def __iter__(self) -> Iterator[Token]:
        last = ""
        for line in self.lines:
            start = 0
            if self.string:
                start = yield from self.continued_string(line)
            elif self.depth or self.joined:
                self.joined = False
            else:
                start = _blanks(line)
                if start == len(line):
                    break
                if line[start] in "#\r\n":
                    comment = line[start:].rstrip("\r\n") if line[start] == "#" else ""
                    if comment:
                        yield Token("COMMENT", comment)
                    yield Token("NL", line[start + len(comment) :])
                    start = len(line)
                else:
                    yield from self.indentation(line[:start])
            yield from self.scan(line, start)
            last = line
        else:
            if self.string or self.depth or self.joined:
                raise UnfinishedError("The text ends within a string or a statement.")
        if last and last[-1] not in "\r\n" and not last.strip().startswith("#"):
            yield Token("NEWLINE", "")
        yield from [Token("DEDENT", "")] * (len(self.indents) - 1)
        yield Token("ENDMARKER", "")

    def continued_string(self, line: str) -> Generator[Token, None, int]:
        """Takes what the line has of an open string; returns where the line goes on."""
        end = _ENDS[self.quote].match(line)
        if end:
            yield Token("STRING", self.string + line[: end.end()])
            self.string, self.needs_backslash = "", False
            return end.end()
        self.string += line
        if self.needs_backslash and not line.endswith(("\\\n", "\\\r\n")):
            yield Token("ERRORTOKEN", self.string)
            self.string = ""
        return len(line)

    def indentation(self, blanks: str) -> Iterator[Token]:
        column = 0
        for blank in blanks:
            column = {" ": column + 1, "\t": (column // TAB + 1) * TAB}.get(blank, 0)
        if column > self.indents[-1]:
            self.indents.append(column)
            yield Token("INDENT", blanks)
        while column < self.indents[-1]:
            if column not in self.indents:
                raise IndentationError("unindent does not match any outer indentation level")
            self.indents.pop()
            yield Token("DEDENT", "")

    def scan(self, line: str, start: int) -> Iterator[Token]:
        """The tokens of a line from a place on."""
        quotes = "'\""
        while start < len(line):
            match = _pattern(quotes).match(line, start)
            if match is None:
                bad = _blanks(line, start) + 1
                yield from (Token("ERRORTOKEN", character) for character in line[start:bad])
                # A quote that nothing closes leaves none behind it that could be closed either
                quotes = quotes.replace(line[bad - 1], "")
                start = bad
                continue
            kind, start = str(match.lastgroup), match.end()
            text = match[kind]
            if kind == "TRIPLE":
                end = _ENDS[text[-3:]].match(line, start)
                kind, text = "STRING", line[match.start(kind) : end.end() if end else len(line)]
                start = match.start("TRIPLE") + len(text)
                if not end:
                    self.string, self.quote = text, text.lstrip(_LETTERS)[:3]
                    return
            elif kind == "STRING" and text[-1] == "\n":
                self.string, self.quote, self.needs_backslash = text, text.lstrip(_LETTERS)[0], True
                return
            elif kind == "BACKSLASH":
                self.joined = bool(text)
                continue
            elif kind == "OP":
                self.depth += _BRACKETS.get(text, 0)
            elif kind == "NEWLINE" and self.depth > 0:
                kind = "NL"
            elif kind == "NAME" and not text[0].isidentifier():
                kind = "OP"  # other scripts' digits, as in the original
            yield Token(kind, text)


def _blanks(line: str, start: int = 0) -> int:
    """Where the blanks from a place on end."""
    match = _BLANKS.match(line, start)
    return match.end() if match else start
