"""Program graphs: worked by hand, and held against published scores that depend on their size."""

from __future__ import annotations

import ast
import doctest
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import graph_builder
from metrics.program_graph import Graph, program_graph

SYSTEMS = ("baseline", "tranx-annot", "best-tranx", "best-tranx-rerank", "codex")


def graph(code: str) -> Graph:
    built = program_graph(code)
    assert built is not None
    return built


def named(code: str, kind: str) -> list[tuple[str, str]]:
    """The labels at both ends of the edges of a type."""
    built = graph(code)
    return [
        (built.labels[start], built.labels[end])
        for (start, end), name in sorted(built.edges.items())
        if name == kind
    ]


def test_a_call_is_as_drawn_by_hand() -> None:
    built = graph("ord(x_1)")
    assert built.labels == (
        *("Module", "Expr", "Call", "Name", "ord", "ord", "(", "Name", "x_1", "x_1", ")"),
        *("ord", "x", "1"),
    )
    children = {(0, 1), (1, 2), (2, 3), (3, 4), (2, 6), (2, 7), (7, 8), (2, 10)}
    assert built.edges == {
        **dict.fromkeys(children, "CHILD"),
        **dict.fromkeys({(4, 6), (6, 8), (8, 10)}, "NEXT"),
        **dict.fromkeys({(4, 5), (8, 9)}, "OCCURRENCE_OF"),
        **dict.fromkeys({(11, 4), (12, 8), (13, 8)}, "SUBTOKEN_OF"),
    }
    assert built.next_uses == (("ord", 0), ("x_1", 0))


# code, symbols with NEXT_USE edges, why
FLOWS: list[tuple[str, tuple[tuple[str, int], ...], str]] = [
    ("x", (), "one use"),
    ("f(x, x, x)", (("x", 2),), "one after the other"),
    ("a.b; a.b", (("a", 1), ("a.b", 1)), "attributes of names are symbols, too"),
    ("a.b.c.d; a.b.c.d", (("a", 1), ("a.b", 1), ("a.b.c", 1)), "but not a.b.c.d"),
    ("x = x + 1", (("x", 1),), "the target comes after the value"),
    ("if c:\n  x\nelse:\n  x\nx", (("x", 2),), "from both branches"),
    ("x if x else x", (("x", 2),), "the test comes first"),
    ("for i in y:\n  i", (("i", 1),), "from the target into the body"),
    ("for i in y:\n  f(x)\n  g(x)", (("x", 2),), "from the end of a loop back to its start"),
    ("a.b = a.b", (("a.b", 1),), "before the dot of a target nothing flows"),
    ("d[k] = k", (("k", 1),), "in the brackets of one it does"),
    ("[d for d in [s for s in x]]", (), "the study mixed up such scopes"),
    ("[d for d in (s for s in x)]", (("d", 1), ("s", 1)), "but not these"),
    ("while c:\n  x\nx", (("x", 1),), "a use is not its own successor"),
    ("while c:\n  x\n  break\nx", (), "nothing flows past break"),
    ("x = 1\ndef f():\n  return x", (), "each scope has a symbol of its own"),
    ("[x for x in y]", (("x", 1),), "one symbol in the comprehension"),
    ("[x for x in x]", (("x", 1),), "the first iterable belongs around it"),
    ("[x for x in y if x]", (("x", 2),), "the target comes after the conditions"),
    ("(lambda x: x)(x)", (("x", 1),), "a parameter and its use"),
    ("class A:\n  x\n  x", (), "statements of a class start anew"),
]


@pytest.mark.parametrize(("code", "expected", "why"), FLOWS)
def test_data_flows_from_use_to_use(code: str, expected: tuple[tuple[str, int], ...], why: str) -> None:
    assert tuple(pair for pair in graph(code).next_uses if pair[1]) == expected, why


def test_symbols_are_in_the_order_of_their_first_occurrence() -> None:
    assert [label for label, _ in graph("t = f(u.v, t)").next_uses] == ["t", "f", "u", "u.v"]


@pytest.mark.parametrize(
    ("code", "kind", "expected"),
    [
        ("x = y", "COMPUTED_FROM", [("Name", "Name")]),
        ("a.x = y", "COMPUTED_FROM", []),
        ("def f():\n  return 1", "RETURNS_TO", [("Return", "FunctionDef")]),
        ("return 1", "RETURNS_TO", [("Return", "None")]),
        ("getURL2", "SUBTOKEN_OF", [("get", "getURL2"), ("url", "getURL2"), ("2", "getURL2")]),
        ("_", "SUBTOKEN_OF", []),
        ("'abc'", "SUBTOKEN_OF", []),
    ],
)
def test_edges_join_what_they_should(code: str, kind: str, expected: list[tuple[str, str]]) -> None:
    assert named(code, kind) == expected


def test_nodes_have_their_old_names() -> None:
    labels = graph("x[1], x[1:2, 'a\"\\n'], b'', None, ...").labels
    assert {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "Slice"} <= {*labels}
    assert "a" in labels
    assert "Constant" not in labels


