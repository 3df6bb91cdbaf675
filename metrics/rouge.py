"""ROUGE-1, ROUGE-2 and ROUGE-L over tranX tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from metrics.base import PairMetric
from metrics.tokenizers import ngrams, tranx


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


class RougeN(PairMetric):
    """F1 of shared n-grams, each counted at most as often as the other text has it.

    p = shared / n-grams of the code, r = shared / n-grams of the reference. 0 where nothing is shared: also for
    texts of fewer than n tokens, even equal ones, and so for empty texts.
    """

    version = "1"
    tokenizer = "tranx"
    needs = frozenset({"references"})
    paper = "Lin 2004, https://aclanthology.org/W04-1013"
    range = (0.0, 1.0)
    symmetric = True
    both_empty = 0.0

    order: ClassVar[int]

    def pair(self, code: str, reference: str) -> float:
        left, right = Counter(ngrams(tranx(code), self.order)), Counter(ngrams(tranx(reference), self.order))
        shared = (left & right).total()
        return 2 * shared / (left.total() + right.total()) if shared else 0.0


class Rouge1(RougeN):
    """F1 of shared tokens."""

    name = "rouge-1"
    parameters = {"order": "1", "beta": "1", "references": "best", "corpus": "mean"}
    identity = True
    order = 1


class Rouge2(RougeN):
    """F1 of shared pairs of neighbouring tokens; a single token has none and scores 0."""

    name = "rouge-2"
    parameters = {"order": "2", "beta": "1", "references": "best", "corpus": "mean"}
    identity = False
    order = 2
