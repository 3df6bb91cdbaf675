"""Whatever people do, in whatever order: each kept count equals its rows, and no promise is broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from annotator.errors import BadInput, Conflict
from annotator.grading import access, actions, steps
from annotator.grading.models import Annotator, Answer, Assignment, Grade, GradeRevision
from annotator.grading.verify import drifted
from annotator.studies import actions as study_actions
from annotator.studies.models import Group, Item, Study
from tests.grading.surveys import (
    ASIDE,
    BESIDE,
    EFFORT,
    PRACTICE,
    QUALITY,
    REMARK,
    gold,
    make_survey,
    protocol_text,
    rows_of,
)

pytestmark = pytest.mark.django_db

State = Assignment.State
HOLDING = (State.HELD, State.RESERVED)
TAKING = (*HOLDING, State.GRADED)
ORDER = ["consent", "background", "instructions", "practice", "tasks", "feedback", "thanks"]
MOST_PEOPLE = 5
CHECKS = """
[checks]
kinds = ["instructed", "gold", "degraded", "repeat"]
every = 2
"""
LOUD = CHECKS + "loud = true\nfail_at = 2\n"
some = st.integers(0, 20)
"""Which of those that there are: taken round the end."""


def drill(expected: str = "") -> str:
    return PRACTICE.format(expected=expected)


class Survey(RuleBasedStateMachine):
    """One study and a handful of people. Every rule is an act that somebody can do at any time."""

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

    # People come and go through the steps.

    @initialize()
    def somebody_starts(self) -> None:
        self.walk_to_tasks(actions.join(self.study, ""))

    def walk_to_tasks(self, person: Annotator) -> Annotator:
        for _ in range(20):
            person = Annotator.objects.select_related("study").get(pk=person.pk)
            if person.step not in steps.BEFORE_TASKS:
                return person
            self.one_step(person)
        raise AssertionError(f"no way past {person.step}")

    def one_step(self, person: Annotator) -> None:
        if person.step == steps.CONSENT:
            actions.consent(person)
        elif person.step == steps.BACKGROUND:
            actions.answer(person, steps.BACKGROUND, {"years": "3"})
        elif person.step == steps.INSTRUCTIONS:
            actions.start(person)
        elif person.step == steps.PRACTICE:
            actions.practise(person, person.practised, {"quality": "4"})
        elif person.step == steps.FEEDBACK:
            actions.answer(person, steps.FEEDBACK, {"opinion": "Fine."})

    @rule()
    def join(self) -> None:
        if self.study.annotators.count() >= MOST_PEOPLE:
            return
        if not self.is_open():
            with pytest.raises(Conflict):
                actions.join(self.study, "")
            return
        actions.join(self.study, "")

    @rule(who=some)
    def step_on(self, who: int) -> None:
        person = self.person(who)
        if person.step == steps.INSTRUCTIONS and not self.is_open():
            with pytest.raises(Conflict):
                self.one_step(person)
        else:
            self.one_step(person)

    @rule(who=some)
    def walk(self, who: int) -> None:
        if self.is_open():
            actions.hand_out(self.walk_to_tasks(self.person(who)))

    @rule(who=some, act=st.sampled_from(["consent", "background", "feedback", "practise", "practise again"]))
    def out_of_turn(self, who: int, act: str) -> None:
        """A form of another step, from an old tab: nothing happens."""
        person = self.person(who)
        if act in ("background", "feedback") and person.step != act:
            actions.answer(person, act, {"years": "9"})
        elif act == "consent" and person.step != act:
            actions.consent(person)
        elif act == "practise" and person.step != steps.PRACTICE:
            actions.practise(person, person.practised, {"quality": "0"})
        elif act == "practise again":
            actions.practise(person, person.practised - 1, {"quality": "0"})
        else:
            return
        after = Annotator.objects.get(pk=person.pk)
        assert (after.step, after.practised) == (person.step, person.practised)

    @rule(who=some)
    def start(self, who: int) -> None:
        """From the instructions, or back from the end; nobody jumps to the tasks over what comes before."""
        person = self.person(who)
        if not self.is_open() or person.step in (steps.CONSENT, steps.BACKGROUND, steps.PRACTICE):
            with pytest.raises(Conflict):
                actions.start(person)
            return
        if person.step in (steps.FEEDBACK, steps.THANKS):
            self.resumed.add(person.pk)
        actions.start(person)

    @rule(who=some)
    def stop(self, who: int) -> None:
        person = self.person(who)
        actions.stop(person, "enough")
        assert not person.assignments.filter(state__in=HOLDING).exists()

    # Items come into hands and leave them.

    @rule(who=some)
    def hand_out(self, who: int) -> None:
        person = self.person(who)
        if not self.is_open():
            with pytest.raises(Conflict):
                actions.hand_out(person)
            return
        before = list(person.assignments.filter(state=State.HELD).order_by("sequence"))
        given = actions.hand_out(person)
        was_at, person = person.step, Annotator.objects.select_related("study").get(pk=person.pk)
        if given is not None:
            assert (given.annotator_id, given.state, person.step) == (person.pk, State.HELD, steps.TASKS)
            still = [each for each in before if each.held_until and each.held_until > timezone.now()]
            assert not still or given.pk == still[0].pk, "the item in hand comes first"
        elif person.step == steps.TASKS:
            assert access.is_waiting(person), "neither an item nor a reason to wait"
        elif was_at == steps.TASKS:
            assert access.has_enough(person) or not access.has_free(person), "more to do, but sent away"

    def page_in_hand(self, person: Annotator) -> tuple[Assignment, steps.Due] | None:
        held = access.get_held(person)
        due = None if held is None else access.get_due(self.protocol, held)
        return None if held is None or due is None else (held, due)

    def send(
        self, person: Annotator, assignment: Assignment, due: steps.Due, pick: int, **more: Any
    ) -> actions.Submitted:
        """The page's form with a value for each of its questions."""
        sequence = assignment.sequence or 0
        values = {each.key: on_scale(each, pick) for each in due.scaled}
        key = actions.submission_key(person, sequence, due.key, due.revision)
        form = {"key": key, "question": due.key, "revision": due.revision} | more
        done = actions.submit(person, sequence, values, **form)
        self.sent.append((person.pk, sequence, values, form))
        return done

    @rule(who=some, pick=some)
    def grade(self, who: int, pick: int) -> None:
        """The item in hand is answered: unless the study is closed, that is always stored."""
        person = self.person(who)
        found = self.page_in_hand(person)
        if found is None:
            return
        held, due = found
        before = Grade.objects.count()
        if self.study.state == Study.State.CLOSED:
            with pytest.raises(Conflict):
                self.send(person, held, due, pick)
            assert Grade.objects.count() == before
            return
        done = self.send(person, held, due, pick, comments={"remark": "So."}, active_seconds=-3.0)
        assert not done.replayed
        assert Grade.objects.count() == before + (0 if due.revision else len(due.scaled))

    @rule(who=some, pick=some)
    def grade_on(self, who: int, pick: int) -> None:
        """A whole item, and the next one in hand."""
        for page in range(len(self.protocol.pages)):
            self.grade(who, pick + page)
        self.hand_out(who)

    @precondition(lambda self: self.sent)
    @rule(which=some, other=st.booleans())
    def send_again(self, which: int, other: bool) -> None:
        """A form that was taken before: the first answer, or a refusal that leaves it as it is."""
        pk, sequence, values, form = self.sent[which % len(self.sent)]
        person = Annotator.objects.select_related("study").get(pk=pk)
        before = list(GradeRevision.objects.order_by("pk").values())
        if other:
            first = self.protocol.scaled[0].key
            values = {key: on_scale_but(self.protocol, key, value, first) for key, value in values.items()}
            with pytest.raises(Conflict):
                actions.submit(person, sequence, values, **form)
        else:
            assert actions.submit(person, sequence, values, **form).replayed
        assert list(GradeRevision.objects.order_by("pk").values()) == before

    @rule(who=some, which=some, pick=some)
    def send_late(self, who: int, which: int, pick: int) -> None:
        """A form of an item that is no longer in hand. Where its lease ran out the answer is kept."""
        person = self.person(who)
        if not person.handed:
            return
        assignment = person.assignments.get(sequence=which % person.handed + 1)
        if assignment.state in HOLDING:
            return
        due = access.get_due(self.protocol, assignment)
        if due is None:
            return
        before = Grade.objects.filter(assignment=assignment).count()
        try:
            self.send(person, assignment, due, pick)
        except Conflict:
            assert Grade.objects.filter(assignment=assignment).count() == before
            had = person.assignments.filter(Assignment.SEEN).exclude(pk=assignment.pk)
            again = had.filter(item=assignment.item_id).exists()
            assert not self.is_open() or assignment.state == State.SKIPPED or again
        else:
            assert assignment.state in (State.EXPIRED, State.RELEASED)

    @rule(who=some, pick=some, taken_over=st.booleans())
    def come_back_late(self, who: int, pick: int, taken_over: bool) -> None:
        """The lease runs out, others work on, the person opens the link anew, and then sends the old page."""
        person = self.person(who)
        found = self.page_in_hand(person)
        if found is None or not self.is_open():
            return
        Assignment.objects.filter(pk=found[0].pk).update(held_until=timezone.now() - timedelta(seconds=1))
        actions.release_expired(self.study)
        if taken_over:
            self.grade_on(who + 1, pick)
        self.hand_out(who)
        self.send_late(who, (found[0].sequence or 1) - 1, pick)

    @rule(who=some, pick=some)
    def change(self, who: int, pick: int) -> None:
        """The answer before is changed, where the protocol allows that."""
        person = self.person(who)
        found = access.get_changeable(person)
        if found is None or not self.is_open():
            return
        before = Grade.objects.count(), GradeRevision.objects.count()
        self.send(person, *found, pick)
        after = Grade.objects.count(), GradeRevision.objects.count()
        assert after == (before[0], before[1] + len(found[1].scaled))

    @rule(who=some, broken=st.booleans(), which=some)
    def give_back(self, who: int, broken: bool, which: int) -> None:
        """Skips or reports any hand-out of the person's: only the one in hand, without an answer, goes back."""
        person = self.person(who)
        if not person.handed:
            return
        assignment = person.assignments.get(sequence=which % person.handed + 1)
        goes = assignment.state == State.HELD and not assignment.grades.exists()
        if broken:
            actions.report_broken(person, assignment.sequence or 0, "It has no code.")
        elif self.protocol.skip:
            actions.skip(person, assignment.sequence or 0)
        else:
            with pytest.raises(BadInput):
                actions.skip(person, assignment.sequence or 0)
            return
        state = Assignment.objects.get(pk=assignment.pk).state
        assert state == (State.SKIPPED if goes else assignment.state)

    @rule(which=some, all_of_them=st.booleans())
    def run_out(self, which: int, all_of_them: bool) -> None:
        """Time goes by: a lease or a reservation, or each of them, is over."""
        holds = list(Assignment.objects.filter(state__in=HOLDING).order_by("pk"))
        late = holds if all_of_them or not holds else [holds[which % len(holds)]]
        Assignment.objects.filter(pk__in=[each.pk for each in late]).update(
            held_until=timezone.now() - timedelta(seconds=1)
        )

    @rule()
    def release_expired(self) -> None:
        actions.release_expired(self.study)
        left = Assignment.objects.filter(state__in=HOLDING, held_until__lt=timezone.now()).count()
        assert left == 0

    # The researcher.

    @rule(state=st.sampled_from(["open", "open", "open", "paused", "closed"]))
    def set_state(self, state: str) -> None:
        act: Callable[[Study], None] = {
            "open": study_actions.open_study,
            "paused": study_actions.pause_study,
            "closed": study_actions.close_study,
        }[state]
        if state == "paused" and self.study.state == Study.State.CLOSED:
            with pytest.raises(Conflict):
                act(self.study)
            return
        act(self.study)

    @rule(who=some)
    def reopen_slots(self, who: int) -> None:
        actions.reopen_slots(self.study, [self.person(who)])

    @rule(who=some)
    def reinstate(self, who: int) -> None:
        actions.reinstate(self.study, [self.person(who)])

    # What must hold after each act.

    @invariant()
    def counts_equal_their_rows(self) -> None:
        """Counted here, not by `verify`: a fault of both would have to be made twice."""
        rows = list(Assignment.objects.filter(annotator__study=self.study).select_related("item"))
        taken = Counter(row.item_id for row in rows if row.state in TAKING and not (row.surplus or row.reopened))
        slots: Counter[int] = Counter()
        for item in Item.objects.filter(study=self.study):
            if item.check_kind:
                assert (item.target, item.group_id) == (None, None)
                continue
            assert item.taken == taken[item.pk]
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
            for step in (steps.BACKGROUND, steps.FEEDBACK):
                asked = Answer.objects.filter(annotator=person, step=step).count()
                assert asked <= 1, f"asked twice: {step}"
        self.resumed.clear()

    @invariant()
    def grades_have_their_history(self) -> None:
        for grade in Grade.objects.select_related("assignment"):
            numbers = [(each.number, each.value) for each in grade.revisions.all()]
            assert [number for number, _ in numbers] == list(range(len(numbers)))
            assert numbers[-1][1] == grade.value
            assert grade.complete == (grade.assignment.state == State.GRADED)


