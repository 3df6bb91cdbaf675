"""What a person sees of code and text: escaped, whole, and the same whoever wrote it."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.grading.display import code_html, intent_html, paragraphs


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), max_size=200))
def test_highlighting_loses_nothing(code: str) -> None:
    # One line end is added for the last line, as an editor does.
    assert text_of(code_html(code, "python")).rstrip("\n") == code.rstrip("\n")


@pytest.mark.parametrize("language", ["python", "java", "no such language", ""])
def test_markup_in_code_is_shown_not_run(language: str) -> None:
    shown = code_html("x = '<script>alert(1)</script>' & y", language)
    assert "<script" not in shown
    assert "&lt;" in shown
    assert text_of(shown).strip() == "x = '<script>alert(1)</script>' & y"


def test_one_span_a_line_with_multi_line_strings() -> None:
    shown = code_html('def f():\n    """a\n    b"""\n    return 1', "python")
    assert shown.count('<span class="line">') == 4
    for line in shown.split('<span class="line">')[1:]:
        assert line.count("<span") + 1 == line.count("</span>")


def test_a_huge_snippet_is_shown_plainly() -> None:
    assert "<span class=" not in code_html("x = 1\n" * 30_000, "python").replace('<span class="line">', "")


def test_intents_keep_code_and_line_breaks() -> None:
    shown = intent_html("use `a<b`\nthen <i>stop</i>")
    assert shown == "use <code>a&lt;b</code><br>then &lt;i&gt;stop&lt;/i&gt;"


def test_paragraphs() -> None:
    assert paragraphs("one\ntwo\n\n \nthree\n") == ["one\ntwo", "three"]
