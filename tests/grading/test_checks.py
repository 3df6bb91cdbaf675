"""Attention checks in a study: each kind flags its planted failure and nobody else; nothing tells them from tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from analysis import columns
from annotator.errors import BadInput
from annotator.grading import access, actions, pages, steps
from annotator.grading.models import Annotator, Assignment, Grade
from annotator.grading.verify import drifted
from annotator.results import records
from annotator.studies.models import Item, Study
from annotator.studies.protocols import CHECK_KINDS
from tests.factories import make_study, short_protocol

pytestmark = pytest.mark.django_db
Judge = Callable[[Assignment, float], float]
"""From the assignment and its true grade to the grade that a person gives."""


def make(kinds: tuple[str, ...] = CHECK_KINDS, *, every: int = 3, tasks: int = 12, **checks: Any) -> Study:
    """An open study of 16 tasks whose every fourth snippet is worth 4, the next 3, 2, 1; gold and instructed items."""
    protocol = short_protocol(
        tasks_per_person=tasks,
        checks={"kinds": list(kinds), "every": every, **checks},
        codes={"failed": "FAIL"},
    )
    study = make_study(problems=8, systems=("a", "b"), references=0, protocol=protocol)
    for item in list(study.items.select_related("snippet"))[:4]:
        base = {"study": study, "kind": "snippet", "draw": item.draw}
        Item.objects.create(**base, snippet=item.snippet, check_kind="gold", low=3, high=4, code="gold")
        answer = item.pk % 5
        Item.objects.create(
            **base,
            snippet=item.snippet,
            check_kind="instructed",
            low=answer,
            high=answer,
            code=f"choose {answer}",
        )
    return study


def truth(assignment: Assignment) -> float:
    """What a careful person says: of a check what is asked for, of a task what it is worth."""
    item = assignment.item
    worth = 1 + item.snippet_id % 4
    return {
        "instructed": item.low or 0.0,
        "gold": 4.0,
        "degraded": float(worth - 1),
        "repeat": float(worth),
    }.get(item.check_kind, float(worth))


def walk(study: Study, judge: Judge = lambda assignment, right: right, name: str = "") -> Annotator:
    """One person through all tasks."""
    person = actions.join(study, name)
    actions.consent(person)
    assignment = actions.start(person)
    while assignment is not None:
        revision = 0
        while assignment.state == "held":
            value = judge(assignment, truth(assignment)) if revision == 0 else truth(assignment)
            key = actions.submission_key(person, assignment.sequence, "helpfulness", revision)
            actions.submit(person, assignment.sequence, {"helpfulness": value}, key=key, revision=revision)
            assignment.refresh_from_db()
            revision += 1
        assignment = actions.hand_out(person)
    person.refresh_from_db()
    return person


def careless(kind: str) -> Judge:
    """Careful but for one kind of checks."""
    wrong = {"instructed": lambda right: (right + 2) % 5, "gold": lambda right: 0.0, "degraded": lambda right: 4.0,
             "repeat": lambda right: 4.0 if right <= 2 else right - 2}  # fmt: skip
    return lambda assignment, right: wrong[kind](right) if assignment.item.check_kind == kind else right


def test_checks_come_on_top_of_the_tasks_and_a_careful_person_passes_all() -> None:
    study = make()
    person = walk(study)
    assert (person.graded, person.checks, person.failed_checks) == (16, 4, 0)
    assert person.step == steps.THANKS
    kinds = Assignment.objects.filter(annotator=person).exclude(item__check_kind="")
    assert sorted(kinds.values_list("item__check_kind", flat=True)) == sorted(CHECK_KINDS)
    assert set(kinds.values_list("passed", flat=True)) == {True}
    assert drifted(study) == []


@pytest.mark.parametrize("kind", CHECK_KINDS)
def test_each_kind_flags_its_planted_failure_and_nobody_else(kind: str) -> None:
    study = make()
    careful = [walk(study, name=f"careful-{number}") for number in range(3)]
    failing = walk(study, careless(kind), name="careless")
    assert [person.failed_checks for person in careful] == [0, 0, 0]
    assert failing.failed_checks == 1
    failed = Assignment.objects.filter(passed=False)
    assert [(each.annotator_id, each.item.check_kind) for each in failed] == [(failing.pk, kind)]
    assert drifted(study) == []


def test_a_check_is_outside_the_counts_and_marked_in_the_export() -> None:
    study = make(("repeat",))
    walk(study)
    rows = [
        dict(zip(columns.GRADES, row, strict=True)) for row in records.grade_table(study, using="default")
    ]
    checks = [row for row in rows if row["check"]]
    assert len(rows) == 16
    assert [(row["check"], row["check_passed"]) for row in checks] == [("repeat", True)] * 4
    assert study.item_count == 16
    for check in checks:
        assert [
            row["system"]
            for row in rows
            if row["problem"] == check["problem"] and row["system"] == check["system"]
        ]


def test_a_copy_is_made_once_and_shared() -> None:
    study = make(("degraded",), every=2)
    for number in range(6):
        walk(study, name=str(number))
    copies = study.items.filter(check_kind="degraded")
    assert copies.count() == len(set(copies.values_list("original", flat=True)))
    for copy in copies.select_related("snippet"):
        assert copy.code
        assert copy.code != copy.snippet.code


def test_nothing_on_the_page_tells_a_check(rf: Any) -> None:
    """The page of a repeat is that of its original but for the hand-out's number and key, progress and time."""
    study = make(("repeat",), every=1)
    person = actions.join(study, "")
    actions.consent(person)
    seen: dict[int, str] = {}
    assignment = actions.start(person)
    repeats = 0
    while assignment is not None:
        person.refresh_from_db()
        request = rf.get("/")
        page = pages.current(request, access.get_annotator(person.token)).content.decode()
        body = page.split("<main")[1].split("<form")[0]
        if assignment.item.check_kind:
            assert seen[assignment.item.original_id or 0] == body
            repeats += 1
        seen[assignment.item_id] = body
        key = actions.submission_key(person, assignment.sequence, "helpfulness")
        actions.submit(person, assignment.sequence, {"helpfulness": 2}, key=key)
        assignment = actions.hand_out(person)
    assert repeats == 12


