"""Non-interference: what the browser gets depends on nothing that an annotator must not know.

Two people, moved by a script, walk a whole survey twice; between the walks everything that must not show is changed:
names of systems and metrics, the order of import, whose code is whose, what is a check, every database id. Tokens and
the clock are fixed, the CSRF token is taken out; all else must be the same to the byte, headers and images included.
"""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.grading.models import Annotator, Assignment
from annotator.studies.models import Item
from tests.grading.blinding import (
    OWN,
    PAIRS,
    SCENES,
    Rows,
    Scripted,
    Walk,
    not_revealed,
    other_metrics,
    other_writers,
    pool,
    renamed,
    same,
    shuffled,
    swapped,
)
from tests.grading.surveys import (
    QUALITY,
    add_rows,
    make_survey,
    protocol_text,
)
from tests.grading.walker import Page

pytestmark = pytest.mark.django_db


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


def test_it_does_not_show_which_metric_gave_a_score(walk: Walk) -> None:
    text, rows = SCENES["metric-reasonableness"]
    same(walk.plain("metric-reasonableness"), walk(text, shuffled(other_metrics(rows))))


LOOKS = st.tuples(
    st.sampled_from("12"), st.sampled_from(["x = 1", "y = 2"]), st.sampled_from(["python", "ruby"])
)


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
        row = {
            "problem": problem,
            "intent": "Do it.",
            "system": f"s{number}",
            "code": code,
            "language": language,
        }
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
