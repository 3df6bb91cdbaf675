"""What the pages of jobs and reports show, as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Sum
from django.db.models.fields.json import KT
from django.urls import reverse

from annotator.results.models import Job, Report

FIRST_TABLES = ("correlations", "systems")
"""Shown with the report; what else there is can be unfolded."""


def job_rows(jobs: Iterable[Job]) -> list[dict[str, Any]]:
    """The jobs of `access.get_jobs` with their progress in percent, in all and by metric."""
    return [job_row(job) for job in jobs]


def job_row(job: Job) -> dict[str, Any]:
    done: int = job.done  # type: ignore[attr-defined]  # annotated by access.get_jobs
    return {
        "id": job.pk,
        "kind": job.kind,
        "title": job.get_kind_display(),
        "metrics": job.params.get("metrics", []),
        "state": job.state,
        "state_text": job.get_state_display(),
        "active": job.state in Job.ACTIVE,
        "done": done,
        "total": job.total,
        "percent": 100 * done // job.total if job.total else 0,
        "by_metric": by_metric(job) if job.kind == Job.Kind.METRICS and job.state in Job.ACTIVE else [],
        "text": job.text,
        "error": job.error,
        "created_at": job.created_at.isoformat(timespec="seconds"),
        "finished_at": job.finished_at and job.finished_at.isoformat(timespec="seconds"),
    }


def by_metric(job: Job) -> list[dict[str, Any]]:
    """How far a metrics job is with each metric: name, percent."""
    parts = job.parts.annotate(metric=KT("params__metric")).values_list("metric")
    sums = {name: (done, total) for name, done, total in parts.annotate(Sum("done"), Sum("total"))}
    known = [(name, *sums[name]) for name in job.params["metrics"] if name in sums]
    return [{"name": name, "percent": 100 * done // max(total, 1)} for name, done, total in known]


def with_mean(counts: dict[str, int]) -> dict[str, Any]:
    """The counts and, as text, how many grades an item has on average."""
    items = counts["items"]
    return {**counts, "per_item": f"{counts['grades'] / items:.1f}" if items else "0"}


def report_page(report: Report) -> dict[str, Any]:
    """A report's tables and figures with the addresses of its files."""
    summary, study = report.summary, report.study
    names = list(report.files.values_list("name", flat=True))

    def url(name: str) -> str:
        return reverse("results:report_file", args=[study.slug, report.pk, name])

    tables = [{"name": name, **table} for name, table in summary.get("tables", {}).items()]
    return {
        "id": report.pk,
        "created_at": report.created_at,
        "seed": summary.get("seed"),
        "resamples": summary.get("resamples"),
        "aggregator": summary.get("aggregator"),
        "decimals": summary.get("decimals"),
        "command": summary.get("command", ""),
        "warnings": summary.get("warnings", []),
        "tables": [table for table in tables if table["name"] in FIRST_TABLES],
        "more_tables": [table for table in tables if table["name"] not in FIRST_TABLES],
        "figures": [figure | {"url": url(figure["file"])} for figure in summary.get("figures", [])],
        "files": [{"name": name, "url": url(name) + "?download"} for name in names],
        "zip_url": reverse("results:report_zip", args=[study.slug, report.pk]),
        "url": reverse("results:report", args=[study.slug, report.pk]),
    }
