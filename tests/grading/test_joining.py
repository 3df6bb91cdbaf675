"""Coming in: panels' ids, the cookie, the throttle, links that are revoked or given anew."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from annotator.errors import Conflict
from annotator.grading import actions, throttle
from annotator.grading.models import Annotator, Answer
from tests.factories import make_researcher, make_study, short_protocol
from tests.grading.test_views import hidden

pytestmark = pytest.mark.django_db
PANEL = {"PROLIFIC_PID": "5f0", "STUDY_ID": "st", "SESSION_ID": "se"}


@pytest.fixture(autouse=True)
def fresh_throttle() -> None:
    throttle._seen.clear()


def enter(client: Client, query: dict[str, str] | None = None) -> str:
    form = hidden(client.get("/join/study/", query or {}))
    return client.post("/join/study/", form).headers["Location"]


def test_the_panel_s_ids_are_kept_and_looking_creates_nothing(client: Client) -> None:
    make_study()
    client.get("/join/study/", PANEL)
    assert not Annotator.objects.exists()
    enter(client, PANEL)
    person = Annotator.objects.get()
    assert (person.external_id, person.external_study, person.external_session) == ("5f0", "st", "se")


def test_mturk_names_work_too(client: Client) -> None:
    make_study()
    enter(client, {"workerId": "W1", "assignmentId": "A1", "hitId": "H1"})
    person = Annotator.objects.get()
    assert (person.external_id, person.external_study, person.external_session) == ("W1", "H1", "A1")


def test_an_external_id_opens_nobody_s_work(client: Client) -> None:
    make_study()
    link = enter(client, PANEL)
    stranger = Client()
    page = stranger.get("/join/study/", PANEL)
    assert link not in page.content.decode()
    refused = stranger.post("/join/study/", hidden(page))
    assert refused.status_code == 409
    assert "started this study already" in refused.content.decode()
    assert link not in refused.content.decode()
    assert Annotator.objects.count() == 1


def test_the_cookie_finds_back(client: Client) -> None:
    make_study()
    link = enter(client, PANEL)
    assert client.get("/join/study/", PANEL).headers["Location"] == link
    assert link in client.get("/join/study/").content.decode()  # without an id the person is asked
    cookie = client.cookies["codejury-study"]
    assert cookie["httponly"]
    assert cookie["path"] == "/join/study/"
    assert cookie["samesite"] == "Lax"


def test_another_id_in_the_same_browser_is_another_person(client: Client) -> None:
    make_study()
    first = enter(client, PANEL)
    assert enter(client, PANEL | {"PROLIFIC_PID": "other"}) != first
    assert Annotator.objects.count() == 2


def test_a_forged_or_foreign_cookie_is_nothing(client: Client) -> None:
    make_study()
    make_study(slug="second")
    enter(client)
    for value in ("", "x", "\x00", Annotator.objects.get().token):
        client.cookies["codejury-second"] = value
        assert "Go on where you were" not in client.get("/join/second/").content.decode()


def test_odd_ids_make_no_error(client: Client) -> None:
    make_study()
    for odd in ("\x00", "x" * 5000, "<script>", "é"):
        assert client.get("/join/study/", {"PROLIFIC_PID": odd}).status_code == 200
        assert client.post("/join/study/", {"key": odd, "PROLIFIC_PID": odd}).status_code in (302, 409)
        client.cookies.clear()


@override_settings(JOINS_PER_MINUTE=3)
def test_joining_is_throttled(client: Client) -> None:
    make_study()
    codes = [client.post("/join/study/", {"key": str(number)}).status_code for number in range(5)]
    assert codes == [302, 302, 302, 429, 429]
    assert Annotator.objects.count() == 3
    assert client.get("/join/study/").status_code == 200
    assert client.post("/join/study/", {"key": "x"}, REMOTE_ADDR="10.0.0.9").status_code == 302


def test_a_revoked_link_opens_nothing_and_a_new_one_does(client: Client) -> None:
    make_study()
    link = enter(client)
    person = Annotator.objects.get()
    actions.revoke_link(person)
    assert client.get(link).status_code == 404
    assert client.post(link, {"action": "consent"}).status_code == 404
    actions.reissue_link(person)
    person.refresh_from_db()
    assert client.get(link).status_code == 404
    assert client.get(f"/a/{person.token}/").status_code == 200


def test_the_admin_revokes_and_reissues(client: Client) -> None:
    make_study()
    person = actions.join(make_study(slug="other"), "")
    client.force_login(make_researcher(is_superuser=True))
    data = {"_selected_action": [str(person.pk)]}
    page = client.post("/admin/grading/annotator/", data | {"action": "reissue_links"}, follow=True)
    old, person = person.token, Annotator.objects.get()
    assert person.token != old
    assert f"/a/{person.token}/" in page.content.decode()
    client.post("/admin/grading/annotator/", data | {"action": "revoke_links"}, follow=True)
    person.refresh_from_db()
    assert person.revoked_at is not None


def test_consent_keeps_its_version_and_time(client: Client) -> None:
    study = make_study(protocol=short_protocol(version=4))
    link = enter(client)
    client.post(link, {"action": "consent"})
    person = Annotator.objects.get()
    assert person.consent_version == 4
    assert person.consented_at is not None
    actions.consent(person)
    assert study.read_protocol().version == 4


BACKGROUND = [
    {"key": "years", "text": "How long?", "kind": "number", "low": 0, "high": 60, "required": True},
    {"key": "role", "text": "Who are you?", "kind": "choice", "choices": ["student", "other"]},
    {"key": "more", "text": "Anything else?"},
]


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({}, "Please answer: How long?"),
        ({"answer-years": "many"}, "Please give a number that fits: How long?"),
        ({"answer-years": "61"}, "Please give a number that fits"),
        ({"answer-years": "nan"}, "Please give a number that fits"),
        ({"answer-years": "1", "answer-role": "king"}, "Please choose one of the answers to: Who are you?"),
        ({"answer-years": "1", "answer-more": "x" * 6000}, "Please shorten your answer to: Anything else?"),
    ],
)
def test_background_questions_are_checked_and_what_was_typed_stays(
    client: Client, typed: dict[str, str], sentence: str
) -> None:
    make_study(protocol=short_protocol(background=BACKGROUND))
    link = enter(client)
    client.post(link, {"action": "consent"})
    page = client.post(link, {"action": "answer", "step": "background", **typed})
    assert page.status_code == 400
    assert sentence in page.content.decode()
    for value in typed.values():
        assert value in page.content.decode() or value == "king"
    assert not Answer.objects.exists()


def test_background_answers_are_kept_once(client: Client) -> None:
    make_study(protocol=short_protocol(background=BACKGROUND))
    link = enter(client)
    client.post(link, {"action": "consent"})
    answers = {"action": "answer", "step": "background", "answer-years": "3,5", "answer-more": " a\x00b "}
    for _ in range(2):
        assert client.post(link, answers).status_code == 302
    assert list(Answer.objects.values_list("step", "question", "text")) == [
        ("background", "years", "3,5"),
        ("background", "more", "ab"),
    ]


def test_after_the_deadline_nothing_is_handed_out_but_answers_in_hand_are_taken(client: Client) -> None:
    study = make_study()
    link = enter(client)
    client.post(link, {"action": "consent"})
    client.post(link, {"action": "start"})
    form = hidden(client.get(link))
    study.protocol = short_protocol(deadline=(timezone.now() - timedelta(hours=1)).isoformat())
    study.save()
    assert "The time for this study is over" in client.get("/join/study/").content.decode()
    with pytest.raises(Conflict, match="time for this study is over"):
        actions.join(study, "late")
    assert client.get(link).status_code == 200
    assert client.post(link, form | {"action": "grade", "value-helpfulness": "2"}).status_code == 302
    assert "The time for this study is over" in client.get(link).content.decode()
    assert Annotator.objects.get().graded == 1
