"""Non-interference: what the browser gets depends on nothing that an annotator must not know.

Two people, moved by a script, walk a whole survey twice; between the walks everything that must not show is changed:
names of systems and metrics, the order of import, whose code is whose, what is a check, every database id. Tokens and
the clock are fixed, the CSRF token is taken out; all else must be the same to the byte, headers and images included.
"""

from __future__ import annotations

import hashlib
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
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.grading import display
from annotator.grading.models import Annotator, Assignment, Grade
from annotator.studies import items as items_module
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

pytestmark = pytest.mark.django_db

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
        page = super()._keep(asked, response)
        return page

    def get(self, path: str) -> Page:
        self.clock.tick()
        return super().get(path)

    def post(self, path: str, form: dict[str, Any]) -> Page:
        self.clock.tick()
        return super().post(path, form)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Tokens in their order, keys of join forms in theirs, and a clock of the test's own."""
    clock = Clock()
    now = SimpleNamespace(time=lambda: clock.now.timestamp())
    monkeypatch.setattr("django.utils.timezone.now", lambda: clock.now)
    monkeypatch.setattr("django.utils.cache.time", now)
    monkeypatch.setattr("django.http.response.time", now)
    return clock


@pytest.fixture
def walk(clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> Walk:
    settings.MEDIA_ROOT = tmp_path / "media"
    return Walk(clock, monkeypatch, tmp_path)


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
    **{"policy": "open", "target": 2, "back": True, "grade_references": True, "tasks_per_person": 9},
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


@pytest.fixture(autouse=True)
def images(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{IMAGE}-{SECRET_KEY_OF_PROBLEM}{number}.png").write_bytes(PNG + bytes([number]) * 40)


def same(one: list[Got], two: list[Got]) -> None:
    for first, second in zip(one, two, strict=True):
        assert first.asked == second.asked
        assert (first.status, first.headers) == (second.status, second.headers), first.asked
        assert first.body.decode(errors="replace") == second.body.decode(errors="replace"), first.asked


@pytest.mark.parametrize("name", SCENES)
def test_names_and_order_of_import_do_not_show(walk: Walk, name: str) -> None:
    plain = walk.plain(name)
    assert max(got.status for got in plain) < 500
    assert sum(got.page.step == "tasks" for got in plain) > 15
    text, rows = SCENES[name]
    same(plain, walk(text, shuffled(renamed(rows))))


@pytest.mark.parametrize("name", ["helpfulness", "hearthstone", "own"])
def test_it_does_not_show_who_wrote_what_reference_included(walk: Walk, name: str) -> None:
    text, rows = SCENES[name]
    same(walk.plain(name), walk(text, shuffled(other_writers(rows))))


@pytest.mark.parametrize("name", ["value-accuracy-effort", "metric-reasonableness"])
def test_it_does_not_show_which_system_wrote_what(walk: Walk, name: str) -> None:
    """Beside a reference that stays: from the first page to the last, what the reveal tells included."""
    text, rows = SCENES[name]
    same(walk.plain(name), walk(text, shuffled(other_writers(rows, among="systems"))))


def test_it_does_not_show_which_of_a_pair_is_the_reference_until_it_is_told(walk: Walk) -> None:
    rows = pool(6, 1)
    plain, other = walk(PAIRS, rows), walk(PAIRS, shuffled(swapped(rows)))
    same(list(filter(not_revealed, plain)), list(filter(not_revealed, other)))
    told = [one.body == two.body for one, two in zip(plain, other, strict=True) if not not_revealed(one)]
    assert {True, False} == set(told), "after the reveal the swapped pairs differ, and only those"


def swapped(rows: Rows) -> Rows:
    """Every other pair the other way round."""
    pairs = [rows[place : place + 2] for place in range(0, len(rows), 2)]
    return [
        row | {"code": other["code"] if number % 2 else row["code"]}
        for number, (one, two) in enumerate(pairs)
        for row, other in ((one, two), (two, one))
    ]


def not_revealed(got: Got) -> bool:
    return b'name="question" value="value"' not in got.body and b'name="question" value="effort"' not in got.body


def test_it_does_not_show_which_metric_gave_a_score(walk: Walk) -> None:
    text, rows = SCENES["metric-reasonableness"]
    same(walk.plain("metric-reasonableness"), walk(text, shuffled(other_metrics(rows))))


LOOKS = st.tuples(st.sampled_from("12"), st.sampled_from(["x = 1", "y = 2"]), st.sampled_from(["python", "ruby"]))


@settings(max_examples=25, deadline=None, database=None)
@given(
    looks=st.lists(st.tuples(LOOKS, st.booleans()), min_size=2, max_size=7),
    order=st.randoms(use_true_random=False),
    cut=st.integers(0, 7),
)
def test_places_in_the_pool_tell_nothing_of_equal_codes(
    looks: list[tuple[tuple[str, str, str], bool]], order: random.Random, cut: int
) -> None:
    """Snippets that look alike, or nearly, some of them checks: their places depend on how they look alone."""

    def places(rows: Rows, cut: int) -> list[tuple[Any, ...]]:
        with transaction.atomic():
            study = make_survey(protocol_text(QUALITY, policy="open"), rows[:cut], is_open=False)
            add_rows(study, rows[cut:])
            fields = ("check_kind", "draw", "snippet__problem__key", "snippet__code", "snippet__language")
            found = sorted(study.items.values_list(*fields))
            transaction.set_rollback(True)
        return found

    rows: Rows = []
    for number, ((problem, code, language), known) in enumerate(looks):
        row = {"problem": problem, "intent": "Do it.", "system": f"s{number}", "code": code, "language": language}
        rows.append(row | ({"gold": 2} if known else {}))
    plain = places(rows, 0)
    names = order.sample([row["system"] for row in rows], len(rows))
    other = [row | {"system": name} for row, name in zip(rows, names, strict=True)]
    assert places(order.sample(other, len(other)), cut) == plain


# A check is a task to whoever sees it.


def as_kind(assignment: Assignment, kind: str) -> None:
    """The item in hand becomes a check of that kind, or a task."""
    alike = Item.objects.filter(snippet=assignment.item.snippet_id, check_kind=kind)
    alike.exclude(pk=assignment.item_id).update(check_kind="aside")
    Item.objects.filter(pk=assignment.item_id).update(check_kind=kind, low=0, high=4)


def test_a_check_looks_like_a_task(walk: Walk) -> None:
    """Each page is asked for once more while its item is, in turn, a task and a check of each kind."""
    seen: dict[str, int] = {}

    def look(walker: Scripted, page: Page) -> None:
        if page.step != "tasks":
            return
        plain = walker.client.get(walker.link)
        body, headers = without_csrf(plain), dict(plain.headers)
        held = Assignment.objects.select_related("item").get(
            annotator__token=walker.link.split("/")[2], state=Assignment.State.HELD
        )
        seen[held.item.check_kind] = seen.get(held.item.check_kind, 0) + 1
        for kind in Item.Check.values:
            with transaction.atomic():
                as_kind(held, kind)
                again = walker.client.get(walker.link)
                transaction.set_rollback(True)
            assert (without_csrf(again), dict(again.headers)) == (body, headers), kind

    walk(OWN, SCENES["own"][1], look=look)
    assert set(seen) == set(Item.Check.values), "each kind was met"


def test_what_comes_after_a_check_is_what_comes_after_a_task(walk: Walk) -> None:
    """Another item may follow, but nothing around it tells: the same fields, buttons, links and progress."""
    compared = 0

    def look(walker: Scripted, page: Page) -> None:
        nonlocal compared
        if page.step != "tasks" or compared == 10:
            return
        person = Annotator.objects.get(token=walker.link.split("/")[2])
        held = Assignment.objects.select_related("item").get(annotator=person, state=Assignment.State.HELD)
        shapes = []
        for kind in ("", Item.Check.GOLD, Item.Check.INSTRUCTED):
            with transaction.atomic():
                as_kind(held, kind)
                form = page.grade_form
                sent = {
                    name: each.choices[-1] if each.choices else each.value
                    for name, each in form.fields.items()
                }
                answer = walker.client.post(walker.link, sent | {"action": "grade"})
                shapes.append((answer.status_code, shape_of(walker.client.get(walker.link))))
                transaction.set_rollback(True)
        if all(shape[0] == "tasks" for _, shape in shapes):  # else it was the last one
            assert shapes[1:] == shapes[:1] * 2
            compared += 1

    walk(OWN, SCENES["own"][1], look=look)
    assert compared == 10


def without_csrf(response: Any) -> bytes:
    return re.sub(rb'csrfmiddlewaretoken" value="[^"]+"', b"", response.content)


def shape_of(response: Any) -> tuple[Any, ...]:
    page = Page(response.content)
    progress = re.findall(rb'<progress[^>]*>|class="count">[^<]*<', response.content)
    forms = [(form.name, sorted(form.fields), form.buttons) for form in page.forms]
    return page.step, forms, page.links, len(page.images), progress


# Nothing secret anywhere in what the browser got.


@pytest.mark.parametrize("name", SCENES)
def test_no_secret_is_sent(walk: Walk, name: str, tmp_path: Path) -> None:
    log = walk.plain(name)
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.glob("*.png")]
    assert len(walk.draws) >= 12
    for got in log:
        check_no_secret(got, [*walk.draws, *hashes, "pytest", "/tmp/"])
    if name == "hearthstone":
        assert sum(got.asked.endswith(".png") for got in log) > 10


def check_no_secret(got: Got, more: Sequence[str] = ()) -> None:
    everything = (got.asked.encode() + b"\n" + got.everything()).decode(errors="replace").lower()
    for secret in (*SECRETS, *more):
        assert secret.lower() not in everything, (secret, got.asked)
    # No number of a row: they all have seven digits, and nothing else has.
    assert not re.findall(r"(?<![\da-f])0*7\d{6}(?![\da-f])", everything), got.asked


def test_no_later_question_or_item_is_sent(walk: Walk) -> None:
    """A task page has the text of its own question and the code of its own item; the origin only from the reveal on."""
    later = {
        "accuracy": ["Assuming you were", "How much effort would", "badge", "human programmer", "(AI model)"],
        "value": ["How much effort would", "functionally equivalent"],
        "effort": ["functionally equivalent", "Assuming you were"],
    }
    codes = {code_of(number, writer) for number in range(8) for writer in range(4)}
    met: set[str] = set()

    def look(walker: Scripted, page: Page) -> None:
        if page.step != "tasks":
            return
        held = Assignment.objects.select_related("item__snippet", "item__reference").get(
            annotator__token=walker.link.split("/")[2], state=Assignment.State.HELD
        )
        body = walker.log[-1].body.decode()
        question = page.grade_form.fields["question"].value
        met.add(question)
        for text in later[question]:
            assert text not in body, (question, text)
        assert held.item.reference is not None
        own = {held.item.snippet.code, held.item.reference.code}
        assert not [code for code in codes - own if f"{code}\n" in f"{page.text}\n" and not within(code, own)]

    walk(PAIRS, pool(6), look=look)
    assert met == set(later)


def within(code: str, others: set[str]) -> bool:
    return any(code in other for other in others)


def test_images_are_for_those_who_have_the_problem_in_hand(walk: Walk) -> None:
    """Under a name that depends on the study's seed; for others, or later, there is none."""
    names: set[str] = set()

    def look(walker: Scripted, page: Page) -> None:
        if page.step != "tasks":
            return
        (image,) = page.images
        names.add(image.rpartition("/")[2])
        assert walker.client.get(image).status_code == 200
        token = walker.link.split("/")[2]
        for other in Annotator.objects.exclude(token=token):
            mine = Assignment.objects.filter(annotator=other, state="held", item__snippet__problem__image__gt="")
            problems = {row.item.snippet.problem_id for row in mine.select_related("item__snippet")}
            held = Assignment.objects.select_related("item__snippet").get(annotator__token=token, state="held")
            if held.item.snippet.problem_id not in problems:
                assert walker.client.get(image.replace(token, other.token)).status_code == 404
        assert walker.client.get(f"/image/{image.rpartition('/')[2]}").status_code == 404
        with transaction.atomic():
            walker.client.post(walker.link, {"action": "stop"})
            assert walker.client.get(image).status_code == 404
            transaction.set_rollback(True)

    text, rows = SCENES["hearthstone"]
    walk(text, rows, look=look)
    assert len(names) == 3


# The proofs above can fail: each of these leaks is planted, and found.


def test_a_pool_in_the_order_of_import_is_found(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count(1)
    monkeypatch.setattr(items_module, "item_draw", lambda *parts: next(numbers) * 1000)
    rows = pool(2)
    with pytest.raises(AssertionError):
        same(walk(HELPFUL, rows), walk(HELPFUL, shuffled(rows)))


def test_a_reference_that_always_stands_first_is_found(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.grading.actions.tasks.side", lambda *parts: "B")
    rows = pool(6, 1)
    plain, other = walk(PAIRS, rows), walk(PAIRS, swapped(rows))
    with pytest.raises(AssertionError):
        same(list(filter(not_revealed, plain)), list(filter(not_revealed, other)))


def planted(got: list[Got]) -> str:
    with pytest.raises(AssertionError) as caught:
        for each in got:
            check_no_secret(each)
    return str(caught.value)


def test_a_number_of_a_row_in_a_name_is_found(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "image_name", lambda study, problem: f"{problem.pk:016}.png")
    text, rows = SCENES["hearthstone"]
    assert f"GET /a/token-{1:026}/" in planted(walk(text, rows[:4]))


def test_a_name_of_a_system_on_a_page_is_found(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "code_html", lambda code, language: f"by {SYSTEMS[1]}")
    assert SYSTEMS[1] in planted(walk(HELPFUL, pool(1)))
