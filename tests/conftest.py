"""What every test shares: an environment of its own, no network, and no silent skips in CI."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import django
import pytest

from tests.environment import NEEDS, ROOT, prepare, service_url, services_required

WEB_FOLDERS = {"api", "app", "grading", "results", "studies"}

prepare()
django.setup()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests by their folder; browser tests run last (their event loop stays in the main thread)."""
    for item in items:
        folder = item.path.relative_to(ROOT / "tests").parts[0]
        if folder in WEB_FOLDERS:
            item.add_marker("web")
        elif folder in ("browser", "proof"):
            item.add_marker(folder)
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def refuse_missing_service(report: pytest.TestReport) -> None:
    """Turns a skip for a missing service into a failure where services are required."""
    if report.skipped and isinstance(report.longrepr, tuple) and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        if reason.startswith(NEEDS) and services_required():
            report.outcome = "failed"
            report.longrepr = f"Not skipped, because services are required here: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    refuse_missing_service(report)
    return report


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """SQLite in a file, as in production: an in-memory database locks quite differently."""
    from django.db import connections

    if connections["default"].vendor == "sqlite":
        name = str(Path(os.environ["VAR_DIR"]) / "test.sqlite3")
        for alias in connections:
            connections[alias].settings_dict["TEST"]["NAME"] = name


def is_local(address: Any) -> bool:
    """Whether a socket address stays on this machine: a path, localhost or a loopback number."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """A test that talks to another machine fails."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guard(address: Any) -> None:
        if not is_local(address):
            raise AssertionError(f"A test tried to reach {address!r}; tests stay on this machine.")

    def guarded_connect(self: socket.socket, address: Any) -> None:
        guard(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        guard(address)
        return connect_ex(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the public replication packages (`data/`, `papers/`), or a plain skip."""
    folder = Path(os.environ.get("CODEJURY_SHARED") or ROOT.parent / "shared").resolve()
    if not (folder / "data").is_dir():
        pytest.skip(f"the public data is not at {folder} (CODEJURY_SHARED names another place)")
    return folder


@pytest.fixture(scope="session")
def postgres_url() -> str:
    """The address of a throw-away PostgreSQL that `make test` and `make proof` start."""
    return service_url("PostgreSQL", "CODEJURY_TEST_DATABASE_URL")


@pytest.fixture(scope="session")
def redis_url() -> str:
    """The address of a throw-away Redis that `make test` and `make proof` start."""
    return service_url("Redis", "CODEJURY_TEST_REDIS_URL")


@pytest.fixture(scope="session")
def sandbox() -> None:
    """The sandbox for generated code works here, or a skip."""
    from metrics.sandbox import why_missing

    missing = why_missing()
    if missing:
        pytest.skip(f"{NEEDS}sandbox: {missing}")
