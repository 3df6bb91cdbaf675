from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from annotator.demo.simulate import (
    ANNOTATORS,
    HIGHEST,
    LOWEST,
    QUESTION,
    SNIPPETS,
    read_quality,
    simulate_grades,
)
from tests.demo.behaviour import EXAMPLES, solves

ROOT = Path(__file__).resolve().parent.parent.parent
SYSTEMS = {"heron", "larch-1b", "larch-7b", "retrieval"}
KEYS = ["problem", "intent", "system", "code", "references", "language", "stratum"]
ROWS: list[dict[str, Any]] = [json.loads(line) for line in SNIPPETS.read_text(encoding="utf-8").splitlines()]
REFERENCES = sorted({(row["problem"], text) for row in ROWS for text in row["references"]})


def name_of(row: dict[str, Any]) -> str:
    return f"{row['problem']}-{row['system']}"


def test_24_problems_by_4_systems() -> None:
    pairs = Counter((row["problem"], row["system"]) for row in ROWS)
    assert set(pairs) == {(f"p{number:02}", system) for number in range(1, 25) for system in SYSTEMS}
    assert set(pairs.values()) == {1}


def test_rows_have_the_stated_keys() -> None:
    for row in ROWS:
        assert list(row) == KEYS
        assert row["language"] == "python"
        assert row["stratum"] in {"one-liner", "function", "data"}
        assert 1 <= len(row["references"]) <= 2
        assert all(isinstance(row[key], str) and row[key] for key in KEYS if key != "references")


def test_a_problem_is_told_alike_in_all_its_rows() -> None:
    told = defaultdict(set)
    for row in ROWS:
        told[row["problem"]].add((row["intent"], tuple(row["references"]), row["stratum"]))
    assert all(len(versions) == 1 for versions in told.values())
    intents = {row["intent"] for row in ROWS}
    assert len(intents) == 24
    assert all(len(re.findall(r"`[^`]+`", intent)) * 2 == intent.count("`") > 0 for intent in intents)


def test_no_forbidden_characters() -> None:
    for row in ROWS:
        for text in (row["intent"], row["code"], *row["references"]):
            strange = {char for char in text if not (char == "\n" or " " <= char <= "~")}
            assert not strange, name_of(row)
            assert not any(line != line.rstrip() for line in text.split("\n")), name_of(row)
            assert text == text.strip("\n"), name_of(row)


def test_some_snippets_are_long_enough_to_show_highlighting() -> None:
    lines = [row["code"].count("\n") + 1 for row in ROWS]
    assert sum(5 <= count <= 15 for count in lines) >= 15
    assert sum(count == 1 for count in lines) >= 15
    assert max(lines) <= 15


def test_identical_snippets_occur_between_systems_and_with_references() -> None:
    counts = Counter((row["problem"], row["code"]) for row in ROWS)
    assert sum(count > 1 for count in counts.values()) >= 3
    assert sum(row["code"] in row["references"] for row in ROWS) >= 3


def test_identical_snippets_have_the_same_stated_quality() -> None:
    stated = defaultdict(set)
    for row in ROWS:
        stated[row["problem"], row["code"]].add(read_quality()[row["problem"]][row["system"]])
    assert all(len(values) == 1 for values in stated.values())


def test_quality_is_stated_for_every_snippet_and_stays_out_of_the_study() -> None:
    quality = read_quality()
    assert set(quality) == set(EXAMPLES) == {row["problem"] for row in ROWS}
    for systems in quality.values():
        assert set(systems) == SYSTEMS | {"reference"}
        assert all(type(value) is int and LOWEST <= value <= HIGHEST for value in systems.values())
    assert "quality" not in SNIPPETS.read_text(encoding="utf-8")


@pytest.mark.parametrize(("problem", "code"), REFERENCES)
def test_references_solve_their_problem(
    problem: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile(code, "<reference>", "exec")
    monkeypatch.chdir(tmp_path)
    assert solves(problem, code)


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_a_snippet_solves_its_problem_exactly_if_its_quality_says_so(
    row: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stated = read_quality()[row["problem"]][row["system"]]
    assert solves(row["problem"], row["code"]) == (stated == HIGHEST)


def test_systems_differ_in_quality() -> None:
    means = {system: fmean(row[system] for row in read_quality().values()) for system in SYSTEMS}
    order = sorted(means, key=means.__getitem__, reverse=True)
    assert order == ["heron", "larch-7b", "retrieval", "larch-1b"]
    gaps = [means[better] - means[worse] for better, worse in pairwise(order)]
    assert min(gaps) >= 0.5


@pytest.mark.parametrize("seed", [1, 2, 3, 2026])
def test_simulated_grades_show_the_stated_order_of_the_systems(seed: int) -> None:
    grades = defaultdict(list)
    for row in simulate_grades(seed):
        grades[row["system"]].append(row["grade"])
    means = {system: fmean(values) for system, values in grades.items()}
    assert sorted(means, key=means.__getitem__) == ["larch-1b", "retrieval", "larch-7b", "heron", "reference"]


def test_every_snippet_gets_four_or_five_simulated_grades_of_different_annotators() -> None:
    rows = simulate_grades(7)
    given = Counter((row["problem"], row["system"]) for row in rows)
    assert len(given) == 24 * 5
    assert set(given.values()) == {4, 5}
    assert len({(row["problem"], row["system"], row["annotator"]) for row in rows}) == len(rows)


def test_simulated_grades_are_marked_as_simulated() -> None:
    rows = simulate_grades(7)
    assert {row["annotator"] for row in rows} == {f"simulated-{number}" for number in range(1, 7)}
    assert all(row["simulated"] is True and row["question"] == QUESTION for row in rows)
    assert all(type(row["grade"]) is int and LOWEST <= row["grade"] <= HIGHEST for row in rows)
    assert all(1 <= row["seconds"] < 1800 for row in rows)


def test_the_careless_annotator_agrees_least_with_the_stated_quality() -> None:
    errors = defaultdict(list)
    for row in simulate_grades(7):
        errors[row["annotator"]].append(abs(row["grade"] - read_quality()[row["problem"]][row["system"]]))
    noisiest = max(ANNOTATORS, key=lambda annotator: annotator.noise).name
    assert max(errors, key=lambda name: fmean(errors[name])) == noisiest


def test_the_seed_decides_everything() -> None:
    assert simulate_grades(7) == simulate_grades(7)
    assert simulate_grades(7) != simulate_grades(8)


def test_another_process_simulates_the_same_grades_without_django() -> None:
    program = (
        "import json, sys; from annotator.demo.simulate import simulate_grades;"
        "print(json.dumps([simulate_grades(7), 'django' in sys.modules]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(result.stdout) == [simulate_grades(7), False]
