"""Match of syntax trees: what counts, what does not, and text that no parser takes."""

from __future__ import annotations

import ast
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metrics
from metrics.ast_match import parsed, same_tree

# code, references, score, why
TABLE = [
    ("f(a,b)", ["f( a, b )  # note"], 1.0, "layout and comments are not in the tree"),
    ("f('x')", ['f("x")'], 1.0, "nor is the kind of quotes"),
    ("(a + b)", ["a + b"], 1.0, "nor are superfluous brackets"),
    ("if a: b", ["x", "if a:\n    b\n"], 1.0, "any reference"),
    ("# nothing", [""], 1.0, "no statement in either"),
    ("a + b", ["b + a"], 0.0, "order counts"),
    ("f(a)", ["f(b)"], 0.0, "names count"),
    ("f(a)", ["f(a, a)"], 0.0, "the number of arguments counts"),
    ("x = 1", ["x = 1.0"], 0.0, "1 == 1.0, but the trees differ"),
    ("x = 1", ["x = True"], 0.0, "1 == True, but the trees differ"),
    ("x = 0.0", ["x = 0j"], 0.0, "equal numbers of two types"),
    ("del x[0]", ["x[0]"], 0.0, "another statement"),
    ("'''a'''\nx", ["x"], 0.0, "docstrings count"),
    ("print x", ["print x\n"], 1.0, "unparsable, equal but for the end"),
    ("print x", ["print  x"], 0.0, "unparsable, so the layout counts"),
    ("f(a)", ["f(a"], 0.0, "one parses, the other does not"),
    ("int x;", ["int  x ;"], 0.0, "another language"),
    ("\0", ["\0 "], 1.0, "NUL, equal but for the end"),
    ("x = '\udcff'", ["x  = '\udcff'"], 0.0, "a surrogate cannot be parsed"),
    ("\tif a:\n  b", ["if a:\n  b"], 0.0, "bad indentation"),
    (r"x = '\d'", [r"x  = '\d'"], 1.0, "an unknown escape is no error"),
]


@pytest.mark.parametrize(("code", "references", "expected", "why"), TABLE)
def test_trees_are_compared(code: str, references: list[str], expected: float, why: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metrics.get("ast-match").segment(code, references) == expected, why


DEEP = {
    "brackets": lambda count: "[" * count + "]" * count,
    "sum": lambda count: "+".join(["a"] * (count + 1)),
    "minus": lambda count: "-" * count + "1",
    "attributes": lambda count: "a" + ".b" * count,
    "line": lambda count: "foo(bar, 'baz') + " * count + "1",
    "branches": lambda count: "if a:\n pass\n" + "elif a:\n pass\n" * count,
}


LONG = {"line": 6_000, "branches": 7_000}
"""Of these so many fill the longest text that is read."""


@pytest.mark.parametrize(
    ("kind", "count"), [*((kind, LONG.get(kind, 20_000)) for kind in DEEP), *((kind, 300) for kind in DEEP)]
)
def test_trees_of_more_than_300_levels_are_compared_as_text(kind: str, count: int) -> None:
    """Pythons differ in what they can parse, the score does not: 3.13 takes 5,000 levels of some of these."""
    text = DEEP[kind](count)
    metric = metrics.get("ast-match")
    assert metric.segment(text, [text + " \n"]) == 1.0
    assert metric.segment(text, ["\n" + text]) == 0.0


@pytest.mark.parametrize(
    ("kind", "count"), [*((kind, 290) for kind in DEEP if kind != "brackets"), ("brackets", 90)]
)
def test_trees_of_290_levels_are_compared_as_trees(kind: str, count: int) -> None:
    """Of nested brackets Python's tokenizer takes 200 at most."""
    text = DEEP[kind](count)
    assert metrics.get("ast-match").segment(text, ["\n" + text]) == 1.0


@pytest.mark.parametrize("text", ["(" * 20_000, "9" * 5_000, "a" * 100_000 + "("])
def test_what_python_refuses_is_compared_as_text(text: str) -> None:
    assert parsed(text) is None
    assert metrics.get("ast-match").segment(text, ["\n" + text]) == 0.0


def test_a_long_list_is_compared_as_a_tree() -> None:
    long = "[" + "1, " * 35_000 + "]"
    assert metrics.get("ast-match").segment(long, [long.replace(" ", "")]) == 1.0
    assert metrics.get("ast-match").segment(long, [long.replace("1, ]", "2]")]) == 0.0


STATEMENTS = [
    *(
        "x = 1",
        "x  =  1",
        "x = 1.0",
        "x: int = 1",
        "f(*a, **b)",
        "f(a)",
        "f( a )",
        "(a)",
        "lambda a=1: a",
        "[a]",
    ),
    *(
        "import os",
        "import os as os",
        "u'a'",
        "'a'",
        '"a"',
        "b'a'",
        "...",
        "None",
        "f'{a!r}'",
        "f'{a}'",
        "-0.0",
        "0.0",
    ),
    *(
        "1e999 - 1e999",
        "x[1:]",
        "x[1:None]",
        "def f(a, /, *, b): pass",
        "def f(a, *, b): pass",
        "async def f(): await a",
    ),
]


@settings(max_examples=200, deadline=None)
@given(
    left=st.lists(st.sampled_from(STATEMENTS), max_size=3),
    right=st.lists(st.sampled_from(STATEMENTS), max_size=3),
)
def test_trees_are_the_same_where_their_dumps_are(left: list[str], right: list[str]) -> None:
    one, other = ast.parse("\n".join(left)), ast.parse("\n".join(right))
    assert same_tree(one, other) == (ast.dump(one) == ast.dump(other))


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(alphabet="ab1'\"\\(){}[]:=,.#\n\t \0\ud800é", max_size=30), other=st.sampled_from(STATEMENTS)
)
def test_any_text_is_compared(text: str, other: str) -> None:
    assert metrics.get("ast-match").segment(text, [other]) in (0.0, 1.0)
    assert metrics.get("ast-match").segment(text, [text]) == 1.0
