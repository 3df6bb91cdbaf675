"""Writes codebleu.json: what CodeBLEU gives with the pinned tree-sitter, by Python 3.11.

Run from the top folder: .venv/bin/python -m tests.metrics.golden.make_codebleu
Run it again only after a change that is meant to change scores, and raise the metric's version then.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import metrics
from metrics.codebleu import CodeBleu

PAIRS = [
    ("x = foo('a', b)", 'x = foo("c", b)'),
    ("x = foo(`a`, b)", "x = foo('a', b)"),
    ("print 'a'", "print('a')"),
    ("f'{x!r:>{w}} {{}}\\n'", "'{:>{}}\\n'.format(x, w)"),
    (r"re.sub('\d\n', b'\x00', r'\s')", r"re.sub('[0-9]', '', s)"),
    ("[x for x in y if x not in z]", "list(filter(lambda x: x not in z, y))"),
    ("{k: v for k, v in d.items() if v is not None}", "dict((k, v) for k, v in d.items() if v)"),
    ("def f(a, b=1, *c, d, **e):\n    return a + b\n", "def f(a, b=2):\n    c = a + b\n    return c\n"),
    ("for i in range(n):\n  if i: break\nelse:\n  print(i)", "while i < n:\n    i += 1\n    print(i)\n"),
    (
        "class A(B):\n    x = 1\n    def m(self):\n        return self.x",
        "class A:\n    def m(self):\n        self.x = 2",
    ),
    ("with open(p) as f: data = f.read()", "f = open(p)\ndata = f.read()\nf.close()"),
    ("try:\n  x()\nexcept E as e:\n  raise e\nfinally:\n  y(x)", "try:\n    x()\nexcept E:\n    pass\n"),
    ("import os.path as p, sys\nfrom . import a", "import os"),
    ("x[1:2, ::3] = y[..., None]", "x[:, 1] = y[0]"),
    ("a if b else c", "b and a or c"),
    ("x = = 1", "x = 1"),
    ("if x:\n    y\n  z", "if x:\n    y\nz"),
    ("f(a=1, a=2)", "f(a, a)"),
    ("größe = 'ß'", "größe = 'ss'"),
    ("f(\0)\udcff", "f(x, x)"),
    ("match x:\n  case [a, *b]: a\n", "async def f():\n  async with x as y: await y\n"),
    ("x := (y := 1)", "(y := 1) + y"),
]
FILE = Path(__file__).with_name("codebleu.json")


def rows() -> list[dict[str, Any]]:
    """The components and the score of each pair."""
    codebleu = metrics.get("codebleu")
    assert isinstance(codebleu, CodeBleu)
    return [
        {
            "code": code,
            "reference": reference,
            **codebleu.components(code, reference)._asdict(),
            "score": codebleu.segment(code, [reference]),
        }
        for code, reference in PAIRS
    ]


if __name__ == "__main__":
    FILE.write_text(json.dumps(rows(), indent=1) + "\n", encoding="utf-8")
