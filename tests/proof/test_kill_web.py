"""kill -9 on the web server in the middle of requests: what was answered is stored, and nothing twice."""

from __future__ import annotations

import contextlib
import http.client
import http.cookiejar
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.proof

SNIPPETS = "problem,intent,system,code,reference\n" + "".join(
    f"p{problem},add {problem},{system},x + {problem}  # {system[-1]},x + {problem}\n"
    for problem in range(120)
    for system in ("model-a", "model-b")
)
ANSWERS = """
from annotator.grading.models import Grade
for grade in Grade.objects.filter(complete=True).select_related("assignment__annotator"):
    print(grade.assignment.annotator.token, grade.assignment.sequence, int(grade.value))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def manage(environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Served:
    """`manage.py serve` on a data folder of its own; `web_pids` are gunicorn's processes."""

    def __init__(self, environment: dict[str, str], port: int) -> None:
        self.port, self.environment = port, environment
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def web_pids(self) -> list[int]:
        found = subprocess.run(
            ["pgrep", "-f", f"gunicorn annotator.wsgi --bind 127.0.0.1:{self.port}"],
            capture_output=True,
            text=True,
            check=False,
        )
        return [int(pid) for pid in found.stdout.split()]

    def wait(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        pytest.fail("the server did not come up")

    def stop(self) -> str:
        self.process.send_signal(signal.SIGINT)
        out, _ = self.process.communicate(timeout=60)
        return out


class Person:
    """An annotator behind a plain HTTP client that tries again whenever the server is gone."""

    def __init__(self, base: str) -> None:
        self.base = base
        jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        self.answered: dict[int, int] = {}
        self.link = ""

    def open(self, url: str, data: dict[str, str] | None = None) -> tuple[str, str]:
        body = None if data is None else urllib.parse.urlencode(data).encode()
        deadline = time.monotonic() + 60
        while True:
            try:
                with self.opener.open(url, body, timeout=20) as answer:
                    return answer.url, answer.read().decode()
            except (OSError, http.client.HTTPException):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def fields(self, page: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for tag in re.findall(r"<input[^>]*>", page):
            attributes = dict(re.findall(r'([a-z-]+)="([^"]*)"', tag))
            if attributes.get("type") == "hidden":
                found[attributes["name"]] = attributes.get("value", "")
        return found

    def join(self, slug: str) -> str:
        url, page = self.open(f"{self.base}/join/{slug}/")
        self.link, page = self.open(url, self.fields(page))
        for action in ("consent", "start"):
            page = self.open(self.link, self.fields(page) | {"action": action})[1]
        return page

    def grade(self, page: str, value: int) -> str:
        """Sends the answer until the server answers; only then does it count as answered."""
        form = self.fields(page)
        page = self.open(self.link, form | {"action": "grade", "value-helpfulness": str(value)})[1]
        self.answered[int(form["sequence"])] = value
        return page


@pytest.fixture
def served(own_environment: dict[str, str], tmp_path: Path) -> Iterator[Served]:
    environment = own_environment
    manage(environment, "migrate", "--verbosity", "0")
    (tmp_path / "snippets.csv").write_text(SNIPPETS)
    manage(environment, "import_study", str(tmp_path / "snippets.csv"), "--slug", "kill", "--open")
    server = Served(environment, free_port())
    server.wait()
    yield server
    if server.process.poll() is None:
        server.stop()


def test_kill_9_in_the_middle_of_requests(served: Served) -> None:
    people = [Person(f"http://127.0.0.1:{served.port}") for _ in range(4)]
    finished = threading.Event()
    errors: list[Exception] = []

    def work(person: Person) -> None:
        try:
            page = person.join("kill")
            while not finished.is_set() or len(person.answered) < 20:
                page = person.grade(page, len(person.answered) % 5)
                time.sleep(0.02)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    killed = 0
    for moment in (0.9, 0.4, 0.7, 0.5):
        served.wait()
        time.sleep(moment)
        for pid in served.web_pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    finished.set()
    for thread in threads:
        thread.join(timeout=120)
    assert not errors, errors
    served.wait()
    out = served.stop()
    assert killed >= 8  # the master and its processes, each time
    assert out.count("starting it again") >= 4
    assert "Stopped. Everything is stored." in out

    manage(served.environment, "verify_study", "kill")
    stored: dict[str, dict[int, int]] = {}
    for line in manage(served.environment, "shell", "--no-imports", "-c", ANSWERS).splitlines():
        token, sequence, value = line.split()
        stored.setdefault(token, {})[int(sequence)] = int(value)
    for person in people:
        token = person.link.rstrip("/").rsplit("/", 1)[1]
        assert stored[token] == person.answered
        assert len(person.answered) >= 20
