"""Small studies and their reports, checked for what every report must be."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from analysis import columns, report, tables
from tests.analysis.tables_of import grades_of, scores_of

Rows = list[dict[str, Any]]
COLUMNS = {
    "truth": columns.TRUTH,
    "scores": columns.SCORES,
    "correlations": columns.CORRELATIONS,
    "systems": tables.SYSTEMS,
    "grade_counts": tables.GRADE_COUNTS,
    "grade_distribution": tables.DISTRIBUTION,
    "annotators": tables.ANNOTATORS,
    "undefined": tables.UNDEFINED,
}
FORMULA, HTML = "=HYPERLINK(1)", "<script>alert(1)</script>&amp;"


def study(
    *,
    problems: int = 8,
    systems: tuple[str, ...] = ("alpha", "beta"),
    annotators: int = 4,
    metrics: tuple[str, ...] = ("bleu", "chrf"),
    **cells: Any,
) -> tuple[Rows, Rows]:
    """Rows of grades and scores with a reference, made so that scores and grades go together."""
    rng = random.Random(1)
    grades, scores = [], []
    for problem in range(problems):
        for place, system in enumerate((*systems, "reference")):
            quality = rng.randrange(3) + place % 3
            snippet = {"problem": f"p{problem}", "system": system, "reference": system == "reference"}
            grades += [
                {
                    **snippet,
                    "annotator": f"w{worker}",
                    "grade": min(max(quality + rng.choice([-1, 0, 0, 0, 1]), 0), 4),
                    "seconds": rng.randrange(5, 90),
                    **cells,
                }
                for worker in range(annotators)
            ]
            if system != "reference":
                scores += [
                    {
                        **snippet,
                        "metric": metric,
                        "score": round((quality + rng.random()) / 6, 4),
                        "signature": metric,
                    }
                    for metric in metrics
                ]
    return grades, scores


def build(folder: Path, grades: Rows, scores: Rows, **options: Any) -> dict[str, Any]:
    """A report with everything every report must be: readable files, columns, no NaN."""
    chosen = {"seed": 1, "resamples": 40} | options
    made = report.build(grades_of(grades), scores_of(scores), folder, **chosen)

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    assert json.loads((folder / "report.json").read_text(encoding="utf-8"), parse_constant=refuse) == made
    for name, wanted in COLUMNS.items():
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, strict=True))
        assert tuple(rows[0]) == wanted
        assert all(len(row) == len(wanted) for row in rows)
        cells = {cell.lower() for row in rows for cell in row} - {row["system"].lower() for row in grades}
        assert not cells & {"nan", "inf", "-inf", "none", "<na>"}
    drawn = {path.relative_to(folder).as_posix() for path in folder.glob("figures/*")}
    assert drawn == {picture["file"] for picture in made["figures"]}
    assert len({name.lower() for name in drawn}) == len(made["figures"])
    for name in drawn:
        ElementTree.parse(folder / name)
    for table in made["tables"].values():
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
    assert set(made["data_sha256"]) == {"grades", "scores"}
    return made


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
