"""Our RUBY against the published one of CoNaLa, shared by the quick test and the whole proof."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from metrics.ruby import Ruby

SYSTEMS = ("baseline", "tranx-annot", "best-tranx", "best-tranx-rerank", "codex")


@dataclass(frozen=True)
class Pair:
    system: str
    level: str
    ours: float
    published: float

    @property
    def difference(self) -> float:
        return abs(self.ours - self.published)


def pairs(shared_data: Path, *, every: int) -> list[Pair]:
    """The scores of every n-th problem, or a skip."""
    file = shared_data / "data/out-of-the-bleu/data/to-grade/conala/conala-all-grades.json"
    if not file.exists():
        pytest.skip(f"the published grades of CoNaLa are not at {file}")
    ruby, found = Ruby(), []
    for problem in json.loads(file.read_text(encoding="utf-8"))[::every]:
        for system in SYSTEMS:
            row = ruby.statistics(problem[system], problem["snippet"])
            level = ("graph", "tree", "string")[int(row[2:].argmax())]
            found.append(Pair(system, level, float(row[0]), problem[f"ruby-{system}"]))
    return found


def share(found: list[Pair], within: float) -> float:
    return sum(pair.difference <= within for pair in found) / len(found)
