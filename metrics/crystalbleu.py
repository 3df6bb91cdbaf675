"""CrystalBLEU: BLEU without the n-grams that any two pieces of code share."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import sacrebleu
from sacrebleu.metrics.bleu import BLEU

from metrics.base import Metric, Statistics
from metrics.counts import ORDER, Ngram, all_ngrams, clipped_counts
from metrics.tokenizers import TOKENIZERS

K = 500
"""How many n-grams the paper ignores."""

_FILE = Path(__file__).parent / "data" / "trivial_ngrams.txt"


def most_frequent(texts: Iterable[str], k: int = K, *, tokenizer: str = "tranx") -> list[Ngram]:
    """The k most frequent n-grams of a corpus, 1- to 4-grams together; equally frequent ones in alphabetical order.

    Raises ValueError for a negative k or an unknown tokenizer.
    """
    if k < 0:
        raise ValueError(f"k is {k}; give the number of n-grams to ignore, 0 or more.")
    if tokenizer not in TOKENIZERS:
        raise ValueError(f"There is no tokenizer {tokenizer!r}; the known ones are {', '.join(TOKENIZERS)}.")
    counts: Counter[Ngram] = Counter()
    for text in texts:
        counts.update(all_ngrams(TOKENIZERS[tokenizer](text)))
    return sorted(counts, key=lambda ngram: (-counts[ngram], ngram))[:k]


def trivially_shared(texts: Iterable[str], k: int = K) -> frozenset[Ngram]:
    """The n-grams that CrystalBleu is to ignore, from a corpus of code of the kind to be scored.

    Eghbali & Pradel 2022, doi:10.1145/3551349.3556903, section 3. Raises ValueError for a negative k.

    >>> sorted(trivially_shared(["f(x)", "f(y)"], k=4))
    [('(',), (')',), ('f',), ('f', '(')]
    """
    return frozenset(most_frequent(texts, k))


@cache
def default_ngrams() -> frozenset[Ngram]:
    """Those of Python's own library, as metrics/data/make_trivial_ngrams.py lists them."""
    return frozenset(tuple(line.split(" ")) for line in _FILE.read_text(encoding="utf-8").splitlines())


def fingerprint(ngrams: Collection[Ngram]) -> str:
    """Eight hexadecimal digits that tell one set of n-grams from another, whatever their order."""
    lines = sorted(" ".join(ngram) for ngram in ngrams)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:8]


class CrystalBleu(Metric):
    """BLEU of 1- to 4-grams that leaves out the most frequent n-grams of a corpus; smoothed as `bleu` is.

    Without an argument the 500 most frequent ones of Python's library are left out; for other languages give your
    own, made by `trivially_shared`. An order of which the code has no n-grams left does not enter the mean, in a
    segment as in a corpus. The lengths are those of the whole texts. 0 where no n-gram that counts matches: also
    for equal texts that hold nothing else than frequent n-grams, and for empty texts. The authors' own code does
    not smooth: it gives 0 where an order has no match; elsewhere both agree. Statistics: [code length, closest
    reference length, matching 1- to 4-grams, 1- to 4-grams of the code].
    """

    name = "crystalbleu"
    version = "1"
    tokenizer = "tranx"
    parameters = {
        "order": "4",
        "smooth": "exp",
        "effective-order": "yes",
        "references": "all",
        "ignored": "500",
        "corpus": "python-3.11.7-lib",
        "ngrams": "f79b809f",
        "sacrebleu": sacrebleu.__version__,
    }
    needs = frozenset({"references"})
    paper = "Eghbali & Pradel 2022, doi:10.1145/3551349.3556903"
    range = (0.0, 1.0)
    symmetric = False
    identity = False
    order_invariant = True
    repeat_invariant = True
    both_empty = 0.0

    def __init__(self, ignored: Collection[Ngram] | None = None) -> None:
        self.ignored = default_ngrams() if ignored is None else frozenset(ignored)

    @property
    def signature(self) -> str:
        """As every metric's; it tells n-grams of one's own by their number and fingerprint."""
        if self.ignored == default_ngrams():
            return super().signature
        own = {"ignored": str(len(self.ignored)), "corpus": "own", "ngrams": fingerprint(self.ignored)}
        settings = {"version": self.version, "tokenizer": self.tokenizer, **self.parameters, **own}
        return "|".join([self.name, *(f"{key}:{value}" for key, value in settings.items())])

    def statistics(self, code: str, references: Sequence[str]) -> Statistics:
        self.check(code, references)
        cut = TOKENIZERS[self.tokenizer]
        left, right = cut(code), [cut(text) for text in references]
        closest = min((abs(len(tokens) - len(left)), len(tokens)) for tokens in right)[1]
        return np.array([len(left), closest, *clipped_counts(left, right, ignored=self.ignored)], dtype=float)

    def score(self, statistics: Statistics) -> float:
        code_length, reference_length, *counts = (int(number) for number in statistics)
        orders = [pair for pair in zip(counts[:ORDER], counts[ORDER:], strict=True) if pair[1]]
        if not orders:
            return 0.0
        matching, possible = (list(column) for column in zip(*orders, strict=True))
        result = BLEU.compute_bleu(
            matching,
            possible,
            code_length,
            reference_length,
            smooth_method="exp",
            max_ngram_order=len(orders),
        )
        return min(1.0, float(result.score) / 100)  # rounding can leave equal texts a hair above 100
