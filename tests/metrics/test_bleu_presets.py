"""The presets of BLEU against numbers worked by hand and sacrebleu's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

import metrics
from metrics.counts import clipped_counts

FIVE = "a b c d e"

# name, code, references, score, where the number comes from
TABLE = [
    ("bleu-tf", "a b c d x", [FIVE], (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25, "4/5, 3/4, 2/3, 1/2"),
    ("bleu-tf", "a b c d", [FIVE], math.exp(1 - 5 / 4), "all match; brevity"),
    ("bleu-tf", FIVE, [FIVE], 1.0, "equal"),
    ("bleu-tf", "a b c", ["a b c"], 0.0, "no 4-gram"),
    ("bleu-tf", "a b c x e", [FIVE], 0.0, "no 4-gram matches"),
    ("bleu-tf", "a b c d", [FIVE, "a b c d e f", "x y"], 1.0, "the shortest reference has two tokens"),
    ("bleu-tf", "a a a a", ["a a b", "b a a a a"], 1.0, "the best count over the references"),
    ("bleu-tf", "f(a, b) = 1 2", ["f(a, b) = 1 2"], 1.0, "five tokens between whitespace"),
    (
        "bleu-tf-smoothed",
        "a b c d x",
        [FIVE],
        (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25,
        "4/5, 3/4, 2/3, 1/2, each plus one above and below",
    ),
    ("bleu-tf-smoothed", "x", ["y"], 0.5**0.25, "1/2, then 1/1 three times: 0.84"),
    ("bleu-tf-smoothed", "a b", ["a b"], 1.0, "equal"),
    ("bleu-tf-smoothed", "a", ["a b c"], math.exp(1 - 3), "all match; brevity"),
    ("bleu-tf-smoothed", "", ["a"], 0.0, "by definition"),
    ("bleu-tf-smoothed", "a", ["", "a"], 0.0, "by definition: the shortest reference is empty"),
    (
        "bleu-whitespace",
        "f(a) b c d",
        ["f(a) b c e"],
        (3 / 4 * 2 / 3 / 2 / 2) ** 0.25,
        "as bleu; exp 1/(2*1)",
    ),
    ("bleu-whitespace", "f(a)", ["f( a )"], 0.0, "no token is shared"),
]


@pytest.mark.parametrize(("name", "code", "references", "expected", "source"), TABLE)
def test_scores_are_as_worked_out_by_hand(
    name: str, code: str, references: list[str], expected: float, source: str
) -> None:
    assert metrics.get(name).segment(code, references) == pytest.approx(expected, abs=1e-12), source


few_words = st.lists(st.sampled_from(["a", "b", "c"]), max_size=12).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(pairs=st.lists(st.tuples(few_words, few_words), min_size=1, max_size=4))
def test_against_one_reference_tensorflow_equals_sacrebleu_without_smoothing(
    pairs: list[tuple[str, str]],
) -> None:
    codes, references = [code for code, _ in pairs], [reference for _, reference in pairs]
    stock = BLEU(tokenize="none", smooth_method="none", force=True)
    expected = stock.corpus_score(codes, [references]).score / 100
    score = metrics.get("bleu-tf").corpus(codes, [[reference] for reference in references])
    assert score == pytest.approx(expected, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(code=few_words, references=st.lists(few_words, min_size=1, max_size=3))
def test_counts_equal_those_of_sacrebleu(code: str, references: list[str]) -> None:
    expected = BLEU(tokenize="none", effective_order=True).sentence_score(code, references)
    counts = clipped_counts(code.split(), [text.split() for text in references])
    assert counts == [*expected.counts, *expected.totals]


def test_a_segment_of_tensorflow_is_a_corpus_of_one() -> None:
    for name in ("bleu-tf", "bleu-tf-smoothed"):
        metric = metrics.get(name)
        assert metric.corpus(["a b c d x"], [[FIVE]]) == metric.segment("a b c d x", [FIVE])
        assert metric.statistics("a b c d x", [FIVE, "a b c"]).tolist() == [5, 3, 4, 3, 2, 1, 5, 4, 3, 2]


def test_smoothing_works_on_the_summed_counts() -> None:
    """By hand: 4 of 5, 3 of 4, 2 of 3, 1 of 2, and 1 of 1: five of six tokens, one added."""
    metric = metrics.get("bleu-tf-smoothed")
    score = metric.corpus(["a b c d x", "y"], [[FIVE], ["y"]])
    assert score == pytest.approx(np.prod([6 / 7, 4 / 5, 3 / 4, 2 / 3]) ** 0.25, abs=1e-12)


def test_a_preset_is_told_from_bleu_by_its_tokens_alone() -> None:
    expected = metrics.get("bleu").signature.replace("bleu|", "bleu-whitespace|", 1)
    assert metrics.get("bleu-whitespace").signature == expected.replace("tranx", "whitespace")
