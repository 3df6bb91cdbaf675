"""One answer, sent in every wrong way: each has its stated answer, and nothing is lost or stored twice.

| what comes                                              | answer                                            |
|---------------------------------------------------------|---------------------------------------------------|
| the same form again: at once, later, after a day        | 302 as the first time; one grade                  |
| the same form with other answers                        | 409, says both; the first one stands              |
| a form of an item that was skipped or graded elsewhere  | 409, says what became of it                       |
| a form after its lease ran out                          | 302; counted if the slot is free, else surplus    |
| a form of an item that was given anew meanwhile         | 409, names the page that is open now              |
| another person's form, a forged or damaged one          | 400; nothing stored                               |
| anything to a closed study                              | 409; but what was stored before is 302 again      |
| an answer to a paused study for the item in hand        | 302; nothing new is handed out                    |
| a value off the scale, a page half answered             | 400, the page again with what was typed           |
| a negative, absurd or unreadable active time            | 302; from 0 to the server's seconds, or none      |
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotator.grading import actions
from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from tests.factories import make_study
from tests.grading.answers_of import (
    ONE,
    ONE_PAGE,
    TWO_PAGES,
    days_pass,
    form_of,
    nothing_drifted,
    post,
    stored,
    text_of,
)
from tests.grading.surveys import QUALITY, REMARK, make_survey, protocol_text, rows_of
from tests.grading.test_concurrency import in_threads
from tests.grading.walker import Walker


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("text", [ONE, TWO_PAGES, ONE_PAGE], ids=["one", "two pages", "one page"])
def test_eight_at_once_are_one_grade_and_eight_equal_answers(text: str) -> None:
    study = make_survey(text, rows_of(2))
    walker = Walker()
    form = form_of(walker.to_tasks(study.slug), quality="3", effort="75")
    answers: list[tuple[int, str, bytes]] = []

    def send(number: int) -> None:
        answer = Client().post(walker.link, form)
        answers.append((answer.status_code, answer.headers["Location"], answer.content))

    in_threads(8, send)
    assert answers == [(302, walker.link, b"")] * 8
    scaled = 2 if text == ONE_PAGE else 1
    assert [value for _, value, _ in stored()] == [3.0, 75.0][:scaled]
    assert GradeRevision.objects.count() == scaled
    assert Annotator.objects.get().handed == (1 if text == TWO_PAGES else 2)
    nothing_drifted()


@pytest.mark.django_db(transaction=True)
def test_of_different_answers_at_once_one_stands_and_the_others_are_told() -> None:
    study = make_survey(ONE, rows_of(2))
    walker = Walker()
    page = walker.to_tasks(study.slug)
    answers: dict[int, Any] = {}

    def send(number: int) -> None:
        answers[number] = Client().post(walker.link, form_of(page, quality=str(number % 2)))

    in_threads(8, send)
    ((_, value, _),) = stored()
    label, other = ("Not at all", "A little") if value == 0 else ("A little", "Not at all")
    for number, answer in answers.items():
        if number % 2 == value:
            assert (answer.status_code, answer.headers["Location"]) == (302, walker.link)
        else:
            assert answer.status_code == 409
            assert f'"{label}" is stored already' in text_of(answer)
            assert f'now sent "{other}"' in text_of(answer)
    nothing_drifted()


@pytest.mark.django_db(transaction=True)
def test_everything_that_can_be_sent_at_once_leaves_one_outcome() -> None:
    """Eight tabs of one person: some grade, some skip, some stop; whoever is first decides."""
    study = make_survey(protocol_text(QUALITY, policy="open", target=1, tasks_per_person=1), rows_of(2))
    walker = Walker()
    form = form_of(walker.to_tasks(study.slug), quality="3")
    kinds = [{}, {"action": "skip"}, {"action": "broken", "text": "No code."}, {"action": "stop"}]
    in_threads(8, lambda number: Client().post(walker.link, form | kinds[number % 4]))
    first = Assignment.objects.get(sequence=1)
    assert first.state in ("graded", "skipped", "released")
    assert Grade.objects.filter(assignment=first).count() == (first.state == "graded")
    assert Assignment.objects.filter(state="held").count() <= 1
    nothing_drifted()


@pytest.mark.django_db
def test_the_same_key_with_another_body_is_refused_and_shows_both(walker: Walker) -> None:
    form = form_of(walker.to_tasks(make_survey(ONE_PAGE, rows_of(2)).slug), quality="3", effort="75")
    assert post(walker, form).status_code == 302
    answer = post(walker, form | {"value-effort": "25"})
    assert answer.status_code == 409
    assert "Your answer 75 is stored already. The page now sent 25" in text_of(answer)
    answer = post(walker, form | {"value-quality": "0"})
    assert answer.status_code == 409
    assert 'Your answer "Mostly" is stored already. The page now sent "Not at all"' in text_of(answer)
    assert stored() == [("quality", 3.0, True), ("effort", 75.0, True)]
    assert walker.link in answer.content.decode(), "the way on"


@pytest.mark.django_db
def test_a_page_that_begins_with_a_comment(walker: Walker) -> None:
    """Its comment is no grade: the same form is known again all the same."""
    comment = REMARK.replace("with_previous = true", "")
    text = protocol_text(comment, QUALITY + "with_previous = true\n", policy="open", target=1)
    form = form_of(walker.to_tasks(make_survey(text, rows_of(2)).slug), quality="3")
    form |= {"comment-remark": "Well."}
    for _ in range(2):
        assert post(walker, form).status_code == 302
    assert post(walker, form | {"value-quality": "1"}).status_code == 409
    assert stored() == [("quality", 3.0, True)]
    assert list(Annotator.objects.get().answers.values_list("text", flat=True)) == ["Well."]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("Well.", "Not well.", '"Well." is stored already. The page now sent "Not well."'),
        ("Well.", "", '"Well." is stored already. The page now sent ""'),
        ("", "Well.", '"" is stored already. The page now sent "Well."'),
        (" Well.\n", "Well.", ""),
        ("x" * 6000, "x" * 6000, ""),
    ],
    ids=["another", "taken away", "added", "the same but for spaces", "cut"],
)
def test_the_same_form_with_another_comment(walker: Walker, first: str, second: str, shown: str) -> None:
    text = protocol_text(QUALITY, REMARK, policy="open", target=1)
    form = form_of(walker.to_tasks(make_survey(text, rows_of(2)).slug), quality="3")
    assert post(walker, form | {"comment-remark": first}).status_code == 302
    kept = list(Annotator.objects.get().answers.values_list("text", flat=True))
    again = post(walker, form | {"comment-remark": second})
    assert again.status_code == (409 if shown else 302)
    assert shown in text_of(again)
    assert list(Annotator.objects.get().answers.values_list("text", flat=True)) == kept


@pytest.mark.django_db
def test_two_tabs(walker: Walker) -> None:
    """Both show the same item; the second to answer hears what the first one did."""
    page = walker.to_tasks(make_survey(ONE, rows_of(2)).slug)
    other = walker.get(walker.link)
    assert other.grade_form.hidden() | {"csrfmiddlewaretoken": ""} == page.grade_form.hidden() | {
        "csrfmiddlewaretoken": ""
    }
    assert post(walker, form_of(page, quality="2")).status_code == 302
    assert post(walker, form_of(other, quality="2")).status_code == 302
    assert post(walker, form_of(other, quality="1")).status_code == 409
    page = walker.get(walker.link)
    assert post(walker, form_of(page) | {"action": "skip"}).status_code == 302
    answer = post(walker, form_of(page, quality="1"))
    assert answer.status_code == 409
    assert "You skipped this one before" in text_of(answer)
    assert stored() == [("quality", 2.0, True)]
    nothing_drifted()


@pytest.mark.django_db
def test_back_button(walker: Walker) -> None:
    """Where going back is not allowed, the page before can be sent again, and changes nothing."""
    first = walker.to_tasks(make_survey(TWO_PAGES, rows_of(2)).slug)
    assert post(walker, form_of(first, quality="4")).status_code == 302
    second = walker.get(walker.link)
    assert post(walker, form_of(first, quality="4")).status_code == 302
    assert post(walker, form_of(first, quality="0")).status_code == 409
    assert walker.get(walker.link).grade_form.fields.keys() == second.grade_form.fields.keys()
    assert post(walker, form_of(second, effort="50")).status_code == 302
    for form, wrong in ((form_of(first, quality="4"), "quality"), (form_of(second, effort="50"), "effort")):
        assert post(walker, form).status_code == 302
        assert post(walker, form | {f"value-{wrong}": "0"}).status_code == 409
    assert post(walker, form_of(first) | {"action": "skip"}).status_code == 302
    assert stored() == [("quality", 4.0, True), ("effort", 50.0, True)]
    assert Assignment.objects.get(sequence=1).state == "graded"
    assert walker.client.get(f"{walker.link}change/").status_code == 302
    nothing_drifted()


@pytest.mark.django_db
def test_back_where_it_is_allowed(walker: Walker) -> None:
    """The change has a key of its own; the old form stays what it was, and the history has both."""
    text = protocol_text(QUALITY, policy="open", target=1, back=True)
    first = walker.to_tasks(make_survey(text, rows_of(3)).slug)
    assert post(walker, form_of(first, quality="4")).status_code == 302
    changing = walker.get(f"{walker.link}change/")
    assert changing.grade_form.fields["value-quality"].value == "4"
    for _ in range(2):
        assert post(walker, form_of(changing, quality="1")).status_code == 302
    assert post(walker, form_of(changing, quality="2")).status_code == 409
    assert post(walker, form_of(first, quality="4")).status_code == 302
    assert post(walker, form_of(first, quality="1")).status_code == 409
    assert stored() == [("quality", 1.0, True)]
    assert list(GradeRevision.objects.values_list("number", "value")) == [(0, 4.0), (1, 1.0)]
    old = form_of(walker.get(f"{walker.link}change/"), quality="0")
    assert post(walker, form_of(walker.get(walker.link), quality="3")).status_code == 302
    answer = post(walker, old)
    assert answer.status_code == 409, "only the answer before can be changed"
    assert [value for _, value, _ in stored()] == [1.0, 3.0]
    nothing_drifted()


@pytest.mark.django_db
def test_a_stale_form_of_a_question_that_is_due_no_more(walker: Walker) -> None:
    """Its own key is right, its question is not: the second page before the first, the first after the second."""
    first = walker.to_tasks(make_survey(TWO_PAGES, rows_of(2)).slug)
    person = Annotator.objects.get()
    early = form_of(first) | {
        "question": "effort",
        "value-effort": "25",
        "key": actions.submission_key(person, 1, "effort"),
    }
    answer = post(walker, early)
    assert answer.status_code == 409
    assert stored() == []
    assert post(walker, form_of(first, quality="4")).status_code == 302
    assert post(walker, early).status_code == 302
    late = form_of(first, quality="1") | {
        "revision": "1",
        "key": actions.submission_key(person, 1, "quality", 1),
    }
    assert post(walker, late).status_code == 409
    assert stored() == [("quality", 4.0, True), ("effort", 25.0, True)]
    nothing_drifted()


@pytest.mark.django_db
def test_a_replay_after_a_day(walker: Walker) -> None:
    form = form_of(walker.to_tasks(make_survey(ONE, rows_of(2)).slug), quality="3")
    first = post(walker, form)
    days_pass()
    again = post(walker, form)
    assert (again.status_code, again.headers["Location"]) == (302, first.headers["Location"])
    assert post(walker, form | {"value-quality": "1"}).status_code == 409
    assert stored() == [("quality", 3.0, True)]
    nothing_drifted()


@pytest.mark.django_db
def test_one_join_form_in_two_studies_is_two_people(walker: Walker) -> None:
    """The key of a join form is the sender's: the same one elsewhere is no error."""
    for slug in ("one", "two"):
        make_study(slug)
        for _ in range(2):
            assert walker.client.post(f"/join/{slug}/", {"key": "k" * 32}).status_code == 302
    assert sorted(Annotator.objects.values_list("study__slug", "number")) == [("one", 1), ("two", 1)]
