"""Slots: taken, reserved and given back. Each function runs inside the transaction of the act that needs it.

Locks are taken in one order - annotator, assignment, pool, item - so that no two acts wait for each other. The pool
(the study's row) is locked only where people's sets are reserved, because a set touches many items at once; elsewhere
the item alone is. On SQLite every transaction is BEGIN IMMEDIATE, which serialises them.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotator.errors import BadInput, Conflict
from annotator.grading import access
from annotator.grading.assignment import most_open, order_in_set, pivot
from annotator.grading.models import Annotator, Assignment
from annotator.prepared import Prepared, PreparedUpdate, Slot, update
from annotator.studies.models import Group, Item, Study
from annotator.studies.protocols import Protocol

ASSIGNMENT = (
    *("annotator", "state", "sequence", "surplus", "reopened", "partial", "passed"),
    *("handed_at", "held_until"),
)
ITEM = ("study", "check_kind", "low", "high", "original", "group", "target", "taken")
"""What acts need of an assignment and its item."""
COUNTERS = ("last_seen_at", "graded", "checks", "failed_checks")
"""What an answer changes of the person."""
_thread = threading.local()
LOOK_AGAIN_SECONDS = (0, 0.005, 0.01, 0.02, 0.04)
"""Others lock an item for a few milliseconds."""


@contextmanager
def turn() -> Iterator[None]:
    """The transaction of an act that people wait for. On SQLite, which has one writer at a time, the acts of all
    processes queue up here: its own way of waiting, to sleep and try again, lets some wait for seconds."""
    if not settings.USES_SQLITE or connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    queue = getattr(_thread, "queue", None)
    if queue is None:
        path = settings.VAR_DIR / "turn.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        queue = _thread.queue = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(queue, fcntl.LOCK_EX)
    try:
        with transaction.atomic():
            yield
    finally:
        fcntl.flock(queue, fcntl.LOCK_UN)


_locked_annotator = Prepared(
    lambda pk: (
        Annotator.objects.select_for_update(no_key=True, of=("self",))
        .select_related("study")
        .only(*access.PERSON)
        .filter(pk=pk)
        .order_by()
    )
)
_locked_assignment = Prepared(
    lambda annotator, sequence: (
        Assignment.objects.select_for_update(no_key=True, of=("self",))
        .select_related("item")
        .only(*ASSIGNMENT, *(f"item__{name}" for name in ITEM))
        .filter(annotator_id=annotator, sequence=sequence)
    )
)


def lock_annotator(annotator: Annotator) -> Annotator:
    """The annotator's row, locked and fresh: each person's requests are dealt with one after another."""
    locked = _locked_annotator(annotator.pk)[0]
    locked.study.share_protocol(annotator.study)
    return locked


def lock_assignment(annotator: Annotator, sequence: int) -> Assignment:
    assignment = _locked_assignment.first(annotator.pk, sequence)
    if assignment is None:
        raise BadInput(str(access.DAMAGED))
    assignment.annotator = annotator
    return assignment


def lock_pool(study: Study) -> None:
    """Where sets are reserved: nobody else takes or frees a slot until this transaction ends."""
    if study.reserves:
        Study.objects.select_for_update(no_key=True).only("pk").get(pk=study.pk)


def lease(protocol: Protocol) -> timedelta:
    return timedelta(minutes=protocol.lease_minutes)


def renew(assignment: Assignment, protocol: Protocol) -> Assignment:
    """The person is at work: the hold lasts a lease from now (a reservation that lasts longer stays)."""
    until = timezone.now() + lease(protocol)
    if assignment.held_until is None or until > assignment.held_until:
        assignment.held_until = until
        update(assignment, "held_until")
    return assignment


def close(assignment: Assignment, state: Assignment.State, now: datetime) -> None:
    """No longer in the person's hands. What is given up after a first answer does not come to them again: they may
    know by then whose it is."""
    assignment.state, assignment.closed_at, assignment.held_until = state, now, None
    if state in (Assignment.State.RELEASED, Assignment.State.EXPIRED):
        assignment.partial = assignment.grades.exists()
    update(assignment, "state", "closed_at", "held_until", "passed", "partial")


def _unlocked(pk: Slot, study: Slot) -> QuerySet[Item]:
    free = access.open_items(access.Someone(pk, study))
    free = free.only("kind", "group", "snippet", "reference", "code", "draw")
    return free.select_for_update(skip_locked=True, no_key=True, of=("self",))


_from_pivot = Prepared(lambda pk, study, entry: _unlocked(pk, study).filter(draw__gte=entry)[:1])
_from_start = Prepared(lambda pk, study: _unlocked(pk, study)[:1])


def take_open_item(annotator: Annotator, sequence: int) -> Item | None:
    """Locks and takes the first open item at or after the hand-out's pivot, round the end: `assignment.choose`, by
    index. None if none is open.

    Items that another transaction has locked are passed over, and looked for again a moment later if nothing else is
    free. They are not waited for: a row that filled up meanwhile stays locked until this transaction ends, and two
    that wait for each other's such rows would never come to an end. None is then not the last word: `may_come`.
    """
    entry = pivot(annotator.study.seed, annotator.number, sequence)
    who = annotator.pk, annotator.study_id
    for pause in LOOK_AGAIN_SECONDS:
        if pause:  # to sleep 0 s lets others run while the pool is locked
            time.sleep(pause)
        item = _from_pivot.first(*who, entry) or _from_start.first(*who)
        if item is not None:
            take(item)
            return item
        if not access.open_items(annotator).exists():
            return None
    return None


_one_more_taken = PreparedUpdate(lambda pk: (Item.objects.filter(pk=pk), {"taken": F("taken") + 1}))
_one_less_open = PreparedUpdate(lambda pk: (Group.objects.filter(pk=pk), {"open_slots": F("open_slots") - 1}))


def take(item: Item) -> None:
    _one_more_taken(item.pk)
    if item.group_id is not None:
        _one_less_open(item.group_id)


def free_slots(study: Study, assignments: Iterable[Assignment]) -> None:
    """Give the slots of these closed assignments back."""
    slots = [each for each in assignments if not (each.surplus or each.reopened)]
    if not slots:
        return
    lock_pool(study)
    for assignment in sorted(slots, key=lambda each: each.item_id):
        Item.objects.filter(pk=assignment.item_id).update(taken=F("taken") - 1)
        if study.reserves:
            Group.objects.filter(items=assignment.item_id).update(open_slots=F("open_slots") + 1)


def take_back(assignment: Assignment) -> None:
    """The slot was given up: take it again if it is free, else the answer is surplus. It is surplus too where the
    person has got another item of its problem meanwhile: in `balanced` one of them counts."""
    person = assignment.annotator
    lock_pool(person.study)
    item = Item.objects.select_for_update(no_key=True).get(pk=assignment.item_id)
    seen = person.assignments.filter(Assignment.SEEN).exclude(pk=assignment.pk)
    if seen.filter(item=item).exists():
        raise Conflict(gettext("This one was given to you anew. Please answer on the page that is open now."))
    one_of_each = person.study.policy == Study.Policy.BALANCED and item.group_id is not None
    assignment.surplus = (item.target is not None and item.taken >= item.target) or (
        one_of_each and seen.filter(item__group=item.group_id).exists()
    )
    if not assignment.surplus:
        take(item)
    assignment.state = Assignment.State.HELD
    assignment.save(update_fields=["state", "surplus"])


def next_reserved(annotator: Annotator) -> Assignment | None:
    """The next of the person's reserved items, in an order of their own; reserves their set where they have none."""
    places = access.get_reserved(annotator).values_list("pk", "item__draw")
    reserved = list(places) or [(each.pk, each.item.draw) for each in reserve(annotator)]
    if not reserved:
        return None
    first = order_in_set(annotator.study.seed, annotator.number, [draw for _, draw in reserved])[0]
    return Assignment.objects.select_related("item").get(pk=reserved[first][0])


