"""chrF by sacrebleu, over the raw text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sacrebleu
from sacrebleu.metrics.chrf import CHRF

from metrics.base import Metric, Statistics


class Chrf(Metric):
    """F-score (beta 2) of character n-grams up to six, whitespace left out, best reference.

    Statistics: for n = 1 to 6 the n-grams of the code, of its best reference, and those they share. The text
    is not tokenized, so the two kinds of quotes differ. Without a shared character the score is 0, also for
    empty texts. Where two references are equally good the first one's statistics enter the corpus.
    """

    name = "chrf"
    version = "1"
    tokenizer = "characters"
    parameters = {
        "order": "6",
        "words": "0",
        "beta": "2",
        "whitespace": "no",
        "references": "best",
        "sacrebleu": sacrebleu.__version__,
    }
    needs = frozenset({"references"})
    paper = "Popović 2015, doi:10.18653/v1/W15-3049; Post 2018, doi:10.18653/v1/W18-6319"
    range = (0.0, 1.0)
    symmetric = False
    identity = True
    order_invariant = True
    repeat_invariant = True
    both_empty = 0.0

    def __init__(self) -> None:
        self._chrf = CHRF()

    def statistics(self, code: str, references: Sequence[str]) -> Statistics:
        self.check(code, references)
        # sacrebleu gives its statistics under a private name only; requirements.txt pins the version and
        # the tests compare with its public corpus_score.
        rows = self._chrf._extract_corpus_statistics([code], [[text] for text in references])
        return np.array(rows[0], dtype=float)

    def score(self, statistics: Statistics) -> float:
        result = self._chrf._compute_score_from_stats(statistics.tolist())
        return min(1.0, float(result.score) / 100)
