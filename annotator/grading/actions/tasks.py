"""Items come into a person's hands and leave them, other than by an answer."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotator.errors import BadInput, Conflict
from annotator.grading import access, steps
from annotator.grading.actions import pool
from annotator.grading.actions.checks import next_check
from annotator.grading.assignment import side
from annotator.grading.models import Annotator, Answer, Assignment
from annotator.prepared import insert, update
from annotator.studies.models import Item, Study
from annotator.studies.protocols import Protocol

MAX_EXPIRED_A_TIME = 20
"""Expired holds returned to the pool at each hand-out: enough to keep up, few enough to cost nothing."""
NOT_YET = gettext_lazy("Please go through the pages before the tasks first.")


def start(annotator: Annotator) -> Assignment | None:
    """From the instructions, or back from the thank-you page, to the tasks. Who stopped before them takes the steps
    that are still to be done first."""
    access.check_open(annotator.study)
    with transaction.atomic():
        annotator = pool.lock_annotator(annotator)
        protocol = annotator.study.read_protocol()
        practised = annotator.step == steps.PRACTICE and access.has_practised(annotator)
        if practised or annotator.step == steps.INSTRUCTIONS:
            annotator.step = steps.step_after(protocol, annotator.step)
        elif annotator.step in steps.BEFORE_TASKS:
            raise Conflict(str(NOT_YET))
        elif annotator.step != steps.TASKS:
            annotator.step = _resumed(annotator, protocol)
        annotator.save(update_fields=["step"])
    return hand_out(annotator)


def _resumed(annotator: Annotator, protocol: Protocol) -> str:
    return steps.resumed(
        protocol,
        consented=annotator.consented_at is not None,
        asked=annotator.answers.filter(step=Answer.Step.BACKGROUND).exists(),
        practised=annotator.practised,
        handed=annotator.handed,
    )


def hand_out(annotator: Annotator) -> Assignment | None:
    """The item in hand, or the next one.

    None when there is nothing to do here: the step is then another one; or it is still `tasks`, while
    everything that is left is in the hands of others and may come back.
    """
    access.check_open(annotator.study)
    release_expired(annotator.study)
    with pool.turn():
        annotator = pool.lock_annotator(annotator)
        if annotator.step != steps.TASKS:
            return None
        protocol = annotator.study.read_protocol()
        held = access.in_hand(annotator).first()
        if held:
            return pool.renew(held, protocol)
        assignment = take_next(annotator, protocol)
        enough = assignment is None and access.has_enough(annotator)
        if assignment is None and (enough or not access.may_come(annotator)):
            _leave_tasks(annotator, protocol)
        return assignment


def take_next(annotator: Annotator, protocol: Protocol) -> Assignment | None:
    """A check that is due, or the next task, into the hands of a locked annotator; None if nothing is free for them."""
    assignment = next_check(annotator, protocol)
    if assignment is None and not access.has_enough(annotator):
        assignment = _next_task(annotator)
    return None if assignment is None else _hand(annotator, assignment, protocol)


def _next_task(annotator: Annotator) -> Assignment | None:
    if annotator.study.reserves:
        return pool.next_reserved(annotator)
    item = pool.take_open_item(annotator, annotator.handed + 1)
    return None if item is None else Assignment(annotator=annotator, item=item)


def _hand(annotator: Annotator, assignment: Assignment, protocol: Protocol) -> Assignment:
    """Into the person's hands, as their next hand-out. Who stopped before goes on with it, not with the click."""
    now = timezone.now()
    annotator.handed, annotator.last_seen_at, annotator.stopped_at = annotator.handed + 1, now, None
    update(annotator, *pool.COUNTERS, "handed", "stopped_at")
    assignment.sequence, assignment.state, assignment.handed_at = annotator.handed, Assignment.State.HELD, now
    until = now + pool.lease(protocol)
    assignment.held_until = max(until, assignment.held_until or until)
    item = assignment.item
    if item.kind == Item.Kind.PAIR and item.reference is not None:
        seed = annotator.study.seed
        assignment.side = side(seed, annotator.number, annotator.handed, item.shown_code, item.reference.code)
    if assignment._state.adding:
        insert(assignment)
    else:
        update(assignment, "sequence", "state", "handed_at", "held_until", "side")
    return assignment


