"""Many at once: real threads, each with its own connection, until the pool is empty."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest
from django.db import connection

from annotator.grading import actions
from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.studies.models import Item, Study
from tests.factories import make_study

pytestmark = pytest.mark.django_db(transaction=True)


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Runs work(0..count-1) at the same moment; the first exception of any is raised here."""
    gate, errors = threading.Barrier(count), []

    def run(number: int) -> None:
        try:
            gate.wait(timeout=30)
            work(number)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if errors:
        raise errors[0]


def grade(annotator: Annotator, assignment: Assignment, value: int) -> None:
    key = actions.submission_key(annotator, assignment.sequence, "helpfulness")
    actions.submit(annotator, assignment.sequence, {"helpfulness": value}, key=key)


def work_until_empty(study: Study, number: int, *, steady: bool = False) -> None:
    """One person; unless `steady`, skips or stops at random. Some answers are sent twice."""
    rng = random.Random(number)
    annotator = actions.join(study, f"person-{number}")
    actions.consent(annotator)
    assignment = actions.start(annotator)
    while assignment is not None:
        chance = rng.uniform(0.2 if steady else 0.0, 1.0)
        if chance < 0.1:
            actions.skip(annotator, assignment.sequence)
        elif chance < 0.2:
            actions.stop(annotator)
            assignment = actions.start(annotator)
            continue
        else:
            value = rng.randrange(5)
            grade(annotator, assignment, value)
            if chance > 0.8:
                grade(annotator, assignment, value)
        assignment = actions.hand_out(annotator)


def test_the_pool_is_emptied_and_no_item_passes_its_target() -> None:
    study = make_study(problems=8, systems=("a", "b"), references=0, target=3)
    in_threads(12, lambda number: work_until_empty(study, number))
    # Who skips or stops last gives a slot back after the others found none: they come once more, all at once.
    in_threads(12, lambda number: work_until_empty(study, number, steady=True))
    items = list(Item.objects.all())
    for item in items:
        counted = item.assignments.filter(state="graded", surplus=False).count()
        assert item.taken == counted + item.assignments.filter(state="held").count()
    # 12 people against a target of 3: each item is full when nobody finds anything left.
    assert [item.taken for item in items] == [3] * 16
    assert Grade.objects.filter(complete=True).count() == 48 == GradeRevision.objects.count()
    assert Annotator.objects.count() == 12


def test_one_person_in_many_tabs_holds_one_item() -> None:
    study = make_study(problems=20)
    annotator = actions.join(study, "")
    actions.consent(annotator)
    in_threads(8, lambda number: actions.start(annotator))
    assert Assignment.objects.filter(annotator=annotator, state="held").count() == 1
    assert Item.objects.filter(taken=1).count() == 1


def test_one_answer_sent_many_times_is_stored_once() -> None:
    study = make_study()
    annotator = actions.join(study, "")
    actions.consent(annotator)
    assignment = actions.start(annotator)
    assert assignment is not None
    in_threads(8, lambda number: grade(annotator, assignment, 3))
    assert Grade.objects.count() == GradeRevision.objects.count() == 1
    annotator.refresh_from_db()
    assert annotator.graded == 1


def test_one_join_form_sent_many_times_makes_one_person() -> None:
    study = make_study()
    in_threads(8, lambda number: actions.join(study, "the same form"))
    assert Annotator.objects.count() == 1


def test_many_people_join_at_once() -> None:
    study = make_study()
    in_threads(12, lambda number: actions.join(study, f"form {number}"))
    assert sorted(Annotator.objects.values_list("number", flat=True)) == list(range(1, 13))
