"""The tests' own environment does what it promises."""

from __future__ import annotations

import os
import socket
import sqlite3
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connections

from tests import conftest
from tests.environment import NEEDS, ROOT


def skipped(reason: str) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid="x",
        location=("x", 1, "x"),
        keywords={},
        outcome="skipped",
        longrepr=("x", 1, reason),
        when="setup",
    )


@pytest.mark.parametrize("variable", ["CI", "CODEJURY_REQUIRE_SERVICES"])
def test_a_missing_service_fails_where_services_are_required(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name in ("CI", "CODEJURY_REQUIRE_SERVICES"):
        monkeypatch.delenv(name, raising=False)
    report = skipped(f"Skipped: {NEEDS}Redis: how to get it")
    conftest.refuse_missing_service(report)
    assert report.skipped
    monkeypatch.setenv(variable, "1")
    conftest.refuse_missing_service(report)
    assert report.failed
    assert "needs a real Redis" in str(report.longrepr)
    other = skipped("Skipped: the public data is not there")
    conftest.refuse_missing_service(other)
    assert other.skipped


def test_no_test_reaches_another_machine() -> None:
    with socket.socket() as probe, pytest.raises(AssertionError, match="stay on this machine"):
        probe.connect(("192.0.2.1", 80))
    with socket.socket() as probe, pytest.raises(AssertionError, match="stay on this machine"):
        probe.connect(("example.org", 80))


@pytest.mark.web
@pytest.mark.django_db
def test_the_database_is_the_one_that_was_asked_for() -> None:
    expected = os.environ.get("CODEJURY_TEST_ON") or "sqlite"
    connection = connections["default"]
    assert connection.vendor == expected
    with connection.cursor() as cursor:
        if expected == "sqlite":
            cursor.execute("PRAGMA journal_mode")
            assert cursor.fetchone()[0] == "wal"
            assert Path(connection.settings_dict["NAME"]).is_file()
            assert sqlite3.sqlite_version_info >= (3, 35)
        else:
            cursor.execute("SHOW server_version_num")
            assert int(cursor.fetchone()[0]) >= 140000
            assert settings.CELERY_BROKER_URL.startswith("redis://")


def test_nothing_is_written_to_the_developers_folders() -> None:
    for folder in (settings.VAR_DIR, settings.MEDIA_ROOT, settings.STATIC_ROOT):
        assert not Path(folder).is_relative_to(ROOT)


def test_redis_answers(redis_url: str) -> None:
    from redis import Redis

    with Redis.from_url(redis_url) as client:
        assert client.ping()


def test_postgresql_answers(postgres_url: str) -> None:
    import psycopg2

    connection = psycopg2.connect(postgres_url)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
    connection.close()
