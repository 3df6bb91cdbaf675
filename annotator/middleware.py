"""One place turns an expected failure into a page or JSON; one sets the security headers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import translation

from annotator.errors import BadInput, CodejuryError

CSP = "; ".join(
    [
        "default-src 'self'",
        "img-src 'self' data:",
        "style-src 'self' 'unsafe-inline'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)

GetResponse = Callable[[HttpRequest], HttpResponse]


class SecurityHeaders:
    """Adds the content security policy to each answer that has none of its own."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", CSP)
        return response


def error_payload(error: CodejuryError) -> dict[str, Any]:
    payload: dict[str, Any] = {"code": error.code, "error": str(error)}
    if isinstance(error, BadInput) and error.lines:
        payload["lines"] = error.lines
    return payload


class ErrorAnswers:
    """Turns CodejuryError into its page (people) or JSON (scripts), with its status."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, CodejuryError):
            return None
        if "application/json" in request.headers.get("Accept", ""):
            return JsonResponse(error_payload(error), status=error.status)
        with translation.override(getattr(request, "LANGUAGE_CODE", settings.LANGUAGE_CODE)):
            return render(request, "error.html", {"error": error}, status=error.status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's hook for what it refuses itself. Reads nothing of the request, which may be unreadable."""
    status = 413 if isinstance(exception, RequestDataTooBig) else 400
    return HttpResponse(render_to_string("400.html"), status=status)
