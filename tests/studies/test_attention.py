"""Attention checks, the pure part: when one is due, what is spoilt, and what passes."""

from __future__ import annotations

import ast
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.studies.attention import checks_among, degrade, instructed, kinds_in_turn, passed, place

KINDS = ("instructed", "gold", "degraded", "repeat")


@given(st.integers(0, 2**63 - 1), st.integers(1, 1000), st.integers(1, 30), st.integers(0, 50))
def test_each_stretch_has_one_check(seed: int, annotator: int, every: int, check: int) -> None:
    assert check * every + 1 <= place(seed, annotator, check, every) <= (check + 1) * every


@given(st.integers(0, 2**31), st.integers(1, 1000), st.integers(1, 12), st.integers(1, 100))
def test_checks_are_counted_as_they_come(seed: int, annotator: int, every: int, tasks: int) -> None:
    due, done = 0, 0
    while done < tasks:
        done += 1
        while place(seed, annotator, due, every) <= done:
            due += 1
    assert checks_among(seed, annotator, tasks, every) == due


def test_kinds_come_in_turn_and_people_differ() -> None:
    for annotator in range(20):
        first = [kinds_in_turn(7, annotator, check, KINDS)[0] for check in range(8)]
        assert sorted(first[:4]) == sorted(first[4:]) == sorted(KINDS)
        assert sorted(kinds_in_turn(7, annotator, 3, KINDS)) == sorted(KINDS)
    starts = Counter(kinds_in_turn(7, annotator, 0, KINDS)[0] for annotator in range(400))
    assert min(starts.values()) > 60


RESULTS = [
    # kind, value, low, high, original, expected: scale 0 to 4, tolerance 1
    ("instructed", 3, 3, 3, None, True),
    ("instructed", 2, 3, 3, None, False),
    ("gold", 3, 2, 4, None, True),
    ("gold", 1, 2, 4, None, False),
    ("degraded", 1, None, None, 2, True),
    ("degraded", 2, None, None, 2, False),
    ("degraded", 3, None, None, 2, False),
    ("degraded", 0, None, None, 0, True),  # nothing is below the lowest grade
    ("degraded", 1, None, None, None, False),
    ("repeat", 3, None, None, 4, True),
    ("repeat", 2, None, None, 4, False),
    ("repeat", 4, None, None, 4, True),
]


@pytest.mark.parametrize(("kind", "value", "low", "high", "original", "expected"), RESULTS)
def test_what_passes(
    kind: str, value: float, low: float | None, high: float | None, original: float | None, expected: bool
) -> None:
    got = passed(kind, value, low=low, high=high, original=original, lowest=0, tolerance=1)
    assert got is expected


FUNCTION = """def total(items):
    result = 0
    for item in items:
        if item > 0 and item != 7:
            result += item
    return result"""


def test_a_degraded_copy_is_the_same_for_the_same_seed_and_worse() -> None:
    copies = {degrade(FUNCTION, seed) for seed in range(30)}
    assert degrade(FUNCTION, 3) == degrade(FUNCTION, 3)
    assert len(copies) > 5
    for copy in copies:
        assert copy.startswith("def total(items):")
        assert len(copy.splitlines()) == 4  # 2 of 5 lines after the first are gone


def test_what_is_swapped() -> None:
    assert degrade("x = a == b + 3 and True", 1) == "x = a != b - 4 or False"
    assert degrade("print('a == b')", 1) == "print('a"  # nothing to swap: its last half is cut
    assert degrade("x", 1) == "x"
    assert degrade("", 1) == ""


@given(st.text(max_size=300), st.integers(0, 2**31))
def test_any_text_can_be_degraded(code: str, seed: int) -> None:
    assert degrade(code, seed) == degrade(code, seed)
    if len(code.strip()) > 1:
        assert degrade(code, seed).strip() != code.strip()


@pytest.mark.parametrize(
    ("language", "sign"), [("python", "#"), ("javascript", "//"), ("SQL", "--"), ("", "//")]
)
def test_an_instructed_answer_is_a_comment(language: str, sign: str) -> None:
    code = instructed("x = 1\n", language, "Please answer so.")
    assert code.splitlines() == ["x = 1", f"{sign} Please answer so."]
    if language == "python":
        ast.parse(code)
