"""60 problems x 5 systems x 2 grades and 50 people of 12: every pair is graded twice, with each of 300 seeds.

One after another, 16 and 50 at a time; with 15 % of the people leaving and ten who come on top. By the pure functions,
by reservations in the database, and act by act in the database.
"""

from __future__ import annotations

import pytest
from django.db.models import F

from annotator.grading import actions
from annotator.grading.models import Annotator, Assignment
from annotator.grading.verify import drifted
from annotator.studies.draws import item_draw, keyed_hash
from annotator.studies.models import Group, Item, Study
from tests.grading.test_balanced import (
    CROWDS,
    EXTRA,
    LEAVING,
    PEOPLE,
    TASKS,
    make_balanced,
    work_in_office,
    work_on_paper,
)

SEEDS = range(300)
SEEDS_IN_THE_DATABASE = range(40)
"""The database picks what the pure functions pick: fewer seeds show that."""


@pytest.mark.parametrize("people", [{}, {"leaving": LEAVING, "extra": EXTRA}], ids=["all stay", "some leave"])
@pytest.mark.parametrize("crowd", CROWDS)
def test_every_seed_on_paper(crowd: int, people: dict[str, int]) -> None:
    work_on_paper(SEEDS, crowd, **people)


@pytest.mark.django_db
@pytest.mark.parametrize("people", [{}, {"leaving": LEAVING, "extra": EXTRA}], ids=["all stay", "some leave"])
@pytest.mark.parametrize("crowd", CROWDS)
def test_act_by_act(crowd: int, people: dict[str, int]) -> None:
    work_in_office(crowd, crowd, **people)


@pytest.mark.django_db
def test_fifty_sets_fill_every_slot() -> None:
    """The sets alone, reserved in the database: no slot is left, none is taken twice."""
    study = make_balanced()
    people = [
        Annotator.objects.create(
            study=study, number=number, pseudonym=f"p{number}", token=f"{number}", step="tasks"
        )
        for number in range(1, PEOPLE + 1)
    ]
    for seed in SEEDS_IN_THE_DATABASE:
        start_anew(study, seed)
        for person in people:
            assert actions.hand_out(Annotator.objects.select_related("study").get(pk=person.pk)) is not None
        assert not study.items.exclude(taken=F("target")).exists()
        rows = list(Assignment.objects.values_list("annotator", "item__snippet__problem", "item"))
        assert len(rows) == PEOPLE * TASKS
        assert len({(person, problem) for person, problem, _ in rows}) == PEOPLE * TASKS
        assert drifted(study) == []


def start_anew(study: Study, seed: int) -> None:
    """The study as if it had been made with this seed, and nobody had come yet."""
    Assignment.objects.all().delete()
    Annotator.objects.update(handed=0)
    Study.objects.update(seed=seed)
    items = list(study.items.select_related("snippet__problem"))
    for item in items:
        item.draw = item_draw(seed, item.snippet.problem.key, (item.snippet.code,), 0)
        item.taken = 0
    Item.objects.bulk_update(items, ["draw", "taken"], batch_size=200)
    groups = {item.group_id: item.snippet.problem.key for item in items}
    rows = list(study.groups.all())
    for group in rows:
        group.draw = keyed_hash(seed, "group", groups[group.pk])
        group.open_slots = 10
    Group.objects.bulk_update(rows, ["draw", "open_slots"])
