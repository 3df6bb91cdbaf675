"""Entry for gunicorn: `gunicorn annotator.wsgi`."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application
from django.utils.http import parse_header_parameters

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
CHARSET = re.compile(r";\s*charset\*?\s*=[^;]*", re.IGNORECASE)

django = get_wsgi_application()
# What is loaded by now stays, and a request leaves few cycles: the collector was a tenth of its CPU.
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 20, 20)


def sound_content_type(value: str) -> str:
    """The Content-Type without a charset: all that is sent is UTF-8, as HTML and JSON demand.

    Django would read forms and addresses in whatever codec of Python's the header names (rot13, undefined),
    and breaks before the first middleware.
    """
    value = CHARSET.sub("", value)
    try:
        parse_header_parameters(value)
    except (LookupError, ValueError):
        return ""
    return value


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if "CONTENT_TYPE" in environ:
        environ["CONTENT_TYPE"] = sound_content_type(environ["CONTENT_TYPE"])
    return django(environ, start_response)
