"""The metrics by name. A new metric is one file and one line here."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from metrics.base import Metric

METRICS = {
    "bleu": "metrics.bleu.Bleu",
    "chrf": "metrics.chrf.Chrf",
    "codebleu": "metrics.codebleu.CodeBleu",
    "codebleu-builtins": "metrics.codebleu.CodeBleuBuiltins",
    "codebleu-codescore": "metrics.codebleu.CodeBleuCodeScore",
    "edit-similarity": "metrics.edit_similarity.EditSimilarity",
    "exact-match": "metrics.exact_match.ExactMatch",
    "rouge-l": "metrics.rouge.RougeL",
    "ruby": "metrics.ruby.Ruby",
    "ruby-textbook": "metrics.ruby.RubyTextbook",
}
"""Name -> dotted path of the class, imported when first asked for."""


class UnknownMetric(ValueError):
    """There is no metric of that name; the text lists the known ones."""


def names() -> list[str]:
    """The names of all metrics, sorted."""
    return sorted(METRICS)


@cache
def get(name: str) -> Metric:
    """The metric of that name; raises UnknownMetric."""
    if name not in METRICS:
        raise UnknownMetric(f"There is no metric {name!r}; the known ones are {', '.join(names())}.")
    module, _, attribute = METRICS[name].rpartition(".")
    metric: Metric = getattr(import_module(module), attribute)()
    return metric