def _leave_tasks(annotator: Annotator, protocol: Protocol) -> None:
    annotator.step = steps.step_after(protocol, steps.TASKS)
    if annotator.step == steps.FEEDBACK and (not annotator.graded or access.gave_feedback(annotator)):
        annotator.step = steps.THANKS
    annotator.last_seen_at = timezone.now()
    annotator.save(update_fields=["step", "last_seen_at"])


def skip(annotator: Annotator, sequence: int) -> None:
    """Give the item back; it does not come again to this annotator. A replay changes nothing."""
    with transaction.atomic():
        annotator = pool.lock_annotator(annotator)
        if not annotator.study.read_protocol().skip:
            raise BadInput(_("Nothing can be skipped in this study."))
        _give_back(annotator, sequence)


def report_broken(annotator: Annotator, sequence: int, text: str) -> None:
    """The item cannot be judged as it is shown: the report is kept, the item skipped. A replay changes nothing."""
    with transaction.atomic():
        annotator = pool.lock_annotator(annotator)
        assignment = _give_back(annotator, sequence)
        if assignment is not None:
            Answer.objects.create(
                annotator=annotator, assignment=assignment, step=Answer.Step.BROKEN, text=text[:2000]
            )


def _give_back(annotator: Annotator, sequence: int) -> Assignment | None:
    """The assignment, skipped now; None if it is in the person's hands no more, or answered in part."""
    assignment = pool.lock_assignment(annotator, sequence)
    if assignment.state != Assignment.State.HELD or access.answered_questions(assignment):
        return None
    pool.close(assignment, Assignment.State.SKIPPED, timezone.now())
    pool.free_slots(annotator.study, [assignment])
    annotator.skipped += 1
    annotator.checks += bool(assignment.item.check_kind)
    annotator.last_seen_at = timezone.now()
    annotator.save(update_fields=["skipped", "checks", "last_seen_at"])
    return assignment


def stop(annotator: Annotator, reason: str = "") -> None:
    """Stop now: the held and reserved items go back to the pool, the reason is kept, all grades stay."""
    now = timezone.now()
    with transaction.atomic():
        annotator = pool.lock_annotator(annotator)
        holds = annotator.assignments.select_for_update(no_key=True).filter(
            state__in=(Assignment.State.HELD, Assignment.State.RESERVED)
        )
        released = list(holds.order_by("pk"))
        for held in released:
            pool.close(held, Assignment.State.RELEASED, now)
        pool.free_slots(annotator.study, released)
        if annotator.step not in (steps.FEEDBACK, steps.THANKS):  # who is through with the tasks stops none
            annotator.stopped_at, annotator.stop_reason = now, reason[:500]
            annotator.save(update_fields=["stopped_at", "stop_reason"])
        _leave_tasks(annotator, annotator.study.read_protocol())


def release_expired(study: Study, now: datetime | None = None) -> int:
    """Return holds whose lease ran out to the pool, a few at a time; how many."""
    now = now or timezone.now()
    late = access.holds_of(study).filter(held_until__lt=now)
    if not late.exists():  # mostly: spares a transaction that would lock out others on SQLite
        return 0
    with transaction.atomic():
        locking = late.select_for_update(skip_locked=True, no_key=True, of=("self",))
        expired = list(locking.order_by("held_until")[:MAX_EXPIRED_A_TIME])
        for assignment in expired:
            pool.close(assignment, Assignment.State.EXPIRED, now)
        pool.free_slots(study, expired)
    return len(expired)
