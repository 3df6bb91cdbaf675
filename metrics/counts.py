"""The counts that variants of BLEU are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain

from metrics.tokenizers import ngrams

ORDER = 4
"""The longest n-grams counted."""

Ngram = tuple[str, ...]


def all_ngrams(tokens: Sequence[str]) -> Counter[Ngram]:
    """How often each 1- to 4-gram occurs."""
    return Counter(chain.from_iterable(ngrams(tokens, order) for order in range(1, ORDER + 1)))


def clipped_counts(
    code: Sequence[str], references: Sequence[Sequence[str]], *, ignored: Collection[Ngram] = frozenset()
) -> list[int]:
    """Eight numbers: the matching 1- to 4-grams and the 1- to 4-grams of the code, without the ignored ones.

    An n-gram matches at most as often as the reference that has it most often has it.
    """
    known: Counter[Ngram] = Counter()
    for reference in references:
        known |= all_ngrams(reference)
    matching, possible = [0] * ORDER, [0] * ORDER
    for ngram, count in all_ngrams(code).items():
        if ngram not in ignored:
            possible[len(ngram) - 1] += count
            matching[len(ngram) - 1] += min(count, known[ngram])
    return matching + possible
