"""Our verdicts against the labels of generations for HumanEval: a sample; the whole is in tests/proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from metrics.correctness import pass_ratio
from metrics.execution import humaneval, run_all, split_check
from tests.metrics.humaneval import DIFFERENCES, differing, read_generations, read_tasks

pytestmark = pytest.mark.usefixtures("sandbox")


def test_every_21st_verdict_is_as_labelled(shared_data: Path) -> None:
    pairs = read_generations(shared_data)[::21]
    rows, checks = [row for row, _ in pairs], [check for _, check in pairs]
    results = run_all(checks, jobs=2)
    assert len(results) == 154
    for label in ("passed", "executable"):
        assert 20 < sum(row[label] for row in rows) < 150
        assert differing(rows, results, label) <= DIFFERENCES.keys()


def test_reference_solutions_pass_every_assertion(shared_data: Path) -> None:
    for task in read_tasks(shared_data)[::40]:
        check = humaneval(task["prompt"], task["canonical_solution"], task["test"], task["entry_point"])
        results = run_all([check, *split_check(check)], jobs=2)
        assert len(results) > 2
        assert pass_ratio([result.passed for result in results]) == 1, task["task_id"]


def test_a_program_that_is_right_in_part_has_that_pass_ratio(shared_data: Path) -> None:
    # HumanEval/0 has 7 assertions; 4 of them want True.
    task = read_tasks(shared_data)[0]
    check = humaneval(task["prompt"], "    return True\n", task["test"], task["entry_point"])
    results = run_all(split_check(check), jobs=2)
    assert [result.status for result in results].count("passed") == 4
    assert len(results) == 7
    assert all(result.executable for result in results)
