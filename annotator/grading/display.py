"""How problems and code look: highlighted, escaped, and the same whoever wrote them."""

from __future__ import annotations

import re
from functools import lru_cache

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.util import ClassNotFound

INLINE_CODE = re.compile(r"`([^`\n]+)`")
TOO_LONG_TO_HIGHLIGHT = 100_000


@lru_cache(maxsize=256)
def code_html(code: str, language: str) -> SafeString:
    """Highlighted code, one <span class="line"> a line; plain text if the language is unknown."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False, ensurenl=False)
    if len(code) > TOO_LONG_TO_HIGHLIGHT:
        lexer = TextLexer(stripnl=False, ensurenl=False)
    lines = highlight(code, lexer, HtmlFormatter(nowrap=True)).removesuffix("\n").split("\n")
    # Pygments escapes the code and closes its spans at each line's end.
    return mark_safe("".join(f'<span class="line">{line}\n</span>' for line in lines))


def intent_html(text: str) -> SafeString:
    """A problem's text with its `backtick` parts as code and its line breaks kept."""
    escaped = INLINE_CODE.sub(r"<code>\1</code>", str(conditional_escape(text.strip())))
    return mark_safe(escaped.replace("\n", "<br>"))


def paragraphs(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
