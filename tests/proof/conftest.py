"""What the proofs that start real processes share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import serving

Say = Callable[[str], None]


DATABASES = ["sqlite", "postgresql"]


@contextmanager
def fresh_environment(request: pytest.FixtureRequest, folder: Path) -> Iterator[dict[str, str]]:
    """The environment of an installation of its own: SQLite and a folder, or PostgreSQL and Redis."""
    if request.param == "sqlite":
        yield serving.own_environment(folder)
        return
    server, redis = request.getfixturevalue("postgres_url"), request.getfixturevalue("redis_url")
    with serving.own_database(server) as url:
        yield serving.own_environment(folder, DATABASE_URL=url, BROKER_URL=redis)


@pytest.fixture(params=DATABASES)
def own_environment(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    with fresh_environment(request, tmp_path) as environment:
        yield environment


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Prints a line of figures among the results of the proofs."""

    def print_line(line: str) -> None:
        with capsys.disabled():
            print(f"\n  {line}", end="", flush=True)

    return print_line
