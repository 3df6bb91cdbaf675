"""Reading a replication package: both of its layouts, and a sentence for what cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.errors import BadInput
from annotator.studies.package import Package, read_package

PNG = b"\x89PNG\r\n\x1a\n" + b"card"


def save(folder: Path, dataset: str, files: dict[str, Any], *, cards: int = 0) -> Path:
    """A package in `folder` with the files of one data set, their names without it and `.json`."""
    place = folder / "data" / "to-grade" / dataset
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (place / name.replace("*", dataset)).write_text(text)
    if cards:
        pictures = folder / "data" / "datasets" / f"{dataset}_cards"
        pictures.mkdir(parents=True)
        for number in range(cards):
            (pictures / f"{number}.png").write_bytes(PNG + bytes([number]))
    return folder


MERGED: list[dict[str, Any]] = [
    {
        "intent": "Add.",
        "snippet": ["a+1", "1+a"],
        "m": "a + 1",
        "n": "add(a)",
        "bleu-m": 0.5,
        "grade-m": {"grader1": 4, "grader2": -1},
        "grade-n": {"grader1": 0, "grader2": 2},
        "grade-snippet": {"grader2": 3},
    },
    {
        "intent": "Stop.",
        "snippet": "exit()",
        "m": "quit()",
        "n": "",
        "grade-m": {},
        "grade-n": {"grader1": 1},
    },
]
PLAIN: list[dict[str, Any]] = [
    {"intent": "Add.", "snippet": "a+1", "m": "a + 1", "n": "add(a)"},
    {"intent": "Stop.", "snippet": "exit()", "m": "quit()", "n": ""},
    {"intent": "Add.", "snippet": "1+a", "m": "a + 1", "n": "add(a)"},
]


def graded(*grades: dict[str, int]) -> list[dict[str, Any]]:
    """The file of one grader: PLAIN with grades."""
    return [
        row | {f"grade-{name}": grade for name, grade in given.items()}
        for row, given in zip(PLAIN, grades, strict=True)
    ]


def snippets(package: Package) -> set[tuple[str, str, int, str]]:
    return {(each.problem, each.system, each.sample, each.code) for each in package.material.snippets}


def grades(package: Package) -> set[tuple[str, str, str, int]]:
    found = [(each.problem, each.system, each.annotator, each.grade) for each in package.grades]
    assert len(set(found)) == len(found)
    return set(found)


SNIPPETS = {
    ("0", "m", 0, "a + 1"),
    ("0", "n", 0, "add(a)"),
    ("0", "reference", 0, "a+1"),
    ("0", "reference", 1, "1+a"),
    ("1", "m", 0, "quit()"),
    ("1", "n", 0, ""),
    ("1", "reference", 0, "exit()"),
}
GRADES = {
    ("0", "m", "grader1", 4),
    ("0", "n", "grader1", 0),
    ("0", "n", "grader2", 2),
    ("0", "reference", "grader2", 3),
    ("1", "n", "grader1", 1),
}


@pytest.mark.parametrize("inside", ["", "data"])
def test_the_merged_file_is_taken_where_there_is_one(tmp_path: Path, inside: str) -> None:
    raw = graded({"m": 4, "n": 1, "snippet": -1}, {"m": -1, "n": 1}, {"m": 3})
    save(tmp_path, "x", {"*-human-grades.json": MERGED, "*.json": PLAIN, "grader1.*.json": raw})
    package = read_package(tmp_path / inside, None)
    assert [problem.intent for problem in package.material.problems.values()] == ["Add.", "Stop."]
    assert snippets(package) == SNIPPETS
    assert grades(package) == GRADES
    [remark] = package.material.remarks
    assert "2 grades are the same as in the merged file, 1 differ and 2 are not there" in remark
    assert "(1 pairs have two grades)" in remark
    [note] = package.material.notes
    assert "cannot be told which reference was graded" in note
    assert "(problems 0)" in note


def test_raw_files_are_merged_by_intent(tmp_path: Path) -> None:
    first = graded({"m": 4, "n": 0}, {"n": 1, "m": -1}, {"m": 4, "n": 2})
    second = graded({"n": -1}, {}, {"n": 2, "snippet": 3})
    files = {"*.json": PLAIN, "grader1.*.json": first, "grader2.*.json": second}
    package = read_package(save(tmp_path, "x", files), "x")
    assert snippets(package) == SNIPPETS
    assert grades(package) == GRADES
    assert any(
        "graded both and differently (1 times), the first grade stands" in n for n in package.material.notes
    )


def test_of_differing_code_of_one_intent_the_first_stands(tmp_path: Path) -> None:
    package = read_package(save(tmp_path, "x", {"*.json": [PLAIN[0], PLAIN[2] | {"m": "other"}]}), None)
    assert ("0", "m", 0, "a + 1") in snippets(package)
    assert [note for note in package.material.notes if "(m in row 1)" in note]


def test_raw_files_alone_will_do(tmp_path: Path) -> None:
    none = {"m": -1, "n": -1}
    files = {
        "grader10.*.json": graded(none, none, {"m": 1, "n": -1}),
        "grader2.*.json": graded({"m": 0, "n": -1}, none, none),
    }
    package = read_package(save(tmp_path, "x", files), None)
    assert snippets(package) == SNIPPETS
    assert grades(package) == {("0", "m", "grader10", 1), ("0", "m", "grader2", 0)}


def test_systems_are_the_same_in_any_order(tmp_path: Path) -> None:
    turned = [dict(reversed(row.items())) for row in MERGED]
    one = read_package(save(tmp_path / "1", "x", {"*-human-grades.json": MERGED}), None)
    two = read_package(save(tmp_path / "2", "x", {"*-human-grades.json": turned}), None)
    assert one.material.snippets == two.material.snippets
    assert one.grades == two.grades


def test_rows_without_an_intent_are_shown_by_their_card(tmp_path: Path) -> None:
    rows = [{"snippet": "a", "m": "b"}, {"snippet": "a", "m": "c\r\n"}]
    package = read_package(save(tmp_path, "hs", {"*.json": rows}, cards=2), None)
    problems = list(package.material.problems.values())
    assert [each.image_alt for each in problems] == ["Hearthstone card 1", "Hearthstone card 2"]
    assert [each.image.name for each in problems if each.image] == ["0.png", "1.png"]
    assert ("1", "m", 0, "c\n") in snippets(package)
    assert package.grades == []


ROW = PLAIN[0]
BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "holds neither x-human-grades.json nor x.json."),
    ({"*.json": "no JSON"}, "x.json is not JSON"),
    ({"*.json": "[" * 100_000}, "x.json is not JSON"),
    ({"*.json": "[" + "9" * 5000 + "]"}, "x.json is not JSON"),
    ({"*.json": {"a": 1}}, "x.json must hold a list of objects."),
    ({"*.json": [1]}, "x.json must hold a list of objects."),
    ({"*.json": []}, "x.json must hold a list of objects."),
    ({"*.json": [ROW | {"\ud800": "x"}]}, "x.json: the name '\\ud800' holds half a character"),
    ({"*.json": [ROW | {"x" * 101: "x"}]}, "is longer than 100 characters."),
    ({"*.json": [ROW | {"reference": "x"}]}, "x.json: no system can be called 'reference'."),
    ({"*.json": [ROW | {"Reference ": "x"}]}, "x.json: no system can be called 'Reference '."),
    ({"*.json": [ROW | {"m": None}, ROW | {"intent": "B"}]}, "x.json, row 0: expected a text, found None."),
    ({"*.json": [ROW, ROW | {"intent": "B", "m": "\ud800"}]}, "x.json, row 1: a text holds half a character"),
    ({"*.json": [ROW | {"snippet": "\0"}]}, "x.json, row 0: a text holds a NUL character"),
    ({"*.json": [ROW | {"intent": ["a"]}]}, "x.json, row 0: expected a text, found ['a']."),
    ({"*.json": [ROW | {"intent": ""}]}, "x.json, row 0: no intent, and no card x_cards/0.png"),
    ({"*.json": [{"intent": "A"}]}, "x.json: no row holds the code of a system."),
    ({"*-human-grades.json": [ROW | {"snippet": [1]}]}, "row 0: expected a text, found 1."),
    (
        {"*-human-grades.json": [ROW | {"grade-m": 4}]},
        "row 0: the grades of m are no object of graders and grades.",
    ),
    *(
        (
            {"*-human-grades.json": [ROW | {"grade-m": {"g": grade}}]},
            "row 0: the grade of g for m is not on any",
        )
        for grade in ("4", True, 1.5, None, [1], 10**400)
    ),
    *(
        ({"*-human-grades.json": [ROW | {"grade-m": {name: 1}}]}, "cannot be the name of a grader.")
        for name in ("", "\0", "\ud800", "x" * 101)
    ),
    (
        {"*.json": [ROW], "grader1.*.json": [ROW | {"grade-m": {"a": 1}}]},
        "grader1.x.json, 'Add.': the grade of grader1 for m is not on any scale",
    ),
    ({"*.json": [ROW], "grader1.*.json": "{"}, "grader1.x.json is not JSON"),
]


@pytest.mark.parametrize(("files", "sentence"), BAD)
def test_rubbish_gets_a_sentence(tmp_path: Path, files: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_package(save(tmp_path, "x", files), None)
    told = [str(caught.value), *caught.value.lines]
    assert any(sentence in line for line in told), told
    assert max(map(len, told)) < 400


def test_a_card_that_is_missing_or_no_image_is_told(tmp_path: Path) -> None:
    rows = [{"snippet": "a", "m": "b"}] * 3
    save(tmp_path, "hs", {"*.json": rows}, cards=2)
    (tmp_path / "data" / "datasets" / "hs_cards" / "1.png").write_text("no image")
    with pytest.raises(BadInput) as caught:
        read_package(tmp_path, "hs")
    assert [line.partition(":")[0] for line in caught.value.lines] == ["hs.json, row 1", "hs.json, row 2"]


def test_what_is_no_package_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no replication package: it has no folder data/to-grade"):
        read_package(tmp_path, None)
    (tmp_path / "to-grade").mkdir()
    with pytest.raises(BadInput, match="holds no data set"):
        read_package(tmp_path, None)


def test_the_data_set_must_be_chosen_among_several(tmp_path: Path) -> None:
    save(tmp_path, "hs", {})
    save(tmp_path, "conala", {})
    for dataset, sentence in ((None, "has several data sets"), ("../x", "has no data set '../x'")):
        with pytest.raises(BadInput, match=r"Choose one: --dataset conala or --dataset hs\.") as caught:
            read_package(tmp_path, dataset)
        assert sentence in str(caught.value)