def reserve(annotator: Annotator) -> list[Assignment]:
    """A person's whole set, taken at once: as much of it as is free."""
    study, protocol = annotator.study, annotator.study.read_protocol()
    lock_pool(study)
    if study.policy == Study.Policy.BLOCKS:
        items = _block(annotator)
    else:
        items = _one_of_each(annotator, (protocol.tasks_per_person or 1) - access.tasks_done(annotator))
    until = timezone.now() + timedelta(hours=protocol.reservation_hours)
    for item in items:
        take(item)
    rows = [
        Assignment(annotator=annotator, item=item, state=Assignment.State.RESERVED, held_until=until)
        for item in items
    ]
    return Assignment.objects.bulk_create(rows, batch_size=500)


def _block(annotator: Annotator) -> list[Item]:
    """What is free of the questionnaire that the person began, else of the emptiest one."""
    rest = list(access.rest_of_block(annotator))
    if rest or access.tasks_done(annotator):
        return rest
    group = _emptiest_group(annotator, set(), 0)
    return [] if group is None else access.open_in_group(annotator, group)


def _one_of_each(annotator: Annotator, count: int) -> list[Item]:
    """An item of each of `count` groups: the groups and in them the items with the most open slots first."""
    items: list[Item] = []
    used: set[int] = set()
    while len(items) < count:
        group = _emptiest_group(annotator, used, len(used))
        if group is None:
            break
        used.add(group.pk)
        open_now = access.open_in_group(annotator, group)
        if open_now:
            seed, number = annotator.study.seed, annotator.number
            place = most_open(
                seed,
                number,
                [(item.target or 0) - item.taken for item in open_now],
                [item.draw for item in open_now],
            )
            items.append(open_now[place])
    return items


def _emptiest_group(annotator: Annotator, used: set[int], turn: int) -> Group | None:
    """`assignment.emptiest`, by index: the most open slots, then the first at or after the pivot, round the end."""
    fullest = access.open_groups(annotator).exclude(pk__in=used).order_by("-open_slots").first()
    if fullest is None:
        return None
    entry = pivot(annotator.study.seed, annotator.number, annotator.handed + 1 + turn)
    groups = access.new_groups(annotator).exclude(pk__in=used)
    level = groups.filter(open_slots=fullest.open_slots).order_by("draw", "pk")
    return level.filter(draw__gte=entry).first() or level.first()
