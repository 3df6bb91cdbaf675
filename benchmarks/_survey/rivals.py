"""The other tools, from their packages: one virtual environment each, made on first use and kept in .cache/."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks._survey.load import Measured, Person, drive
from benchmarks._survey.processes import StartError, run

CACHE = Path(__file__).resolve().parent.parent.parent / ".cache" / "bench-survey"
NEWER = ("python3.12", "python3.13", "python3.14")
KEPT = ("PATH", "LANG", "TMPDIR", "LD_LIBRARY_PATH")
"""Of the environment of this process: nothing of the developer's settings reaches a rival."""


class Grading(Person, Protocol):
    """A person at a rival, who keeps the ids of what was answered with a 2xx."""

    acknowledged: list[str]


@dataclass(frozen=True)
class Running:
    """A rival that answers: the pid of its oldest process, and how to get people to their first page."""

    pid: int
    people: Callable[[int], Sequence[Grading]]
    database: int | None = None


@dataclass(frozen=True)
class Rival:
    name: str
    package: str
    target: int
    serve: Callable[[Path, Path], AbstractContextManager[Running]]
    """From its interpreter and an empty folder."""
    lowest: tuple[int, int] = (3, 11)
    """The oldest Python that it runs on."""


def pythons() -> Iterator[str]:
    """Interpreters that may be there, this one first."""
    yield sys.executable
    yield from filter(None, map(shutil.which, NEWER))
    roots = (Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser() / "versions", Path("/opt"))
    for root in roots:
        yield from map(str, sorted(root.glob("*/bin/python3")))


def find_python(lowest: tuple[int, int]) -> str:
    """An interpreter of that version or a newer one. Raises StartError if there is none."""
    for python in pythons():
        try:
            asked = [python, "-c", "import sys, venv; print(*sys.version_info[:2])"]
            done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=20)
            if tuple(map(int, done.stdout.split())) >= lowest:
                return python
        except (OSError, ValueError, subprocess.SubprocessError):
            continue
    raise StartError(f"it needs Python {lowest[0]}.{lowest[1]} or newer, and none was found here.")


def environment_of(rival: Rival) -> Path:
    """The interpreter of the rival's environment. Raises StartError if it cannot be installed."""
    base = find_python(rival.lowest)
    folder = CACHE / rival.package.partition("==")[0]
    python, done = folder / "bin" / "python", folder / "installed.txt"
    wanted = f"{rival.package}\n{base}\n"
    if not done.exists() or done.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        everything = dict(os.environ)
        run([base, "-m", "venv", str(folder)], environment=everything, cwd=CACHE.parent.parent)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", rival.package]
        run(pip, environment=everything, cwd=folder, seconds=900)
        done.write_text(wanted, encoding="utf-8")
    return python


def clean(folder: Path, **more: str) -> dict[str, str]:
    """The environment for a rival whose home is `folder`."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | {"HOME": str(folder), "PYTHONUNBUFFERED": "1"} | more


def over_target(people: Sequence[Grading], target: int) -> int:
    """Items of which more than `target` grades were acknowledged."""
    counts = Counter(item for person in people for item in person.acknowledged)
    return sum(1 for count in counts.values() if count > target)


def measure(
    rival: Rival,
    python: Path,
    folder: Path,
    *,
    users: tuple[int, ...],
    warm_seconds: float,
    seconds: float,
) -> Iterator[Measured]:
    """One row for each number of users, on one server; people are new each time.

    Raises StartError when the rival does not start or does not let people in.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with rival.serve(python, folder) as running:
        everyone: list[Grading] = []
        for count in users:
            try:
                people = running.people(count)
            except (OSError, ValueError, KeyError) as error:
                raise StartError(f"nobody could join: {error!r}") from None
            row = drive(
                rival.name,
                people,
                warm_seconds=warm_seconds,
                seconds=seconds,
                server=running.pid,
                database=running.database,
            )
            everyone += people
            row.over_target = over_target(everyone, rival.target)
            yield row
