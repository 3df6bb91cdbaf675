"""Syntax trees by tree-sitter: which subtrees a piece of Python has, and how often."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import count

import tree_sitter_python
from tree_sitter import Language, Node, Parser

_LANGUAGE = Language(tree_sitter_python.language())
_QUOTES = frozenset({"string_start", "string_end"})
_CONTENT = frozenset({"string_content"})
_UNSEEN = frozenset({"escape_interpolation", "\\"})
_TWO_WORDS = frozenset({"not in", "is not"})
MOST_KNOWN = 1_000_000


class Numbering:
    """Gives each distinct subtree a number of its own, so that equal subtrees are equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}
        self._next = count()

    def number(self, kind: str, children: tuple[int, ...]) -> int:
        return self._numbers.setdefault((kind, children), next(self._next))

    def __len__(self) -> int:
        return len(self._numbers)


class _Current:
    numbering = Numbering()


def numbering() -> Numbering:
    """The numbering in use; a new one when the old one has grown large, so that memory stays bounded.

    Numbers can be compared only within one numbering.
    """
    if len(_Current.numbering) > MOST_KNOWN:
        _Current.numbering = Numbering()
    return _Current.numbering


@lru_cache(maxsize=4096)
def subtrees(code: str, numbering: Numbering) -> Counter[int]:
    """The number of every subtree of the text's syntax tree, and how often it is there.

    A subtree is the tree of the types of its nodes, tokens such as `(` among them; names and values do not count.
    Trees are those of the grammar that the published scores were made with (2021): strings have quotes of the
    type `"` and between them only escape sequences and parts in braces; `not in` and `is not` are two tokens.
    """
    tree = Parser(_LANGUAGE).parse(code.encode("utf-8", "surrogatepass"))
    nodes = [tree.root_node]
    spans = []
    for node in nodes:  # grows meanwhile; children come after their parents
        start = len(nodes)
        if node.child_count:
            nodes.extend(_children(node))
        spans.append((start, len(nodes)))
    numbers = [0] * len(nodes)
    for place in range(len(nodes) - 1, -1, -1):
        kind = nodes[place].type
        start, end = spans[place]
        numbers[place] = numbering.number('"' if kind in _QUOTES else kind, tuple(numbers[start:end]))
    return Counter(numbers)


def _children(node: Node) -> list[Node]:
    kind = node.type
    if kind == "comparison_operator":
        return _without(node, _TWO_WORDS)
    if kind == "string":
        return [part for part in _without(node, _CONTENT) if part.type not in _UNSEEN]
    return node.children


def _without(node: Node, kinds: frozenset[str]) -> list[Node]:
    """The children, with their own children in the place of those of the kinds."""
    return [part for child in node.children for part in (child.children if child.type in kinds else [child])]
