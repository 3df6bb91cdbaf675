"""The published studies: from the files of their package to the figures of the paper, by the documented commands."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from annotator.grading import actions
from annotator.grading.display import image_name
from annotator.grading.verify import drifted
from annotator.studies.models import Study

pytestmark = pytest.mark.django_db(databases=["default", "reader"], transaction=True)

METRICS = {"bleu": "bleu", "chrf": "chrf", "rouge-l": "rougel"}
"""Name here -> name in the package."""
PUBLISHED = {
    "chrf": (0.463, 0.630, 0.637),
    "bleu": (0.424, 0.580, 0.603),
    "rouge-l": (0.433, 0.589, 0.616),
}
"""Kendall, Spearman and Pearson correlation with the mean grade over all snippets of systems."""
COUNTS = {
    "problems": "472",
    "systems": "5",
    "snippets of systems": "2,360",
    "reference snippets": "500",
    "items to grade": "2,860",
    "annotators": "16",
    "grades of system snippets": "10,602",
    "grades of reference snippets": "1,874",
}


@pytest.fixture
def package(shared_data: Path) -> Path:
    folder = shared_data / "data" / "out-of-the-bleu"
    if not folder.is_dir():
        pytest.skip(f"the package is not at {folder}")
    return folder


def run(name: str, *arguments: str) -> str:
    out = StringIO()
    call_command(name, *arguments, stdout=out)
    return out.getvalue()


def printed_counts(text: str) -> dict[str, str]:
    """The rows of name and number of the table that the import prints."""
    lines = [line.rstrip() for line in text.splitlines()]
    found = [line.rsplit(maxsplit=1) for line in lines if line and line[-1].isdigit()]
    return {name.strip(): number for name, number in found if name.strip() in COUNTS}


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def published(folder: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((folder / "data/to-grade/conala" / name).read_text())
    return rows


def test_conala_from_the_package_to_the_correlations(package: Path, tmp_path: Path) -> None:
    arguments = (str(package), "--dataset", "conala", "--slug", "conala")
    text = run("import_study", *arguments)
    assert printed_counts(text) == COUNTS
    assert "cannot be told which reference was graded" in text
    study = Study.objects.get(slug="conala")
    assert study.state == Study.State.CLOSED
    assert drifted(study) == []
    again = run("import_study", *arguments)
    assert "conala: 0 new grades by 0 new annotators; 12476 were there already." in again
    assert printed_counts(again) == COUNTS

    out = tmp_path / "out"
    run("compute_metrics", "conala")
    run("report", "conala", "--output", str(out))
    check_truth(out, published(package, "conala-aggregated-grades.json"))
    check_scores(out, published(package, "conala-all-grades.json"))
    check_correlations(out)


def check_truth(out: Path, rows: list[dict[str, Any]]) -> None:
    """The aggregated grade of every snippet is the published one."""
    truth = {(row["problem"], row["system"]): float(row["truth"]) for row in table(out / "truth.csv")}
    systems = {system for _, system in truth}
    expected = {
        (str(number), system): float(row[f"grade-{system}"])
        for number, row in enumerate(rows)
        for system in systems
    }
    assert len(expected) == 2360
    assert truth == expected


def check_scores(out: Path, rows: list[dict[str, Any]]) -> None:
    """Every score is the published one, as far as its three digits go."""
    scores = {
        (row["metric"], row["problem"], row["system"]): float(row["score"])
        for row in table(out / "scores.csv")
        if row["system"] != "reference"
    }
    systems = {system for _, _, system in scores}
    for metric, name in METRICS.items():
        far = [
            (metric, number, system)
            for number, row in enumerate(rows)
            for system in systems
            if abs(scores[metric, str(number), system] - row[f"{name}-{system}"]) > 0.0011
        ]
        assert sum(key[0] == metric for key in scores) == 2360
        assert far == []


def check_correlations(out: Path) -> None:
    found = {
        row["metric"]: tuple(round(float(row[name]), 3) for name in ("kendall", "spearman", "pearson"))
        for row in table(out / "correlations.csv")
        if row["truth"] == "mean" and row["system"] == "all" and row["metric"] in PUBLISHED
    }
    assert found == PUBLISHED


def test_hearthstone_with_its_cards(package: Path, client: Client) -> None:
    text = run("import_study", str(package), "--dataset", "hs", "--slug", "hs", "--open")
    counts = printed_counts(text)
    assert (counts["problems"], counts["systems"]) == ("66", "2")
    study = Study.objects.get(slug="hs")
    assert (study.protocol_name, study.state) == ("hearthstone", "open")
    assert drifted(study) == []
    cards = package / "data" / "datasets" / "hs_cards"
    for number, problem in enumerate(study.problems.order_by("pk")):
        assert (problem.key, problem.image_alt) == (str(number), f"Hearthstone card {number + 1}")
        stored = settings.MEDIA_ROOT / "images" / problem.image
        assert stored.read_bytes() == (cards / f"{number}.png").read_bytes()
    person = actions.join(study, "")
    actions.consent(person)
    held = actions.start(person)
    assert held is not None
    problem = held.item.snippet.problem
    page = client.get(f"/a/{person.token}/image/{image_name(study, problem)}")
    content = b"".join(page.streaming_content)  # type: ignore[attr-defined]
    assert content == (cards / f"{problem.key}.png").read_bytes()
