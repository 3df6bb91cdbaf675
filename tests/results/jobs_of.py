"""What the tests of jobs share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from annotator.results import actions, tasks
from annotator.results.models import Job, JobPart
from annotator.studies.models import Study


def silence(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Fills with the parts that workers are told of; no worker listens."""
    told: list[int] = []
    monkeypatch.setattr(tasks.run_part, "apply_async", lambda args, **options: told.append(args[0]))
    return told


def start(study: Study, *names: str) -> Job:
    return actions.start_job(study, "metrics", {"metrics": list(names)})


def only_part(job: Job) -> JobPart:
    return job.parts.get()


def expire(part: JobPart) -> None:
    JobPart.objects.filter(pk=part.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def in_threads(count: int, work_of: Callable[[int], Any]) -> list[Any]:
    results: list[Any] = [None] * count
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            barrier.wait()
            results[number] = work_of(number)
        except Exception as error:
            results[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
