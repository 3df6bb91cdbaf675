"""Numbers made from test results, against figures worked by hand."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from metrics.base import MissingInput
from metrics.correctness import (
    average_pass_ratio,
    combined,
    pass_at_k,
    pass_ratio,
    stored_executable,
    stored_pass_ratio,
)

NAN = float("nan")


# 1 - C(n - c, k) / C(n, k), by hand
@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [
        (5, 2, 1, 2 / 5),
        (5, 2, 2, 1 - 3 / 10),
        (10, 3, 5, 1 - 21 / 252),
        (5, 0, 3, 0.0),
        (5, 3, 3, 1.0),
        (5, 5, 1, 1.0),
        (1, 1, 1, 1.0),
        (1, 0, 1, 0.0),
        (200, 100, 1, 0.5),
        # 1 - (100! 100!) / 200!: nothing but 1 in a float
        (200, 100, 100, 1.0),
        (1_000_000, 1, 1000, 0.001),
    ],
)
def test_pass_at_k(n: int, c: int, k: int, expected: float) -> None:
    assert float(pass_at_k(n, c, k)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("right", range(7))
@pytest.mark.parametrize("k", range(1, 7))
def test_pass_at_k_is_the_share_of_choices_with_a_right_one(right: int, k: int) -> None:
    choices = [any(choice) for choice in combinations([True] * right + [False] * (6 - right), k)]
    assert float(pass_at_k(6, right, k)) == pytest.approx(sum(choices) / len(choices))


def test_pass_at_k_takes_arrays() -> None:
    scores = pass_at_k([5, 10], [[2, 3], [0, 10]], 2)
    assert scores == pytest.approx(np.array([[0.7, 1 - 21 / 45], [0, 1]]))
    assert pass_at_k([], [], 1).shape == (0,)


@pytest.mark.parametrize(
    ("n", "c", "k"),
    [(5, 6, 1), (5, -1, 1), (5, 2, 6), (5, 2, 0), (0, 0, 1), (5.0, 2, 1), ([5, 5], [1, 6], 1)],
)
def test_impossible_counts_are_refused(n: float | list[int], c: int | list[int], k: int) -> None:
    with pytest.raises(ValueError, match="pass@k needs"):
        pass_at_k(n, c, k)


def test_pass_ratio_is_the_share_of_tests() -> None:
    assert pass_ratio([True, False, False, True, True]) == 0.6
    assert pass_ratio([False]) == 0
    with pytest.raises(MissingInput):
        pass_ratio([])


def test_average_pass_ratio_weighs_programs_the_same() -> None:
    # 1 of 1 and 1 of 4: not 2 of 5
    assert average_pass_ratio([pass_ratio([True]), pass_ratio([True, False, False, False])]) == 0.625
    with pytest.raises(MissingInput):
        average_pass_ratio([])


@pytest.mark.parametrize(
    ("results", "ratio", "executable"),
    [
        ([True, True], 1.0, True),
        ([True, False, False, False], 0.25, True),
        ([True, -1, False, -1], 0.25, False),
        ([-2], 0.0, False),
        ([np.True_, np.False_], 0.5, True),
    ],
)
def test_stored_results(results: list[bool | int], ratio: float, executable: bool) -> None:
    assert stored_pass_ratio(results) == ratio
    assert stored_executable(results) == executable


@pytest.mark.parametrize("result", [1, 0, -3, None, "true", 0.5])
def test_other_stored_results_are_refused(result: object) -> None:
    with pytest.raises(ValueError, match="-1 or -2"):
        stored_pass_ratio([True, result])  # type: ignore[list-item]


def test_stored_results_of_apps(shared_data: Path) -> None:
    file = shared_data / "data/apps/all_results.json"
    if not file.exists():
        pytest.skip(f"the stored results of APPS are not at {file}")
    programs = [results[0] for results in json.loads(file.read_text()).values()]
    ratios = [stored_pass_ratio(results) for results in programs]
    # Counted apart: jq '[.[][0] | (map(select(. == true)) | length) / length] | add / length'
    assert average_pass_ratio(ratios) == pytest.approx(0.560204626427374, abs=1e-12)
    assert sum(ratio == 1 for ratio in ratios) == 39
    assert sum(map(stored_executable, programs)) == 86


@pytest.mark.parametrize(
    ("passed", "similarity", "expected"),
    [
        (False, 0.25, 0.25),
        (True, 0.25, 1.0),
        (True, 0.0, 1.0),
        (0, 1.0, 1.0),
        (0.5, 0.25, 0.75),
        (0.5, 0.75, 1.0),
        (None, 0.5, None),
        (True, None, None),
        (NAN, 1.0, None),
        (1, NAN, None),
    ],
)
def test_combined(passed: float | None, similarity: float | None, expected: float | None) -> None:
    assert combined(passed, similarity) == expected


@pytest.mark.parametrize(("passed", "similarity"), [(2, 0.5), (-1, 0.5), (1, 1.5), (0, -0.1)])
def test_combined_refuses_other_scales(passed: float, similarity: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        combined(passed, similarity)
