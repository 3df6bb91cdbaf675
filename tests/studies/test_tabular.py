"""Reading rows: every kind of file, and a sentence with its place for every kind of rubbish."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from pathlib import Path

import pytest

from annotator.errors import BadInput
from annotator.studies import tabular
from annotator.studies.tabular import Row, read_rows

ROWS = [{"problem": "007", "code": "a = 'ü'\n\nb"}, {"problem": "2", "code": ""}]
CSV = "problem,code\n007,\"a = 'ü'\n\nb\"\n2,\n"
JSONL = '{"problem": "007", "code": "a = \'\\u00fc\'\\n\\nb"}\n\n{"problem": "2", "code": ""}'


def save(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path) -> list[str]:
    """The sentence and the lines with which a file is refused."""
    with pytest.raises(BadInput) as caught:
        read_rows(path)
    return [str(caught.value), *caught.value.lines]


def bomb(size: int) -> bytes:
    return gzip.compress(b"\n" * size)


GOOD: list[tuple[str, str | bytes]] = [
    ("rows.csv", CSV),
    ("rows.CSV", CSV),
    ("rows.csv", b"\xef\xbb\xbf" + CSV.encode()),
    ("rows.csv", CSV.replace("\n", "\r\n")),
    ("rows.csv", "\n\n" + CSV + "\n\n"),
    ("rows.csv", " problem , code \n" + CSV.partition("\n")[2]),
    ("rows.csv.gz", gzip.compress(CSV.encode())),
    ("rows.jsonl", JSONL),
    ("rows.ndjson", JSONL),
    ("rows.jsonl", b"\xef\xbb\xbf" + JSONL.encode()),
    ("rows.jsonl", JSONL.replace("\n", "\r\n")),
    ("rows.jsonl", JSONL.replace('"2"', '2, "unknown": null')),
    ("rows.jsonl.gz", gzip.compress(JSONL.encode())),
    ("rows.json", "[" + JSONL.replace("\n\n", ",") + "]"),
    ("rows.json.gz", gzip.compress(("[" + JSONL.replace("\n\n", ",") + "]").encode())),
]


@pytest.mark.parametrize(("name", "content"), GOOD)
def test_every_kind_of_file_gives_the_same_rows(tmp_path: Path, name: str, content: str | bytes) -> None:
    rows = read_rows(save(tmp_path, name, content))
    assert [{column: row.text(column) for column in row.cells} for row in rows] == ROWS


def test_places_count_the_lines_of_the_file(tmp_path: Path) -> None:
    rows = read_rows(save(tmp_path, "x.csv", '\na,b\n1,"x\ny\r\nz"\n\n2,z\n'))
    assert [row.place for row in rows] == ["x.csv:3", "x.csv:7"]
    rows = read_rows(save(tmp_path, "x.jsonl", '\n{"a": 1}\n\n{"a": 2}'))
    assert [row.place for row in rows] == ["x.jsonl:2", "x.jsonl:4"]
    rows = read_rows(save(tmp_path, "x.json", '[{"a": 1},\n\n{"a": 2}]'))
    assert [row.place for row in rows] == ["x.json, entry 1", "x.json, entry 2"]


BIG = "x" * (tabular.MAX_CELL + 1)
DEEP = "[" * 100_000
BAD: list[tuple[str, str | bytes, str]] = [
    ("x.csv", "", "x.csv is empty."),
    ("x.csv", " \n\r\n\t", "x.csv is empty."),
    ("x.csv", b"\xef\xbb\xbf", "x.csv is empty."),
    ("x.csv", "a,b\n", "x.csv has no rows."),
    ("x.json", "[]", "x.json has no rows."),
    ("x.txt", "a,b\n1,2\n", "x.txt is of an unknown kind. Known: .csv"),
    ("csv", "a,b\n1,2\n", "csv is of an unknown kind."),
    ("x.csv", b"\x89PNG\r\n\x1a\n\x00\x00", "x.csv:1: this is not UTF-8 text. Save the file as UTF-8."),
    ("x.csv", "a\nü\n".encode("utf-16"), "x.csv:1: this is not UTF-8 text."),
    ("x.csv", "a\nb\nü\n".encode("latin-1"), "x.csv:3: this is not UTF-8 text."),
    ("x.csv", "a\nb\n".encode("utf-16-le"), "x.csv:2: the name of a column holds a NUL character"),
    ("x.csv", "a,b\n1,2\0\n", "x.csv:2: `b` holds a NUL character, which no database can store."),
    ("x.csv", "a,b,a\n1,2,3\n", "x.csv:1: the column 'a' is there twice."),
    ("x.csv", 'a,b\n1,"2\n3"\n1\n', "x.csv:4: 1 cells, but 2 columns (is a comma not quoted?)."),
    ("x.csv", "a,b\n1,2,3\n", "x.csv:2: 3 cells, but 2 columns (is a comma not quoted?)."),
    ("x.csv", 'a,b\n1,2\n3,"4\n5,6\n', "x.csv:3: a quotation mark that begins in this row is not closed"),
    ("x.csv", 'a,b\n1,"2"3\n', "x.csv:2: a quotation mark inside a quoted cell must be doubled"),
    ("x.csv", f"a,b\n1,{BIG}\n", "x.csv:2: `b` is longer than 1,000,000 characters."),
    ("x.csv", f"a,b\n1,{BIG * 11}\n", "x.csv:2: a cell is longer than 1,000,000 characters."),
    ("x.csv", f"a,{'b' * 300}\n1,2\n", "x.csv:2: the name of a column is longer than 200 characters."),
    ("x.jsonl", "{", "x.jsonl:1: this is not JSON"),
    ("x.jsonl", '{"a": 1}\n[1]\n', "x.jsonl:2: this is not an object with names and values."),
    ("x.jsonl", '{"a": "\\ud800"}', "x.jsonl:1: `a` holds half a character"),
    ("x.jsonl", '{"a": ["b", "\\ud800"]}', "x.jsonl:1: `a` holds half a character"),
    ("x.jsonl", '{"\\udfff": 1}', "x.jsonl:1: the name of a column holds half a character"),
    ("x.jsonl", '{"a": "\\u0000"}', "x.jsonl:1: `a` holds a NUL character"),
    ("x.jsonl", '{"a\\u0000": 1}', "x.jsonl:1: the name of a column holds a NUL character"),
    ("x.jsonl", '{"a": NaN}', "x.jsonl:1: NaN is not a JSON value."),
    ("x.jsonl", '{"a": 1, "a": 2}', "x.jsonl:1: a name is there twice in one object."),
    ("x.jsonl", '{"a": ' + "9" * 5000 + "}", "x.jsonl:1: a number has too many digits."),
    ("x.jsonl", DEEP, "x.jsonl:1: too deeply nested."),
    ("x.json", DEEP, "x.json: too deeply nested."),
    ("x.json", '{"a": 1}', "x.json: a .json file must hold a list of objects."),
    ("x.json", '[{"a": 1}, 2]', "x.json, entry 2: this is not an object"),
    ("x.json", "[1,", "x.json: this is not JSON"),
    ("x.csv.gz", b"a,b\n1,2\n", "Cannot read"),
    ("x.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-9], "Cannot read"),
    ("x.csv.gz", gzip.compress(b"a,b\n1,2\n")[:10] + b"\xff" * 40, "Cannot read"),
    ("x.csv.gz", bomb(3_000_000), "x.csv.gz is larger than 2 MB: split it."),
    ("x.csv", b"\n" * 3_000_000, "x.csv is larger than 2 MB: split it."),
]


@pytest.mark.parametrize(("name", "content", "sentence"), BAD)
def test_rubbish_gets_a_sentence(
    tmp_path: Path, name: str, content: str | bytes, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "larger than" in sentence:
        monkeypatch.setattr(tabular, "MAX_FILE", 2_000_000)
    told = refusal(save(tmp_path, name, content))
    assert any(sentence in line for line in told), told
    assert max(map(len, told)) < 400


def test_all_bad_lines_are_told_together(tmp_path: Path) -> None:
    told = refusal(save(tmp_path, "x.jsonl", '{\n{"a": 1}\n{"a": "\\u0000"}\n3'))
    assert told[0] == "x.jsonl has 3 bad lines. Nothing was imported."
    assert [line.split()[0] for line in told[1:]] == ["x.jsonl:1:", "x.jsonl:3:", "x.jsonl:4:"]


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "device.csv").symlink_to("/dev/zero")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    for name in ("pipe.csv", "folder.csv", "device.csv"):
        assert refusal(tmp_path / name) == [f"{tmp_path / name} is not a file."]
    for name in ("loop.csv", "missing.csv", "x" * 300 + ".csv"):
        assert refusal(tmp_path / name)[0].startswith("Cannot read")


def test_a_bomb_takes_no_more_memory_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabular, "MAX_FILE", 2_000_000)
    path = save(tmp_path, "x.csv.gz", bomb(100_000_000))
    tracemalloc.start()
    try:
        refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
    finally:
        tracemalloc.stop()


def test_cells_as_texts() -> None:
    row = Row("x:1", {"text": "a\r\nb \n", "whole": 7, "real": 1.5, "flag": True, "table": {}, "list": []})
    assert (row.text("text"), row.text("missing")) == ("a\nb \n", "")
    assert (row.text("whole"), row.text("real")) == ("7", "1.5")
    for column in ("flag", "table", "list"):
        with pytest.raises(ValueError, match=f"`{column}` must be a text"):
            row.text(column)
