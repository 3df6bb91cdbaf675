"""Every change that a researcher makes to results: start a job, cancel one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

import metrics
from annotator.errors import BadInput
from annotator.results import access, jobs, tasks, work
from annotator.results.models import Job, JobPart
from annotator.studies.models import Study

AGGREGATORS = ("m-msr", "mean")
RESAMPLES = 1000
DECIMALS = 3
"""Reports compare scores as the published studies do: at three decimals. Closer ones are ties."""
MAX_DECIMALS = 12
MAX_RESAMPLES = 100_000
MAX_SEED = 2**63 - 1
ONE_GRADE = (
    "M-MSR cannot be used here: it tells annotators apart by the items that they share, and by this protocol "
    "an item has one grade. Use mean."
)


def start_job(
    study: Study, kind: str, params: dict[str, Any] | None = None, *, user: access.User | None = None
) -> Job:
    """A new job, or the one that does the very same already.

    kind `metrics`: params {"metrics": [names]}, default those of `metrics.defaults`. kind `report`:
    params {"seed", "resamples", "aggregator", "decimals"}, defaults the study's seed, 1000, m-msr and 3. Raises
    BadInput, metrics.UnknownMetric.
    A metrics job that finds nothing to score is a failed job, with a sentence.
    """
    checked = check_params(study, kind, params or {})
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        same = study.jobs.filter(kind=kind, state__in=Job.ACTIVE).order_by("pk")
        return next((job for job in same if job.params == checked), None) or _create(
            study, kind, checked, user
        )


def _create(study: Study, kind: str, params: dict[str, Any], user: access.User | None) -> Job:
    job = Job(study=study, kind=kind, params=params, created_by_id=user.pk if user else None)
    try:
        parts, job.note = _plan(study, kind, params)
    except BadInput as error:
        job.state, job.error, job.finished_at = Job.State.FAILED, str(error), timezone.now()
        job.save()
        return job
    job.total = sum(part["units"] for part in parts)
    job.save()
    rows = JobPart.objects.bulk_create(
        JobPart(job=job, number=number, params=part, total=part["units"])
        for number, part in enumerate(parts, start=1)
    )
    first = [row.pk for row in rows[: jobs.RESEND_A_ROUND]]
    transaction.on_commit(partial(tasks.send, first))
    return job


def _plan(study: Study, kind: str, params: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    if kind == Job.Kind.METRICS:
        return work.plan_scores(study, params["metrics"])
    return [{"units": work.REPORT_STEPS}], ""


def cancel_job(job: Job) -> None:
    """Stop a job that has not ended; scores that were written stay. An ended job stays as it is."""
    with transaction.atomic():
        locked = Job.objects.select_for_update(no_key=True).get(pk=job.pk)
        if locked.state in Job.ACTIVE:
            jobs.close(locked, Job.State.CANCELLED)


def check_params(study: Study, kind: str, params: dict[str, Any]) -> dict[str, Any]:
    """The params in full and in one form, so that equal jobs look equal."""
    if not isinstance(params, dict):
        raise BadInput("The parameters of a job must be an object with names and values.")
    allowed = {"metrics": ("metrics",), "report": ("seed", "resamples", "aggregator", "decimals")}.get(kind)
    if allowed is None:
        raise BadInput("A job is of the kind metrics or report.")
    unknown = sorted(set(params) - set(allowed))
    if unknown:
        raise BadInput(f"A {kind} job does not know {', '.join(unknown)}; it knows {', '.join(allowed)}.")
    if kind == Job.Kind.METRICS:
        return {"metrics": check_metrics(params.get("metrics"))}
    truth = study.read_protocol().truth
    aggregator = truth if params.get("aggregator") is None else params["aggregator"]
    if aggregator not in AGGREGATORS:
        raise BadInput(f"The aggregator must be one of {', '.join(AGGREGATORS)}.")
    if aggregator == "m-msr" and truth == "mean":
        raise BadInput(ONE_GRADE)
    return {
        "seed": _whole(params.get("seed"), "seed", study.seed, 0, MAX_SEED),
        "resamples": _whole(params.get("resamples"), "resamples", RESAMPLES, 1, MAX_RESAMPLES),
        "aggregator": aggregator,
        "decimals": _whole(params.get("decimals"), "decimals", DECIMALS, 0, MAX_DECIMALS),
    }


def check_metrics(names: Sequence[str] | None) -> list[str]:
    """Each name once, in the registry's order; the usual ones when none is named."""
    if names is None or names == []:
        return metrics.defaults()
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise BadInput("The metrics must be a list of names.")
    for name in names:
        try:
            metrics.get(name)
        except metrics.UnknownMetric as error:
            raise BadInput(str(error)) from None
    return [name for name in metrics.names() if name in names]


def _whole(value: Any, name: str, default: int, low: int, high: int) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadInput(f"The {name} must be a whole number from {low} to {high}.")
    return value
