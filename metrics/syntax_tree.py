"""Syntax trees of Python code, as RUBY compares them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable, Sequence

from metrics.graph_scopes import parse
from metrics.tree_edit import Tree, postorder


def kinds_of_nodes(code: str) -> Counter[str] | None:
    """How many nodes of each kind a syntax tree has, or None where the code does not parse.

    Every field of a node counts: what is no node itself (names, values, None) is one node of the kind "str".
    """
    waiting: list[object] = [parse(code)]
    if waiting == [None]:
        return None
    kinds: Counter[str] = Counter()
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, ast.AST):
            kinds[type(node).__name__] += 1
            waiting.extend(getattr(node, field, None) for field in node._fields)
        else:
            kinds["str"] += 1
    return kinds


def syntax_tree(code: str) -> Tree | None:
    """The tree of nodes labelled by kind, with names and values as leaves; None where it does not parse.

    Load and Store are left out, and so is what is absent.
    """
    root: object = parse(code)
    return None if root is None else postorder(root, _children, _label)


def _children(node: object) -> Sequence[object]:
    if not isinstance(node, ast.AST):
        return ()
    if isinstance(node, ast.Constant):
        return (node.value,)  # which may be None
    children: list[object] = []
    for field in node._fields:
        value = getattr(node, field, None)
        children.extend(value if isinstance(value, list) else [value])
    return [child for child in children if child is not None and not isinstance(child, ast.expr_context)]


def _label(node: object) -> Hashable:
    return type(node).__name__ if isinstance(node, ast.AST) else (type(node).__name__, node)
