"""The life of a job's parts: claimed with a lease and a fencing number, done, failed, revived.

The rows are the truth; the broker only wakes workers up, so a message that is lost or comes twice changes
nothing. A claim raises `attempts`; whoever writes later must still hold that number (the fence), so a worker
that was thought dead and comes back writes nothing. Work is computed outside transactions and its effect is
written in one short transaction together with the fenced end of its part. Locks: job first, then part.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connections, transaction
from django.db.models import Q, Sum
from django.utils import timezone

from annotator.results import work
from annotator.results.models import Job, JobPart

log = logging.getLogger(__name__)
MAX_ATTEMPTS = 5
PROGRESS_SECONDS = 1.0
"""How often progress is written at most."""
RESEND_A_ROUND = 500
WAIT_SECONDS = 0.3

OnProgress = Callable[[int, int, str], None]


class LeaseLost(Exception):
    """Somebody else has the part now, or the job was cancelled: what was computed is thrown away."""


def claim(part_id: int) -> int | None:
    """Take a part for this worker; its fencing number, or None when there is nothing to do.

    A part can be taken while it is queued, and while it is running but its lease has run out.
    """
    now = timezone.now()
    with transaction.atomic():
        job = _lock_job_of(part_id)
        if job is None or job.state not in Job.ACTIVE:
            return None
        part = JobPart.objects.get(pk=part_id)
        free = Q(state=JobPart.State.QUEUED) | Q(state=JobPart.State.RUNNING, lease_until__lt=now)
        mine = part.attempts + 1
        if mine > MAX_ATTEMPTS:
            return None
        taken = JobPart.objects.filter(free, pk=part_id, attempts=part.attempts).update(
            state=JobPart.State.RUNNING, attempts=mine, lease_until=_lease_from(now), done=0
        )
        if not taken:
            return None
        if job.state == Job.State.QUEUED:
            job.state, job.started_at = Job.State.RUNNING, now
            job.save(update_fields=["state", "started_at"])
    return mine


def renew(part_id: int, mine: int, *, done: int | None = None, text: str | None = None) -> None:
    """A sign of life, with or without progress. Raises LeaseLost."""
    changes: dict[str, Any] = {"lease_until": _lease_from(timezone.now())}
    if done is not None:
        changes["done"] = done
    with transaction.atomic():
        if text:
            job = _lock_job_of(part_id)
            if job is not None:
                Job.objects.filter(pk=job.pk).update(text=text[:200])
        if not _fenced(part_id, mine).update(**changes):
            raise LeaseLost


def finish(part_id: int, mine: int, effect: Callable[[], None]) -> None:
    """The part's effect and its end, in one transaction; the last part ends the job. Raises LeaseLost."""
    with transaction.atomic():
        job = _lock_job_of(part_id)
        total = JobPart.objects.filter(pk=part_id).values_list("total", flat=True).first()
        ended = {"state": JobPart.State.DONE, "done": total or 0, "lease_until": None}
        if job is None or not _fenced(part_id, mine).update(**ended):
            raise LeaseLost
        effect()
        if not job.parts.exclude(state=JobPart.State.DONE).exists():
            job.state, job.finished_at = Job.State.DONE, timezone.now()
            job.text = job.note
            job.save(update_fields=["state", "finished_at", "text"])


def fail(part_id: int, mine: int, sentence: str) -> None:
    """The part, and with it its job, ends with a sentence; the other parts stop. Raises LeaseLost."""
    with transaction.atomic():
        job = _lock_job_of(part_id)
        if job is None or not _fenced(part_id, mine).update(state=JobPart.State.FAILED, lease_until=None):
            raise LeaseLost
        close(job, Job.State.FAILED, sentence)


def close(job: Job, state: str, sentence: str = "") -> None:
    """End a locked job before its time: parts that have not ended lose their lease."""
    open_parts = job.parts.filter(state__in=(JobPart.State.QUEUED, JobPart.State.RUNNING))
    open_parts.update(state=JobPart.State.CANCELLED, lease_until=None)
    job.state, job.error, job.text, job.finished_at = state, sentence, "", timezone.now()
    job.save(update_fields=["state", "error", "text", "finished_at"])


def sweep() -> list[int]:
    """Revive parts whose worker died, fail those that killed too many; the parts to tell workers of.

    Told anew are also queued parts of which no worker was told yet, or so long ago that the message is lost.
    """
    now = timezone.now()
    active = JobPart.objects.filter(job__state__in=Job.ACTIVE)
    expired = active.filter(state=JobPart.State.RUNNING, lease_until__lt=now)
    for part_id, attempts in list(expired.order_by("pk").values_list("pk", "attempts")):
        _revive(part_id, attempts)
    old = Q(sent_at=None) | Q(sent_at__lt=now - timedelta(seconds=settings.JOB_LEASE_SECONDS))
    waiting = active.filter(old, state=JobPart.State.QUEUED).order_by("pk")
    return list(waiting.values_list("pk", flat=True)[:RESEND_A_ROUND])


