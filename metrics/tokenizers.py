"""How text is cut into tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

_OUTSIDE_WORDS = re.compile(r"([^A-Za-z0-9_])")
_CAMEL_CASE = re.compile(r"([a-z])([A-Z])")
_QUOTES = str.maketrans({"'": "`", '"': "`"})


def tranx(text: str) -> list[str]:
    """The tokens of code as the tranX parser's evaluation cuts them (Yin & Neubig 2018).

    Every character outside A-Z, a-z, 0-9 and _ is a token of its own; a word is cut where a small letter
    meets a capital one; both quotes become a backtick; whitespace separates. doi:10.18653/v1/D18-2002

    >>> tranx("os.getEnv('A_b')")
    ['os', '.', 'get', 'Env', '(', '`', 'A_b', '`', ')']
    """
    text = _OUTSIDE_WORDS.sub(r" \1 ", text)
    text = _CAMEL_CASE.sub(r"\1 \2", text)
    return text.translate(_QUOTES).split()


def whitespace(text: str) -> list[str]:
    """What whitespace separates.

    >>> whitespace("x = f(a, b)")
    ['x', '=', 'f(a,', 'b)']
    """
    return text.split()


def ngrams(tokens: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    """The runs of `order` neighbouring tokens, in order; none where there are fewer tokens.

    >>> list(ngrams(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    return zip(*(tokens[start:] for start in range(order)), strict=False)


TOKENIZERS: Mapping[str, Callable[[str], list[str]]] = {"tranx": tranx, "whitespace": whitespace}
"""By the name in signatures, for metrics that let a preset choose."""
