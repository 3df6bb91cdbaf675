"""The edit distance of two ordered trees with labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Node = TypeVar("Node")


@dataclass(frozen=True)
class Tree:
    """An ordered tree with its nodes in postorder: children before their parent, from left to right.

    labels: of nodes 0 to n-1. first: for each node the number of the left-most leaf below it (itself if it
    is a leaf), so the subtree of node i is first[i] to i.
    """

    labels: tuple[Hashable, ...]
    first: tuple[int, ...]

    def roots(self) -> list[int]:
        """The nodes that are the last ones with their left-most leaf ("key roots"), in order."""
        return sorted({leaf: node for node, leaf in enumerate(self.first)}.values())


def postorder(
    root: Node, children: Callable[[Node], Sequence[Node]], label: Callable[[Node], Hashable]
) -> Tree:
    """The tree below a root, of any depth: no recursion."""
    labels: list[Hashable] = []
    first: list[int] = []
    # A node comes up twice: to put its children above it, and then with the number of its first leaf.
    waiting: list[tuple[Node, int]] = [(root, -1)]
    while waiting:
        node, leaf = waiting.pop()
        below = children(node) if leaf < 0 else ()
        if below:
            waiting.append((node, len(labels)))
            waiting.extend((child, -1) for child in reversed(below))
        else:
            first.append(len(labels) if leaf < 0 else leaf)
            labels.append(label(node))
    return Tree(tuple(labels), tuple(first))


def tree_edit_work(left: Tree, right: Tree) -> int:
    """How many cells `tree_edit_distance` fills: decides beforehand whether it is worth it."""
    sizes = [sum(root - tree.first[root] + 1 for root in tree.roots()) for tree in (left, right)]
    return sizes[0] * sizes[1]


def tree_edit_distance(left: Tree, right: Tree) -> int:
    """The least number of nodes to insert, delete and relabel, each at cost 1, that makes two trees equal.

    Zhang & Shasha 1989, doi:10.1137/0218082. A deleted node leaves its children to its parent. The range is
    0 to the sum of the numbers of nodes. Both trees have at least one node.
    """
    distances = [[0] * len(right.labels) for _ in left.labels]
    roots = right.roots()
    for one in left.roots():
        for other in roots:
            _fill(distances, left, right, one, other)
    return distances[-1][-1]


def _fill(distances: list[list[int]], left: Tree, right: Tree, one: int, other: int) -> None:
    """The distances of the subtrees that share their left-most leaf with the nodes `one` and `other`.

    A row of `table` is a forest of the left tree (from the first leaf of `one` to some node), a column one
    of the right; row and column 0 are the empty forests.
    """
    start, begin = left.first[one], right.first[other]
    columns = [
        (node - begin + 1, right.labels[node], right.first[node] - begin, node)
        for node in range(begin, other + 1)
    ]
    table = [list(range(len(columns) + 1))]
    for node in range(start, one + 1):
        above, label, reach = table[-1], left.labels[node], left.first[node] - start
        before, known = table[reach], distances[node]
        last = above[0] + 1
        row = [last]
        for column, its_label, its_reach, its_node in columns:
            last += 1  # insert
            if above[column] + 1 < last:  # delete
                last = above[column] + 1
            if reach == its_reach == 0:  # both forests are whole trees
                kept = above[column - 1] + (label != its_label)
                last = min(last, kept)
                known[its_node] = last
            else:
                last = min(last, before[its_reach] + known[its_node])
            row.append(last)
        table.append(row)
