"""Servers of the benchmark: started in folders of their own, measured in /proc, ended with this process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks._survey.browser import HttpError, Socket
from scripts.services import die_with_parent

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class StartError(Exception):
    """A server did not come up; the text is one plain sentence."""


def stat_of(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command's name; empty if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
    except OSError:
        return []


def family(root: int) -> dict[int, list[str]]:
    """`stat_of` each living descendant of a process, and of itself, by pid."""
    stats = {
        int(entry.name): stat_of(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()
    }
    found = {root} if stats.get(root) else set()
    while True:
        more = {pid for pid, stat in stats.items() if stat and int(stat[1]) in found} - found
        if not more:
            return {pid: stats[pid] for pid in sorted(found)}
        found |= more


def cpu_seconds(root: int) -> float:
    """User and system seconds of a process and its descendants, those that ended among them.

    A field of /proc/PID/stat counts in ticks of 10 ms: measure over seconds.
    """
    ticks = sum(sum(int(stat[place]) for place in (11, 12, 13, 14)) for stat in family(root).values())
    return ticks / TICKS_A_SECOND


def machine_seconds() -> float:
    """CPU seconds of all cores that were not idle, since the machine started; what its host took counts too."""
    user, nice, system, _, _, *rest = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:])
    return (user + nice + system + sum(rest[:3])) / TICKS_A_SECOND


def memory_mb(root: int) -> float:
    """Resident megabytes of a process and its descendants; what they share counts each time."""
    return sum(int(stat[21]) for stat in family(root).values()) * PAGE_BYTES / 1e6


def answers(port: int, path: str) -> bool:
    """Whether something that is no 5xx comes back from the path."""
    try:
        return Socket(port).send("GET", path, {"Connection": "close"}, b"").status < 500
    except (OSError, HttpError, ValueError):
        return False


@contextlib.contextmanager
def serving(
    name: str,
    command: Sequence[str],
    *,
    folder: Path,
    environment: dict[str, str],
    ready: Callable[[], bool],
    seconds: float = 60,
    cwd: Path | None = None,
) -> Iterator[int]:
    """Runs a server until the block ends; gives its pid once `ready()`. Its output goes to folder/NAME.log.

    Raises StartError when it dies or is not ready within `seconds`.
    """
    log = folder / f"{name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=cwd or folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
    try:
        deadline = time.monotonic() + seconds
        while not ready():
            if process.poll() is not None or time.monotonic() > deadline:
                lines = log.read_text(errors="replace").strip().splitlines()[-3:]
                raise StartError(f"{name} did not start: {' / '.join(lines) or 'it said nothing'}")
            time.sleep(0.1)
        yield process.pid
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=15)


def run(command: Sequence[str], *, environment: dict[str, str], cwd: Path, seconds: float = 600) -> str:
    """What a command printed. Raises StartError with its last lines when it fails."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=seconds,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StartError(str(error)) from None
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()[-3:]
        raise StartError(f"{' '.join(command[:4])} failed: {' / '.join(lines)}")
    return done.stdout