def _revive(part_id: int, attempts: int) -> None:
    with suppress(LeaseLost):
        if attempts >= MAX_ATTEMPTS:
            log.error("part %s of a job was given up: its worker died %s times", part_id, attempts)
            fail(part_id, attempts, f"This job was given up: its worker died {attempts} times.")
            return
        expired = JobPart.objects.filter(
            pk=part_id, attempts=attempts, state=JobPart.State.RUNNING, lease_until__lt=timezone.now()
        )
        if expired.update(state=JobPart.State.QUEUED, lease_until=None, sent_at=None, done=0):
            log.warning("part %s of a job was queued again: its worker gave no sign of life", part_id)


def mark_sent(part_ids: Iterable[int]) -> None:
    JobPart.objects.filter(pk__in=list(part_ids)).update(sent_at=timezone.now())


def run_part(part_id: int) -> bool:
    """Claim a part and do it, its failure included. False when there was nothing to do."""
    mine = claim(part_id)
    if mine is None:
        return False
    part = JobPart.objects.select_related("job__study").get(pk=part_id)
    try:
        with _Heartbeat(part_id, mine) as beat:
            effect = work.compute(part, beat.progress)
            beat.check()
        finish(part_id, mine, effect)
    except LeaseLost:
        log.info("part %s was cancelled or taken over", part_id)
    except (OperationalError, InterfaceError):
        # The database is away or busy. The lease runs out, and the part is done anew, `MAX_ATTEMPTS` times.
        log.warning("part %s will be tried again", part_id, exc_info=True)
    except work.EXPECTED as error:
        _fail_quietly(part_id, mine, str(error))
    except Exception:
        number = uuid.uuid4().hex[:8]
        log.exception("part %s of job %s broke (id %s)", part_id, part.job_id, number)
        _fail_quietly(part_id, mine, f"Something broke (id {number}); the log has the details.")
    return True


def _fail_quietly(part_id: int, mine: int, sentence: str) -> None:
    with suppress(LeaseLost):
        fail(part_id, mine, sentence)


class _Heartbeat:
    """Renews the lease from a thread of its own while a part is computed, and passes on its progress."""

    def __init__(self, part_id: int, mine: int) -> None:
        self.part_id, self.mine = part_id, mine
        self.lost, self.stopped = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._beat, name=f"lease-{part_id}", daemon=True)
        self.written = time.monotonic()

    def __enter__(self) -> _Heartbeat:
        self.thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stopped.set()
        self.thread.join()

    def check(self) -> None:
        if self.lost.is_set():
            raise LeaseLost

    def progress(self, done: int, text: str = "") -> None:
        """Called by the computing code, as often as it likes. Raises LeaseLost."""
        self.check()
        if time.monotonic() - self.written >= PROGRESS_SECONDS:
            renew(self.part_id, self.mine, done=done, text=text)
            self.written = time.monotonic()

    def _beat(self) -> None:
        try:
            while not self.stopped.wait(settings.JOB_LEASE_SECONDS / 3):
                try:
                    renew(self.part_id, self.mine)
                except LeaseLost:
                    self.lost.set()
                    return
                except DatabaseError:
                    log.warning("no sign of life for part %s could be written", self.part_id, exc_info=True)
        finally:
            connections.close_all()  # those of this thread


def run_here(job: Job, on_progress: OnProgress | None = None) -> Job:
    """Do a job in this process, beside any workers that help, until it has ended; the job as it ended.

    `on_progress(done, total, text)` is called whenever something changed.
    """
    with _watching(job.pk, on_progress):
        while True:
            job.refresh_from_db()
            if job.state not in Job.ACTIVE:
                return job
            sweep()
            free = job.parts.filter(state=JobPart.State.QUEUED).order_by("number")
            part_id = free.values_list("pk", flat=True).first()
            if part_id is None or not run_part(part_id):
                time.sleep(WAIT_SECONDS)  # workers have the rest


@contextmanager
def _watching(job_id: int, on_progress: OnProgress | None) -> Iterator[None]:
    """Calls `on_progress` from a thread that reads the job's rows, whoever does the parts."""
    if on_progress is None:
        yield
        return
    stopped, told = threading.Event(), [(-1, -1, "")]

    def tell() -> None:
        row = Job.objects.filter(pk=job_id).annotate(done=Sum("parts__done")).values("done", "total", "text")
        for now in row:
            state = (now["done"] or 0, now["total"], now["text"])
            if state != told[0]:
                told[0] = state
                on_progress(*state)

    def watch() -> None:
        while not stopped.wait(PROGRESS_SECONDS / 2):
            with suppress(DatabaseError):
                tell()
        connections.close_all()

    thread = threading.Thread(target=watch, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
        tell()


def _lock_job_of(part_id: int) -> Job | None:
    part = JobPart.objects.filter(pk=part_id).only("job_id").first()
    if part is None:
        return None
    return Job.objects.select_for_update(no_key=True).filter(pk=part.job_id).first()


def _fenced(part_id: int, mine: int) -> Any:
    return JobPart.objects.filter(pk=part_id, attempts=mine, state=JobPart.State.RUNNING)


def _lease_from(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.JOB_LEASE_SECONDS)
