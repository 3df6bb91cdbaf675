"""One place turns an expected failure into a page or into JSON."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_people_get_a_page_and_scripts_get_json(client: Client) -> None:
    page = client.get("/join/none/")
    assert (page.status_code, page.headers["Content-Type"].split(";")[0]) == (404, "text/html")
    assert "There is no such study" in page.content.decode()
    answer = client.get("/join/none/", headers={"accept": "application/json"})
    assert answer.status_code == 404
    assert answer.json() == {"code": "not_found", "error": "There is no such study. Please check the link."}


def test_health(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok")


def test_the_front_page_answers(client: Client) -> None:
    assert client.get("/").status_code == 200
