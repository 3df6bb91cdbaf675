"""Ground truth from grades: one number a snippet from the grades of several annotators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from scipy.sparse.linalg import ArpackError, eigsh

from analysis.columns import TASK, TRUTH, TableError, natural_order, usable

Floats = npt.NDArray[np.float64]
TOLERANCE = 1e-10
MAX_ITERATIONS = 10_000
THIN_OVERLAP = 10


@dataclass
class Votes:
    """What M-MSR makes of one set of grades.

    labels: (T,) index of the chosen label of each task; weights: (W,) vote weight of each annotator;
    iterations: of the fixed point (0 for the fallback); warnings: sentences for the reader.
    """

    labels: npt.NDArray[np.int64]
    weights: Floats
    iterations: int
    warnings: list[str] = field(default_factory=list)


def check_shared(grades: pd.DataFrame) -> None:
    """Raises TableError where no item has two usable grades: M-MSR has nothing to tell annotators apart by."""
    counted = usable(grades)
    if len(counted) > 1 and not counted.duplicated(TASK).any():
        raise TableError(ONE_GRADE)


@dataclass
class Truth:
    """`table` has the columns of `columns.TRUTH`; `weights` those of WEIGHTS, the vote weight of each annotator."""

    table: pd.DataFrame
    weights: pd.DataFrame
    warnings: list[str]


WEIGHTS = ("question", "judged_metric", "annotator", "weight")
MAX_LABELS = 25
ONE_GRADE = (
    "M-MSR cannot be used: no item has grades of two annotators, and it tells annotators apart by the items that "
    "they share. Use the mean."
)


def m_msr(
    workers: npt.NDArray[np.int64], tasks: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]
) -> Votes:
    """Matrix Mean-Subsequence-Reduced aggregation (Ma and Olshevsky, "Adversarial crowdsourcing through robust
    rank-one matrix completion", NeurIPS 2020, arXiv:2010.12181), as the published studies use it.

    `workers`, `tasks`, `labels`: (n,) indices from 0, one triple a vote, each (worker, task) once. Labels are
    nominal: any two that differ are equally wrong. Where the method has no answer (fewer than 3 workers, one
    label, overlap in several islands, no majority of signs) each task gets its majority label and a warning.
    """
    count, kinds = int(workers.max()) + 1, int(labels.max()) + 1
    common, agreed = _overlap(workers, tasks, labels)
    trouble = _trouble(common, count, kinds)
    if not trouble:
        skills, iterations = _fixed_point(common, agreed, kinds, int(tasks.max()) + 1)
        if isinstance(skills, str):
            trouble = skills
        else:
            weights = np.log((1 + (kinds - 1) * skills) / (1 - skills))
            return Votes(_vote(workers, tasks, labels, weights), weights, iterations, _thin(common))
    sentence = f"M-MSR cannot be used: {trouble}. Each snippet got its most frequent grade instead."
    return Votes(_vote(workers, tasks, labels, np.ones(count)), np.ones(count), 0, [sentence])


def _overlap(
    workers: npt.NDArray[np.int64], tasks: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """(W, W) numbers of common tasks and of those with equal labels; zeros on the diagonal."""
    ones = np.ones(len(workers))
    shape = (int(workers.max()) + 1, int(tasks.max()) + 1)
    did = sparse.csr_matrix((ones, (workers, tasks)), shape=shape)
    kinds = int(labels.max()) + 1
    said = sparse.csr_matrix((ones, (workers, tasks * kinds + labels)), shape=(shape[0], shape[1] * kinds))
    common, agreed = (did @ did.T).toarray(), (said @ said.T).toarray()
    np.fill_diagonal(common, 0)
    np.fill_diagonal(agreed, 0)
    return common, agreed


def _trouble(common: Floats, count: int, kinds: int) -> str:
    if count < 3:
        return f"it needs at least 3 annotators, and there are {count}"
    if kinds < 2:
        return "all grades are the same"
    islands = sparse.csgraph.connected_components(sparse.csr_matrix(common), directed=False)[0]
    return f"the annotators fall into {islands} groups that share no snippet" if islands > 1 else ""


def _thin(common: Floats) -> list[str]:
    middle = float(np.median(common[np.triu_indices(len(common), 1)]))
    if middle >= THIN_OVERLAP:
        return []
    return [
        f"Two annotators share {middle:g} snippets in the median. Below about {THIN_OVERLAP} the weights of M-MSR are "
        "rough, and it can be worse than the mean: compare with --aggregator mean."
    ]


def _fixed_point(common: Floats, agreed: Floats, kinds: int, tasks: int) -> tuple[Floats | str, int]:
    """(W,) skills in (-1/(M-1), 1), or the reason why there are none; and the number of iterations."""
    seen = common > 0
    share = np.divide(agreed, common, out=np.zeros_like(agreed), where=seen)
    covariance = kinds / (kinds - 1) * share - 1 / (kinds - 1)
    strength = np.where(seen, np.abs(covariance), np.inf)
    drop = max(0, int(seen.sum(axis=1).min()) // 2 - 1)
    # The published implementation draws both factors from one seed: they begin equal.
    first = np.random.RandomState(0).uniform(size=len(common))
    left, right, iterations = first.copy(), first.copy(), 0
    for iterations in range(1, MAX_ITERATIONS + 1):
        old = np.outer(left, right)
        right = _half_step(strength, left, right, drop, tasks)
        left = _half_step(strength, right, left, drop, tasks)
        with np.errstate(over="ignore", invalid="ignore"):
            change = np.linalg.norm(np.outer(left, right) - old)
        if not np.isfinite(change):
            return "its estimates do not settle on these grades", iterations
        if change < TOLERANCE:
            break
    with np.errstate(divide="ignore", invalid="ignore"):
        skills = left * np.sqrt(np.linalg.norm(right) / np.linalg.norm(left))
    signs = _signs(np.where(seen, covariance, 0.0))
    if signs is None or not np.isfinite(skills).all():
        return (
            "the annotators fall into camps that contradict each other, and none is the larger one",
            iterations,
        )
    low, high = -1 / (kinds - 1) + 1 / np.sqrt(tasks), 1 - 1 / np.sqrt(tasks)
    return np.clip(skills * signs, min(low, high), high), iterations


def _half_step(strength: Floats, fixed: Floats, moving: Floats, drop: int, tasks: int) -> Floats:
    """One simultaneous update of all of `moving`: the mean of the ratios without the `drop` most extreme each side."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = np.sort(np.where(np.isinf(strength), np.inf, strength / fixed[None, :]), axis=1)
    known = np.isfinite(ratios).sum(axis=1)
    low = np.minimum(drop, (ratios < moving[:, None]).sum(axis=1))
    above = ((ratios > moving[:, None]) & np.isfinite(ratios)).sum(axis=1)
    high = known - np.minimum(drop, above)
    places = np.arange(ratios.shape[1])[None, :]
    kept = (places >= low[:, None]) & (places < high[:, None])
    count = kept.sum(axis=1)
    total = np.where(kept, ratios, 0.0).sum(axis=1)
    new = np.where(count > 0, total / np.maximum(count, 1), moving)
    return np.where((count == 1) & (total == 0), 1 / np.sqrt(tasks), new)


def _signs(covariance: Floats) -> Floats | None:
    """(W,) +1 or -1 by two-colouring the signed graph; None where neither sign has the majority.

    Annotators that no chain of agreement or contradiction links are coloured apart: nothing relates them.
    """
    signs = np.ones(len(covariance))
    # Agreement as good as chance says nothing either way; rounding must not decide it.
    covariance = np.where(np.abs(covariance) < 1e-12, 0.0, covariance)
    count, group = sparse.csgraph.connected_components(sparse.csr_matrix(covariance != 0), directed=False)
    for number in range(count):
        members = np.flatnonzero(group == number)
        own = covariance[np.ix_(members, members)]
        if (own >= 0).all():
            continue
        colours = _two_colours(own)
        if colours is None or colours.sum() == 0:
            return None
        signs[members] = colours * np.sign(colours.sum())
    return signs


def _two_colours(covariance: Floats) -> Floats | None:
    """(W,) +1 or -1, the same for most that agree and different for most that contradict each other.

    Each positive edge gets a vertex in its middle, so that all edges mean "opposite"; the eigenvector of the
    smallest eigenvalue of the normalised adjacency then has the colours as its signs.
    """
    count = len(covariance)
    rows, columns = np.triu_indices(count, 1)
    values = covariance[rows, columns]
    plus, minus = values > 0, values < 0
    middle = count + np.arange(int(plus.sum()))
    start = np.concatenate([rows[minus], rows[plus], columns[plus]])
    end = np.concatenate([columns[minus], middle, middle])
    size = count + len(middle)
    adjacency = sparse.coo_matrix((np.ones(len(start)), (start, end)), shape=(size, size)).tocsr()
    adjacency = adjacency + adjacency.T
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = sparse.diags(1 / np.sqrt(degree))
    vector = _smallest_eigenvector(scale @ adjacency @ scale)
    # A part that is only rounding has no sign; such an annotator is believed.
    return None if vector is None else np.where(vector[:count] > -1e-9, 1.0, -1.0)


def _smallest_eigenvector(matrix: sparse.csr_matrix) -> Floats | None:
    size = matrix.shape[0]
    if size <= 400:
        return np.asarray(np.linalg.eigh(matrix.toarray())[1][:, 0])
    try:
        start = np.random.RandomState(0).uniform(-1, 1, size)
        return np.asarray(eigsh(matrix, k=1, which="SA", v0=start, tol=1e-8)[1][:, 0])
    except ArpackError:
        return None


def _vote(
    workers: npt.NDArray[np.int64],
    tasks: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    weights: Floats,
) -> npt.NDArray[np.int64]:
    """(T,) the label with the largest sum of weights among those that were voted; ties go to the smallest label."""
    kinds = int(labels.max()) + 1
    places = tasks * kinds + labels
    size = (int(tasks.max()) + 1) * kinds
    scores = np.bincount(places, weights=weights[workers], minlength=size)
    voted = np.bincount(places, minlength=size) > 0
    return np.where(voted, scores, -np.inf).reshape(-1, kinds).argmax(axis=1)


def aggregate(grades: pd.DataFrame, method: str = "m-msr", *, include_references: bool = False) -> Truth:
    """One truth a snippet from the usable grades, for each question and judged metric apart.

    `grades` has the columns of `columns.GRADES`; rows of references are left out unless `include_references`.
    The result is sorted and does not depend on the order of the rows. `truth` is on the scale of the grades.
    Raises ValueError for an unknown method.
    """
    if method not in METHODS:
        raise ValueError(f"There is no aggregator {method!r}. Known: {', '.join(METHODS)}.")
    counted = usable(grades)
    if not include_references:
        counted = counted[~counted["reference"]]
    tables, weights, notes = [], [], []
    for (question, judged), rows in counted.groupby(["question", "judged_metric"], sort=True):
        rows = natural_order(rows, [*TASK, "annotator"])
        tasks = rows.groupby(TASK, sort=False)
        table = tasks["grade"].agg(n="size", mean="mean").reset_index()
        annotators = sorted(rows["annotator"].unique())
        workers = rows["annotator"].map({name: place for place, name in enumerate(annotators)})
        table["truth"], weight, said = METHODS[method](
            rows["grade"].to_numpy(), workers.to_numpy(), np.asarray(tasks.ngroup(), dtype=np.int64)
        )
        tables.append(table[list(TRUTH)])
        weights.append(
            pd.DataFrame(
                {"question": question, "judged_metric": judged, "annotator": annotators, "weight": weight}
            )
        )
        notes += [f"{question}: {sentence}" for sentence in said]
    empty = pd.DataFrame(columns=list(TRUTH)), pd.DataFrame(columns=list(WEIGHTS))
    return Truth(
        pd.concat(tables, ignore_index=True) if tables else empty[0],
        pd.concat(weights, ignore_index=True) if weights else empty[1],
        notes,
    )


Method = Callable[
    [Floats, "npt.NDArray[np.int64]", "npt.NDArray[np.int64]"], tuple[Floats, Floats, list[str]]
]


def _by_m_msr(
    values: Floats, workers: npt.NDArray[np.int64], tasks: npt.NDArray[np.int64]
) -> tuple[Floats, Floats, list[str]]:
    scale, labels = np.unique(values, return_inverse=True)
    if len(scale) > MAX_LABELS:
        truth, weights, _ = _by_mean(values, workers, tasks)
        sentence = (
            f"M-MSR takes grades for names, and there are {len(scale)} different ones. "
            "Each snippet got its mean grade instead."
        )
        return truth, weights, [sentence]
    votes = m_msr(workers, tasks, labels)
    return scale[votes.labels], votes.weights, votes.warnings


def _by_mean(
    values: Floats, workers: npt.NDArray[np.int64], tasks: npt.NDArray[np.int64]
) -> tuple[Floats, Floats, list[str]]:
    means = np.bincount(tasks, weights=values) / np.bincount(tasks)
    return means, np.ones(int(workers.max()) + 1), []


METHODS: dict[str, Method] = {"m-msr": _by_m_msr, "mean": _by_mean}
