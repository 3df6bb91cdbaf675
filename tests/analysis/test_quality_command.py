"""`python -m analysis quality` and `sample`: what they write and say, and refusals that leave nothing."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from analysis import columns
from analysis.annotators import QUALITY, annotator_table
from analysis.sampling import DRAWN
from tests.analysis.people_of import published_people, published_study
from tests.analysis.reports_of import digests
from tests.analysis.tables_of import scores_of
from tests.analysis.test_command import run
from tests.analysis.test_sampling import DRAW, HAND

HEAD = "problem,system,annotator,grade\n"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the simulated published study: grades.csv and scores.csv."""
    folder = tmp_path_factory.mktemp("study")
    rng = random.Random(1)
    grades, passed = published_study(rng, published_people(rng))
    columns.write_csv(grades, folder / "grades.csv")
    scores = scores_of(
        row | {"metric": "pass", "score": row["passed"]}
        for row in ({str(key): value for key, value in row.items()} for row in passed.to_dict("records"))
    )
    columns.write_csv(scores, folder / "scores.csv")
    return folder


def test_quality_without_a_rule(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "people.csv"
    status, out, lines = run(capsys, "quality", study / "grades.csv", "--output", target)
    assert (status, out, lines) == (0, f"{target}: what the grades tell of 49 annotators.\n", [])
    columns.write_csv(annotator_table(columns.read_grades(study / "grades.csv")), tmp_path / "same.csv")
    assert target.read_bytes() == (tmp_path / "same.csv").read_bytes()
    status, out, _ = run(capsys, "quality", study / "grades.csv")
    rows = list(csv.reader(out.splitlines()))
    assert tuple(rows[0]) == QUALITY
    assert len(rows) == 50


def test_quality_with_a_rule(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["quality", study / "grades.csv", "--scores", study / "scores.csv", "--rule", "published"]
    status, out, lines = run(capsys, *call, "--set", "guess=0.5", "--set", "time=active_seconds")
    assert status == 0
    rows = list(csv.DictReader(out.splitlines()))
    assert sorted(row["annotator"][:5] for row in rows if row["excluded"] == "true") == ["guess"] * 3
    assert lines == [
        "Note: published, version 1, with percentile=10.0, question=accuracy, equivalent_from=5.0, guess=0.5, "
        "minimum_people=10, time=active_seconds.",
        "Note: 5 of 49 people with a time make up the fastest 10 %.",
        "Note: 1764 of 1764 answers have no active time: the server's stands for it.",
        "Note: Of 49 annotators 3 are flagged and 3 would be excluded.",
    ]


def test_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, target = tmp_path / "anchor.csv", tmp_path / "drawn.csv"
    rows = [f"{problem},{passed},{similarity}\n" for problem, passed, similarity, _ in HAND]
    table.write_text("problem,passed,edit_similarity\n" + "".join(rows), encoding="utf-8")
    call = ["sample", table, "--seed", 7, "--output", target]
    wanted = ["--per-stratum", "pass-low=3", "--per-stratum", "fail-high=3", "--per-stratum", "agree=2"]
    status, out, lines = run(capsys, *call, *wanted)
    assert (status, out) == (0, f"{target}: 8 of 9 problems, seed 7.\n")
    assert lines[:3] == [
        "Note: agree: 4 of 5 problems drawn.",
        "Note: fail-high: 2 of 2 problems drawn.",
        "Note: pass-low: 2 of 2 problems drawn.",
    ]
    assert len(lines) == 5
    found = list(csv.reader(target.read_text(encoding="utf-8").splitlines()))
    assert tuple(found[0]) == DRAWN
    assert [(*row[:3], float(row[3])) for row in found[1:]] == DRAW


def test_an_empty_bucket_is_filled_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "anchor.csv"
    table.write_text(
        "problem,passed,edit_similarity\n" + "".join(f"p{n},1,1\n" for n in range(9)), encoding="utf-8"
    )
    call = ["sample", table, "--seed", 1, "--output", "-", "--per-stratum", 2]
    status, out, lines = run(capsys, *call)
    assert (status, len(out.splitlines())) == (0, 7)
    assert [line.split()[1] for line in lines] == [
        "pass-low:",
        "fail-high:",
        "agree:",
        "pass-low",
        "fail-high",
    ]
    status, out, _ = run(capsys, *call, "--fill-from", "")
    assert (status, len(out.splitlines())) == (0, 3)


def test_refusals_are_a_sentence_and_leave_nothing(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grades, scores, target = study / "grades.csv", study / "scores.csv", tmp_path / "out"
    bare, strata = tmp_path / "bare.csv", tmp_path / "strata.csv"
    bare.write_text("problem\np\n", encoding="utf-8")
    strata.write_text("problem,stratum\np,x\n", encoding="utf-8")
    rule = ["quality", grades, "--output", target, "--rule"]
    draw = ["--output", target, "--seed"]
    calls: list[tuple[list[object], str]] = [
        ([*rule, "published"], "The rule published compares answers with PASS, and there is none"),
        ([*rule, "published", "--scores", scores, "--pass-metric", "x"],
         "There are no scores of x: name PASS with --pass-metric. There are: pass."),
        ([*rule, "too_fast", "--set", "speed=1"], "The rule too_fast has no parameter speed."),
        ([*rule, "too_fast", "--set", "name=1"], "The rule too_fast has no parameter name."),
        ([*rule, "too_fast", "--set", "passed=1"], "PASS comes from --scores, not from --set."),
        ([*rule, "too_fast", "--set", "seconds"], "--set takes NAME=VALUE, not 'seconds'."),
        ([*rule, "too_fast", "--set", "seconds=x"], "The parameter seconds of the rule too_fast must be a number"),
        (["quality", grades, "--output", target, "--set", "seconds=1"], "--set gives a parameter of a rule"),
        (["quality", bare, "--output", target], "bare.csv has no column system, annotator, grade."),
        (["sample", bare, "--per-stratum", 1, *draw, 1], "bare.csv has nothing to draw by"),
        (["sample", strata, "--per-stratum", "x", *draw, 1], "--per-stratum must be a whole number from 0, not 'x'."),
        (["sample", strata, "--per-stratum", "x=-1", *draw, 1],
         "--per-stratum must be a whole number from 0, not '-1'."),
        (["sample", strata, "--per-stratum", "x=1", "--per-stratum", "1", *draw, 1],
         "--per-stratum takes NAME=VALUE, not '1'."),
        (["sample", strata, "--per-stratum", 1, *draw, -1], "The seed must be a whole number"),
        (["sample", tmp_path, "--per-stratum", 1, *draw, 1], f"Cannot read {tmp_path}: Is a directory."),
    ]  # fmt: skip
    before = digests(tmp_path)
    for arguments, sentence in calls:
        status, out, lines = run(capsys, *arguments)
        assert (status, out) == (2, "")
        assert lines[0].startswith(f"analysis: {sentence}")
        assert digests(tmp_path) == before


@pytest.mark.parametrize(
    "arguments",
    [["quality"], ["quality", "g", "--rule", "magic"], ["sample", "t", "--seed", "1", "--output", "o"]],
)
def test_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, _, lines = run(capsys, *arguments)
    assert status == 2
    assert lines[0].startswith(f"usage: python -m analysis {arguments[0]}")


def test_an_empty_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "g.csv").write_text(HEAD, encoding="utf-8")
    status, out, lines = run(capsys, "quality", tmp_path / "g.csv", "--rule", "straight_lining")
    assert (status, out) == (
        0,
        "annotator,items,modal_share,longest_run,flagged,excluded,reason\n",
    )
    assert lines[1] == "Note: There are no grades, so the rule finds nobody."
