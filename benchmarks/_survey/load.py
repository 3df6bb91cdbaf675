"""A closed loop of people who grade without thinking, and what it cost the server."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from benchmarks._survey.processes import cpu_seconds, machine_seconds, memory_mb

MAX_FAULTS = 25
"""After so many errors a person gives up."""


class Person(Protocol):
    """Someone with a client. `submit` sends the answer to the page at hand, `show` gets the page of the next item."""

    def submit(self) -> None: ...  # pragma: no cover

    def show(self) -> bool:
        """False when nothing is left."""
        ...  # pragma: no cover


@dataclass
class Measured:
    """One row of the table. Times are in ms, CPU in seconds over the measured window."""

    tool: str
    users: int
    seconds: float
    submits: list[float] = field(default_factory=list)
    shows: list[float] = field(default_factory=list)
    server_cpu: float = 0.0
    database_cpu: float | None = None
    client_cpu: float = 0.0
    memory: float = 0.0
    errors: list[str] = field(default_factory=list)
    over_target: int | None = None
    lost: int | None = None
    others: float = 0.0
    """Cores that everything else on the machine took meanwhile: times are only worth something if it is near 0."""

    @property
    def grades(self) -> int:
        return len(self.submits)

    @property
    def rate(self) -> float:
        """Grades a second."""
        return self.grades / self.seconds if self.seconds else 0.0

    @property
    def server_ms(self) -> float:
        """Milliseconds of the server's CPU for each grade, submit and next together."""
        return 1000 * self.server_cpu / self.grades if self.grades else float("nan")

    @property
    def database_ms(self) -> float | None:
        if self.database_cpu is None or not self.grades:
            return None
        return 1000 * self.database_cpu / self.grades

    @property
    def whole_ms(self) -> float:
        """With the database's CPU, where that is a server of its own."""
        return self.server_ms + (self.database_ms or 0.0)


def percentile(times: Sequence[float], part: float) -> float:
    """The value that `part` of the times do not exceed (nearest rank); nan of none."""
    ordered = sorted(times)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


@dataclass
class Window:
    """When times count: after the warm-up, until the end."""

    opened: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)


def work(person: Person, window: Window, row: Measured) -> None:
    """Grades until the window closes or nothing is left. After an error the page is asked for again."""
    clock = time.perf_counter
    more, faults = True, 0
    while more and not window.closed.is_set() and faults < MAX_FAULTS:
        start = sent = clock()
        try:
            person.submit()
            sent = clock()
            more = person.show()
        except Exception as error:
            row.errors.append(f"{type(error).__name__}: {error}")
            faults += 1
            with contextlib.suppress(Exception):
                more = person.show()
            continue
        if window.opened.is_set() and not window.closed.is_set():
            row.submits.append(1000 * (sent - start))
            row.shows.append(1000 * (clock() - sent))


def drive(
    tool: str,
    people: Sequence[Person],
    *,
    warm_seconds: float,
    seconds: float,
    server: int,
    database: int | None = None,
) -> Measured:
    """Lets all people grade at once, and counts grades, times and CPU between warm-up and end.

    `server` and `database` are the pids of their oldest processes. People have their first page already.
    """
    row, window = Measured(tool, len(people), seconds), Window()
    threads = [threading.Thread(target=work, args=(person, window, row), daemon=True) for person in people]
    for thread in threads:
        thread.start()

    def spent() -> tuple[float, ...]:
        of_database = cpu_seconds(database) if database else 0.0
        return cpu_seconds(server), of_database, time.process_time(), machine_seconds()

    pause(warm_seconds, threads)
    window.opened.set()
    began, before = time.perf_counter(), spent()
    pause(seconds, threads)
    after, row.seconds = spent(), time.perf_counter() - began
    window.closed.set()
    row.server_cpu, of_database, row.client_cpu, whole = (b - a for a, b in zip(before, after, strict=True))
    row.database_cpu = None if database is None else of_database
    row.others = max(whole - row.server_cpu - of_database - row.client_cpu, 0) / row.seconds
    row.memory = memory_mb(server)
    for thread in threads:
        thread.join(timeout=120)
    return row


def pause(seconds: float, threads: Sequence[threading.Thread]) -> None:
    """Waits, but not for people who are all done."""
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline and any(thread.is_alive() for thread in threads):
        time.sleep(min(0.05, max(deadline - time.perf_counter(), 0)))


def middle(times: Sequence[float]) -> float:
    return statistics.median(times) if times else float("nan")
