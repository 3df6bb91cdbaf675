"""How far metrics agree with people: rank and linear correlations with task-cluster bootstrap intervals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from analysis.columns import CORRELATIONS, MEASURES, SNIPPET, steady

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
LEVEL = 0.95
PAIRS_LIMIT = 4000
"""Snippets up to which all pairs are held at once; above, fewer resamples are counted pair by pair."""
SLOW_RESAMPLES = 200
POOLED = "all"
"""Stands for all systems together; a system of that name has no row of its own."""
CELLS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Estimate:
    """A correlation and its percentile interval; None where it is undefined, and the reason in `note`."""

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b (ties in either count for neither), in [-1, 1]. `x`, `y`: (n,)."""
    return float(stats.kendalltau(x, y, variant="b").statistic)


def spearman(x: Floats, y: Floats) -> float:
    """Spearman's rho: Pearson's r of the mid-ranks, in [-1, 1]. `x`, `y`: (n,)."""
    return float(stats.spearmanr(x, y).statistic)


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r, in [-1, 1]. `x`, `y`: (n,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        return float(stats.pearsonr(x, y).statistic)


POINT: dict[str, Callable[[Floats, Floats], float]] = {
    "kendall": kendall,
    "spearman": spearman,
    "pearson": pearson,
}


def draw_counts(clusters: int, resamples: int, seed: int) -> Floats:
    """(resamples, clusters) how often each cluster is drawn in each resample."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples).astype(np.float64)


def estimates(x: Floats, y: Floats, clusters: Ints, *, seed: int, resamples: int) -> dict[str, Estimate]:
    """Each of MEASURES with its 95 % interval from resampling whole clusters (problems) with replacement.

    `x`, `y`: (n,) metric scores and truths; `clusters`: (n,) whole numbers from 0. Resamples in which a measure
    is undefined (one side constant) are left out and counted in the note.
    """
    reason = undefined(x, y)
    if reason:
        return {measure: Estimate(None, note=reason) for measure in MEASURES}
    count = int(clusters.max()) + 1
    if count < 3:
        note = "too few problems for intervals"
        return {measure: Estimate(steady(POINT[measure](x, y)), note=note) for measure in MEASURES}
    draws = draw_counts(count, resamples, seed)
    found = {
        "kendall": kendall_resampled(x, y, clusters, draws),
        "spearman": spearman_resampled(x, y, clusters, draws),
        "pearson": pearson_resampled(x, y, clusters, draws),
    }
    return {measure: _estimate(POINT[measure](x, y), found[measure], resamples) for measure in MEASURES}


def undefined(x: Floats, y: Floats) -> str:
    """Why no correlation of `x` and `y` exists; empty where it does."""
    if len(x) < 3:
        return "fewer than 3 snippets"
    if np.ptp(x) == 0:
        return "all scores are equal"
    return "all truths are equal" if np.ptp(y) == 0 else ""


def _estimate(value: float, resampled: Floats, wanted: int) -> Estimate:
    if not np.isfinite(value):
        return Estimate(None, note="the numbers differ too little")
    defined = resampled[np.isfinite(resampled)]
    notes = []
    if len(resampled) < wanted:
        notes.append(f"interval of Kendall's tau-b from {len(resampled)} resamples")
    if len(defined) < len(resampled):
        notes.append(f"undefined in {len(resampled) - len(defined)} of {len(resampled)} resamples")
    if len(defined) < 2:
        return Estimate(steady(value), note="; ".join(notes))
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(steady(value), steady(low), steady(high), "; ".join(notes))


def kendall_resampled(x: Floats, y: Floats, clusters: Ints, draws: Floats) -> Floats:
    """(B,) tau-b of each resample; NaN where undefined.

    A resample weighs each pair of snippets by how often their clusters were drawn. Summed over the pairs of two
    clusters, the signs make one small matrix, and each resample is a quadratic form of it.
    """
    if len(x) > PAIRS_LIMIT:
        return _kendall_one_by_one(x, y, clusters, draws[:SLOW_RESAMPLES])
    agree, differ_x, differ_y = _pair_sums(x, y, clusters)

    def form(matrix: Floats) -> Floats:
        return np.einsum("bi,bi->b", draws @ matrix, draws)

    with np.errstate(invalid="ignore", divide="ignore"):
        return form(agree) / np.sqrt(form(differ_x) * form(differ_y))


def _pair_sums(x: Floats, y: Floats, clusters: Ints) -> tuple[Floats, Floats, Floats]:
    """(P, P) sums over the snippet pairs of two clusters: of sign products, and of pairs that differ in x, in y."""
    order = np.argsort(clusters, kind="stable")
    x, y, clusters = x[order], y[order], clusters[order]
    starts = np.flatnonzero(np.r_[True, clusters[1:] != clusters[:-1]])

    def by_cluster(pairs: npt.NDArray[np.int8]) -> Floats:
        rows = np.add.reduceat(pairs, starts, axis=0, dtype=np.int32)
        return np.add.reduceat(rows, starts, axis=1).astype(np.float64)

    def signs(values: Floats) -> npt.NDArray[np.int8]:
        above = values[:, None] > values[None, :]
        return above.astype(np.int8) - above.T.astype(np.int8)

    sign_x, sign_y = signs(x), signs(y)
    return by_cluster(sign_x * sign_y), by_cluster(np.abs(sign_x)), by_cluster(np.abs(sign_y))


def _kendall_one_by_one(x: Floats, y: Floats, clusters: Ints, draws: Floats) -> Floats:
    found = np.full(len(draws), np.nan)
    for place, row in enumerate(draws):
        rows = np.repeat(np.arange(len(x)), row[clusters].astype(np.int64))
        if not undefined(x[rows], y[rows]):
            found[place] = kendall(x[rows], y[rows])
    return found


def spearman_resampled(x: Floats, y: Floats, clusters: Ints, draws: Floats) -> Floats:
    """(B,) Spearman's rho of each resample: Pearson's r of the mid-ranks that the drawn snippets have among them."""
    return np.concatenate(
        [
            _weighted_pearson(_weighted_ranks(x, weights), _weighted_ranks(y, weights), weights)
            for weights in _chunks(clusters, draws)
        ]
    )


def pearson_resampled(x: Floats, y: Floats, clusters: Ints, draws: Floats) -> Floats:
    """(B,) Pearson's r of each resample; NaN where undefined."""
    x, y = x - x.mean(), y - y.mean()
    return np.concatenate(
        [_weighted_pearson(x[None, :], y[None, :], weights) for weights in _chunks(clusters, draws)]
    )


def _chunks(clusters: Ints, draws: Floats) -> Iterator[Floats]:
    """(b, n) how often each snippet is drawn, a bounded number of resamples at a time."""
    size = max(CELLS_AT_ONCE // len(clusters), 1)
    for start in range(0, len(draws), size):
        yield draws[start : start + size][:, clusters]


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    """(b, n) mid-ranks of `values` where value i stands `weights[., i]` times."""
    distinct, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(distinct)))
    groups = np.add.reduceat(weights[:, order], starts, axis=1)
    return (np.cumsum(groups, axis=1) - (groups - 1) / 2)[:, place]


