"""Synonyms of English words from WordNet 3.0, read from the file that metrics/data/make_wordnet.py makes."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

VERSION = "3.0"
_FILE = Path(__file__).parent / "data" / "wordnet.txt.gz"
_LONGEST = 100
"""No word of WordNet is longer."""

_ENDINGS = {
    "noun": (
        *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z")),
        *(("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    ),
    "verb": (
        *(("s", ""), ("ies", "y"), ("es", "e"), ("es", "")),
        *(("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    ),
    "adjective": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adverb": (),
}
"""For each part of speech the endings that a base form loses and gets: the rules of WordNet's morphy(7WN)."""


class _Section:
    """The words of one part of speech."""

    def __init__(self, endings: tuple[tuple[str, str], ...]) -> None:
        self.endings = endings
        self.irregular: dict[str, list[str]] = {}
        self.sets: dict[str, list[str]] = {}
        """Word in small letters -> the lines of its synonym sets."""

    def base_forms(self, word: str) -> Iterator[str]:
        """The word and what it may be a form of; a listed irregular form follows no rule."""
        yield word
        if word in self.irregular:
            yield from self.irregular[word]
        else:
            for old, new in self.endings:
                if word.endswith(old):
                    yield word[: -len(old)] + new


@cache
def _sections() -> list[_Section]:
    sections = []
    with gzip.open(_FILE, "rt", encoding="ascii") as file:
        for line in file.read().splitlines():
            if line.startswith("%"):
                section = _Section(_ENDINGS[line[1:]])
                sections.append(section)
            elif line.startswith("!"):
                form, *bases = line[1:].split()
                section.irregular[form] = bases
            else:
                for word in line.lower().split():
                    section.sets.setdefault(word, []).append(line)
    return sections


def synonyms(word: str) -> frozenset[str]:
    """The synonyms of a word in small letters, of all its meanings in all parts of speech, and the word itself.

    As METEOR in NLTK takes them (Miller 1995, doi:10.1145/219717.219748): lemmas of several words are left out,
    and so are those with a capital letter, which no word in small letters equals. Any text is allowed.

    >>> sorted(synonyms("sizes"))
    ['size', 'sizes', 'sizing']
    """
    return _cached(word) if len(word) <= _LONGEST else frozenset({word})


@lru_cache(maxsize=1 << 16)
def _cached(word: str) -> frozenset[str]:
    found: set[str] = set()
    for section in _sections():
        for form in section.base_forms(word):
            for line in section.sets.get(form, ()):
                found.update(line.split())
    return frozenset({word}).union(name for name in found if "_" not in name and name == name.lower())
