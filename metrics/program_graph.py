"""Program graphs: syntax, tokens, symbols and the flow of data of a piece of Python."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from metrics.graph_builder import EDGES
from metrics.graph_scopes import UNPARSABLE, parse
from metrics.graph_statements import Statements


@dataclass(frozen=True)
class Graph:
    """A labelled graph with at most one edge from one node to another."""

    labels: tuple[str, ...]
    """Of the nodes 0, 1, ... in the order in which they are made."""
    edges: dict[tuple[int, int], str]
    """(from, to) -> name of the type."""
    next_uses: tuple[tuple[str, int], ...]
    """Label and number of NEXT_USE edges (also 0) of each symbol, in the order of the first occurrence."""


@lru_cache(maxsize=4096)
def program_graph(code: str) -> Graph | None:
    """The program graph of a piece of Python; None where it does not parse (see `graph_scopes.parse`).

    The edges are those of Allamanis et al. 2018 (https://arxiv.org/abs/1711.00740) as the authors of Typilus
    draw them (Allamanis et al. 2020, doi:10.1145/3385412.3385997), with the names that syntax nodes had before
    Python 3.8. The same on every Python from 3.11 on. Code with more than 200,000 steps from use to use has none
    either; an empty text has a graph of one node.
    """
    tree = parse(code)
    if tree is None:
        return None
    try:
        builder = Statements().built(tree)
    except UNPARSABLE:
        return None
    used = [(symbol[1], len(edges)) for symbol, edges in builder.next_uses.items()]
    edges = {pair: EDGES[kind] for pair, kind in builder.edges.items()}
    return Graph(tuple(builder.labels), edges, tuple(used))
