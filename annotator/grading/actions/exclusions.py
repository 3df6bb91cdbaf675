"""What an exclusion does to slots, where the researcher chose that: the grades themselves never change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.grading.actions import pool
from annotator.grading.models import Annotator, Assignment, Exclusion
from annotator.studies.models import Item, Study


def exclude(
    study: Study,
    rule: str,
    version: int,
    parameters: dict[str, Any],
    reasons: Mapping[str, str],
    *,
    reopen: bool = False,
) -> Exclusion:
    """Leave the grades of these annotators (pseudonym -> why) out of every analysis from now on. The grades stay.

    With `reopen` their slots go to others.
    """
    with transaction.atomic():
        people = list(study.annotators.filter(pseudonym__in=reasons).order_by("pk"))
        exclusion = Exclusion.objects.create(
            study=study,
            rule=rule,
            version=version,
            parameters=parameters,
            reasons=dict(reasons),
            reopened=reopen,
        )
        exclusion.annotators.set(people)
        if reopen:
            reopen_slots(study, people)
    return exclusion


def undo_exclusion(exclusion: Exclusion) -> int:
    """Let the grades count again, but for those of people whom another exclusion leaves out still.

    Returns how many became surplus because their slots went to others. Undone twice is undone once.
    """
    with transaction.atomic():
        exclusion = Exclusion.objects.select_for_update(no_key=True).get(pk=exclusion.pk)
        if exclusion.undone_at is not None:
            return 0
        exclusion.undone_at = timezone.now()
        exclusion.save(update_fields=["undone_at"])
        still = Exclusion.objects.filter(study=exclusion.study_id, undone_at=None, reopened=True)
        back = exclusion.annotators.exclude(pk__in=still.values("annotators"))
        return reinstate(exclusion.study, back) if exclusion.reopened else 0


def reopen_slots(study: Study, annotators: Iterable[Annotator]) -> int:
    """Give the slots of these people's counted grades to others; how many."""
    with transaction.atomic():
        counted = Assignment.objects.select_for_update(no_key=True, of=("self",)).filter(
            annotator__in=list(annotators), state=Assignment.State.GRADED, surplus=False, reopened=False,
            item__check_kind="", item__study=study,
        )  # fmt: skip
        rows = list(counted.order_by("pk"))
        pool.free_slots(study, rows)
        for row in rows:
            row.reopened = True
        Assignment.objects.bulk_update(rows, ["reopened"], batch_size=500)
    return len(rows)


def reinstate(study: Study, annotators: Iterable[Annotator]) -> int:
    """Take the slots again; a grade whose slot went to somebody else meanwhile becomes surplus. How many did."""
    surplus = 0
    with transaction.atomic():
        reopened = Assignment.objects.select_for_update(no_key=True, of=("self",)).filter(
            annotator__in=list(annotators), reopened=True, item__study=study
        )
        rows = list(reopened.order_by("item_id"))
        pool.lock_pool(study)
        for row in rows:
            item = Item.objects.select_for_update(no_key=True).get(pk=row.item_id)
            row.reopened = False
            if item.target is None or item.taken < item.target:
                pool.take(item)
            else:
                row.surplus = True
                surplus += 1
        Assignment.objects.bulk_update(rows, ["reopened", "surplus"], batch_size=500)
    return surplus
