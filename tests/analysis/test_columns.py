"""The door for files: what comes in stays what it was, and what is wrong is said with its line."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import columns, tables
from analysis.columns import TableError, plain_cell, read_grades, read_scores, safe_cell, write_csv
from metrics.table import guard, unguard

ROOT = Path(__file__).resolve().parents[2]
HEAD = "problem,system,annotator,grade\n"
BYTES = bytes(range(256))

# what is in the file, the lines of the refusal
RUBBISH: list[tuple[str, bytes, list[str]]] = [
    ("empty", b"", ["g.csv is empty. Its first line must name the columns."]),
    ("only a BOM", b"\xef\xbb\xbf", ["g.csv is empty. Its first line must name the columns."]),
    (
        "no annotator, no grade",
        b"problem,system\np,s\n",
        ["g.csv has no column annotator, grade. Its first line must name the columns."],
    ),
    (
        "spaces are part of a name",
        b"problem, system,annotator,grade\n",
        ["g.csv has no column system. Its first line must name the columns."],
    ),
    (
        "a column twice",
        b"problem,system,annotator,grade,grade\np,s,a,1,2\n",
        ["g.csv has the column grade more than once."],
    ),
    (
        "an unknown column twice",
        b"x,problem,system,annotator,grade,x\n1,p,s,a,1,2\n",
        ["g.csv has the column x more than once."],
    ),
    (
        "no numbers",
        (
            HEAD
            + "p,s,a,good\np,s,b,nan\np,s,c,inf\np,s,d,-1e999\np,s,e,1_000\np,s,f,0x1\np,s,g,'-1\np,s,h,1e16\n"
        ).encode(),
        [
            "g.csv cannot be used: 8 bad cells or lines.",
            "g.csv:2: grade must be a number, not 'good'.",
            "g.csv:3: grade must be a finite number, not 'nan'.",
            "g.csv:4: grade must be a finite number, not 'inf'.",
            "g.csv:5: grade must be a finite number, not '-1e999'.",
            "g.csv:6: grade must be a number, not '1_000'.",
            "g.csv:7: grade must be a number, not '0x1'.",
            'g.csv:8: grade must be a number, not "\'-1".',
            "g.csv:9: grade must lie between -1e+15 and 1e+15, not '1e16'.",
        ],
    ),
    (
        "samples that are not whole",
        b"problem,system,annotator,grade,sample\np,s,a,1,0.5\np,s,b,1,1e300\np,s,c,1,-1\n",
        [
            "g.csv cannot be used: 3 bad cells or lines.",
            "g.csv:2: sample must be a whole number from 0, not '0.5'.",
            "g.csv:3: sample must lie between -1e+15 and 1e+15, not '1e300'.",
            "g.csv:4: sample must be a whole number from 0, not '-1'.",
        ],
    ),
    (
        "flags",
        b"problem,system,annotator,grade,complete,surplus\np,s,a,1,yes,\np,s,b,1,2,FALSE\n",
        [
            "g.csv cannot be used: 2 bad cells or lines.",
            "g.csv:2: complete must be true or false, not 'yes'.",
            "g.csv:3: complete must be true or false, not '2'.",
        ],
    ),
    (
        "too few and too many cells",
        (HEAD + "p,s,a\np,s,a,1,9\n,s,a,1\n").encode(),
        [
            "g.csv cannot be used: 3 bad cells or lines.",
            "g.csv:2: 3 cells, but 4 columns.",
            "g.csv:3: 5 cells, but 4 columns.",
            "g.csv:4: problem is empty.",
        ],
    ),
    (
        "lines are counted through cells and heads of several lines, and empty lines",
        b'problem,system,annotator,grade,"of\ntwo"\n"p\n\n1",s,a,1,x\n\np,s,b,bad,"x\ny"\np,s,c,bad,x\n',
        [
            "g.csv cannot be used: 2 bad cells or lines.",
            "g.csv:7: grade must be a number, not 'bad'.",
            "g.csv:9: grade must be a number, not 'bad'.",
        ],
    ),
    (
        "CRLF lines count once",
        b'problem,system,annotator,grade\r\np,s,"a\r\n",1\r\np,s,b,bad\r\n',
        ["g.csv cannot be used: 1 bad cells or lines.", "g.csv:4: grade must be a number, not 'bad'."],
    ),
    (
        "the same grade twice",
        (HEAD + "p,s,a,1\np,s,b,1\np,s,a,2\n").encode(),
        [
            "g.csv cannot be used: one snippet has one value.",
            "g.csv:4: a graded this snippet of s for problem p before (question grade).",
        ],
    ),
    (
        "latin-1",
        (HEAD + "p,s,\xe4,1\n").encode("latin-1"),
        ["g.csv is not UTF-8 text: save it as CSV UTF-8."],
    ),
    ("UTF-16", (HEAD + "p,s,a,1\n").encode("utf-16"), ["g.csv is not UTF-8 text: save it as CSV UTF-8."]),
    (
        "NUL",
        (HEAD + "p,s,a,1\np,s\0,b,1\n").encode(),
        ["g.csv cannot be used: 1 bad cells or lines.", "g.csv:3: system has a NUL character."],
    ),
    (
        "a cell too long",
        (HEAD + "p,s,a,1\np,s," + "b" * (2**20 + 1) + ",1\n").encode(),
        ["g.csv is not a CSV file: field larger than field limit (1048576), near line 3."],
    ),
    (
        "quotes that do not close",
        (HEAD + 'p,s,"a,1\n').encode(),
        ["g.csv is not a CSV file: unexpected end of data, near line 2."],
    ),
]


def written(folder: Path, content: bytes | str) -> Path:
    path = folder / "g.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(("content", "lines"), [row[1:] for row in RUBBISH], ids=[row[0] for row in RUBBISH])
def test_rubbish_is_refused_with_every_line(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    with pytest.raises(TableError) as caught:
        read_grades(written(tmp_path, content))
    assert str(caught.value).splitlines() == lines


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"^Cannot read .*none\.csv: No such file or directory\.$"):
        read_grades(tmp_path / "none.csv")
    with pytest.raises(TableError, match=r"^Cannot read .*: Is a directory\.$"):
        read_grades(tmp_path)


def test_only_the_first_bad_lines_are_listed(tmp_path: Path) -> None:
    with pytest.raises(TableError) as caught:
        read_grades(written(tmp_path, HEAD + "p,s,a,x\n" * 60))
    assert len(caught.value.lines) == 60
    assert str(caught.value).splitlines()[-1] == "... and 10 more."


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_with_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, some: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    for content in (some, HEAD.encode() + some):
        path.write_bytes(content)
        try:
            read_grades(path)
        except TableError as error:
            sentence = str(error).splitlines()[0]
        else:
            sentence = "Fine."
        assert sentence.endswith(".")


@pytest.mark.parametrize(
    "text", ["007", "NA", "nan", "None", "null", "true", "1e5", " a ", "1.0", "", "\u00e9\U0001f600"]
)
def test_strings_stay_strings(tmp_path: Path, text: str) -> None:
    name = text or "x"
    table = read_grades(
        written(tmp_path, f"problem,system,annotator,grade,label\n{name},{name},{name},1,{text}\n")
    )
    row = table.iloc[0]
    assert [row["problem"], row["system"], row["annotator"], row["label"]] == [name, name, name, text]


def test_defaults_of_what_a_file_leaves_out(tmp_path: Path) -> None:
    table = read_grades(written(tmp_path, "grade,annotator,unknown,system,problem\n 3 ,a,?,s,p\n,b,?,s,p\n"))
    assert tuple(table.columns) == columns.GRADES
    first = {name: value for name, value in table.iloc[0].items() if value == value}
    assert first == {
        "study": "", "wave": "main", "problem": "p", "system": "s", "sample": 0, "item": "", "judged_metric": "",
        "kind": "snippet", "assignment": "", "annotator": "a", "question": "grade", "grade": 3.0, "label": "",
        "side": "", "stratum": "", "weight": 1.0, "submitted_at": "", "protocol_version": 1, "complete": True,
        "surplus": False, "excluded": False, "check": "", "check_passed": "", "reference": False, "simulated": False,
    }  # fmt: skip
    assert pd.isna(table["grade"][1])
    assert len(columns.usable(table)) == 1


def test_empty_cells_take_the_default(tmp_path: Path) -> None:
    head = "problem,system,annotator,grade,complete,surplus,kind,question,wave,sample\n"
    table = read_grades(written(tmp_path, head + "p,s,a,1,,,,,,\n"))
    assert len(columns.usable(table)) == 1
    assert table[["question", "wave", "sample"]].to_numpy().tolist() == [["grade", "main", 0]]


@pytest.mark.parametrize(
    ("flag", "value"),
    [("complete", "false"), ("surplus", "1"), ("excluded", "TRUE"), ("check", "gold"), ("kind", "criterion")],
)
def test_rows_that_do_not_count_may_repeat(tmp_path: Path, flag: str, value: str) -> None:
    head = f"problem,system,annotator,grade,{flag}\n"
    table = read_grades(written(tmp_path, head + f"p,s,a,1,\np,s,a,2,{value}\n"))
    assert len(table) == 2
    assert columns.usable(table)["grade"].tolist() == [1.0]


@pytest.mark.parametrize("more", ["question", "judged_metric", "sample"])
def test_what_makes_two_grades_different(tmp_path: Path, more: str) -> None:
    head = f"problem,system,annotator,grade,{more}\n"
    assert len(read_grades(written(tmp_path, head + "p,s,a,1,1\np,s,a,2,2\n"))) == 2


def test_bom_crlf_and_long_cells(tmp_path: Path) -> None:
    long = "x" * 1_000_000
    table = read_grades(written(tmp_path, f"\ufeffproblem,system,annotator,grade\r\np,s,{long},1\r\n"))
    assert table["annotator"].tolist() == [long]


def test_scores(tmp_path: Path) -> None:
    table = read_scores(written(tmp_path, "problem,system,metric,score\n1,s,bleu,0.5\n1,s,chrf,\n"))
    assert tuple(table.columns) == columns.SCORES
    assert table["problem"].tolist() == ["1", "1"]
    assert table["score"].isna().tolist() == [False, True]
    with pytest.raises(
        TableError, match=r"g\.csv:3: bleu of this snippet of s for problem 1 is there before\."
    ):
        read_scores(written(tmp_path, "problem,system,metric,score\n1,s,bleu,0.5\n1,s,bleu,0.6\n"))


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
tricky = st.text("'=+-@\t\ra", max_size=5) | texts


@given(tricky)
def test_safe_cells_come_back(text: str) -> None:
    cell = safe_cell(text)
    assert not cell.startswith(columns.FORMULA_STARTS)
    assert plain_cell(cell) == text
    assert (guard(text), unguard(text)) == (cell, plain_cell(text)), "metrics writes its tables the same way"


@given(st.lists(st.tuples(tricky.filter(bool), tricky, st.floats(-1e15, 1e15)), max_size=5))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, float]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "again.csv"
    table = pd.DataFrame(
        {
            "problem": [str(place) + name for place, (name, _, _) in enumerate(rows)],
            "system": [name for name, _, _ in rows],
            "annotator": [name for name, _, _ in rows],
            "label": [text for _, text, _ in rows],
            "grade": [number for _, _, number in rows],
            "excluded": [bool(place % 2) for place in range(len(rows))],
        }
    )
    write_csv(table, path)
    again = read_grades(path)
    for name in table.columns:
        assert again[name].tolist() == table[name].tolist()
    first = path.read_bytes()
    write_csv(again[list(table.columns)], path)
    assert path.read_bytes() == first


def test_cells_as_they_are_written(tmp_path: Path) -> None:
    values: list[object] = [
        True,
        False,
        None,
        float("nan"),
        2.0,
        0.1,
        -0.0,
        10**15,
        "=1",
        "a\nb",
        "",
        1e-20,
        pd.NA,
    ]
    write_csv(pd.DataFrame({"x": pd.Series(values, dtype=object)}), tmp_path / "x.csv")
    written_cells = list(
        csv.reader(io.StringIO((tmp_path / "x.csv").read_text(encoding="utf-8"), newline=""))
    )
    found = [row[0] if row else "" for row in written_cells[1:]]
    expected = ["true", "false", "", "", "2", "0.1", "0", "1000000000000000", "'=1", "a\nb", "", "1e-20", ""]
    assert found == expected


def test_numbers_inside_texts_sort_by_value() -> None:
    texts = ["b", "10", "9", "a10", "a9", "", "\u0663", "09", "1" * 5000, "a9b2", "a9b10"]
    table = pd.DataFrame({"x": texts, "y": range(len(texts))})
    wanted = ["", "09", "9", "10", "1" * 5000, "a9", "a9b2", "a9b10", "a10", "b", "\u0663"]
    assert columns.natural_order(table, ["x", "y"])["x"].tolist() == wanted


def test_the_page_on_columns_names_every_column_in_order() -> None:
    text = (ROOT / "docs" / "columns.md").read_text(encoding="utf-8")
    documented = {
        name: re.findall(r"^\| `(\w+)` ", part, re.MULTILINE)
        for name, part in re.findall(r"^## (\w+)\.csv\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    }
    assert documented == {
        "grades": list(columns.GRADES),
        "scores": list(columns.SCORES),
        "truth": list(columns.TRUTH),
        "correlations": list(columns.CORRELATIONS),
        "systems": list(tables.SYSTEMS),
        "grade_counts": list(tables.GRADE_COUNTS),
        "grade_distribution": list(tables.DISTRIBUTION),
        "annotators": list(tables.ANNOTATORS),
        "undefined": list(tables.UNDEFINED),
    }
