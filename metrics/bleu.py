"""BLEU by sacrebleu, over tranX tokens or over what whitespace separates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sacrebleu
from sacrebleu.metrics.bleu import BLEU

from metrics.base import Metric, Statistics
from metrics.tokenizers import TOKENIZERS


class Bleu(Metric):
    """BLEU of n-grams up to four with exponential smoothing, all references at once.

    A segment stops at the longest n-gram it has ("effective order"); a corpus does not. So `score` of one
    segment's statistics is the BLEU of a corpus of that one segment, which is 0 below four tokens, and
    `segment_score` is what `segment` gives. Statistics: [code length, closest reference length, matching
    1- to 4-grams, 1- to 4-grams of the code]. Without a matching token the score is 0, also for empty texts.
    """

    name = "bleu"
    version = "1"
    tokenizer = "tranx"
    parameters = {
        "order": "4",
        "smooth": "exp",
        "effective-order": "segment",
        "references": "all",
        "sacrebleu": sacrebleu.__version__,
    }
    needs = frozenset({"references"})
    paper = "Papineni et al. 2002, doi:10.3115/1073083.1073135; Post 2018, doi:10.18653/v1/W18-6319"
    range = (0.0, 1.0)
    symmetric = False
    identity = True
    order_invariant = True
    repeat_invariant = True
    both_empty = 0.0

    def __init__(self) -> None:
        self._bleu = BLEU(tokenize="none", smooth_method="exp", effective_order=True)

    def statistics(self, code: str, references: Sequence[str]) -> Statistics:
        self.check(code, references)
        cut = TOKENIZERS[self.tokenizer]
        texts = [" ".join(cut(text)) for text in (code, *references)]
        result = self._bleu.sentence_score(texts[0], texts[1:])
        return np.array([result.sys_len, result.ref_len, *result.counts, *result.totals], dtype=float)

    def score(self, statistics: Statistics) -> float:
        return _bleu(statistics, effective_order=False)

    def segment_score(self, statistics: Statistics) -> float:
        return _bleu(statistics, effective_order=True)


class BleuWhitespace(Bleu):
    """BLEU with the tokens that whitespace separates, which the baselines of MATCH fit."""

    name = "bleu-whitespace"
    tokenizer = "whitespace"


def _bleu(statistics: Statistics, *, effective_order: bool) -> float:
    code_length, reference_length, *counts = (int(number) for number in statistics)
    result = BLEU.compute_bleu(
        correct=counts[:4],
        total=counts[4:],
        sys_len=code_length,
        ref_len=reference_length,
        smooth_method="exp",
        effective_order=effective_order,
    )
    return min(1.0, float(result.score) / 100)  # rounding can leave equal texts a hair above 100
