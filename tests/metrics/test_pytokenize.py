"""The tokenizer cuts as Python 3.11 does, whatever Python runs it."""

from __future__ import annotations

import io
import json
import sys
import token
import tokenize as stdlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import pytokenize
from metrics.pytokenize import UnfinishedError, tokenize

# text, tokens as kind:text, all from `tokenize.generate_tokens` of Python 3.11.7
TABLE = [
    ("", ["ENDMARKER:"]),
    ("  ", ["ENDMARKER:"]),
    ("\n# a", ["NL:\n", "COMMENT:# a", "NL:", "ENDMARKER:"]),
    ("x=`a`", ["NAME:x", "OP:=", "ERRORTOKEN:`", "NAME:a", "ERRORTOKEN:`", "NEWLINE:", "ENDMARKER:"]),
    ("x = 'a", ["NAME:x", "OP:=", "ERRORTOKEN: ", "ERRORTOKEN:'", "NAME:a", "NEWLINE:", "ENDMARKER:"]),
    ("a != $b", ["NAME:a", "OP:!=", "ERRORTOKEN: ", "ERRORTOKEN:$", "NAME:b", "NEWLINE:", "ENDMARKER:"]),
    ("if x:\n  y\nz\n", [
        "NAME:if", "NAME:x", "OP::", "NEWLINE:\n", "INDENT:  ", "NAME:y", "NEWLINE:\n", "DEDENT:", "NAME:z",
        "NEWLINE:\n", "ENDMARKER:",
    ]),
    ("(a,\nb)", ["OP:(", "NAME:a", "OP:,", "NL:\n", "NAME:b", "OP:)", "NEWLINE:", "ENDMARKER:"]),
    ("0x1F 08 1_0.e-3j .5 ...", [
        "NUMBER:0x1F", "NUMBER:0", "NUMBER:8", "NUMBER:1_0.e-3j", "NUMBER:.5", "OP:...", "NEWLINE:", "ENDMARKER:",
    ]),
    ("f'{a[\"b\"]}' Rb'''x\ny'''", ["STRING:f'{a[\"b\"]}'", "STRING:Rb'''x\ny'''", "NEWLINE:", "ENDMARKER:"]),
    ("a \\\n b", ["NAME:a", "NAME:b", "NEWLINE:", "ENDMARKER:"]),
    ("'a\\\nb", ["ERRORTOKEN:'a\\\nb", "NEWLINE:", "ENDMARKER:"]),
    ("é² \0\udcff", ["NAME:é²", "ERRORTOKEN: ", "ERRORTOKEN:\0", "ERRORTOKEN:\udcff", "NEWLINE:", "ENDMARKER:"]),
    ("x\r\n\ty", ["NAME:x", "NEWLINE:\r\n", "INDENT:\t", "NAME:y", "NEWLINE:", "DEDENT:", "ENDMARKER:"]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), TABLE)
def test_tokens_are_those_of_python_3_11(code: str, expected: list[str]) -> None:
    assert [f"{kind}:{text}" for kind, text in tokenize(code)] == expected


@pytest.mark.parametrize("code", ["f(", "(" * 20_000, ")", "'''a", "a \\\n", "f(\n)]"])
def test_an_unfinished_text_is_refused(code: str) -> None:
    with pytest.raises(UnfinishedError):
        tokenize(code)


def test_bad_indentation_is_refused() -> None:
    with pytest.raises(IndentationError):
        tokenize("if x:\n    y\n  z")


@pytest.mark.parametrize(
    "code",
    ["'\\" * 100_000, '"' + "\\'" * 100_000, f"{'':100000}x{'':100000}$", "'''x\n" + "y\n" * 50_000 + "'''"],
)
def test_long_texts_are_cut_and_nothing_is_lost(code: str) -> None:
    texts = [text for _, text in tokenize(code)]
    assert "".join(texts).replace(" ", "") == code.replace(" ", "")


def outcome(code: str, module: object) -> list[tuple[str, str]]:
    """The tokens up to the error, and its kind."""
    tokens = []
    try:
        if module is stdlib:
            for found in stdlib.generate_tokens(io.StringIO(code, newline="\n").readline):
                tokens.append((token.tok_name[found.type], found.string))
        else:
            tokens.extend((kind, text) for kind, text in tokenize(code))
    except IndentationError:
        return [("error", "indentation")]
    except (stdlib.TokenError, UnfinishedError):
        return [("error", "unfinished")]
    return tokens


old_only = pytest.mark.skipif(sys.version_info >= (3, 12), reason="since 3.12 the stdlib cuts otherwise")
PIECES = [
    *"'\"\\\n\r#\t\f ()[]{}01.ej_x=!$?`é²\0\udcff:", "'''", '"""', "\r\n", "  ", "\n ", "\n  ", "\\\n", "b", "rb",
    "F", "uR", "ab", "->", "...", "٣", "if", "0x", "08", "1e-", ":=",
]  # fmt: skip


@old_only
@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=20))
def test_any_text_is_cut_as_by_the_stdlib(code: str) -> None:
    assert outcome(code, pytokenize) == outcome(code, stdlib)


@old_only
def test_the_files_of_the_stdlib_are_cut_as_by_the_stdlib() -> None:
    files = sorted(Path(stdlib.__file__).parent.glob("[a-i]*.py"))
    assert len(files) > 50
    for file in files:
        code = file.read_text(encoding="utf-8", errors="surrogateescape")
        assert outcome(code, pytokenize) == outcome(code, stdlib), file


@old_only
def test_published_snippets_are_cut_as_by_the_stdlib(shared_data: Path) -> None:
    file = shared_data / "data/out-of-the-bleu/data/to-grade/conala/conala.json"
    if not file.exists():
        pytest.skip(f"the snippets of CoNaLa are not at {file}")
    texts = [
        text
        for problem in json.loads(file.read_text(encoding="utf-8"))
        for value in problem.values()
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str)
    ]
    assert len(texts) > 2800
    assert [text for text in texts if outcome(text, pytokenize) != outcome(text, stdlib)] == []
