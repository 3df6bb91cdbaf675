"""Wrong configuration, reported at start-up with a hint."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connections


@checks.register()
def media_root_is_writable(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    with contextlib.suppress(OSError):
        settings.MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
    if os.access(settings.MEDIA_ROOT, os.W_OK):
        return []
    return [
        checks.Error(
            "MEDIA_ROOT cannot be written.", hint="Set MEDIA_ROOT to a folder of yours.", id="codejury.E001"
        )
    ]


@checks.register(deploy=True)
def broker_fits_many_machines(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    if settings.USES_SQLITE or not settings.CELERY_BROKER_URL.startswith("filesystem"):
        return []
    return [
        checks.Warning(
            "PostgreSQL with a folder as BROKER_URL: workers on other machines will not hear of new jobs.",
            hint="Set BROKER_URL=redis://host:6379/0",
            id="codejury.W001",
        )
    ]


DURABLE = ("fsync", "synchronous_commit", "full_page_writes")


@checks.register(checks.Tags.database)
def answers_reach_the_disk(
    *, app_configs: Any, databases: Sequence[str] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """An answered grade survives a power cut only where the database waits for the disk."""
    found: list[checks.CheckMessage] = []
    for alias in databases or []:
        connection = connections[alias]
        if connection.vendor != "postgresql":
            continue  # SQLite: settings.py sets synchronous FULL on every connection
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [list(DURABLE)])
                off = sorted(name for name, value in cursor.fetchall() if value == "off")
        except DatabaseError:
            continue  # migrate and check tell that by themselves
        if off:
            found.append(
                checks.Warning(
                    f"PostgreSQL runs with {', '.join(off)} off: answers can be lost when its machine fails.",
                    hint="Turn it on in postgresql.conf.",
                    id="codejury.W002",
                )
            )
    return found
