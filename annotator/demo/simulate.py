"""Simulated grades for the demo study, so that a fresh installation has a report to look at.

Nobody judged these snippets. `quality.json` states how good each one is on the scale of the protocol (4 = it
solves the problem: the tests run every snippet to make sure); six simulated annotators see that value through
their own severity and noise. Every row says `simulated`, in its annotator's name and in a column of its own.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
SNIPPETS = FOLDER / "snippets.jsonl"  # the study, ready for import_study
QUALITY = FOLDER / "quality.json"  # kept apart from it, so that no table of the app can hold it

QUESTION = "helpfulness"
LOWEST, HIGHEST = 0, 4
GRADES_PER_SNIPPET = (4, 5)


@dataclass(frozen=True)
class SimulatedAnnotator:
    """`severity` is taken off every grade, `noise` is the standard deviation around it, both in grades."""

    name: str
    severity: float
    noise: float
    seconds: float  # median time for one snippet


ANNOTATORS = (
    SimulatedAnnotator("simulated-1", severity=0.0, noise=0.35, seconds=18.0),
    SimulatedAnnotator("simulated-2", severity=0.1, noise=0.45, seconds=24.0),
    SimulatedAnnotator("simulated-3", severity=-0.3, noise=0.5, seconds=15.0),
    SimulatedAnnotator("simulated-4", severity=0.5, noise=0.5, seconds=30.0),
    SimulatedAnnotator("simulated-5", severity=0.2, noise=0.7, seconds=12.0),
    SimulatedAnnotator("simulated-6", severity=-0.2, noise=1.3, seconds=7.0),  # quick and careless
)


def read_quality() -> dict[str, dict[str, int]]:
    """The stated quality, 0 to 4, of each problem's snippet of each system and of its reference."""
    quality: dict[str, dict[str, int]] = json.loads(QUALITY.read_text(encoding="utf-8"))
    return quality


def simulate_grades(seed: int) -> list[dict[str, Any]]:
    """Simulated grades of the demo study: four or five a snippet, references included.

    One row a grade, with the keys problem, system ("reference" for the reference), annotator, question, grade
    (int, 0 to 4), seconds (float, above 0) and simulated (always True). Each annotator's rows stand
    together, in the order in which they "graded". The same seed gives the same rows.
    """
    rng = random.Random(seed)
    handed: dict[str, list[tuple[str, str, int]]] = {annotator.name: [] for annotator in ANNOTATORS}
    names = list(handed)
    for problem, systems in read_quality().items():
        for system, quality in systems.items():
            for name in rng.sample(names, rng.choice(GRADES_PER_SNIPPET)):
                handed[name].append((problem, system, quality))
    rows: list[dict[str, Any]] = []
    for annotator in ANNOTATORS:
        items = handed[annotator.name]
        rng.shuffle(items)
        for problem, system, quality in items:
            rows.append(
                {
                    "problem": problem,
                    "system": system,
                    "annotator": annotator.name,
                    "question": QUESTION,
                    "grade": _grade(annotator, quality, rng),
                    "seconds": _seconds(annotator, rng),
                    "simulated": True,
                }
            )
    return rows


def _grade(annotator: SimulatedAnnotator, quality: int, rng: random.Random) -> int:
    seen = round(quality - annotator.severity + rng.gauss(0, annotator.noise))
    return min(max(seen, LOWEST), HIGHEST)


def _seconds(annotator: SimulatedAnnotator, rng: random.Random) -> float:
    return round(max(annotator.seconds * rng.lognormvariate(0, 0.5), 1.0), 1)
