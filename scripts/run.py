"""Running steps one after the other, with the services beside them, and cleaning up however it ends."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from typing import IO

from scripts import install, services

NO_TESTS = 5
"""pytest's exit status when nothing was selected."""


def start(
    command: list[str], environment: dict[str, str] | None = None, output: IO[bytes] | None = None
) -> subprocess.Popen[bytes]:
    # matplotlib would complain where there is no home to keep its cache in.
    caches = {"MPLCONFIGDIR": str(services.ROOT / ".cache" / "matplotlib")}
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=services.ROOT,
        env=caches | os.environ | (environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output and subprocess.STDOUT,
        preexec_fn=services.die_with_parent,
    )


@contextlib.contextmanager
def beside(title: str, command: list[str], environment: dict[str, str]) -> Iterator[list[int]]:
    """A step beside those of the block. At its end what it printed comes, and the list gets its exit status."""
    status: list[int] = []
    with tempfile.TemporaryFile() as output:
        process = start(command, environment, output)
        try:
            yield status
            status.append(process.wait())
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        print(f"\n== {title}: {shlex.join(['python', *command])}", flush=True)
        print(output.read().decode(errors="replace"), end="", flush=True)


def run(title: str, command: list[str], environment: dict[str, str] | None = None) -> int:
    """One step in the foreground; ends with this process. Returns its exit status."""
    print(f"\n== {title}: {shlex.join(['python', *command])}", flush=True)
    process = start(command, environment)
    try:
        return process.wait()
    except BaseException as reason:
        # Ctrl-C has reached the child too; of anything else it hears here. Either way it may clean up first.
        if not isinstance(reason, KeyboardInterrupt):
            process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise


def leave(number: int, frame: types.FrameType | None) -> None:
    sys.exit(128 + number)


@contextlib.contextmanager
def with_services(*, durable: bool = False) -> Iterator[dict[str, str]]:
    """Starts PostgreSQL and Redis; gives the environment of tests that insist on real services.

    With `durable` PostgreSQL waits for the disk, as in production.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    try:
        missing = install.ensure()
        if missing:
            sys.exit("\n".join(["The tests need real services:", *missing]))
        with services.running(durable=durable) as urls:
            yield urls | {"CODEJURY_REQUIRE_SERVICES": "1", "PYTHONUNBUFFERED": "1"}
    except services.ServiceError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
