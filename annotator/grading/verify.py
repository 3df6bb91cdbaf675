"""Recounts every kept number of a study from its rows."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from annotator.grading.models import Assignment, Grade
from annotator.studies.items import count_tasks
from annotator.studies.models import Item, Study

COUNTED = ("reserved", "held", "graded")
"""States in which an assignment takes a slot, unless it is surplus or its slot was reopened."""


def drifted(study: Study) -> list[str]:
    """One sentence for each kept number that differs from its rows."""
    return [*_items(study), *_groups(study), *_people(study), *_grades(study)]


def _items(study: Study) -> Iterator[str]:
    live = Q(assignments__state__in=COUNTED, assignments__surplus=False, assignments__reopened=False)
    counted = study.items.annotate(live=Count("assignments", filter=live)).exclude(taken=F("live"))
    for item in counted.iterator():
        yield f"Item {item.pk}: taken is {item.taken}, counted {item.live}."
    tasks = count_tasks(study)
    if study.item_count != tasks:
        yield f"Study: item_count is {study.item_count}, counted {tasks}."


def _groups(study: Study) -> Iterator[str]:
    items = Item.objects.filter(group=OuterRef("pk")).values("group")
    slots = items.annotate(left=Sum(F("target") - F("taken"))).values("left")
    groups = study.groups.annotate(left=Coalesce(Subquery(slots), 0)).exclude(open_slots=F("left"))
    for group in groups.iterator():
        yield f"Group {group.pk}: open_slots is {group.open_slots}, counted {group.left}."


def _people(study: Study) -> Iterator[str]:
    graded, skipped = Assignment.State.GRADED, Assignment.State.SKIPPED
    counts = {
        "graded": Q(assignments__state=graded),
        "skipped": Q(assignments__state=skipped),
        "checks": Q(assignments__state__in=(graded, skipped)) & ~Q(assignments__item__check_kind=""),
        "failed_checks": Q(assignments__state=graded, assignments__passed=False),
    }
    for kept, rows in counts.items():
        people = study.annotators.annotate(rows=Count("assignments", filter=rows))
        for person in people.exclude(**{kept: F("rows")}).iterator():
            yield f"Annotator {person.number}: {kept} is {getattr(person, kept)}, counted {person.rows}."


def _grades(study: Study) -> Iterator[str]:
    grades = Grade.objects.filter(assignment__annotator__study=study)
    bare = grades.filter(revisions__isnull=True).count()
    if bare:
        yield f"{bare} grades have no history."
