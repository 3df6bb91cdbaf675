"""What leaves: the tables against the rows, the same bytes from everywhere, and readable as what it was."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections
from django.test import Client

import metrics
from analysis import columns
from annotator.grading.models import Grade
from annotator.results import actions, export, jobs, records, tasks
from annotator.results.models import MetricScore, Report
from annotator.studies.models import Item, Problem, Study, System
from tests.environment import ROOT
from tests.factories import LONG_AGO, give_grade, give_grades, make_annotator, make_researcher, make_study

pytestmark = pytest.mark.django_db(databases=["default", "reader"], transaction=True)


@pytest.fixture(autouse=True)
def quiet_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.run_part, "apply_async", lambda *args, **options: None)


@pytest.fixture
def study() -> Study:
    study = make_study(problems=6, systems=("a", "b"), references=1)
    give_grades(study, annotators=4)
    return study


def read(chunks: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(chunks).decode("utf-8"), newline="")))


def test_a_grade_is_one_row() -> None:
    study = make_study(problems=1, systems=("a",), references=0)
    Problem.objects.update(key="007", stratum="short")
    annotator = make_annotator(study, name="quiet otter")
    item = Item.objects.get()
    grade = give_grade(annotator, item, 3, label="Helpful", active_seconds=7.25)
    [row] = read(export.grades_csv(study))
    assert tuple(row) == columns.GRADES
    assert row == {
        "study": "study",
        "wave": "main",
        "problem": "007",
        "system": "a",
        "sample": "0",
        "item": str(item.pk),
        "judged_metric": "",
        "kind": "snippet",
        "assignment": str(grade.assignment_id),
        "annotator": "quiet otter",
        "question": "helpfulness",
        "grade": "3",
        "label": "Helpful",
        "position": "1",
        "side": "",
        "stratum": "short",
        "weight": "1",
        "seconds": "12.5",
        "active_seconds": "7.25",
        "submitted_at": "2026-01-05T09:01:12.000+00:00",
        "protocol_version": "1",
        "complete": "true",
        "surplus": "false",
        "excluded": "false",
        "check": "",
        "check_passed": "",
        "reference": "false",
        "simulated": "false",
    }


def test_flags_follow_their_rows() -> None:
    study = make_study(problems=1, systems=("a",), references=1)
    generated, reference = Item.objects.order_by("snippet__system__kind")
    robot = make_annotator(study, origin="simulated")
    give_grade(robot, reference, 2.5, seconds=None, submitted_at=None)
    give_grade(make_annotator(study), generated, 0, surplus=True, complete=False)
    one, two = read(export.grades_csv(study))
    assert (one["reference"], one["simulated"], one["grade"], one["seconds"], one["submitted_at"]) == (
        "true",
        "true",
        "2.5",
        "",
        "",
    )
    assert (two["reference"], two["simulated"], two["surplus"], two["complete"]) == (
        "false",
        "false",
        "true",
        "false",
    )


def test_every_grade_of_this_study_is_there_once_oldest_first(study: Study) -> None:
    give_grades(make_study("other"), annotators=1)
    rows = read(export.grades_csv(study))
    grades = Grade.objects.filter(assignment__item__study=study).order_by("pk")
    assert [int(row["assignment"]) for row in rows] == list(grades.values_list("assignment_id", flat=True))
    assert [float(row["grade"]) for row in rows] == list(grades.values_list("value", flat=True))
    assert len(rows) == 4 * 18


def test_as_many_queries_however_many_grades(study: Study, django_assert_num_queries: Any) -> None:
    """One for the rows; beside the grades one for who is excluded, beside the scores one for those of the file."""
    for table, count in ((records.grade_table, 2), (records.score_table, 2)):
        with django_assert_num_queries(count, connection=connections["reader"]):
            list(table(study))


def test_only_scores_of_the_metrics_as_they_are_now(study: Study) -> None:
    jobs.run_here(actions.start_job(study, "metrics", {"metrics": ["bleu"]}))
    old = MetricScore.objects.order_by("pk")[0]
    MetricScore.objects.create(snippet=old.snippet, metric="bleu", signature="bleu|version:0", score=0.1)
    MetricScore.objects.create(snippet=old.snippet, metric="forgotten", signature="f", score=0.1)
    rows = read(export.scores_csv(study))
    assert tuple(rows[0]) == columns.SCORES
    assert {row["signature"] for row in rows} == {metrics.get("bleu").signature}
    assert len(rows) == 12
    assert {row["reference"] for row in read(export.grades_csv(study)) if row["system"] == "reference"} == {
        "true"
    }
    assert "reference" not in {row["system"] for row in rows}


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "'", 'a"b', "a,b", "x\ny", "x\ry", "x\r\ny", "ü"],
)
def test_no_cell_is_a_formula_and_every_text_comes_back(text: str, tmp_path: Path) -> None:
    study = make_study(problems=1, systems=("a",), references=0)
    System.objects.update(name=text)
    Problem.objects.update(stratum=text)
    give_grade(make_annotator(study, name=text), Item.objects.get(), -1, label=text)
    raw = b"".join(export.grades_csv(study))
    assert raw.count(b"\n") == 2 + 4 * text.count("\n")
    [row] = read([raw])
    for name in ("system", "annotator", "label", "stratum"):
        assert row[name][:1] not in ("=", "+", "-", "@", "\t", "\r")
    assert row["grade"] == "-1"
    frame = export.grade_frame(study)
    assert list(frame["system"]) == list(frame["annotator"]) == [text]
    assert list(frame["problem"]) == ["0"]


def test_page_api_and_command_give_the_same_bytes(study: Study, tmp_path: Path) -> None:
    expected = b"".join(export.grades_csv(study))
    client = Client()
    client.force_login(make_researcher())
    for path in ("/results/study/grades.csv", "/api/studies/study/grades.csv"):
        answer: Any = client.get(path)
        assert answer.streaming
        assert answer.headers["Content-Disposition"] == 'attachment; filename="study-grades.csv"'
        assert b"".join(answer.streaming_content) == expected, path
    out = io.StringIO()
    call_command("export_grades", "study", "--output", str(tmp_path / "grades.csv"), stdout=out)
    assert (tmp_path / "grades.csv").read_bytes() == expected
    assert out.getvalue() == f"72 grades of study are in {tmp_path / 'grades.csv'}.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["grades.csv"]
    out = io.StringIO()
    call_command("export_grades", "study", "--output", "-", stdout=out)
    assert out.getvalue().encode() == expected


def test_a_study_without_grades_is_a_header() -> None:
    assert b"".join(export.grades_csv(make_study())) == (",".join(columns.GRADES) + "\n").encode()
    assert export.grade_frame(Study.objects.get()).empty


def test_an_export_that_breaks_leaves_the_old_file(tmp_path: Path) -> None:
    def broken() -> Any:
        yield b"half"
        raise RuntimeError

    path = tmp_path / "grades.csv"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError):
        export.write_file(broken(), path)
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("grades.csv", b"old")]


def test_grades_are_stored_while_an_export_runs(study: Study) -> None:
    """An export is one look at the data: it neither blocks a grade nor shows half of what comes later."""
    rows = records.grade_table(study)
    first = next(rows)
    stored: list[int] = []

    def store() -> None:
        try:
            item = Item.objects.filter(study=study)[0]
            stored.append(give_grade(make_annotator(study), item, 4).pk)
        finally:
            connections.close_all()

    thread = threading.Thread(target=store)
    thread.start()
    thread.join(timeout=10)
    assert stored
    assert len([first, *rows]) == 72
    assert len(list(records.grade_table(study))) == 73


def run_analysis(*args: str) -> None:
    command = [sys.executable, "-m", "analysis", *args]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)


@pytest.mark.parametrize("method", ["m-msr", "mean"])
def test_the_exported_file_gives_the_app_s_truth_byte_for_byte(
    study: Study, tmp_path: Path, method: str
) -> None:
    jobs.run_here(actions.start_job(study, "metrics", {"metrics": ["bleu", "chrf"]}))
    job = jobs.run_here(actions.start_job(study, "report", {"aggregator": method, "resamples": 20}))
    assert job.state == "done", job.error
    report = Report.objects.get(job=job)
    call_command("export_grades", "study", "--output", str(tmp_path / "grades.csv"), stdout=io.StringIO())
    export.write_file(export.scores_csv(study), tmp_path / "scores.csv")
    run_analysis(
        "aggregate", str(tmp_path / "grades.csv"), "--method", method, "--output", str(tmp_path / "truth.csv")
    )
    assert (tmp_path / "truth.csv").read_bytes() == bytes(report.files.get(name="truth.csv").content)
    truth = read([bytes(report.files.get(name="truth.csv").content)])
    assert {row["system"] for row in truth} == {"a", "b"}
    assert len(truth) == 12

    folder = tmp_path / "out"
    options = [
        "--output",
        str(folder),
        "--seed",
        "7",
        "--resamples",
        "20",
        "--aggregator",
        method,
        "--decimals",
        "3",
    ]
    run_analysis("report", str(tmp_path / "grades.csv"), str(tmp_path / "scores.csv"), *options)
    for name in ("correlations.csv", "systems.csv", "scores.csv"):
        assert (folder / name).read_bytes() == bytes(report.files.get(name=name).content), name


def test_report_command_writes_what_the_page_offers(study: Study, tmp_path: Path) -> None:
    call_command("compute_metrics", "study", "--metric", "bleu", "chrf", stdout=io.StringIO())
    out = io.StringIO()
    folder = tmp_path / "deep" / "out"
    call_command("report", "study", "--output", str(folder), "--resamples", "20", stdout=out)
    report = Report.objects.get()
    written = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert set(written) == set(report.files.values_list("name", flat=True))
    assert {"truth.csv", "scores.csv", "correlations.csv", "report.json"} <= set(written)
    for name, path in written.items():
        assert path.read_bytes() == bytes(report.files.get(name=name).content)
    assert "chrf" in out.getvalue()
    assert str(folder) in out.getvalue()
    assert report.summary["seed"] == study.seed


def test_the_same_report_twice_is_the_same_files(study: Study, tmp_path: Path) -> None:
    call_command("compute_metrics", "study", "--metric", "bleu", stdout=io.StringIO())
    for name in ("one", "two"):
        call_command(
            "report", "study", "--output", str(tmp_path / name), "--resamples", "20", stdout=io.StringIO()
        )
    for path in (tmp_path / "one").rglob("*"):
        if path.is_file():
            other = tmp_path / "two" / path.relative_to(tmp_path / "one")
            assert path.read_bytes() == other.read_bytes(), path.name


def test_a_report_of_an_empty_study_says_what_is_missing() -> None:
    job = jobs.run_here(actions.start_job(make_study(), "report", {"resamples": 20}))
    assert (job.state, job.error[:34]) == ("failed", "There is nothing to report on yet:")
    assert not Report.objects.exists()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["compute_metrics", "none"], "There is no study 'none'. Known studies: study."),
        (["report", "none", "--output", "x"], "There is no study 'none'"),
        (["export_grades", "none", "--output", "x"], "There is no study 'none'"),
        (
            ["compute_metrics", "study", "--metric", "blue"],
            "There is no metric 'blue'; the known ones are",
        ),
        (["export_grades", "study", "--output", "/no/such/folder/x"], "a folder that exists"),
        (["report", "study", "--output", __file__], "is a file"),
        (
            ["report", "study", "--output", "{tmp}", "--resamples", "0"],
            "The resamples must be a whole number",
        ),
        (["compute_metrics", "bare"], "No problem of this study has a reference"),
    ],
)
def test_commands_fail_with_a_sentence(
    study: Study, command: list[str], sentence: str, tmp_path: Path
) -> None:
    if "bare" in command:
        make_study("bare", references=0)
    with pytest.raises(CommandError, match=r"\A[^\n]+\Z") as caught:
        call_command(*[part.format(tmp=tmp_path) for part in command], stdout=io.StringIO())
    assert sentence in str(caught.value)


def test_a_command_without_any_study_says_how_to_get_one() -> None:
    with pytest.raises(CommandError, match="import one with import_study"):
        call_command("compute_metrics", "demo")


def test_times_are_in_utc() -> None:
    assert records.plain_time(LONG_AGO + timedelta(milliseconds=5)) == "2026-01-05T09:00:00.005+00:00"
