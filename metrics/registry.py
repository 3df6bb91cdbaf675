"""The metrics by name. A new metric is one file and one line here."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from metrics.base import Metric

METRICS = {
    "ast-match": "metrics.ast_match.AstMatch",
    "bleu": "metrics.bleu.Bleu",
    "bleu-tf": "metrics.bleu_tf.BleuTf",
    "bleu-tf-smoothed": "metrics.bleu_tf.BleuTfSmoothed",
    "bleu-whitespace": "metrics.bleu.BleuWhitespace",
    "chrf": "metrics.chrf.Chrf",
    "crystalbleu": "metrics.crystalbleu.CrystalBleu",
    "codebleu": "metrics.codebleu.CodeBleu",
    "codebleu-builtins": "metrics.codebleu.CodeBleuBuiltins",
    "codebleu-codescore": "metrics.codebleu.CodeBleuCodeScore",
    "edit-similarity": "metrics.edit_similarity.EditSimilarity",
    "exact-match": "metrics.exact_match.ExactMatch",
    "meteor": "metrics.meteor.Meteor",
    "meteor-whitespace": "metrics.meteor.MeteorWhitespace",
    "rouge-1": "metrics.rouge.Rouge1",
    "rouge-2": "metrics.rouge.Rouge2",
    "rouge-l": "metrics.rouge.RougeL",
    "ruby": "metrics.ruby.Ruby",
    "ruby-textbook": "metrics.ruby.RubyTextbook",
}
"""Name -> dotted path of the class, imported when first asked for."""


DEFAULTS = ("bleu", "chrf", "codebleu", "edit-similarity", "exact-match", "meteor", "rouge-l", "ruby")
"""What a study computes unless somebody asks for others: the metrics of the published studies, each in one form."""


class UnknownMetric(ValueError):
    """There is no metric of that name; the text lists the known ones."""


def names() -> list[str]:
    """The names of all metrics, sorted."""
    return sorted(METRICS)


def defaults() -> list[str]:
    """The names of DEFAULTS, sorted."""
    return sorted(DEFAULTS)


@cache
def get(name: str) -> Metric:
    """The metric of that name; raises UnknownMetric."""
    if name not in METRICS:
        raise UnknownMetric(f"There is no metric {name!r}; the known ones are {', '.join(names())}.")
    module, _, attribute = METRICS[name].rpartition(".")
    metric: Metric = getattr(import_module(module), attribute)()
    return metric
