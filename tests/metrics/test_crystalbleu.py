"""CrystalBLEU against the authors' package, numbers worked by hand, and BLEU where nothing is ignored."""

from __future__ import annotations

import doctest
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metrics
from metrics import crystalbleu
from metrics.crystalbleu import CrystalBleu, default_ngrams, fingerprint, most_frequent, trivially_shared
from metrics.data import make_trivial_ngrams

GOLDEN: list[tuple[str, list[str], float]] = json.loads(
    (Path(__file__).parent / "golden" / "crystalbleu.json").read_text(encoding="ascii")
)
AB = {("a",), ("b",), ("a", "b")}


def test_scores_equal_those_of_the_authors() -> None:
    """Golden table of golden/make_crystalbleu.py."""
    metric = metrics.get("crystalbleu")
    for code, references, expected in GOLDEN:
        assert metric.segment(code, references) == pytest.approx(expected, abs=1e-12), code
    assert len({expected for _, _, expected in GOLDEN}) > 25


# ignored n-grams, code, references, score, where the number comes from
TABLE = [
    (AB, "a b c d", ["a b c d"], 1.0, "equal"),
    (AB, "a b", ["a b"], 0.0, "nothing but ignored n-grams"),
    (AB, "a b c", ["a b d"], 0.0, "what matches is ignored"),
    (
        AB,
        "a b c d e",
        ["a b c d x"],
        (2 / 3 * 2 / 3 * 2 / 3 * 1 / 2) ** 0.25,
        "cde, bc cd de, abc bcd cde, two",
    ),
    (AB, "a c", ["a c e"], np.exp(1 - 3 / 2), "c and a c match; the lengths are those of the whole texts"),
    ({("x",), ("y",)}, "x y", ["x y"], 1.0, "no word is left, but the pair"),
    (
        AB,
        "a b c d",
        ["a b c x"],
        (1 / 2 * 1 / 2 * 1 / 2 * 1 / 2) ** 0.25,
        "c, b c, a b c; smoothed, 1 / (2 * 1)",
    ),
    (AB, "a c d", ["a c e", "c d"], 0.5 ** (1 / 3), "all but the 3-gram, over both; 1 / (2 * 1)"),
    (set(), "a b", ["a b c d"], np.exp(1 - 4 / 2), "as BLEU"),
]


@pytest.mark.parametrize(("ignored", "code", "references", "expected", "source"), TABLE)
def test_scores_are_as_worked_out_by_hand(
    ignored: set[tuple[str, ...]], code: str, references: list[str], expected: float, source: str
) -> None:
    assert CrystalBleu(ignored).segment(code, references) == pytest.approx(expected, abs=1e-12), source


few_words = st.lists(st.sampled_from(["a", "b", "c", "("]), max_size=12).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(code=few_words, references=st.lists(few_words, min_size=1, max_size=3))
def test_with_nothing_ignored_it_is_bleu(code: str, references: list[str]) -> None:
    score = CrystalBleu(()).segment(code, references)
    assert score == pytest.approx(metrics.get("bleu").segment(code, references), abs=1e-12)
    assert (
        CrystalBleu(()).statistics(code, references).tolist()
        == metrics.get("bleu").statistics(code, references).tolist()
    )


def test_the_most_frequent_ngrams_are_counted_over_all_orders() -> None:
    """By hand: f and ( four times, the pair of them too; x and ) three times; ties by name."""
    texts = ["f(x)", "f(y)", "f(x)", "f(x"]
    assert most_frequent(texts, 5) == [("(",), ("f",), ("f", "("), ("(", "x"), (")",)]
    assert trivially_shared(texts, 2) == {("(",), ("f",)}
    assert trivially_shared([], 2) == trivially_shared(texts, 0) == frozenset()
    assert most_frequent(["f(x)"], 1, tokenizer="whitespace") == [("f(x)",)]
    with pytest.raises(ValueError, match="k is -1; give the number of n-grams"):
        trivially_shared(texts, -1)
    with pytest.raises(ValueError, match="no tokenizer 'words'; the known ones are tranx, whitespace"):
        most_frequent(texts, 1, tokenizer="words")


def test_trivially_shared_ngrams_of_a_corpus_lower_the_score_of_unlike_code() -> None:
    corpus = [f"public int get{name}() {{ return this.{name.lower()}; }}" for name in ("A", "B", "C", "D")]
    pair = "public int getE() { return this.e; }", ["public int getF() { return this.f; }"]
    own = CrystalBleu(trivially_shared(corpus, 100))
    assert own.segment(*pair) < 0.2 < metrics.get("bleu").segment(*pair)


def test_the_list_is_the_one_its_script_and_the_signature_name() -> None:
    content = make_trivial_ngrams.FILE.read_bytes()
    assert hashlib.sha256(content).hexdigest() == make_trivial_ngrams.SHA256
    assert len(default_ngrams()) == crystalbleu.K == int(CrystalBleu.parameters["ignored"])
    assert fingerprint(default_ngrams()) == CrystalBleu.parameters["ngrams"]
    assert {len(ngram) for ngram in default_ngrams()} == {1, 2, 3, 4}
    assert {("(",), ("self", "."), (")", ":"), ("return",)} <= default_ngrams()


def test_the_script_reads_code_without_tests_comments_and_docstrings(tmp_path: Path) -> None:
    for name in ("b.py", "a.py", "test/c.py", "package/tests/d.py", "encodings/e.py", "f.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    assert [path.name for path in make_trivial_ngrams.library(tmp_path)] == ["a.py", "b.py"]
    module = tmp_path / "a.py"
    module.write_text(
        '"""Doc."""\n# note\ndef f():\n    "Doc."\n    return "text"  # note\n', encoding="utf-8"
    )
    assert make_trivial_ngrams.code(module).split() == ["def", "f():", "return", "'text'"]
    module.write_text("print 1\n", encoding="utf-8")
    assert make_trivial_ngrams.code(module) == ""


def test_a_list_of_ones_own_stands_in_the_signature() -> None:
    default, own = metrics.get("crystalbleu"), CrystalBleu(AB)
    assert f"|ignored:3|corpus:own|ngrams:{fingerprint(AB)}|" in own.signature
    assert own.signature != CrystalBleu({("a",)}).signature != default.signature
    assert CrystalBleu(sorted(AB)).signature == own.signature
    assert CrystalBleu(list(default_ngrams())).signature == default.signature
    assert [part.split(":")[0] for part in own.signature.split("|")] == [
        part.split(":")[0] for part in default.signature.split("|")
    ]


def test_surrogates_have_a_fingerprint() -> None:
    assert len(fingerprint({("\udcff",)})) == 8


def test_a_corpus_leaves_out_the_orders_that_no_code_has() -> None:
    metric = CrystalBleu(())
    assert metric.corpus(["a b", "a"], [["a b"], ["a"]]) == 1.0
    assert metric.score(metric.statistics("a b", ["a b"])) == metric.segment("a b", ["a b"]) == 1.0


def test_examples_in_docstrings_hold() -> None:
    result = doctest.testmod(crystalbleu)
    assert (result.failed, result.attempted > 0) == (0, True)
