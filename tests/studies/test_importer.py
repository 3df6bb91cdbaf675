"""From a file of snippets to problems, systems and snippets: what is read, and what is refused where."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotator.errors import BadInput
from annotator.studies.importer import Material, read_snippets
from annotator.studies.tabular import read_rows

PNG = b"\x89PNG\r\n\x1a\n" + b"picture"
GOOD: dict[str, Any] = {"problem": "1", "intent": "Add `a`.", "system": "m", "code": "a + 1"}


def save(folder: Path, *rows: Any, name: str = "x.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def save_csv(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "x.csv"
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    return path


def refusal(path: Path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read_snippets(path)
    return [str(caught.value), *caught.value.lines]


def references(material: Material, problem: str = "1") -> list[str]:
    found = [each for each in material.snippets if each.is_reference and each.problem == problem]
    assert [each.sample for each in found] == list(range(len(found)))
    assert {each.system for each in found} <= {"reference"}
    return [each.code for each in found]


def test_everything_that_a_row_can_say(tmp_path: Path) -> None:
    (tmp_path / "1.png").write_bytes(PNG)
    full = GOOD | {
        "language": "java",
        "sample": 2,
        "image": "1.png",
        "image_alt": "A picture",
        "stratum": "easy",
        "context": "class A",
        "tests": "assert True",
        "references": ["a+1"],
    }
    material = read_snippets(save(tmp_path, full, GOOD | {"system": "n", "code": " b\r\n\n"}))
    problem = material.problems["1"]
    assert (problem.intent, problem.stratum, problem.context) == ("Add `a`.", "easy", "class A")
    assert (problem.tests, problem.image_alt) == ("assert True", "A picture")
    assert problem.image == (tmp_path / "1.png").resolve()
    first, second, reference = material.snippets
    assert (first.system, first.sample, first.language, first.code) == ("m", 2, "java", "a + 1")
    assert (second.sample, second.language, second.code) == (0, "python", " b\n\n")
    assert (reference.is_reference, reference.language, reference.code) == (True, "java", "a+1")


REFERENCES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"references": ""}, []),
    ({"references": "[]"}, []),
    ({"references": "a"}, ["a"]),
    ({"references": '["a", "b\\n"]'}, ["a", "b\n"]),
    ({"references": '["a", "a"]'}, ["a"]),
    ({"references": '["a", " "]'}, ["a"]),
    ({"references": "[x for x in y]"}, ["[x for x in y]"]),
    ({"references": "[1, 2]"}, ["[1, 2]"]),
    ({"references": "[" * 100_000}, ["[" * 100_000]),
    ({"references": "a", "reference": "b"}, ["a", "b"]),
    ({"reference": '["a"]'}, ['["a"]']),
]


@pytest.mark.parametrize(("cells", "expected"), REFERENCES)
def test_references_in_columns(tmp_path: Path, cells: dict[str, Any], expected: list[str]) -> None:
    for path in (save(tmp_path, GOOD | cells), save_csv(tmp_path, GOOD | cells)):
        assert references(read_snippets(path)) == expected


def test_references_as_lists_and_as_rows(tmp_path: Path) -> None:
    assert references(read_snippets(save(tmp_path, GOOD | {"references": ["a", "b"]}))) == ["a", "b"]
    rows = [GOOD | {"system": "Reference", "code": code, "sample": k} for k, code in enumerate("ab")]
    assert references(read_snippets(save(tmp_path, GOOD, *rows))) == ["a", "b"]


def bad(*changes: dict[str, Any]) -> list[dict[str, Any]]:
    """Good rows of different systems, each with a change; a change to None leaves the cell out."""
    return [{**GOOD, "system": f"m{number}", **change} for number, change in enumerate(changes)]


EMPTY: dict[str, Any] = {}
BAD: list[tuple[list[dict[str, Any]], str]] = [
    ([{"a": 1}], "x.jsonl has no column problem, system, code. It has 'a'. A file of snippets has"),
    ([{"problem;Code": 1}], "x.jsonl has no column problem, system, code. It has 'problem;Code'."),
    ([{f"{'c' * 150}{n}": 1 for n in range(30)}], "x.jsonl has no column problem, system, code. It has 'ccc"),
    (bad({"code": None}), "x.jsonl has no column code."),
    (bad(EMPTY, {"code": None}), "x.jsonl:2: `code` is missing."),
    (bad({"code": {"a": 1}}), "x.jsonl:1: `code` must be a text."),
    (bad({"code": ["a"]}), "x.jsonl:1: `code` must be a text."),
    (bad({"code": True}), "x.jsonl:1: `code` must be a text."),
    (bad({"problem": " "}), "x.jsonl:1: `problem` is empty."),
    (bad({"problem": {}}), "x.jsonl:1: `problem` must be a text."),
    (bad({"system": ""}), "x.jsonl:1: `system` is empty."),
    (bad({"problem": "x" * 201}), "x.jsonl:1: `problem` is longer than 200 characters."),
    (bad({"system": "x" * 201}), "x.jsonl:1: `system` is longer than 200 characters."),
    (bad({"language": "x" * 41}), "x.jsonl:1: `language` is longer than 40 characters."),
    (bad({"stratum": "x" * 101}), "x.jsonl:1: `stratum` is longer than 100 characters."),
    (bad({"sample": "-1"}), "x.jsonl:1: `sample` must be a whole number from 0 to 1000000, not '-1'."),
    (bad({"sample": 1.5}), "x.jsonl:1: `sample` must be a whole number"),
    (bad({"sample": 1e999}), "x.jsonl:1: Infinity is not a JSON value."),
    (bad({"sample": True}), "x.jsonl:1: `sample` must be a text."),
    (bad({"sample": "²"}), "x.jsonl:1: `sample` must be a whole number"),
    (bad({"sample": 10**4000}), "x.jsonl:1: `sample` must be a whole number"),
    (bad({"sample": "9" * 5000}), "x.jsonl:1: `sample` must be a whole number"),
    (bad({"references": [["a"]]}), "x.jsonl:1: `references` must be a list of texts."),
    (bad({"references": {"a": 1}}), "x.jsonl:1: `references` must be a list of texts."),
    (bad({"references": 5}), "x.jsonl:1: `references` must be a list of texts."),
    (bad({"references": '["\\ud800"]'}), "x.jsonl:1: `references` holds half a character"),
    (bad({"references": '["\\u0000"]'}), "x.jsonl:1: `references` holds a NUL character"),
    (
        bad({"references": ["a"]}, {"references": ["b"]}),
        "x.jsonl:2: problem '1' has other references at x.jsonl:1",
    ),
    (bad(EMPTY, {"intent": "Other."}), "x.jsonl:2: problem '1' has another `intent` at x.jsonl:1."),
    (bad(EMPTY, {"system": "m0"}), "x.jsonl:2: m0 has a snippet for problem '1' at x.jsonl:1 already."),
    (bad({"problem": "2", "intent": ""}), "x.jsonl:1: problem '2' has no intent, context or image"),
    (
        bad({"references": ["a"]}, {"system": "reference"}),
        "x.jsonl:1: problem '1' has references in rows and in a column. Keep one.",
    ),
    (bad({"image": "../x.png"}), "x.jsonl:1: the image '../x.png' lies outside the folder"),
    (bad({"image": "/etc/hostname"}), "x.jsonl:1: the image '/etc/hostname' lies outside the folder"),
    (bad({"image": "none.png"}), "x.jsonl:1: there is no image 'none.png' beside the file"),
    (bad({"image": "x.jsonl"}), "x.jsonl:1: 'x.jsonl' is not a PNG, JPEG, GIF or WebP image."),
    (bad({"image": 5}), "x.jsonl:1: there is no image '5'"),
]


@pytest.mark.parametrize(("rows", "sentence"), BAD)
def test_rubbish_gets_a_sentence(tmp_path: Path, rows: list[dict[str, Any]], sentence: str) -> None:
    told = refusal(
        save(tmp_path, *[{key: cell for key, cell in row.items() if cell is not None} for row in rows])
    )
    assert any(line.startswith(sentence) for line in told), told
    assert max(map(len, told)) < 400


def test_all_bad_rows_are_told_together(tmp_path: Path) -> None:
    told = refusal(save(tmp_path, *bad({"sample": "x"}, EMPTY, {"code": 1.0, "problem": ""})))
    assert told[0] == "x.jsonl has 2 bad lines. Nothing was imported."
    assert [line.split()[0] for line in told[1:]] == ["x.jsonl:1:", "x.jsonl:3:"]


def test_unknown_columns_are_named_but_no_obstacle(tmp_path: Path) -> None:
    material = read_snippets(save(tmp_path, GOOD | {"model": "x", "Code": 1}))
    assert material.remarks == ["Columns that are not used: model, Code."]
    material = read_snippets(save(tmp_path, GOOD | {f"column-{number}": 1 for number in range(50)}))
    assert material.remarks[0].endswith("column-19 and 30 more.")
    assert len(material.snippets) == 1


def test_columns_without_a_name_are_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(",problem,intent,system,code,,\n0,1,Add.,m,a,,\n1,2,Add.,m,b,,\n")
    material = read_snippets(path)
    assert [each.code for each in material.snippets] == ["a", "b"]
    assert material.remarks == ["Columns that are not used: one without a name."]


def test_a_file_can_be_written_as_csv_too(tmp_path: Path) -> None:
    rows = [GOOD | {"code": 'a = "1,2"\n\n=b', "references": '["a"]'}, GOOD | {"system": "n"}]
    path = save_csv(tmp_path, *rows)
    assert [row.place for row in read_rows(path)] == ["x.csv:2", "x.csv:5"]
    codes = [snippet.code for snippet in read_snippets(path).snippets]
    assert codes == ['a = "1,2"\n\n=b', "a + 1", "a"]
