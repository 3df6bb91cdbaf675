"""The researcher's pages. Thin: who asks, one getter or action, a page or a file."""

from __future__ import annotations

import io
import mimetypes
import zipfile
from collections.abc import Callable
from functools import wraps
from pathlib import PurePosixPath
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

import metrics
from annotator.errors import BadInput, NotYours
from annotator.results import access, actions, export, pages
from annotator.results.models import Job, Report
from annotator.studies.models import Study

JOBS_SHOWN = 8
SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""A figure that is opened by itself runs nothing and loads nothing."""
TEXT_TYPES = {".csv": "text/csv; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml"}

View = Callable[..., HttpResponseBase]


def researchers_only(view: View) -> View:
    """Asks strangers to log in; to people who are logged in but no researchers, nothing is here."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not access.is_researcher(request.user):
            raise NotYours("There is nothing here. Please check the link.")
        return view(request, *args, **kwargs)

    return never_cache(guarded)


@require_safe
@researchers_only
def index(request: HttpRequest) -> HttpResponse:
    studies = access.get_studies(request.user)
    rows = [{"study": study, "counts": access.count_grades(study)} for study in studies]
    return render(request, "results/index.html", {"rows": rows})


@require_safe
@researchers_only
def study(request: HttpRequest, slug: str) -> HttpResponse:
    found = access.get_study(request.user, slug)
    latest = found.reports.order_by("-id").first()
    jobs = pages.job_rows(access.get_jobs(found)[:JOBS_SHOWN])
    context = {
        "study": found,
        "counts": pages.with_mean(access.count_grades(found)),
        "join_link": request.build_absolute_uri(reverse("join", args=[found.slug])),
        "metrics": [(name, name in metrics.defaults()) for name in metrics.names()],
        "jobs": jobs,
        "active": any(job["active"] for job in jobs),
        "report": latest and pages.report_page(latest),
        "reports": access.get_reports(found),
    }
    return render(request, "results/study.html", context)


@require_safe
@researchers_only
def table(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    return export.download(access.get_study(request.user, slug), name)


@require_safe
@researchers_only
def jobs_json(request: HttpRequest, slug: str) -> JsonResponse:
    """The jobs as the page shows them; `html` replaces the list while something runs."""
    found = access.get_study(request.user, slug)
    jobs = pages.job_rows(access.get_jobs(found)[:JOBS_SHOWN])
    html = render(request, "results/jobs.html", {"study": found, "jobs": jobs}).content.decode()
    return JsonResponse({"jobs": jobs, "active": any(job["active"] for job in jobs), "html": html})


@require_POST
@researchers_only
def start_job(request: HttpRequest, slug: str) -> HttpResponse:
    found = access.get_study(request.user, slug)
    kind = request.POST.get("kind", "")
    params: dict[str, Any] = {}
    if kind == Job.Kind.METRICS:
        params["metrics"] = request.POST.getlist("metric")
        if not params["metrics"]:
            return _back(request, found, "Choose at least one metric.")
    try:
        job = actions.start_job(found, kind, params, user=request.user)
    except BadInput as error:
        return _back(request, found, str(error))
    return _back(request, found, job.error)


@require_POST
@researchers_only
def cancel_job(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = access.get_study(request.user, slug)
    actions.cancel_job(access.get_job(found, pk))
    return _back(request, found)


@require_safe
@researchers_only
def report(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = access.get_study(request.user, slug)
    context = {"study": found, "report": pages.report_page(access.get_report(found, pk))}
    return render(request, "results/report.html", context)


@require_safe
@researchers_only
def report_file(request: HttpRequest, slug: str, pk: int, name: str) -> HttpResponse:
    found = access.get_report(access.get_study(request.user, slug), pk)
    file = access.get_report_file(found, name)
    suffix = PurePosixPath(name).suffix
    kind = TEXT_TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    response = HttpResponse(bytes(file.content), content_type=kind)
    response["Content-Security-Policy"] = SANDBOX
    response["X-Content-Type-Options"] = "nosniff"
    if suffix != ".svg" or "download" in request.GET:
        save_as = f"{slug}-{PurePosixPath(name).name}"
        response["Content-Disposition"] = f'attachment; filename="{save_as}"'
    return response


@require_safe
@researchers_only
def report_zip(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = access.get_report(access.get_study(request.user, slug), pk)
    response = HttpResponse(_zip(found), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{slug}-report-{pk}.zip"'
    return response


def _zip(report: Report) -> bytes:
    """All files of a report; the same report gives the same bytes."""
    buffer = io.BytesIO()
    moment = report.created_at.timetuple()[:6]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in report.files.iterator(chunk_size=1):
            entry = zipfile.ZipInfo(f"{report.study.slug}-report-{report.pk}/{file.name}", moment)
            archive.writestr(entry, bytes(file.content), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _back(request: HttpRequest, study: Study, sentence: str = "") -> HttpResponse:
    if sentence:
        messages.error(request, sentence)
    return redirect("results:study", study.slug)
