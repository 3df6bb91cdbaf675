"""`manage.py import_study`: what it prints and stores, and that nothing ends in a traceback or half a study."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, models

from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.grading.verify import drifted
from annotator.results.importing import default_slug
from annotator.studies.actions import close_study
from annotator.studies.models import Item, Problem, Snippet, Study, System
from tests.environment import ROOT

pytestmark = pytest.mark.django_db
PNG = b"\x89PNG\r\n\x1a\n" + b"picture"
KINDS: tuple[type[models.Model], ...] = (
    *(Study, Problem, System, Snippet, Item),
    *(Annotator, Assignment, Grade, GradeRevision),
)
SNIPPETS = [
    {"problem": p, "intent": f"Do {p}.", "system": s, "code": f"{s}({p})", "references": [f"r({p})"]}
    for p in "12"
    for s in ("m", "n")
]
GRADES = [
    {"problem": p, "system": s, "annotator": a, "grade": g}
    for p, s, a, g in (
        ("1", "m", "ann", 3),
        ("1", "m", "bob", 2),
        ("2", "n", "ann", 0),
        ("2", "reference", "bob", 4),
    )
]
PACKAGE = [
    {
        "intent": "Add.",
        "snippet": ["a", "b"],
        "m": "c",
        "n": "d",
        "grade-m": {"grader1": 3},
        "grade-n": {"grader2": -1},
    },
    {
        "intent": "Stop.",
        "snippet": "e",
        "m": "f",
        "n": "f",
        "grade-n": {"grader1": 0},
        "grade-snippet": {"grader2": 4},
    },
]


def run(*arguments: Any) -> str:
    out = StringIO()
    call_command("import_study", *map(str, arguments), stdout=out)
    text = out.getvalue()
    text.encode()
    for study in Study.objects.all():
        assert drifted(study) == []
    return text


def refusal(*arguments: Any) -> str:
    """What an import says that stores nothing at all."""
    before = stored()
    with pytest.raises(CommandError) as caught:
        run(*arguments)
    assert stored() == before
    assert caught.value.returncode == 1
    return str(caught.value)


def stored() -> list[Any]:
    return [list(kind._default_manager.order_by("pk").values()) for kind in KINDS]


def save(folder: Path, rows: list[dict[str, Any]], name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if ".csv" in name:
        text = StringIO(newline="")
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(
            {key: json.dumps(cell) if isinstance(cell, list) else cell for key, cell in row.items()}
            for row in rows
        )
        content = text.getvalue().encode()
    elif ".jsonl" in name:
        content = "\n".join(map(json.dumps, rows)).encode()
    else:
        content = json.dumps(rows).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def save_package(folder: Path, dataset: str = "x", rows: list[dict[str, Any]] = PACKAGE) -> Path:
    save(folder / "data" / "to-grade" / dataset, rows, f"{dataset}-human-grades.json")
    return folder


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.jsonl", "rows.jsonl.gz", "rows.json"])
def test_a_file_of_snippets_becomes_a_draft(tmp_path: Path, name: str) -> None:
    text = run(save(tmp_path, SNIPPETS, name))
    assert "rows: 2 new problems, 3 new systems, 6 new snippets, 6 new items." in text
    assert "It is draft. Join: /join/rows/  Results: /results/rows/" in text
    study = Study.objects.get()
    assert (study.slug, study.state, study.protocol_name) == ("rows", "draft", "helpfulness")
    codes = Snippet.objects.order_by("problem__key", "system__name").values_list("code", flat=True)
    assert list(codes) == ["m(1)", "n(1)", "r(1)", "m(2)", "n(2)", "r(2)"]
    before = stored()
    again = run(save(tmp_path, SNIPPETS, name))
    assert "rows: 0 new problems, 0 new systems, 0 new snippets, 0 new items." in again
    assert stored() == before


def test_every_option_is_heard_and_may_be_said_again(tmp_path: Path) -> None:
    said = ("--slug", "mine", "--title", "My study", "--protocol", "helpfulness", "--policy", "everyone")
    arguments = (save(tmp_path, SNIPPETS), *said, "--target", 3, "--seed", 2**63 - 1, "--open")
    assert "It is open." in run(*arguments)
    study = Study.objects.get()
    assert (study.slug, study.title, study.policy, study.state) == ("mine", "My study", "everyone", "open")
    assert (study.target, study.seed) == (3, 2**63 - 1)
    assert set(Item.objects.values_list("target", flat=True)) == {3}
    before = stored()
    run(*arguments)
    run(*arguments[:3])
    assert stored() == before
    for option, value in (
        ("title", "Other"),
        ("policy", "open"),
        ("target", 4),
        ("seed", 0),
        ("protocol", "hearthstone"),
    ):
        assert f"--{option} {value}" in refusal(*arguments[:3], f"--{option}", value)


def test_rows_are_added_to_a_draft_only(tmp_path: Path) -> None:
    more = [*SNIPPETS, SNIPPETS[0] | {"problem": "3", "intent": "Do 3."}]
    run(save(tmp_path, SNIPPETS))
    assert "1 new problems, 0 new systems, 2 new snippets, 2 new items" in run(save(tmp_path, more))
    run(save(tmp_path, more), "--open")
    added = save(tmp_path, [*more, SNIPPETS[0] | {"problem": "4"}])
    assert "The study 'rows' is open: nothing can be added to it." in refusal(added)
    close_study(Study.objects.get())
    run(save(tmp_path, more), "--open")
    assert Study.objects.get().state == "closed"


def test_a_slug_that_other_content_has_is_refused(tmp_path: Path) -> None:
    run(save(tmp_path, SNIPPETS))
    told = refusal(save(tmp_path, [row | {"code": "other", "intent": "Other."} for row in SNIPPETS]))
    assert "The study 'rows' has other texts than the file. Nothing was imported." in told
    assert "rows.jsonl:1: problem '1': its intent differs from what is stored." in told


@pytest.mark.parametrize("name", ["grades.csv", "grades.csv.gz", "grades.jsonl", "grades.json"])
def test_a_file_of_grades(tmp_path: Path, name: str) -> None:
    run(save(tmp_path, SNIPPETS), "--slug", "mine")
    path = save(tmp_path, [row | {"mood": "good"} for row in GRADES], name)
    text = run(path, "--slug", "mine")
    assert "mine: 4 new grades by 2 new annotators; 0 were there already." in text
    assert "Note: Columns that are not used: mood." in text
    assert set(Annotator.objects.values_list("pseudonym", "origin")) == {
        ("ann", "imported"),
        ("bob", "imported"),
    }
    before = stored()
    assert "mine: 0 new grades by 0 new annotators; 4 were there already." in run(path, "--slug", "mine")
    assert stored() == before


@pytest.mark.django_db(databases=["default", "reader"], transaction=True)
def test_grades_that_were_exported_come_back(tmp_path: Path) -> None:
    rows = [row | {"problem": "=" + row["problem"]} for row in SNIPPETS]  # type: ignore[operator]
    run(save(tmp_path, rows), "--slug", "one", "--seed", 1)
    run(save(tmp_path, rows), "--slug", "two", "--seed", 2)
    run(save(tmp_path, [row | {"problem": f"={row['problem']}"} for row in GRADES], "g.csv"), "--slug", "one")
    call_command("export_grades", "one", "--output", str(tmp_path / "grades.csv"), stdout=StringIO())
    assert "4 new grades by 2 new annotators" in run(tmp_path / "grades.csv", "--slug", "two")


def test_rows_outside_the_counts_are_left_out_and_told(tmp_path: Path) -> None:
    run(save(tmp_path, SNIPPETS, "s.jsonl"), "--slug", "mine")
    marked = [row | {"surplus": str(number == 0).lower(), "check": ""} for number, row in enumerate(GRADES)]
    text = run(save(tmp_path, marked, "g.csv"), "--slug", "mine")
    assert "mine: 3 new grades by 2 new annotators; 0 were there already." in text
    assert "Note: 1 rows were left out: the file marks them as surplus" in text
    assert "not used" not in text


def test_grades_need_a_study(tmp_path: Path) -> None:
    path = save(tmp_path, GRADES)
    assert "rows.jsonl holds grades: say of which study with --slug." in refusal(path)
    assert "none" in refusal(path, "--slug", "none")
    run(save(tmp_path, SNIPPETS, "s.jsonl"), "--slug", "mine", "--target", 1)
    told = refusal(path, "--slug", "mine")
    assert "rows.jsonl:2: with this file the snippet has 2 grades, but the target is 1." in told
    bad = save(tmp_path, [*GRADES[:1], GRADES[1] | {"grade": 9}])
    assert "rows.jsonl:2: 9 is not on the scale" in refusal(bad, "--slug", "mine")


def test_a_package(tmp_path: Path) -> None:
    text = run(save_package(tmp_path), "--slug", "mine", "--target", 5)
    assert "mine: 2 new problems, 3 new systems, 7 new snippets, 7 new items." in text
    assert "mine: 3 new grades by 2 new annotators; 0 were there already." in text
    assert "It is closed." in text
    table = {
        line.rsplit(maxsplit=1)[0].strip(): line.split()[-1] for line in text.splitlines() if line.strip()
    }
    assert (table["snippets of systems"], table["reference snippets"]) == ("4", "3")
    assert (table["grades of system snippets"], table["grades of reference snippets"]) == ("2", "1")
    before = stored()
    again = run(tmp_path / "data", "--dataset", "x", "--slug", "mine")
    assert "mine: 0 new grades by 0 new annotators; 3 were there already." in again
    assert stored() == before
    assert "It is open." in run(tmp_path, "--slug", "mine", "--open")
    run(tmp_path, "--slug", "mine")
    assert Study.objects.get().state == "open"


def test_a_package_with_a_bad_grade_leaves_nothing(tmp_path: Path) -> None:
    save_package(tmp_path, rows=[PACKAGE[0] | {"grade-m": {"grader1": 7}}])
    assert "x-human-grades.json, row 0: 7 is not on the scale" in refusal(tmp_path)
    assert not Study.objects.exists()


def test_images_come_along_and_stay_the_same(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    (tmp_path / "one.png").write_bytes(PNG)
    path = save(tmp_path, [row | {"image": "one.png", "image_alt": "A picture"} for row in SNIPPETS])
    run(path)
    before = stored()
    run(path)
    assert stored() == before
    [image] = (tmp_path / "media" / "images").iterdir()
    assert set(Problem.objects.values_list("image", flat=True)) == {image.name}
    for name, sentence in (
        ("../one.png", "outside"),
        ("two.png", "no image"),
        ("rows.jsonl", "is not a PNG"),
    ):
        told = refusal(save(tmp_path, [row | {"image": name} for row in SNIPPETS]), "--slug", "new")
        assert f"rows.jsonl:1: {sentence}" in told or sentence in told


OPTIONS: list[tuple[tuple[Any, ...], str]] = [
    (("--target", 0), "The target must be from 1"),
    (("--target", 10**30), "The target must be from 1"),
    (("--seed", -1), "The seed must be a whole number from 0"),
    (("--seed", 2**63), "The seed must be a whole number from 0"),
    (("--protocol", "none"), "There is no protocol 'none'. Known: hearthstone, helpfulness,"),
    (("--policy", "none"), "There is no policy 'none'. Known: open, everyone, balanced, blocks."),
    (("--slug", "A b"), "'A b' cannot stand in a link"),
    (("--slug", "x" * 61), "cannot stand in a link"),
    (("--slug", "\udcff\0"), "cannot stand in a link"),
    (("--title", "\udcff"), "The title holds half a character"),
    (("--title", "x" * 201), "The title is longer than 200 characters."),
    (("--dataset", "conala"), "--dataset chooses a data set of a replication package, and PATH is a file."),
]


@pytest.mark.parametrize(("options", "sentence"), OPTIONS)
def test_options_that_cannot_be(tmp_path: Path, options: tuple[Any, ...], sentence: str) -> None:
    assert sentence in refusal(save(tmp_path, SNIPPETS), *options)
    if options[0] != "--dataset":
        assert sentence in refusal(save_package(tmp_path), *options)


def test_a_number_that_is_none_is_refused_by_the_command(tmp_path: Path) -> None:
    assert "invalid int value" in refusal(save(tmp_path, SNIPPETS), "--target", "many")


def test_paths_that_hold_no_study(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "manage.py").touch()
    (tmp_path / "bad.csv").write_bytes(b"problem,system,code\n1,m,\xff\n")
    for path, sentence in (
        (tmp_path / "none.csv", "There is no file or folder"),
        (tmp_path / "bad.csv" / "x.csv", "There is no file or folder"),
        (Path("\0.csv"), "There is no file or folder"),
        (tmp_path / ("x" * 300), "Cannot read"),
        (tmp_path / "loop.csv", "Cannot read"),
        (tmp_path / "pipe.csv", "is not a file."),
        (Path("/dev/zero"), "is of an unknown kind"),
        (tmp_path / "folder.csv", "is no replication package"),
        (tmp_path, "is this project, not a package"),
        (tmp_path / "bad.csv", "bad.csv:2: this is not UTF-8 text."),
    ):
        assert sentence in refusal(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="for the administrator every file is readable")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = save(tmp_path, SNIPPETS)
    path.chmod(0)
    assert "Cannot read" in refusal(path)


def test_many_and_long_complaints_are_cut(tmp_path: Path) -> None:
    told = refusal(save(tmp_path, [row | {"system": "", "problem": "x"} for row in SNIPPETS * 100]))
    lines = told.splitlines()
    assert lines[0] == "rows.jsonl has 400 bad lines. Nothing was imported."
    assert (len(lines), lines[-1]) == (202, "... and 200 more.")
    told = refusal(save(tmp_path, [SNIPPETS[0] | {"image": "x" * 100_000}]))
    assert max(map(len, told.splitlines())) < 500


def test_the_file_and_the_command_of_the_tutorial(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    [rows] = re.findall(r"```json\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "snippets.jsonl").write_text(rows, encoding="utf-8")
    [command] = re.findall(r"manage\.py import_study (snippets\.jsonl .*)", text)
    name, *options = command.split()
    assert "mine: 2 new problems, 3 new systems, 6 new snippets, 6 new items." in run(
        tmp_path / name, *options
    )
    assert Study.objects.get().state == "open"


def test_a_database_without_tables_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise OperationalError("no such table: studies_study")

    monkeypatch.setattr("annotator.results.management.commands.import_study.import_path", broken)
    assert "no such table: studies_study). Has it its tables?" in refusal(save(tmp_path, SNIPPETS))


def test_slugs_from_names() -> None:
    assert default_slug("My Study_2 (new)") == "my-study-2-new"
    assert default_slug("Ä" + "x" * 70) == "x" * 59
    assert default_slug("x" * 59 + "-y") == "x" * 59


def test_a_name_that_gives_no_slug_is_told(tmp_path: Path) -> None:
    assert "Choose one with --slug." in refusal(save(tmp_path, SNIPPETS, "ü.jsonl"))
