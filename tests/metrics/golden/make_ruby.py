"""Writes ruby.json, the stored scores of RUBY: `python -m tests.metrics.golden.make_ruby`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import metrics

LOOP = "for line in open(path):\n    if line.strip():\n        rows.append(line.split(',')[{}])\n"
CLASS = """class {0}(Base):
    def __init__(self, size={1}):
        super().__init__(size)
        self.items = [item for item in range(size) if item % 2]

    def get(self, key):
        try:
            return self.items[key]
        except IndexError as error:
            raise KeyError(key) from error
"""
SNIPPETS = [
    "a",
    "x = foo('a', b)",
    "foo(a, b)[1:]",
    "sorted(d.items(), key=lambda pair: pair[1], reverse=True)",
    "sorted(d, key=d.get)",
    "[str(x) for x in values if x > 0]",
    "print(' '.join(str(x) for x in values))",
    "re.findall('[a-z]+', text)[-1].lower()",
    LOOP.format(0),
    LOOP.format(-1) + "rows.sort()\n",
    CLASS.format("Even", 10),
    CLASS.format("Odd", "None") * 2,
    "print 'a'",
    "foo(a, b",
    "",
]
PAIRS = [(code, reference) for code in SNIPPETS for reference in SNIPPETS]


def entry(code: str, reference: str) -> dict[str, Any]:
    """The scores of one pair and their level, and the texts' first words to find it by."""
    ruby, textbook = metrics.get("ruby"), metrics.get("ruby-textbook")
    return {
        "pair": [code[:20], reference[:20]],
        "level": ruby.level(code, [reference]),  # type: ignore[attr-defined]
        "ruby": ruby.segment(code, [reference]),
        "ruby-textbook": textbook.segment(code, [reference]),
    }


def main() -> None:
    lines = [json.dumps(entry(code, reference)) for code, reference in PAIRS]
    path = Path(__file__).with_name("ruby.json")
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
