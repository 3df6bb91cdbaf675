"""Installations of their own for tests that need real processes: `manage.py serve` on a database of its own."""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg2  # type: ignore[import-untyped]
import pytest

from scripts.services import die_with_parent
from tests.environment import ROOT, SETTINGS

PATIENCE_SECONDS = 120


def own_environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment of an installation that keeps everything below `folder`."""
    known = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    known.pop("DJANGO_SETTINGS_MODULE", None)
    mine = {"VAR_DIR": str(folder / "var"), "SECRET_KEY": "only for this proof " + "x" * 32}
    return known | mine | {name: value for name, value in more.items() if value}


@contextlib.contextmanager
def own_database(server: str) -> Iterator[str]:
    """A database of its own on a PostgreSQL server; its address."""
    name = f"proof_{secrets.token_hex(6)}"
    with closing(psycopg2.connect(server)) as connection:
        connection.autocommit = True
        connection.cursor().execute(f"CREATE DATABASE {name}")
        try:
            yield urlsplit(server)._replace(path=f"/{name}").geturl()
        finally:
            connection.cursor().execute(f"DROP DATABASE {name} WITH (FORCE)")


def manage(environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shell(environment: dict[str, str], code: str) -> str:
    """What the code prints when it runs inside the app."""
    return manage(environment, "shell", "--no-imports", "-c", code)


def wait_until(condition: Callable[..., bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {PATIENCE_SECONDS} s in vain: {what}")
        time.sleep(0.05)


def fixed_port() -> int:
    """A free port that no outgoing connection is given while the server on it is down."""
    for _ in range(100):
        port = random.randint(20_000, 29_999)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port from 20,000 to 29,999")


def family(pid: int) -> dict[int, str]:
    """The process and all that descend from it, those that ended left out: pid -> command line."""
    columns = ["-o", "pid=", "-o", "ppid=", "-o", "stat=", "-o", "args="]
    out = subprocess.run(["ps", "-A", *columns], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 3) for line in out.splitlines()]
    alive = {int(row[0]): (int(row[1]), row[-1]) for row in rows if not row[2].startswith("Z")}
    found = [pid] if pid in alive else []
    for parent in found:
        found += [each for each, (its_parent, _) in alive.items() if its_parent == parent]
    return {each: alive[each][1] for each in found}


def kill(pids: list[int]) -> int:
    """kill -9, one right after the other; how many were there to kill."""
    killed = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


class Served:
    """`manage.py serve` (two gunicorn processes with threads, one worker), to be killed and started again."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment, self.port = environment, fixed_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.log = Path(environment["VAR_DIR"]).with_name("serve.log")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--port", str(self.port)],
                cwd=ROOT,
                env=self.environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,
            )
        self.wait()

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.base}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def wait(self) -> None:
        wait_until(self.answers, f"the server answers; its log ends\n{self.said()[-3000:]}")

    def said(self) -> str:
        """All that it printed until now."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def running(self) -> subprocess.Popen[bytes]:
        assert self.process is not None, "not started"
        return self.process

    def kill_web(self) -> int:
        """gunicorn: the master and its processes. `serve` stays, and starts it again."""
        found = family(self.running().pid)
        return kill([pid for pid, command in found.items() if "gunicorn" in command])

    def kill_everything(self, *others: int) -> int:
        """The app with all its processes, and `others`, at once."""
        count = kill([*family(self.running().pid), *others])
        self.running().wait(timeout=60)
        return count

    def stop(self) -> None:
        """Ctrl-C."""
        self.running().send_signal(signal.SIGINT)
        self.running().wait(timeout=60)


@contextlib.contextmanager
def serving(environment: dict[str, str]) -> Iterator[Served]:
    """A fresh installation that answers."""
    manage(environment, "migrate", "--verbosity", "0")
    served = Served(environment)
    try:
        served.start()
        yield served
    finally:
        if served.running().poll() is None:
            served.kill_everything()


IMPORT = """
from django.core.management import call_command
from annotator.studies.models import Study
call_command("import_study", {file!r}, slug={slug!r}, target={target!r}, policy="open", seed=7, open=True)
study = Study.objects.get(slug={slug!r})
study.protocol = study.protocol | {protocol!r}
study.save(update_fields=["protocol"])
"""


def import_snippets(
    environment: dict[str, str],
    folder: Path,
    slug: str,
    *,
    problems: int,
    target: int | None = None,
    protocol: Mapping[str, Any] | None = None,
    systems: Sequence[str] = ("model-a", "model-b"),
    lines: int = 0,
) -> None:
    """An open study of a snippet of each system a problem, its protocol changed by the keys of `protocol`.

    With `lines` the snippets are that long, and have a reference, as metrics want it.
    """
    body = "".join(f"total_{number} = sum(v * {number} for v in values)\n" for number in range(lines))
    file = folder / f"{slug}.csv"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["problem", "intent", "system", "code", *(["reference"] if lines else [])])
        for number, system in itertools.product(range(problems), systems):
            code = f"{body}x + {number}  # {system[-1]}"
            reference = [f"{body}y + {number}"] if lines else []
            writer.writerow([f"p{number}", f"add {number}", system, code, *reference])
    shell(environment, IMPORT.format(file=str(file), slug=slug, target=target, protocol=dict(protocol or {})))


STORED = """
import json
from django.core.management import call_command
from annotator.grading.models import Assignment, Grade
from annotator.studies.models import Item
call_command("verify_study", {slug!r})
grades = Grade.objects.filter(assignment__annotator__study__slug={slug!r})
had = Assignment.objects.filter(annotator__study__slug={slug!r}, state__in=Assignment.LIVE)
print(json.dumps({{
    "grades": [
        [grade.assignment.annotator.token, grade.assignment.sequence, grade.question, grade.value,
         grade.assignment.item_id, grade.complete and not grade.assignment.surplus, grade.assignment.surplus,
         grade.submitted_at.timestamp()]
        for grade in grades.select_related("assignment__annotator")
    ],
    "items": list(Item.objects.filter(study__slug={slug!r}).values_list("pk", flat=True)),
    "had": list(had.values_list("annotator__token", "item_id")),
}}))
"""


class Stored:
    """What the database holds of a study, read by a process of its own; `verify_study` finds no fault with it."""

    def __init__(self, environment: dict[str, str], slug: str) -> None:
        verified, rows = shell(environment, STORED.format(slug=slug)).splitlines()
        assert verified == f"{slug}: every count equals its rows."
        found = json.loads(rows)
        self.items: list[int] = found["items"]
        self.values: dict[tuple[str, int, str], float] = {}
        """(token, sequence, question) -> value"""
        self.counted: dict[int, list[tuple[str, float]]] = {item: [] for item in self.items}
        """item -> who graded it within its target, and when"""
        self.surplus: set[tuple[str, int]] = set()
        for token, sequence, question, value, item, counted, surplus, at in found["grades"]:
            self.values[token, sequence, question] = value
            if counted:
                self.counted[item].append((token, at))
            if surplus:
                self.surplus.add((token, sequence))
        self.had: dict[str, set[int]] = {}
        for token, item in found["had"]:
            self.had.setdefault(token, set()).add(item)
