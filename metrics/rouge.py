"""ROUGE-L over tranX tokens."""

from __future__ import annotations

from collections.abc import Sequence

from metrics.base import PairMetric
from metrics.tokenizers import tranx


def lcs_length(left: Sequence[str], right: Sequence[str]) -> int:
    """The length of the longest common subsequence of two lists of tokens.

    Bit-parallel (Hyyrö 2004, "Bit-parallel LCS-length computation revisited"): one row of the usual table is
    one big integer whose zero bits count the matches, so a step costs a few additions however long the row.
    """
    places: dict[str, int] = {}
    bit = 1
    for token in left:
        places[token] = places.get(token, 0) | bit
        bit <<= 1
    full = bit - 1
    row = full
    for token in right:
        matches = row & places.get(token, 0)
        if matches:
            row = ((row + matches) | (row - matches)) & full
    return len(left) - row.bit_count()


class RougeL(PairMetric):
    """F1 of the longest common subsequence: p = L / tokens of the code, r = L / tokens of the reference.

    0 where nothing is shared, also for empty texts.
    """

    name = "rouge-l"
    version = "1"
    tokenizer = "tranx"
    parameters = {"beta": "1", "references": "best", "corpus": "mean"}
    needs = frozenset({"references"})
    paper = "Lin 2004, https://aclanthology.org/W04-1013"
    range = (0.0, 1.0)
    symmetric = True
    identity = True
    both_empty = 0.0

    def pair(self, code: str, reference: str) -> float:
        left, right = tranx(code), tranx(reference)
        length = lcs_length(left, right)
        # 2pr / (p + r), written so that equal lists give exactly 1
        return 2 * length / (len(left) + len(right)) if length else 0.0
