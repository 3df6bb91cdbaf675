"""CodeBLEU: n-grams, keywords, syntax and flow of data of Python."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from importlib.metadata import version
from typing import ClassVar, NamedTuple

from metrics.base import PairMetric
from metrics.codebleu_words import BUILTINS, DICTIONARY, KEYWORDS
from metrics.program_graph import program_graph
from metrics.pytokenize import UnfinishedError, tokenize
from metrics.subtrees import numbering, subtrees
from metrics.tokenizers import tranx

ORDER = 4
KEYWORD_WEIGHT = 5
UNDEFINED = -1.0
"""The score of a component that does not exist for a pair and is left out."""


class Components(NamedTuple):
    """The four scores that CodeBLEU weighs, each from 0 to 1, or -1 where it is undefined and left out."""

    bleu: float
    weighted: float
    syntax: float
    dataflow: float


_Words = Counter[tuple[str, ...]]


class _Tokens(NamedTuple):
    number: int
    ngrams: tuple[_Words, ...]
    """How often each 1-gram, 2-gram, ... is there."""


_COMMON = {
    "order": "4",
    "tree-sitter": version("tree-sitter"),
    "tree-sitter-python": version("tree-sitter-python"),
    "references": "best",
    "corpus": "mean",
}


class CodeBleu(PairMetric):
    """The mean of four components, weighted .1 .1 .4 .4; the ones that are undefined are left out.

    `components` gives them:

    - BLEU of 1- to 4-grams of Python's tokens (see `pytokenize`; the tranX tokens where there are none), not
      smoothed: 0 where an order has no match, so code of fewer than four tokens has 0 even against itself;
    - the recall of the reference's tokens, a keyword counting five times, times BLEU's brevity penalty;
    - the recall of the subtrees of the reference's syntax tree (tree-sitter);
    - the recall of the flow of data: of the NEXT_USE edges of the program graph, the symbols taken in the order of
      their first occurrence. Undefined where the reference does not parse or has no such edge, 0 where only the
      code has none.

    Keywords are those of Python and the attributes of dictionaries: the study whose scores these are asked Python for
    the builtins in a way that gives the latter (kept for agreement; `codebleu-builtins` has the builtins). A text
    without tokens scores 0, also against another one.
    """

    name = "codebleu"
    version = "1"
    tokenizer = "python-3.11"
    weights: ClassVar[tuple[float, float, float, float]] = (0.1, 0.1, 0.4, 0.4)
    keywords: ClassVar[frozenset[str]] = KEYWORDS | DICTIONARY
    parameters = {"weights": "0.1/0.1/0.4/0.4", "keywords": "python+dict", **_COMMON}
    needs = frozenset({"references"})
    paper = "Ren et al. 2020, https://arxiv.org/abs/2009.10297; Evtikhiev et al. 2023, https://arxiv.org/abs/2208.03133"
    range = (0.0, 1.0)
    symmetric = False
    identity = False
    both_empty = 0.0

    def components(self, code: str, reference: str) -> Components:
        """The four scores that the score weighs; raises nothing, whatever the texts."""
        hypothesis, expected = _tokens(code), _tokens(reference)
        if not hypothesis.number or not expected.number:
            return Components(0.0, 0.0, 0.0, UNDEFINED)
        brevity = math.exp(min(0.0, 1 - expected.number / hypothesis.number))
        return Components(
            brevity * _precision(hypothesis, expected),
            brevity * self._weighted_recall(hypothesis.ngrams[0], expected.ngrams[0]),
            _syntax(code, reference),
            _dataflow(code, reference),
        )

    def pair(self, code: str, reference: str) -> float:
        scores = self.components(code, reference)
        defined = [pair for pair in zip(self.weights, scores, strict=True) if pair[1] != UNDEFINED]
        total = math.fsum(weight for weight, _ in defined)
        return min(1.0, math.fsum(weight * score for weight, score in defined) / total)

    def _weighted_recall(self, hypothesis: _Words, expected: _Words) -> float:
        weighted = [
            (KEYWORD_WEIGHT if word in self.keywords else 1, number, hypothesis.get((word,), 0))
            for (word,), number in expected.items()
        ]
        found = sum(weight * min(number, there) for weight, number, there in weighted)
        return found / sum(weight * number for weight, number, _ in weighted)


class CodeBleuCodeScore(CodeBleu):
    """`codebleu` with four equal weights, as in CodeScore (Dong et al. 2025) and the original paper."""

    name = "codebleu-codescore"
    weights = (0.25, 0.25, 0.25, 0.25)
    parameters = {**CodeBleu.parameters, "weights": "0.25/0.25/0.25/0.25"}
    paper = "Ren et al. 2020, https://arxiv.org/abs/2009.10297; Dong et al. 2025, https://arxiv.org/abs/2301.09043"


class CodeBleuBuiltins(CodeBleu):
    """`codebleu` with the names of Python's builtins as keywords, which is what its authors meant."""

    name = "codebleu-builtins"
    keywords = KEYWORDS | BUILTINS
    parameters = {**CodeBleu.parameters, "keywords": "python+builtins"}


@lru_cache(maxsize=4096)
def _tokens(code: str) -> _Tokens:
    try:
        tokens = [text for _, text in tokenize(code)][:-1]
    except (UnfinishedError, IndentationError):
        tokens = tranx(code)
    shifted = [tokens[start:] for start in range(ORDER)]
    # `strict=False`: the shifted lists end one after the other
    counters = [Counter(zip(*shifted[: order + 1], strict=False)) for order in range(ORDER)]
    return _Tokens(len(tokens), tuple(counters))


def _precision(hypothesis: _Tokens, expected: _Tokens) -> float:
    """The geometric mean of the clipped precisions of 1- to 4-grams."""
    logarithms = 0.0
    for order in range(ORDER):
        there = expected.ngrams[order]
        matches = sum(min(number, there.get(ngram, 0)) for ngram, number in hypothesis.ngrams[order].items())
        if not matches:
            return 0.0
        logarithms += math.log(matches / (hypothesis.number - order))
    return math.exp(logarithms / ORDER)


def _syntax(code: str, reference: str) -> float:
    numbers = numbering()
    there, expected = subtrees(code, numbers), subtrees(reference, numbers)
    found = sum(min(number, there.get(subtree, 0)) for subtree, number in expected.items())
    return found / expected.total()


def _dataflow(code: str, reference: str) -> float:
    expected = program_graph(reference)
    if expected is None:
        return UNDEFINED
    graph = program_graph(code)
    if graph is None:
        return 0.0
    total = sum(number for _, number in expected.next_uses)
    if not total:
        return UNDEFINED
    pairs = zip(expected.next_uses, graph.next_uses, strict=False)
    found = sum(min(number, there) for (_, number), (_, there) in pairs)
    return found / total
