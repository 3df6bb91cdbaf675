"""Wrong configuration, reported at start-up with a hint."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from django.conf import settings
from django.core import checks


@checks.register()
def media_root_is_writable(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    with contextlib.suppress(OSError):
        settings.MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
    if os.access(settings.MEDIA_ROOT, os.W_OK):
        return []
    return [
        checks.Error(
            "MEDIA_ROOT cannot be written.", hint="Set MEDIA_ROOT to a folder of yours.", id="codejury.E001"
        )
    ]


@checks.register(deploy=True)
def broker_fits_many_machines(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    if settings.USES_SQLITE or not settings.CELERY_BROKER_URL.startswith("filesystem"):
        return []
    return [
        checks.Warning(
            "PostgreSQL with a folder as BROKER_URL: workers on other machines will not hear of new jobs.",
            hint="Set BROKER_URL=redis://host:6379/0",
            id="codejury.W001",
        )
    ]
