"""Scores of a table of snippets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from metrics.base import MissingInput, Undefined
from metrics.registry import get


def score_rows(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The segment score of every row by every metric, row by row, metrics in the order given.

    rows: mappings with problem, system, code, references (list of texts), optionally sample (else 0).
    Yields dicts with problem, system, sample, metric, signature, score (0 to 1; None where it is undefined),
    undefined (why; "" else). Raises UnknownMetric at once, and MissingInput that names the row where a metric
    lacks what it needs.
    """
    return _scores(rows, [get(name) for name in names])


def _scores(rows: Iterable[Mapping[str, Any]], chosen: Sequence[Any]) -> Iterator[dict[str, Any]]:
    labelled = [(metric, metric.signature) for metric in chosen]
    for row in rows:
        place = {"problem": row["problem"], "system": row["system"], "sample": row.get("sample", 0)}
        for metric, signature in labelled:
            score, why = None, ""
            try:
                score = metric.segment(row["code"], row["references"])
            except Undefined as error:
                why = str(error)
            except MissingInput as error:
                where = f"Problem {row['problem']}, system {row['system']}"
                raise MissingInput(f"{where}: {error}") from None
            yield {**place, "metric": metric.name, "signature": signature, "score": score, "undefined": why}