def on_scale(question: Any, pick: int) -> float:
    if question.options:
        return float(question.options[pick % len(question.options)].value)
    count = int((question.high - question.low) / question.step) + 1
    return float(question.low + question.step * (pick % count))


def on_scale_but(protocol: Any, key: str, value: float, first: str) -> float:
    """Another value of the same scale."""
    question = next(each for each in protocol.scaled if each.key == key)
    return next(other for other in (on_scale(question, 0), on_scale(question, 1)) if other != value)


class Finished(Survey):
    """At the end fresh people come who grade all they get: no slot may be lost on the way."""

    def teardown(self) -> None:
        try:
            if self.study.target is not None:
                self.finish()
        finally:
            super().teardown()

    def finish(self) -> None:
        study_actions.open_study(self.study)
        for person in self.people():
            actions.stop(person)
        Assignment.objects.filter(state__in=HOLDING).update(held_until=timezone.now() - timedelta(seconds=1))
        actions.release_expired(self.study)
        for _ in range(30):
            if not Item.objects.filter(study=self.study, check_kind="", taken__lt=self.study.target).exists():
                break
            self.work_through(self.walk_to_tasks(actions.join(self.study, "")))
        self.counts_equal_their_rows()
        tasks = Item.objects.filter(study=self.study, check_kind="")
        assert set(tasks.values_list("taken", flat=True)) == {self.study.target}

    def work_through(self, person: Annotator) -> None:
        given = actions.hand_out(person)
        while given is not None:
            due = access.get_due(self.protocol, given)
            while due is not None:
                self.send(person, given, due, 3)
                due = access.get_due(self.protocol, given)
            given = actions.hand_out(person)


