"""What a scripted annotator gets of a study, and the same study with all changed that must not show."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from annotator.grading.models import Annotator, Assignment, Grade
from annotator.studies.actions import open_study
from annotator.studies.models import Group, Item, Problem, Snippet, Study, System
from annotator.studies.protocol_reader import protocol_text as shipped_text
from tests.grading.surveys import (
    ASIDE,
    BESIDE,
    EFFORT,
    PRACTICE,
    QUALITY,
    REMARK,
    add_rows,
    gold,
    make_survey,
    protocol_text,
)
from tests.grading.walker import Field, Got, Page, Walker, first_button, scripted

Rows = list[dict[str, Any]]
SYSTEMS = ("zorblax-7b", "quuxify", "vantablack")
METRICS = ("METEORITE", "scoreberta", "gleuwort")
SECRET_KEY_OF_PROBLEM = "hush-"
STRATUM = "stratosphere"
IMAGE = "tell-tale-card"
SECRETS = (*SYSTEMS, *METRICS, SECRET_KEY_OF_PROBLEM, STRATUM, IMAGE, "x.csv")
PNG = b"\x89PNG\r\n\x1a\n"
MODELS = (Study, Problem, System, Snippet, Group, Item, Annotator, Assignment, Grade)
FAR = 7_000_000
"""Where the numbers of rows begin: so high that they are found wherever they show."""


@dataclass
class Clock:
    """Seven seconds pass with each request."""

    now: datetime = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

    def tick(self) -> None:
        self.now += timedelta(seconds=7)


class Scripted(Walker):
    """A walker whose clock ticks, and which may look at each page in another way (`look`)."""

    def __init__(self, clock: Clock, look: Callable[[Scripted, Page], None] | None = None) -> None:
        super().__init__(Client())
        self.clock, self.look = clock, look

    def _keep(self, asked: str, response: Any) -> Page:
        cookies = [
            (name, morsel["path"], morsel["httponly"], morsel["samesite"], morsel["max-age"])
            for name, morsel in sorted(response.cookies.items())
        ]
        response.headers["X-Test-Cookies"] = str(cookies)
        return super()._keep(asked, response)

    def get(self, path: str) -> Page:
        self.clock.tick()
        return super().get(path)

    def post(self, path: str, form: dict[str, Any]) -> Page:
        self.clock.tick()
        return super().post(path, form)


class Walk:
    """Makes a study, lets the script walk through it, and forgets it: the next walk has other database ids."""

    def __init__(self, clock: Clock, patch: pytest.MonkeyPatch, folder: Path) -> None:
        self.clock, self.patch, self.folder = clock, patch, folder
        self.walks = 0
        self.draws: list[str] = []

    def plain(self, name: str) -> list[Got]:
        """The scene as it is; walked once for all tests."""
        if name not in PLAIN:
            log = self(*SCENES[name])
            PLAIN[name] = log, self.draws
        log, self.draws = PLAIN[name]
        return log

    def __call__(
        self, text: str, rows: Rows, *, look: Callable[[Scripted, Page], None] | None = None
    ) -> list[Got]:
        """What both people got. The rows are imported in three files, each with whole problems."""
        tokens, keys = count(1), count(1)
        secrets = SimpleNamespace(token_urlsafe=lambda size: f"token-{next(tokens):026}")
        self.patch.setattr("annotator.grading.actions.people.secrets", secrets)
        self.patch.setattr(
            "annotator.grading.views.uuid",
            SimpleNamespace(uuid4=lambda: SimpleNamespace(hex=f"{next(keys):032}")),
        )
        self.clock.now = Clock.now
        self.walks += 1
        with transaction.atomic():
            move_ids(FAR + self.walks * 100_003)
            problems = list(dict.fromkeys(row["problem"] for row in rows))
            study = make_survey(text, [], is_open=False)
            for part in range(3):
                file = [row for row in rows if row["problem"] in problems[part::3]]
                add_rows(study, file, folder=self.folder)
            open_study(study)
            self.draws = [
                str(draw) for model in (Item, Group) for draw in model.objects.values_list("draw", flat=True)
            ]
            walkers = [Scripted(self.clock, look), Scripted(self.clock, look)]
            survey(study, walkers)
            transaction.set_rollback(True)
        return [got for walker in walkers for got in walker.log]


def move_ids(start: int) -> None:
    """The next row of each model gets a number of its own, above `start`."""
    with connection.cursor() as cursor:
        for place, model in enumerate(MODELS):
            table, number = model._meta.db_table, start + place * 10_000
            if connection.vendor == "sqlite":
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, number])
            else:
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, number])


def survey(study: Study, walkers: Sequence[Scripted]) -> None:
    """Everything there is to do, by two people in turn: a stop and a return, skips, reports, wrong forms."""
    fills = [scripted(count(3)), scripted(count(8))]
    pages = [walker.join(study.slug) for walker in walkers]
    for turn in range(400):
        who = turn % 2
        walker, page, fill = walkers[who], pages[who], fills[who]
        if walker.look is not None:
            walker.look(walker, page)
        if page.step == "thanks":
            if all(each.step == "thanks" for each in pages):
                return
            continue
        pages[who] = act(walker, page, fill, turn // 2)
    raise AssertionError("the survey does not end")


def act(walker: Scripted, page: Page, fill: Callable[[str, Field], str], turn: int) -> Page:
    there = {button for form in page.forms for button in form.buttons}
    if "grade" not in there:
        return walker.send(page, first_button(page), fill)
    form = page.grade_form
    if turn % 11 == 3 and "skip" in there:
        return walker.send(page, "skip")
    if turn % 13 == 5 and "broken" in there:
        return walker.send(page, "broken", fill)
    if turn % 7 == 2:
        walker.post(walker.link, form.hidden() | {"action": "grade", "value-nothing": "1"})
        walker.get(f"{walker.link}pause/")
        walker.get(f"{walker.link}instructions/")
        walker.get(f"{walker.link}change/")
    if turn == 12:
        walker.post(walker.link, {"action": "stop", "reason": "tired", "text": "A break."})
        return walker.post(walker.link, {"action": "next"})
    if turn % 9 == 4:
        walker.post(walker.link, form.hidden() | {"action": "grade", "key": "forged"})
    after = walker.send(page, "grade", fill)
    if turn % 5 == 1:
        walker.post(walker.link, form.hidden() | {"action": "grade", "value-quality": "0"})
    return after


# The studies: who wrote what, for which problem, in which order of the file.


def about(number: int) -> dict[str, Any]:
    return {
        "problem": f"{SECRET_KEY_OF_PROBLEM}{number}",
        "stratum": STRATUM,
        "intent": f'def task_{number}(values):\n    """Return value {number} of `values`, or nothing."""',
        "tests": f"assert task_{number}([]) is None",
        "context": "Think of what happens where there is none.",
    }


def code_of(number: int, writer: int) -> str:
    """The first two writers agree on every third problem: equal code under two names."""
    writer = 0 if writer == 1 and number % 3 == 0 else writer
    lines = [f"found = values[{number}]", f"extra = {writer} + found", "if extra > 0:", "    return extra"]
    return "\n".join(lines[: 2 + (number + writer) % 3])


def pool(problems: int, systems: int = 3, *, reference: bool = True) -> Rows:
    rows = []
    for number in range(problems):
        writers = [*SYSTEMS[:systems], *(["reference"] if reference else [])]
        rows += [
            about(number) | {"system": name, "code": code_of(number, writer)}
            for writer, name in enumerate(writers)
        ]
    return rows


def scored(rows: Rows) -> Rows:
    """The rows with a score of each metric; two metrics agree now and then."""
    rng = random.Random(5)
    result = []
    for row in rows:
        if row["system"] == "reference":
            result.append(row)
            continue
        scores = {metric: rng.randrange(9) / 8 for metric in METRICS}
        result.append(row | {"scores": scores})
    return result


def renamed(rows: Rows) -> Rows:
    """The systems swap their names all round."""
    names = dict(zip(SYSTEMS, [*SYSTEMS[1:], SYSTEMS[0]], strict=True))
    return [row | {"system": names.get(row["system"], row["system"])} for row in rows]


def shuffled(rows: Rows, seed: int = 1) -> Rows:
    return random.Random(seed).sample(rows, len(rows))


def other_writers(rows: Rows, *, among: str = "all", seed: int = 2) -> Rows:
    """For each problem by itself: the same codes, dealt out to other writers; `among` the systems, or all."""
    rng = random.Random(seed)
    result = list(rows)
    for key in dict.fromkeys(row["problem"] for row in rows):
        places = [
            place
            for place, row in enumerate(rows)
            if row["problem"] == key and (among == "all" or row["system"] != "reference")
        ]
        for place, source in zip(places, rng.sample(places, len(places)), strict=True):
            result[place] = rows[place] | {"code": rows[source]["code"]}
            if "scores" in rows[source]:
                result[place]["scores"] = rows[source]["scores"]
    return result


def other_metrics(rows: Rows) -> Rows:
    """For each snippet by itself: the same scores under other names of metrics."""
    rng = random.Random(3)
    result = []
    for row in rows:
        scores = row.get("scores")
        if scores:
            row = row | {"scores": dict(zip(rng.sample(METRICS, len(METRICS)), scores.values(), strict=True))}
        result.append(row)
    return result


def text_of(name: str, **changed: str) -> str:
    """A shipped protocol, small enough for a test."""
    text = shipped_text(name)[1]
    for key, value in changed.items():
        text, found = re.subn(rf"(?m)^{key} = \S+", f"{key} = {value}", text)
        assert found == 1, key
    return text


CHECKED = '[checks]\nkinds = ["instructed", "gold", "degraded", "repeat"]\nevery = 2\n'
OWN = protocol_text(
    *(QUALITY, BESIDE, REMARK, EFFORT.replace("effort", "work").replace("keep", "write anew")),
    *(ASIDE, PRACTICE.format(expected="expected = { quality = 4 }"), CHECKED),
    policy="open",
    target=2,
    back=True,
    grade_references=True,
    tasks_per_person=9,
)
KNOWN = gold(pool(12, 1, reference=False)[8:], 3)
HELPFUL = text_of("helpfulness")
CARDS = text_of("hearthstone")
PAIRS = text_of("value-accuracy-effort", tasks_per_person="5")
SCORES = text_of("metric-reasonableness", blocks="3", sample_snippets="8")
SCENES: dict[str, tuple[str, Rows]] = {
    "helpfulness": (HELPFUL, pool(4)),
    "hearthstone": (CARDS, [row | {"image": f"{IMAGE}-{row['problem']}.png"} for row in pool(3)]),
    "value-accuracy-effort": (PAIRS, pool(6)),
    "metric-reasonableness": (SCORES, scored(pool(4))),
    "own": (OWN, [*pool(4), *KNOWN]),
}
PLAIN: dict[str, tuple[list[Got], list[str]]] = {}
"""What was got in each scene as it is, and the draws of its items."""


def same(one: list[Got], two: list[Got]) -> None:
    for first, second in zip(one, two, strict=True):
        assert first.asked == second.asked
        assert (first.status, first.headers) == (second.status, second.headers), first.asked
        assert first.body.decode(errors="replace") == second.body.decode(errors="replace"), first.asked


def swapped(rows: Rows) -> Rows:
    """Every other pair the other way round."""
    pairs = [rows[place : place + 2] for place in range(0, len(rows), 2)]
    return [
        row | {"code": other["code"] if number % 2 else row["code"]}
        for number, (one, two) in enumerate(pairs)
        for row, other in ((one, two), (two, one))
    ]


def not_revealed(got: Got) -> bool:
    return (
        b'name="question" value="value"' not in got.body and b'name="question" value="effort"' not in got.body
    )
