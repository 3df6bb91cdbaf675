"""Ground truth: the published aggregates, a slow second implementation, and every case without an answer."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import aggregate as ours
from analysis import columns
from analysis.aggregate import aggregate, m_msr
from tests.analysis.conala import conala_grades, published_truth
from tests.analysis.tables_of import grades_from, grades_of

Votes = list[tuple[int, int, int]]
CONALA_WEIGHTS = {
    "grader13": 0.708, "grader5": 0.885, "grader6": 1.737, "grader3": 1.750, "grader12": 1.776, "grader15": 1.801,
    "grader10": 2.029, "grader8": 2.282, "grader4": 2.293, "grader9": 2.375, "grader14": 2.420, "grader1": 2.443,
    "grader7": 2.446, "grader16": 2.474, "grader11": 2.569, "grader2": 2.986,
}  # fmt: skip
"""Log odds of the skills that crowd-kit 1.4.2 finds (its M-MSR makes the published aggregates)."""


def voted(votes: Votes) -> ours.Votes:
    workers, tasks, labels = (np.array(column, dtype=np.int64) for column in zip(*votes, strict=True))
    return m_msr(workers, tasks, labels)


def table_of(votes: Votes, method: str = "m-msr") -> dict[tuple[str, str], float]:
    truth = aggregate(grades_from(votes), method).table
    assert truth[["truth", "mean", "n"]].notna().all(axis=None)
    return truths_of(truth)


def truths_of(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """(problem, system) -> truth."""
    return dict(zip(zip(table["problem"], table["system"], strict=True), table["truth"], strict=True))


def slow_m_msr(votes: Votes) -> tuple[list[float], list[int], int]:
    """Weights, labels and iterations by plain loops over the definition."""
    workers = sorted({worker for worker, _, _ in votes})
    tasks = sorted({task for _, task, _ in votes})
    kinds = len({label for _, _, label in votes})
    said = {(worker, task): label for worker, task, label in votes}
    size = len(workers)
    strength: dict[tuple[int, int], float] = {}
    negative: dict[tuple[int, int], bool] = {}
    for one in workers:
        for two in workers:
            common = [task for task in tasks if (one, task) in said and (two, task) in said]
            if one != two and common:
                equal = sum(said[one, task] == said[two, task] for task in common)
                value = kinds / (kinds - 1) * equal / len(common) - 1 / (kinds - 1)
                strength[one, two] = abs(value)
                if abs(value) > 1e-12:
                    negative[one, two] = value < 0
    neighbours = {one: [two for two in workers if (one, two) in strength] for one in workers}
    drop = max(0, min(map(len, neighbours.values())) // 2 - 1)

    def step(fixed: list[float], moving: list[float]) -> list[float]:
        new = []
        for one in workers:
            ratios = sorted(strength[two, one] / fixed[two] for two in neighbours[one])
            low = min(drop, sum(ratio < moving[one] for ratio in ratios))
            high = min(drop, sum(ratio > moving[one] for ratio in ratios))
            kept = ratios[low : len(ratios) - high]
            mean = sum(kept) / len(kept) if kept else moving[one]
            new.append(1 / math.sqrt(len(tasks)) if kept == [0] else mean)
        return new

    left = [float(number) for number in np.random.RandomState(0).uniform(size=size)]
    right, iterations = list(left), 0
    for iterations in range(1, 10_001):  # noqa: B007
        old = [[a * b for b in right] for a in left]
        right = step(left, right)
        left = step(right, left)
        change = sum((left[i] * right[j] - old[i][j]) ** 2 for i in range(size) for j in range(size))
        if math.sqrt(change) < 1e-10:
            break
    scale = (sum(b * b for b in right) / sum(a * a for a in left)) ** 0.25
    edge = 1 / math.sqrt(len(tasks))
    signs = slow_signs(size, negative)
    skills = [
        min(max(a * scale * sign, -1 / (kinds - 1) + edge), 1 - edge)
        for a, sign in zip(left, signs, strict=True)
    ]
    right_odds = [(skill * (kinds - 1) + 1) / kinds for skill in skills]
    weights = [math.log(p * (kinds - 1) / (1 - p)) for p in right_odds]
    labels = []
    for task in tasks:
        scores = {
            label: sum(weights[worker] for worker in workers if said.get((worker, task)) == label)
            for label in sorted({label for _, other, label in votes if other == task})
        }
        labels.append(max(scores, key=lambda label: (scores[label], -label)))
    return weights, labels, iterations


def slow_signs(size: int, negative: dict[tuple[int, int], bool]) -> list[float]:
    """Signs of the annotators from the general eigenproblem of the random walk on the subdivided graph."""
    edges = [(one, two, minus) for (one, two), minus in negative.items() if one < two]
    total = size + sum(not minus for _, _, minus in edges)
    walk, middle = np.zeros((total, total)), size
    for one, two, minus in edges:
        for start, end in [(one, two)] if minus else [(one, middle), (two, middle)]:
            walk[start, end] = walk[end, start] = 1
        middle += not minus
    values, vectors = np.linalg.eig(walk / walk.sum(axis=1, keepdims=True))
    vector = vectors[:size, int(np.argmin(values.real))].real
    turned = vector * (1 if (vector > 0).sum() * 2 > size else -1)
    return [1.0 if part > 0 else -1.0 for part in turned]


def random_votes(seed: int, *, workers: int, tasks: int, kinds: int, each: int, skill: float = 0.75) -> Votes:
    """One-coin annotators: the true label with a probability of their own around `skill`, else another."""
    rng = random.Random(seed)
    skills = [min(max(rng.gauss(skill, 0.1), 0.5), 0.98) for _ in range(workers)]
    votes: Votes = []
    for task in range(tasks):
        true = task % kinds
        for worker in rng.sample(range(workers), each):
            wrong = rng.choice([label for label in range(kinds) if label != true])
            votes.append((worker, task, true if rng.random() < skills[worker] else wrong))
    return votes


def test_conala_as_published(shared_data: Path) -> None:
    grades = conala_grades(shared_data)
    found = aggregate(grades)
    assert found.warnings == []
    labels = truths_of(found.table)
    assert labels == published_truth(shared_data)
    assert len(labels) == 2360
    assert found.table["n"].sum() == 10602
    weights = dict(zip(found.weights["annotator"], found.weights["weight"].round(3), strict=True))
    assert weights == CONALA_WEIGHTS


def test_conala_needs_as_many_iterations_as_crowd_kit(shared_data: Path) -> None:
    grades = conala_grades(shared_data)
    rows = grades[~grades["reference"]]
    workers = pd.factorize(rows["annotator"])[0].astype(np.int64)
    tasks = rows.groupby(["problem", "system"]).ngroup().to_numpy().astype(np.int64)
    assert m_msr(workers, tasks, rows["grade"].to_numpy(np.int64)).iterations == 49


@pytest.mark.parametrize("seed", range(12))
def test_equals_the_slow_reference(seed: int) -> None:
    kinds = 2 + seed % 4
    votes = random_votes(seed, workers=4 + seed % 7, tasks=100, kinds=kinds, each=3 + seed % 2)
    found = voted(votes)
    weights, labels, iterations = slow_m_msr(votes)
    assert not any("cannot be used" in sentence for sentence in found.warnings)
    assert found.iterations == iterations
    assert found.weights == pytest.approx(weights, rel=1e-9)
    assert found.labels.tolist() == labels


@pytest.mark.parametrize("seed", range(3))
def test_finds_the_true_labels_better_than_the_majority(seed: int) -> None:
    rng = random.Random(seed)
    skills = [0.95, 0.9, 0.9, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1]
    votes = [
        (worker, task, task % 4 if rng.random() < skill else rng.randrange(4))
        for task in range(400)
        for worker, skill in enumerate(skills)
    ]
    true = np.arange(400) % 4
    counts = np.zeros((400, 4))
    for _, task, label in votes:
        counts[task, label] += 1
    found = voted(votes)
    assert (found.labels == true).mean() > (counts.argmax(axis=1) == true).mean() + 0.02
    assert found.weights[:3].min() > found.weights[3:].max()


def test_an_adversary_votes_against_his_label() -> None:
    votes = random_votes(1, workers=6, tasks=200, kinds=2, each=6, skill=0.85)
    votes = [(worker, task, 1 - task % 2 if worker == 0 else label) for worker, task, label in votes]
    found = voted(votes)
    assert found.weights[0] < 0 < found.weights[1:].min()
    assert (found.labels == np.arange(200) % 2).mean() > 0.95


def test_an_adversary_alone_on_a_snippet_keeps_the_label_that_was_voted() -> None:
    votes = random_votes(1, workers=6, tasks=200, kinds=3, each=6, skill=0.9)
    votes = [(worker, task, (task + 1) % 3 if worker == 0 else label) for worker, task, label in votes]
    found = voted([*votes, (0, 200, 2)])
    assert found.weights[0] < 0
    assert found.labels[200] == 2


def test_a_majority_of_adversaries_wins() -> None:
    """Nothing in the grades tells three liars from three honest annotators: the larger camp is believed."""
    votes = [
        (worker, task, (task + (worker < 5)) % 2 if task % 10 > worker else 1 - (task + (worker < 5)) % 2)
        for task in range(100)
        for worker in range(8)
    ]
    found = voted(votes)
    assert np.isfinite(found.weights).all()


FALLBACKS: list[tuple[str, Votes, str, list[float]]] = [
    ("one annotator", [(0, 0, 3), (0, 1, 1)], "it needs at least 3 annotators, and there are 1", [3, 1]),
    (
        "two that never agree",
        [(0, 0, 3), (1, 0, 1), (0, 1, 2), (1, 1, 4)],
        "it needs at least 3 annotators, and there are 2",
        [1, 2],
    ),
    ("one label", [(0, 0, 2), (1, 0, 2), (2, 1, 2)], "all grades are the same", [2, 2]),
    (
        "islands",
        [(0, 0, 1), (1, 0, 1), (2, 1, 4), (3, 1, 3), (4, 2, 0)],
        "the annotators fall into 3 groups that share no snippet",
        [1, 3, 0],
    ),
    (
        "nobody shares a snippet",
        [(0, 0, 1), (1, 1, 2), (2, 2, 3)],
        "the annotators fall into 3 groups that share no snippet",
        [1, 2, 3],
    ),
    (
        "two camps",
        [(worker, task, (worker // 2 + task) % 2) for worker in range(4) for task in range(12)],
        "the annotators fall into camps that contradict each other, and none is the larger one",
        [0] * 12,
    ),
]


@pytest.mark.parametrize(
    ("votes", "why", "truth"), [row[1:] for row in FALLBACKS], ids=[row[0] for row in FALLBACKS]
)
def test_cases_without_an_answer_get_the_most_frequent_grade(
    votes: Votes, why: str, truth: list[float]
) -> None:
    found = aggregate(grades_from(votes))
    sentence = f"grade: M-MSR cannot be used: {why}. Each snippet got its most frequent grade instead."
    assert found.warnings == [sentence]
    assert found.table["truth"].tolist() == truth
    assert set(found.weights["weight"]) == {1.0}


def test_ties_go_to_the_smallest_grade() -> None:
    assert table_of([(0, 0, 4), (1, 0, 1), (0, 1, 0), (1, 1, 3)]) == {("p0", "a"): 1.0, ("p0", "b"): 0.0}


def test_single_grades_do_not_break_it() -> None:
    votes = random_votes(4, workers=5, tasks=40, kinds=3, each=1)
    assert set(table_of(votes)) == {(f"p{task // 2}", "ab"[task % 2]) for task in range(40)}


def test_thin_overlap_is_said() -> None:
    found = aggregate(grades_from(random_votes(2, workers=8, tasks=20, kinds=3, each=3)))
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith("grade: Two annotators share ")
    assert "--aggregator mean" in found.warnings[0]


def test_sliders_fall_back_to_the_mean() -> None:
    rng = random.Random(5)
    votes = [(worker, task, rng.randint(0, 100)) for task in range(30) for worker in range(4)]
    found = aggregate(grades_from(votes))
    assert found.table["truth"].tolist() == pytest.approx(found.table["mean"].tolist(), abs=0)
    assert "Each snippet got its mean grade instead." in found.warnings[0]


def test_grades_that_are_no_whole_numbers() -> None:
    votes = random_votes(6, workers=5, tasks=60, kinds=3, each=5)
    scale = {0: -0.5, 1: 0.25, 2: 7.5}
    plain = table_of(votes)
    assert table_of([(worker, task, scale[label]) for worker, task, label in votes]) == {  # type: ignore[misc]
        key: scale[int(label)] for key, label in plain.items()
    }


def test_the_mean() -> None:
    grades = grades_from([(0, 0, 4), (1, 0, 1), (2, 0, 1), (0, 1, 3)])
    found = aggregate(grades, "mean")
    assert found.table[["truth", "n", "mean"]].to_numpy().tolist() == [[2.0, 3, 2.0], [3.0, 1, 3.0]]
    assert found.warnings == []


def test_unknown_method() -> None:
    with pytest.raises(ValueError, match=r"^There is no aggregator 'magic'\. Known: m-msr, mean\.$"):
        aggregate(grades_from([(0, 0, 1)]), "magic")


def test_questions_and_judged_metrics_are_apart_and_references_are_left_out() -> None:
    base = {"problem": "1", "system": "s", "annotator": "a"}
    grades = grades_of(
        [
            {**base, "grade": 1, "question": "q1"},
            {**base, "grade": 2, "question": "q2"},
            {**base, "grade": 3, "question": "q2", "judged_metric": "bleu"},
            {**base, "grade": 4, "system": "human", "reference": True, "question": "q1"},
            {**base, "grade": 0, "annotator": "b", "question": "q1", "surplus": True},
        ]
    )
    found = aggregate(grades, "mean").table
    assert found[["question", "judged_metric", "system", "truth"]].to_numpy().tolist() == [
        ["q1", "", "s", 1.0],
        ["q2", "", "s", 2.0],
        ["q2", "bleu", "s", 3.0],
    ]
    everything = aggregate(grades, "mean", include_references=True).table
    assert sorted(everything["system"]) == ["human", "s", "s", "s"]


def test_no_grades() -> None:
    found = aggregate(grades_of([]))
    assert list(found.table.columns) == list(columns.TRUTH)
    assert list(found.weights.columns) == list(ours.WEIGHTS)
    assert len(found.table) == 0


votes_of_any_kind = st.dictionaries(
    st.tuples(st.integers(0, 6), st.integers(0, 7)), st.integers(0, 4), min_size=1, max_size=45
).map(lambda cells: [(worker, task, label) for (worker, task), label in cells.items()])


@settings(max_examples=150, deadline=None)
@given(votes_of_any_kind, st.randoms(use_true_random=False))
def test_never_crashes_never_nan_whatever_the_order(votes: Votes, rng: random.Random) -> None:
    first = aggregate(grades_from(votes))
    assert np.isfinite(first.weights["weight"]).all()
    given_labels = {("p" + str(task // 2), "ab"[task % 2], label) for _, task, label in votes}
    assert all((row.problem, row.system, row.truth) in given_labels for row in first.table.itertuples())
    shuffled = list(votes)
    rng.shuffle(shuffled)
    again = aggregate(grades_from(shuffled))
    pd.testing.assert_frame_equal(first.table, again.table)
    pd.testing.assert_frame_equal(first.weights, again.weights)
    assert first.warnings == again.warnings


@pytest.mark.parametrize("seed", range(3))
def test_names_of_annotators_and_systems_change_nothing(seed: int) -> None:
    votes = random_votes(seed, workers=7, tasks=80, kinds=4, each=4)
    first = table_of(votes)
    turned = [((worker * 3 + 1) % 7, task, label) for worker, task, label in votes]
    assert table_of(turned) == first
    renamed = grades_from(votes).assign(system=lambda table: table["system"].map({"a": "z", "b": "k"}))
    again = truths_of(aggregate(renamed).table)
    names = {"z": "a", "k": "b"}
    assert {(problem, names[system]): truth for (problem, system), truth in again.items()} == first


def test_many_annotators() -> None:
    """Enough to take the sparse way to the signs: 60 annotators, one of them an adversary."""
    votes = random_votes(3, workers=60, tasks=1500, kinds=3, each=6, skill=0.85)
    votes = [(worker, task, (task + 1) % 3 if worker == 0 else label) for worker, task, label in votes]
    found = voted(votes)
    assert found.weights[0] < 0 < np.sort(found.weights)[1]
    assert (found.labels == np.arange(1500) % 3).mean() > 0.95
