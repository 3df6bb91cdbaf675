"""Every connection of the web server, the worker and the commands waits until a commit is on disk."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from scripts.services import die_with_parent
from tests.environment import ROOT
from tests.proof import connections
from tests.serving import family, fixed_port, kill, manage, shell, wait_until

MODULE = connections.__name__
DURABLE: dict[str, list[Any]] = {"sqlite": ["wal", 2], "postgresql": ["on", "on", "on"]}
"""SQLite: journal_mode and synchronous (2 is FULL). PostgreSQL: fsync, full_page_writes, synchronous_commit."""
SEND = f"from {MODULE} import write_down; write_down.delay({{!r}})"
ASK = f"import json; from {MODULE} import ask; print(json.dumps(ask()))"


@pytest.fixture
def expected(own_environment: dict[str, str]) -> dict[str, list[Any]]:
    vendor = "postgresql" if "DATABASE_URL" in own_environment else "sqlite"
    return dict.fromkeys(("default", "reader"), DURABLE[vendor])


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def start(stack: ExitStack, environment: dict[str, str], module: str, *options: str) -> None:
    command = [sys.executable, "-m", module, *options]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, preexec_fn=die_with_parent)
    stack.callback(process.wait)
    stack.callback(lambda: kill(list(family(process.pid))))


def test_every_connection_waits_for_the_disk(
    own_environment: dict[str, str], expected: dict[str, list[Any]], processes: ExitStack, tmp_path: Path
) -> None:
    manage(own_environment, "migrate", "--verbosity", "0")
    assert json.loads(shell(own_environment, ASK)) == expected

    port = fixed_port()
    threads = ["--workers", "2", "--threads", "8", "--worker-class", "gthread", "--no-control-socket"]
    start(
        *(processes, own_environment, "gunicorn", f"{MODULE}:application"),
        *("--bind", f"127.0.0.1:{port}", "--log-level", "warning", *threads),
    )
    answers: list[Any] = []

    def answered() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{connections.PATH}", timeout=5) as answer:
                answers.append(json.load(answer))
        except OSError:
            return False
        return len(answers) == 20

    wait_until(answered, "gunicorn answers")
    assert answers == [expected] * 20

    note = tmp_path / "note.json"
    start(
        *(processes, own_environment, "celery", "-A", "annotator.celery", "--quiet", "worker"),
        *("--include", MODULE, "--loglevel", "WARNING"),
    )
    shell(own_environment, SEND.format(str(note)))
    wait_until(note.exists, "the worker writes")
    assert json.loads(note.read_text()) == expected
