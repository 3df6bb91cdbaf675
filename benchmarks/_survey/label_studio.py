"""Label Studio's community edition, on its default SQLite and on PostgreSQL: overlap of two, `Uniform sampling`."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import count as numbers
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks._survey import database, texts
from benchmarks._survey.browser import Browser, HttpError, Socket
from benchmarks._survey.processes import answers, serving
from benchmarks._survey.rivals import Rival, Running, clean
from scripts.services import free_port

PACKAGE = "label-studio==1.23.2"
TARGET = 2
FIRST_START_SECONDS = 240
"""It migrates on its first start."""
LABELS = ["Not at all", "Slightly", "Somewhat", "Helpful", "Very helpful"]
CHOICES = "".join(f'<Choice value="{label}"/>' for label in LABELS)
CONFIG = (
    '<View><Text name="intent" value="$intent"/><Text name="code" value="$code"/>'
    f'<Choices name="helpfulness" toName="code" choice="single">{CHOICES}</Choices></View>'
)
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
IMPORT_BATCH = 700


class Client:
    """Someone who signed up, and speaks the API with the session of the page."""

    def __init__(self, port: int, name: str) -> None:
        self.browser = Browser(Socket(port))
        page = self.browser.get("/user/signup/")
        token = CSRF.search(page.text)
        if token is None:
            raise HttpError("The page to sign up has no form.")
        email = f"{name}@example.com"
        fields = {"csrfmiddlewaretoken": token[1], "email": email, "password": secrets.token_hex(8)}
        response = self.browser.post("/user/signup/", fields | {"how_find_us": "", "elaborate": ""})
        if response.status not in (301, 302):
            raise HttpError(f"Signing up answered {response.status}.")

    def api(
        self, method: str, path: str, content: Any = None, *, wanted: tuple[int, ...] = (200, 201)
    ) -> Any:
        self.browser.headers["X-CSRFToken"] = self.browser.cookies.get("csrftoken", "")
        body = b"" if content is None else json.dumps(content).encode()
        response = self.browser.send(method, path, body, "application/json")
        if response.status not in wanted:
            raise HttpError(f"{method} {path.split('?')[0]} answered {response.status}: {response.text[:80]}")
        return json.loads(response.body) if response.status in (200, 201) else None


class Person:
    def __init__(self, port: int, name: str, project: int) -> None:
        self.client, self.project, self.task = Client(port, name), project, 0
        self.acknowledged: list[str] = []
        if not self.show():
            raise HttpError("Nothing to grade.")

    def submit(self) -> None:
        label = LABELS[len(self.acknowledged) % len(LABELS)]
        value = {"choices": [label]}
        result = [{"from_name": "helpfulness", "to_name": "code", "type": "choices", "value": value}]
        path = f"/api/tasks/{self.task}/annotations/?project={self.project}"
        self.client.api("POST", path, {"result": result, "lead_time": 1.0})
        self.acknowledged.append(str(self.task))

    def show(self) -> bool:
        found = self.client.api("GET", f"/api/projects/{self.project}/next", wanted=(200, 404))
        self.task = found["id"] if found else 0
        return found is not None


def fill(port: int) -> int:
    """The id of a project with all texts, two annotations each."""
    owner = Client(port, "owner")
    project = owner.api(
        "POST",
        "/api/projects/",
        {
            "title": "Survey",
            "label_config": CONFIG,
            "maximum_annotations": TARGET,
            "sampling": "Uniform sampling",
        },
    )
    tasks = [{"data": {"intent": each.intent, "code": each.code}} for each in texts.pieces()]
    for start in range(0, len(tasks), IMPORT_BATCH):
        owner.api("POST", f"/api/projects/{project['id']}/import", tasks[start : start + IMPORT_BATCH])
    return int(project["id"])


@contextlib.contextmanager
def serve(python: Path, folder: Path, server: database.Server | None = None) -> Iterator[Running]:
    port = free_port()
    with contextlib.ExitStack() as stack:
        settings = {
            "LATEST_VERSION_CHECK": "false",
            "COLLECT_ANALYTICS": "false",
            "SENTRY_DSN": "",
            "FRONTEND_SENTRY_DSN": "",
            "LABEL_STUDIO_BASE_DATA_DIR": str(folder / "data"),
        }
        if server is not None:
            url = urlsplit(stack.enter_context(server.database()))
            settings |= {
                "DJANGO_DB": "default",
                "POSTGRE_NAME": url.path.strip("/"),
                "POSTGRE_USER": url.username or "",
                "POSTGRE_PASSWORD": url.password or "",
                "POSTGRE_HOST": url.hostname or "",
                "POSTGRE_PORT": str(url.port),
            }
        else:
            settings["DJANGO_DB"] = "sqlite"
        command = [str(python.parent / "label-studio"), "start", "--no-browser", "--port", str(port)]
        pid = stack.enter_context(
            serving(
                "label-studio",
                [*command, "--data-dir", str(folder / "data"), "--log-level", "ERROR"],
                folder=folder,
                environment=clean(folder, **settings),
                ready=lambda: answers(port, "/health"),
                seconds=FIRST_START_SECONDS,
            )
        )
        project = fill(port)
        names = (f"person{number}" for number in numbers())

        def people(count: int) -> Sequence[Person]:
            return [Person(port, next(names), project) for _ in range(count)]

        yield Running(pid, people, server.pid if server else None)


Serve = Callable[[Path, Path], AbstractContextManager[Running]]


def on_sqlite() -> Rival:
    return Rival("Label Studio, SQLite", PACKAGE, TARGET, serve)


def on_postgresql(server: database.Server) -> Rival:
    bound: Serve = partial(serve, server=server)
    return Rival("Label Studio, PostgreSQL", PACKAGE, TARGET, bound)
