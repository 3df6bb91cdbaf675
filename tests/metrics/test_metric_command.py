"""`python -m metrics`: files in, files out, and a sentence for everything that can be wrong."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrics
from metrics.__main__ import main
from metrics.table import guard, unguard, write_scores

ROOT = Path(__file__).resolve().parents[2]
SNIPPETS: list[dict[str, Any]] = [
    {"problem": "007", "system": "=1+1", "code": "f(a)", "references": ["f(b)", "g(a)"]},
    {"problem": 8, "system": "b", "sample": 2, "code": "x = '\0\udcff'", "reference": "x = 1"},
    {"problem": "8", "system": "b", "sample": "3", "code": "", "references": "x = 1"},
]


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_json(name: str, rows: list[Any]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def score(*arguments: str) -> int:
    return main(["score", *arguments])


def scores(name: str = "scores.csv") -> list[dict[str, str]]:
    with Path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The lines on the error output of a call that must end with 2 and write nothing."""
    before = sorted(Path().iterdir())
    try:
        status = score(*arguments)
    except SystemExit as exit_:
        status = int(exit_.code or 0)
    assert status == 2
    assert sorted(Path().iterdir()) == before
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def test_every_snippet_is_scored_by_every_metric_at_full_precision() -> None:
    write_json("s.jsonl", SNIPPETS)
    assert score("s.jsonl", "--metric", "bleu", "--metric", "edit-similarity", "--output", "scores.csv") == 0
    rows = scores()
    assert [*rows[0]] == ["problem", "system", "sample", "metric", "signature", "score"]
    assert [(row["problem"], row["system"], row["sample"], row["metric"]) for row in rows] == [
        (problem, system, sample, name)
        for problem, system, sample in [("007", "'=1+1", "0"), ("8", "b", "2"), ("8", "b", "3")]
        for name in ("bleu", "edit-similarity")
    ]
    bleu = metrics.get("bleu")
    assert rows[0]["signature"] == bleu.signature
    assert float(rows[0]["score"]) == bleu.segment("f(a)", ["f(b)", "g(a)"])
    assert float(rows[3]["score"]) == metrics.get("edit-similarity").segment("x = '\0\udcff'", ["x = 1"])
    assert [row["score"] for row in rows[4:]] == ["0.0", "0.0"]


def test_several_processes_write_the_same_file() -> None:
    write_json("s.jsonl", [{**SNIPPETS[0], "problem": number} for number in range(150)])
    arguments = ["s.jsonl", "--metric", "chrf", "--metric", "rouge-l"]
    assert score(*arguments, "--output", "one.csv") == 0
    assert score(*arguments, "--output", "two.csv", "--jobs", "2") == 0
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    assert len(scores("one.csv")) == 300


def test_an_undefined_score_is_an_empty_cell_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"problem": name, "system": "a", "code": "y" * length, "references": ["y"]} for name, length in
            (("1", 1), ("2", 120_001), ("3", 120_001))]  # fmt: skip
    write_json("s.jsonl", rows)
    assert score("s.jsonl", "--metric", "chrf", "--metric", "rouge-l", "--output", "o.csv") == 0
    told = "is undefined for 2 of 3 snippets: a text has 120,001 characters; metrics read 120,000 at most."
    assert capsys.readouterr().err == f"chrf {told}\nrouge-l {told}\n"
    lines = Path("o.csv").read_text(encoding="utf-8").splitlines()
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["1.0", "1.0", "", "", "", ""]


