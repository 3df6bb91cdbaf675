"""Edit similarity over characters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from metrics.base import PairMetric


def levenshtein(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """The least number of inserted, deleted and replaced items that turn one text or list into the other.

    Bit-parallel (Myers 1999, doi:10.1145/316542.316550, in the form of Hyyrö 2003): `up` and `down` hold
    where a column of the usual table rises and falls by one. A shared beginning and end cost nothing.
    """
    left, right = _differing(left, right)
    if not left or not right:
        return len(left) + len(right)
    places: dict[Hashable, int] = {}
    bit = 1
    for item in left:
        places[item] = places.get(item, 0) | bit
        bit <<= 1
    full, last = bit - 1, bit >> 1
    up, down, distance = full, 0, len(left)
    for item in right:
        matches = places.get(item, 0)
        diagonal = (((matches & up) + up) ^ up) | matches | down
        rises = down | (full & ~(diagonal | up))
        falls = up & diagonal
        if rises & last:
            distance += 1
        elif falls & last:
            distance -= 1
        rises = rises << 1 | 1
        up = full & (falls << 1 | ~(diagonal | rises))
        down = full & rises & diagonal
    return distance


def _differing(
    left: Sequence[Hashable], right: Sequence[Hashable]
) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
    """Both without their common prefix and suffix, the longer one first."""
    start = _shared(left, right)
    left, right = left[start:], right[start:]
    end = _shared(left[::-1], right[::-1])
    left, right = left[: len(left) - end], right[: len(right) - end]
    return (left, right) if len(left) >= len(right) else (right, left)


def _shared(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """How many items both share at their beginning."""
    pairs = zip(left, right, strict=False)
    return next(
        (place for place, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right))
    )


class EditSimilarity(PairMetric):
    """1 - Levenshtein distance / length of the longer text, in characters of the raw text.

    Two empty texts score 1 (the paper leaves them undefined); one empty text scores 0.
    """

    name = "edit-similarity"
    version = "1"
    tokenizer = "characters"
    parameters = {"distance": "levenshtein", "divisor": "longer", "references": "best", "corpus": "mean"}
    needs = frozenset({"references"})
    paper = "Dibia et al. 2023, https://arxiv.org/abs/2210.16494"
    range = (0.0, 1.0)
    symmetric = True
    identity = True
    both_empty = 1.0

    def pair(self, code: str, reference: str) -> float:
        longer = max(len(code), len(reference))
        return 1 - levenshtein(code, reference) / longer if longer else 1.0
