"""The edit distance of trees."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from metrics.tree_edit import Tree, postorder, tree_edit_distance, tree_edit_work

Nested = tuple[Any, ...]
"""Label, then the subtrees."""


def tree(nested: Nested) -> Tree:
    return postorder(nested, lambda node: node[1:], lambda node: node[0])


@cache
def plain_distance(left: tuple[Nested, ...], right: tuple[Nested, ...]) -> int:
    """The distance of two forests by its definition: what happens to the last root of each."""
    if not left or not right:
        return sum(1 + plain_distance(one[1:], ()) for one in left) + sum(
            1 + plain_distance((), other[1:]) for other in right
        )
    *before, last = left
    *earlier, latest = right
    return min(
        1 + plain_distance((*before, *last[1:]), right),
        1 + plain_distance(left, (*earlier, *latest[1:])),
        plain_distance(tuple(before), tuple(earlier))
        + plain_distance(last[1:], latest[1:])
        + (last[0] != latest[0]),
    )


def random_tree(rng: random.Random, size: int) -> Nested:
    label, rest, below = rng.choice("abc"), size - 1, []
    while rest > 0:
        part = rng.randint(1, rest)
        below.append(random_tree(rng, part))
        rest -= part
    return (label, *below)


LEFT = ("f", ("d", ("a",), ("c", ("b",))), ("e",))
RIGHT = ("f", ("c", ("d", ("a",), ("b",))), ("e",))


# first tree, second tree, distance, where it comes from
@pytest.mark.parametrize(
    ("left", "right", "expected", "source"),
    [
        (LEFT, RIGHT, 2, "the example of Zhang & Shasha 1989: c is deleted and inserted"),
        (LEFT, LEFT, 0, "equal"),
        (("a",), ("b",), 1, "one label"),
        (("a",), ("a", ("b",), ("c",)), 2, "two insertions"),
        (("a", ("b",), ("c",)), ("a", ("c",), ("b",)), 2, "order counts: two labels"),
        (("a", ("b", ("c",), ("d",))), ("a", ("c",), ("d",)), 1, "b gives its children to a"),
        (("", ("",)), ("",), 1, "an empty label is a label"),
    ],
)
def test_distances_worked_by_hand(left: Nested, right: Nested, expected: int, source: str) -> None:
    assert tree_edit_distance(tree(left), tree(right)) == expected, source


@pytest.mark.parametrize("seed", range(60))
def test_random_trees_have_the_distance_of_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    left, right = random_tree(rng, rng.randint(1, 8)), random_tree(rng, rng.randint(1, 8))
    assert tree_edit_distance(tree(left), tree(right)) == plain_distance((left,), (right,))


def test_nodes_come_after_their_children() -> None:
    assert tree(LEFT) == Tree(("a", "b", "c", "d", "e", "f"), (0, 1, 1, 0, 4, 0))
    assert tree(LEFT).roots() == [2, 4, 5]


def test_the_work_is_the_number_of_cells() -> None:
    # key roots c, e, f of the first tree (2, 1, 6 nodes) and b, e, f of the second (1, 1, 6)
    assert tree_edit_work(tree(LEFT), tree(RIGHT)) == (2 + 1 + 6) * (1 + 1 + 6)


def test_a_very_deep_tree_is_no_matter() -> None:
    def children(node: int) -> Sequence[int]:
        return [node + 1] if node < 100_000 else []

    chain = postorder(0, children, lambda node: node)
    assert len(chain.labels) == 100_001
    assert chain.first == (0,) * 100_001
