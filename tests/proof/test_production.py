"""A deployment as docker-compose.yml describes it, as processes on a real PostgreSQL and Redis.

Its own commands and settings are run; containers are the only thing that is missing.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.services import die_with_parent, free_port
from tests.environment import ROOT, SETTINGS
from tests.serving import own_database

SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
DOCKERFILE = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text())
BIN = Path(sys.executable).parent
SNIPPETS = "problem,intent,system,code,reference\n" + "".join(
    f"p{number},add {number},{system},x + {number}{tail},x + {number}\n"
    for number in range(6)
    for system, tail in (("model-a", ""), ("model-b", " + 0"))
)


def interpolate(text: str, values: dict[str, str]) -> str:
    """`${NAME:-default}` and `${NAME:?message}` as compose reads them."""

    def fill(match: re.Match[str]) -> str:
        name, kind, rest = match[1], match[2] or "", match[3] or ""
        if values.get(name):
            return values[name]
        assert kind != ":?", rest
        return rest

    return re.sub(r"\$\{([A-Z_]+)(:-|:\?)?([^}]*)\}", fill, text).replace("$$", "$")


def image_command(instruction: str) -> list[str]:
    """The command of the image's CMD or HEALTHCHECK."""
    (found,) = re.findall(rf"^{instruction} .*?(\[.*\])\s*$", DOCKERFILE, re.M)
    return list(json.loads(found))


def start(command: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as out:
        return subprocess.Popen(
            [str(BIN / command[0]), *command[1:]],
            cwd=ROOT,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )


def wait_for(what: str, true: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while not true():
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"{what} did not come up:\n{log.read_text()[-3000:]}")
        time.sleep(0.2)


class Deployment:
    """Runs what compose would run, with the addresses of the throw-away services in place of its names."""

    def __init__(self, folder: Path, postgres_url: str, redis_url: str) -> None:
        self.folder, self.port = folder, free_port()
        values = {"SECRET_KEY": "s" * 64, "POSTGRES_PASSWORD": "p" * 48}
        self.environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        for name, value in SERVICES["worker"]["environment"].items():
            if name != "<<":
                self.environment[name] = interpolate(str(value), values)
        assert self.environment["DATABASE_URL"].endswith("@postgres:5432/codejury")
        assert self.environment["BROKER_URL"].startswith("redis://redis:")
        self.environment |= {
            "DATABASE_URL": postgres_url,
            "BROKER_URL": redis_url,
            "VAR_DIR": str(folder / "data"),
            "MEDIA_ROOT": str(folder / "data" / "media"),
            "STATIC_ROOT": str(folder / "static"),
            "HOSTNAME": "proof",
        }

    def run(self, command: list[str], *, ok: bool = True) -> str:
        done = subprocess.run(
            [str(BIN / command[0]), *command[1:]],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not ok or done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def manage(self, *command: str) -> str:
        return self.run(["python", "manage.py", *command])

    def get(self, path: str, host: str = "localhost") -> str:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers={"Host": host})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(answer.read().decode())

    def answers(self) -> bool:
        try:
            return self.get("/healthz") == "ok"
        except OSError:
            return False


@pytest.fixture
def database(postgres_url: str) -> Iterator[str]:
    """A database of its own on the throw-away server."""
    with own_database(postgres_url) as url:
        yield url


@pytest.fixture
def deployment(tmp_path: Path, database: str, redis_url: str) -> Iterator[Deployment]:
    made = Deployment(tmp_path, database, redis_url)
    (tmp_path / "snippets.csv").write_text(SNIPPETS)
    made.manage("collectstatic", "--noinput", "--verbosity", "0")
    made.run(SERVICES["migrate"]["command"])
    web_command = [part.replace("0.0.0.0:8000", f"127.0.0.1:{made.port}") for part in image_command("CMD")]
    with ExitStack() as stack:
        web_log, worker_log = tmp_path / "web.log", tmp_path / "worker.log"
        web = start(web_command, made.environment, web_log)
        stack.callback(stop, web)
        worker = start(
            [*SERVICES["worker"]["command"], "--hostname", "celery@proof"], made.environment, worker_log
        )
        stack.callback(stop, worker)
        wait_for("the web server", made.answers, web, web_log)
        check = shlex.split(SERVICES["worker"]["healthcheck"]["test"][1].replace("$$HOSTNAME", "proof"))
        wait_for("the worker", lambda: "pong" in made.run(check, ok=False), worker, worker_log)
        yield made


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def test_a_deployment_imports_a_study_and_computes_metrics(deployment: Deployment) -> None:
    check = [part.replace(":8000", f":{deployment.port}") for part in image_command("HEALTHCHECK")]
    deployment.run(check)
    deployment.manage("import_study", str(deployment.folder / "snippets.csv"), "--slug", "proof", "--open")
    assert "Start" in deployment.get("/join/proof/")
    assert "--accent" in deployment.get("/static/site.css")
    with pytest.raises(urllib.error.HTTPError, match="400"):
        deployment.get("/join/proof/", host="elsewhere.example")
    deployment.manage(
        "shell",
        "--no-imports",
        "-c",
        "from annotator.studies.models import Study; from annotator.results import actions; "
        "actions.start_job(Study.objects.get(slug='proof'), 'metrics', {'metrics': ['bleu', 'chrf']})",
    )
    scores = "from annotator.results.models import MetricScore; print('scores', MetricScore.objects.count())"
    deadline = time.monotonic() + 60
    while "scores 24" not in deployment.manage("shell", "--no-imports", "-c", scores):
        assert time.monotonic() < deadline, (deployment.folder / "worker.log").read_text()[-3000:]
        time.sleep(0.5)


def test_a_deployment_refuses_to_start_without_a_secret_key(
    tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    deployment = Deployment(tmp_path, postgres_url, redis_url)
    del deployment.environment["SECRET_KEY"]
    out = deployment.run(["python", "manage.py", "check"], ok=False)
    assert "Set SECRET_KEY" in out
