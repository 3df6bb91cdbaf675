"""The assignment of nodes to nodes by their labels alone that starts the search for a graph edit distance."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

NONE = -1
_INSERTED = -2
"""Owner of a column: nobody; its own insertion."""


def label_plan(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs (place in left, place in right) at the least cost, NONE for a deletion or an insertion.

    Equal labels cost 0; another label, a deletion and an insertion cost 1. Places of the left come first, in
    order; then the insertions, in order. Many assignments are optimal, and which one is taken decides where
    the search goes. This is the one that shortest augmenting paths find (Crouse 2016,
    doi:10.1109/TAES.2016.140952) on the whole matrix: rows for the left nodes, then one row for each
    insertion; columns for the right nodes, then one for each deletion; rows in order, columns looked at from
    the last to the first, a free column before a taken one. As all costs are 0 or 1, all paths have length 0
    or 1, and no matrix, no solver and no floating point is needed.
    """
    plan = _Plan(left, right)
    for row in range(len(left)):
        plan.place_row(row)
    if left and len(right) > len(left) + 1:
        plan.place_insertions()
    taken = set(plan.place)
    pairs = [*enumerate(plan.place)]
    return pairs + [(NONE, column) for column in range(len(right)) if column not in taken]


class _Columns:
    """Columns not yet visited, in order: from the last to the first; the end takes the place of a visited one."""

    def __init__(self, count: int) -> None:
        self.order = list(range(count - 1, -1, -1))
        self.position = self.order[:]

    def first(self, columns: Collection[int]) -> int:
        return min(columns, key=self.position.__getitem__)

    def last(self, columns: Collection[int]) -> int:
        return max(columns, key=self.position.__getitem__)

    def visit(self, column: int) -> None:
        position, end = self.position[column], self.order.pop()
        if end != column:
            self.order[position] = end
            self.position[end] = position


class _Plan:
    def __init__(self, left: Sequence[Hashable], right: Sequence[Hashable]) -> None:
        self.left, self.right = left, right
        self.place = [NONE] * len(left)
        self.owner = [NONE] * len(right)
        self.alike: dict[Hashable, list[int]] = {}
        for column, label in enumerate(right):
            self.alike.setdefault(label, []).append(column)
        self.unseen = {label: columns[::-1] for label, columns in self.alike.items()}
        self.full: set[Hashable] = set()
        """Labels with fewer columns than rows."""
        self.lowest = 0

    def give(self, row: int, column: int) -> None:
        self.place[row] = column
        if column != NONE:
            self.owner[column] = row

    def free(self) -> list[int]:
        return [column for column, owner in enumerate(self.owner) if owner == NONE]

    def place_row(self, row: int) -> None:
        """A free column with its label, else by what is said below."""
        label = self.left[row]
        unseen = self.unseen.get(label)
        while unseen:
            column = unseen.pop()
            if self.owner[column] == NONE:
                self.give(row, column)
                return
        if unseen is None or label in self.full:
            while self.lowest < len(self.owner) and self.owner[self.lowest] != NONE:
                self.lowest += 1
            self.give(row, self.lowest if self.lowest < len(self.owner) else NONE)
        else:
            self.make_room(row, label)

    def make_room(self, row: int, label: Hashable) -> None:
        """Takes a column of the label from a row with another one; if there is none, the label is full."""
        columns, wanted, column = _Columns(len(self.right)), set(self.alike[label]), NONE
        while wanted and column == NONE:
            nearest = columns.first(wanted)
            wanted.remove(nearest)
            columns.visit(nearest)
            if self.left[self.owner[nearest]] != label:
                column = nearest
        free = self.free()
        target = columns.last(free) if free else NONE
        if column != NONE:
            self.give(self.owner[column], target)
            self.give(row, column)
            return
        self.full.add(label)
        first = min(self.owner[column] for column in self.alike[label])
        if (
            target == NONE and first < row
        ):  # the first row with the label is deleted, this one takes its place
            self.give(row, self.place[first])
            self.place[first] = NONE
        else:
            self.give(row, target)

    def place_insertions(self) -> None:
        """Rows that insert may push left nodes from column to column, at no cost.

        The first ones take the columns of the deletions (column len(right) + i deletes left node i), the next
        one frees the way to its own column, all others go by `push`.
        """
        rows = len(self.left)
        cheap = [
            self.left[row] == self.right[column] and self.left[row] not in self.full
            for row, column in enumerate(self.place)
        ]
        holders = list(range(rows))
        target = rows if self.owner[rows] == NONE else max(c for c in self.free() if c < rows)
        self.owner[target] = _INSERTED
        if target != rows:
            holders[target] = rows
        for row in range(rows + 1, len(self.right)):
            if self.owner[row] == NONE:
                self.owner[row] = _INSERTED
            else:
                self.push(row, holders, cheap)

    def push(self, row: int, holders: list[int], cheap: list[bool]) -> None:
        """The shortest path from the insertion of column `row`, which is taken, to a free column.

        holders: whose insertion holds the column of each deletion. cheap: left nodes that cost nothing and
        could not take another column for nothing.
        """
        size = len(self.right)
        columns = _Columns(size + len(self.left))
        reached = set(range(size, size + len(self.left)))
        if self.right[row] not in self.full:
            reached.add(row)
        came: dict[int, int] = dict.fromkeys(reached, NONE)
        target = NONE
        while target == NONE:
            column = columns.first(reached)
            reached.remove(column)
            columns.visit(column)
            new = [c for c in self.next_columns(column, holders, cheap) if c not in came]
            came.update(dict.fromkeys(new, column))
            reached.update(new)
            free = [c for c in new if self.owner[c] == NONE]
            if free:
                target = columns.last(free)
        while came[target] != NONE:
            before = came[target]
            if before < size:
                self.give(self.owner[before], target)
            else:
                self.owner[target] = _INSERTED
            target = before
        if target < size:
            self.owner[target] = _INSERTED
        else:
            holders[target - size] = row

    def next_columns(self, column: int, holders: list[int], cheap: list[bool]) -> list[int]:
        """The columns that the owner of a column could take instead at the same cost."""
        if column >= len(self.right):
            holder = holders[column - len(self.right)]
            return [] if self.right[holder] in self.full else [holder]
        owner = self.owner[column]
        if owner == _INSERTED:
            return []
        label = self.left[owner]
        if cheap[owner]:
            return self.alike[label]
        return [c for c, its in enumerate(self.right) if its not in self.full or its == label]
