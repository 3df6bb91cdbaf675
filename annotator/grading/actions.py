"""Every change of an annotator's state: one named function, one transaction each.

Locks are taken in one order - annotator, assignment, item - so that no two of these wait for each other.
On SQLite every transaction is BEGIN IMMEDIATE, which serialises them.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotator.errors import BadInput, Conflict
from annotator.grading import access, steps
from annotator.grading.assignment import pivot, pseudonym
from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.studies.models import Item, Study
from annotator.studies.protocols import Protocol

MAX_EXPIRED_A_TIME = 20
"""Expired holds returned to the pool at each hand-out: enough to keep up, few enough to cost nothing."""
MAX_LOOKS = 40
"""Each look that fails means that somebody else took something: this many in a row do not happen."""


def join(study: Study, join_key: str) -> Annotator:
    """A new annotator with a personal link; the same join key again gives the same annotator."""
    access.check_open(study)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        known = Annotator.objects.filter(study=study, join_key=join_key).first() if join_key else None
        if known:
            return known
        number = (study.annotators.aggregate(last=Max("number"))["last"] or 0) + 1
        return Annotator.objects.create(
            study=study,
            number=number,
            pseudonym=pseudonym(study.seed, number),
            token=secrets.token_urlsafe(24),
            join_key=join_key or None,
            step=steps.first_step(study.read_protocol()),
        )


def consent(annotator: Annotator) -> None:
    with transaction.atomic():
        annotator = _lock(annotator)
        if annotator.step == steps.CONSENT:
            annotator.step = steps.step_after(annotator.study.read_protocol(), steps.CONSENT)
            annotator.consented_at = annotator.last_seen_at = timezone.now()
            annotator.save(update_fields=["step", "consented_at", "last_seen_at"])


def start(annotator: Annotator) -> Assignment | None:
    """From the instructions, or back from the thank-you page, to the tasks."""
    access.check_open(annotator.study)
    with transaction.atomic():
        annotator = _lock(annotator)
        if annotator.step == steps.CONSENT:
            raise Conflict("Please read and accept the consent page first.")
        annotator.step, annotator.stopped_at = steps.TASKS, None
        annotator.save(update_fields=["step", "stopped_at"])
    return hand_out(annotator)


def hand_out(annotator: Annotator) -> Assignment | None:
    """The item in hand, or the next one; None when nothing is left (the step is then `thanks`)."""
    access.check_open(annotator.study)
    release_expired(annotator.study)
    with transaction.atomic():
        annotator = _lock(annotator)
        if annotator.step != steps.TASKS:
            return None
        held = access.get_held(annotator)
        if held:
            return _renew(held, annotator.study.read_protocol())
        sequence = annotator.handed + 1
        item = _take_item(annotator, pivot(annotator.study.seed, annotator.number, sequence))
        now = timezone.now()
        if item is None:
            annotator.step, annotator.last_seen_at = steps.THANKS, now
            annotator.save(update_fields=["step", "last_seen_at"])
            return None
        annotator.handed, annotator.last_seen_at = sequence, now
        annotator.save(update_fields=["handed", "last_seen_at"])
        return Assignment.objects.create(
            annotator=annotator,
            item=item,
            sequence=sequence,
            handed_at=now,
            held_until=now + _lease(annotator.study.read_protocol()),
        )


def _take_item(annotator: Annotator, entry: int) -> Item | None:
    """Locks and takes the first open item at or after `entry`, round the end: `assignment.choose`, by index.

    Items that another transaction holds are passed over first; before "none left" is said they are
    waited for, because a slot may still be free. If such a row filled up meanwhile, that look fails: again.
    """
    free = access.open_items(annotator)
    for attempt in range(MAX_LOOKS):
        locking = free.select_for_update(skip_locked=attempt % 2 == 0, no_key=True, of=("self",))
        item = locking.filter(draw__gte=entry).first() or locking.filter(draw__lt=entry).first()
        if item is not None:
            Item.objects.filter(pk=item.pk).update(taken=F("taken") + 1)
            return item
        if not free.exists():
            return None
    raise Conflict("Many people are asking for a snippet at once. Please try again in a moment.")


@dataclass(frozen=True)
class Submitted:
    """What `submit` did: the grade that is stored, and whether this was a replay of an earlier submission."""

    grade: Grade
    replayed: bool


def submission_key(annotator: Annotator, sequence: int, question: str) -> str:
    """The key that the form carries: the same for each copy of one form, and unguessable for others."""
    return salted_hmac("codejury.submission", f"{annotator.token}:{sequence}:{question}").hexdigest()[:32]


def submit(
    annotator: Annotator,
    sequence: int,
    question: str,
    value: int,
    *,
    key: str,
    active_seconds: float | None = None,
) -> Submitted:
    """Store the answer to one question of one assignment; sent again, it gets the first answer.

    One transaction: find the key, lock the assignment, check ownership, study, question and scale, write
    Grade and GradeRevision, and at the item's last question close the assignment. An answer that comes
    after its slot was given away is stored as surplus.

    Raises BadInput (value not on the scale, damaged form), Conflict (study closed, another question is due).
    """
    if key != submission_key(annotator, sequence, question):
        raise BadInput("The form was damaged on its way. Please reload the page and answer again.")
    now = timezone.now()
    with transaction.atomic():
        annotator = _lock(annotator)
        known = Grade.objects.filter(submission_key=key).first()
        if known:
            return Submitted(known, replayed=True)
        assignment = _lock_assignment(annotator, sequence)
        _check_takes_answers(annotator.study, assignment)
        protocol = annotator.study.read_protocol()
        due = steps.question_after(protocol, access.answered_questions(assignment))
        if due is None or due.key != question:
            raise Conflict("This question was answered already.")
        option = due.option(value)
        if option is None:
            raise BadInput("Please choose one of the answers.")
        if assignment.state != Assignment.State.HELD:
            _take_back(assignment)
        seconds = max((now - assignment.handed_at).total_seconds(), 0.0)
        grade = Grade.objects.create(
            assignment=assignment,
            question=question,
            value=value,
            label=option.label,
            submission_key=key,
            seconds=round(seconds, 3),
            active_seconds=None
            if active_seconds is None
            else round(min(max(active_seconds, 0.0), seconds), 3),
            submitted_at=now,
            protocol_version=protocol.version,
        )
        GradeRevision.objects.create(grade=grade, value=grade.value, label=grade.label)
        if steps.question_after(protocol, access.answered_questions(assignment)) is None:
            _close(assignment, Assignment.State.GRADED, now)
            Grade.objects.filter(assignment=assignment).update(complete=True)
            grade.complete = True
            annotator.graded += 1
        else:
            _renew(assignment, protocol)
        annotator.last_seen_at = now
        annotator.save(update_fields=["graded", "last_seen_at"])
    return Submitted(grade, replayed=False)


def skip(annotator: Annotator, sequence: int) -> None:
    """Give the item back; it does not come again to this annotator. A replay changes nothing."""
    with transaction.atomic():
        annotator = _lock(annotator)
        if not annotator.study.read_protocol().skip:
            raise BadInput("Items cannot be skipped in this study.")
        assignment = _lock_assignment(annotator, sequence)
        if assignment.state != Assignment.State.HELD or access.answered_questions(assignment):
            return
        _close(assignment, Assignment.State.SKIPPED, timezone.now())
        _free_slot(assignment)
        Annotator.objects.filter(pk=annotator.pk).update(
            skipped=F("skipped") + 1, last_seen_at=timezone.now()
        )


def stop(annotator: Annotator, reason: str = "") -> None:
    """Stop now: the held item goes back to the pool, the reason is kept, all grades stay."""
    now = timezone.now()
    with transaction.atomic():
        annotator = _lock(annotator)
        for held in annotator.assignments.select_for_update(no_key=True).filter(state=Assignment.State.HELD):
            _close(held, Assignment.State.RELEASED, now)
            _free_slot(held)
        annotator.step, annotator.stopped_at, annotator.last_seen_at = (
            steps.THANKS,
            now,
            now,
        )
        annotator.stop_reason = reason[:500]
        annotator.save(update_fields=["step", "stopped_at", "last_seen_at", "stop_reason"])


def release_expired(study: Study, now: datetime | None = None) -> int:
    """Return holds whose lease ran out to the pool, a few at a time; how many."""
    now = now or timezone.now()
    with transaction.atomic():
        expired = (
            Assignment.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
            .filter(state=Assignment.State.HELD, held_until__lt=now, item__study=study)
            .order_by("held_until")[:MAX_EXPIRED_A_TIME]
        )
        count = 0
        for assignment in sorted(expired, key=lambda each: each.item_id):
            _close(assignment, Assignment.State.EXPIRED, now)
            _free_slot(assignment)
            count += 1
    return count


def _lock(annotator: Annotator) -> Annotator:
    """The annotator's row, locked and fresh: each person's requests are dealt with one after another."""
    locking = Annotator.objects.select_for_update(no_key=True, of=("self",)).select_related("study")
    return locking.get(pk=annotator.pk)


def _lock_assignment(annotator: Annotator, sequence: int) -> Assignment:
    locking = Assignment.objects.select_for_update(no_key=True, of=("self",))
    assignment = locking.filter(annotator=annotator, sequence=sequence).first()
    if assignment is None:
        raise BadInput("The form was damaged on its way. Please reload the page and answer again.")
    return assignment


def _check_takes_answers(study: Study, assignment: Assignment) -> None:
    """An open study takes answers; a paused one takes those for items that are in hands still."""
    paused = study.state == Study.State.PAUSED and assignment.state == Assignment.State.HELD
    if not paused:
        access.check_open(study)
    if assignment.state in (Assignment.State.GRADED, Assignment.State.SKIPPED):
        raise Conflict("This snippet was dealt with already.")


def _take_back(assignment: Assignment) -> None:
    """The slot was given up: take it again if it is free, else the answer is surplus."""
    item = Item.objects.select_for_update(no_key=True).get(pk=assignment.item_id)
    again = assignment.annotator.assignments.filter(item=item, state__in=Assignment.LIVE).first()
    if again is not None:
        raise Conflict("You were given this snippet anew. Please answer on the page that is open now.")
    if item.target is None or item.taken < item.target:
        Item.objects.filter(pk=item.pk).update(taken=F("taken") + 1)
    else:
        assignment.surplus = True
    assignment.state = Assignment.State.HELD
    assignment.save(update_fields=["state", "surplus"])


def _renew(assignment: Assignment, protocol: Protocol) -> Assignment:
    assignment.held_until = timezone.now() + _lease(protocol)
    assignment.save(update_fields=["held_until"])
    return assignment


def _lease(protocol: Protocol) -> timedelta:
    return timedelta(minutes=protocol.lease_minutes)


def _close(assignment: Assignment, state: Assignment.State, now: datetime) -> None:
    assignment.state, assignment.closed_at, assignment.held_until = state, now, None
    assignment.save(update_fields=["state", "closed_at", "held_until"])


def _free_slot(assignment: Assignment) -> None:
    if not assignment.surplus:
        Item.objects.filter(pk=assignment.item_id).update(taken=F("taken") - 1)
