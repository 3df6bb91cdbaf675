"""Codejury itself: an installation in a folder of its own, served as the image's command does, graded over HTTP."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from benchmarks._survey.browser import Browser, HttpError, Response, Socket
from benchmarks._survey.load import Measured, drive
from benchmarks._survey.processes import answers, run, serving
from benchmarks._survey.texts import Piece
from scripts.services import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
SLUG = "survey"
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH")
"""Of the environment: no setting of the developer's reaches what is measured."""
FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.S)
TAG = re.compile(r"<(input|button|textarea|select|option)\b([^>]*)>")
ATTRIBUTE = re.compile(r'([\w-]+)(?:="([^"]*)")?')
STEPS = ("consent", "answer", "start", "practice", "practice-next", "next")
"""Actions that lead on to the tasks."""
MAX_PAGES = 30
COUNTS = """
import json
from collections import Counter
from annotator.grading.models import Grade
grades = Grade.objects.filter(complete=True, assignment__surplus=False)
rows = grades.values_list(
    "assignment__item_id", "assignment__item__target", "assignment__annotator__token", "assignment__sequence", "value")
items, stored = Counter(), []
for item, target, token, sequence, value in rows:
    items[item, target] += 1
    stored.append([token, sequence, value])
over = sum(1 for (item, target), count in items.items() if target is not None and count > target)
print(json.dumps({"over": over, "stored": stored}))
"""


def attributes(text: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in ATTRIBUTE.findall(text)}


def forms(page: str) -> list[tuple[dict[str, str], list[dict[str, str]]]]:
    """(attributes, fields) of each form that posts; a field is its tag's attributes with the tag under `tag`."""
    found = []
    for head, inside in FORM.findall(page):
        if 'method="post"' in head:
            fields = [{"tag": tag} | attributes(rest) for tag, rest in TAG.findall(inside)]
            found.append((attributes(head), fields))
    return found


def filled(fields: list[dict[str, str]], action: str, choice: int = 0) -> dict[str, str]:
    """What a person sends: the hidden fields, of each group of radio buttons the `choice`-th, a word in each text.

    A slider is left in its middle, of a select the first option that has a value is taken.
    """
    sent: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    select = ""
    for field in fields:
        name, kind = field.get("name", ""), field.get("type", "text")
        if field["tag"] == "select":
            select = name
        elif field["tag"] == "option":
            if select and select not in sent and field.get("value"):
                sent[select] = field["value"]
        elif field["tag"] == "button" or not name:
            continue
        elif kind == "radio":
            groups.setdefault(name, []).append(field.get("value", "on"))
        elif kind == "range":
            low, high = float(field.get("min", 0)), float(field.get("max", 100))
            sent[name] = f"{(low + high) // 2:g}"
        elif kind == "hidden":
            sent[name] = field.get("value", "")
        elif field["tag"] == "textarea" or kind in ("text", "number"):
            sent[name] = "" if name.startswith("comment-") else "5"
    sent |= {name: values[choice % len(values)] for name, values in groups.items()}
    return sent | ({"action": action} if action else {})


class Annotator:
    """Someone who fills in whatever form the page shows: who joins the study, or has a personal `link` already."""

    def __init__(self, browser: Browser, slug: str = SLUG, *, link: str = "") -> None:
        self.browser, self.link, self.page = browser, link, ""
        self.acknowledged: dict[int, float] = {}
        if not link:
            self.join(slug)

    def join(self, slug: str) -> None:
        """Through all steps before the tasks. A server that asks to come more slowly is obeyed."""
        path = f"/join/{slug}/"
        response = self.browser.get(path)
        for _ in range(MAX_PAGES):
            response, path = self.browser.follow(response, path)
            if response.status == 429:
                time.sleep(float(dict(response.headers).get("retry-after", 1)))
                response = self.browser.get(path)
                continue
            if response.status != 200:
                raise HttpError(f"{path} answered {response.status}.")
            self.link, self.page = path, response.text
            if 'id="grade"' in self.page:
                return
            response = self.browser.post(path, self.step_form())
        raise HttpError("Joining does not end.")

    def step_form(self) -> dict[str, str]:
        for _, fields in forms(self.page):
            buttons = [field for field in fields if field["tag"] == "button"]
            named = [field["value"] for field in buttons if field.get("name") == "action"]
            if named and named[0] in STEPS:
                return filled(fields, named[0])
            if buttons and not named:
                return filled(fields, "")
        raise HttpError(f"No form leads on from {self.link}.")

    def submit(self) -> None:
        fields = next(fields for head, fields in forms(self.page) if head.get("id") == "grade")
        sent = filled(fields, "grade", len(self.acknowledged))
        response = self.browser.post(self.link, sent)
        self.check(response, 302)
        value = next(float(sent[name]) for name in sent if name == "value" or name.startswith("value-"))
        self.acknowledged[int(sent["sequence"])] = value

    def show(self) -> bool:
        response = self.browser.get(self.link)
        self.check(response, 200)
        self.page = response.text
        return 'id="grade"' in self.page

    def check(self, response: Response, status: int) -> None:
        if response.status != status:
            raise HttpError(f"{response.status} instead of {status}")

    @property
    def token(self) -> str:
        return self.link.strip("/").rpartition("/")[2]


