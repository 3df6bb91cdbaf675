"""How PostgreSQL looks for what is left for a person, while its statistics say that the tables are empty."""

from __future__ import annotations

import pytest
from django.db import connection

from annotator.grading import access
from annotator.studies.models import Study
from tests.factories import make_annotator, make_study

TABLES = ["studies_item", "studies_group", "grading_assignment", "grading_annotator"]


@pytest.mark.django_db
@pytest.mark.parametrize("policy", [Study.Policy.OPEN, Study.Policy.BALANCED])
def test_what_the_person_had_is_looked_up_row_by_row(policy: Study.Policy) -> None:
    """Joined, all of it is gone through for each item: minutes, where the tables have filled since."""
    if connection.vendor == "sqlite":
        pytest.skip("SQLite looks up row by row")
    person = make_annotator(make_study())
    person.study.policy = policy
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pg_class SET reltuples = 0, relpages = 24 WHERE relname = ANY(%s)", [TABLES])
    queries = [access.held_by_others(person), access.open_items(person), access.open_groups(person)]
    for query in [*queries, access.unseen_checks(person, "gold")]:
        plan = query.explain()
        assert "SubPlan" in plan
        assert "Anti Join" not in plan
