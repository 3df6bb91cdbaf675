"""METEOR, its stemmer and its synonyms against NLTK's numbers, stored and, where NLTK is installed, fresh."""

from __future__ import annotations

import doctest
import gzip
import hashlib
import json
import random
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metrics
from metrics import porter, wordnet
from metrics.data import make_wordnet
from metrics.meteor import alignment, chunks, meteor
from metrics.porter import stem
from metrics.wordnet import synonyms

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden" / "meteor.json").read_text(encoding="ascii")
)
ROOT = Path(__file__).resolve().parents[2]


def test_stems_equal_those_of_nltk() -> None:
    """Golden table of golden/make_meteor.py."""
    assert {word: stem(word) for word in GOLDEN["stems"]} == GOLDEN["stems"]
    assert len(GOLDEN["stems"]) > 150


def test_synonyms_equal_those_of_nltk() -> None:
    """Golden table of golden/make_meteor.py; what has capital letters there equals no token here."""
    for word, expected in GOLDEN["synonyms"].items():
        assert sorted(synonyms(word)) == [name for name in expected if name == name.lower()], word


@pytest.mark.parametrize("name", ["meteor", "meteor-whitespace"])
def test_scores_equal_those_of_nltk(name: str) -> None:
    """Golden table of golden/make_meteor.py: code, prose, other languages, stray characters."""
    rows = [row[1:] for row in GOLDEN["scores"] if row[0] == name]
    metric = metrics.get(name)
    for code, reference, expected in rows:
        assert metric.segment(code, [reference]) == pytest.approx(expected, abs=1e-15), (code, reference)
    assert len({expected for _, _, expected in rows}) > 40


def test_stems_equal_those_of_the_installed_nltk() -> None:
    """30,000 words of WordNet and made-up ones (seed 1) with the endings that the rules look at."""
    nltk = pytest.importorskip("nltk.stem.porter", reason="NLTK is not installed")
    stemmer = nltk.PorterStemmer()
    rng = random.Random(1)
    known = sorted({word.lower() for word in re.findall(r"[^\s%!]+", dictionary())})
    words = rng.sample(known, 15_000)
    endings = [ending for rules in (porter._STEP_2, porter._STEP_3, porter._STEP_4) for ending, _ in rules]
    endings += ["y", "s", "es", "ies", "ed", "ied", "eed", "ing", "logi", "ll", "e", ""]
    for _ in range(15_000):
        start = "".join(rng.choices("aeiouylstbcdé1", k=rng.randrange(6)))
        words.append(start + rng.choice(endings) + rng.choice(endings))
    assert [word for word in words if stem(word) != stemmer.stem(word)] == []


def dictionary() -> str:
    return gzip.decompress(make_wordnet.FILE.read_bytes()).decode("ascii")


def test_the_dictionary_is_the_one_its_script_names() -> None:
    content = make_wordnet.FILE.read_bytes()
    assert hashlib.sha256(content).hexdigest() == make_wordnet.SHA256
    assert len(content) < 1_000_000


def test_the_licence_of_wordnet_lies_beside_the_dictionary() -> None:
    text = make_wordnet.LICENCE.read_text(encoding="ascii")
    assert text.startswith("This software and database is being provided to you, the LICENSEE, by\nPrinceton")
    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in text
    assert text.endswith("LICENSEE agrees to preserve same.\n")


def test_every_data_file_is_installed_with_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["metrics.data"]
    for path in (ROOT / "metrics" / "data").iterdir():
        if path.is_file() and path.suffix != ".py":
            assert any(fnmatch(path.name, pattern) for pattern in patterns), path.name


HEADER = "  1 This is the licence.  \n"
NOUNS = """00000001 03 n 03 ox 0 Ox 0 wild_ox 0 000 | an animal; "two oxen"
00000002 03 n 01 ox 0 000 | the same word alone, which the first set holds
00000003 03 n 01 cow 0 000 | alone
00000004 03 n 0b a 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 i 0 j 0 k 0 000 | eleven, counted in hexadecimal
00000005 03 n 02 Bos 0 genus_Bos 0 000 | nothing that a token equals
"""


def test_the_script_packs_the_dictionary_the_same_way_each_time(tmp_path: Path) -> None:
    for suffix in make_wordnet.SECTIONS.values():
        (tmp_path / f"data.{suffix}").write_text(HEADER, encoding="ascii")
        (tmp_path / f"{suffix}.exc").write_text("", encoding="ascii")
    (tmp_path / "data.noun").write_text(HEADER + NOUNS, encoding="ascii")
    (tmp_path / "data.adj").write_text("00000001 00 s 02 big(p) 0 large 0 000 | x\n", encoding="ascii")
    (tmp_path / "noun.exc").write_text("oxen cow \noxen ox \nkine cow \n", encoding="ascii")
    packed = make_wordnet.packed(tmp_path)
    assert packed == make_wordnet.packed(tmp_path)
    lines = ["%noun", "!kine cow", "!oxen ox", "Ox ox wild_ox", "a b c d e f g h i j k", "cow", "%verb"]
    expected = [*lines, "%adjective", "big large", "%adverb"]
    assert gzip.decompress(packed).decode("ascii").splitlines() == expected
    assert make_wordnet.licence(tmp_path) == "This is the licence.\n"


