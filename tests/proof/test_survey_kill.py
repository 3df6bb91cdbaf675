"""kill -9 in the middle of 16 grading people: what was acknowledged is stored, and nothing twice."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from scripts import services
from tests.proof.conftest import Say
from tests.serving import (
    Served,
    Stored,
    family,
    fixed_port,
    import_snippets,
    kill,
    own_environment,
    serving,
    wait_until,
)
from tests.swarm import Crowd, Gate
from tests.walker import Habits, Walker

PEOPLE, PROBLEMS, TARGET = 16, 1000, 2
MORE = 120
"""Answers between a restart and the next kill: at least so many, and less than twice as many."""
ROUNDS = 2
"""How often each kind of kill comes."""


class Database:
    """A PostgreSQL server that waits for the disk, and can be killed and started again on its data."""

    def __init__(self, stack: ExitStack) -> None:
        self.cluster = stack.enter_context(services.cluster(fixed_port()))
        self.server = stack.enter_context(ExitStack())
        self.start()

    def start(self) -> None:
        self.server.enter_context(self.cluster.running(durable=True))

    def pids(self) -> list[int]:
        """The server, and the processes of all its connections."""
        return list(family(self.cluster.server_pid()))

    def start_again(self, killed: list[int]) -> None:
        wait_until(lambda: not any(family(pid) for pid in killed), "the killed processes are gone")
        self.server.close()  # collects the exit status, without which the old server still counts as running
        self.start()


class Machine:
    """The app and its database: everything that a power cut takes."""

    def __init__(self, served: Served, database: Database | None) -> None:
        self.served, self.database = served, database

    def lose_web(self) -> int:
        return self.served.kill_web()

    def lose_database(self) -> int:
        assert self.database is not None
        pids = self.database.pids()
        count = kill(pids)
        self.database.start_again(pids)
        return count

    def lose_power(self) -> int:
        pids = self.database.pids() if self.database else []
        count = self.served.kill_everything(*pids)
        if self.database:
            self.database.start_again(pids)
        self.served.start()
        return count

    def losses(self) -> list[tuple[str, Callable[[], int]]]:
        found = [("gunicorn", self.lose_web), ("everything", self.lose_power)]
        return [*found, ("PostgreSQL", self.lose_database)] if self.database else found


@pytest.fixture(params=["sqlite", "postgresql"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    with ExitStack() as stack:
        if request.param == "sqlite":
            environment, database = own_environment(tmp_path), None
        else:
            database = Database(stack)
            environment = own_environment(
                tmp_path,
                DATABASE_URL=database.cluster.url,
                BROKER_URL=request.getfixturevalue("redis_url"),
            )
        yield Machine(stack.enter_context(serving(environment)), database)


def test_kill_9_in_the_middle_of_grading(machine: Machine, tmp_path: Path, say: Say) -> None:
    served, chance = machine.served, random.Random(5)
    import_snippets(served.environment, tmp_path, "kill", problems=PROBLEMS, target=TARGET)
    gate, finished = Gate(), threading.Event()
    crowd = Crowd(
        [
            Walker(
                served.base,
                "kill",
                seed,
                Habits(think=0.02),
                through_failures=True,
                before_each=gate.go_through,
            )
            for seed in range(PEOPLE)
        ]
    )
    crowd.start(lambda walker: walker.run(finished), crowd.walkers)
    for kind, lose in machine.losses() * ROUNDS:
        wanted = crowd.count() + MORE + chance.randrange(MORE)
        wait_until(lambda wanted=wanted: crowd.count() >= wanted or bool(crowd.errors), "answers")
        before = crowd.count()
        killed = lose()
        assert killed >= 3, f"{kind}: the master and its processes"
        served.wait()
        gate.close(PEOPLE)
        compare(served, crowd)
        say(f"kill -9 of {kind}: {killed} processes, {before} answers before, {crowd.count()} compared")
        gate.open()
    finished.set()
    crowd.join()
    compare(served, crowd)
    assert all(walker.failures for walker in crowd.walkers), "somebody did not notice"
    assert not [sentence for walker in crowd.walkers for sentence in walker.refused]
    assert served.said().count("starting it again") >= ROUNDS
    served.stop()
    assert "Stopped. Everything is stored." in served.said()


def compare(served: Served, crowd: Crowd) -> None:
    """Nobody is in the middle of a request: stored is what was acknowledged, to the letter."""
    assert not crowd.errors, crowd.errors
    stored = Stored(served.environment, "kill")
    assert stored.values == crowd.acknowledged()
    assert not stored.surplus
    assert max(len(grades) for grades in stored.counted.values()) <= TARGET
