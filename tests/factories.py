"""Small studies for tests, made through the plain models."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import F

from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.studies.draws import item_draw
from annotator.studies.models import Item, Problem, Snippet, Study, System
from annotator.studies.protocol_reader import load_protocol

LONG_AGO = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def short_protocol(**changes: Any) -> dict[str, Any]:
    """The helpfulness protocol without its background question, so that tests begin at what they test."""
    return {
        key: value for key, value in load_protocol("helpfulness").items() if key != "background"
    } | changes


def make_study(
    slug: str = "study",
    *,
    problems: int = 3,
    systems: Sequence[str] = ("a", "b"),
    references: int = 1,
    target: int | None = None,
    state: str = "open",
    seed: int = 7,
    **fields: Any,
) -> Study:
    """A helpfulness study; each system has a snippet a problem, and `references` reference snippets stand by.

    Every snippet is an item; no two have the same code. What an annotator sees tells nothing of its origin.
    """
    study = Study.objects.create(
        slug=slug,
        title=fields.pop("title", "Small snippets"),
        protocol_name="helpfulness",
        protocol=fields.pop("protocol", None) or short_protocol(),
        target=target,
        state=state,
        seed=seed,
        **fields,
    )
    writers = [
        (System.objects.create(study=study, name=name), [f"pick({number}, x)"])
        for number, name in enumerate(systems)
    ]
    if references:
        human = System.objects.create(study=study, name="reference", kind=System.Kind.REFERENCE)
        writers.append((human, [f"take({number})" for number in range(references)]))
    for number in range(problems):
        problem = Problem.objects.create(
            study=study, key=str(number), intent=f"Pick the value of `item_{number:03}`."
        )
        for system, calls in writers:
            for sample, call in enumerate(calls):
                add_snippet(problem, system, f"y = item_{number:03}.{call}", sample=sample)
    study.item_count = study.items.count()
    study.save(update_fields=["item_count"])
    return study


def add_snippet(problem: Problem, system: System, code: str, *, sample: int = 0) -> Item:
    """A snippet and its item, with the draw that an import would give it."""
    study = problem.study
    same = Snippet.objects.filter(problem=problem, code=code).count()
    snippet = Snippet.objects.create(problem=problem, system=system, code=code, sample=sample)
    return Item.objects.create(
        study=study,
        snippet=snippet,
        draw=item_draw(study.seed, problem.key, (code,), same),
        target=study.target,
    )


def make_annotator(study: Study, *, origin: str = "joined", name: str = "") -> Annotator:
    number = study.annotators.count() + 1
    return Annotator.objects.create(
        study=study,
        number=number,
        pseudonym=name or f"person-{number}",
        token=secrets.token_urlsafe(24),
        origin=origin,
        step="tasks",
    )


def give_grade(annotator: Annotator, item: Item, value: float, **fields: Any) -> Grade:
    """A complete, counted grade with its history, as `actions.submit` leaves one."""
    surplus = fields.pop("surplus", False)
    annotator.handed += 1
    annotator.graded += 1
    annotator.save()
    at = LONG_AGO + timedelta(minutes=annotator.handed)
    assignment = Assignment.objects.create(
        annotator=annotator,
        item=item,
        sequence=annotator.handed,
        state=Assignment.State.GRADED,
        surplus=surplus,
        handed_at=at,
        closed_at=at + timedelta(seconds=12),
    )
    if not surplus:
        Item.objects.filter(pk=item.pk).update(taken=F("taken") + 1)
    known = {
        "question": "helpfulness",
        "seconds": 12.5,
        "submitted_at": assignment.closed_at,
        "complete": True,
    }
    grade = Grade.objects.create(assignment=assignment, value=value, **(known | fields))
    GradeRevision.objects.create(grade=grade, value=grade.value, label=grade.label)
    return grade


def give_grades(study: Study, *, annotators: int = 3, origin: str = "joined", seed: int = 0) -> None:
    """Each of some new annotators grades every item, the later systems being the better ones."""
    rng = random.Random(seed)
    better = {pk: rank for rank, pk in enumerate(study.systems.order_by("pk").values_list("pk", flat=True))}
    items = list(study.items.select_related("snippet").order_by("draw"))
    for _ in range(annotators):
        annotator = make_annotator(study, origin=origin)
        for item in items:
            value = better[item.snippet.system_id] + rng.choice((0, 0, 1, 2))
            give_grade(annotator, item, min(value, 4))


def make_researcher(name: str = "researcher", **fields: Any) -> User:
    return User.objects.create_user(name, password="a long password", is_staff=True, **fields)