def _weighted_pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    total = weights.sum(axis=1, keepdims=True)
    # Below these only rounding is left of a side that is constant in the resample.
    tiny_x, tiny_y = (total[:, 0] * (1e-12 * np.abs(side).max()) ** 2 for side in (x, y))
    x = x - (weights * x).sum(axis=1, keepdims=True) / total
    y = y - (weights * y).sum(axis=1, keepdims=True) / total
    spread_x, spread_y = (weights * x * x).sum(axis=1), (weights * y * y).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (weights * x * y).sum(axis=1) / np.sqrt(spread_x * spread_y)
    return np.where((spread_x > tiny_x) & (spread_y > tiny_y), r, np.nan)


Progress = Callable[[int, int, str], None]


def correlate(
    truth: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    aggregator: str,
    seed: int,
    resamples: int = 1000,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Every metric against the truth and against the mean grade: pooled (`all`) and for each system.

    `truth` has the columns of `columns.TRUTH`, `scores` those of `columns.SCORES`; the result those of
    `columns.CORRELATIONS`. Intervals: 95 % percentile, problems resampled with replacement. A snippet whose
    score is missing is left out, and the note says how many were.
    """
    jobs = list(_jobs(truth, scores, aggregator))
    rows = []
    for place, (head, pairs) in enumerate(jobs):
        if progress:
            progress(place, len(jobs), f"Correlating {head['metric']}")
        rows.append(head | _row(pairs, seed=seed, resamples=resamples))
    return pd.DataFrame(rows, columns=list(CORRELATIONS))


def _jobs(
    truth: pd.DataFrame, scores: pd.DataFrame, aggregator: str
) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """One row of the result each: what it is about, and its snippets with `score` (may be missing) and `value`."""
    truths = {aggregator: "truth", "mean": "mean"}
    single = truth[truth["judged_metric"] == ""]
    for question, table in single.groupby("question", sort=True):
        for metric, values in scores.groupby("metric", sort=True):
            merged = table.merge(values[[*SNIPPET, "score"]], on=SNIPPET, how="left")
            for name, column in truths.items():
                pairs = merged.assign(value=merged[column])
                head = {"metric": str(metric), "truth": name, "question": str(question)}
                yield head | {"system": POOLED}, pairs
                for system, own in pairs.groupby("system", sort=True):
                    if system != POOLED:
                        yield head | {"system": str(system)}, own


def _row(pairs: pd.DataFrame, *, seed: int, resamples: int) -> dict[str, object]:
    known = pairs[pairs["score"].notna()]
    x, y = known["score"].to_numpy(float), known["value"].to_numpy(float)
    clusters = np.asarray(known.groupby("problem", sort=False).ngroup(), dtype=np.int64)
    found = estimates(x, y, clusters, seed=seed, resamples=resamples)
    lacking = len(pairs) - len(known)
    notes = [f"{lacking} snippet{'s' * (lacking > 1)} without a score left out"] if lacking else []
    for estimate in found.values():
        if estimate.note and estimate.note not in notes:
            notes.append(estimate.note)
    row: dict[str, object] = {
        "n": len(known),
        "problems": int(known["problem"].nunique()),
        "note": "; ".join(notes),
    }
    for measure, estimate in found.items():
        row |= {measure: estimate.value, f"{measure}_low": estimate.low, f"{measure}_high": estimate.high}
    return row
