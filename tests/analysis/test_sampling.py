"""Strata and draws: they equal tables worked by hand, and nothing but the seed and the keys decides a draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.columns import TableError
from analysis.sampling import BUCKETS, DRAWN, SIZES, Sample, buckets, draw_strata, read_problems

HAND: list[tuple[str, int, float, str]] = [
    ("p1", 1, 0.1, "pass-low"),
    ("p2", 0, 0.2, "agree"),
    ("p3", 1, 0.3, "pass-low"),
    ("p4", 0, 0.4, "agree"),
    ("p5", 0, 0.5, "fail-high"),
    ("p6", 1, 0.5, "agree"),
    ("p7", 0, 0.7, "fail-high"),
    ("p8", 1, 0.8, "agree"),
    ("p9", 1, 0.9, "agree"),
]
"""Problem, PASS, EDIT-SIM and bucket by hand: the fifth of nine similarities is 0.5, so p5 and p6 are high."""
DRAW: list[tuple[str, str, str, float]] = [
    ("p2", "agree", "pass-low", 1.25),
    ("p6", "agree", "agree", 1.25),
    ("p8", "agree", "agree", 1.25),
    ("p9", "agree", "fail-high", 1.25),
    ("p5", "fail-high", "fail-high", 1.0),
    ("p7", "fail-high", "fail-high", 1.0),
    ("p1", "pass-low", "pass-low", 1.0),
    ("p3", "pass-low", "pass-low", 1.0),
]


def anchor(rows: list[tuple[float, float]]) -> pd.DataFrame:
    return pd.DataFrame(
        [(f"p{place}", *row) for place, row in enumerate(rows)],
        columns=["problem", "passed", "edit_similarity"],
    )


def strata_of(sizes: Mapping[str, int]) -> pd.DataFrame:
    rows = [(f"{name}-{place}", name) for name, count in sizes.items() for place in range(count)]
    return pd.DataFrame(rows, columns=["problem", "stratum"], dtype="str")


def hand() -> pd.DataFrame:
    return pd.DataFrame(HAND, columns=["problem", "passed", "edit_similarity", "expected"])


def drawn(sample: Sample) -> dict[str, int]:
    return dict(zip(sample.sizes["stratum"], sample.sizes["drawn"], strict=True))


def test_buckets_equal_the_table_worked_by_hand() -> None:
    found = buckets(hand())
    assert found.to_numpy().tolist() == [[problem, bucket] for problem, _, _, bucket in HAND]


# what, rows of (PASS, EDIT-SIM), buckets, and why by hand
EDGES: list[tuple[str, list[tuple[float, float]], list[str]]] = [
    ("no problem", [], []),
    ("one problem is its own median: high", [(1, 0.3)], ["agree"]),
    ("one failing problem", [(0, 0.0)], ["fail-high"]),
    ("all equal: all high", [(1, 0.5), (0, 0.5), (0, 0.5)], ["agree", "fail-high", "fail-high"]),
    ("even: the median lies between 0.2 and 0.4", [(1, 0.2), (1, 0.4)], ["pass-low", "agree"]),
    ("even, the two in the middle equal", [(1, 0), (1, 0.5), (0, 0.5), (0, 1)],
     ["pass-low", "agree", "fail-high", "fail-high"]),
    ("odd: the middle one is high", [(0, 0.1), (0, 0.2), (0, 0.3)], ["agree", "fail-high", "fail-high"]),
    ("mostly 1: nothing else is high", [(1, 1), (1, 1), (1, 0.99)], ["agree", "agree", "pass-low"]),
]  # fmt: skip


@pytest.mark.parametrize(("what", "rows", "expected"), EDGES, ids=[edge[0] for edge in EDGES])
def test_edges_of_buckets(what: str, rows: list[tuple[float, float]], expected: list[str]) -> None:
    assert buckets(anchor(rows))["stratum"].tolist() == expected


def test_flags_are_numbers_too() -> None:
    table = hand().assign(passed=lambda rows: rows["passed"] == 1)
    assert buckets(table)["stratum"].tolist() == [bucket for *_, bucket in HAND]


# what is wrong, the table, the lines of the refusal
BAD: list[tuple[str, pd.DataFrame, list[str]]] = [
    ("PASS is missing", anchor([(np.nan, 0.1), (1, 0.2)]), ["1 of its problems have no PASS of 0 or 1.", "p0"]),
    ("PASS is a rate", anchor([(0.5, 0.1), (1, 0.2)]), ["1 of its problems have no PASS of 0 or 1.", "p0"]),
    ("EDIT-SIM is missing", anchor([(1, np.nan), (0, np.nan)]),
     ["2 of its problems have no edit similarity from 0 to 1.", "p0", "p1"]),
    ("EDIT-SIM in percent", anchor([(1, 0.2), (1, 20)]),
     ["1 of its problems have no edit similarity from 0 to 1.", "p1"]),
    ("a problem twice", pd.concat([anchor([(1, 0.1)])] * 2), ["1 of its problems are there more than once.", "p0"]),
    ("too many to name", anchor([(np.nan, 0.1)] * 60),
     ["60 of its problems have no PASS of 0 or 1.", *[f"p{n}" for n in range(50)], "... and 10 more."]),
]  # fmt: skip


@pytest.mark.parametrize(("what", "table", "lines"), BAD, ids=[bad[0] for bad in BAD])
def test_refused_tables(what: str, table: pd.DataFrame, lines: list[str]) -> None:
    with pytest.raises(TableError) as refusal:
        buckets(table)
    assert str(refusal.value).splitlines() == [
        f"The table of problems cannot be used: {lines[0]}",
        *lines[1:],
    ]


def test_missing_columns_are_named() -> None:
    with pytest.raises(TableError, match="has no column passed, edit_similarity"):
        buckets(pd.DataFrame({"problem": ["p"]}))
    with pytest.raises(TableError, match="has no column stratum"):
        draw_strata(pd.DataFrame({"problem": ["p"]}), 1, 0)


def test_the_draw_equals_the_table_worked_by_hand() -> None:
    """Three of `pass-low` and of `fail-high` are wanted, each lacks one, and the five of `agree` give it.

    Their hashes of seed 7 begin with p6 68, p8 89, p9 9c, p2 f0, p4 fb (BLAKE2b, the seed its key).
    """
    sample = draw_strata(buckets(hand()), {"pass-low": 3, "fail-high": 3, "agree": 2}, 7)
    assert [tuple(row) for row in sample.rows.to_numpy().tolist()] == DRAW
    assert tuple(sample.rows.columns) == DRAWN
    assert tuple(sample.sizes.columns) == SIZES
    assert sample.sizes.to_numpy().tolist() == [
        ["agree", 5, 2, 4, 1.25],
        ["fail-high", 2, 3, 2, 1.0],
        ["pass-low", 2, 3, 2, 1.0],
    ]
    assert sample.warnings == [
        "fail-high has only 2 of the 3 problems wanted: 1 more of agree take their place.",
        "pass-low has only 2 of the 3 problems wanted: 1 more of agree take their place.",
    ]


# what, problems there are, wanted, fill_from, problems drawn, ends of the warnings
SHORTAGES: list[tuple[str, dict[str, int], int | dict[str, int], str | None, dict[str, int], list[str]]] = [
    ("the published draw", {"pass-low": 30, "fail-high": 20, "agree": 114}, 20, "agree",
     {"pass-low": 20, "fail-high": 20, "agree": 20}, []),
    ("a bucket without a problem", {"fail-high": 25, "agree": 50}, 20, "agree",
     {"pass-low": 0, "fail-high": 20, "agree": 40}, ["20 more of agree take their place."]),
    ("not enough to fill from", {"pass-low": 1, "fail-high": 1, "agree": 6}, 4, "agree",
     {"pass-low": 1, "fail-high": 1, "agree": 6},
     ["2 more of agree take their place, and the sample is 1 smaller.",
      "nothing of agree is left to fill from: the sample is 3 smaller."]),
    ("nothing to fill from", {"pass-low": 1, "fail-high": 5, "agree": 5}, 2, None,
     {"pass-low": 1, "fail-high": 2, "agree": 2}, ["has only 1 of the 2 problems wanted: the sample is 1 smaller."]),
    ("the filler is short itself", {"pass-low": 3, "fail-high": 3, "agree": 2}, 3, "agree",
     {"pass-low": 3, "fail-high": 3, "agree": 2}, ["agree has only 2 of the 3 problems wanted: "
                                                   "the sample is 1 smaller."]),
    ("a stratum that nobody asked for", {"pass-low": 3, "fail-high": 3, "agree": 9}, {"pass-low": 3}, "agree",
     {"pass-low": 3, "fail-high": 0, "agree": 0},
     ["fail-high is not drawn from: the sample says nothing of its 3.",
      "agree is not drawn from: the sample says nothing of its 9."]),
    ("no problem at all", {}, 2, "agree", {"pass-low": 0, "fail-high": 0, "agree": 0},
     ["nothing of agree is left to fill from: the sample is 2 smaller."] * 2 + ["the sample is 2 smaller."]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "there", "wanted", "fill_from", "expected", "ends"),
    SHORTAGES,
    ids=[case[0] for case in SHORTAGES],
)
def test_too_few(
    what: str,
    there: dict[str, int],
    wanted: int | dict[str, int],
    fill_from: str | None,
    expected: dict[str, int],
    ends: list[str],
) -> None:
    sample = draw_strata(strata_of(there), wanted, 1, fill_from=fill_from, strata=BUCKETS)
    assert drawn(sample) == expected
    assert len(sample.warnings) == len(ends)
    assert all(said.endswith(end) for said, end in zip(sample.warnings, ends, strict=True))
    for stratum, rows in sample.rows.groupby("stratum"):
        assert rows["weight"].sum() == pytest.approx(there[str(stratum)])
    assert not sample.rows["problem"].duplicated().any()


def test_other_strata_than_the_buckets() -> None:
    sample = draw_strata(strata_of({"easy": 4, "hard": 1, "": 3}), 2, 3)
    assert drawn(sample) == {"": 2, "easy": 2, "hard": 1}
    assert sample.warnings == [
        "hard has only 1 of the 2 problems wanted and nothing of agree is left to fill from: the sample is 1 smaller."
    ]


@pytest.mark.parametrize("per_stratum", [-1, True, 1.5, {"agree": -2}, {"agree": None}])
def test_refused_numbers(per_stratum: int) -> None:
    with pytest.raises(ValueError, match="must be a whole number from 0"):
        draw_strata(strata_of({"agree": 3}), per_stratum, 1)


@pytest.mark.parametrize("seed", [-1, 2**128, True, 0.5])
def test_refused_seeds(seed: int) -> None:
    with pytest.raises(ValueError, match="The seed must be"):
        draw_strata(strata_of({"agree": 3}), 1, seed)


def test_every_problem_is_drawn_equally_often() -> None:
    """500 seeds draw 2 of 5: each problem 200 times, standard deviation sqrt(500 * .4 * .6) = 11; each of the ten
    pairs 50 times, standard deviation 6.7."""
    table = strata_of({"agree": 5})
    samples = [tuple(draw_strata(table, 2, seed).rows["problem"]) for seed in range(500)]
    singles = Counter(problem for sample in samples for problem in sample)
    pairs = Counter(samples)
    assert len(singles) == 5
    assert len(pairs) == 10
    assert max(abs(count - 200) for count in singles.values()) < 4 * 11
    assert max(abs(count - 50) for count in pairs.values()) < 4 * 6.7


def test_weights_undo_the_oversampling() -> None:
    """A value that is 1 in the small stratum and 0 in the large one has the mean 10/100 in the population."""
    sample = draw_strata(strata_of({"small": 10, "large": 90}), 10, 1).rows
    values = (sample["stratum"] == "small").astype(float)
    assert values.mean() == 0.5
    assert np.average(values, weights=sample["weight"]) == pytest.approx(0.1)


sizes_of = st.dictionaries(st.sampled_from([*BUCKETS, "x", ""]), st.integers(0, 8))


@settings(deadline=None)
@given(sizes_of, st.integers(0, 6), st.integers(0, 2**128 - 1), st.randoms(use_true_random=False))
def test_the_order_of_rows_never_matters(
    there: dict[str, int], count: int, seed: int, random: object
) -> None:
    table = strata_of(there)
    order = list(range(len(table)))
    random.shuffle(order)  # type: ignore[attr-defined]
    one, other = draw_strata(table, count, seed), draw_strata(table.iloc[order], count, seed)
    pd.testing.assert_frame_equal(one.rows, other.rows)
    pd.testing.assert_frame_equal(one.sizes, other.sizes)
    assert one.warnings == other.warnings


@settings(deadline=None)
@given(sizes_of, st.integers(0, 6), st.integers(0, 99))
def test_a_larger_draw_holds_the_smaller(there: dict[str, int], count: int, seed: int) -> None:
    table = strata_of(there)
    small = draw_strata(table, count, seed, fill_from=None).rows
    large = draw_strata(table, count + 1, seed, fill_from=None).rows
    assert set(small["problem"]) <= set(large["problem"])


@settings(deadline=None)
@given(sizes_of, st.dictionaries(st.sampled_from(BUCKETS), st.integers(0, 9)), st.integers(0, 99))
def test_sizes_add_up(there: dict[str, int], wanted: dict[str, int], seed: int) -> None:
    sample = draw_strata(strata_of(there), wanted, seed)
    assert drawn(sample) == {
        name: int((sample.rows["stratum"] == name).sum()) for name in sample.sizes["stratum"]
    }
    assert sample.sizes["population"].sum() == sum(there.values())
    assert (sample.sizes["drawn"] <= sample.sizes["population"]).all()
    assert len(sample.rows) <= sum(wanted.values())
    assert not sample.rows.isna().any(axis=None)
    if sum(there.values()) >= sum(wanted.values()) and len(sample.rows) < sum(wanted.values()):
        assert any("smaller" in warning for warning in sample.warnings)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.floats(0, 1)), max_size=12))
def test_at_least_half_is_high(rows: list[tuple[float, float]]) -> None:
    table = anchor(rows)
    found = buckets(table)["stratum"]
    low = table["edit_similarity"] < table["edit_similarity"].median()
    assert 2 * int(low.sum()) <= len(table)
    assert found.tolist() == [
        "pass-low" if passed and is_low else "fail-high" if not passed and not is_low else "agree"
        for (passed, _), is_low in zip(rows, low, strict=True)
    ]


def test_files_of_problems(tmp_path: Path) -> None:
    path = tmp_path / "problems.csv"
    path.write_text("problem,stratum\n007,easy\n10,\n", encoding="utf-8")
    assert read_problems(path).to_numpy().tolist() == [["007", "easy"], ["10", ""]]
    path.write_text("problem,passed,edit_similarity\n10,1,0.1\n9,0,0.9\n", encoding="utf-8")
    assert read_problems(path).to_numpy().tolist() == [["9", "fail-high"], ["10", "pass-low"]]
    path.write_text("problem,passed,edit_similarity\np,,0.1\n", encoding="utf-8")
    with pytest.raises(TableError, match="1 of its problems have no PASS"):
        read_problems(path)
    path.write_text("problem\np\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"problems\.csv has nothing to draw by"):
        read_problems(path)
