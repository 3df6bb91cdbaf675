"""What passes from hand to hand between two looks is not overlooked."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from annotator.grading import actions
from annotator.grading.actions import pool
from annotator.grading.models import Annotator
from annotator.studies.models import Item
from tests.factories import make_annotator, make_study

pytestmark = pytest.mark.django_db(databases=["default", "reader"], transaction=True)


def test_who_finds_nothing_while_the_last_hold_is_given_back_is_not_sent_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("on SQLite the two cannot overlap")
    study = make_study(problems=1, systems=("a",), references=0, target=1)
    holder, waiting = make_annotator(study), make_annotator(study)
    held = actions.hand_out(holder)
    assert held is not None
    look = pool.take_open_item

    def give_back() -> None:
        actions.skip(Annotator.objects.get(pk=holder.pk), held.sequence)
        connection.close()

    def look_then_give_back(annotator: Annotator, sequence: int) -> Item | None:
        found = look(annotator, sequence)
        thread = threading.Thread(target=give_back)
        thread.start()
        thread.join()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(pool, "take_open_item", look_then_give_back)
        assert actions.hand_out(waiting) is None
    waiting.refresh_from_db()
    assert waiting.step == "tasks"
    assert actions.hand_out(waiting) is not None
