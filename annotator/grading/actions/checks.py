"""Attention checks come into a person's hands like tasks, on top of them."""

from __future__ import annotations

from annotator.grading import access
from annotator.grading.actions.pool import take
from annotator.grading.assignment import pivot
from annotator.grading.models import Annotator, Assignment, Grade
from annotator.studies import attention
from annotator.studies.draws import keyed_hash
from annotator.studies.models import Item
from annotator.studies.protocols import Protocol

RECENT = 50
"""A copy or a repeat is made of one of the person's latest tasks: what was long ago costs more to find, and less."""
APART = 2
"""Tasks between an original and what repeats it, where the person has done enough."""


def next_check(annotator: Annotator, protocol: Protocol) -> Assignment | None:
    """The check that is due, not yet handed out; None if none is, or none of the kinds is to be had."""
    kinds = protocol.checks.kinds
    if not kinds:
        return None
    seed, number, done = annotator.study.seed, annotator.number, annotator.checks
    if access.tasks_done(annotator) < attention.place(seed, number, done, protocol.checks.every):
        return None
    for kind in attention.kinds_in_turn(seed, number, done, kinds):
        item = (_copy if kind in ("degraded", "repeat") else _known)(annotator, protocol, kind)
        if item is not None:
            take(item)
            return Assignment(annotator=annotator, item=item)
    return None


def _known(annotator: Annotator, protocol: Protocol, kind: str) -> Item | None:
    """An instructed or gold item that the person has not had, at or after the hand-out's pivot, round the end."""
    entry = pivot(annotator.study.seed, annotator.number, annotator.handed + 1)
    items = access.unseen_checks(annotator, kind)
    return items.filter(draw__gte=entry).first() or items.first()


def _copy(annotator: Annotator, protocol: Protocol, kind: str) -> Item | None:
    """A degraded copy or a repeat of a task that the person graded lately; made where there is none yet."""
    first = protocol.scaled[0]
    rows = Grade.objects.filter(
        assignment__annotator=annotator,
        assignment__state=Assignment.State.GRADED,
        assignment__item__check_kind="",
        question=first.key,
    ).select_related("assignment__item__snippet")
    grades = list(rows.order_by("-assignment__sequence")[:RECENT])
    used = set(
        Assignment.objects.filter(annotator=annotator, item__original__isnull=False).values_list(
            "item__original_id", flat=True
        )
    )
    fit = [grade for grade in grades if grade.assignment.item_id not in used]
    if kind == "degraded":
        fit = [grade for grade in fit if grade.value > first.lowest]
    seed, number = annotator.study.seed, annotator.number
    near = {grade.pk for grade in grades[:APART]}
    fit.sort(
        key=lambda grade: (grade.pk in near, keyed_hash(seed, "original", number, grade.assignment.sequence))
    )
    for grade in fit:
        copy = _copy_of(grade.assignment.item, kind, seed)
        if copy is not None:
            return copy
    return None


def _copy_of(original: Item, kind: str, seed: int) -> Item | None:
    """The item's copy of this kind; None where its code is too short to be spoilt."""
    code = ""
    if kind == "degraded":
        code = attention.degrade(original.snippet.code, seed, original.draw)
        if code.strip() in ("", original.snippet.code.strip()):
            return None
    copy, _ = Item.objects.get_or_create(
        snippet=original.snippet,
        kind=original.kind,
        judged_metric=original.judged_metric,
        check_kind=kind,
        defaults={
            "study_id": original.study_id,
            "reference_id": original.reference_id,
            "judged_score": original.judged_score,
            "code": code,
            "original": original,
            "draw": original.draw,
        },
    )
    return copy
