"""What each action does to the database, replays and refusals included."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from annotator.errors import BadInput, Conflict, NotYours
from annotator.grading import access, actions, steps
from annotator.grading.assignment import choose, pivot
from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.studies.models import Item, Study
from tests.factories import make_study

pytestmark = pytest.mark.django_db


def join(study: Study, *, started: bool = True) -> Annotator:
    annotator = actions.join(study, "")
    if started:
        actions.consent(annotator)
        actions.start(annotator)
    return Annotator.objects.get(pk=annotator.pk)


def held(annotator: Annotator) -> Assignment:
    assignment = access.get_held(annotator)
    assert assignment is not None
    return assignment


def answer(annotator: Annotator, assignment: Assignment, value: int = 3, **other: Any) -> actions.Submitted:
    key = actions.submission_key(annotator, assignment.sequence, "helpfulness")
    return actions.submit(annotator, assignment.sequence, {"helpfulness": value}, key=key, **other)


def check_counts() -> None:
    """`taken` = held + counted for every item; never above the target."""
    for item in Item.objects.all():
        live = item.assignments.filter(state__in=("held", "graded"), surplus=False).count()
        assert item.taken == live
        assert item.target is None or item.taken <= item.target


def test_join_gives_a_link_and_a_made_up_name() -> None:
    study = make_study()
    one, two = join(study, started=False), join(study, started=False)
    assert one.token != two.token
    assert one.pseudonym != two.pseudonym
    assert len(one.token) >= 32
    assert one.step == steps.CONSENT


def test_join_sent_twice_is_one_person() -> None:
    study = make_study()
    assert actions.join(study, "k" * 32).pk == actions.join(study, "k" * 32).pk
    assert study.annotators.count() == 1


@pytest.mark.parametrize("state", ["draft", "paused", "closed"])
def test_a_study_that_is_not_open_admits_nobody(state: str) -> None:
    with pytest.raises(Conflict, match=r"opened yet|paused|closed"):
        actions.join(make_study(state=state), "")


def test_tasks_come_after_consent() -> None:
    annotator = join(make_study(), started=False)
    with pytest.raises(Conflict, match="before the tasks"):
        actions.start(annotator)
    assert actions.hand_out(annotator) is None
    assert not Assignment.objects.exists()


def test_hand_out_gives_the_held_item_again() -> None:
    annotator = join(make_study())
    first = held(annotator)
    again = actions.hand_out(annotator)
    assert again is not None
    assert again.pk == first.pk
    check_counts()


def test_a_grade_is_stored_with_its_history_and_closes_the_item() -> None:
    annotator = join(make_study())
    assignment = held(annotator)
    done = answer(annotator, assignment, 4, active_seconds=0.001)
    grade = Grade.objects.get()
    assert [each.pk for each in done.grades] == [grade.pk]
    assert (grade.value, grade.label, grade.complete, grade.question) == (
        4,
        "Very helpful",
        True,
        "helpfulness",
    )
    assert grade.seconds is not None
    assert 0 <= grade.seconds < 60
    assert grade.active_seconds is not None
    assert grade.active_seconds <= grade.seconds
    assert list(GradeRevision.objects.values_list("grade", "value")) == [(grade.pk, 4.0)]
    assignment.refresh_from_db()
    annotator.refresh_from_db()
    assert (assignment.state, annotator.graded) == ("graded", 1)
    check_counts()


def test_a_replayed_submission_gets_the_first_answer() -> None:
    annotator = join(make_study())
    assignment = held(annotator)
    first = answer(annotator, assignment, 1)
    actions.hand_out(annotator)
    again = answer(annotator, assignment, 1)
    assert again.replayed
    assert again.grades == first.grades
    with pytest.raises(Conflict, match=r'"Slightly" is stored already\. The page now sent "Very helpful"'):
        answer(annotator, assignment, 4)
    annotator.refresh_from_db()
    assert (Grade.objects.count(), GradeRevision.objects.count(), annotator.graded) == (1, 1, 1)
    check_counts()


@pytest.mark.parametrize("value", [-1, 5, 2**31 - 1])
def test_a_value_off_the_scale_is_refused(value: int) -> None:
    annotator = join(make_study())
    with pytest.raises(BadInput, match="choose one of the answers"):
        answer(annotator, held(annotator), value)
    assert not Grade.objects.exists()


def test_a_form_of_somebody_else_is_refused() -> None:
    study = make_study()
    one, two = join(study), join(study)
    key = actions.submission_key(one, 1, "helpfulness")
    with pytest.raises(BadInput, match="damaged"):
        actions.submit(two, 1, {"helpfulness": 3}, key=key)
    with pytest.raises(BadInput, match="damaged"):
        actions.submit(two, 99, {"helpfulness": 3}, key=actions.submission_key(two, 99, "helpfulness"))
    with pytest.raises(BadInput, match="damaged"):
        actions.submit(
            two, 1, {"no such question": 3}, key=actions.submission_key(two, 1, "no such question")
        )
    assert not Grade.objects.exists()


def test_skip_gives_the_slot_back_and_the_item_never_returns() -> None:
    annotator = join(make_study(problems=2, systems=("a",), references=0))
    assignment = held(annotator)
    actions.skip(annotator, assignment.sequence)
    actions.skip(annotator, assignment.sequence)
    annotator.refresh_from_db()
    assert annotator.skipped == 1
    following = actions.hand_out(annotator)
    assert following is not None
    assert following.item_id != assignment.item_id
    answer(annotator, following)
    assert actions.hand_out(annotator) is None
    annotator.refresh_from_db()
    assert annotator.step == steps.THANKS
    with pytest.raises(Conflict, match="skipped this one"):
        answer(annotator, assignment)
    check_counts()


def test_stop_releases_the_item_and_going_on_is_possible() -> None:
    annotator = join(make_study(target=1))
    assignment = held(annotator)
    actions.stop(annotator, "tired")
    annotator.refresh_from_db()
    assert (annotator.step, annotator.stop_reason) == (steps.THANKS, "tired")
    assert Item.objects.get(pk=assignment.item_id).taken == 0
    assert actions.start(annotator) is not None
    check_counts()


def test_seed_and_numbers_replay_every_hand_out() -> None:
    """What the database's index picks is what the pure `choose` picks."""
    study = make_study(problems=5, seed=11)
    annotator = join(study)
    pool = sorted(study.items.values_list("draw", flat=True))
    assignment: Assignment | None = held(annotator)
    while assignment is not None:
        place = choose(pool, pivot(study.seed, annotator.number, assignment.sequence))
        assert place is not None
        assert pool.pop(place) == assignment.item.draw
        answer(annotator, assignment)
        assignment = actions.hand_out(annotator)
    assert not pool


