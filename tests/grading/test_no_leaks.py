"""Nothing that tells the origin, and nothing of what comes later, is anywhere in what the browser got."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest
from django.db import transaction

from annotator.grading import display
from annotator.grading.models import Annotator, Assignment
from annotator.studies import items as items_module
from tests.grading.blinding import (
    HELPFUL,
    PAIRS,
    SCENES,
    SECRETS,
    SYSTEMS,
    Scripted,
    Walk,
    code_of,
    not_revealed,
    pool,
    same,
    shuffled,
    swapped,
)
from tests.grading.walker import Got, Page

pytestmark = pytest.mark.django_db


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
            mine = Assignment.objects.filter(
                annotator=other, state="held", item__snippet__problem__image__gt=""
            )
            problems = {row.item.snippet.problem_id for row in mine.select_related("item__snippet")}
            held = Assignment.objects.select_related("item__snippet").get(
                annotator__token=token, state="held"
            )
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
        check_all(got)
    return str(caught.value)


def check_all(log: list[Got]) -> None:
    for got in log:
        check_no_secret(got)


def test_a_number_of_a_row_in_a_name_is_found(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "image_name", lambda study, problem: f"{problem.pk:016}.png")
    text, rows = SCENES["hearthstone"]
    assert f"GET /a/token-{1:026}/" in planted(walk(text, rows[:4]))


def test_a_name_of_a_system_on_a_page_is_found(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "code_html", lambda code, language: f"by {SYSTEMS[1]}")
    assert SYSTEMS[1] in planted(walk(HELPFUL, pool(1)))
