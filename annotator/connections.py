"""Is the database connection from the request before still sound?"""

from __future__ import annotations

import select
from typing import Any

from django.core.signals import request_started
from django.db import connection
from django.dispatch import receiver


@receiver(request_started)
def trust_quiet_connection(**_: Any) -> None:
    """Spares Django's question to the server before each request: a server that ended has closed the connection, or
    left a last word in it, and on a quiet one nothing came. A connection that is not quiet is checked as ever."""
    if connection.vendor != "postgresql" or connection.connection is None or connection.connection.closed:
        return
    waiting = select.poll()
    waiting.register(connection.connection.fileno(), select.POLLIN)
    connection.health_check_done = not waiting.poll(0)  # type: ignore[attr-defined]
