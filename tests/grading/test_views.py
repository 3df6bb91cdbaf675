"""The annotator's pages through the test client: the walk, what is refused, and what never leaves."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from annotator.grading.models import Annotator, Assignment, Grade
from annotator.studies.models import Item, Snippet, Study, System
from tests.factories import make_study

pytestmark = pytest.mark.django_db


class Fields(HTMLParser):
    """Hidden fields of a page, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "input" and found.get("type") == "hidden":
            self.hidden[found.get("name") or ""] = found.get("value") or ""


def hidden(page: Any) -> dict[str, str]:
    fields = Fields()
    fields.feed(page.content.decode())
    fields.hidden.pop("csrfmiddlewaretoken", None)
    return fields.hidden


def join(client: Client, study: Study, *, started: bool = True) -> str:
    page = client.get(f"/join/{study.slug}/")
    link = client.post(f"/join/{study.slug}/", hidden(page)).headers["Location"]
    if started:
        client.post(link, {"action": "consent"})
        client.post(link, {"action": "start"})
    return link


def test_the_whole_walk(client: Client) -> None:
    study = make_study(problems=2, systems=("a",), references=0)
    link = join(client, study, started=False)
    assert "agree" in client.get(link).content.decode()
    page = client.post(link, {"action": "consent"}, follow=True)
    assert "Not at all" in page.content.decode()
    page = client.post(link, {"action": "start"}, follow=True)
    for _ in range(2):
        assert "How helpful is this snippet" in page.content.decode()
        page = client.post(link, hidden(page) | {"action": "grade", "value-helpfulness": "3"}, follow=True)
    assert "Thank you" in page.content.decode()
    assert Grade.objects.filter(value=3, complete=True).count() == 2


def test_looking_changes_nothing(client: Client) -> None:
    study = make_study()
    link = join(client, study)
    before = list(Assignment.objects.values()), list(Annotator.objects.values()), list(Item.objects.values())
    for path in (link, link + "pause/", link + "instructions/", f"/join/{study.slug}/", "/", "/healthz"):
        assert client.get(path).status_code == 200, path
    after = list(Assignment.objects.values()), list(Annotator.objects.values()), list(Item.objects.values())
    assert before == after


def test_no_choice_is_one_sentence_and_keeps_the_page(client: Client) -> None:
    link = join(client, make_study())
    form = hidden(client.get(link))
    page = client.post(link, form | {"action": "grade"})
    assert page.status_code == 400
    assert "Please choose one of the answers." in page.content.decode()
    assert hidden(page) == form


RUBBISH: list[dict[str, str]] = [
    {"value-helpfulness": "9"},
    {"value-helpfulness": "a"},
    {"value-helpfulness": "1e400"},
    {"value-helpfulness": "99999999999999999999"},
    {"value-helpfulness": "2", "key": "forged"},
    {"value-helpfulness": "2", "key": "x" * 5000},
    {"value-helpfulness": "2", "sequence": "-1"},
    {"value-helpfulness": "2", "sequence": "999999999999999999999"},
    {"value-helpfulness": "2", "sequence": ""},
    {"value-helpfulness": "2", "question": "\x00"},
    {"value-helpfulness": "2", "question": "nonsense"},
    {"action": "skip", "sequence": "x"},
    {"action": "skip", "sequence": "77"},
    {"action": "fly"},
    {"action": ""},
]


@pytest.mark.parametrize("rubbish", RUBBISH)
def test_rubbish_is_refused_with_a_page_and_stores_nothing(client: Client, rubbish: dict[str, str]) -> None:
    link = join(client, make_study())
    page = client.post(link, hidden(client.get(link)) | {"action": "grade"} | rubbish)
    assert page.status_code in (302, 400, 409)
    assert not Grade.objects.exists()
    assert client.get(link).status_code == 200


