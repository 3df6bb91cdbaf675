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

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotator.grading import actions
from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.grading.verify import drifted
from annotator.studies import actions as study_actions
from annotator.studies.models import Item, Study
from tests.factories import make_study
from tests.grading.surveys import BESIDE, EFFORT, QUALITY, REMARK, make_survey, protocol_text, rows_of
from tests.grading.test_concurrency import in_threads
from tests.grading.walker import Page, Walker

ONE = protocol_text(QUALITY, policy="open", target=1)
TWO_PAGES = protocol_text(QUALITY, EFFORT, policy="open", target=1)
ONE_PAGE = protocol_text(QUALITY, BESIDE, REMARK, policy="open", target=1)
DAY = timedelta(days=1)


@pytest.fixture
def walker(client: Client) -> Walker:
    return Walker(client)


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
@pytest.mark.parametrize("text", [ONE, TWO_PAGES], ids=["one", "two pages"])
def test_a_first_answer_after_a_day_counts_where_the_slot_is_free(walker: Walker, text: str) -> None:
    study = make_survey(text, rows_of(2))
    form = form_of(walker.to_tasks(study.slug), quality="3")
    days_pass()
    actions.release_expired(study)
    assert Assignment.objects.get().state == "expired"
    assert post(walker, form).status_code == 302
    assert post(walker, form).status_code == 302
    assignment = Assignment.objects.get(sequence=1)
    assert (assignment.surplus, [value for _, value, _ in stored()]) == (False, [3.0])
    assert assignment.state == ("graded" if text == ONE else "held")
    assert Item.objects.get(pk=assignment.item_id).taken == 1
    nothing_drifted()


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


@pytest.mark.django_db
@pytest.mark.parametrize("text", [ONE, TWO_PAGES], ids=["one", "two pages"])
def test_a_first_answer_after_a_day_is_surplus_where_the_slot_was_given_away(
    walker: Walker, text: str
) -> None:
    study = make_survey(text, rows_of(2))
    form = form_of(walker.to_tasks(study.slug), quality="3")
    days_pass()
    actions.release_expired(study)
    item = Assignment.objects.get().item
    other = somebody_takes(study, item)
    assert post(walker, form).status_code == 302
    late = Assignment.objects.get(annotator__number=1, sequence=1)
    assert (late.surplus, [value for _, value, _ in stored()]) == (True, [3.0])
    nothing_drifted()
    if text == ONE:
        return
    # The other gives up meanwhile: the second page finds the slot free, and all of the item counts.
    days_pass()
    actions.release_expired(study)
    actions.stop(Annotator.objects.get(number=2))
    page = form | {"question": "effort", "value-effort": "50"}
    page["key"] = actions.submission_key(Annotator.objects.get(number=1), 1, "effort")
    assert post(walker, page).status_code == 302
    late.refresh_from_db()
    assert (late.state, late.surplus, Item.objects.get(pk=item.pk).taken) == ("graded", False, 1)
    assert other.get(other.link).step == "thanks"
    nothing_drifted()


@pytest.mark.django_db
def test_an_old_form_of_an_item_that_was_given_anew(walker: Walker) -> None:
    """Its lease ran out, and the same person got the same item again: there the answer belongs."""
    study = make_survey(ONE, rows_of(1, ("a",)))
    old = form_of(walker.to_tasks(study.slug), quality="3")
    days_pass()
    page = walker.post(walker.link, {"action": "next"})
    assert page.grade_form.fields["sequence"].value == "2"
    answer = post(walker, old)
    assert answer.status_code == 409
    assert "This one was given to you anew" in text_of(answer)
    assert stored() == []
    assert post(walker, form_of(page, quality="1")).status_code == 302
    assert post(walker, old).status_code == 409
    assert stored() == [("quality", 1.0, True)]
    nothing_drifted()


@pytest.mark.django_db
def test_a_late_first_page_while_another_item_is_in_hand(walker: Walker) -> None:
    """It is kept; what is in hand stays there, and the half answered item goes to others, never back to this person."""
    study = make_survey(TWO_PAGES, rows_of(2, ("a",)))
    old = form_of(walker.to_tasks(study.slug), quality="3")
    first = Assignment.objects.get()
    days_pass()
    actions.release_expired(study)
    Item.objects.filter(pk=first.item_id).update(target=0)
    page = walker.post(walker.link, {"action": "next"})
    Item.objects.filter(pk=first.item_id).update(target=1)
    assert post(walker, old).status_code == 302
    first.refresh_from_db()
    assert (first.state, first.partial, stored()) == ("expired", True, [("quality", 3.0, False)])
    assert walker.get(walker.link).grade_form.hidden()["sequence"] == page.grade_form.hidden()["sequence"]
    walker.send(page, "grade", lambda name, field: "4")
    end = walker.send(walker.get(walker.link), "grade", lambda name, field: "100")
    assert end.step == "thanks", "a half answered item is not started anew by the same person"
    other = Walker()
    other.to_tasks(study.slug)
    assert Assignment.objects.get(annotator__number=2, state="held").item_id == first.item_id
    nothing_drifted()


