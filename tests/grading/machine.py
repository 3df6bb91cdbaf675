"""One study and a handful of people who do whatever can be done; `promises` hold after each act."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    rule,
)

from annotator.errors import BadInput, Conflict
from annotator.grading import access, actions, steps
from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.studies import actions as study_actions
from annotator.studies.models import Item, Study
from tests.grading.promises import HOLDING, Promises, State, some

MOST_PEOPLE = 5
LATER = ["consent", "background", "feedback", "practise", "practise again"]
"""Forms of other steps than the current one."""


class Survey(Promises):
    """A handful of people. Every rule is an act that somebody can do at any time."""

    # People come and go through the steps.

    @initialize()
    def some_start(self) -> None:
        for _ in range(2):
            self.arrive(True)

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

    @rule(to_tasks=st.booleans())
    def arrive(self, to_tasks: bool) -> None:
        if not self.is_open():
            with pytest.raises(Conflict):
                actions.join(self.study, "")
        elif self.study.annotators.count() < MOST_PEOPLE:
            person = actions.join(self.study, "")
            if to_tasks:
                actions.hand_out(self.walk_to_tasks(person))

    @rule(who=some, act=st.sampled_from(["on", "on", "start", "stop", *LATER]))
    def step(self, who: int, act: str) -> None:
        person = self.person(who)
        if act == "stop":
            actions.stop(person, "enough")
            assert not person.assignments.filter(state__in=HOLDING).exists()
        elif act == "start":
            self.start(person)
        elif act == "on":
            self.step_on(person)
        else:
            self.out_of_turn(person, act)

    def step_on(self, person: Annotator) -> None:
        if person.step == steps.INSTRUCTIONS and not self.is_open():
            with pytest.raises(Conflict):
                self.one_step(person)
        else:
            self.one_step(person)

    def out_of_turn(self, person: Annotator, act: str) -> None:
        """A form of another step, from an old tab: nothing happens."""
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

    def start(self, person: Annotator) -> None:
        """From the instructions, or back from the end; nobody jumps to the tasks over what comes before."""
        if not self.is_open() or person.step in (steps.CONSENT, steps.BACKGROUND, steps.PRACTICE):
            with pytest.raises(Conflict):
                actions.start(person)
            return
        if person.step in (steps.FEEDBACK, steps.THANKS):
            self.resumed.add(person.pk)
        actions.start(person)

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
        form: dict[str, Any] = {"key": key, "question": due.key, "revision": due.revision} | more
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

    @rule(which=some, other=st.booleans())
    def send_again(self, which: int, other: bool) -> None:
        """A form that was taken before: the first answer, or a refusal that leaves it as it is."""
        if not self.sent:
            return
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

    @rule(who=some, pick=some, begun=st.booleans(), taken_over=st.booleans(), times=st.integers(1, 3))
    def come_back_late(self, who: int, pick: int, begun: bool, taken_over: bool, times: int) -> None:
        """Leases run out, once or more often, others work on, the person comes back; then an old page comes."""
        first = self.person(who).handed
        for _ in range(times):
            found = self.page_in_hand(self.person(who))
            if found is None or not self.is_open():
                return
            if begun:
                self.grade(who, pick)
            Assignment.objects.filter(pk=found[0].pk, state=State.HELD).update(
                held_until=timezone.now() - timedelta(seconds=1)
            )
            actions.release_expired(self.study)
            self.counts_equal_their_rows()
            if taken_over:
                self.grade_on(who + 1, pick)
            self.hand_out(who)
            begun = not begun
        for sequence in range(max(first, 1), first + times):
            self.send_late(who, sequence - 1, pick)
            self.counts_equal_their_rows()

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

    @rule(which=some, all_of_them=st.booleans(), release=st.booleans())
    def run_out(self, which: int, all_of_them: bool, release: bool) -> None:
        """Time goes by: a lease or a reservation, or each of them, is over."""
        holds = list(Assignment.objects.filter(state__in=HOLDING).order_by("pk"))
        late = holds if all_of_them or not holds else [holds[which % len(holds)]]
        Assignment.objects.filter(pk__in=[each.pk for each in late]).update(
            held_until=timezone.now() - timedelta(seconds=1)
        )
        if release:
            actions.release_expired(self.study)
            left = Assignment.objects.filter(state__in=HOLDING, held_until__lt=timezone.now()).count()
            assert left == 0

    # The researcher.

    @rule(who=some, act=st.sampled_from(["reopen slots", "reinstate", "paused", "closed"]))
    def researcher(self, who: int, act: str) -> None:
        if self.study.state != Study.State.OPEN:
            self.set_state("paused" if act == "paused" else "open")
        elif act == "reopen slots":
            actions.reopen_slots(self.study, [self.person(who)])
        elif act == "reinstate":
            actions.reinstate(self.study, [self.person(who)])
        else:
            self.set_state(act)

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
            # It costs as much as all acts before: after every other one is enough.
            if self.study.target is not None and Assignment.objects.count() % 2:
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
