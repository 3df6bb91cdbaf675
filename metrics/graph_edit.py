"""A short search for the edit distance of two labelled graphs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from metrics.label_plan import NONE, label_plan

Edges = Mapping[tuple[int, int], Hashable]
Step = tuple[int, int, int, int, int, int, int]
"""Bound of all that follows; left and right node; then as in `_Search`: cost, shared, both numbers of open edges."""


def graph_edit_distance(
    labels: tuple[Sequence[Hashable], Sequence[Hashable]], edges: tuple[Edges, Edges], *, patience: int
) -> int:
    """The cost of the best way found to edit the first graph into the second: at least the true distance.

    labels: of the nodes 0, 1, ... of both graphs. edges: (from, to) -> label. To insert, delete or relabel a
    node or an edge costs 1. The range is 0 to the number of all nodes and edges. The search is the
    depth-first one of Abu-Aisheh et al. 2015, doi:10.5220/0005209202710278, in the order in which networkx
    goes: first along the best assignment of the nodes by their labels, then by lower bound. It ends when
    `patience` pairs of nodes in a row were looked at without finding a better way; if that never happens,
    the distance is the true one. Nothing depends on time or on rounding.
    """
    return _Search(labels, edges).run(patience)


@dataclass
class _Side:
    """One graph during the search. Numbers of edges by label are packed into one integer, their sum on top."""

    labels: list[int]
    counts: list[int]
    """Of each label among the waiting nodes."""
    waiting: list[int]
    open: int
    """Edges that no step has dealt with."""
    near: list[list[tuple[int, int]]]
    """For each node its neighbours, with the edges to and from them."""
    met: list[int]
    """For each waiting node its edges to nodes that do not wait, and to itself."""
    codes: list[list[int]]
    """For each pair of nodes a number for the edges there and back; last column: no node."""

    def take(self, node: int) -> int:
        """The node stops waiting; returns what `put_back` wants."""
        place = self.waiting.index(node)
        del self.waiting[place]
        self.counts[self.labels[node]] -= 1
        for other, edges in self.near[node]:
            self.met[other] += edges
        return place

    def put_back(self, node: int, place: int) -> None:
        self.waiting.insert(place, node)
        self.counts[self.labels[node]] += 1
        for other, edges in self.near[node]:
            self.met[other] -= edges


@dataclass(slots=True)
class _Frame:
    """A point in the search: what comes after it, and what to restore when it is tried."""

    plan: list[tuple[int, int]]
    at: int
    state: tuple[int, int, int, int]
    others: list[Step] | None = None
    step: Step | None = None
    places: tuple[int, int] = (0, 0)


class _Search:
    def __init__(
        self, labels: tuple[Sequence[Hashable], Sequence[Hashable]], edges: tuple[Edges, Edges]
    ) -> None:
        kinds = {
            kind: number
            for number, kind in enumerate(dict.fromkeys([*edges[0].values(), *edges[1].values()]))
        }
        names = {name: number for number, name in enumerate(dict.fromkeys([*labels[0], *labels[1]]))}
        self.kinds = len(kinds)
        self.width = max(len(edges[0]), len(edges[1]), 1).bit_length()
        self.top = self.width * self.kinds
        sides = [
            self.side([names[name] for name in names_of], edges_of, kinds, len(names))
            for names_of, edges_of in zip(labels, edges, strict=True)
        ]
        self.left, self.right = sides
        self.links = [
            [(other, code * (self.kinds + 1) ** 2) for other, code in enumerate(row) if code]
            for row in self.left.codes
        ]
        self.saved = _savings(self.kinds + 1)
        self.image = [len(self.right.labels)] * len(self.left.labels)
        """For each left node the right node it becomes, or the column of "no node"."""
        self.cost = 0
        self.shared = sum(map(min, self.left.counts, self.right.counts))
        """How many waiting nodes could keep their label."""
        self.best = len(self.left.labels) + len(self.right.labels) + len(edges[0]) + len(edges[1])
        self.bounds: dict[tuple[int, int], int] = {}
        self.plans: dict[tuple[int, ...], list[tuple[int, int]]] = {}

    def side(self, labels: list[int], edges: Edges, kinds: Mapping[Hashable, int], names: int) -> _Side:
        size, base = len(labels), self.kinds + 1
        near: list[dict[int, int]] = [{} for _ in labels]
        codes = [[0] * (size + 1) for _ in labels]
        met = [0] * size
        whole = 0
        for (start, end), label in edges.items():
            kind = kinds[label]
            packed = (1 << self.top) + (1 << self.width * kind)
            whole += packed
            codes[start][end] += (kind + 1) * base
            if start == end:
                met[start] += packed
                continue
            codes[end][start] += kind + 1
            near[start][end] = near[start].get(end, 0) + packed
            near[end][start] = near[end].get(start, 0) + packed
        counts = [labels.count(name) for name in range(names)]
        return _Side(labels, counts, list(range(size)), whole, [[*row.items()] for row in near], met, codes)

    def run(self, patience: int) -> int:
        """See `graph_edit_distance`."""
        frames: list[_Frame] = []
        remaining, least = patience, self.bound()
        plan, at = self.plan(), 0
        while self.best > least:
            if at < len(plan):
                frame = _Frame(plan, at, self.state())
                frames.append(frame)
                remaining -= 1
                step = self.step(*plan[at])
                if step:
                    self.apply(frame, step)
                    at += 1
                    continue
            else:
                self.best, remaining = self.cost, patience
            while frames:
                frame = frames[-1]
                self.undo(frame)
                if frame.others is None:
                    pairs = self.other_pairs(*frame.plan[frame.at])
                    remaining -= len(pairs)
                    if remaining < 0:
                        return self.best
                    frame.others = self.sorted_steps(pairs)
                if frame.others and frame.others[-1][0] < self.best:
                    self.apply(frame, frame.others.pop())
                    break
                frames.pop()
            else:
                return self.best
            plan, at = self.plan(), 0
        return self.best

    def state(self) -> tuple[int, int, int, int]:
        return self.cost, self.shared, self.left.open, self.right.open

    def apply(self, frame: _Frame, step: Step) -> None:
        _, u, v, self.cost, self.shared, self.left.open, self.right.open = step
        frame.step = step
        frame.places = (
            self.left.take(u) if u != NONE else NONE,
            self.right.take(v) if v != NONE else NONE,
        )
        if u != NONE and v != NONE:
            self.image[u] = v

    def undo(self, frame: _Frame) -> None:
        self.cost, self.shared, self.left.open, self.right.open = frame.state
        if frame.step is None:
            return
        u, v = frame.step[1:3]
        if u != NONE:
            self.left.put_back(u, frame.places[0])
            self.image[u] = len(self.right.labels)
        if v != NONE:
            self.right.put_back(v, frame.places[1])
        frame.step = None

    def plan(self) -> list[tuple[int, int]]:
        """The best assignment of the waiting nodes by their labels."""
        left, right = self.left, self.right
        rows, columns = left.waiting, right.waiting
        key = (*rows, NONE, *columns)
        known = self.plans.get(key)
        if known is None:
            pairs = label_plan([left.labels[u] for u in rows], [right.labels[v] for v in columns])
            known = [(rows[i] if i != NONE else NONE, columns[j] if j != NONE else NONE) for i, j in pairs]
            self.plans[key] = known
        return known

    def other_pairs(self, u: int, v: int) -> list[tuple[int, int]]:
        """What else could become v if the left graph has no more waiting nodes, else what u could become."""
        if len(self.left.waiting) > len(self.right.waiting):
            if u == NONE:
                return []
            others = [(u, other) for other in self.right.waiting if other != v]
            return others if v == NONE else [*others, (u, NONE)]
        if v == NONE:
            return []
        others = [(other, v) for other in self.left.waiting if other != u]
        return others if u == NONE else [*others, (NONE, v)]

    def sorted_steps(self, pairs: list[tuple[int, int]]) -> list[Step]:
        """The steps that could still lead to a better way; the most promising one last."""
        steps = [step for step in (self.step(u, v) for u, v in pairs) if step]
        steps.sort(key=itemgetter(0))
        return steps[::-1]

    def step(self, u: int, v: int) -> Step | None:
        """The step that pairs u with v, or None if nothing better than the best can follow."""
        left, right = self.left, self.right
        rows, columns = len(left.waiting), len(right.waiting)
        cost, shared, here, there = self.cost, self.shared, left.open, right.open
        first = left.labels[u] if u != NONE else NONE
        second = right.labels[v] if v != NONE else NONE
        if first == second:
            shared -= 1
        else:
            cost += 1
            if u != NONE and left.counts[first] <= right.counts[first]:
                shared -= 1
            if v != NONE and right.counts[second] <= left.counts[second]:
                shared -= 1
        bound = cost + max(rows - (u != NONE), columns - (v != NONE)) - shared
        if bound + self.between(here, there) >= self.best:
            return None
        lost = left.met[u] if u != NONE else 0
        gained = right.met[v] if v != NONE else 0
        here, there = here - lost, there - gained
        local = (lost >> self.top) + (gained >> self.top)
        if u != NONE and v != NONE:
            image, codes, saved = self.image, right.codes[v], self.saved
            image[u] = v  # an edge from u to itself may become one from v to itself
            local -= sum([saved[code + codes[image[other]]] for other, code in self.links[u]])
            image[u] = len(right.labels)
        bound += local + self.between(here, there)
        if bound >= self.best:
            return None
        return bound, u, v, cost + local, shared, here, there

    def bound(self) -> int:
        """The least cost of all that waits."""
        nodes = max(len(self.left.waiting), len(self.right.waiting)) - self.shared
        return nodes + self.between(self.left.open, self.right.open)

    def between(self, here: int, there: int) -> int:
        """The least cost to turn some edges into others, by their labels alone."""
        known = self.bounds.get((here, there))
        if known is None:
            mask, shared = (1 << self.width) - 1, 0
            for shift in range(0, self.top, self.width):
                shared += min(here >> shift & mask, there >> shift & mask)
            known = max(here >> self.top, there >> self.top) - shared
            self.bounds[here, there] = known
        return known


def _savings(base: int) -> list[int]:
    """What keeping edges saves, compared with deleting and inserting them all, by two joined codes.

    A code is (number of the label there) * base + (number of the label back), 0 for no edge. To keep an edge
    saves 2, to relabel one saves 1.
    """
    one = [
        [0 if not first or not second else 2 if first == second else 1 for second in range(base)]
        for first in range(base)
    ]
    codes = range(base * base)
    return [
        one[first // base][second // base] + one[first % base][second % base]
        for first in codes
        for second in codes
    ]
