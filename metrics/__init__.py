"""Automatic metrics of generated code: text in, scores out.

>>> import metrics
>>> {"bleu", "codebleu", "rouge-l"} <= set(metrics.names())
True
>>> metrics.get("rouge-l").segment("x = f(a)", ["x = f(b)"])
0.8333333333333334

Scores run from 0 to 1. Every metric has a signature that says how its scores came about, per-segment
statistics, and a score made from summed statistics, so that a corpus score and each bootstrap resample come
from the same numbers without touching text again.
"""

from __future__ import annotations

from metrics.base import Metric, MissingInput, Undefined
from metrics.registry import UnknownMetric, defaults, get, names
from metrics.scoring import score_rows

__all__ = ["Metric", "MissingInput", "Undefined", "UnknownMetric", "defaults", "get", "names", "score_rows"]
