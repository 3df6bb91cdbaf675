"""The CoNaLa grades of "Out of the BLEU" (Evtikhiev et al., arXiv:2208.03133) as our tables.

From its replication package, folder data/to-grade: all grades by grader, their M-MSR aggregates, and the
published score of every snippet by six metrics. -1 stands for a grade that was skipped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from tests.analysis.tables_of import grades_of, scores_of

SYSTEMS = ("baseline", "tranx-annot", "best-tranx", "best-tranx-rerank", "codex")
METRICS = ("bleu", "codebleu", "rougel", "meteor", "chrf", "ruby")


def read(shared: Path, name: str) -> list[dict[str, Any]]:
    path = shared / "data" / "out-of-the-bleu" / "data" / "to-grade" / "conala" / f"conala-{name}.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def conala_grades(shared: Path) -> pd.DataFrame:
    """12,476 grades: 10,602 of generated snippets, the others of references."""
    return grades_of(
        {
            "problem": str(place),
            "system": system,
            "annotator": grader,
            "grade": grade,
            "reference": system == "snippet",
        }
        for place, row in enumerate(read(shared, "human-grades"))
        for system in (*SYSTEMS, "snippet")
        for grader, grade in row[f"grade-{system}"].items()
        if grade != -1
    )


def conala_scores(shared: Path) -> pd.DataFrame:
    return scores_of(
        {"problem": str(place), "system": system, "metric": metric, "score": float(row[f"{metric}-{system}"])}
        for place, row in enumerate(read(shared, "all-grades"))
        for system in SYSTEMS
        for metric in METRICS
    )


def published_truth(shared: Path) -> dict[tuple[str, str], int]:
    """(problem, system) -> the published aggregate."""
    return {
        (str(place), system): row[f"grade-{system}"]
        for place, row in enumerate(read(shared, "aggregated-grades"))
        for system in SYSTEMS
    }