def test_odd_active_seconds_do_not_matter(client: Client) -> None:
    for odd in ("nan", "inf", "-5", "abc", "1e308"):
        link = join(client, make_study(slug=f"s{len(odd)}-{Study.objects.count()}"))
        form = hidden(client.get(link)) | {"action": "grade", "value-helpfulness": "2", "active_seconds": odd}
        assert client.post(link, form).status_code == 302, odd
    assert Grade.objects.count() == 5


def test_stop_keeps_the_reason_and_long_texts_do_not_break(client: Client) -> None:
    link = join(client, make_study())
    page = client.post(link, {"action": "stop", "reason": "tired", "text": "x" * 5000}, follow=True)
    assert page.status_code == 200
    assert "Thank you" in page.content.decode()
    assert Annotator.objects.get().stop_reason.startswith("tired")


@pytest.mark.parametrize(
    "path", ["/join/none/", "/a/none/", "/a/none/pause/", "/a/%00/", "/image/../x", "/nowhere/"]
)
def test_unknown_links_are_a_kind_404(client: Client, path: str) -> None:
    page = client.get(path)
    assert page.status_code == 404
    assert "Traceback" not in page.content.decode()


def test_closed_and_paused_studies_say_so(client: Client) -> None:
    study = make_study()
    link = join(client, study)
    for state, word in (("paused", "paused"), ("closed", "closed")):
        Study.objects.update(state=state)
        assert word in client.get(link).content.decode()
        assert word in client.get(f"/join/{study.slug}/").content.decode()
        assert client.post(f"/join/{study.slug}/", {"key": "k"}).status_code == 409
        assert client.post(link, {"action": "next"}).status_code == 409


def strip_variable_parts(page: bytes) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "", page.decode())


def test_blind_to_the_byte(client: Client) -> None:
    """The same code from another system, imported in another order, gives the same page byte for byte."""
    study = make_study(problems=1, systems=("alpha",), references=1)
    link = join(client, study)
    before = client.get(link)
    System.objects.filter(kind="generated").update(name="a-very-different-model")
    System.objects.filter(kind="reference").update(kind="generated", name="renamed")
    System.objects.filter(name="a-very-different-model").update(kind="reference")
    after = client.get(link)
    assert strip_variable_parts(before.content) == strip_variable_parts(after.content)
    assert {key: value for key, value in before.headers.items() if key != "Set-Cookie"} == {
        key: value for key, value in after.headers.items() if key != "Set-Cookie"
    }


def test_nothing_that_tells_the_origin_is_on_any_page(client: Client) -> None:
    study = make_study(problems=2, systems=("secret-model-a", "secret-model-b"), references=1)
    link = join(client, study)
    seen = ""
    for _ in range(6):
        page = client.get(link)
        seen += page.content.decode() + str(dict(page.headers)) + str(client.cookies)
        client.post(link, hidden(page) | {"action": "grade", "value-helpfulness": "1"})
    seen += client.get(link).content.decode()
    assert Grade.objects.count() == 6
    for word in ("secret-model", *(system.kind for system in System.objects.all())):
        assert word not in seen.lower().replace("helpful", ""), word
    for item in Item.objects.all():
        assert str(item.draw) not in seen
    assert Snippet.objects.count() == 6


def test_only_the_current_step_is_sent(client: Client) -> None:
    study = make_study(problems=3, systems=("a", "b"))
    link = join(client, study)
    held = Assignment.objects.get(state="held").item.snippet
    page = client.get(link).content.decode()
    others = Snippet.objects.exclude(code=held.code).values_list("code", flat=True)
    text = re.sub(r"<[^>]+>", "", page)
    assert not [code for code in others if code in text]


def test_pages_forbid_caching_and_framing(client: Client) -> None:
    page = client.get(join(client, make_study()))
    assert "no-store" in page.headers["Cache-Control"]
    assert page.headers["X-Frame-Options"] == "DENY"
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    assert page.headers["Referrer-Policy"] == "same-origin"


def test_forms_need_their_token() -> None:
    strict = Client(enforce_csrf_checks=True)
    study = make_study()
    page = strict.post(f"/join/{study.slug}/", {"key": "k"})
    assert page.status_code == 403
    assert not Annotator.objects.exists()
