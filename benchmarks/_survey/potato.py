"""Potato with its defaults, `random`, and two annotators an item; its file format is JSON, so is YAML a superset."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from itertools import count as numbers
from pathlib import Path

from benchmarks._survey import texts
from benchmarks._survey.browser import Browser, HttpError, Response, Socket
from benchmarks._survey.processes import answers, serving
from benchmarks._survey.rivals import Rival, Running, clean
from scripts.services import free_port

LABELS = ["Not at all", "Slightly", "Somewhat", "Helpful", "Very helpful"]
INSTANCE = re.compile(r'id="instance_id"[^>]*value="([^"]+)"')
TARGET = 2


class Person:
    """As its page does: a chosen answer is saved at once (submit); "next" moves on, then loads the page anew."""

    def __init__(self, port: int, name: str) -> None:
        self.browser, self.item = Browser(Socket(port)), ""
        self.acknowledged: list[str] = []
        response = self.browser.post("/auth", {"action": "login", "email": name, "pass": ""})
        response, _ = self.browser.follow(response, "/auth")
        if not self.read(response):
            raise HttpError("The first page shows no item.")

    def read(self, response: Response) -> bool:
        if response.status != 200:
            raise HttpError(f"The page answered {response.status}.")
        found = INSTANCE.search(response.text)
        self.item = found[1] if found else ""
        return bool(found)

    def submit(self) -> None:
        number = len(self.acknowledged) % len(LABELS)
        answer = {
            "instance_id": self.item,
            "annotations": {f"helpfulness:{LABELS[number]}": str(number + 1)},
            "span_annotations": [],
        }
        response = self.browser.send(
            "POST", "/updateinstance", json.dumps(answer).encode(), "application/json"
        )
        if response.status != 200 or json.loads(response.body).get("status") != "success":
            raise HttpError(f"The answer got {response.status}: {response.text[:80]}")
        self.acknowledged.append(self.item)

    def show(self) -> bool:
        body = json.dumps({"action": "next_instance", "instance_id": self.item}).encode()
        moved = self.browser.send("POST", "/annotate", body, "application/json")
        if moved.status >= 400:
            raise HttpError(f"Moving on answered {moved.status}.")
        return self.read(self.browser.follow(self.browser.get("/annotate"), "/annotate")[0])


@contextlib.contextmanager
def serve(python: Path, folder: Path) -> Iterator[Running]:
    port = free_port()
    rows = [
        json.dumps({"id": f"item-{number}", "text": f"{each.intent}\n\n{each.code}"})
        for number, each in enumerate(texts.pieces())
    ]
    (folder / "data.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    scheme = {
        "annotation_type": "radio",
        "name": "helpfulness",
        "description": "How helpful is this snippet for solving the problem?",
        "labels": LABELS,
    }
    config = {
        "annotation_task_name": "Survey",
        "task_dir": ".",
        "data_files": ["data.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "output",
        "annotation_schemes": [scheme],
        "require_password": False,
        "assignment_strategy": "random",
        "num_annotators_per_item": TARGET,
        "random_seed": 1,
    }
    (folder / "config.yaml").write_text(json.dumps(config, indent=1), encoding="utf-8")
    names = (f"person{number}" for number in numbers())

    def people(count: int) -> Sequence[Person]:
        return [Person(port, next(names)) for _ in range(count)]

    with serving(
        "potato",
        [str(python.parent / "potato"), "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1"],
        folder=folder,
        environment=clean(folder),
        ready=lambda: answers(port, "/"),
        seconds=90,
    ) as pid:
        yield Running(pid, people)


RIVAL = Rival("Potato", "potato-annotation==2.12.1", TARGET, serve)
