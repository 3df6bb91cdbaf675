"""Exact match."""

from __future__ import annotations

from metrics.base import PairMetric


class ExactMatch(PairMetric):
    """1 where the code equals a reference but for whitespace at the end of the text, else 0.

    Files and models differ in the newline at the end, which no reader of code sees; all else counts, also
    indentation, quotes and spaces at the end of other lines. Two empty texts match.
    """

    name = "exact-match"
    version = "1"
    tokenizer = "none"
    parameters = {"strip": "end", "references": "any", "corpus": "mean"}
    needs = frozenset({"references"})
    paper = "no single source; equality of texts"
    range = (0.0, 1.0)
    symmetric = True
    identity = True
    both_empty = 1.0

    def pair(self, code: str, reference: str) -> float:
        return float(code.rstrip() == reference.rstrip())
