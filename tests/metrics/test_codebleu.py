"""CodeBLEU and its components: by hand, against the golden file, and over hostile texts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metrics
from metrics import subtrees
from metrics.codebleu import CodeBleu
from tests.metrics.golden import make_codebleu

PRESETS = ("codebleu", "codebleu-codescore", "codebleu-builtins")


def metric(name: str = "codebleu") -> CodeBleu:
    found = metrics.get(name)
    assert isinstance(found, CodeBleu)
    return found


# name, code, reference, score, why
TABLE = [
    ("codebleu", "f(a)", "f(b)", (0.1 * 4 / 5 + 0.4) / 0.6, "no 3-gram; 4 of 5 tokens (a NEWLINE too); same tree"),
    ("codebleu-codescore", "f(a)", "f(b)", (0.25 * 4 / 5 + 0.25) / 0.75, "the same, equal weights"),
    ("codebleu", "get(a)", "get(b)", (0.1 * 8 / 9 + 0.4) / 0.6, "get counts five times"),
    ("codebleu-builtins", "get(a)", "get(b)", (0.1 * 4 / 5 + 0.4) / 0.6, "get is no builtin"),
    ("codebleu", "len(a)", "len(b)", (0.1 * 4 / 5 + 0.4) / 0.6, "len is no attribute of dictionaries"),
    ("codebleu-builtins", "len(a)", "len(b)", (0.1 * 8 / 9 + 0.4) / 0.6, "len is a builtin"),
    ("codebleu", "x = f(x)", "x = f(x)", 1.0, "seven tokens and a step of data"),
    ("codebleu", "foo", "foo", 0.5 / 0.6, "two tokens have no 3-gram"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "code", "reference", "expected", "why"), TABLE)
def test_scores_are_as_worked_out(name: str, code: str, reference: str, expected: float, why: str) -> None:
    assert metric(name).segment(code, [reference]) == pytest.approx(expected, abs=1e-12), why


@pytest.mark.parametrize(
    ("code", "reference", "expected", "why"),
    [
        ("f(x, x)", "x = ", -1, "the reference does not parse"),
        ("x = ", "y = ", -1, "neither parses"),
        ("x = ", "f(x)", 0, "the code does not parse"),
        ("f(x)", "f(x)", -1, "the reference has no step"),
        ("f(a=1, a=2)", "f(x, x)", 0, "an argument named twice does not count as parsed"),
        ("f(x)", "f(x, x)", 0, "the code has no step"),
        ("f(y, y)", "g(x, x, x)", 1 / 2, "one of two steps of the second symbol"),
        ("x, x", "f(x, x)", 0, "the first symbol is not paired with the second"),
    ],
)
def test_the_flow_of_data_is_undefined_or_zero_by_rule(
    code: str, reference: str, expected: float, why: str
) -> None:
    assert metric().components(code, reference).dataflow == expected, why


@pytest.mark.parametrize(
    ("code", "reference", "expected", "why"),
    [
        ("f(a)", "g(b)", 1.0, "names do not count"),
        ("1", "x", 0.0, "an integer is no identifier, so nothing above is the same"),
        ("x", "x + 1", 1 / 6, "identifier of identifier, +, integer, operator, statement, module"),
        ("'a'", 'r"bc"', 1.0, "all quotes are one type, what is between them does not count"),
        (r"'\d'", "'d'", 1.0, "a backslash that escapes nothing does not count"),
        (r"'\n'", "'n'", 2 / 5, "an escape does: the quotes are the same, string and all above are not"),
        ("x is y", "x is not y", 3 / 7, "`is not` is two tokens"),
    ],
)
def test_syntax_is_the_recall_of_subtrees(code: str, reference: str, expected: float, why: str) -> None:
    assert metric().components(code, reference).syntax == pytest.approx(expected, abs=1e-12), why


@pytest.mark.parametrize("code", [code for code, _ in make_codebleu.PAIRS if "(" in code])
def test_code_of_four_tokens_is_equal_to_itself(code: str) -> None:
    for name in PRESETS:
        assert metric(name).segment(code, [code]) == pytest.approx(1, abs=1e-12)


def test_scores_are_those_of_the_golden_file() -> None:
    golden: list[dict[str, Any]] = json.loads(make_codebleu.FILE.read_text(encoding="utf-8"))
    found = make_codebleu.rows()
    assert [(row["code"], row["reference"]) for row in golden] == make_codebleu.PAIRS
    for row, expected in zip(found, golden, strict=True):
        assert row == pytest.approx(expected, abs=1e-12)


HOSTILE = [
    "", " \n\t", "\0", "\udcff", "x\n  y\n z", "'''", "(" * 300, "[" * 20_000, "f(" * 20_000 + ")" * 20_000,
    "x + " * 25_000 + "x", "-" * 5_000 + "x", "x" + ".b" * 3_000, "`" * 1_000, "\\" * 1_000, "a" * 100_000,
    "'\\" * 50_000, " " * 100_000, "x," * 50_000, "if x:\n" * 500, "é²٣ := <unk> ? $",
]  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_hostile_texts_have_scores(hostile: str) -> None:
    for code, reference in [(hostile, "x = f(x)"), ("x = f(x)", hostile), (hostile, hostile)]:
        scores = metric().components(code, reference)
        assert all(0 <= score <= 1 + 1e-12 or score == -1 for score in scores)
        assert 0 <= metric().segment(code, [reference]) <= 1


PIECES = [*"xyf()[]'\"\\\n\t:=+`é\0\udcff1", "if", "for", "in", "not in"]


@settings(max_examples=200, deadline=None)
@given(*[st.lists(st.sampled_from(PIECES), max_size=20)] * 2)
def test_a_new_numbering_changes_nothing(left: list[str], right: list[str]) -> None:
    pair = " ".join(left), " ".join(right)
    scores = metric().components(*pair)
    subtrees._Current.numbering = subtrees.Numbering()
    assert metric().components(*pair) == scores


def test_the_numbering_is_renewed_before_it_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subtrees, "MOST_KNOWN", 10)
    before = subtrees.numbering()
    metric().segment("f(a) + [x, y]", ["x = {1: 2}"])
    assert subtrees.numbering() is not before
    assert metric().segment("f(a)", ["f(b)"]) == pytest.approx(0.8)


def test_presets_differ_in_their_parameters_alone() -> None:
    signatures = [metric(name).signature for name in PRESETS]
    assert "|weights:0.1/0.1/0.4/0.4|keywords:python+dict|" in signatures[0]
    assert "|weights:0.25/0.25/0.25/0.25|keywords:python+dict|" in signatures[1]
    assert "|weights:0.1/0.1/0.4/0.4|keywords:python+builtins|" in signatures[2]
    assert all("|tree-sitter:0.26.1|tree-sitter-python:0.25.0|" in signature for signature in signatures)