def test_a_loud_check_gives_a_second_chance() -> None:
    study = make(("instructed",), loud=True)
    person = walk(study, careless("instructed"))
    assert (person.checks, person.failed_checks) == (4, 0)
    grades = Grade.objects.filter(assignment__item__check_kind="instructed")
    for grade in grades:
        assert [revision.number for revision in grade.revisions.all()] == [0, 1]
        assert grade.value == grade.assignment.item.low
    assert drifted(study) == []


def test_a_loud_check_failed_twice_is_failed() -> None:
    study = make(("gold",), loud=True, tasks=3)
    person = actions.join(study, "")
    actions.consent(person)
    assignment = actions.start(person)
    while assignment is not None and not assignment.item.check_kind:
        key = actions.submission_key(person, assignment.sequence, "helpfulness")
        actions.submit(person, assignment.sequence, {"helpfulness": 2}, key=key)
        assignment = actions.hand_out(person)
    assert assignment is not None
    for revision in (0, 1):
        key = actions.submission_key(person, assignment.sequence, "helpfulness", revision)
        actions.submit(person, assignment.sequence, {"helpfulness": revision}, key=key, revision=revision)
    assignment.refresh_from_db()
    person.refresh_from_db()
    assert (assignment.state, assignment.passed, person.failed_checks) == ("graded", False, 1)


def test_the_code_of_who_failed_too_often() -> None:
    study = make(("instructed",), fail_at=2)
    protocol = study.read_protocol()
    assert pages.completion_code(walk(study, careless("instructed")), protocol) == "FAIL"
    assert pages.completion_code(walk(study), protocol) not in ("", "FAIL")


def test_a_kind_that_is_not_to_be_had_gives_way_to_another() -> None:
    study = make(("gold", "repeat"))
    Item.objects.filter(check_kind="gold").delete()
    person = walk(study)
    assert person.checks == 4
    assert set(
        Assignment.objects.exclude(item__check_kind="").values_list("item__check_kind", flat=True)
    ) == {"repeat"}


def test_too_fast_an_answer_is_asked_for_again() -> None:
    study = make_study(protocol=short_protocol(minimum_seconds=60))
    person = actions.join(study, "")
    actions.consent(person)
    assignment = actions.start(person)
    assert assignment is not None
    with pytest.raises(BadInput, match="very fast"):
        actions.submit(person, 1, {"helpfulness": 2}, key=actions.submission_key(person, 1, "helpfulness"))
    assert not Grade.objects.exists()