@pytest.mark.parametrize(
    ("code", "reference", "pairs", "why"),
    [
        ("a b a", "a a b", [(0, 0), (1, 2), (2, 1)], "from the right, each the rightmost free one"),
        ("a a", "a", [(1, 0)], "the last of the code takes the only one"),
        ("runs run", "run running", [(0, 1), (1, 0)], "equal words first, then stems"),
        ("car", "automobile", [], "the stem of automobile, automobil, is in no dictionary"),
        ("big", "large", [], "nor is larg"),
        ("big", "bad", [(0, 0)], "a synonym whose stem is itself"),
        ("one", "1 single i", [(0, 2)], "of several synonyms the rightmost"),
        ("x y", "z", [], "nothing fits"),
    ],
)
def test_words_are_paired_in_three_stages(
    code: str, reference: str, pairs: list[tuple[int, int]], why: str
) -> None:
    assert alignment(code.split(), reference.split()) == pairs, why


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(0, 0)], 1),
        ([(0, 3), (1, 4), (2, 5)], 1),
        ([(0, 0), (2, 1)], 2),
        ([(0, 1), (1, 0)], 2),
        ([(0, 0), (1, 1), (3, 2), (4, 3), (5, 9)], 3),
    ],
)
def test_chunks_are_consecutive_in_both_texts(pairs: list[tuple[int, int]], expected: int) -> None:
    assert chunks(pairs) == expected


# By hand: m pairs in c chunks, P = m / code, R = m / reference
HAND = [
    ("foo", "foo", 0.5),
    ("a b", "a b", 1 - 0.5 / 8),
    ("a b c d", "c d a b", 1 - 0.5 * (2 / 4) ** 3),
    ("a b", "a b c d", (1 - 0.5 * (1 / 2) ** 3) * 0.5 / (0.9 + 0.1 * 0.5)),
    ("a b c d", "a b", (1 - 0.5 * (1 / 2) ** 3) * 0.5 / (0.9 * 0.5 + 0.1)),
    ("A B", "a b", 1 - 0.5 / 8),
    ("x", "y", 0.0),
]


@pytest.mark.parametrize(("code", "reference", "expected"), HAND)
def test_scores_are_as_worked_out(code: str, reference: str, expected: float) -> None:
    for name in ("meteor", "meteor-whitespace"):
        assert metrics.get(name).segment(code, [reference]) == pytest.approx(expected, abs=1e-12)


def test_the_preset_differs_by_its_tokens_alone() -> None:
    plain, preset = metrics.get("meteor"), metrics.get("meteor-whitespace")
    assert preset.signature == plain.signature.replace("meteor|", "meteor-whitespace|").replace(
        "tranx", "whitespace"
    )
    assert plain.segment("f(a)", ["f(b)"]) > 0 == preset.segment("f(a)", ["f(b)"])


few_words = ["a", "b", "run", "runs", "running", "cars", "big", "bad", "ox", "oxen", "(", "é", "\ud800"]
words = st.lists(st.sampled_from(few_words), max_size=12)


@settings(max_examples=300, deadline=None)
@given(code=words, reference=words)
def test_pairs_are_one_to_one_and_scores_in_range(code: list[str], reference: list[str]) -> None:
    pairs = alignment(code, reference)
    assert len({left for left, _ in pairs}) == len({right for _, right in pairs}) == len(pairs)
    shared = sum(min(code.count(word), reference.count(word)) for word in set(code))
    assert shared <= len(pairs) <= min(len(code), len(reference))
    assert 0 <= meteor(code, reference) <= 1


@settings(max_examples=300, deadline=None)
@given(word=st.text(max_size=70) | st.text(alphabet="aeyslingtodb", max_size=12))
def test_any_text_has_a_stem_and_synonyms(word: str) -> None:
    assert len(stem(word)) <= len(word) + 1
    assert word in synonyms(word)


def test_words_of_any_length_are_scored() -> None:
    long = "yes" * 35_000 + "ing"
    assert stem(long) == long[:-3]
    assert synonyms(long) == {long}
    assert metrics.get("meteor").segment(long, [long[:-3] + "ed"]) == 0.5


@pytest.mark.parametrize("module", [porter, wordnet], ids=lambda module: module.__name__)
def test_examples_in_docstrings_hold(module: Any) -> None:
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 0) == (0, True)
