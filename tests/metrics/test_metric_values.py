"""Each metric against numbers that come from somewhere else."""

from __future__ import annotations

import doctest
import re
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

import metrics
from metrics import tokenizers
from metrics.edit_similarity import levenshtein
from metrics.rouge import lcs_length
from metrics.tokenizers import tranx

CODES = ["x = foo('a', b)", "os.path.join(a, b)", "print(x)", "", "a", "sorted(d.items(), key=f)"]
REFERENCES = [
    ["x = foo('a', c)", "foo(a, b)"],
    ["os.path.join(b)", "join(a, b)"],
    ["print x", "print(x)"],
    ["pass", ""],
    ["a", "a"],
    ["sorted(d)", "sorted(d.items())"],
]

# name, code, references, score, where the number comes from
TABLE = [
    (
        "bleu",
        "a b c d",
        ["a b c e"],
        (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** 0.25,
        "by hand: 3/4, 2/3, 1/2, exp 1/(2*1)",
    ),
    (
        "bleu",
        "a b",
        ["a b c d"],
        np.exp(1 - 4 / 2),
        "by hand: 1/1, 1/1 up to the two orders there are; brevity",
    ),
    ("bleu", "f('x')", ['f("x")'], 1.0, "by hand: the tokenizer makes both quotes a backtick"),
    ("bleu", "x", ["y"], 0.0, "by hand: nothing shared"),
    (
        "chrf",
        "ab",
        ["abc"],
        (5 * 1 * (2 / 3 + 1 / 2) / 2) / (4 * 1 + (2 / 3 + 1 / 2) / 2),
        "by hand: P=1, R=7/12",
    ),
    ("chrf", "a b", ["ab"], 1.0, "by hand: whitespace is left out"),
    (
        "chrf",
        "f('x')",
        ['f("x")'],
        (4 / 6 + 1 / 5) / 6,
        "by hand: P=R; four of the six orders share nothing",
    ),
    ("rouge-l", "x = f(a)", ["x = f(b)"], 5 / 6, "by hand: 5 of 6 tokens"),
    (
        "rouge-l",
        "a b c d",
        ["c d a b", "a x b y d"],
        6 / 9,
        "by hand: 2 of 4, but 3 of 4 and 5 in the second",
    ),
    ("edit-similarity", "kitten", ["sitting"], 1 - 3 / 7, "Levenshtein's classic: 3 edits"),
    ("edit-similarity", "abc", ["xyz"], 0.0, "by hand: three replacements"),
    ("edit-similarity", "", [""], 1.0, "by definition"),
    ("exact-match", "x = 1\n", ["y", "x = 1"], 1.0, "by definition: the end is stripped"),
    ("exact-match", " x = 1", ["x = 1"], 0.0, "by definition: the beginning is not"),
    ("exact-match", "x = 1 \ny", ["x = 1\ny"], 0.0, "by definition: nor are the ends of other lines"),
]


@pytest.mark.parametrize(("name", "code", "references", "expected", "source"), TABLE)
def test_scores_are_as_worked_out(
    name: str, code: str, references: list[str], expected: float, source: str
) -> None:
    assert metrics.get(name).segment(code, references) == pytest.approx(expected, abs=1e-12), source


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("os.getEnv('A_b')", "os . get Env ( ` A_b ` )"),
        ("<unk>.png", "< unk > . png"),
        ("aBcDEf x1Y", "a Bc DEf x1Y"),
        ("naïve", "na ï ve"),
        ('"x"\t\n`y`', "` x ` ` y `"),
        ("", ""),
    ],
)
def test_the_tranx_tokenizer_cuts_as_described(text: str, tokens: str) -> None:
    assert tranx(text) == tokens.split()


def plain_lcs(left: str, right: str) -> int:
    row = [0] * (len(right) + 1)
    for one in left:
        previous = row[:]
        for j, other in enumerate(right, 1):
            row[j] = previous[j - 1] + 1 if one == other else max(previous[j], row[j - 1])
    return row[-1]


def plain_levenshtein(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, 1):
        previous, row[0] = row[:], i
        for j, other in enumerate(right, 1):
            row[j] = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (one != other))
    return row[-1]


few_letters = st.text(alphabet="abc\ud800", max_size=90)


@settings(max_examples=300, deadline=None)
@given(left=few_letters, right=few_letters)
def test_the_fast_tables_equal_the_plain_ones(left: str, right: str) -> None:
    assert lcs_length(list(left), list(right)) == plain_lcs(left, right)
    assert levenshtein(left, right) == plain_levenshtein(left, right)


STOCK = {
    "bleu": (BLEU(tokenize="none"), lambda text: " ".join(tranx(text))),
    "chrf": (CHRF(), lambda text: text),
}


@pytest.mark.parametrize("name", STOCK)
def test_corpus_and_resamples_equal_sacrebleu(name: str) -> None:
    """Columns of references, as sacrebleu wants them; 20 resamples drawn with seed 1."""
    metric = metrics.get(name)
    stock, prepare = STOCK[name]
    rows = np.array([metric.statistics(*pair) for pair in zip(CODES, REFERENCES, strict=True)])
    rng = np.random.default_rng(1)
    draws = [np.arange(len(CODES)), *rng.integers(0, len(CODES), size=(20, len(CODES)))]
    scores = set()
    for draw in draws:
        columns = [[prepare(REFERENCES[i][place]) for i in draw] for place in (0, 1)]
        expected = stock.corpus_score([prepare(CODES[i]) for i in draw], columns).score / 100
        score = metric.score(rows[draw].sum(axis=0))
        assert score == pytest.approx(expected, abs=1e-12)
        scores.add(score)
    assert len(scores) > 10


def test_bleu_of_a_segment_and_of_a_corpus_of_it_differ() -> None:
    bleu = metrics.get("bleu")
    statistics = bleu.statistics("a b", ["a b"])
    assert (bleu.segment_score(statistics), bleu.score(statistics)) == (1.0, 0.0)
    expected = BLEU(tokenize="none").corpus_score(["a b"], [["a b"]]).score
    assert bleu.corpus(["a b"], [["a b"]]) == expected == 0


def test_bleu_statistics_are_lengths_and_counts() -> None:
    statistics = metrics.get("bleu").statistics("a b c d", ["a b x", "a b c d e"])
    assert statistics.tolist() == [4, 3, 4, 3, 2, 1, 4, 3, 2, 1]


def test_signatures_name_the_installed_sacrebleu() -> None:
    for name in STOCK:
        assert re.search(r"\|sacrebleu:\d+\.\d+", metrics.get(name).signature)


@pytest.mark.parametrize("module", [metrics, tokenizers], ids=lambda module: module.__name__)
def test_examples_in_docstrings_hold(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 0) == (0, True)
