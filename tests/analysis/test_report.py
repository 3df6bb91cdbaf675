"""Reports: the same bytes from the same tables, and no study so odd that there is none."""

from __future__ import annotations

import csv
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis import columns, figures, report, tables
from analysis.columns import TableError
from tests.analysis.reports_of import FORMULA, HTML, Rows, build, digests, study
from tests.analysis.tables_of import grades_of, scores_of

ROOT = Path(__file__).resolve().parents[2]


def rows_of(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_same_tables_give_the_same_bytes_in_any_order(tmp_path: Path) -> None:
    grades, scores = study()
    extra = [{**grades[0], "grade": place % 3, "surplus": True, "seconds": place} for place in range(4)]
    build(tmp_path / "first", [*grades, *extra], scores)
    build(tmp_path / "again", [*grades, *extra], scores)
    shuffled, turned = [*grades, *extra], list(scores)
    random.Random(2).shuffle(shuffled)
    random.Random(3).shuffle(turned)
    build(tmp_path / "shuffled", shuffled, turned)
    first = digests(tmp_path / "first")
    assert digests(tmp_path / "again") == first
    assert digests(tmp_path / "shuffled") == first
    build(tmp_path / "seed", grades, scores, seed=2)
    other = digests(tmp_path / "seed")
    assert other["truth.csv"] == first["truth.csv"]
    assert other["correlations.csv"] != first["correlations.csv"]


def test_the_command_gives_the_bytes_of_build_under_any_hash_seed(files: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "analysis",
        "report",
        str(files / "grades.csv"),
        str(files / "scores.csv"),
    ]
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [*command, "--output", str(tmp_path / hash_seed), "--seed", "1", "--resamples", "40"],
            env={"PYTHONHASHSEED": hash_seed, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"The report is in {tmp_path / hash_seed}.\n"
        assert all(line.startswith("Note: ") for line in done.stderr.splitlines())
    build(tmp_path / "build", *study(systems=("alpha", FORMULA)))
    assert digests(tmp_path / "1") == digests(tmp_path / "2") == digests(tmp_path / "build")


def test_what_the_report_says(tmp_path: Path) -> None:
    grades, scores = study()
    steps: list[tuple[int, int, str]] = []
    made = build(tmp_path, grades, scores, study="demo", progress=lambda *step: steps.append(step))
    assert (made["study"], made["seed"], made["resamples"], made["aggregator"]) == ("demo", 1, 40, "m-msr")
    assert made["counts"] == {
        "grades": 96, "grades_of_references": 32, "grades_left_out": 0, "annotators": 4, "problems": 8,
        "snippets_with_truth": 16, "metrics": 2,
    }  # fmt: skip
    assert made["signatures"] == ["bleu", "chrf"]
    assert "--seed 1 --resamples 40 --aggregator m-msr" in made["command"]
    names = {"systems", "grade_distribution", "grade_counts", "correlations", "strip_bleu", "strip_chrf"}
    assert {picture["name"] for picture in made["figures"]} == names
    assert all(picture[part] for picture in made["figures"] for part in ("title", "caption", "alt"))
    shares = [done / total for done, total, _ in steps]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert all(text for _, _, text in steps)


def test_the_report_says_what_is_undefined_and_why(tmp_path: Path) -> None:
    grades, scores = study()
    assert "undefined" not in build(tmp_path, grades, scores)["tables"]
    for row in scores:
        if row["metric"] == "bleu" and row["problem"] in ("p0", "p1") and row["system"] == "alpha":
            row |= {"score": None, "undefined": "the text is too long."}
    made = build(tmp_path, grades, scores)
    assert made["tables"]["undefined"]["rows"] == [["bleu", "alpha", "2", "the text is too long."]]
    (row,) = rows_of(tmp_path, "undefined")
    assert row == {"metric": "bleu", "system": "alpha", "snippets": "2", "reason": "the text is too long."}
    counted = {row["metric"]: row["n"] for row in rows_of(tmp_path, "correlations") if row["system"] == "all"}
    assert counted == {"bleu": "14", "chrf": "16"}


def odd_studies() -> Iterator[tuple[str, Rows, Rows, dict[str, Any], str]]:
    """Name, grades, scores, options, and a warning that must be there (empty: none)."""
    grades, scores = study(systems=("alpha",))
    yield "one system", grades, scores, {}, ""
    grades, scores = study(annotators=1)
    yield (
        "one annotator",
        grades,
        scores,
        {},
        "M-MSR cannot be used: it needs at least 3 annotators, and there are 1",
    )
    grades, scores = study(annotators=2)
    yield "two annotators, mean", grades, scores, {"aggregator": "mean"}, ""
    grades, scores = study(problems=1)
    yield "one problem", grades, scores, {}, ""
    grades, scores = study(problems=2)
    yield "two problems", grades, scores, {}, ""
    grades, _ = study()
    yield "no scores", grades, [], {}, report.NO_SCORES
    grades, scores = study()
    yield (
        "only undefined scores",
        grades,
        [{**row, "score": float("nan")} for row in scores],
        {},
        report.NO_SCORES,
    )
    yield "scores of others", grades, [{**row, "problem": "x" + row["problem"]} for row in scores], {}, ""
    yield "all grades equal", [{**row, "grade": 3} for row in grades], scores, {}, "all grades are the same"
    yield "all scores equal", grades, [{**row, "score": 0.5} for row in scores], {}, ""
    yield "one resample", grades, scores, {"resamples": 1}, ""
    yield "simulated", [{**row, "simulated": True} for row in grades], scores, {}, report.SIMULATED
    some = [{**row, "simulated": row["annotator"] == "w1"} for row in grades]
    yield "some simulated", some, scores, {}, report.SOME_SIMULATED.format(names="w1")
    slider = [{**row, "grade": row["grade"] * 20 + place % 20} for place, row in enumerate(grades)]
    yield "slider", slider, scores, {}, "mean grade instead"
    yield "negative half grades", [{**row, "grade": row["grade"] / 2 - 1.5} for row in grades], scores, {}, ""
    two = [{**row, "question": name} for row in grades for name in ("useful", "Useful", "why?")]
    yield "three questions", two, scores, {}, ""
    judged = [{**row, "judged_metric": name} for row in grades for name in ("", "bleu")]
    yield "judged metrics beside code", judged, scores, {}, ""
    yield "judged metrics alone", [{**row, "judged_metric": "bleu"} for row in grades], scores, {}, ""
    yield "huge and tiny numbers", [{**row, "grade": row["grade"] * 1e14} for row in grades], scores, {}, ""
    tiny = [{**row, "score": row["score"] * 1e-300} for row in scores]
    yield "tiny scores", grades, tiny, {}, ""
    single = [row for place, row in enumerate(grades) if row["annotator"] == f"w{place // 4 % 4}"]
    yield "one grade a snippet", single, scores, {}, "share no snippet"
    alone = [row for row in grades if row["annotator"] != "w0"] + [
        {**grades[0], "annotator": "hermit", "problem": "far", "system": "alpha", "reference": False}
    ]
    yield "a hermit", alone, scores, {}, "2 groups that share no snippet"


ODD = list(odd_studies())


@pytest.mark.parametrize(
    ("grades", "scores", "options", "warning"), [row[1:] for row in ODD], ids=[row[0] for row in ODD]
)
def test_odd_studies(
    tmp_path: Path, grades: Rows, scores: Rows, options: dict[str, Any], warning: str
) -> None:
    warnings = build(tmp_path, grades, scores, **options)["warnings"]
    assert warning in " ".join(warnings)
    assert all(sentence.endswith(".") for sentence in warnings)


WEIRD = [
    FORMULA,
    HTML,
    "$x_1$ and $\\frac{1}",
    "${}$%#_^\\",
    "a" * 300,
    "\u4f60\u597d \U0001f600 \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "two\nlines\tand \x07\x1b\ufffe bells",
    "_hidden",
    " ",
    "all",
    "nan",
]


def test_weird_names(tmp_path: Path) -> None:
    grades, scores = study(problems=4, systems=tuple(WEIRD), annotators=3, metrics=tuple(WEIRD))
    grades = [{**row, "annotator": WEIRD[int(row["annotator"][1:])]} for row in grades]
    made = build(tmp_path, grades, scores, study=HTML)
    assert {row["system"] for row in rows_of(tmp_path, "systems")} == {
        *map(columns.safe_cell, WEIRD),
        "reference",
    }
    pooled = [row for row in rows_of(tmp_path, "correlations") if row["system"] == "all"]
    assert len(pooled) == 2 * len(WEIRD), "truths and metrics"
    assert {row["n"] for row in pooled} == {str(4 * len(WEIRD))}
    assert "system called all" in " ".join(made["warnings"])
    systems = (tmp_path / "figures" / "systems.svg").read_text(encoding="utf-8")
    assert "<script" not in systems
    texts = set(ElementTree.fromstring(systems).itertext())
    assert {name for name in WEIRD if name.isprintable() and len(name) < 20} <= texts


def test_weird_questions(tmp_path: Path) -> None:
    grades, scores = study(problems=3, annotators=3, metrics=("bleu",))
    asked = [{**row, "question": question} for row in grades for question in (HTML, "$x_1$ \n" + "q" * 90)]
    build(tmp_path, asked, scores)
    assert len(rows_of(tmp_path, "truth")) == 2 * 6


def test_file_names_of_metrics_that_look_alike_differ(tmp_path: Path) -> None:
    grades, scores = study(metrics=("a/b", "a b", "A-B", "../../x", ""))
    names = [picture["name"] for picture in build(tmp_path, grades, scores)["figures"]]
    assert len([name for name in names if name.startswith("strip_")]) == 5
    assert all(re.fullmatch(r"[\w-]+", name) for name in names)


def test_only_references_or_nothing_is_refused_and_nothing_written(tmp_path: Path) -> None:
    grades, scores = study()
    for rows in (
        [],
        [row for row in grades if row["reference"]],
        [{**row, "complete": False} for row in grades],
    ):
        with pytest.raises(TableError) as caught:
            report.build(grades_of(rows), scores_of(scores), tmp_path / "none", seed=1)
        assert str(caught.value) == report.NO_GRADES
        assert not (tmp_path / "none").exists()


def test_excluded_rows_and_references_change_no_truth(tmp_path: Path) -> None:
    grades, scores = study()
    build(tmp_path / "plain", grades, scores)
    more = [{**row, "annotator": "x", "grade": 0, "excluded": True} for row in grades]
    without = [row for row in grades if not row["reference"]]
    build(tmp_path / "more", [*grades, *more], scores)
    build(tmp_path / "without", without, scores)
    for name in ("truth.csv", "correlations.csv"):
        plain = (tmp_path / "plain" / name).read_bytes()
        assert (tmp_path / "more" / name).read_bytes() == plain
        assert (tmp_path / "without" / name).read_bytes() == plain


def test_small_tables_by_hand(tmp_path: Path) -> None:
    """Three snippets; b grades everything one lower than a; c grades one snippet."""
    grid = {("1", "s"): (4, 3, 4), ("2", "s"): (2, 1, None), ("1", "t"): (1, 0, None)}
    grades = [
        {"problem": problem, "system": system, "annotator": annotator, "grade": grade, "seconds": seconds}
        for (problem, system), values in grid.items()
        for annotator, grade, seconds in zip("abc", values, (10, 20, 30), strict=True)
        if grade is not None
    ]
    build(tmp_path, grades, [], aggregator="mean")
    found = {row["annotator"]: row for row in rows_of(tmp_path, "annotators")}
    assert {name: float(row["severity"]) for name, row in found.items()} == {
        "a": pytest.approx((4 - 3.5 + 1 + 1) / 3),
        "b": pytest.approx((3 - 4 - 1 - 1) / 3),
        "c": pytest.approx(4 - 3.5),
    }
    assert [float(row["agreement"]) for row in found.values()] == [0.25, 0.0, 0.5]
    assert [row["median_seconds"] for row in found.values()] == ["10", "20", "30"]
    systems = {row["system"]: row for row in rows_of(tmp_path, "systems")}
    assert float(systems["s"]["mean"]) == pytest.approx((11 / 3 + 1.5) / 2)
    assert (systems["s"]["snippets"], systems["s"]["grades"], systems["s"]["mean_low"]) == ("2", "5", "")
    counts = [(row["grades"], row["snippets"]) for row in rows_of(tmp_path, "grade_counts")]
    assert counts == [("2", "2"), ("3", "1")]
    shares = [(row["system"], row["grade"], row["grades"]) for row in rows_of(tmp_path, "grade_distribution")]
    assert shares == [
        ("s", "1", "1"),
        ("s", "2", "1"),
        ("s", "3", "1"),
        ("s", "4", "2"),
        ("t", "0", "1"),
        ("t", "1", "1"),
    ]


def test_reading_what_the_report_wrote(files: Path, tmp_path: Path) -> None:
    grades, scores = columns.read_grades(files / "grades.csv"), columns.read_scores(files / "scores.csv")
    report.build(grades, scores, tmp_path, seed=1, resamples=5)
    again = columns.read_scores(tmp_path / "scores.csv")
    pd.testing.assert_frame_equal(again, tables.snippet_scores(scores))


def test_figures_of_large_studies_stay_small(tmp_path: Path) -> None:
    pairs = pd.DataFrame(
        {"value": [place % 5 for place in range(9000)], "score": [place / 9000 for place in range(9000)]}
    )
    figures.strip(pairs, "bleu", 0.1, tmp_path / "strip.svg", seed=1)
    svg = (tmp_path / "strip.svg").read_text(encoding="utf-8")
    assert len(re.findall(r"M[\d.]+ [\d.]+h0", svg)) == figures.DOTS
    assert len(svg) < 100_000


@pytest.mark.parametrize(
    ("row", "name", "text"),
    [
        ({"kendall": 0.4626, "kendall_low": 0.43, "kendall_high": 1.0}, "kendall", ".463 [.430, 1.000]"),
        ({"pearson": -0.05, "pearson_low": -0.9996, "pearson_high": 0.0}, "pearson", "-.050 [-1.000, .000]"),
        ({"spearman": 0.5, "spearman_low": float("nan")}, "spearman", ".500"),
        ({"mean": 0.456, "mean_low": 0.4, "mean_high": 10.5}, "mean", "0.46 [0.40, 10.50]"),
        ({"n": 12.0}, "n", "12"),
        ({"kendall": None}, "kendall", "–"),
    ],
)
def test_numbers_are_shown_as_published_tables_have_them(row: dict[str, Any], name: str, text: str) -> None:
    assert report._text(row, name) == text