def test_csv_gives_the_scores_of_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("s.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["problem", "system", "sample", "code", "references", "notes"])
        writer.writerow(["007", "'=1+1", "", "f(a)\n", '["f(b)", "g(a)"]', "ignored"])
        writer.writerow(["8", "b", "2", "x[1]\r\ny", "[1, x]", ""])
        writer.writerow(["9", "b", "", "y" * 100_000, '["one text"', ""])
    rows = [
        {"problem": "007", "system": "=1+1", "code": "f(a)\n", "references": ["f(b)", "g(a)"]},
        {"problem": "8", "system": "b", "sample": 2, "code": "x[1]\r\ny", "references": ["[1, x]"]},
        {"problem": "9", "system": "b", "code": "y" * 100_000, "references": ['["one text"']},
    ]
    write_json("s.jsonl", rows)
    Path("s.jsonl").write_bytes(b"\xef\xbb\xbf\r\n" + Path("s.jsonl").read_bytes().replace(b"\n", b"\r\n"))
    for name in ("s.csv", "s.jsonl"):
        assert score(name, "--metric", "edit-similarity", "--output", f"{name}.out") == 0
    assert Path("s.csv.out").read_bytes() == Path("s.jsonl.out").read_bytes()
    assert capsys.readouterr().err == ""


def test_an_apostrophe_taken_off_code_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.csv").write_text("problem,system,code,reference\n1,a,'-x,-x\n2,a,'x',y\n", encoding="utf-8")
    assert score("s.csv", "--metric", "exact-match", "--output", "scores.csv") == 0
    assert [row["score"] for row in scores()] == ["1.0", "0.0"]
    assert (
        "an apostrophe before = + - @ was taken off code or references (rows: 1)" in capsys.readouterr().err
    )


@given(st.text(alphabet="'=+-@\t\ra", max_size=6))
def test_guarded_cells_are_safe_and_come_back(text: str) -> None:
    assert unguard(guard(text)) == text
    assert guard(text)[:1] not in tuple("=+-@\t\r")


def test_all_bad_lines_are_reported_together(capsys: pytest.CaptureFixture[str]) -> None:
    good = json.dumps(SNIPPETS[0]).encode()
    lines = [
        good,
        b"nope",
        b"",
        b'["a list"]',
        b"\xff",
        good,
        b'{"problem": true, "system": "", "code": 3, "references": [1]}',
        b'{"problem": "a\\u0000", "system": "\\udcff", "code": "x", "reference": "x", "references": "y"}',
        b'{"problem": "9", "system": "a", "code": "x", "references": []}',
        b"[" * 100_000,
    ]
    Path("s.jsonl").write_bytes(b"\n".join(lines))
    errors = refused(capsys, "s.jsonl", "--metric", "bleu", "--output", "scores.csv")
    assert errors[:-1] == [
        "s.jsonl, line 2: not a JSON object (Expecting value); write one object a line.",
        "s.jsonl, line 4: not a JSON object; write one object a line.",
        "s.jsonl, line 5: the line is not UTF-8; save the file as UTF-8.",
        "s.jsonl, line 6: problem, system and sample are those of line 1; number the samples.",
        "s.jsonl, line 7: problem must be text or a whole number.",
        "s.jsonl, line 7: system is missing.",
        "s.jsonl, line 7: code must be text.",
        "s.jsonl, line 7: references must be a text or a list of texts.",
        "s.jsonl, line 8: problem holds a character that cannot be written to a CSV file.",
        "s.jsonl, line 8: system holds a character that cannot be written to a CSV file.",
        "s.jsonl, line 8: give either reference or references, not both.",
        "s.jsonl, line 9: the metrics asked for need at least one reference.",
    ]
    assert errors[-1].startswith("s.jsonl, line 10: not a JSON object (")


def test_many_bad_lines_are_cut_short_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.jsonl").write_text("nope\n" * 1_234, encoding="utf-8")
    errors = refused(capsys, "s.jsonl", "--metric", "bleu", "--output", "scores.csv")
    assert len(errors) == 101
    assert errors[-1] == "... and 1,134 more."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"",
            ["s.csv, line 1: the column code is missing.", "s.csv, line 1: the column problem is missing."],
        ),
        (b"problem,system,code,code\n", ["s.csv, line 1: the column code stands there twice."]),
        (b"problem,system,code\n", ["s.csv holds no snippets."]),
        (b"problem,system,code\n1,a\n", ["s.csv, line 2: 2 cells under 3 columns."]),
        (
            b"problem,system,code\n1,a,x\n",
            ["s.csv, line 2: the metrics asked for need at least one reference."],
        ),
        (
            b"problem,system,code\n1,,x\n2,\xff,x\n",
            ["s.csv, line 3: the line is not UTF-8; save the file as UTF-8."],
        ),
        (
            b'problem,system,code\n1,a,"x',
            ["s.csv, line 2: not CSV (unexpected end of data); the rest was not read."],
        ),
    ],
)
def test_a_bad_csv_file_is_refused(
    capsys: pytest.CaptureFixture[str], content: bytes, expected: list[str]
) -> None:
    Path("s.csv").write_bytes(content)
    assert refused(capsys, "s.csv", "--metric", "bleu", "--output", "scores.csv")[: len(expected)] == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["s.jsonl", "--metric", "blue", "--output", "o"],
            "There is no metric 'blue'; the known ones are",
        ),
        (
            ["none.jsonl", "--metric", "bleu", "--output", "o"],
            "Cannot read none.jsonl: No such file or directory.",
        ),
        ([".", "--metric", "bleu", "--output", "o"], "Cannot read .: Is a directory."),
        (["s.jsonl", "--metric", "bleu", "--output", "."], "Cannot write .: that is not a file."),
        (
            ["s.jsonl", "--metric", "bleu", "--output", "pipe"],
            "Cannot write pipe: that is not a file.",
        ),
        (["s.jsonl", "--metric", "bleu", "--output", "no/o"], "Cannot write no/o: there is no folder "),
        (
            ["s.jsonl", "--metric", "bleu", "--output", "s.jsonl"],
            "Cannot write s.jsonl: that is the file of the",
        ),
        (
            ["s.jsonl", "--metric", "bleu"],
            "The following arguments are required: --output. See python -m metrics",
        ),
        (
            ["s.jsonl", "--metric", "bleu", "--output", "o", "--jobs", "0"],
            "Argument --jobs: invalid whole number",
        ),
    ],
)
def test_a_call_that_cannot_work_is_refused_in_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    write_json("s.jsonl", SNIPPETS)
    os.mkfifo("pipe")
    errors = refused(capsys, *arguments)
    assert len(errors) == 1
    assert errors[0].startswith(expected)