def test_an_expired_hold_returns_to_the_pool() -> None:
    study = make_study(problems=1, systems=("a",), references=0, target=1)
    slow, quick = join(study), actions.join(study, "")
    first = held(slow)
    actions.consent(quick)
    assert actions.start(quick) is None  # everything is in hands
    Assignment.objects.filter(pk=first.pk).update(held_until=timezone.now() - timedelta(seconds=1))
    got = actions.start(quick)
    assert got is not None
    assert got.item_id == first.item_id
    first.refresh_from_db()
    assert first.state == "expired"
    check_counts()


def test_a_late_answer_is_surplus_when_its_slot_is_gone_and_counts_when_it_is_free() -> None:
    study = make_study(problems=1, systems=("a",), references=0, target=1)
    slow, quick = join(study), actions.join(study, "")
    late = held(slow)
    Assignment.objects.filter(pk=late.pk).update(held_until=timezone.now() - timedelta(seconds=1))
    actions.consent(quick)
    taken = actions.start(quick)
    assert taken is not None
    answer(slow, late, 2)
    late.refresh_from_db()
    assert (late.state, late.surplus) == ("graded", True)
    check_counts()
    answer(quick, taken, 3)
    check_counts()
    assert Grade.objects.count() == 2

    free = make_study(slug="free", problems=1, systems=("a",), references=0, target=1)
    slow = join(free)
    late = held(slow)
    actions.release_expired(free, timezone.now() + timedelta(days=1))
    late.refresh_from_db()
    assert late.state == "expired"
    answer(slow, late, 2)
    late.refresh_from_db()
    assert (late.state, late.surplus) == ("graded", False)
    check_counts()


def test_a_paused_study_takes_the_answer_in_hand_and_hands_out_nothing() -> None:
    study = make_study()
    annotator = join(study)
    assignment = held(annotator)
    Study.objects.update(state="paused")
    answer(annotator, assignment)
    assert Grade.objects.count() == 1
    with pytest.raises(Conflict, match="paused"):
        actions.hand_out(Annotator.objects.get(pk=annotator.pk))


def test_a_closed_study_refuses_with_a_sentence() -> None:
    annotator = join(make_study())
    assignment = held(annotator)
    Study.objects.update(state="closed")
    with pytest.raises(Conflict, match="closed"):
        answer(annotator, assignment)
    assert not Grade.objects.exists()


def test_the_target_is_reached_and_never_passed() -> None:
    study = make_study(problems=3, systems=("a", "b"), references=0, target=2)
    for _ in range(4):
        annotator = actions.join(study, "")
        actions.consent(annotator)
        assignment = actions.start(annotator)
        while assignment is not None:
            answer(annotator, assignment)
            assignment = actions.hand_out(annotator)
    assert set(Item.objects.values_list("taken", flat=True)) == {2}
    assert Grade.objects.count() == 12
    check_counts()


def test_the_database_itself_refuses_more_than_the_target() -> None:
    from django.db import IntegrityError, transaction

    make_study(target=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        Item.objects.update(taken=F("taken") + 2)


@pytest.mark.parametrize("origin", ["imported", "simulated"])
def test_nobody_grades_on_as_an_imported_grader(origin: str) -> None:
    annotator = join(make_study())
    Annotator.objects.update(origin=origin)
    with pytest.raises(NotYours, match="not known"):
        access.get_annotator(annotator.token)


def test_an_unknown_link_says_so() -> None:
    with pytest.raises(NotYours, match="not known"):
        access.get_annotator("nobody")


def test_handing_out_costs_the_same_number_of_queries_in_a_large_pool(
    django_assert_max_num_queries: Any,
) -> None:
    annotator = join(make_study(problems=200, systems=("a", "b", "c")))
    answer(annotator, held(annotator))
    with django_assert_max_num_queries(14):
        actions.hand_out(annotator)


def test_one_form_of_two_studies_makes_two_people() -> None:
    one, two = make_study(slug="one"), make_study(slug="two")
    assert actions.join(one, "k").study_id != actions.join(two, "k").study_id
