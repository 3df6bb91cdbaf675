"""RUBY of all of CoNaLa against the published scores (Evtikhiev et al. 2023), which a search by the clock made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest

from tests.metrics.ruby_agreement import SYSTEMS, pairs, share

PUBLISHED = dict(zip(SYSTEMS, (43.60, 43.57, 44.96, 46.42, 57.97), strict=True))
"""Means of the published scores, x 100."""


def test_the_published_scores_are_met(shared_data: Path, say: Callable[[str], None]) -> None:
    found = pairs(shared_data, every=1)
    assert len(found) == 2360
    means = {name: 100 * fmean(pair.ours for pair in found if pair.system == name) for name in SYSTEMS}
    equal, near = share(found, 0.0011), share(found, 0.01)
    say(f"RUBY, CoNaLa: {equal:.2%} equal, {near:.2%} within 0.01, means {means}")
    assert equal >= 0.91
    assert near >= 0.95
    assert means == pytest.approx(PUBLISHED, abs=0.25)