class Installation:
    """Codejury in `folder` on SQLite, or on the PostgreSQL database at `url`."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self.folder, self.port = folder, free_port()
        folder.mkdir(parents=True, exist_ok=True)
        self.environment = {name: os.environ[name] for name in KEPT if name in os.environ} | {
            "VAR_DIR": str(folder / "var"),
            "SECRET_KEY": "only for this benchmark " + "x" * 32,
            "PYTHONPATH": str(ROOT),
            "DJANGO_SETTINGS_MODULE": "annotator.settings",
        }
        if url:
            self.environment["DATABASE_URL"] = url

    def manage(self, *command: str) -> str:
        return run([sys.executable, "manage.py", *command], environment=self.environment, cwd=ROOT)

    def set_up(self) -> None:
        self.manage("migrate", "--verbosity", "0")
        self.manage("collectstatic", "--noinput", "--verbosity", "0")

    def fill(self, pieces: list[Piece], *, target: int, slug: str = SLUG) -> None:
        """A helpfulness study of the pieces, policy `open`, taking grades."""
        path = self.folder / f"{slug}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["problem", "intent", "system", "code"])
            writer.writerows([each.problem, each.intent, each.system, each.code] for each in pieces)
        chosen = ["--slug", slug, "--protocol", "helpfulness", "--policy", "open", "--target", str(target)]
        self.manage("import_study", str(path), *chosen, "--seed", "1", "--open")

    def command(self) -> list[str]:
        """The image's own command (Dockerfile), on this port."""
        text = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
        parts: list[str] = json.loads(re.findall(r"^CMD (\[.*\])\s*$", text, re.M)[-1])
        bound = [part.replace("0.0.0.0:8000", f"127.0.0.1:{self.port}") for part in parts]
        return [sys.executable, "-m", *bound]

    @contextlib.contextmanager
    def served(self) -> Iterator[int]:
        """Pid of gunicorn's master."""
        with serving(
            "web",
            self.command(),
            folder=self.folder,
            environment=self.environment,
            cwd=ROOT,
            ready=lambda: answers(self.port, "/healthz"),
        ) as pid:
            yield pid

    def people(self, count: int) -> list[Annotator]:
        return [Annotator(Browser(Socket(self.port))) for _ in range(count)]

    def audit(self, row: Measured, people: list[Annotator]) -> None:
        """Counts from the rows what is over target, and what was acknowledged and is not stored."""
        found = json.loads(self.manage("shell", "--no-imports", "-c", COUNTS))
        row.over_target = (row.over_target or 0) + int(found["over"])
        stored = {(token, sequence): value for token, sequence, value in found["stored"]}
        row.lost = (row.lost or 0) + sum(
            stored.get((person.token, sequence)) != value
            for person in people
            for sequence, value in person.acknowledged.items()
        )


def measure(
    label: str,
    installation: Installation,
    *,
    users: tuple[int, ...],
    warm_seconds: float,
    seconds: float,
    database: int | None,
) -> list[Measured]:
    """One row for each number of users, on one server. `database` is the pid of its PostgreSQL."""
    rows = []
    with installation.served() as server:
        for count in users:
            people = installation.people(count)
            row = drive(
                label,
                people,
                warm_seconds=warm_seconds,
                seconds=seconds,
                server=server,
                database=database,
            )
            installation.audit(row, people)
            rows.append(row)
    return rows
