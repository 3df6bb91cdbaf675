"""The translated sentences of the annotators' pages: python -m scripts.messages

Compiles each locale/LANGUAGE/LC_MESSAGES/django.po into the .mo file beside it, and says what is not translated
(or translated in vain). Needs nothing but Django: no gettext tools.
"""

from __future__ import annotations

import ast
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation.template import templatize

from scripts.services import ROOT

LOCALE = ROOT / "locale"
TEMPLATES = ("templates/base.html", "templates/error.html", "templates/grading/*.html")
MODULES = ("annotator/grading/*.py", "annotator/grading/actions/*.py", "annotator/studies/items.py")
FUNCTIONS = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy"}
TEXT = r"u?(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
CALL = re.compile(rf"(?<!\w)(_|n?gettext)\(({TEXT})(?:, ({TEXT}))?")


@dataclass(frozen=True)
class Entry:
    """One message: `plural` is "" where it has none; `texts` are its translations, one for each plural form."""

    message: str
    plural: str = ""
    texts: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        return self.message, self.plural

    @property
    def complete(self) -> bool:
        return bool(self.texts) and all(self.texts) and len(self.texts) == (2 if self.plural else 1)


def marked() -> dict[tuple[str, str], str]:
    """(message, plural or "") -> the file it stands in, of all that is marked translatable."""
    found: dict[tuple[str, str], str] = {}
    for pattern in TEMPLATES:
        for path in sorted(ROOT.glob(pattern)):
            for key in _of_template(path.read_text(encoding="utf-8")):
                found.setdefault(key, str(path.relative_to(ROOT)))
    for pattern in MODULES:
        for path in sorted(ROOT.glob(pattern)):
            for key in _of_module(path.read_text(encoding="utf-8")):
                found.setdefault(key, str(path.relative_to(ROOT)))
    return found


def _of_template(text: str) -> Iterator[tuple[str, str]]:
    for call in CALL.finditer(templatize(text)):
        yield ast.literal_eval(call[2]), ast.literal_eval(call[3]) if call[3] else ""


def _of_module(text: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
            message, *rest = [each for each in texts if isinstance(each, str)]
            yield message, rest[0] if rest else ""


def read_po(text: str) -> list[Entry]:
    """The entries of a .po file, the header (message "") among them. Raises ValueError on what is no such file."""
    entries: list[Entry] = []
    fields: dict[str, str] = {}
    name = ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        line = line.strip()
        keyword = re.fullmatch(r'(msgid|msgid_plural|msgstr|msgstr\[\d\]) (".*")', line)
        if keyword:
            if keyword[1] == "msgid" and fields:
                entries.append(_entry(fields))
                fields = {}
            name = keyword[1]
            fields[name] = ast.literal_eval(keyword[2])
        elif line.startswith('"') and name:
            fields[name] += ast.literal_eval(line)
        elif line and not line.startswith("#"):
            raise ValueError(f"line {number} is not of a .po file: {line}")
    if fields:
        entries.append(_entry(fields))
    return entries


def _entry(fields: dict[str, str]) -> Entry:
    texts = tuple(text for name, text in sorted(fields.items()) if name.startswith("msgstr"))
    return Entry(fields["msgid"], fields.get("msgid_plural", ""), texts)


def compile_mo(entries: list[Entry]) -> bytes:
    """The .mo file: a header of seven numbers, a table of the messages in order, one of their texts, and both."""
    pairs = sorted(
        (
            "\0".join(filter(None, entry.key)).encode(),
            "\0".join(entry.texts).encode(),
        )
        for entry in entries
        if entry.message == "" or entry.complete
    )
    count, start = len(pairs), 7 * 4
    place = start + 2 * count * 8
    tables: list[bytes] = []
    for column in (0, 1):
        for pair in pairs:
            tables.append(struct.pack("<2I", len(pair[column]), place))
            place += len(pair[column]) + 1
    texts = b"".join(pair[column] + b"\0" for column in (0, 1) for pair in pairs)
    header = struct.pack("<7I", 0x950412DE, 0, count, start, start + count * 8, 0, start)
    return header + b"".join(tables) + texts


def complaints(entries: list[Entry]) -> list[str]:
    """What is marked and not translated, or translated and not marked any more."""
    known = {entry.key: entry for entry in entries if entry.message}
    wanted = marked()
    missing = [
        f"{place}: {key[0]}" for key, place in wanted.items() if key not in known or not known[key].complete
    ]
    return [f"not translated: {each}" for each in missing] + [
        f"not used any more: {key[0]}" for key in known if key not in wanted
    ]


def catalogues() -> list[Path]:
    return sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))


def main() -> int:
    wrong = 0
    for path in catalogues():
        entries = read_po(path.read_text(encoding="utf-8"))
        path.with_suffix(".mo").write_bytes(compile_mo(entries))
        print(f"{path.relative_to(ROOT)}: {len(entries) - 1} messages")
        for complaint in complaints(entries):
            print(f"  {complaint}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
