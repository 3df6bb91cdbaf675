"""What each process of an installation says of its own database connections: asked inside that process.

gunicorn serves this module's `application`, Celery's worker includes its task.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from celery import shared_task
from django.db import connections

from annotator.wsgi import application as survey

PATH = "/connections"
SQLITE = ("PRAGMA journal_mode", "PRAGMA synchronous")
POSTGRESQL = ("SHOW fsync", "SHOW full_page_writes", "SHOW synchronous_commit")


def ask() -> dict[str, list[Any]]:
    """Alias of the connection -> what decides whether a commit is on disk, in the order asked."""
    found = {}
    for alias in connections:
        connection = connections[alias]
        with connection.cursor() as cursor:
            answers = []
            for question in SQLITE if connection.vendor == "sqlite" else POSTGRESQL:
                cursor.execute(question)
                answers.append(cursor.fetchone()[0])
        found[alias] = answers
    return found


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if environ["PATH_INFO"] != PATH:
        return survey(environ, start_response)
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(ask()).encode()]


@shared_task
def write_down(file: str) -> None:
    """The worker's connections, as JSON in `file`, which appears in one piece."""
    draft = Path(file).with_suffix(".draft")
    draft.write_text(json.dumps(ask()))
    draft.rename(file)
