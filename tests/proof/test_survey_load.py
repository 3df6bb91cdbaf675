"""A pool graded to exhaustion by many people at once: every item its two grades, nothing lost, nobody misled."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proof.conftest import DATABASES, Say, fresh_environment
from tests.serving import Served, import_snippets, serving, shell, wait_until
from tests.swarm import check_exhausted, exhaust
from tests.walker import Habits

PROBLEMS, TARGET = 50, 2
"""Two snippets a problem: 100 items."""
LEASE = {"lease_minutes": 2 / 60}

START_JOB = """
from annotator.results import actions
from annotator.studies.models import Study
print(actions.start_job(Study.objects.get(slug="scored"), "metrics").pk)
"""
JOB = """
from annotator.results.models import Job, MetricScore
print(Job.objects.get(pk={}).state, MetricScore.objects.count())
"""
CANCEL_JOB = """
from annotator.results import actions
from annotator.results.models import Job
actions.cancel_job(Job.objects.get(pk={}))
"""


@pytest.fixture(scope="module", params=DATABASES)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with (
        fresh_environment(request, tmp_path_factory.mktemp("load")) as environment,
        serving(environment) as server,
    ):
        yield server


def patient(count: int, think: float) -> list[Habits]:
    return [Habits(think=think) for _ in range(count)]


def unreliable(count: int, think: float) -> list[Habits]:
    """10 % vanish with an item in hand, 5 % stop in good order, items are skipped now and then."""
    vanishing = max(round(count * 0.1), 1)
    habits = []
    for number in range(count):
        vanishes, stops = number < vanishing, number % 20 == 19
        habits.append(
            Habits(
                think=think,
                skips=0.03,
                vanishes_after=number % 2 if vanishes else None,
                stops_after=2 if stops else None,
            )
        )
    return habits


def test_a_pool_is_graded_to_exhaustion(served: Served, tmp_path: Path, say: Say) -> None:
    for people, think in ((16, 0.0), (64, 0.0), (16, 1.0), (64, 1.0)):
        slug = f"pool-{people}-{think:g}"
        import_snippets(served.environment, tmp_path, slug, problems=PROBLEMS, target=TARGET)
        began = time.monotonic()
        crowd = exhaust(served, slug, patient(people, think))
        outcome = check_exhausted(served, slug, crowd, TARGET, time.monotonic() - began)
        say(f"think up to {think:g} s: {outcome}")
        assert (outcome.grades, outcome.surplus, outcome.refused) == (2 * PROBLEMS * TARGET, 0, 0)


def test_people_vanish_and_come_back_late_while_leases_are_short(
    served: Served, tmp_path: Path, say: Say
) -> None:
    for people, think in ((16, 0.0), (64, 1.0)):
        slug = f"lease-{people}"
        import_snippets(served.environment, tmp_path, slug, problems=PROBLEMS, target=TARGET, protocol=LEASE)
        habits = unreliable(people, think)
        vanishing = sum(habit.vanishes_after is not None for habit in habits)
        began = time.monotonic()
        crowd = exhaust(served, slug, habits, returning=max(vanishing // 2, 1))
        outcome = check_exhausted(served, slug, crowd, TARGET, time.monotonic() - began)
        say(f"lease 2 s, think up to {think:g} s: {outcome}")
        assert any(walker.late for walker in crowd.walkers)
        assert outcome.surplus >= 1, "who came back last found the slot given away"
        assert outcome.grades == 2 * PROBLEMS * TARGET + outcome.surplus


def test_a_pool_is_graded_beside_a_metrics_job(served: Served, tmp_path: Path, say: Say) -> None:
    import_snippets(served.environment, tmp_path, "scored", problems=1500, lines=30)
    import_snippets(served.environment, tmp_path, "pool", problems=PROBLEMS, target=TARGET)
    job = int(shell(served.environment, START_JOB))

    def progress() -> tuple[str, int]:
        state, scores = shell(served.environment, JOB.format(job)).split()
        return state, int(scores)

    wait_until(lambda: progress()[1] > 0, "the job writes scores")
    before = progress()
    began = time.monotonic()
    crowd = exhaust(served, "pool", patient(16, 0.0))
    seconds = time.monotonic() - began
    after = progress()
    outcome = check_exhausted(served, "pool", crowd, TARGET, seconds)
    say(f"beside a job that wrote {after[1] - before[1]} scores: {outcome}")
    assert before[0] == after[0] == "running"
    assert after[1] > before[1]
    assert (outcome.grades, outcome.surplus, outcome.refused) == (2 * PROBLEMS * TARGET, 0, 0)
    shell(served.environment, CANCEL_JOB.format(job))
