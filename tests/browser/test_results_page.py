"""A researcher in a real browser: log in, start jobs that a real worker does, watch them, read the report."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from playwright.sync_api import Page, expect

import metrics
from annotator.results.models import Job, MetricScore, Report
from tests.browser.conftest import OpenPage
from tests.browser.helpers import DESK, PHONE, assert_accessible, shoot
from tests.factories import give_grades, make_researcher, make_study

JOB_MILLISECONDS = 60_000


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """A Celery worker on the database of the test."""
    database = connection.settings_dict
    environment = dict(os.environ) | {"SECRET_KEY": settings.SECRET_KEY, "WORKER_CONCURRENCY": "1"}
    if connection.vendor == "sqlite":
        environment["DATABASE_URL"] = f"sqlite:///{database['NAME']}"
    else:
        name, user, host = database["NAME"], database["USER"], database["HOST"]
        environment["DATABASE_URL"] = (
            f"postgres://{user}:{database['PASSWORD']}@{host}:{database['PORT']}/{name}"
        )
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "annotator.celery",
            "--quiet",
            "worker",
            "--loglevel",
            "WARNING",
        ],
        cwd=settings.BASE_DIR,
        env=environment,
        start_new_session=True,
    )
    yield process
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def log_in(page: Page) -> None:
    page.get_by_label("Username").fill("researcher")
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Log in").click()


def test_from_grades_to_a_report_by_clicks(page: Page, worker: Any) -> None:
    study = make_study("clicks", problems=8, systems=("a", "b", "c"))
    give_grades(study, annotators=4)
    make_researcher()
    page.goto("/results/clicks/")
    log_in(page)
    expect(page.get_by_text("There is no report yet")).to_be_visible()
    page.get_by_role("button", name="Compute metrics").click()
    expect(page.locator(".state.done")).to_have_count(1, timeout=JOB_MILLISECONDS)
    assert MetricScore.objects.filter(snippet__problem__study=study).count() == 8 * 3 * len(metrics.names())

    page.get_by_role("button", name="Build report").click()
    expect(page.get_by_text("How far each metric agrees with people")).to_be_visible(timeout=JOB_MILLISECONDS)
    assert Job.objects.filter(state="done").count() == 2
    report = Report.objects.get()
    for figure in page.locator("figure img").all():
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_js_property("complete", True)
        assert figure.evaluate("image => image.naturalWidth") > 100
    for row in report.summary["tables"]["correlations"]["rows"]:
        expect(page.get_by_role("row", name=f"{row[0]} {row[1]} ").first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export grades").click()
    assert download.value.path().read_text().count("\n") == 1 + 4 * study.item_count
    shoot(page, "results-light")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_results_are_accessible_and_fit_a_phone(open_page: OpenPage, scheme: str) -> None:
    from annotator.results import actions, jobs

    study = make_study("look", problems=4)
    give_grades(study, annotators=3)
    for kind in ("metrics", "report"):
        assert jobs.run_here(actions.start_job(study, kind)).state == "done"
    make_researcher()
    page = open_page(color_scheme=scheme)
    page.goto("/results/look/")
    log_in(page)
    for path in ("/results/look/", "/results/", f"/results/look/reports/{Report.objects.get().pk}/"):
        page.goto(path)
        assert_accessible(page)
        page.set_viewport_size(PHONE)
        width = page.locator("html").evaluate("html => html.scrollWidth")
        assert width <= PHONE["width"], path
        page.set_viewport_size(DESK)
