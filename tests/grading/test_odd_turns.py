"""People who stand where a new version of the protocol has nothing, who stop late, or come back to nothing."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from annotator.grading.models import Annotator
from annotator.studies import actions
from tests.grading.surveys import PRACTICE, QUALITY, make_survey, protocol_text, rows_of
from tests.grading.walker import Walker, first_button, first_choice

pytestmark = pytest.mark.django_db
CODES = '[codes]\ncomplete = "ALL"\npartial = "SOME"\n'


def code(walker: Walker) -> str:
    walker.get(walker.link)
    return "".join(re.findall(r'completion">(\w+)', walker.log[-1].body.decode()))


def grade_all(walker: Walker, slug: str) -> None:
    page = walker.to_tasks(slug)
    while page.step == "tasks":
        page = walker.send(page, "grade", first_choice)


@pytest.mark.parametrize("left", [0, 1, 2])
def test_practice_that_is_taken_away_keeps_nobody(left: int) -> None:
    practice = [PRACTICE.format(expected="")] * 3
    study = make_survey(protocol_text(*practice, QUALITY, policy="open"), rows_of(2))
    walker = Walker()
    page = walker.join(study.slug)
    while Annotator.objects.get().practised < 2:
        page = walker.send(page, first_button(page), first_choice)
    actions.change_protocol(study, protocol_text(*practice[:left], QUALITY, policy="open"))
    page = walker.get(walker.link)
    assert page.step == "welcome"
    assert walker.send(page, "next").step == "tasks"


def test_a_questionnaire_given_up_stays_partial_when_others_finish_it() -> None:
    text = protocol_text(QUALITY, CODES, policy="blocks", blocks=2, target=1)
    study = make_survey(text, rows_of(4))
    walker = Walker()
    walker.send(walker.to_tasks(study.slug), "grade", first_choice)
    walker.post(walker.link, {"action": "stop"})
    assert code(walker) == "SOME"
    for _ in range(2):
        other = Walker()
        grade_all(other, study.slug)
        assert code(other) == "ALL"
        other.post(other.link, {"action": "stop"})
        assert code(other) == "ALL"
    assert code(walker) == "SOME"
    walker.post(walker.link, {"action": "next"})
    assert code(walker) == "SOME"


def test_coming_back_to_an_empty_pool_completes_nothing() -> None:
    text = protocol_text(QUALITY, CODES, policy="balanced", tasks_per_person=4, target=1)
    study = make_survey(text, rows_of(4, ("a",)))
    walker = Walker()
    walker.send(walker.to_tasks(study.slug), "grade", first_choice)
    walker.post(walker.link, {"action": "stop"})
    grade_all(Walker(), study.slug)
    walker.post(walker.link, {"action": "next"})
    assert code(walker) == "SOME"


def test_a_cookie_with_a_nul_is_nobody_s(client: Client) -> None:
    study = make_survey(protocol_text(QUALITY, policy="open"), rows_of(1))
    client.cookies[f"codejury-{study.slug}"] = "\0abc"
    assert client.get(f"/join/{study.slug}/").status_code == 200
