"""RUBY of a part of CoNaLa against the published scores (Evtikhiev et al. 2023); the whole is a proof."""

from __future__ import annotations

from pathlib import Path

from tests.metrics.ruby_agreement import pairs, share


def test_a_sixteenth_of_the_published_scores_is_met(shared_data: Path) -> None:
    found = pairs(shared_data, every=16)
    assert len(found) == 150
    strings = [pair for pair in found if pair.level == "string"]
    assert len(strings) > 50
    assert share(strings, 0.0011) == 1
    assert share(found, 0.0011) > 0.89
    assert share(found, 0.01) > 0.94
