"""Where in a TOML file each key stands, so that an error about its value can name the line."""

from __future__ import annotations

import re

HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\"' -]+?)\s*\]\]?\s*(#.*)?$")
KEY = re.compile(r"\s*([A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')\s*=\s*(.*)$")
Path = tuple[str | int, ...]


def key_lines(text: str) -> dict[Path, int]:
    """Path of each key and table - ("questions", 0, "options", 2, "value") - to its line, counted from 1."""
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    quote = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if quote:
            quote = "" if quote in line else quote
            continue
        header = HEADER.match(line)
        if header:
            table = _table(header.group(2).split("."), header.group(1) == "[[", counts)
            lines[table] = number
            continue
        key = KEY.match(line)
        if key:
            lines[(*table, key.group(1).strip("\"'"))] = number
            quote = left_open(key.group(2))
    return lines


def _table(names: list[str], is_array: bool, counts: dict[Path, int]) -> Path:
    path: Path = ()
    for place, name in enumerate(names):
        path = (*path, name.strip(" \"'"))
        if is_array and place == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def left_open(value: str) -> str:
    """The quote of a text that goes on in the next line."""
    for quote in ('"""', "'''"):
        if value.startswith(quote) and quote not in value[3:]:
            return quote
    return ""
