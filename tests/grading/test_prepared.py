"""What is prepared says the same as the query that it is made of."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import DatabaseError
from django.forms.models import model_to_dict

from annotator.grading.models import Assignment, Grade
from annotator.prepared import Prepared, PreparedUpdate, insert, update
from tests.factories import make_annotator, make_study

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 30, 1, 250_000, tzinfo=UTC)


@pytest.fixture
def assignment() -> Assignment:
    study = make_study()
    person = make_annotator(study)
    return Assignment.objects.create(annotator=person, item=study.items.all()[0], sequence=1, handed_at=NOW)


def test_rows_are_those_of_the_query_at_each_use(assignment: Assignment) -> None:
    second = Assignment.objects.create(
        annotator=assignment.annotator, item=assignment.annotator.study.items.all()[1], sequence=2
    )
    by_sequence = Prepared(
        lambda person, sequence: (
            Assignment.objects.select_related("item__snippet")
            .only("sequence", "handed_at", "annotator", "item__snippet__code")
            .filter(annotator_id=person, sequence=sequence)
        )
    )
    for wanted in (assignment, second, assignment):
        (found,) = by_sequence(wanted.annotator_id, wanted.sequence)
        assert found == wanted
        assert not found._state.adding
        assert found.handed_at == wanted.handed_at
        assert found.item.snippet.code == wanted.item.snippet.code
        assert found.get_deferred_fields() == {
            field.attname for field in Assignment._meta.concrete_fields
        } - {"id", "sequence", "handed_at", "annotator_id", "item_id"}
    assert by_sequence(0, 1) == []
    assert by_sequence.first(0, 1) is None


def test_an_optional_relation_that_is_empty_stays_so(assignment: Assignment) -> None:
    with_reference = Prepared(lambda pk: Assignment.objects.select_related("item__reference").filter(pk=pk))
    found = with_reference.first(assignment.pk)
    assert found is not None
    assert found.item.reference is None


def test_prepared_update_changes_what_it_names(assignment: Assignment) -> None:
    further = PreparedUpdate(lambda pk: (Assignment.objects.filter(pk=pk), {"state": "skipped"}))
    other = Assignment.objects.create(
        annotator=assignment.annotator, item=assignment.annotator.study.items.all()[1], sequence=2
    )
    further(assignment.pk)
    assignment.refresh_from_db()
    other.refresh_from_db()
    assert (assignment.state, other.state) == ("skipped", "held")


def test_insert_stores_what_save_stores(assignment: Assignment) -> None:
    told = {"value": 2.5, "label": "Ä \\ '%s'", "seconds": 1.25, "submitted_at": NOW}
    first = Grade(assignment=assignment, question="a", **told)
    first.save()
    second = Grade(assignment=assignment, question="b", **told)
    insert(second)
    stored = [
        model_to_dict(Grade.objects.get(pk=each.pk), exclude=["id", "question"]) for each in (first, second)
    ]
    assert stored[0] == stored[1]
    assert not second._state.adding
    second.value = 3
    second.save()
    assert Grade.objects.get(pk=second.pk).value == 3


def test_update_stores_the_named_fields_only(assignment: Assignment) -> None:
    assignment.state, assignment.closed_at, assignment.handed_at = Assignment.State.GRADED, NOW, None
    update(assignment, "state", "closed_at")
    stored = Assignment.objects.get(pk=assignment.pk)
    assert (stored.state, stored.closed_at, stored.handed_at) == ("graded", NOW, NOW)
    assignment.delete()
    assignment.pk = stored.pk
    with pytest.raises(DatabaseError, match="is gone"):
        update(assignment, "state")
