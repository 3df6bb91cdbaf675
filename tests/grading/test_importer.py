"""Grades from files: annotators, assignments and grades with their history, or a sentence for every bad row."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from annotator.errors import BadInput
from annotator.grading import actions, steps, verify
from annotator.grading.importer import AddedGrades, GradeData, add_grades, read_grade_rows
from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.studies.models import Item, Study
from annotator.studies.tabular import Row
from tests.factories import give_grade, make_annotator, make_study

pytestmark = pytest.mark.django_db
GOOD: dict[str, Any] = {"problem": "0", "system": "a", "annotator": "ann", "grade": "3"}
SECOND = {"key": "fit", "text": "Does it fit?", "options": [{"value": v, "label": f"L{v}"} for v in range(3)]}


@pytest.fixture
def study() -> Study:
    return make_study(state="closed")


def rows_of(*changes: dict[str, Any]) -> list[Row]:
    return [Row(f"g.csv:{line}", GOOD | change) for line, change in enumerate(changes, start=2)]


def read(study: Study, *changes: dict[str, Any]) -> list[GradeData]:
    return read_grade_rows(rows_of(*changes), "g.csv", study.read_protocol())


def add(study: Study, *changes: dict[str, Any]) -> AddedGrades:
    return add_grades(study, read(study, *changes))


def refusal(study: Study, *changes: dict[str, Any]) -> list[str]:
    with pytest.raises(BadInput) as caught:
        add(study, *changes)
    assert not Grade.objects.filter(assignment__annotator__origin="imported").exists()
    assert not Annotator.objects.filter(origin="imported").exists()
    assert verify.drifted(study) == []
    return [str(caught.value), *caught.value.lines]


def stored() -> tuple[list[Any], ...]:
    return tuple(
        list(kind.objects.order_by("pk").values())
        for kind in (Annotator, Assignment, Grade, GradeRevision, Item)
    )


def with_two_questions(study: Study) -> Study:
    study.protocol["questions"].append(SECOND)
    study.save()
    return study


def test_a_grade_with_all_that_a_row_can_say(study: Study) -> None:
    label = study.read_protocol().questions[0].option(3)
    assert label is not None
    change = {
        "seconds": "4.5",
        "submitted_at": "2026-01-31T12:00:00+02:00",
        "label": label.label,
        "question": "helpfulness",
        "sample": "0",
        "simulated": "true",
    }
    assert add(study, change) == AddedGrades(1, 1, 0)
    grade = Grade.objects.get()
    at = datetime(2026, 1, 31, 10, tzinfo=UTC)
    assert (grade.value, grade.label, grade.question) == (3.0, label.label, "helpfulness")
    assert (grade.seconds, grade.submitted_at, grade.complete) == (4.5, at, True)
    assert grade.protocol_version == study.protocol_version
    revision = grade.revisions.get()  # type: ignore[attr-defined]
    assert (revision.value, revision.label, revision.source) == (3.0, label.label, "import")
    assignment = grade.assignment
    assert (assignment.state, assignment.sequence, assignment.surplus) == ("graded", 1, False)
    assert (assignment.handed_at, assignment.closed_at, assignment.held_until) == (at, at, None)
    person = assignment.annotator
    assert (person.pseudonym, person.origin, person.step) == ("ann", "simulated", steps.THANKS)
    assert (person.handed, person.graded, len(person.token) >= 32) == (1, 1, True)
    assert (assignment.item.taken, assignment.item.snippet.system.name) == (1, "a")
    assert verify.drifted(study) == []


def test_the_order_of_the_file_is_the_order_of_the_hand_outs(study: Study) -> None:
    changes = [{"problem": key, "annotator": name} for name in ("z", "b") for key in "201"]
    assert add(study, *changes) == AddedGrades(6, 2, 0)
    names = ("annotator__pseudonym", "annotator__number", "sequence", "item__snippet__problem__key")
    found = list(Assignment.objects.order_by("annotator__number", "sequence").values_list(*names))
    assert found == [
        (name, number, sequence, key)
        for number, name in enumerate(("z", "b"), start=1)
        for sequence, key in enumerate("201", start=1)
    ]
    assert verify.drifted(study) == []


def test_the_same_grades_again_change_nothing_and_new_ones_are_added(study: Study) -> None:
    add(study, {}, {"problem": "1"}, {"system": "Reference"})
    before = stored()
    again: tuple[dict[str, Any], ...] = ({"system": "reference"}, {"problem": "1", "grade": "3.0"}, {})
    assert add(study, *again) == AddedGrades(0, 0, 3)
    assert stored() == before
    assert add(study, *again, {"problem": "2"}, {"annotator": "bob"}) == AddedGrades(2, 1, 3)
    assert Annotator.objects.get(pseudonym="ann").handed == 4
    assert verify.drifted(study) == []


def test_an_annotator_without_all_answers_counts_for_nothing(study: Study) -> None:
    with_two_questions(study)
    add(study, {}, {"question": "fit", "grade": "1"}, {"annotator": "bob"})
    assert set(Grade.objects.values_list("assignment__annotator__pseudonym", "question", "complete")) == {
        ("ann", "helpfulness", True),
        ("ann", "fit", True),
        ("bob", "helpfulness", False),
    }
    assert Item.objects.get(snippet__problem__key="0", snippet__system__name="a").taken == 1
    assert Annotator.objects.get(pseudonym="bob").graded == 0
    assert verify.drifted(study) == []


BAD: list[tuple[dict[str, Any], str]] = [
    ({"problem": ""}, "`problem` is empty."),
    ({"system": " "}, "`system` is empty."),
    ({"annotator": ""}, "`annotator` is empty."),
    ({"grade": ""}, "`grade` is empty."),
    ({"annotator": {"a": 1}}, "`annotator` must be a text."),
    ({"annotator": "x" * 101}, "`annotator` is longer than 100 characters."),
    ({"grade": True}, "`grade` must be a text."),
    ({"grade": [3]}, "`grade` must be a text."),
    ({"grade": "good"}, "`grade` must be a number, not 'good'."),
    ({"grade": "nan"}, "`grade` must be a number, not 'nan'."),
    ({"grade": 1e999}, "`grade` must be a number, not 'inf'."),
    ({"grade": 10**4000}, "`grade` must be a number"),
    ({"grade": "9" * 100_000}, "`grade` must be a number"),
    ({"grade": "5"}, "5 is not on the scale 0, 1, 2, 3, 4."),
    ({"grade": "-1"}, "-1 is not on the scale"),
    ({"grade": "2.5"}, "2.5 is not on the scale"),
    ({"grade": "1e300"}, "1e+300 is not on the scale"),
    ({"label": "no such label"}, "'no such label' is not the label of 3"),
    ({"label": {"a": 1}}, "`label` must be a text."),
    ({"problem": "99"}, "there is no snippet of 'a' for problem '99' to grade."),
    ({"problem": "00"}, "there is no snippet of 'a' for problem '00' to grade."),
    ({"system": "A"}, "there is no snippet of 'A' for problem '0' to grade."),
    ({"sample": 3}, "there is no snippet of 'a' for problem '0', sample 3 to grade."),
    ({"sample": "x"}, "`sample` must be a whole number"),
    ({"sample": "9" * 5000}, "`sample` must be a whole number"),
    ({"question": "beauty"}, "there is no question 'beauty'. Known: helpfulness."),
    ({"seconds": "-1"}, "`seconds` must not be below 0, as -1 is."),
    ({"seconds": "inf"}, "`seconds` must be a number, not 'inf'."),
    ({"submitted_at": "yesterday"}, "`submitted_at` must be like 2026-01-31T12:00:00Z, not 'yesterday'."),
    ({"submitted_at": "2026-13-01T00:00:00"}, "`submitted_at` must be like"),
    ({"submitted_at": "0001-01-01T00:00:00+14:00"}, "`submitted_at` must be like"),
    ({"submitted_at": 5}, "`submitted_at` must be like"),
    ({"simulated": "maybe"}, "`simulated` must be true or false, not 'maybe'."),
    ({"simulated": 2}, "`simulated` must be true or false"),
    ({"surplus": "maybe"}, "`surplus` must be true or false, not 'maybe'."),
    ({"excluded": 2}, "`excluded` must be true or false"),
    ({"complete": "x", "surplus": "true"}, "`complete` must be true or false"),
    ({"check": ["a"]}, "`check` must be a text."),
]


@pytest.mark.parametrize(("change", "sentence"), BAD)
def test_rubbish_gets_a_sentence(study: Study, change: dict[str, Any], sentence: str) -> None:
    told = refusal(study, {"problem": "1"}, change, {"problem": "2"})
    assert told[1].startswith(f"g.csv:3: {sentence}"), told
    assert len(told) == 2
    assert max(map(len, told)) < 400


@pytest.mark.parametrize(
    "mark",
    [
        *({"surplus": flag} for flag in ("true", True, "1")),
        {"excluded": "TRUE"},
        *({"complete": flag} for flag in ("false", False, "0")),
        {"check": "attention"},
        {"kind": "check"},
    ],
)
def test_rows_that_are_marked_as_outside_the_counts_stay_outside(study: Study, mark: dict[str, Any]) -> None:
    plain = {"surplus": "false", "excluded": False, "complete": "true", "check": "", "kind": "snippet"}
    assert add(study, plain, {"annotator": "bob", "grade": "0"} | plain | mark) == AddedGrades(1, 1, 0)
    assert list(Grade.objects.values_list("assignment__annotator__pseudonym", "value")) == [("ann", 3.0)]
    assert verify.drifted(study) == []


def test_all_bad_rows_are_told_together(study: Study) -> None:
    told = refusal(study, {"grade": "x"}, {}, {"seconds": "x"})
    assert told[0] == "g.csv has 2 bad lines. Nothing was imported."
    told = refusal(study, {"grade": "9"}, {}, {"system": "x"})
    assert told[0] == "2 grades cannot be stored. Nothing was imported."
    assert [line.split()[0] for line in told[1:]] == ["g.csv:2:", "g.csv:4:"]


def test_missing_columns_are_named(study: Study) -> None:
    with pytest.raises(BadInput, match=r"g\.csv has no column system, grade\. It has 'problem', 'ann"):
        read_grade_rows([Row("g.csv:2", {"problem": "1", "annotator": "a"})], "g.csv", study.read_protocol())


@pytest.mark.parametrize("grade", ["3", "4"])
def test_two_grades_of_one_annotator_for_one_snippet_are_refused(study: Study, grade: str) -> None:
    told = refusal(study, {}, {"grade": grade})
    assert told[1:] == ["g.csv:3: ann graded this snippet at g.csv:2 already."]


def test_another_value_than_is_stored_is_refused(study: Study) -> None:
    add(study, {})
    before = stored()
    with pytest.raises(BadInput) as caught:
        add(study, {"grade": "2"}, {"problem": "1"})
    assert caught.value.lines == ["g.csv:2: ann gave this snippet 3 before, now 2."]
    assert stored() == before


def test_answers_cannot_be_added_to_a_graded_snippet(study: Study) -> None:
    with_two_questions(study)
    add(study, {})
    with pytest.raises(BadInput) as caught:
        add(study, {"question": "fit", "grade": "1"})
    assert caught.value.lines == ["g.csv:2: ann graded this snippet before, by other questions."]


def test_a_target_is_never_exceeded() -> None:
    study = make_study(target=2, state="closed")
    item = study.items.get(snippet__problem__key="0", snippet__system__name="a")
    give_grade(make_annotator(study), item, 1)
    told = refusal(study, {}, {"annotator": "bob"}, {"problem": "1"})
    assert told[1:] == ["g.csv:3: with this file the snippet has 3 grades, but the target is 2."]
    assert add(study, {}) == AddedGrades(1, 1, 0)
    item.refresh_from_db()
    assert item.taken == 2
    assert verify.drifted(study) == []


def test_people_who_joined_are_left_alone(study: Study) -> None:
    person = make_annotator(study, name="ann")
    give_grade(person, study.items.order_by("pk")[0], 2)
    told = refusal(study, {})
    assert told[1:] == ["g.csv:2: 'ann' joined this study by link: rename the annotator in the file."]
    before = Annotator.objects.filter(pk=person.pk).values().get()
    add(study, {"annotator": "bob"})
    assert Annotator.objects.filter(pk=person.pk).values().get() == before
    assert Annotator.objects.get(pseudonym="bob").number == person.number + 1
    assert verify.drifted(study) == []


def test_somebody_who_joins_after_an_import_is_somebody_new(study: Study) -> None:
    add(study, {})
    Study.objects.update(state="open")
    study.refresh_from_db()
    person = actions.join(study, secrets.token_hex(8))
    assert person.number == 2
    assert person.pseudonym != "ann"


def test_the_link_of_an_imported_annotator_changes_nothing(study: Study, client: Client) -> None:
    add(study, {})
    before = stored()
    for state in Study.State.values:
        Study.objects.update(state=state)
        response = client.get(f"/a/{Annotator.objects.get().token}/")
        assert response.status_code in (200, 404)
        assert b"<form" not in response.content or state == "open"
        assert stored() == before
