"""Answers as a browser sends them, and what is stored of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from annotator.grading.models import Assignment, Grade
from annotator.grading.verify import drifted
from annotator.studies.models import Item, Study
from tests.grading.surveys import BESIDE, EFFORT, QUALITY, REMARK, protocol_text
from tests.grading.walker import Page, Walker

ONE = protocol_text(QUALITY, policy="open", target=1)
TWO_PAGES = protocol_text(QUALITY, EFFORT, policy="open", target=1)
ONE_PAGE = protocol_text(QUALITY, BESIDE, REMARK, policy="open", target=1)
DAY = timedelta(days=1)


def form_of(page: Page, **values: str) -> dict[str, str]:
    """The page's form as a browser sends it, with `value-KEY` fields."""
    return (
        page.grade_form.hidden()
        | {"action": "grade"}
        | {f"value-{key}": value for key, value in values.items()}
    )


def post(walker: Walker, form: dict[str, str], link: str = "") -> Any:
    return walker.client.post(link or walker.link, form)


def text_of(response: Any) -> str:
    return Page(response.content).text


def stored() -> list[tuple[str, float, bool]]:
    return list(Grade.objects.order_by("pk").values_list("question", "value", "complete"))


def nothing_drifted() -> None:
    for study in Study.objects.all():
        assert drifted(study) == []


def days_pass(count: int = 1) -> None:
    """Everything that is stored happened so many days earlier."""
    for row in Assignment.objects.all():
        for name in ("handed_at", "held_until", "closed_at"):
            moment = getattr(row, name)
            setattr(row, name, moment and moment - count * DAY)
        row.save()
    for grade in Grade.objects.all():
        Grade.objects.filter(pk=grade.pk).update(
            submitted_at=grade.submitted_at and grade.submitted_at - count * DAY
        )


def somebody_takes(study: Study, item: Item) -> Walker:
    """Somebody else who holds the item, since nothing else is free."""
    others = Item.objects.filter(study=study).exclude(pk=item.pk)
    targets = list(others.values_list("pk", "target"))
    others.update(target=0)
    other = Walker()
    other.to_tasks(study.slug)
    assert Assignment.objects.get(annotator__number=2, state="held").item_id == item.pk
    for pk, target in targets:
        Item.objects.filter(pk=pk).update(target=target)
    return other
