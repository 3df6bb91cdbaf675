"""BLEU as TensorFlow's examples compute it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from metrics.base import Metric, Statistics
from metrics.counts import ORDER, clipped_counts
from metrics.tokenizers import TOKENIZERS


class BleuTf(Metric):
    """BLEU of n-grams up to four, a segment scored as a corpus of one, against the shortest reference length.

    Not smoothed: 0 where any of the four orders has no match, so for every code of less than four tokens, even
    one equal to a reference. 0 also for empty texts, where the original divides by zero. The paper that used it
    for code does not say how it cut the code; whitespace is our choice. Statistics: [code length, length of the
    shortest reference, matching 1- to 4-grams, 1- to 4-grams of the code].
    """

    name = "bleu-tf"
    version = "1"
    tokenizer = "whitespace"
    parameters = {
        "order": "4",
        "smooth": "none",
        "effective-order": "no",
        "references": "all",
        "length": "shortest",
    }
    needs = frozenset({"references"})
    paper = "Papineni et al. 2002, doi:10.3115/1073083.1073135; Dibia et al. 2023, https://arxiv.org/abs/2210.16494"
    range = (0.0, 1.0)
    symmetric = False
    identity = False
    order_invariant = True
    repeat_invariant = True
    both_empty = 0.0

    added: ClassVar[int] = 0
    """Added to matching and possible n-grams of each order."""

    def statistics(self, code: str, references: Sequence[str]) -> Statistics:
        self.check(code, references)
        cut = TOKENIZERS[self.tokenizer]
        left, right = cut(code), [cut(text) for text in references]
        shortest = min(len(tokens) for tokens in right)
        return np.array([len(left), shortest, *clipped_counts(left, right)], dtype=float)

    def score(self, statistics: Statistics) -> float:
        code_length, reference_length = (float(number) for number in statistics[:2])
        if not code_length or not reference_length:
            return 0.0
        matching, possible = statistics[2 : 2 + ORDER] + self.added, statistics[2 + ORDER :] + self.added
        if not matching.all():
            return 0.0
        mean = math.exp(math.fsum(math.log(ratio) for ratio in matching / possible) / ORDER)
        return mean * min(1.0, math.exp(1 - reference_length / code_length))


class BleuTfSmoothed(BleuTf):
    """The same with 1 added to the matches and to the n-grams of the code, in each of the four orders.

    Short code scores high whatever it holds: one token that is not the reference's scores 0.84. Empty texts score 0.
    In a corpus the 1 is added to the sums, so it weighs less the larger the corpus is.
    """

    name = "bleu-tf-smoothed"
    parameters = {**BleuTf.parameters, "smooth": "add-1"}
    identity = True
    size_invariant = False
    added = 1
