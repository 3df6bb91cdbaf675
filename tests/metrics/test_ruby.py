"""RUBY: its levels, numbers worked by hand, stored numbers, and strange texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import metrics
from metrics.ruby import LONGEST, Ruby, RubyTextbook
from metrics.syntax_tree import kinds_of_nodes, syntax_tree
from tests.metrics.golden.make_ruby import PAIRS, entry

RUBY = Ruby()
TEXTBOOK = RubyTextbook()
LARGE = "\n".join(f"x{number} = f(a, b)" for number in range(20))
OTHER = LARGE.replace("f(a, b)", "f(a)")

# code, reference, level, score of ruby, score of ruby-textbook, where they come from
TABLE = [
    ("a +", "a + b", "string", 2 / 3, 2 / 3, "one of three tokens is missing"),
    ("print a", "print b", "string", 1 / 2, 1 / 2, "one of two tokens differs; neither parses"),
    ("", "", "string", 1.0, 1.0, "by definition"),
    ("", "a", "string", 0.0, 0.0, "by definition"),
    (" \n", "a", "string", 0.0, 0.0, "whitespace alone is empty"),
    (
        "a",
        "b",
        "graph",
        1 - 3 / 22,
        1 - 3 / 22,
        "token, symbol and word of 6 nodes with 5 edges each (Module-Expr-Name-token, symbol and word to token)",
    ),
    (
        LARGE,
        OTHER,
        "tree",
        # 20 statements of 17 nodes (Assign, its type comment, Name x, "x", Store, Call, Name f, "f", Load, two
        # arguments of 3) or 14, plus the Module: deleting 20 arguments is 60 nodes
        1 - 60 / (20 * 15 + 1 + 20 * 12 + 1),
        # 11 nodes or 9 (Assign, Name, "x", Call, Name, "f", arguments of 2): 40 deletions
        1 - 40 / (20 * 10 + 1 + 20 * 8 + 1),
        "20 calls with one argument less",
    ),
]


@pytest.mark.parametrize(("code", "reference", "level", "score", "textbook", "source"), TABLE)
def test_scores_and_levels_are_as_worked_out(
    code: str, reference: str, level: str, score: float, textbook: float, source: str
) -> None:
    assert RUBY.segment(code, [reference]) == pytest.approx(score, abs=1e-12), source
    assert TEXTBOOK.segment(code, [reference]) == pytest.approx(textbook, abs=1e-12), source
    assert RUBY.level(code, [reference]) == TEXTBOOK.level(code, [reference]) == level


def test_the_level_is_that_of_the_best_reference() -> None:
    assert RUBY.level("f(a)", ["f(b", "f(a)"]) == "graph"
    assert RUBY.level("f(a", ["f(b)", "f(a"]) == "string"
    assert RUBY.segment("f(a)", ["f(b", "f(a)"]) == 1.0


def test_a_corpus_counts_its_levels() -> None:
    rows = [
        RUBY.statistics(code, [reference])
        for code, reference in [("a", "b"), ("f(a)", "f(a)"), ("a +", "a + b"), (LARGE, OTHER)]
    ]
    assert [row.tolist()[1:] for row in rows] == [[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 1, 0]]
    total = np.sum(rows, axis=0)
    assert total.tolist()[1:] == [4, 2, 1, 1]
    assert RUBY.score(total) == pytest.approx(sum(row[0] for row in rows) / 4, abs=1e-12)


def test_the_stored_numbers_come_out_to_the_bit() -> None:
    """Made by golden/make_ruby.py; a change of a number means a new version of the metric."""
    stored = json.loads((Path(__file__).parent / "golden/ruby.json").read_text(encoding="utf-8"))
    assert stored == [entry(code, reference) for code, reference in PAIRS]
    assert {line["level"] for line in stored} == {"graph", "tree", "string"}


def test_the_tree_levels_differ() -> None:
    """Swapped statements: the same kinds of nodes in another order."""
    swapped = "\n".join(reversed(LARGE.splitlines()))
    assert RUBY.segment(LARGE, [swapped]) == 1.0
    assert TEXTBOOK.segment(LARGE, [swapped]) < 1.0


def test_kinds_count_every_field() -> None:
    # Module, Expr, Name with id and ctx
    assert kinds_of_nodes("a") == {"Module": 1, "Expr": 1, "Name": 1, "str": 1, "Load": 1}
    # the value and the kind of a constant
    assert kinds_of_nodes("1") == {"Module": 1, "Expr": 1, "Constant": 1, "str": 2}
    assert kinds_of_nodes("a b") is None


def test_trees_have_values_as_leaves() -> None:
    tree = syntax_tree("f(None, x='Name')")
    assert tree is not None
    assert tree.labels == (
        ("str", "f"),
        "Name",
        ("NoneType", None),
        "Constant",
        ("str", "x"),
        ("str", "Name"),
        "Constant",
        "keyword",
        "Call",
        "Expr",
        "Module",
    )


STRANGE = {
    "NUL": "x = 1\0",
    "surrogate": "x = '\udcff'",
    "indentation": "if a:\n  b\n c",
    "tabs": "if a:\n\tb\n        c",
    "old print": "print 'a'",
    "backticks": "f(`a`)",
    "unknown": "<unk>.png",
    "open text": "x = 'a",
    "brackets": "[" * 20_000,
    "nested": "(" * 300 + ")" * 300,
    "sum": "+".join("a" * 25_000),
    "short sum": "+".join("a" * 5_000),
    "signs": "-" * 5_000 + "1",
    "chain": "a" + ".b" * 3_000,
    "long line": "foo(bar, 'baz') + " * 5_600,
    "long number": "x = 0x" + "f" * 15_000,
    "many": "\n".join(f"x{number} = {number}" for number in range(1_500)),
}


@pytest.mark.parametrize("metric", [RUBY, TEXTBOOK], ids=lambda metric: metric.name)
@pytest.mark.parametrize("code", STRANGE.values(), ids=STRANGE)
def test_strange_texts_have_scores(metric: Ruby, code: str) -> None:
    assert 0 <= metric.segment(code, ["x = foo('a', b)"]) < 1
    assert 0 <= metric.segment("x = foo('a', b)", [code]) < 1
    assert metric.segment(code, [code]) == 1.0


def test_long_texts_are_strings() -> None:
    line = "x = foo(a)\n"
    long = line * (LONGEST // len(line) + 1)
    assert RUBY.level(long, [long]) == "string"
    assert RUBY.level(long[:LONGEST], [long[: LONGEST // 2]]) != "graph"
    different = RUBY.segment(long, [long.replace("a", "b")])
    # of the tokens x = foo ( a ) one differs
    assert different == pytest.approx(5 / 6, abs=1e-12)


def test_trees_that_take_too_long_are_strings() -> None:
    many = "\n".join(f"x = {number}" for number in range(1_000))
    assert (RUBY.level(many, ["x = 1"]), TEXTBOOK.level(many, ["x = 1"])) == ("tree", "tree")
    assert (RUBY.level(many, [many + "\ny"]), TEXTBOOK.level(many, [many + "\ny"])) == ("tree", "string")


def test_the_registry_has_both() -> None:
    assert [metrics.get(name).name for name in ("ruby", "ruby-textbook")] == ["ruby", "ruby-textbook"]
    assert "tree:kinds of nodes" in metrics.get("ruby").signature
    assert "tree:edit distance to 6e6 cells" in metrics.get("ruby-textbook").signature
