"""One place turns an expected failure into a page or into JSON."""

from __future__ import annotations

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.test import Client, RequestFactory

from annotator.wsgi import sound_content_type

pytestmark = pytest.mark.django_db


def test_people_get_a_page_and_scripts_get_json(client: Client) -> None:
    page = client.get("/join/none/")
    assert (page.status_code, page.headers["Content-Type"].split(";")[0]) == (404, "text/html")
    assert "There is no such study" in page.content.decode()
    answer = client.get("/join/none/", headers={"accept": "application/json"})
    assert answer.status_code == 404
    assert answer.json() == {"code": "not_found", "error": "There is no such study. Please check the link."}


@pytest.mark.parametrize("path", ["/", "/healthz"])
def test_probes_may_ask_for_the_head_alone(client: Client, path: str) -> None:
    assert client.head(path).status_code == 200


def test_health(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok")


def test_the_front_page_answers(client: Client) -> None:
    assert client.get("/").status_code == 200


CONTENT_TYPES = [
    "application/x-www-form-urlencoded; charset=utf-16",
    "application/x-www-form-urlencoded; Charset = rot13",
    "application/x-www-form-urlencoded; charset=undefined; x=y",
    "application/x-www-form-urlencoded; charset=no-such",
    "application/x-www-form-urlencoded; charset*=no-such''x",
]


@pytest.mark.parametrize("kind", CONTENT_TYPES)
def test_forms_are_utf_8_whatever_their_header_claims(kind: str) -> None:
    environ = RequestFactory().generic("POST", "/?a=b", "key=é").environ
    request = WSGIRequest({**environ, "CONTENT_TYPE": sound_content_type(kind)})
    assert (request.GET.dict(), request.POST.dict()) == ({"a": "b"}, {"key": "é"})


def test_a_content_type_that_nobody_can_read_is_none() -> None:
    assert sound_content_type("multipart/form-data; boundary*=no-such''x") == ""


def test_a_sound_content_type_stays() -> None:
    assert sound_content_type("multipart/form-data; boundary=x y") == "multipart/form-data; boundary=x y"


def test_a_form_that_is_too_large_is_refused_as_such() -> None:
    body = b"key=" + b"x" * 3_000_000
    answer = Client().post("/admin/login/", body, content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, "<h1>" in answer.content.decode()) == (413, True)
