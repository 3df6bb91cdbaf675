"""METEOR over tranX tokens or over what whitespace separates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from metrics.base import PairMetric
from metrics.porter import stem
from metrics.tokenizers import TOKENIZERS
from metrics.wordnet import VERSION, synonyms

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5

Words = list[tuple[int, str]]
"""Words with their places, in order."""


def alignment(code: Sequence[str], reference: Sequence[str]) -> list[tuple[int, int]]:
    """The places (in the code, in the reference) of the words that METEOR pairs, sorted.

    Equal words first, then words of equal stem, then those whose stems are synonyms. Each stage goes through the
    free words of the code from right to left and gives each the rightmost word of the reference that fits. That
    is NLTK's order of things; the paper asks for the fewest crossings among all alignments.
    """
    pairs: dict[int, int] = {}
    left, right = list(enumerate(code)), list(enumerate(reference))
    _pair_equal(left, right, pairs)
    left, right = _free_stems(left, pairs.keys()), _free_stems(right, pairs.values())
    if left and right:
        _pair_equal(left, right, pairs)
        _pair_synonyms(left, right, pairs)
    return sorted(pairs.items())


def _free_stems(words: Words, taken: Iterable[int]) -> Words:
    """The stems of the words that are not paired yet."""
    places = set(taken)
    return [(place, stem(word)) for place, word in words if place not in places]


def _places(words: Words) -> dict[str, list[int]]:
    """Word -> its places, the rightmost last."""
    places: dict[str, list[int]] = {}
    for place, word in words:
        places.setdefault(word, []).append(place)
    return places


def _pair_equal(left: Words, right: Words, pairs: dict[int, int]) -> None:
    places = _places(right)
    for place, word in reversed(left):
        free = places.get(word)
        if free:
            pairs[place] = free.pop()


def _pair_synonyms(left: Words, right: Words, pairs: dict[int, int]) -> None:
    taken = set(pairs.values())
    places = _places([(place, word) for place, word in right if place not in taken])
    for place, word in reversed(left):
        if place not in pairs:
            fitting = [free for name in synonyms(word) if (free := places.get(name))]
            if fitting:
                pairs[place] = max(fitting, key=lambda free: free[-1]).pop()


def chunks(pairs: Sequence[tuple[int, int]]) -> int:
    """How many runs the pairs make that are consecutive in both texts; pairs sorted, at least one."""
    steps = pairwise(pairs)
    return 1 + sum(later != (place + 1, other + 1) for (place, other), later in steps)


def meteor(code: Sequence[str], reference: Sequence[str]) -> float:
    """METEOR of two lists of words in small letters, from 0 to 1; 0 where no words pair.

    With m pairs, P = m / words of the code and R = m / words of the reference: PR / (0.9 P + 0.1 R), times
    1 - 0.5 (chunks / m)^3.
    """
    pairs = alignment(code, reference)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(code), len(pairs) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    return float((1 - GAMMA * (chunks(pairs) / len(pairs)) ** BETA) * mean)


class Meteor(PairMetric):
    """F-mean of paired words with a penalty for pairs in another order; words pair by stem and synonym too.

    The version of NLTK (2007 weights, Porter's stemmer, WordNet 3.0). Capital letters do not count. Equal texts
    of m words score 1 - 0.5 / m^3, so a single word scores 0.5. 0 where no words pair, also for empty texts.
    """

    name = "meteor"
    version = "1"
    tokenizer = "tranx"
    parameters = {
        "alpha": f"{ALPHA:g}",
        "beta": f"{BETA:g}",
        "gamma": f"{GAMMA:g}",
        "stages": "exact+porter+wordnet",
        "wordnet": VERSION,
        "references": "best",
        "corpus": "mean",
    }
    needs = frozenset({"references"})
    paper = "Banerjee & Lavie 2005, https://aclanthology.org/W05-0909; Lavie & Agarwal 2007, aclanthology.org/W07-0734"
    range = (0.0, 1.0)
    symmetric = False
    identity = False
    both_empty = 0.0

    def pair(self, code: str, reference: str) -> float:
        cut = TOKENIZERS[self.tokenizer]
        return meteor([token.lower() for token in cut(code)], [token.lower() for token in cut(reference)])


class MeteorWhitespace(Meteor):
    """METEOR with words as whitespace separates them, which the baselines of MATCH fit."""

    name = "meteor-whitespace"
    tokenizer = "whitespace"
