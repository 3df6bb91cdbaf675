"""Studies of 2,800 and of a million items in one database, and pools that are as full as asked. Needs Django set up.

The small study is imported and opened as any other; the large one is copied from it in SQL, row by row, with fresh
draws: the same texts 358 times.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.management.color import no_style
from django.db import connection, models
from django.utils import timezone

from annotator.grading.models import Annotator, Assignment, Grade
from annotator.studies.models import Item, Problem, Snippet, Study, System
from benchmarks._survey.scale import LAST_OPEN

COPIES = int(os.environ.get("SURVEY_COPIES") or 358)
"""358 x 2,800 = 1,002,400 items."""
ITEMS_A_CROWD_MEMBER = 1000
QUESTION = "helpfulness"


def sql(text: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(text)
        return list(cursor.fetchall()) if cursor.description else []


def random_draw() -> str:
    """SQL of a number in [0, 2**63)."""
    if connection.vendor == "sqlite":
        return "abs(random() % 9223372036854775807)"
    return "(random() * 9.2e18)::bigint"


def literal(field: models.Field[Any, Any]) -> str:
    """SQL of what a new row has where nothing else is said."""
    value = None if field.null else (field.get_default() if field.has_default() else "")
    if isinstance(value, bool):
        return ("true" if value else "false") if connection.vendor == "postgresql" else str(int(value))
    return "NULL" if value is None else str(value) if isinstance(value, int | float) else f"'{value}'"


def insert(model: type[models.Model], source: str, given: dict[str, str], *, copied: bool = False) -> None:
    """INSERT INTO the model SELECT ... `source`. A column that is not `given` is copied from `o`, or its default."""
    fields = {str(field.column): field for field in model._meta.concrete_fields}
    if "id" not in given:
        del fields["id"]
    values = [
        given.get(name) or (f'o."{name}"' if copied else literal(field)) for name, field in fields.items()
    ]
    columns = ", ".join(f'"{name}"' for name in fields)
    series = f"WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < {COPIES - 1})"
    head = series if copied else ""
    sql(f'{head} INSERT INTO "{model._meta.db_table}" ({columns}) SELECT {", ".join(values)} {source}')


@dataclass(frozen=True)
class Copies:
    """Rows of a model in the small study, and where their copies begin."""

    first: int
    count: int
    base: int

    @classmethod
    def of(cls, model: type[models.Model], ids: Sequence[int]) -> Copies:
        if not ids:
            return cls(0, 0, 0)
        if max(ids) - min(ids) + 1 != len(ids):
            raise ValueError(f"The ids of {model.__name__} are not in a row.")
        return cls(min(ids), len(ids), highest(model) + 1)

    def copy(self, column: str) -> str:
        """SQL of the id of the n-th copy of the row that `column` names."""
        return f"{self.base} + s.n * {self.count} + ({column} - {self.first})"


def highest(model: type[models.Model]) -> int:
    return int(model._default_manager.aggregate(last=models.Max("pk"))["last"] or 0)


def group_model() -> type[models.Model] | None:
    """The model of groups of items, where the code knows them."""
    field = next((field for field in Item._meta.concrete_fields if field.name == "group"), None)
    return None if field is None else field.related_model  # type: ignore[return-value]


def enlarge(small: Study) -> Study:
    """A study with each problem, snippet, group and item of the small one 358 times, open. Takes some 20 s."""
    large = Study.objects.get(pk=small.pk)
    large.pk, large.slug = None, small.slug.replace("small", "large")
    large._state.adding = True
    large.item_count = small.item_count * COPIES
    large.save()
    systems = Copies.of(System, list(small.systems.order_by("pk").values_list("pk", flat=True)))
    for system in small.systems.order_by("pk"):
        System.objects.create(
            pk=systems.base + system.pk - systems.first, study=large, name=system.name, kind=system.kind
        )
    problems = Copies.of(Problem, list(small.problems.order_by("pk").values_list("pk", flat=True)))
    own = Snippet.objects.filter(problem__study=small).order_by("pk")
    snippets = Copies.of(Snippet, list(own.values_list("pk", flat=True)))
    items = Copies.of(Item, list(small.items.order_by("pk").values_list("pk", flat=True)))
    study, of_small = {"study_id": str(large.pk)}, f"o, s WHERE o.study_id = {small.pk}"
    given = {"id": problems.copy("o.id"), "key": "o.key || '-' || s.n"} | study
    insert(Problem, f"FROM studies_problem {of_small}", given, copied=True)
    given = {
        "id": snippets.copy("o.id"),
        "problem_id": problems.copy("o.problem_id"),
        "system_id": f"{systems.base} + o.system_id - {systems.first}",
    }
    between = f"o.id BETWEEN {snippets.first} AND {snippets.first + snippets.count - 1}"
    insert(Snippet, f"FROM studies_snippet o, s WHERE {between}", given, copied=True)
    given = {
        "id": items.copy("o.id"),
        "snippet_id": snippets.copy("o.snippet_id"),
        "draw": random_draw(),
    } | study
    if group := group_model():
        ids = group._default_manager.filter(study=small).order_by("pk").values_list("pk", flat=True)
        groups = Copies.of(group, list(ids))
        fresh = {"id": groups.copy("o.id"), "draw": random_draw()} | study
        insert(group, f"FROM {group._meta.db_table} {of_small}", fresh, copied=True)
        reset_sequence(group)
        given["group_id"] = groups.copy("o.group_id") if ids else "NULL"
    insert(Item, f"FROM studies_item {of_small}", given, copied=True)
    for copied in (Problem, Snippet, Item):
        reset_sequence(copied)
    return large


def reset_sequence(model: type[models.Model]) -> None:
    for statement in connection.ops.sequence_reset_sql(no_style(), [model]):
        sql(statement)


def add_annotators(study: Study, count: int, name: str, origin: str) -> int:
    """`count` people with the token NAME-STUDY-NUMBER; the id of the first."""
    first = highest(Annotator) + 1
    number = study.annotators.count()
    people = [
        Annotator(
            pk=first + place,
            study=study,
            number=number + place + 1,
            pseudonym=f"{name}-{place}",
            token=f"{name}-{study.slug}-{place}",
            origin=origin,
            step="tasks",
        )
        for place in range(count)
    ]
    Annotator.objects.bulk_create(people, batch_size=500)
    reset_sequence(Annotator)
    return first


def add_graded(items: str, annotator: str, sequence: str) -> None:
    """A graded assignment with its grade for each item `o` that the SQL condition `items` names."""
    now = timezone.now().isoformat(sep=" ")
    first = highest(Assignment) + 1
    moment = f"'{now}'::timestamptz" if connection.vendor == "postgresql" else f"'{now}'"
    moments = dict.fromkeys(("handed_at", "closed_at"), moment)
    given = {"annotator_id": annotator, "item_id": "o.id", "sequence": sequence, "state": "'graded'"}
    insert(Assignment, f"FROM studies_item o WHERE {items}", given | moments)
    answer = {"assignment_id": "o.id", "question": f"'{QUESTION}'", "value": "3", "label": "'Helpful'"}
    answer |= {"complete": "true" if connection.vendor == "postgresql" else "1", "submitted_at": moment}
    answer |= {"seconds": "9"}
    insert(Grade, f"FROM grading_assignment o WHERE o.id >= {first}", answer)


class Pool:
    """A study, how full it is, and its crowd, to whom the full items' grades belong."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.crowd_size = max(study.item_count // ITEMS_A_CROWD_MEMBER, 3)
        self.crowd = add_annotators(study, self.crowd_size, "crowd", Annotator.Origin.SIMULATED)
        # A fixed order that has nothing to do with draws, problems or systems.
        self.place = "((o.id * 7919) % 1000003)"
        self.full_to = -1

    def last_full(self, part: float) -> int:
        """The last place that is full when that part of the items is; three of 2,800 stay open at the least."""
        open_ones = max(round(self.study.item_count * (1 - part)), LAST_OPEN)
        order = f"SELECT {self.place} FROM studies_item o WHERE o.study_id = {self.study.pk} ORDER BY 1 DESC"
        return int(sql(f"{order} LIMIT 1 OFFSET {open_ones - 1}")[0][0]) - 1

    def fill(self, part: float) -> None:
        """Grades of the crowd until that part of the items is full; never takes any back."""
        last = self.last_full(part)
        chosen = f"o.study_id = {self.study.pk} AND {self.place} > {self.full_to} AND {self.place} <= {last}"
        if part > 0 and last > self.full_to:
            add_graded(chosen, f"{self.crowd} + o.id % {self.crowd_size}", f"o.id / {self.crowd_size} + 1")
            sql(f"UPDATE studies_item AS o SET taken = taken + 1 WHERE {chosen}")
            self.full_to = last
        self.recount_groups()
        if connection.vendor == "postgresql":
            sql("ANALYZE")

    def recount_groups(self, only: str = "") -> None:
        if group := group_model():
            count = "SELECT COALESCE(SUM(i.target - i.taken), 0) FROM studies_item i WHERE i.group_id = g.id"
            own = f"WHERE study_id = {self.study.pk} {only}"
            sql(f'UPDATE "{group._meta.db_table}" AS g SET open_slots = ({count}) {own}')

    def person(self, name: str, done: str = "") -> Annotator:
        """Somebody at the tasks, who graded the items `o` of the SQL condition `done`.

        Those items take one grade more than others, and this is it: they stay as open as they were.
        """
        person = add_annotators(self.study, 1, name, Annotator.Origin.JOINED)
        if done:
            condition = f"o.study_id = {self.study.pk} AND {done}"
            first = sql(f"SELECT COALESCE(MIN(o.id), 0) FROM studies_item o WHERE {condition}")[0][0]
            add_graded(condition, str(person), f"o.id - {first} + 1")
            sql(f"UPDATE studies_item AS o SET taken = taken + 1, target = target + 1 WHERE {condition}")
        rows = Assignment.objects.filter(annotator_id=person)
        last = rows.aggregate(last=models.Max("sequence"))["last"] or 0
        Annotator.objects.filter(pk=person).update(graded=rows.count(), handed=last)
        self.recount_groups()
        return Annotator.objects.get(pk=person)

    def nearly_done(self, name: str) -> Annotator:
        """Somebody who graded every item that is open, but for the last three: all that is open to others."""
        free = f"o.study_id = {self.study.pk} AND o.taken < o.target"
        return self.person(name, f"o.taken < o.target AND o.id < (SELECT MIN(id) FROM (SELECT o.id AS id FROM "
                           f"studies_item o WHERE {free} ORDER BY o.id DESC LIMIT {LAST_OPEN}) AS kept)")  # fmt: skip


class Blocks:
    """A questionnaire of the study's first `size` items: full, but for one slot in each of the last `free`.

    `switch` deals it, or gives the items back to the groups that they were in.
    """

    def __init__(self, pool: Pool, size: int, free: int) -> None:
        group = group_model()
        assert group is not None
        self.pool, self.on = pool, False
        own = pool.study.items.order_by("pk")[:size]
        self.before = list(own.values_list("pk", "group_id", "target"))
        first, last = self.before[0][0], self.before[-1][0]
        self.full = f"id BETWEEN {first} AND {last - free}"
        self.free = f"id BETWEEN {last - free + 1} AND {last}"
        self.group = group._default_manager.create(study=pool.study, draw=0)

    def switch(self, on: bool) -> None:
        if on == self.on:
            return
        self.on = on
        if on:
            for within, target in ((self.full, "taken"), (self.free, "taken + 1")):
                sql(f"UPDATE studies_item SET group_id = {self.group.pk}, target = {target} WHERE {within}")
        else:
            rows = [Item(pk=pk, group_id=group, target=target) for pk, group, target in self.before]
            Item.objects.bulk_update(rows, ["group", "target"], batch_size=200)
        self.pool.recount_groups()
