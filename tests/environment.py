"""The environment of the tests: settings of its own, and which real services there are.

Tests never touch the developer's data: they read their settings from a temporary folder, whatever the shell
says. `CODEJURY_TEST_ON=postgresql` runs them on the services that `make test` started; the default is SQLite.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEEDS = "needs a real "
"""How the reason of a skip begins that is a failure where services are required."""
SETTINGS = [
    *["ALLOWED_HOSTS", "BROKER_URL", "CSRF_TRUSTED_ORIGINS", "DATABASE_URL", "DEBUG", "HOST", "HTTPS"],
    *[
        "JOB_LEASE_SECONDS",
        "JOB_SWEEP_SECONDS",
        "JOINS_PER_MINUTE",
        "LOG_LEVEL",
        "MEDIA_ROOT",
        "PORT",
        "SECRET_KEY",
    ],
    *["STATIC_ROOT", "VAR_DIR", "WORKER_CONCURRENCY"],
]


def prepare() -> None:
    """Before Django reads its settings: fresh folders, known services, nothing of the developer's."""
    folder = tempfile.mkdtemp(prefix="codejury-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in SETTINGS:
        os.environ.pop(name, None)
    os.environ["VAR_DIR"] = folder
    os.environ["DJANGO_SETTINGS_MODULE"] = "annotator.settings"
    backend = os.environ.get("CODEJURY_TEST_ON") or "sqlite"
    if backend == "postgresql":
        try:
            os.environ["DATABASE_URL"] = os.environ["CODEJURY_TEST_DATABASE_URL"]
            os.environ["BROKER_URL"] = os.environ["CODEJURY_TEST_REDIS_URL"]
        except KeyError as error:
            raise pytest.UsageError(
                f"CODEJURY_TEST_ON=postgresql needs {error}; `make test` sets it."
            ) from None
        os.environ["SECRET_KEY"] = "only for tests " + "x" * 32
    elif backend != "sqlite":
        raise pytest.UsageError(f"CODEJURY_TEST_ON must be sqlite or postgresql, not {backend!r}.")


def services_required() -> bool:
    """In CI and in `make test` a test that finds no PostgreSQL, Redis, Chromium or sandbox fails."""
    names = ("CI", "CODEJURY_REQUIRE_SERVICES")
    return any(os.environ.get(name, "").lower() in ("1", "true", "yes") for name in names)


def service_url(service: str, variable: str) -> str:
    """What the variable says, or a skip that is a failure where services are required."""
    url = os.environ.get(variable, "")
    if not url:
        pytest.skip(f"{NEEDS}{service}: run `make test`, or set {variable}")
    return url
