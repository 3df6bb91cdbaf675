"""Which names each scope of a program knows; a program's parsing."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator

from metrics.pytokenize import UnfinishedError, tokenize

_KNOWS_NEW_STRINGS: bool = sys.version_info >= (3, 12)
MAX_DEPTH = 150
"""Deeper trees count as unparsable, so that no limit of an interpreter decides a score."""

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError, UnicodeError)
"""What parsing strange text can raise."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)


def parse(code: str) -> ast.Module | None:
    """The syntax tree; None where the code does not parse, is too deep, or names an argument twice.

    `f(a=1, a=2)` and `def f(a, a)` pass through Python's parser but not through its compiler. The newest syntax
    that counts is that of Python 3.11, on every Python.
    """
    tree = _parsed(code)
    if tree is None:
        return None
    level: list[ast.AST] = [tree]
    formatted: list[ast.FormattedValue] = []
    for _ in range(MAX_DEPTH):
        if any(_has_duplicates(node) for node in level):
            return None
        formatted += [node for node in level if isinstance(node, ast.FormattedValue)]
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return None if formatted and _has_new_strings(code, formatted) else tree
    return None


def _parsed(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code, feature_version=(3, 11))
    except UNPARSABLE:
        return None


def _has_new_strings(code: str, formatted: list[ast.FormattedValue]) -> bool:
    """Whether f-strings are of the kind that Python knows since 3.12 only.

    Those may have their own quotes or line breaks between the braces, which cut them into other tokens before, or
    backslashes.
    """
    if not _KNOWS_NEW_STRINGS:
        return False
    if any("\\" in (ast.get_source_segment(code, node.value) or "") for node in formatted):
        return True
    try:
        tokens = tokenize(code)
    except (UnfinishedError, IndentationError):
        return True
    for kind, text in tokens:
        if kind == "ERRORTOKEN" and text[0] in "'\"":
            return True
        if kind == "STRING" and "f" in text.partition(text[-1])[0].lower() and _parsed(text) is None:
            return True
    return False


def parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    """All parameters in the order of the source."""
    yield from arguments.posonlyargs
    yield from arguments.args
    if arguments.vararg:
        yield arguments.vararg
    yield from arguments.kwonlyargs
    if arguments.kwarg:
        yield arguments.kwarg


def _has_duplicates(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        names = [keyword.arg for keyword in node.keywords if keyword.arg]
    elif isinstance(node, ast.arguments):
        names = [parameter.arg for parameter in parameters(node)]
    else:
        return False
    return len(names) != len(set(names))


def known_names(scope: ast.AST) -> frozenset[str]:
    """The names that Python's symbol table lists for a scope: all that are bound or read directly in it.

    Python's own `symtable` is not asked, because since 3.12 it merges comprehensions into their surroundings.
    """
    names: set[str] = set()
    pending = list(_inside(scope))
    while pending:
        node = pending.pop()
        names.update(_names(node))
        if isinstance(node, SCOPES):
            pending.extend(_outside(node))
        elif not isinstance(node, ast.arg):  # annotations belong around the function
            pending.extend(ast.iter_child_nodes(node))
    return frozenset(names)


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """The children of a scope's node that are evaluated in the scope."""
    outside = {id(node) for node in _outside(scope)} if isinstance(scope, SCOPES) else set()
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.arguments):
            yield from parameters(node)
        elif isinstance(node, ast.comprehension):
            yield from (child for child in ast.iter_child_nodes(node) if id(child) not in outside)
        elif id(node) not in outside:
            yield node


def _outside(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes below a scope's node that are evaluated around it: defaults, decorators, the first iterable."""
    if isinstance(scope, COMPREHENSIONS):
        yield scope.generators[0].iter
        return
    if isinstance(scope, FUNCTIONS):
        yield from scope.args.defaults
        yield from (default for default in scope.args.kw_defaults if default)
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        hints = [parameter.annotation for parameter in parameters(scope.args)]
        yield from (hint for hint in [*hints, scope.returns] if hint)
    if isinstance(scope, ast.ClassDef):
        yield from scope.bases
        yield from scope.keywords
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from scope.decorator_list


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    return list(node.names) if isinstance(node, ast.Global | ast.Nonlocal) else []
