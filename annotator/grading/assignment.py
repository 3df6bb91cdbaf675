"""Pure: which item an annotator gets next, from the study's seed and numbers alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from annotator.studies.draws import keyed_hash


def pivot(seed: int, annotator: int, sequence: int) -> int:
    """Where in the pool's order the annotator's `sequence`-th hand-out enters, in [0, SPAN).

    A fresh place for each hand-out: two annotators meet the items in unrelated orders, and no item
    always follows another.
    """
    return keyed_hash(seed, "pivot", annotator, sequence)


def choose(draws: Sequence[int], entry: int) -> int | None:
    """Index of the item handed out: the first of the sorted `draws` at or after `entry`, round the end.

    `draws` are those of the items that are open and new to the annotator; None if there is none.
    """
    if not draws:
        return None
    index = bisect_left(draws, entry)
    return index if index < len(draws) else 0


def side(seed: int, annotator: int, sequence: int, code: str, reference: str) -> str:
    """Where the judged code stands in a pair, "A" or "B".

    Which of the two texts comes first depends on them, not on which is whose: swapped origins look the same.
    """
    if code == reference:
        return "AB"[keyed_hash(seed, "side", annotator, sequence) % 2]
    first = min((code, reference), key=lambda text: keyed_hash(seed, "side", annotator, sequence, text))
    return "A" if first == code else "B"


def order_in_set(seed: int, annotator: int, draws: Sequence[int]) -> list[int]:
    """Indices of a person's reserved items in the order in which they are handed out."""
    places = range(len(draws))
    return sorted(places, key=lambda place: (keyed_hash(seed, "order", annotator, draws[place]), place))


def emptiest(open_slots: Sequence[int], draws: Sequence[int], entry: int) -> int | None:
    """Index of the group (`balanced`: the problem) that a person gets next: of those with the most open slots the
    first at or after `entry`, round the end; None if no slot is open."""
    most = max(open_slots, default=0)
    if most == 0:
        return None
    ranked = sorted((draw, place) for place, draw in enumerate(draws) if open_slots[place] == most)
    found = choose([draw for draw, _ in ranked], entry)
    return None if found is None else ranked[found][1]


def most_open(seed: int, annotator: int, open_slots: Sequence[int], draws: Sequence[int]) -> int:
    """Index of the item that a person gets of a problem: one with the most open slots, ties by the person's own lot.

    An own lot for each person, so that any two may meet in an item: annotators whose items never overlap
    could not be compared.
    """
    most = max(open_slots)
    ties = [place for place, slots in enumerate(open_slots) if slots == most]
    return min(ties, key=lambda place: (keyed_hash(seed, "tie", annotator, draws[place]), place))


def _words(text: str) -> list[str]:
    return text.split()


PSEUDONYM_FIRST = _words("""
    amber azure brave brisk calm clear clever coral crisp dusty eager early fair fleet fond frosty gentle glad
    golden grand green happy honest jolly keen kind light lively lucky mellow merry mild misty noble olive
    pale plain proud quick quiet rapid royal rosy russet silver snowy soft steady still sunny swift tidy
    warm wise
""")
PSEUDONYM_LAST = _words("""
    adder badger bat bear beaver bison bream crane crow curlew deer dove duck eagle egret elk falcon ferret
    finch fox frog gecko goose grouse hare hawk heron ibis jay kite lark linnet lynx marten mole moth newt
    otter owl perch pike plover quail raven robin seal shrew snipe sparrow stoat stork swan teal tern thrush
    toad trout vole wren
""")


def pseudonym(seed: int, number: int) -> str:
    """A made-up name, unique by its number: `quiet-otter-7`."""
    first = PSEUDONYM_FIRST[keyed_hash(seed, "first", number) % len(PSEUDONYM_FIRST)]
    last = PSEUDONYM_LAST[keyed_hash(seed, "last", number) % len(PSEUDONYM_LAST)]
    return f"{first}-{last}-{number}"
