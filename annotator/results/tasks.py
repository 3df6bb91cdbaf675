"""Where Celery comes in: the task, telling workers of parts, and the sweep that each worker runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings
from django.db import connections

from annotator.results import jobs

log = logging.getLogger(__name__)


@shared_task(name="results.run_part")
def run_part(part_id: int) -> None:
    """Do one part of a job, unless somebody else does."""
    jobs.run_part(part_id)


def send(part_ids: Sequence[int]) -> None:
    """Wake workers up for these parts. A broker that is down is no failure: the sweep tells them later."""
    sent = []
    for part_id in part_ids:
        try:
            run_part.apply_async((part_id,), retry=False)
        except Exception as error:  # whatever the transport raises
            log.warning("the broker cannot be reached (%s); workers will find the job themselves", error)
            break
        sent.append(part_id)
    jobs.mark_sent(sent)


def sweep_forever(stopped: threading.Event) -> None:
    """Every JOB_SWEEP_SECONDS: revive what died, resend what was lost."""
    while not stopped.wait(settings.JOB_SWEEP_SECONDS):
        try:
            send(jobs.sweep())
        except Exception:
            log.exception("the sweep failed; the next one comes in %s s", settings.JOB_SWEEP_SECONDS)
        finally:
            connections.close_all()


@worker_ready.connect
def start_sweep(**kwargs: Any) -> None:
    threading.Thread(target=sweep_forever, args=(threading.Event(),), name="sweep", daemon=True).start()
