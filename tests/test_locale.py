"""Every sentence that annotators read can be translated, and is, in each language that there is."""

from __future__ import annotations

import ast
import gettext
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from annotator.errors import NotYours
from annotator.grading import access
from scripts.messages import MODULES, TEMPLATES, catalogues, compile_mo, complaints, marked, read_po
from tests.environment import ROOT

CATALOGUES = {path.parent.parent.name: path for path in catalogues()}
PLACEHOLDER = re.compile(r"%\(\w+\)s")
NAMES = {"Codejury", "Enter", "S", "A", "A+"}
"""What stands in the templates and is not translated: a name, and what is written on keys and buttons."""


def files(patterns: tuple[str, ...]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def bare_words(text: str) -> list[str]:
    """Words between tags, and in attributes that are read out, that no tag of Django's marks."""
    text = re.sub(r"{% comment %}.*?{% endcomment %}|<!doctype[^>]*>", "", text, flags=re.S)
    text = re.sub(r"{% blocktranslate.*?{% endblocktranslate %}", "", text, flags=re.S)
    text = re.sub(r"{[%{].*?[%}]}", "", text, flags=re.S)
    read_out = re.findall(r'(?:aria-label|alt|title|placeholder|data-word)="([^"]*)"', text)
    between = re.findall(r">([^<]*)<", re.sub(r"&\w+;", "", text))
    return [
        part.strip()
        for part in read_out + between
        if re.search(r"[A-Za-z]", part) and part.strip() not in NAMES
    ]


def test_bare_words_are_found() -> None:
    planted = '<p title="Read me">{% translate "fine" %}</p><b>Plain</b> {{ study }}'
    assert bare_words(planted) == ["Read me", "Plain"]


@pytest.mark.parametrize("path", files(TEMPLATES), ids=lambda path: path.name)
def test_no_template_has_words_that_cannot_be_translated(path: Path) -> None:
    assert not bare_words(path.read_text())


def unmarked(tree: ast.AST) -> Iterator[int]:
    """Lines that raise an expected failure with a sentence written out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            first = node.exc.args[0]
            if isinstance(first, ast.Constant | ast.JoinedStr):
                yield node.lineno


def test_no_failure_that_annotators_meet_is_told_in_english_alone() -> None:
    assert list(unmarked(ast.parse('raise Conflict("planted")'))) == [1]
    for_researchers = {"importer.py", "admin.py", "verify.py", "items.py"}
    found = [
        f"{path.name}:{line}"
        for path in files(MODULES)
        if path.name not in for_researchers
        for line in unmarked(ast.parse(path.read_text()))
        if "Http404" not in path.read_text().splitlines()[line - 1]
    ]
    assert not found


def test_german_is_there() -> None:
    assert "de" in CATALOGUES
    assert len(marked()) > 100


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_sentence_is_translated_and_none_in_vain(language: str) -> None:
    assert not complaints(read_po(CATALOGUES[language].read_text()))


@pytest.mark.parametrize("language", CATALOGUES)
def test_the_compiled_file_is_that_of_the_text(language: str) -> None:
    """If not: python -m scripts.messages"""
    path = CATALOGUES[language]
    entries = read_po(path.read_text())
    assert path.with_suffix(".mo").read_bytes() == compile_mo(entries)
    with path.with_suffix(".mo").open("rb") as file:
        read = gettext.GNUTranslations(file)
    for entry in entries[1:]:
        if entry.plural:
            told = [read.ngettext(entry.message, entry.plural, number) for number in (1, 2)]
            assert tuple(told) == entry.texts
        else:
            assert read.gettext(entry.message) == entry.texts[0]


@pytest.mark.parametrize("language", CATALOGUES)
def test_translations_keep_the_places_of_what_is_filled_in(language: str) -> None:
    for entry in read_po(CATALOGUES[language].read_text())[1:]:
        wanted = set(PLACEHOLDER.findall(entry.message + entry.plural))
        assert set(PLACEHOLDER.findall(entry.texts[-1])) == wanted, entry.message
        assert "%" not in PLACEHOLDER.sub("", "".join(entry.texts)), entry.message


def test_a_damaged_catalogue_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2 "):
        read_po('msgid "a"\nmsgstr b\n')


@pytest.mark.django_db
def test_sentences_are_told_in_the_language_that_is_on() -> None:
    with translation.override("de"), pytest.raises(NotYours, match="nicht bekannt"):
        access.get_annotator("nobody")