STUDIES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "open": (
        protocol_text(QUALITY, BESIDE, REMARK, ASIDE, drill(), policy="open", target=2, back=True),
        rows_of(3),
    ),
    "open with checks": (
        protocol_text(QUALITY, EFFORT, CHECKS, policy="open", target=2),
        [*rows_of(4), *gold(rows_of(1, ("known",), problem="g"), 3)],
    ),
    "everyone with loud checks": (
        protocol_text(QUALITY, EFFORT, LOUD, ASIDE, policy="everyone"),
        [*rows_of(3), *gold(rows_of(1, ("known",), problem="g"), 3)],
    ),
    "balanced": (
        protocol_text(QUALITY, EFFORT, policy="balanced", target=2, tasks_per_person=3),
        rows_of(4),
    ),
    "balanced pairs with checks": (
        protocol_text(
            *(QUALITY, EFFORT + "reveal = true\n", '[checks]\nkinds = ["degraded", "repeat"]\nevery = 2\n'),
            **{"policy": "balanced", "target": 2, "tasks_per_person": 3, "show": "pair", "skip": False},
        ),
        rows_of(4, references=1),
    ),
    "blocks": (
        protocol_text(QUALITY, CHECKS, ASIDE, policy="blocks", target=1, blocks=2),
        [*rows_of(3), *gold(rows_of(1, ("known",), problem="g"), 3)],
    ),
}


def run_machine(name: str, examples: int, acts: int) -> None:
    """Random acts on the study, from a state that is made once."""
    text, rows = STUDIES[name]
    machine = type("Machine", (Finished,), {"study": make_survey(text, rows)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=acts,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("name", STUDIES)
def test_no_order_of_acts_breaks_a_promise(name: str) -> None:
    run_machine(name, 8, 30)
