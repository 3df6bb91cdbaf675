"""Answers off the scale, half given or with absurd times: see test_submissions."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotator.grading.models import Annotator, Assignment, Grade
from tests.grading.answers_of import (
    DAY,
    ONE,
    ONE_PAGE,
    form_of,
    nothing_drifted,
    post,
    stored,
)
from tests.grading.surveys import make_survey, rows_of
from tests.grading.walker import Page, Walker

OFF_SCALE = [
    "-1",
    "5",
    "2.5",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e-400x",
    "",
    " ",
    "two",
    "2" * 5000,
    "٣x",
    "\0",
]


@pytest.mark.django_db
@pytest.mark.parametrize("value", OFF_SCALE)
def test_a_value_off_the_scale(walker: Walker, value: str) -> None:
    page = walker.to_tasks(make_survey(ONE_PAGE, rows_of(2)).slug)
    form = form_of(page, quality=value, effort="50") | {"comment-remark": "Well <b>."}
    answer = post(walker, form)
    again = Page(answer.content)
    assert (answer.status_code, again.step) == (400, "tasks")
    assert "Please answer each question." in again.text
    assert stored() == []
    fields = again.grade_form.fields
    assert (fields["value-effort"].value, fields["comment-remark"].value) == ("50", "Well <b>.")
    assert fields["key"].value == form["key"], "the same form: the next try is the first answer"
    assert post(walker, form | {"value-quality": "2"}).status_code == 302
    nothing_drifted()


@pytest.mark.django_db
@pytest.mark.parametrize("value", ["12", "25.0000001", "-25", "125", "101", "nan", ""])
def test_a_slider_off_its_steps(walker: Walker, value: str) -> None:
    page = walker.to_tasks(make_survey(ONE_PAGE, rows_of(2)).slug)
    answer = post(walker, form_of(page, quality="2", effort=value))
    assert answer.status_code == 400
    assert Page(answer.content).grade_form.fields["value-quality"].value == "2"
    assert stored() == []
    assert post(walker, form_of(page, quality="2", effort="100")).status_code == 302


@pytest.mark.django_db
def test_a_page_half_answered_stores_no_half(walker: Walker) -> None:
    page = walker.to_tasks(make_survey(ONE_PAGE, rows_of(2)).slug)
    for half in ({"quality": "3"}, {"effort": "25"}, {}):
        answer = post(walker, form_of(page, **half) | {"comment-remark": "Half."})
        fields = Page(answer.content).grade_form.fields
        assert answer.status_code == 400
        assert {key: fields[f"value-{key}"].value for key in half} == half
        assert fields["comment-remark"].value == "Half."
        assert stored() == []
        assert Annotator.objects.get().answers.count() == 0
    assert post(walker, form_of(page, quality="3", effort="25")).status_code == 302
    assert stored() == [("quality", 3.0, True), ("effort", 25.0, True)]


@pytest.mark.django_db
def test_a_wrong_form_of_another_item_does_not_fill_in_the_one_in_hand(walker: Walker) -> None:
    """What was typed is shown again only where it was typed."""
    page = walker.to_tasks(make_survey(ONE_PAGE, rows_of(3)).slug)
    stale = form_of(page, quality="9", effort="50") | {"comment-remark": "On the first one."}
    post(walker, form_of(page, quality="2", effort="0"))
    answer = post(walker, stale | {"key": "x"})
    shown = Page(answer.content)
    assert answer.status_code == 400
    assert shown.grade_form.fields["sequence"].value == "2"
    assert shown.grade_form.fields["comment-remark"].value == ""
    assert shown.grade_form.fields["value-effort"].value == ""


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sent", "kept"),
    [("-1", 0.0), ("-1e300", 0.0), ("0", 0.0), ("1e300", "server"), ("nan", None), ("x", None), ("", None)],
)
def test_an_absurd_active_time(walker: Walker, sent: str, kept: float | str | None) -> None:
    form = form_of(walker.to_tasks(make_survey(ONE, rows_of(2)).slug), quality="3")
    assert post(walker, form | {"active_seconds": sent}).status_code == 302
    grade = Grade.objects.get()
    assert grade.seconds is not None
    assert grade.seconds >= 0
    assert grade.active_seconds == (grade.seconds if kept == "server" else kept)


@pytest.mark.django_db
def test_a_clock_that_was_set_back_gives_no_negative_time(walker: Walker) -> None:
    form = form_of(walker.to_tasks(make_survey(ONE, rows_of(2)).slug), quality="3")
    Assignment.objects.update(handed_at=timezone.now() + DAY)
    assert post(walker, form | {"active_seconds": "5"}).status_code == 302
    grade = Grade.objects.get()
    assert (grade.seconds, grade.active_seconds) == (0.0, 0.0)
