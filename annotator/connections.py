"""Is the database connection from the request before still sound?"""

from __future__ import annotations

import select

from django.db import connection
from django.http import HttpRequest, HttpResponse

from annotator.middleware import GetResponse


class QuietConnection:
    """Spares Django's question to the server before each request: a server that ended has closed the connection, or
    left a last word in it, and on a quiet one nothing came. A connection that is not quiet is checked as ever."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        trust_quiet_connection()
        return self.get_response(request)


def trust_quiet_connection() -> None:
    if connection.vendor != "postgresql" or connection.connection is None or connection.connection.closed:
        return
    waiting = select.poll()
    waiting.register(connection.connection.fileno(), select.POLLIN)
    connection.health_check_done = not waiting.poll(0)  # type: ignore[attr-defined]
