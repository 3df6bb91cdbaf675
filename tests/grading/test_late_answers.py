"""Answers that come too late, from the wrong person, or where the study takes none: see test_submissions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotator.grading import actions
from annotator.grading.models import Annotator, Assignment, Grade
from annotator.studies import actions as study_actions
from annotator.studies.models import Item
from tests.grading.answers_of import (
    ONE,
    TWO_PAGES,
    days_pass,
    form_of,
    nothing_drifted,
    post,
    somebody_takes,
    stored,
    text_of,
)
from tests.grading.surveys import QUALITY, make_survey, protocol_text, rows_of
from tests.grading.walker import Page, Walker


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
    for forged in (
        {"key": own["key"], "sequence": "7"},
        {"key": form["key"]},
        {"key": ""},
        {"key": "é" * 32},
    ):
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


@pytest.mark.django_db
def test_a_first_page_of_an_item_that_was_begun_anew_since(walker: Walker) -> None:
    """The lease ran out twice, and the second time the item had been answered in part: that answer stands."""
    study = make_survey(TWO_PAGES, rows_of(1, ("a",)))
    old = form_of(walker.to_tasks(study.slug), quality="3")
    days_pass()
    page = walker.post(walker.link, {"action": "next"})
    assert post(walker, form_of(page, quality="1")).status_code == 302
    days_pass()
    actions.release_expired(study)
    assert post(walker, old).status_code == 409
    assert stored() == [("quality", 1.0, False)]
    rest = form_of(page, effort="50") | {"question": "effort"}
    rest["key"] = actions.submission_key(Annotator.objects.get(), 2, "effort")
    assert post(walker, rest).status_code == 302
    assert stored() == [("quality", 1.0, True), ("effort", 50.0, True)]
    nothing_drifted()


@pytest.mark.django_db
def test_a_late_answer_beside_another_item_of_its_problem_is_surplus(walker: Walker) -> None:
    """`balanced`: the person has the problem's other item by now. Both answers are kept, one of them counts."""
    text = protocol_text(QUALITY, policy="balanced", target=1, tasks_per_person=1)
    study = make_survey(text, rows_of(1))
    form = form_of(walker.to_tasks(study.slug), quality="3")
    first = Assignment.objects.get()
    days_pass(30)
    actions.release_expired(study)
    somebody_takes(study, first.item)
    second = walker.post(walker.link, {"action": "next"})
    actions.stop(Annotator.objects.get(number=2))
    assert Item.objects.get(pk=first.item_id).taken == 0
    assert post(walker, form).status_code == 302
    first.refresh_from_db()
    assert (first.state, first.surplus, Item.objects.get(pk=first.item_id).taken) == ("graded", True, 0)
    assert post(walker, form_of(second, quality="1")).status_code == 302
    assert stored() == [("quality", 3.0, True), ("quality", 1.0, True)]
    assert Assignment.objects.filter(annotator__number=1, state="graded", surplus=False).count() == 1
    nothing_drifted()
