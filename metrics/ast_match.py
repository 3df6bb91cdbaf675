"""Match of syntax trees."""

from __future__ import annotations

import ast
import warnings

from metrics.base import PairMetric

DEEPEST = 300
"""Levels of a syntax tree that every Python can make."""

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
"""What parsing any text may raise; surrogates raise UnicodeError, a ValueError."""


def parsed(text: str) -> ast.Module | None:
    """The syntax tree of Python code; None where the running Python cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes such as "\d" are old code, not our user's concern
            return ast.parse(text)
    except UNPARSABLE:
        return None


def same_tree(left: ast.AST, right: ast.AST) -> bool:
    """Whether ast.dump of both is equal; False also for trees of more than 300 levels.

    Pythons differ in how deep a tree they can make and dump; all of them manage 300 levels.
    """
    open_pairs: list[tuple[object, object, int]] = [(left, right, 1)]
    while open_pairs:
        one, other, level = open_pairs.pop()
        if type(one) is not type(other) or level > DEEPEST:
            return False
        if isinstance(one, ast.AST):
            fields = one._fields
            open_pairs += [
                (getattr(one, name, None), getattr(other, name, None), level + 1) for name in fields
            ]
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            open_pairs += [(item, partner, level) for item, partner in zip(one, other, strict=True)]
        elif repr(one) != repr(other):  # 0.0 == -0.0, and nan != nan
            return False
    return True


class AstMatch(PairMetric):
    """1 where the code and a reference have the same syntax tree, else 0.

    So layout, comments, kind of quotes and superfluous brackets do not count; names, docstrings and the order of
    statements do. Where one of the two is not code that the running Python parses (other languages, errors, more than
    300 levels), they match if they are equal but for whitespace at the end, as in exact-match. Two empty texts
    match, and so does a text of comments alone match an empty one.
    """

    name = "ast-match"
    version = "1"
    tokenizer = "none"
    parameters = {
        "tree": "python",
        "levels": "300",
        "unparsable": "exact-match",
        "references": "any",
        "corpus": "mean",
    }
    needs = frozenset({"references"})
    paper = "no single source; equality of syntax trees"
    range = (0.0, 1.0)
    symmetric = True
    identity = True
    both_empty = 1.0

    def pair(self, code: str, reference: str) -> float:
        if code.rstrip() == reference.rstrip():
            return 1.0
        left = parsed(code)
        right = parsed(reference) if left else None
        return float(left is not None and right is not None and same_tree(left, right))
