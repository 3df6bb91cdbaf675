"""What the proofs that start real processes share."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2  # type: ignore[import-untyped]
import pytest

DECIDED_HERE = ("DATABASE_URL", "BROKER_URL", "MEDIA_ROOT", "DJANGO_SETTINGS_MODULE")


@pytest.fixture(params=["sqlite", "postgresql"])
def own_environment(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of an installation of its own: SQLite and a folder, then PostgreSQL and Redis."""
    environment = {key: value for key, value in os.environ.items() if key not in DECIDED_HERE} | {
        "VAR_DIR": str(tmp_path / "var"),
        "SECRET_KEY": "only for this proof " + "x" * 32,
    }
    if request.param == "sqlite":
        yield environment
        return
    server, redis = request.getfixturevalue("postgres_url"), request.getfixturevalue("redis_url")
    name = f"proof_{secrets.token_hex(6)}"
    with closing(psycopg2.connect(server)) as connection:
        connection.autocommit = True
        connection.cursor().execute(f"CREATE DATABASE {name}")
        url = urlsplit(server)._replace(path=f"/{name}").geturl()
        try:
            yield environment | {"DATABASE_URL": url, "BROKER_URL": redis}
        finally:
            connection.cursor().execute(f"DROP DATABASE {name} WITH (FORCE)")
