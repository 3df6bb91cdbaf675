"""Correlations: the published scores give the known numbers, and resampling equals doing it the long way."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis import columns, correlate
from analysis.aggregate import aggregate
from analysis.correlate import draw_counts, estimates, undefined
from tests.analysis.conala import conala_grades, conala_scores
from tests.analysis.tables_of import grades_of, scores_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
# metric -> tau-b, Spearman, Pearson with the M-MSR truth, then with the mean grade
CONALA = {
    "bleu": ((0.423, 0.542, 0.572), (0.424, 0.580, 0.603)),
    "codebleu": ((0.259, 0.339, 0.397), (0.249, 0.353, 0.420)),
    "rougel": ((0.432, 0.552, 0.581), (0.433, 0.589, 0.616)),
    "meteor": ((0.415, 0.534, 0.557), (0.414, 0.568, 0.589)),
    "chrf": ((0.449, 0.578, 0.592), (0.463, 0.630, 0.637)),
    "ruby": ((0.339, 0.439, 0.493), (0.329, 0.458, 0.519)),
}
"""scipy 1.x on the published scores and the truths of the published grades, 2360 snippets pooled."""
SCIPY = {
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
}
RESAMPLED = {
    "kendall": correlate.kendall_resampled,
    "spearman": correlate.spearman_resampled,
    "pearson": correlate.pearson_resampled,
}


@pytest.fixture(scope="module")
def conala(shared_data: Path) -> pd.DataFrame:
    truth = aggregate(conala_grades(shared_data)).table
    return correlate.correlate(truth, conala_scores(shared_data), aggregator="m-msr", seed=1, resamples=100)


def test_conala_numbers(conala: pd.DataFrame) -> None:
    pooled = conala[conala["system"] == "all"]
    found: dict[str, dict[str, tuple[float, ...]]] = {metric: {} for metric in CONALA}
    for row in pooled.to_dict("records"):
        found[row["metric"]][row["truth"]] = tuple(round(row[measure], 3) for measure in columns.MEASURES)
    assert found == {metric: {"m-msr": one, "mean": other} for metric, (one, other) in CONALA.items()}
    assert set(pooled["n"]) == {2360}
    assert set(pooled["problems"]) == {472}
    assert set(conala["note"]) == {""}


def test_conala_interval_of_chrf(shared_data: Path) -> None:
    """A loop of scipy over 4000 resamples of tasks gives [.598, .673]; over snippets the narrower [.611, .663]."""
    scores = conala_scores(shared_data)
    truth = aggregate(conala_grades(shared_data), "mean").table
    pairs = truth.merge(scores[scores["metric"] == "chrf"], on=columns.SNIPPET)
    clusters = np.array([int(problem) for problem in pairs["problem"]])
    draws = draw_counts(472, 2000, seed=1)
    found = correlate.pearson_resampled(pairs["score"].to_numpy(), pairs["mean"].to_numpy(), clusters, draws)
    assert np.quantile(found, [0.025, 0.975]) == pytest.approx([0.598, 0.673], abs=0.004)


def test_intervals_hold_their_numbers(conala: pd.DataFrame) -> None:
    for measure in columns.MEASURES:
        assert (conala[f"{measure}_low"] < conala[measure]).all()
        assert (conala[measure] < conala[f"{measure}_high"]).all()


def expanded(values: Floats, clusters: Ints, drawn: Floats) -> Floats:
    """The values of a resample one by one: those of every drawn cluster, as often as it was drawn."""
    parts = [values[clusters == cluster] for cluster, times in enumerate(drawn) for _ in range(int(times))]
    return np.concatenate(parts)


def by_scipy(measure: str, x: Floats, y: Floats, clusters: Ints, draws: Floats) -> Floats:
    found = []
    for drawn in draws:
        one, two = expanded(x, clusters, drawn), expanded(y, clusters, drawn)
        constant = np.ptp(one) == 0 or np.ptp(two) == 0
        found.append(np.nan if constant else SCIPY[measure](one, two))
    return np.array(found)


def example(seed: int, snippets: int, problems: int, *, ties: int) -> tuple[Floats, Floats, Ints]:
    """Scores, truths and clusters of unequal sizes; `ties` levels of truth (0: all different)."""
    rng = np.random.default_rng(seed)
    clusters = np.concatenate([np.arange(problems), rng.integers(0, problems, snippets - problems)])
    rng.shuffle(clusters)
    y = rng.normal(size=snippets)
    x = y + rng.normal(size=snippets)
    if ties:
        y, x = np.floor(y * ties / 2), np.round(x, 1)
    return x, y, clusters.astype(np.int64)


@pytest.mark.parametrize("measure", columns.MEASURES)
@pytest.mark.parametrize(
    ("snippets", "problems", "ties"), [(4, 3, 0), (12, 5, 2), (60, 20, 3), (60, 60, 0), (200, 7, 5)]
)
def test_resamples_equal_scipy(measure: str, snippets: int, problems: int, ties: int) -> None:
    x, y, clusters = example(snippets, snippets, problems, ties=ties)
    draws = draw_counts(problems, 40, seed=2)
    found = RESAMPLED[measure](x, y, clusters, draws)
    np.testing.assert_allclose(found, by_scipy(measure, x, y, clusters, draws), rtol=0, atol=1e-12)


small = st.lists(st.tuples(st.integers(-2, 3), st.integers(0, 2), st.integers(0, 3)), min_size=3, max_size=12)


@settings(deadline=None)
@given(small, st.sampled_from([1.0, 1e-9, 1e9, 0.1]))
def test_resamples_equal_scipy_on_hard_little_tables(rows: list[tuple[int, int, int]], scale: float) -> None:
    x, y, group = (np.array(column) for column in zip(*rows, strict=True))
    clusters = np.unique(group, return_inverse=True)[1].astype(np.int64)
    draws = draw_counts(int(clusters.max()) + 1, 12, seed=3)
    x, y = 7 + x * scale, y.astype(float)
    for measure, resampled in RESAMPLED.items():
        expected = by_scipy(measure, x, y, clusters, draws)
        atol = 1e-6 if measure == "pearson" and scale < 1e-6 else 1e-12
        np.testing.assert_allclose(resampled(x, y, clusters, draws), expected, rtol=0, atol=atol)


def test_many_snippets_take_the_slow_path_to_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, clusters = example(9, 300, 40, ties=4)
    draws = draw_counts(40, 30, seed=4)
    fast = correlate.kendall_resampled(x, y, clusters, draws)
    monkeypatch.setattr(correlate, "PAIRS_LIMIT", 299)
    monkeypatch.setattr(correlate, "SLOW_RESAMPLES", 20)
    slow = correlate.kendall_resampled(x, y, clusters, draws)
    np.testing.assert_allclose(slow, fast[:20], rtol=0, atol=1e-12)
    found = estimates(x, y, clusters, seed=4, resamples=30)
    assert {name: one.note for name, one in found.items()} == {
        "kendall": "interval of Kendall's tau-b from 20 resamples",
        "spearman": "",
        "pearson": "",
    }


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, clusters = example(5, 50, 10, ties=3)
    whole = estimates(x, y, clusters, seed=1, resamples=25)
    monkeypatch.setattr(correlate, "CELLS_AT_ONCE", 120)
    assert estimates(x, y, clusters, seed=1, resamples=25) == whole


@pytest.mark.parametrize("seed", range(5))
def test_points_equal_scipy(seed: int) -> None:
    x, y, clusters = example(seed, 40, 12, ties=seed)
    found = estimates(x, y, clusters, seed=0, resamples=10)
    for measure, by in SCIPY.items():
        assert found[measure].value == pytest.approx(by(x, y), abs=1e-12)


def test_by_hand() -> None:
    """x 1 2 3 3, y 1 3 2 3: of 6 pairs 3 agree, 1 disagrees, 1 is tied in x, 1 in y: tau-b = 2 / 5."""
    x, y = np.array([1.0, 2, 3, 3]), np.array([1.0, 3, 2, 3])
    found = estimates(x, y, np.arange(4), seed=0, resamples=5)
    assert found["kendall"].value == pytest.approx(0.4, abs=1e-12)
    # Ranks 1 2 3.5 3.5 and 1 3.5 2 3.5: covariance 2, variances 4.5 and 4.5.
    assert found["spearman"].value == pytest.approx(2.25 / 4.5, abs=1e-12)
    assert found["pearson"].value == pytest.approx(1.75 / 2.75, abs=1e-12)


def test_the_seed_decides() -> None:
    x, y, clusters = example(1, 60, 20, ties=3)
    first = estimates(x, y, clusters, seed=1, resamples=50)
    assert estimates(x, y, clusters, seed=1, resamples=50) == first
    assert estimates(x, y, clusters, seed=2, resamples=50)["kendall"].low != first["kendall"].low


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "fewer than 3 snippets"),
        ([1.0, 2.0], [1.0, 2.0], "fewer than 3 snippets"),
        ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], "all scores are equal"),
        ([1.0, 2.0, 3.0], [0.1, 0.1, 0.1], "all truths are equal"),
    ],
)
def test_undefined_has_a_reason(x: list[float], y: list[float], reason: str) -> None:
    scores, truths = np.array(x), np.array(y)
    assert undefined(scores, truths) == reason
    for estimate in estimates(scores, truths, np.arange(len(x)), seed=0, resamples=10).values():
        assert (estimate.value, estimate.low, estimate.high, estimate.note) == (None, None, None, reason)


def test_two_problems_have_no_interval() -> None:
    x, y, _ = example(1, 10, 10, ties=0)
    for estimate in estimates(x, y, np.arange(10) % 2, seed=0, resamples=10).values():
        assert estimate.value is not None
        assert (estimate.low, estimate.high, estimate.note) == (None, None, "too few problems for intervals")


def test_undefined_resamples_are_counted() -> None:
    x, y = np.array([0.0, 0, 0, 1]), np.array([0.0, 1, 2, 3])
    draws = draw_counts(4, 200, seed=7)
    constant = int(np.isnan(by_scipy("kendall", x, y, np.arange(4), draws)).sum())
    assert constant > 0
    for estimate in estimates(x, y, np.arange(4), seed=7, resamples=200).values():
        assert estimate.note == f"undefined in {constant} of 200 resamples"
        assert estimate.low is not None


@pytest.mark.parametrize("tiny", [1e-16, 5e-324, 1e-12])
def test_scores_that_nearly_stand_still(tiny: float) -> None:
    """No warning, and a number or a reason, never NaN."""
    x = np.array([1.0, 1.0 + tiny, 1.0, 1.0 + 2 * tiny])
    for values in (x, x - 1, np.array([0.0, tiny, 0.0, tiny])):
        for estimate in estimates(values, np.arange(4.0), np.arange(4), seed=0, resamples=20).values():
            assert estimate.note if estimate.value is None else np.isfinite(estimate.value)


def test_missing_scores_are_left_out_and_counted(tmp_path: Path) -> None:
    grades = grades_of(
        {"problem": str(place), "system": system, "annotator": "a", "grade": (place * 3) % 5}
        for place in range(8)
        for system in ("s", "t")
    )
    scores = scores_of(
        {
            "problem": str(place),
            "system": system,
            "metric": metric,
            "score": np.nan if place < 2 else place / 10,
        }
        for place in range(1, 8)
        for system in ("s", "t")
        for metric in ("bleu", "flat")
    )
    scores["score"] = scores["score"].where(scores["metric"] == "bleu", 0.5)
    truth = aggregate(grades, "mean").table
    found = correlate.correlate(truth, scores, aggregator="mean", seed=1, resamples=50)
    assert tuple(found.columns) == columns.CORRELATIONS
    assert found["truth"].unique().tolist() == ["mean"], "one truth is not told twice"
    rows = {(row["metric"], row["system"]): row for row in found.to_dict("records")}
    assert (rows["bleu", "all"]["n"], rows["bleu", "all"]["problems"]) == (12, 6)
    assert rows["bleu", "all"]["note"] == "4 snippets without a score left out"
    assert rows["flat", "s"]["note"] == "1 snippet without a score left out; all scores are equal"
    columns.write_csv(found, tmp_path / "found.csv")
    text = (tmp_path / "found.csv").read_text(encoding="utf-8")
    assert "nan" not in text.lower()
    assert (
        "flat,mean,all,grade,14,7,,,,,,,,,,2 snippets without a score left out; all scores are equal" in text
    )
    json.dumps(found.to_dict("records"), allow_nan=True)


def test_a_system_called_all_is_not_taken_for_all_systems() -> None:
    rows = [
        {"problem": str(place), "system": system, "annotator": "a", "grade": (place + len(system)) % 5}
        for place in range(6)
        for system in ("all", "one")
    ]
    scores = scores_of({**row, "metric": "bleu", "score": int(str(row["problem"])) / 9} for row in rows)
    found = correlate.correlate(aggregate(grades_of(rows), "mean").table, scores, aggregator="mean", seed=1)
    assert found[["system", "n"]].to_numpy().tolist() == [["all", 12], ["one", 6]]


def test_judged_metrics_have_no_correlations() -> None:
    grades = grades_of(
        {"problem": str(place), "system": "s", "annotator": "a", "grade": place % 3, "judged_metric": "bleu"}
        for place in range(6)
    )
    scores = scores_of(
        {"problem": str(place), "system": "s", "metric": "bleu", "score": place / 10} for place in range(6)
    )
    found = correlate.correlate(aggregate(grades).table, scores, aggregator="m-msr", seed=1)
    assert tuple(found.columns) == columns.CORRELATIONS
    assert len(found) == 0
