"""What an exclusion does to slots, where the researcher chose that: the grades themselves never change."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from annotator.grading.actions import pool
from annotator.grading.models import Annotator, Assignment
from annotator.studies.models import Item, Study


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
