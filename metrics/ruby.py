"""RUBY: how alike two programs are as graphs, else as syntax trees, else as texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from metrics.base import PairMetric, Statistics
from metrics.edit_similarity import levenshtein
from metrics.graph_edit import graph_edit_distance
from metrics.program_graph import Graph, program_graph
from metrics.syntax_tree import kinds_of_nodes, syntax_tree
from metrics.tokenizers import tranx
from metrics.tree_edit import tree_edit_distance, tree_edit_work

LEVELS = ("graph", "tree", "string")
LONGEST = 20_000
"""Characters; a longer text is compared as a string."""
LARGEST = 400
"""Nodes of both graphs together; larger ones are compared as trees."""
MOST_WORK = 6_000_000
"""Cells that the tree edit distance may fill (about two seconds); above, texts are compared as strings."""


def patience(nodes: int) -> int:
    """How many pairs of nodes the graph search looks at without an improvement before it ends.

    The published search ended one second after its last improvement; larger graphs got fewer looks.
    """
    return min(11_000, max(1_000, 40_000_000 // nodes**2))


class Ruby(PairMetric):
    """RUBY as Evtikhiev et al. 2023 computed it, with a search that stops by count instead of by the clock.

    The level is the first that both texts allow: "graph" (1 - graph edit distance / nodes and edges of both
    program graphs, where both build and have at most 400 nodes together), "tree" (1 - distance / nodes of
    both syntax trees, where both parse), "string" (1 - Levenshtein distance / tokens of the longer one, tranX
    tokens). The published tree distance lets edges change for free, so only the kinds of nodes count:
    max(n1, n2) - shared. The graph distance is the best one that a short search finds, an upper bound of the
    true one, as published. Texts over 20,000 characters and texts without a token are strings.

    Statistics are [score, 1, graph, tree, string]: the last three count the segments by the level of the
    reference that gave the score. Two empty texts score 1, one empty text scores 0.
    """

    name = "ruby"
    version = "1"
    tokenizer = "tranx"
    parameters = {
        "graph": "search 1.1e4 4e7/nodes^2",
        "tree": "kinds of nodes",
        "nodes": "400",
        "references": "best",
        "corpus": "mean",
    }
    needs = frozenset({"references"})
    paper = "Evtikhiev et al. 2023, https://arxiv.org/abs/2208.03133; Tran et al. 2019, doi:10.1109/ICPC.2019.00034"
    range = (0.0, 1.0)
    symmetric = False
    identity = True
    both_empty = 1.0

    def pair(self, code: str, reference: str) -> float:
        return self.compare(code, reference)[0]

    def compare(self, code: str, reference: str) -> tuple[float, str]:
        """The score of one text against one reference, and its level: "graph", "tree" or "string"."""
        if all(text.strip() and len(text) <= LONGEST for text in (code, reference)):
            score = graph_similarity(code, reference)
            if score is not None:
                return score, "graph"
            score = self.tree_similarity(code, reference)
            if score is not None:
                return score, "tree"
        return string_similarity(code, reference), "string"

    def tree_similarity(self, code: str, reference: str) -> float | None:
        """0 to 1, or None where a text does not parse."""
        one, other = kinds_of_nodes(code), kinds_of_nodes(reference)
        if one is None or other is None:
            return None
        larger = max(one.total(), other.total())
        return 1 - (larger - (one & other).total()) / (one.total() + other.total())

    def level(self, code: str, references: Sequence[str]) -> str:
        """The level ("graph", "tree", "string") of the best reference; of equal ones the first in this order.

        Raises as `statistics` does.
        """
        self.check(code, references)
        return self._best(code, references)[1]

    def _best(self, code: str, references: Sequence[str]) -> tuple[float, str]:
        found = [self.compare(code, reference) for reference in references]
        return max(found, key=lambda pair: (pair[0], -LEVELS.index(pair[1])))

    def statistics(self, code: str, references: Sequence[str]) -> Statistics:
        self.check(code, references)
        score, level = self._best(code, references)
        return np.array([score, 1.0, *(float(level == name) for name in LEVELS)])

    def score(self, statistics: Statistics) -> float:
        return super().score(statistics[:2])


class RubyTextbook(Ruby):
    """RUBY as Tran et al. 2019 define it: the tree level is the edit distance of ordered trees.

    Nodes of the tree are the nodes of the syntax tree by kind, and names, numbers, texts and other values
    as leaves with their value; whether a name is loaded or stored is left out, and so is what is absent.
    Where the exact distance would take more than six million cells, the texts are compared as strings. The
    paper has no public code: the graph level is that of `ruby`, the search for its distance likewise.
    Two empty texts score 1, one empty text scores 0.
    """

    name = "ruby-textbook"
    parameters = {
        **Ruby.parameters,
        "tree": "edit distance to 6e6 cells",
    }
    paper = "Tran et al. 2019, doi:10.1109/ICPC.2019.00034"

    def tree_similarity(self, code: str, reference: str) -> float | None:
        one, other = syntax_tree(code), syntax_tree(reference)
        if one is None or other is None or tree_edit_work(one, other) > MOST_WORK:
            return None
        return 1 - tree_edit_distance(one, other) / (len(one.labels) + len(other.labels))


@lru_cache(maxsize=256)
def _graph(code: str) -> Graph | None:
    """The program graph, words of identifiers last and by the alphabet.

    The order of nodes decides where the search goes; the published values fit no order of the words better.
    """
    graph = program_graph(code)
    if graph is None:
        return None
    words = {start for (start, _), label in graph.edges.items() if label == "SUBTOKEN_OF"}
    order = sorted(
        range(len(graph.labels)),
        key=lambda node: (node in words, graph.labels[node] if node in words else ""),
    )
    place = {node: number for number, node in enumerate(order)}
    edges = {(place[start], place[end]): label for (start, end), label in graph.edges.items()}
    return replace(graph, labels=tuple(graph.labels[node] for node in order), edges=edges)


@lru_cache(maxsize=1024)
def graph_similarity(code: str, reference: str) -> float | None:
    """1 - distance / size of both program graphs; None where one does not build or both are too large."""
    one, other = _graph(code), _graph(reference)
    if one is None or other is None:
        return None
    nodes = len(one.labels) + len(other.labels)
    if nodes > LARGEST:
        return None
    distance = graph_edit_distance(
        (one.labels, other.labels), (one.edges, other.edges), patience=patience(nodes)
    )
    return 1 - distance / (nodes + len(one.edges) + len(other.edges))


def string_similarity(code: str, reference: str) -> float:
    """1 - Levenshtein distance / tokens of the longer text, in tranX tokens; 1 where neither has a token."""
    one, other = tranx(code), tranx(reference)
    longer = max(len(one), len(other))
    return 1 - levenshtein(one, other) / longer if longer else 1.0
