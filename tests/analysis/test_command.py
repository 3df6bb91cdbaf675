"""`python -m analysis`: what it writes, and refusals that are a sentence and leave nothing."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from analysis import aggregate, columns, report
from analysis.__main__ import main
from tests.analysis.reports_of import digests


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, list[str]]:
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as exit_:
        status = int(exit_.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err.splitlines()


def test_aggregate_command(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "truth.csv"
    status, out, _ = run(capsys, "aggregate", files / "grades.csv", "--output", target)
    assert (status, out) == (0, f"{target}: the truth of 16 snippets by m-msr.\n")
    truth = aggregate.aggregate(columns.read_grades(files / "grades.csv")).table
    columns.write_csv(truth, tmp_path / "same.csv")
    assert target.read_bytes() == (tmp_path / "same.csv").read_bytes()
    assert "p0,'=HYPERLINK(1),0," in target.read_text(encoding="utf-8")
    status, out, _ = run(capsys, "aggregate", files / "grades.csv", "--method", "mean", "--output", "-")
    assert status == 0
    rows = list(csv.DictReader(out.splitlines()))
    assert len(rows) == 16
    assert all(row["truth"] == row["mean"] for row in rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["same.csv", "truth.csv"]


def test_refusals_are_a_sentence_and_leave_nothing(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grades, scores, target = files / "grades.csv", files / "scores.csv", tmp_path / "out"
    bad = tmp_path / "bad.csv"
    bad.write_text("problem,system,annotator,grade\np,s,a,x\n", encoding="utf-8")
    empty = tmp_path / "empty.csv"
    empty.write_text("problem,system,annotator,grade\n", encoding="utf-8")
    calls: list[tuple[list[object], str]] = [
        (["aggregate", bad, "--output", target], "analysis: bad.csv cannot be used: 1 bad cells or lines."),
        (
            ["aggregate", tmp_path / "no", "--output", target],
            f"analysis: Cannot read {tmp_path / 'no'}: No such file",
        ),
        (["aggregate", grades, "--output", bad / "x"], "analysis: Cannot use "),
        (
            ["report", grades, bad, "--output", target, "--seed", 1],
            "analysis: bad.csv has no column metric, score.",
        ),
        (["report", empty, scores, "--output", target, "--seed", 1], f"analysis: {report.NO_GRADES}"),
        (["report", grades, scores, "--output", bad, "--seed", 1], f"analysis: {bad} is a file: "),
        (["report", grades, scores, "--output", target, "--seed", -1], "analysis: --seed must be"),
        (
            ["report", grades, scores, "--output", target, "--seed", 1, "--resamples", 0],
            "analysis: --resamples must be",
        ),
    ]
    before = digests(tmp_path)
    for arguments, sentence in calls:
        status, out, lines = run(capsys, *arguments)
        assert (status, out) == (2, "")
        assert lines[0].startswith(sentence)
        assert digests(tmp_path) == before
        assert not target.exists()


@pytest.mark.parametrize(
    "arguments", [["report", "a", "b", "--output", "c"], ["aggregate", "a"], [], ["magic"]]
)
def test_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, _, lines = run(capsys, *arguments)
    assert status == 2
    assert lines[0].startswith("usage: python -m analysis")


def test_an_old_report_stays_whole_when_a_new_one_is_refused(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["report", files / "grades.csv", files / "scores.csv", "--output", tmp_path, "--resamples", 20]
    assert run(capsys, *call, "--seed", 1)[0] == 0
    first = digests(tmp_path)
    call[1] = tmp_path / "truth.csv"
    assert run(capsys, *call, "--seed", 1)[0] == 2
    assert digests(tmp_path) == first


def test_m_msr_refuses_grades_that_share_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        "problem,system,annotator,grade",
        *(f"{number},a,p{number % 3},{number % 5}" for number in range(9)),
    ]
    (tmp_path / "grades.csv").write_text("\n".join(lines) + "\n")
    status, _, said = run(capsys, "aggregate", tmp_path / "grades.csv", "--output", tmp_path / "truth.csv")
    assert status == 2
    assert "no item has grades of two annotators" in said[0]
    assert not (tmp_path / "truth.csv").exists()
