"""All 3,220 labelled generations for HumanEval, and all reference solutions, run in the sandbox."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from metrics.execution import humaneval, run_all, split_check
from tests.metrics.humaneval import DIFFERENCES, differing, read_generations, read_tasks
from tests.proof.conftest import Say

pytestmark = pytest.mark.usefixtures("sandbox")


def test_verdicts_are_as_labelled(shared_data: Path, say: Say) -> None:
    pairs = read_generations(shared_data)
    rows, checks = [row for row, _ in pairs], [check for _, check in pairs]
    started = time.monotonic()
    results = run_all(checks, jobs=2)
    pace = len(results) / (time.monotonic() - started)
    say(f"{len(results):,} programs, {pace:.0f} a second")
    assert len(results) == 3220
    for label in ("passed", "executable"):
        different = differing(rows, results, label)
        share = 1 - len(different) / len(rows)
        say(f"{label}: {len(rows) - len(different):,} as labelled ({share:.2%})")
        assert different <= DIFFERENCES.keys()
        assert share >= 0.995


def test_reference_solutions_pass_every_assertion(shared_data: Path, say: Say) -> None:
    checks = [
        humaneval(task["prompt"], task["canonical_solution"], task["test"], task["entry_point"])
        for task in read_tasks(shared_data)
    ]
    parts = [part for check in checks for part in split_check(check)]
    results = run_all(parts, jobs=2)
    say(f"{len(results):,} assertions of {len(checks)} reference solutions")
    assert len(checks) == 164
    assert [result for result in results if not result.passed] == []
