"""The API: a token opens it, errors are JSON with a code, tables are the bytes of the page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.authtoken.models import Token

from annotator.results import actions, export, jobs, tasks
from annotator.results.models import Job
from annotator.studies.models import Study
from tests.factories import give_grades, make_researcher, make_study

pytestmark = pytest.mark.django_db(databases=["default", "reader"], transaction=True)
ADDRESSES = ["", "studies/", "studies/study/", "studies/study/grades.csv", "studies/study/scores.csv"]
ADDRESSES += ["studies/study/jobs/", "studies/study/jobs/1/", "studies/none/", "nowhere/"]


@pytest.fixture(autouse=True)
def quiet_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.run_part, "apply_async", lambda *args, **options: None)


@pytest.fixture
def study() -> Study:
    study = make_study(notes="From a file.")
    give_grades(study, annotators=2)
    return study


def client_of(user: User) -> Client:
    return Client(headers={"Authorization": f"Token {Token.objects.create(user=user).key}"})


@pytest.fixture
def api() -> Client:
    return client_of(make_researcher())


def post(api: Client, data: Any, slug: str = "study") -> Any:
    return api.post(f"/api/studies/{slug}/jobs/", json.dumps(data), content_type="application/json")


def check_error(answer: Any, status: int, code: str) -> None:
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json()["code"] == code
    assert answer.json()["error"].endswith(".")


@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_without_a_token(study: Study, address: str) -> None:
    check_error(Client().get(f"/api/{address}"), 401, "not_authenticated")
    bad = Client(headers={"Authorization": "Token wrong"})
    check_error(bad.get(f"/api/{address}"), 401, "authentication_failed")
    stranger = client_of(User.objects.create_user("somebody"))
    check_error(stranger.get(f"/api/{address}"), 403, "permission_denied")


def test_a_researcher_who_left_gets_nothing(study: Study) -> None:
    left = client_of(make_researcher("left", is_active=False))
    check_error(left.get("/api/studies/"), 401, "authentication_failed")


def test_nobody_starts_a_job_without_a_token(study: Study) -> None:
    assert post(Client(), {"kind": "report"}).status_code == 401
    assert post(client_of(User.objects.create_user("somebody")), {"kind": "report"}).status_code == 403
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_researcher())
    assert post(strict, {"kind": "report"}).status_code == 403
    assert not Job.objects.exists()


def test_the_addresses_lead_from_one_to_the_next(api: Client, study: Study) -> None:
    studies = api.get(api.get("/api/").json()["studies"]).json()["studies"]
    assert [each["slug"] for each in studies] == ["study"]
    details = api.get(studies[0]["url"]).json()
    assert details["counts"] == {"grades": 18, "annotators": 2, "simulated": 0, "items": 9, "scores": 0}
    assert (details["notes"], details["seed"], details["state"]) == ("From a file.", 7, "open")
    assert api.get(details["jobs"]).json() == {"jobs": []}
    assert api.get(details["grades"]).status_code == 200


@pytest.mark.parametrize("accept", ["*/*", "text/csv", "application/json", "image/png"])
def test_tables_are_the_bytes_of_the_export(api: Client, study: Study, accept: str) -> None:
    jobs.run_here(actions.start_job(study, "metrics", {"metrics": ["bleu"]}))
    for name in ("grades", "scores"):
        answer: Any = api.get(f"/api/studies/study/{name}.csv", headers={"Accept": accept})
        assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
        assert answer.streaming
        assert b"".join(answer.streaming_content) == b"".join(export.TABLES[name](study))


def test_a_job_from_start_to_end(api: Client, study: Study) -> None:
    answer = post(api, {"kind": "metrics", "metrics": ["chrf", "bleu"]})
    assert answer.status_code == 201
    job = answer.json()
    assert answer.headers["Location"] == job["url"]
    assert job["params"] == {"metrics": ["bleu", "chrf"]}
    assert (job["state"], job["done"], job["total"], job["percent"]) == ("queued", 0, 12, 0)
    again = post(api, {"kind": "metrics", "metrics": ["bleu", "chrf"]})
    assert (again.status_code, again.json()["id"]) == (200, job["id"])
    jobs.run_here(Job.objects.get())
    done = api.get(job["url"]).json()
    assert (done["state"], done["done"], done["percent"], done["error"]) == ("done", 12, 100, "")
    assert done["finished_at"] >= done["created_at"]
    assert [each["id"] for each in api.get("/api/studies/study/jobs/").json()["jobs"]] == [job["id"]]
    assert Job.objects.get().created_by.username == "researcher"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ({}, "metrics or report"),
        ({"kind": "bake"}, "metrics or report"),
        ({"kind": ["metrics"]}, "metrics or report"),
        ({"kind": "metrics", "metrics": ["blue"]}, "known ones are"),
        ({"kind": "metrics", "metrics": "bleu"}, "list of names"),
        ({"kind": "metrics", "metrics": {"bleu": 1}}, "list of names"),
        ({"kind": "report", "seed": 1.5}, "whole number"),
        ({"kind": "report", "seed": 2**70}, "whole number"),
        ({"kind": "report", "aggregator": ["mean"]}, "one of"),
        ({"kind": "report", "colour": 1}, "does not know colour"),
        ([1], "object"),
        ("metrics", "object"),
        (None, "object"),
    ],
)
def test_wrong_requests_are_one_sentence(api: Client, study: Study, data: Any, word: str) -> None:
    answer = post(api, data)
    check_error(answer, 400, "bad_input")
    assert word in answer.json()["error"]
    assert not Job.objects.exists()


def test_broken_requests_are_json_errors(api: Client, study: Study) -> None:
    url = "/api/studies/study/jobs/"
    check_error(api.post(url, "{", content_type="application/json"), 400, "parse_error")
    check_error(api.post(url, b"\xff", content_type="application/json"), 400, "parse_error")
    check_error(api.post(url, {"kind": "report"}), 415, "unsupported_media_type")
    check_error(api.delete(url), 405, "method_not_allowed")
    check_error(post(api, {"kind": "report"}, "none"), 404, "not_found")
    for address in (
        "nowhere",
        "studies/none/",
        "studies/study/jobs/999/",
        "studies/a%00b/",
        f"studies/study/jobs/{10**30}/",
        "studies/study/x.csv",
    ):
        check_error(api.get(f"/api/{address}"), 404, "not_found")


def test_looking_changes_nothing(api: Client, study: Study) -> None:
    actions.start_job(study, "report")
    before = list(Job.objects.values()), list(Study.objects.values())
    for address in ADDRESSES:
        api.get(f"/api/{address}")
    assert (list(Job.objects.values()), list(Study.objects.values())) == before


NOT_SOUND = [
    b'{"kind": "report", "\\ud800": 1}',
    b'{"kind": "metrics", "metrics": ["\\udfff"]}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("body", NOT_SOUND, ids=["name", "value", "deep"])
def test_json_that_cannot_be_sent_back_is_refused(api: Client, study: Study, body: bytes) -> None:
    answer = api.post("/api/studies/study/jobs/", body, content_type="application/json")
    check_error(answer, 400, "parse_error")


def test_what_is_too_large_is_refused_as_such(api: Client, study: Study) -> None:
    answer = post(api, {"kind": "x" * 3_000_000})
    check_error(answer, 413, "too_large")