def test_a_link_is_followed_and_stays() -> None:
    write_json("s.jsonl", SNIPPETS)
    Path("link.csv").symlink_to("scores.csv")
    assert score("s.jsonl", "--metric", "bleu", "--output", "link.csv") == 0
    assert Path("link.csv").is_symlink()
    assert len(scores("scores.csv")) == 3


def test_an_interrupted_write_leaves_the_old_file() -> None:
    Path("scores.csv").write_text("old", encoding="utf-8")

    def broken() -> Any:
        yield {"problem": 1, "system": "a", "sample": 0, "metric": "bleu", "signature": "", "score": 1}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_scores(Path("scores.csv"), broken())
    assert Path("scores.csv").read_text(encoding="utf-8") == "old"
    assert [path.name for path in Path().iterdir()] == ["scores.csv"]


def test_a_bar_is_drawn_for_a_person_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_json("s.jsonl", SNIPPETS)
    assert score("s.jsonl", "--metric", "bleu", "--output", "scores.csv") == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert score("s.jsonl", "--metric", "bleu", "--output", "scores.csv") == 0
    assert capsys.readouterr().err == f"\r[{'#' * 30}] 3 of 3 snippets\n"


def test_the_list_gives_every_metric_with_its_signature() -> None:
    command = [sys.executable, "-m", "metrics", "list"]
    printed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    lines = [line.split("\t") for line in printed.splitlines()]
    assert [line[0] for line in lines] == metrics.names()
    assert [line[2] for line in lines] == [metrics.get(name).signature for name in metrics.names()]


def test_the_help_names_the_metrics_and_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        score("--help")
    text = "".join(capsys.readouterr().out.split())
    for word in [*metrics.names(), "references", "signature", "exitstatus"]:
        assert word in text


def test_a_lone_carriage_return_in_a_name_can_be_read_again(tmp_path: Path) -> None:
    row = {
        "problem": "a\rb",
        "system": 's"\r\n,',
        "sample": 0,
        "metric": "bleu",
        "signature": "x",
        "score": 0.5,
    }
    write_scores(tmp_path / "scores.csv", [row])
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as file:
        (again,) = csv.DictReader(file, strict=True)
    assert (again["problem"], again["system"], again["score"]) == ("a\rb", 's"\r\n,', "0.5")
