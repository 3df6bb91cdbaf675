"""What must hold in a study after each act, whatever it was: counted from the rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
)

from annotator.grading import steps
from annotator.grading.models import Annotator, Answer, Assignment, Grade
from annotator.grading.verify import drifted
from annotator.studies.models import Group, Item, Study

State = Assignment.State
HOLDING = (State.HELD, State.RESERVED)
TAKING = (*HOLDING, State.GRADED)
ORDER = ["consent", "background", "instructions", "practice", "tasks", "feedback", "thanks"]
some = st.integers(0, 20)
"""Which of those that there are: taken round the end."""


class Promises(RuleBasedStateMachine):
    """One study, as it was when the machine started; at the end it is that again."""

    study: Study

    def __init__(self) -> None:
        super().__init__()
        self.around = transaction.atomic()
        self.around.__enter__()
        self.study = Study.objects.get(pk=self.study.pk)
        self.protocol = self.study.read_protocol()
        self.reached: dict[int, int] = {}
        self.resumed: set[int] = set()
        self.sent: list[tuple[int, int, dict[str, float], dict[str, Any]]] = []

    def teardown(self) -> None:
        try:
            assert drifted(self.study) == []
        finally:
            transaction.set_rollback(True)
            self.around.__exit__(None, None, None)

    def people(self) -> list[Annotator]:
        return list(self.study.annotators.select_related("study").order_by("pk"))

    def person(self, which: int) -> Annotator:
        people = self.people()
        return people[which % len(people)]

    def is_open(self) -> bool:
        return self.study.state == Study.State.OPEN

    # What must hold after each act.

    @invariant()
    def counts_equal_their_rows(self) -> None:
        """Counted here, not by `verify`: a fault of both would have to be made twice."""
        rows = list(Assignment.objects.filter(annotator__study=self.study).select_related("item"))
        taken = Counter(
            row.item_id for row in rows if row.state in TAKING and not (row.surplus or row.reopened)
        )
        slots: Counter[int] = Counter()
        for item in Item.objects.filter(study=self.study):
            assert item.taken == taken[item.pk]
            if item.check_kind:
                assert (item.target, item.group_id) == (None, None)
            if item.target is not None:
                assert item.taken <= item.target
                slots[item.group_id or 0] += item.target - item.taken
        for group in Group.objects.filter(study=self.study):
            assert group.open_slots == slots[group.pk]
        for person in self.people():
            self.check_person(person, [row for row in rows if row.annotator_id == person.pk])

    def check_person(self, person: Annotator, rows: list[Assignment]) -> None:
        states = Counter(row.state for row in rows)
        over = [row for row in rows if row.state in (State.GRADED, State.SKIPPED) and row.item.check_kind]
        assert (person.graded, person.skipped) == (states[State.GRADED], states[State.SKIPPED])
        assert (person.checks, person.failed_checks) == (len(over), sum(row.passed is False for row in over))
        assert sorted(row.sequence for row in rows if row.sequence) == list(range(1, person.handed + 1))
        assert states[State.HELD] <= 1, "two items in hand"
        live = Counter(row.item_id for row in rows if row.state in Assignment.LIVE or row.partial)
        assert not live or max(live.values()) == 1, "an item twice"
        groups = Counter(
            row.item.group_id
            for row in rows
            if row.item.group_id and (row.state in Assignment.LIVE or row.partial) and not row.surplus
        )
        if self.study.policy == Study.Policy.BALANCED:
            assert not groups or max(groups.values()) == 1, "a problem twice"
        elif self.study.policy == Study.Policy.BLOCKS:
            assert len(groups) <= 1, "two questionnaires"
        for row in rows:
            assert (row.held_until is not None) == (row.state in HOLDING)
            assert (row.sequence is None) <= (row.state in (State.RESERVED, State.RELEASED, State.EXPIRED))

    @invariant()
    def nobody_goes_back(self) -> None:
        said = Answer.objects.filter(step__in=(steps.BACKGROUND, steps.FEEDBACK))
        asked = Counter(said.values_list("annotator", "step"))
        assert not asked or max(asked.values()) == 1, "asked twice"
        for person in self.people():
            place = ORDER.index(person.step)
            before = self.reached.get(person.pk, 0)
            if person.pk in self.resumed:
                before = min(before, ORDER.index("tasks") if person.handed else 0)
            assert place >= before, f"from {ORDER[before]} back to {person.step}"
            self.reached[person.pk] = place
            if person.handed:
                assert person.consented_at is not None, "graded without consent"
                assert person.practised == len(self.protocol.practice), "graded without practice"
        self.resumed.clear()

    @invariant()
    def grades_have_their_history(self) -> None:
        for grade in Grade.objects.select_related("assignment").prefetch_related("revisions"):
            numbers = [(each.number, each.value) for each in grade.revisions.all()]
            assert [number for number, _ in numbers] == list(range(len(numbers)))
            assert numbers[-1][1] == grade.value
            assert grade.complete == (grade.assignment.state == State.GRADED)
