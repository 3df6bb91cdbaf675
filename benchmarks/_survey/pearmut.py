"""Pearmut, single-stream: every item once, picked at random among those that nobody finished."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks._survey import texts
from benchmarks._survey.browser import Browser, HttpError, Socket
from benchmarks._survey.processes import answers, run, serving
from benchmarks._survey.rivals import Rival, Running, clean
from scripts.services import free_port

CAMPAIGN = "survey"
MAX_PEOPLE = 40
FILE_OF = "pearmut.json"


def campaign() -> dict[str, Any]:
    """One document an item, a slider from 0 to 100, and all people who will ever come."""
    data = [[{"src": each.intent, "tgt": {"model": each.code}}] for each in texts.pieces()]
    info = {
        "assignment": "single-stream",
        "protocol": "DA",
        "users": [f"person-{number}" for number in range(MAX_PEOPLE)],
        "shuffle": False,
        "seed": 1,
    }
    return {"campaign_id": CAMPAIGN, "info": info, "data": data}


class Person:
    def __init__(self, port: int, name: str) -> None:
        self.browser, self.name = Browser(Socket(port)), name
        self.item: int | None = None
        self.acknowledged: list[str] = []
        if not self.show():
            raise HttpError("Nothing to grade.")

    def send(self, path: str, content: dict[str, Any]) -> Any:
        body = json.dumps({"campaign_id": CAMPAIGN, "user_id": self.name} | content).encode()
        response = self.browser.send("POST", path, body, "application/json")
        if response.status != 200:
            raise HttpError(f"{path} answered {response.status}.")
        return json.loads(response.body)

    def submit(self) -> None:
        actions = [{"time": 1.0, "action": "load"}, {"time": 2.0, "action": "submit"}]
        annotation = [{"model": {"score": 50, "error_spans": []}}]
        self.send(
            "/log-response", {"item_i": self.item, "payload": {"annotation": annotation, "actions": actions}}
        )
        self.acknowledged.append(str(self.item))

    def show(self) -> bool:
        found = self.send("/get-next-item", {})
        self.item = found["info"]["item_i"] if found["status"] == "ok" else None
        return self.item is not None


@contextlib.contextmanager
def serve(python: Path, folder: Path) -> Iterator[Running]:
    port, environment = free_port(), clean(folder)
    command = str(python.parent / "pearmut")
    (folder / FILE_OF).write_text(json.dumps(campaign()), encoding="utf-8")
    run([command, "add", FILE_OF], environment=environment, cwd=folder)
    names = (f"person-{number}" for number in range(MAX_PEOPLE))

    def people(count: int) -> Sequence[Person]:
        return [Person(port, next(names)) for _ in range(count)]

    with serving(
        "pearmut",
        [command, "run", "--port", str(port)],
        folder=folder,
        environment=environment,
        ready=lambda: answers(port, "/"),
    ) as pid:
        yield Running(pid, people)


RIVAL = Rival("Pearmut", "pearmut==1.1.6", 1, serve, lowest=(3, 12))
