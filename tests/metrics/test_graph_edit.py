"""The search for a graph edit distance, and the assignment that it starts from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from metrics.graph_edit import graph_edit_distance
from metrics.label_plan import NONE, label_plan

Graph = tuple[str, dict[tuple[int, int], str]]
FOREVER = 10**9


def distance(one: Graph, other: Graph, patience: int = FOREVER) -> int:
    return graph_edit_distance((one[0], other[0]), (one[1], other[1]), patience=patience)


def plain_distance(one: Graph, other: Graph) -> int:
    """The least cost over all ways to pair nodes, "no node" among them."""
    (left, edges), (right, others) = one, other
    size = len(left) + len(right)
    best = FOREVER
    for images in set(permutations([*range(len(right)), *[-1] * len(left)], len(left))):
        nodes = sum(image < 0 or left[node] != right[image] for node, image in enumerate(images))
        nodes += len(right) - sum(image >= 0 for image in images)
        kept = {(images[start], images[end]): label for (start, end), label in edges.items()}
        kept = {pair: label for pair, label in kept.items() if pair in others}
        same = sum(label == others[pair] for pair, label in kept.items())
        best = min(best, nodes + len(edges) + len(others) - len(kept) - same)
    assert best <= size + len(edges) + len(others)
    return best


def random_graph(rng: random.Random, nodes: int) -> Graph:
    labels = "".join(rng.choice("abc") for _ in range(nodes))
    pairs = [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rng.randrange(8))] if nodes else []
    return labels, {pair: rng.choice("XY") for pair in pairs}


PATH: Graph = ("abc", {(0, 1): "X", (1, 2): "X"})


# first graph, second graph, distance, why
@pytest.mark.parametrize(
    ("one", "other", "expected", "why"),
    [
        (PATH, PATH, 0, "equal"),
        (PATH, ("", {}), 5, "three nodes and two edges deleted"),
        (("", {}), ("", {}), 0, "nothing to do"),
        (PATH, ("abd", {(0, 1): "X", (1, 2): "X"}), 1, "one node relabelled"),
        (PATH, ("abc", {(0, 1): "X", (1, 2): "Y"}), 1, "one edge relabelled"),
        (PATH, ("abc", {(0, 1): "X", (2, 1): "X"}), 2, "an edge turned: deleted and inserted"),
        (PATH, ("cba", {(2, 1): "X", (1, 0): "X"}), 0, "the same graph, numbered otherwise"),
        (("a", {(0, 0): "X"}), ("b", {(0, 0): "X"}), 1, "an edge from a node to itself is kept"),
        (("ab", {(0, 1): "X"}), ("ba", {(0, 1): "X"}), 2, "two nodes relabelled, or the edge turned"),
    ],
)
def test_distances_worked_by_hand(one: Graph, other: Graph, expected: int, why: str) -> None:
    assert distance(one, other) == expected, why


@pytest.mark.parametrize("seed", range(60))
def test_a_patient_search_finds_the_true_distance(seed: int) -> None:
    rng = random.Random(seed)
    one, other = random_graph(rng, rng.randrange(6)), random_graph(rng, rng.randrange(5))
    assert distance(one, other) == plain_distance(one, other)
    assert distance(one, other, patience=5) >= plain_distance(one, other)


def test_patience_decides_how_good_the_search_is() -> None:
    rng = random.Random(1)
    one, other = random_graph(rng, 30), random_graph(rng, 30)
    found = [distance(one, other, patience=steps) for steps in (40, 400, 4_000)]
    assert found == sorted(found, reverse=True)


def crouse(left: Sequence[int], right: Sequence[int]) -> list[tuple[int, int]]:
    """Shortest augmenting paths on the whole matrix, as the paper tells it: what `label_plan` shortens."""
    m, n = len(left), len(right)
    far = 10 * (m + n) + 10
    cost = np.full((m + n, m + n), far)
    cost[:m, :n] = [[a != b for b in right] for a in left] if m and n else 0
    cost[m:, n:] = 0
    cost[range(m), range(n, n + m)] = 1
    cost[range(m, m + n), range(n)] = 1
    rows, columns = [0] * (m + n), [0] * (m + n)
    owner, place = [-1] * (m + n), [-1] * (m + n)
    for current in range(m + n):
        open_, dist, came = list(range(m + n))[::-1], [far] * (m + n), [-1] * (m + n)
        row, length, done = current, 0, []
        while True:
            for column in open_:
                step = length + int(cost[row, column]) - rows[row] - columns[column]
                if step < dist[column]:
                    dist[column], came[column] = step, row
            length = min(dist[column] for column in open_)
            nearest = [column for column in open_ if dist[column] == length]
            free = [column for column in nearest if owner[column] < 0]
            column = free[-1] if free else nearest[0]
            done.append(column)
            where = open_.index(column)
            end = open_.pop()
            if end != column:
                open_[where] = end
            if owner[column] < 0:
                break
            row = owner[column]
        for seen in done[:-1]:
            rows[owner[seen]] += length - dist[seen]
            columns[seen] -= length - dist[seen]
        rows[current] += length
        while column >= 0:
            row = came[column]
            owner[column] = row
            place[row], column = column, (place[row] if row != current else -1)
    pairs = [(row, place[row] if place[row] < n else NONE) for row in range(m)]
    return pairs + [(NONE, column) for column in range(n) if owner[column] == m + column]


few_labels = st.lists(st.integers(0, 5), max_size=12)


@settings(max_examples=400, deadline=None)
@given(left=few_labels, right=few_labels)
def test_the_plan_is_that_of_shortest_augmenting_paths(left: list[int], right: list[int]) -> None:
    assert label_plan(left, right) == crouse(left, right)


@settings(max_examples=200, deadline=None)
@given(left=few_labels, right=few_labels)
def test_no_assignment_is_cheaper_than_the_plan(left: list[int], right: list[int]) -> None:
    plan = label_plan(left, right)
    assert sorted(row for row, _ in plan if row != NONE) == list(range(len(left)))
    assert sorted(column for _, column in plan if column != NONE) == list(range(len(right)))
    cost = sum(NONE in pair or left[pair[0]] != right[pair[1]] for pair in plan)
    size = max(len(left), len(right))
    matrix = np.ones((size, size))
    for row, one in enumerate(left):
        for column, other in enumerate(right):
            matrix[row, column] = one != other
    assert cost == matrix[linear_sum_assignment(matrix)].sum()


# left labels, right labels, plan, why
@pytest.mark.parametrize(
    ("left", "right", "plan", "why"),
    [
        ("", "", [], "nothing"),
        ("ab", "ba", [(0, 1), (1, 0)], "equal labels first"),
        ("aa", "aa", [(0, 0), (1, 1)], "equal labels in order"),
        ("xy", "ab", [(0, 0), (1, 1)], "the rest in order"),
        ("xa", "a", [(0, NONE), (1, 0)], "a row gives its column to one with the label"),
        ("aa", "a", [(0, NONE), (1, 0)], "of equal rows the first is deleted"),
        ("a", "ba", [(0, 1), (NONE, 0)], "insertions last"),
    ],
)
def test_plans_worked_by_hand(left: str, right: str, plan: list[tuple[int, int]], why: str) -> None:
    assert label_plan(left, right) == plan, why
