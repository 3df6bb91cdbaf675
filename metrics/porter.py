"""Porter's stemmer, with the changes that NLTK makes to it by default."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

_IRREGULAR = {
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
}
_KEPT = frozenset({"sky", "news", "inning", "outing", "canning", "howe", "proceed", "exceed", "succeed"})

Rules = tuple[tuple[str, str], ...]
"""Pairs of an ending and what replaces it; the first ending that fits decides, whether it is replaced or not."""

_STEP_1A: Rules = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_STEP_1B: Rules = (("at", "ate"), ("bl", "ble"), ("iz", "ize"))
_STEP_2: Rules = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
_STEP_3: Rules = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4: Rules = tuple(
    (ending, "")
    for ending in (
        *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou"),
        *("ism", "ate", "iti", "ous", "ive", "ize"),
    )
)

_LONGEST_CACHED = 60


def stem(word: str) -> str:
    """The stem of a word in small letters.

    Porter 1980, "An algorithm for suffix stripping", doi:10.1108/eb046814, as NLTK's PorterStemmer computes it
    (its mode NLTK_EXTENSIONS): a list of irregular words, words of up to two letters left as they are, and
    changes to steps 1a, 1b, 1c and 2 and to what counts as a short syllable. Any text is allowed.

    >>> [stem(word) for word in ("conditional", "flies", "dies", "enjoy", "hopping")]
    ['condit', 'fli', 'die', 'enjoy', 'hop']
    """
    return _cached(word) if len(word) <= _LONGEST_CACHED else _stem(word)


def _stem(word: str) -> str:
    if len(word) <= 2 or word in _KEPT:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _step_2(word)
    word = _replaced(word, _STEP_3, lambda stem: _measure(stem) > 0)
    return _step_5(_step_4(word))


_cached = lru_cache(maxsize=1 << 16)(_stem)


def _shape(word: str) -> str:
    """The word with each vowel as v and all else as c; y is a vowel after a consonant."""
    shape = []
    last = "v"
    for letter in word:
        last = "v" if letter in "aeiou" or (letter == "y" and last == "c") else "c"
        shape.append(last)
    return "".join(shape)


def _measure(stem: str) -> int:
    """How often a vowel is followed by a consonant."""
    return _shape(stem).count("vc")


def _ends_double(stem: str) -> bool:
    """Whether the stem ends in a doubled consonant."""
    return len(stem) >= 2 and stem[-1] == stem[-2] and _shape(stem)[-1] == "c"


def _ends_short(stem: str) -> bool:
    """Whether the stem ends in a short syllable, as in `hop`, or is one, as `at`."""
    shape = _shape(stem)
    return (shape[-3:] == "cvc" and stem[-1] not in "wxy") or shape == "vc"


def _replaced(word: str, rules: Rules, allowed: Callable[[str], bool]) -> str:
    for ending, replacement in rules:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return stem + replacement if allowed(stem) else word
    return word


def _step_1a(word: str) -> str:
    if len(word) == 4 and word.endswith("ies"):
        return word[:-1]
    return _replaced(word, _STEP_1A, lambda stem: True)


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word and "v" in _shape(stem):
            return _restored(stem)
    return word


def _restored(stem: str) -> str:
    """The stem that `ed` or `ing` left, with its e back or its doubled consonant undone."""
    if stem.endswith(tuple(ending for ending, _ in _STEP_1B)):
        return _replaced(stem, _STEP_1B, lambda _: True)
    if _ends_double(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _step_1c(word: str) -> str:
    stem = word.removesuffix("y")
    return stem + "i" if stem != word and len(stem) > 1 and _shape(stem)[-1] == "c" else word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        word = word[:-2]
    if word.endswith("logi"):  # the l counts with the stem, so that `geology` and `archaeology` go alike
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _STEP_2, lambda stem: _measure(stem) > 0)


def _step_4(word: str) -> str:
    def allowed(stem: str) -> bool:
        return _measure(stem) > 1 and (stem[-1] in "st" or not word.endswith("ion"))

    return _replaced(word, _STEP_4, allowed)


def _step_5(word: str) -> str:
    stem = word.removesuffix("e")
    if stem != word:
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _ends_short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
