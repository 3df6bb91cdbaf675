"""The small tables of a report: systems, grades per snippet, annotators."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.columns import SNIPPET, TASK, natural_order, steady, usable
from analysis.correlate import LEVEL, draw_counts

SYSTEMS = (
    *("question", "judged_metric", "system", "reference", "snippets", "grades"),
    *("mean", "mean_low", "mean_high", "truth", "truth_low", "truth_high"),
)
GRADE_COUNTS = ("question", "judged_metric", "reference", "grades", "snippets")
ANNOTATORS = (
    *("question", "judged_metric", "annotator", "simulated", "grades", "mean", "severity", "agreement"),
    *("weight", "median_seconds"),
)
DISTRIBUTION = ("question", "judged_metric", "system", "reference", "grade", "grades")
UNDEFINED = ("metric", "system", "snippets", "reason")
GROUP = ["question", "judged_metric"]


def system_means(grades: pd.DataFrame, truth: pd.DataFrame, *, seed: int, resamples: int) -> pd.DataFrame:
    """Mean grade and mean truth of each system on the scale of the grades, with 95 % intervals.

    `grades` as `columns.GRADES`, `truth` as `columns.TRUTH`; the result has the columns of SYSTEMS. The mean of a
    system is that of its snippets' mean grades; problems are resampled with replacement. A reference has a mean
    and no truth.
    """
    counted = usable(grades)
    snippets = (
        counted.groupby([*TASK, "reference"], sort=False)["grade"].agg(n="size", mean="mean").reset_index()
    )
    snippets = snippets.merge(truth[[*TASK, "truth"]], on=TASK, how="left")
    rows = []
    for (question, judged, reference, system), own in snippets.groupby([*GROUP, "reference", "system"]):
        clusters = own.groupby("problem", sort=False).ngroup().to_numpy()
        row = {
            "question": question,
            "judged_metric": judged,
            "system": system,
            "reference": reference,
            "snippets": len(own),
            "grades": int(own["n"].sum()),
        }
        for column in ("mean", "truth"):
            values = own[column].to_numpy(float)
            row |= dict(
                zip(
                    (column, f"{column}_low", f"{column}_high"),
                    _mean(values, clusters, seed, resamples),
                    strict=True,
                )
            )
        rows.append(row)
    return pd.DataFrame(rows, columns=list(SYSTEMS))


def _mean(values: np.ndarray, clusters: np.ndarray, seed: int, resamples: int) -> tuple[float, float, float]:
    """Mean and the ends of its interval; NaN where values are missing or the problems too few for an interval."""
    count = int(clusters.max()) + 1
    if np.isnan(values).any():
        return np.nan, np.nan, np.nan
    if count < 3:
        return steady(values.mean()), np.nan, np.nan
    draws = draw_counts(count, resamples, seed)
    sums, sizes = np.bincount(clusters, weights=values), np.bincount(clusters)
    low, high = np.quantile((draws @ sums) / (draws @ sizes), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return steady(values.mean()), steady(low), steady(high)


def grade_counts(grades: pd.DataFrame) -> pd.DataFrame:
    """How many snippets got 1, 2, 3 ... grades, for generated snippets and references apart: GRADE_COUNTS.

    After Figure 1 of Evtikhiev et al., "Out of the BLEU" (arXiv:2208.03133). Snippets without a grade are not in
    the table of grades, so they are not counted.
    """
    sizes = usable(grades).groupby([*TASK, "reference"], sort=False).size().rename("grades").reset_index()
    counts = sizes.groupby([*GROUP, "reference", "grades"]).size().rename("snippets").reset_index()
    return counts[list(GRADE_COUNTS)]


def distribution(grades: pd.DataFrame) -> pd.DataFrame:
    """How often each system got each grade: DISTRIBUTION."""
    counted = usable(grades)
    sizes = counted.groupby([*GROUP, "reference", "system", "grade"]).size().rename("grades").reset_index()
    return sizes[list(DISTRIBUTION)]


def annotator_table(grades: pd.DataFrame, weights: pd.DataFrame) -> pd.DataFrame:
    """One row an annotator and question: ANNOTATORS.

    severity: mean difference from the mean of the others' grades of the same snippets (below 0 = sterner);
    agreement: share of equal grades among all pairs with another annotator's grade of the same snippet;
    weight: vote weight of the aggregator; median_seconds: of an answer.
    """
    counted = usable(grades)
    if counted.empty:
        return pd.DataFrame(columns=list(ANNOTATORS))
    groups = counted.groupby([*TASK, "reference"])["grade"]
    total, size = groups.transform("sum"), groups.transform("size")
    same = counted.groupby([*TASK, "reference", "grade"])["grade"].transform("size")
    others = size - 1
    shared = others.where(others > 0)
    counted = counted.assign(
        distance=counted["grade"] - (total - counted["grade"]) / shared,
        equal=(same - 1).where(others > 0),
        pairs=shared,
    )
    table = counted.groupby([*GROUP, "annotator"], sort=False).agg(
        simulated=("simulated", "any"),
        grades=("grade", "size"),
        mean=("grade", "mean"),
        severity=("distance", "mean"),
        equal=("equal", "sum"),
        pairs=("pairs", "sum"),
        median_seconds=("seconds", "median"),
    )
    table["agreement"] = table["equal"] / table["pairs"].where(table["pairs"] > 0)
    table = table.reset_index().merge(weights, on=[*GROUP, "annotator"], how="left")
    return natural_order(table[list(ANNOTATORS)], [*GROUP, "annotator"]).reset_index(drop=True)


def undefined_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """How many snippets of each system a metric gives no score, and why: UNDEFINED."""
    missing = scores[scores["score"].isna()]
    sizes = missing.groupby(["metric", "system", "undefined"]).size().rename("snippets").reset_index()
    return sizes.rename(columns={"undefined": "reason"})[list(UNDEFINED)]


def snippet_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """The scores in a stable order: by problem, system, sample and metric."""
    return natural_order(scores, [*SNIPPET, "metric"]).reset_index(drop=True)
