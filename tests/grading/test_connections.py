"""A connection that the database closed is noticed before a request uses it."""

from __future__ import annotations

import time
from contextlib import closing

import pytest
from django.core.signals import request_started
from django.db import connection, connections
from django.http import HttpRequest, HttpResponse

from annotator.connections import QuietConnection
from annotator.grading.models import Annotator

pytestmark = pytest.mark.django_db(databases=["default", "reader"], transaction=True)


def start_request() -> None:
    """What a request does to the connection before it is used."""
    request_started.send(None)
    connection.health_check_done = False  # type: ignore[attr-defined]
    QuietConnection(lambda request: HttpResponse())(HttpRequest())


def test_a_quiet_connection_is_not_asked_and_a_closed_one_is_replaced() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no server that could close a connection")
    connection.ensure_connection()
    connection.health_check_enabled = True  # type: ignore[attr-defined]
    connection.close_at = None  # type: ignore[attr-defined]
    pid = connection.connection.info.backend_pid
    start_request()
    assert connection.health_check_done  # type: ignore[attr-defined]
    other = connections.create_connection("default")
    with closing(other), other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    time.sleep(0.2)
    start_request()
    assert not connection.health_check_done  # type: ignore[attr-defined]
    assert not Annotator.objects.exists()
    assert connection.connection.info.backend_pid != pid
