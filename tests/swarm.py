"""Many annotators at once, and what must be true of a study when they have gone."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.serving import Served, Stored
from tests.walker import Habits, Walker

LATE_SECONDS = 2.5
"""After so many seconds the first of those who vanished come back."""


class Crowd:
    """Walkers in threads of their own; an error of one of them is raised by `join`."""

    def __init__(self, walkers: list[Walker]) -> None:
        self.walkers = walkers
        self.errors: list[Exception] = []
        self.threads: list[threading.Thread] = []

    def start(self, work: Callable[[Walker], None], walkers: Iterable[Walker]) -> list[threading.Thread]:
        def guarded(walker: Walker) -> None:
            try:
                work(walker)
            except Exception as error:
                error.add_note(f"walker {walker.seed}: {walker.statuses} {walker.failures}")
                self.errors.append(error)

        threads = [threading.Thread(target=guarded, args=(walker,), daemon=True) for walker in walkers]
        for thread in threads:
            thread.start()
        self.threads += threads
        return threads

    def join(self, threads: list[threading.Thread] | None = None) -> None:
        for thread in self.threads if threads is None else threads:
            thread.join(timeout=300)
            assert not thread.is_alive(), "a walker does not come to an end"
        if self.errors:
            raise ExceptionGroup("walkers failed", self.errors)

    def acknowledged(self) -> dict[tuple[str, int, str], float]:
        """(token, sequence, question) -> value, of everybody."""
        return {
            (walker.token, *place): value
            for walker in self.walkers
            for place, value in list(walker.answered.items())
        }

    def count(self) -> int:
        return sum(len(walker.answered) for walker in self.walkers)

    def statuses(self) -> Counter[int]:
        return sum((walker.statuses for walker in self.walkers), Counter())


def exhaust(served: Served, slug: str, habits: list[Habits], *, returning: int = 0) -> Crowd:
    """Everybody grades until the survey is over.

    Of those who vanish the first `returning` send the form that they left with: the very first when all others
    have gone, the rest some seconds after they left.
    """
    crowd = Crowd([Walker(served.base, slug, seed, habit) for seed, habit in enumerate(habits)])
    vanishing = [walker for walker in crowd.walkers if walker.habits.vanishes_after is not None]
    over = threading.Event()

    def vanish(walker: Walker) -> None:
        walker.run()
        place = vanishing.index(walker)
        if not walker.vanished or place >= returning:
            return
        old = walker.page
        if place == 0:
            over.wait(300)
        else:
            time.sleep(LATE_SECONDS * (1 + walker.random.random()))
        walker.grade(old=old)

    crowd.start(vanish, vanishing)
    others = crowd.start(Walker.run, [walker for walker in crowd.walkers if walker not in vanishing])
    try:
        crowd.join(others)
        over.set()
        crowd.join()
    except Exception as error:
        error.add_note(f"The server said at the end:\n{served.said()[-4000:]}")
        raise
    return crowd


class Gate:
    """Holds everybody up before their next answer, so that what is stored can be compared in peace."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.is_open = True
        self.parked = 0

    def go_through(self) -> None:
        with self.changed:
            self.parked += 1
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.is_open)
            self.parked -= 1

    def close(self, count: int) -> None:
        """Until `count` walkers stand before it."""
        with self.changed:
            self.is_open = False
            assert self.changed.wait_for(lambda: self.parked == count, timeout=120), "somebody is missing"

    def open(self) -> None:
        with self.changed:
            self.is_open = True
            self.changed.notify_all()


@dataclass(frozen=True)
class Outcome:
    """The figures of one run."""

    people: int
    grades: int
    surplus: int
    waits: int
    refused: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.people} people, {self.grades} grades in {self.seconds:.1f} s, {self.surplus} surplus, "
            f"told to wait {self.waits} times, {self.refused} forms refused"
        )


def check_exhausted(served: Served, slug: str, crowd: Crowd, target: int, seconds: float) -> Outcome:
    """Every item has its `target` counted grades, nothing acknowledged is missing, nobody was sent off early."""
    assert not {status for status in crowd.statuses() if status >= 500}
    stored = Stored(served.environment, slug)
    assert {len(grades) for grades in stored.counted.values()} == {target}
    for grades in stored.counted.values():
        assert len({token for token, _ in grades}) == target, "one person graded an item twice"
    assert stored.values == crowd.acknowledged()
    late = {(walker.token, sequence) for walker in crowd.walkers for sequence in walker.late}
    assert late <= {(token, sequence) for token, sequence, _ in stored.values}

    check_nobody_sent_off_early(stored, crowd, target)
    return Outcome(
        people=len(crowd.walkers),
        grades=len(stored.values),
        surplus=len(stored.surplus),
        waits=sum(walker.waits for walker in crowd.walkers),
        refused=sum(len(walker.refused) for walker in crowd.walkers),
        seconds=seconds,
    )


def check_nobody_sent_off_early(stored: Stored, crowd: Crowd, target: int) -> None:
    """Who was thanked had nothing left: each item was graded `target` times by then, or had been theirs."""
    for walker in crowd.walkers:
        if walker.finished_at == 0:
            continue
        for item in set(stored.items) - stored.had.get(walker.token, set()):
            done = [at for _, at in stored.counted[item] if at <= walker.finished_at]
            assert len(done) >= target, (
                f"walker {walker.seed} was thanked while item {item} was in other hands"
            )
