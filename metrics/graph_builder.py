"""Nodes, edges and uses of symbols of a program graph, without the syntax of Python."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager

from metrics.graph_scopes import known_names

EDGES = (
    "CHILD",
    "NEXT",
    "LAST_LEXICAL_USE",
    "NEXT_USE",
    "COMPUTED_FROM",
    "RETURNS_TO",
    "OCCURRENCE_OF",
    "SUBTOKEN_OF",
)
"""A later type overwrites an earlier one between the same two nodes."""
CHILD, NEXT, LAST_LEXICAL_USE, NEXT_USE, COMPUTED_FROM, RETURNS_TO, OCCURRENCE_OF, SUBTOKEN_OF = range(8)

Symbol = tuple[int, str]
"""Number of the scope (-1 for attributes, which belong to none), name."""
Held = list[tuple[int, Symbol]]
"""Uses that wait for their turn."""


class Uses(dict[Symbol, frozenset[int]]):
    """The nodes at which each symbol may have been used last."""

    def joined(self, *others: Uses) -> Uses:
        """What may have been used last where several ways meet."""
        result = self.copy()
        for other in others:
            for symbol, nodes in other.items():
                mine = result.get(symbol)
                if mine is not nodes:
                    result[symbol] = nodes if mine is None else mine | nodes
        return result

    def copy(self) -> Uses:
        return Uses(self)


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+|[^\W\dA-Za-z_]+")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
MOST_FLOWS = 200_000
"""Their number can grow with the square of the code; a program with more has no graph."""
MARKERS = ("INDENT", "NL", "DEDENT")
"""Tokens around and between the statements of a block."""
_KEYWORDS = frozenset(keyword.kwlist)


def subtokens(token: str) -> list[str]:
    """The words of an identifier in small letters; nothing for other tokens and keywords.

    >>> subtokens("getHTTPResponse_v2")
    ['get', 'http', 'response', 'v', '2']
    """
    if not token.strip("_") or token in _KEYWORDS or token in MARKERS or not _IDENTIFIER.fullmatch(token):
        return []
    return [word.lower() for word in _WORDS.findall(token)]


class Builder:
    """Takes nodes, tokens and uses in the order of the source and makes the edges."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.edges: dict[tuple[int, int], int] = {}
        self.parent = -1
        self.uses = Uses()
        self.next_uses: dict[Symbol, set[tuple[int, int]]] = {}
        self._ids: dict[Hashable, int] = {}
        self._tokens: list[tuple[int, str]] = []
        self._scopes: list[tuple[int, frozenset[str]]] = []
        self._scope_count = 0
        self._lexical: dict[Symbol, int] = {}
        self._held: Held | None = None
        self._flows = 0
        self._loops: list[tuple[int, dict[Symbol, list[int]]]] = []

    def node(self, key: Hashable, label: str) -> int:
        """The number of the node of that key, made if there is none."""
        number = self._ids.setdefault(key, len(self.labels))
        if number == len(self.labels):
            self.labels.append(label.replace('"', "").replace("\n", ""))
        return number

    def edge(self, start: int, end: int, kind: int) -> None:
        """Adds an edge unless one of a later type is there."""
        pair = (start, end)
        self.edges[pair] = max(kind, self.edges.get(pair, kind))

    def token(self, text: str) -> int:
        """Adds a token below the parent and after the token before."""
        token = self.node(("token", len(self._tokens)), text)
        self.edge(self.parent, token, CHILD)
        if self._tokens:
            self.edge(self._tokens[-1][0], token, NEXT)
        self._tokens.append((token, text))
        return token

    def chain(self, nodes: Iterable[int]) -> None:
        """NEXT edges from each node to the one after."""
        before = -1
        for node in nodes:
            if before >= 0:
                self.edge(before, node, NEXT)
            before = node

    def enter(self, scope: ast.AST) -> None:
        self._scopes.append((self._scope_count, known_names(scope)))
        self._scope_count += 1

    def leave(self) -> None:
        self._scopes.pop()

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Names are looked up around the innermost scope meanwhile."""
        scope = self._scopes.pop()
        try:
            yield
        finally:
            self._scopes.append(scope)

    @contextmanager
    def holding(self, held: Held | None) -> Iterator[None]:
        """What is used meanwhile takes part in the flow of data only when it is released; None holds nothing."""
        before, self._held = self._held, held
        try:
            yield
        finally:
            self._held = before

    def release(self, held: Held) -> None:
        for node, symbol in held:
            self._flow(node, symbol)

    def use_name(self, node: int, name: str) -> None:
        """A use of the symbol that the innermost scope knowing the name has for it."""
        for number, names in reversed(self._scopes):
            if name in names:
                self.use(node, (number, name))
                return

    def use(self, node: int, symbol: Symbol) -> None:
        """One use of a symbol: OCCURRENCE_OF, and edges from the uses before."""
        self.edge(node, self.node(symbol, symbol[1]), OCCURRENCE_OF)
        if symbol in self._lexical:
            self.edge(self._lexical[symbol], node, LAST_LEXICAL_USE)
        self._lexical[symbol] = node
        self.next_uses.setdefault(symbol, set())
        if self._held is None:
            self._flow(node, symbol)
        else:
            self._held.append((node, symbol))

    def _flow(self, node: int, symbol: Symbol) -> None:
        uses = sorted(self.uses.get(symbol, ()))
        for before in uses:
            self.next_use(symbol, before, node)
        for start, firsts in reversed(self._loops):
            if uses and uses[0] >= start:
                break
            firsts.setdefault(symbol, []).append(node)
        self.uses[symbol] = frozenset([node])

    def next_use(self, symbol: Symbol, before: int, after: int) -> None:
        """An edge of the flow of data; raises ValueError for one too many."""
        self._flows += 1
        if self._flows > MOST_FLOWS:
            raise ValueError(f"The program has more than {MOST_FLOWS:,} steps from use to use.")
        self.edge(before, after, NEXT_USE)
        self.next_uses[symbol].add((before, after))

    def start_loop(self) -> None:
        """From here on first uses are noted: those with no use before or with one from before the loop."""
        self._loops.append((len(self.labels), {}))

    def end_loop(self) -> None:
        """NEXT_USE edges from the uses at the end of the loop back to the first ones in it."""
        for symbol, firsts in self._loops.pop()[1].items():
            for before in sorted(self.uses.get(symbol, ())):
                for first in firsts:
                    if before != first:
                        self.next_use(symbol, before, first)

    def add_subtokens(self) -> None:
        """SUBTOKEN_OF edges of all tokens, to one node for each distinct word."""
        for token, text in self._tokens:
            for word in subtokens(text):
                self.edge(self.node(("subtoken", word), word), token, SUBTOKEN_OF)
