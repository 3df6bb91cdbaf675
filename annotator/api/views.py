"""The same for machines: JSON and CSV behind a token. `docs/api.md` shows every address."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig
from django.http import Http404
from django.http.response import HttpResponseBase
from django.urls import reverse
from rest_framework import exceptions, status
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from annotator.errors import BadInput, CodejuryError, NotYours
from annotator.middleware import error_payload
from annotator.results import access, actions, export, pages
from annotator.results.models import Job
from annotator.studies.models import Study

JOBS_A_PAGE = 100
NOTHING = "There is nothing at this address."


class AnyAccept(DefaultContentNegotiation):
    """Each address has one format; what the caller would rather have does not matter."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


def answer_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """Every expected failure as {code, error}: a word for machines, a sentence for people."""
    if isinstance(error, CodejuryError):
        return Response(error_payload(error), status=error.status)
    if isinstance(error, Http404):
        error = exceptions.NotFound(NOTHING)
    elif isinstance(error, RequestDataTooBig):
        return Response({"code": "too_large", "error": "What was sent is too large."}, status=413)
    elif isinstance(error, exceptions.ParseError):
        error = exceptions.ParseError(f"What was sent is not JSON: {error.detail}.")
    response = exception_handler(error, context)
    if response is not None and isinstance(error, exceptions.APIException):
        codes = error.get_codes()
        code = codes if isinstance(codes, str) else "bad_input"
        response.data = {"code": code, "error": str(error.detail)}
    return response


class SoundJSON(JSONParser):
    """JSON that can be stored and sent back: not nested without end, and text that is Unicode."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            data = super().parse(stream, media_type, parser_context)
            json.dumps(data, ensure_ascii=False).encode()
        except RecursionError:
            raise exceptions.ParseError("it is nested too deeply") from None
        except UnicodeEncodeError:
            raise exceptions.ParseError("half a surrogate pair is no character") from None
        return data


class View(APIView):
    parser_classes = [SoundJSON]
    content_negotiation_class = AnyAccept


class Index(View):
    def get(self, request: Request) -> Response:
        return Response({"studies": _url(request, "studies")})


class Studies(View):
    def get(self, request: Request) -> Response:
        return Response({"studies": [study_row(request, each) for each in access.get_studies(request.user)]})


class OneStudy(View):
    def get(self, request: Request, slug: str) -> Response:
        study = access.get_study(request.user, slug)
        details = {"seed": study.seed, "notes": study.notes, "counts": access.count_grades(study)}
        return Response({**study_row(request, study), **details})


class Table(View):
    """A table as CSV, streamed: the same bytes as from the page and from the command."""

    def get(self, request: Request, slug: str, name: str) -> HttpResponseBase:
        return export.download(access.get_study(request.user, slug), name)


class Jobs(View):
    def get(self, request: Request, slug: str) -> Response:
        study = access.get_study(request.user, slug)
        jobs = access.get_jobs(study)[:JOBS_A_PAGE]
        return Response({"jobs": [job_row(request, study, job) for job in jobs]})

    def post(self, request: Request, slug: str) -> Response:
        """Start a job; 200 with the job that runs already if it is the very same, else 201."""
        study = access.get_study(request.user, slug)
        if not isinstance(request.data, dict):
            raise BadInput('Send an object like {"kind": "metrics"}.')
        params = {key: value for key, value in request.data.items() if key != "kind"}
        before = set(study.jobs.values_list("pk", flat=True))
        job = actions.start_job(study, str(request.data.get("kind", "")), params, user=request.user)
        known = job.pk in before
        row = job_row(request, study, access.get_job(study, job.pk))
        created = status.HTTP_200_OK if known else status.HTTP_201_CREATED
        return Response(row, status=created, headers={"Location": row["url"]})


class OneJob(View):
    def get(self, request: Request, slug: str, pk: int) -> Response:
        study = access.get_study(request.user, slug)
        return Response(job_row(request, study, access.get_job(study, pk)))


class Nothing(View):
    """Whatever else is asked for: 404 as JSON, once the caller is known."""

    def get(self, request: Request) -> Response:
        raise NotYours(NOTHING)

    post = put = patch = delete = get


def study_row(request: Request, study: Study) -> dict[str, Any]:
    return {
        "slug": study.slug,
        "title": study.title,
        "state": study.state,
        "protocol": study.protocol_name,
        "target": study.target,
        "items": study.item_count,
        "url": _url(request, "study", study.slug),
        "grades": _url(request, "grades", study.slug),
        "scores": _url(request, "scores", study.slug),
        "jobs": _url(request, "jobs", study.slug),
    }


def job_row(request: Request, study: Study, job: Job) -> dict[str, Any]:
    row = pages.job_row(job)
    kept = ("id", "kind", "state", "done", "total", "percent", "text", "error", "created_at", "finished_at")
    return {
        **{key: row[key] for key in kept},
        "params": job.params,
        "url": _url(request, "job", study.slug, job.pk),
    }


def _url(request: Request, name: str, *args: Any) -> str:
    return request.build_absolute_uri(reverse(f"api:{name}", args=args))