@pytest.mark.parametrize(
    "code",
    [
        "print x", "f(", "f(a=1, a=2)", "def f(a, a): pass", "x\n  y", "\0", "\udcff", "`x`",
        "(" * 300, "[" * 20_000, "a+" * 5_000 + "a", "-" * 5_000 + "a", "a" + ".b" * 3_000, "a+" * 24_999 + "a",
        "type X = int", "def f[T](): pass",
        "f'{a['b']}'", "f'{\"\\n\".join(a)}'", "f'{\na}'", "f'{a:{'b'}}'",
    ],
    ids=lambda code: ascii(code[:20]),
)  # fmt: skip
def test_what_does_not_parse_has_no_graph(code: str) -> None:
    assert program_graph(code) is None


@pytest.mark.parametrize(
    "code", ["f'{a[\"b\"]}\\n' 'c'", "rf'''{\na!r:>{w}}'''", "'{a}' f'{f\"{b}\"}'", "b'f', u'f'"]
)
def test_old_f_strings_have_a_graph(code: str) -> None:
    assert program_graph(code) is not None


def test_depth_is_limited_by_the_tree_alone() -> None:
    assert program_graph("-" * 140 + "a") is not None
    assert program_graph("-" * 150 + "a") is None


def test_a_long_line_has_a_graph() -> None:
    assert graph("f(" + "a, " * 30_000 + ")").next_uses == (("f", 0), ("a", 29_999))


def test_many_statements_have_a_graph_soon_and_too_many_steps_have_none() -> None:
    assert program_graph("".join(f"for a{i} in b{i}:\n c{i}\n" for i in range(500))) is not None
    assert program_graph("if c:\n x\n" * 500) is not None
    assert program_graph("if c:\n x\n" * 2_000) is None


def test_the_empty_text_has_a_graph_of_one_node() -> None:
    assert graph("") == graph(" \n") == Graph(("Module",), {}, ())


names = st.sampled_from(["a", "b", "a.b", "a[b]", "f(a)", "[a,b]", "(lambda:a)", "{a:b}"])
expressions = st.recursive(
    names,
    lambda inner: st.one_of(
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("[{} for a in {} if {}]".format, inner, inner, inner),
        st.builds("f({}, *{}, k={})".format, inner, inner, inner),
        st.builds("({} + {} < {})".format, inner, inner, inner),
    ),
    max_leaves=12,
)
SHAPES = (
    "a = {}", "if {0}:\n  {0}", "for a in {0}:\n  {0}", "while {0}:\n  break", "def f(a={0}):\n  return {0}",
    "with {0} as a:\n  pass", "try:\n  {0}\nexcept {0}:\n  raise\nfinally:\n  {0}", "class A(a):\n  {0}\n  b = a",
    "async def f():\n  await {0}\n  yield {0}", "assert {0}, {0}", "del a", "import a.b as b", "match a:\n case b: {0}",
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SHAPES), expressions), max_size=4))
def test_every_program_has_a_sound_graph(parts: list[tuple[str, str]]) -> None:
    code = "\n".join(shape.format(expression) for shape, expression in parts)
    ast.parse(code)
    built = graph(code)
    ends = {end for pair in built.edges for end in pair}
    assert ends == set(range(len(built.labels))) or not parts
    assert {*built.edges.values()} <= {*graph_builder.EDGES}
    assert sum(number for _, number in built.next_uses) >= len(named(code, "NEXT_USE"))
    program_graph.cache_clear()
    assert graph(code) == built


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(graph_builder).attempted


@pytest.fixture(scope="module")
def pairs(shared_data: Path) -> list[tuple[str, str, float, bool]]:
    """Code, reference, published RUBY, whether there is just one reference."""
    file = shared_data / "data/out-of-the-bleu/data/to-grade/conala/conala-all-grades.json"
    if not file.exists():
        pytest.skip(f"the published grades of CoNaLa are not at {file}")
    problems: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return [
        (problem[system], reference, problem[f"ruby-{system}"], len(problem["snippet"]) == 1)
        for problem in problems
        for system in SYSTEMS
        for reference in problem["snippet"]
    ]


def test_as_many_pairs_have_graphs_as_in_the_study(pairs: list[tuple[str, str, float, bool]]) -> None:
    built = [code for code, reference, *_ in pairs if program_graph(code) and program_graph(reference)]
    assert (len(built), len(pairs)) == (1396, 2500)


def test_sizes_fit_the_published_scores(pairs: list[tuple[str, str, float, bool]]) -> None:
    """RUBY is 1 - d / size with a whole number d. Of wrong sizes, less than a third would fit by chance."""
    fits = total = 0
    for code, reference, published, single in pairs:
        both = [program_graph(text) for text in (code, reference)]
        size = sum(len(built.labels) + len(built.edges) for built in both if built)
        if None in both or not single or published == 1 or size > 260:
            continue
        distance = (1 - published) * size
        fits += abs(distance - round(distance)) <= 0.00052 * size
        total += 1
    assert (fits, total) == (1114, 1119)