@pytest.mark.django_db
def test_a_form_of_somebody_else(walker: Walker) -> None:
    study = make_survey(ONE, rows_of(3))
    form = form_of(walker.to_tasks(study.slug), quality="3")
    other = Walker()
    own = form_of(other.to_tasks(study.slug), quality="1")
    answer = post(other, form, other.link)
    assert answer.status_code == 400
    assert "The form was damaged" in text_of(answer)
    for forged in ({"key": own["key"], "sequence": "7"}, {"key": form["key"]}, {"key": ""}, {"key": "é" * 32}):
        assert post(other, own | forged, other.link).status_code == 400
    assert post(other, form, "/a/nobody/").status_code == 404
    assert stored() == []
    assert post(other, own, other.link).status_code == 302
    assert Grade.objects.get().assignment.annotator.number == 2
    nothing_drifted()


@pytest.mark.django_db
def test_a_form_of_another_study(walker: Walker) -> None:
    form = form_of(walker.to_tasks(make_survey(ONE, rows_of(2)).slug), quality="3")
    other = Walker()
    other.to_tasks(make_survey(ONE, rows_of(2), slug="other").slug)
    assert post(other, form, other.link).status_code == 400
    assert stored() == []


@pytest.mark.django_db
def test_a_revoked_link_takes_nothing(walker: Walker) -> None:
    form = form_of(walker.to_tasks(make_survey(ONE, rows_of(2)).slug), quality="3")
    person = Annotator.objects.get()
    actions.revoke_link(person)
    assert post(walker, form).status_code == 404
    token = actions.reissue_link(person).token
    assert post(walker, form).status_code == 404
    answer = post(walker, form, f"/a/{token}/")
    assert answer.status_code == 400, "the keys of the old link are void"
    assert stored() == []
    page = Page(walker.client.get(f"/a/{token}/").content)
    assert post(walker, form_of(page, quality="2"), f"/a/{token}/").status_code == 302
    assert stored() == [("quality", 2.0, True)]


@pytest.mark.django_db
def test_a_closed_study(walker: Walker) -> None:
    study = make_survey(ONE, rows_of(3))
    before = form_of(walker.to_tasks(study.slug), quality="3")
    assert post(walker, before).status_code == 302
    form = form_of(walker.get(walker.link), quality="1")
    study_actions.close_study(study)
    answer = post(walker, form)
    assert answer.status_code == 409
    assert "This study is closed." in text_of(answer)
    assert post(walker, before).status_code == 302
    assert post(walker, before | {"value-quality": "0"}).status_code == 409
    assert post(walker, form | {"action": "next"}).status_code in (302, 409)
    assert stored() == [("quality", 3.0, True)]
    study_actions.open_study(study)
    assert post(walker, form).status_code == 302, "opened again, the same page is taken"
    nothing_drifted()


@pytest.mark.django_db
def test_a_paused_study_takes_what_is_in_hands(walker: Walker) -> None:
    study = make_survey(ONE, rows_of(3))
    form = form_of(walker.to_tasks(study.slug), quality="3")
    study_actions.pause_study(study)
    assert post(walker, form).status_code == 302
    assert walker.get(walker.link).step == "closed"
    assert stored() == [("quality", 3.0, True)]
    assert not Assignment.objects.filter(state="held").exists()
    nothing_drifted()


@pytest.mark.django_db
def test_a_deadline_lets_people_finish_what_is_in_hands(walker: Walker) -> None:
    study = make_survey(ONE, rows_of(3))
    form = form_of(walker.to_tasks(study.slug), quality="3")
    study.protocol["deadline"] = (timezone.now() - timedelta(minutes=1)).isoformat()
    study.save()
    assert post(walker, form).status_code == 302
    assert post(walker, form).status_code == 302
    assert "The time for this study is over" in walker.get(walker.link).text
    assert not Assignment.objects.filter(state="held").exists()
    assert stored() == [("quality", 3.0, True)]


OFF_SCALE = ["-1", "5", "2.5", "nan", "inf", "-inf", "1e400", "1e-400x", "", " ", "two", "2" * 5000, "٣x", "\0"]


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


@pytest.mark.django_db
def test_one_join_form_in_two_studies_is_two_people(walker: Walker) -> None:
    """The key of a join form is the sender's: the same one elsewhere is no error."""
    for slug in ("one", "two"):
        make_study(slug)
        for _ in range(2):
            assert walker.client.post(f"/join/{slug}/", {"key": "k" * 32}).status_code == 302
    assert sorted(Annotator.objects.values_list("study__slug", "number")) == [("one", 1), ("two", 1)]


@pytest.mark.django_db
def test_stopping_before_the_consent_is_no_way_round_it(walker: Walker) -> None:
    """Who stops on the consent page and comes back is asked again."""
    study = make_survey(ONE, rows_of(2))
    walker.join(study.slug)
    walker.post(walker.link, {"action": "stop"})
    page = walker.post(walker.link, {"action": "next"})
    for _ in range(3):
        assert not Assignment.objects.exists()
        assert page.step == "consent"
        page = walker.post(walker.link, {"action": "start"})
    walker.post(walker.link, {"action": "consent"})
    assert walker.post(walker.link, {"action": "start"}).step == "tasks"
