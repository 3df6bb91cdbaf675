"""How problems and code look: highlighted, escaped, and the same whoever wrote them."""

from __future__ import annotations

import re
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.util import ClassNotFound

from annotator.studies.draws import keyed_hash
from annotator.studies.items import shown_score
from annotator.studies.models import Item, Problem, Study
from annotator.studies.protocols import Protocol

__all__ = [
    "code_html",
    "image_name",
    "intent_html",
    "panels",
    "paragraphs",
    "part_html",
    "question_text",
    "shown_score",
]
INLINE_CODE = re.compile(r"`([^`\n]+)`")
TOO_LONG_TO_HIGHLIGHT = 100_000


FORMATTER = HtmlFormatter(nowrap=True)


@lru_cache(maxsize=32)
def lexer_of(language: str) -> Lexer:
    """Made once: this costs as much as a short snippet's highlighting."""
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False, ensurenl=False)


@lru_cache(maxsize=1024)
def code_html(code: str, language: str) -> SafeString:
    """Highlighted code, one <span class="line"> a line; plain text if the language is unknown."""
    lexer = lexer_of("text" if len(code) > TOO_LONG_TO_HIGHLIGHT else language)
    lines = highlight(code, lexer, FORMATTER).removesuffix("\n").split("\n")
    # Pygments escapes the code and closes its spans at each line's end.
    return mark_safe("".join(f'<span class="line">{line}\n</span>' for line in lines))


def part_html(template: str, **values: Hashable) -> SafeString:
    """A part of a page that is the same for everybody, rendered once for each language."""
    return _part_html(template, get_language(), **values)


@lru_cache(maxsize=256)
def _part_html(template: str, language: str | None, **values: Hashable) -> SafeString:
    return render_to_string(template, values)


def intent_html(text: str) -> SafeString:
    """A problem's text with its `backtick` parts as code and its line breaks kept."""
    escaped = INLINE_CODE.sub(r"<code>\1</code>", str(conditional_escape(text.strip())))
    return mark_safe(escaped.replace("\n", "<br>"))


def paragraphs(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def image_name(study: Study, problem: Problem) -> str:
    """A name for the problem's image that depends on its content and the study's seed alone."""
    kind = problem.image.rpartition(".")[2]
    return f"{keyed_hash(study.seed, 'image', problem.image):016x}.{kind}"


def panels(item: Item, side: str, protocol: Protocol, *, revealed: bool) -> list[dict[str, Any]]:
    """The codes that an item shows, in their order: title, html, and whose it is where that is revealed."""
    own = {"html": code_html(item.shown_code, item.snippet.language), "origin": "ai" if revealed else ""}
    if item.reference is None:
        return [own | {"title": protocol.snippet_heading}]
    reference = item.reference
    other = {"html": code_html(reference.code, reference.language), "origin": "human" if revealed else ""}
    if item.kind == Item.Kind.PAIR:
        pair = [own, other] if side == "A" else [other, own]
        return [
            panel | {"title": f"{protocol.snippet_heading} {letter}", "letter": letter}
            for panel, letter in zip(pair, "AB", strict=True)
        ]
    if item.kind == Item.Kind.SCORE:
        return [
            other | {"title": protocol.reference_heading, "origin": ""},
            own | {"title": protocol.snippet_heading, "origin": ""},
        ]
    return [own | {"title": protocol.snippet_heading}]


def question_text(text: str, side: str) -> str:
    """The question with {ai} and {human} as the letters of the pair."""
    other = {"A": "B", "B": "A"}.get(side, "")
    return text.replace("{ai}", side).replace("{human}", other)
