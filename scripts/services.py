"""Throw-away PostgreSQL, Redis and Chromium for tests, proofs and benchmarks.

    with services.running() as urls:  # {"CODEJURY_TEST_DATABASE_URL": ..., "CODEJURY_TEST_REDIS_URL": ...}
        ...

Each server gets a folder of its own, a free port on 127.0.0.1 and a random password, and ends with this
process, however that ends. `scripts/install.py` gets what is missing.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "services"
START_SECONDS = 60
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Nothing but this machine can be looked up.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    # Chromium's own sandbox refuses to run as root; every page of the tests is ours.
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
]


class ServiceError(Exception):
    """A service cannot be found or started; the text says what to do."""


def find_postgres() -> Path | None:
    """The folder with `initdb` and `postgres`: on PATH, Debian's, or what `install.py` brought."""
    on_path = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=version_of, reverse=True)
    brought = sorted(CACHE.glob("postgresql/*/pginstall*/bin"), key=lambda path: path.parent.name)
    for folder in [*([Path(on_path).resolve().parent] if on_path else []), *debian, *brought]:
        if all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres")):
            return folder
    return None


def version_of(folder: Path) -> float:
    try:
        return float(folder.parent.name)
    except ValueError:
        return 0.0


def find_redis() -> Path | None:
    """`redis-server`, or Valkey's server, which speaks the same protocol."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return Path(found)
    brought = [path for path in CACHE.glob("redis/**/*-server") if os.access(path, os.X_OK)]
    return brought[0] if brought else None


def find_chromium() -> Path | None:
    """CHROMIUM, the system's Chromium or Chrome, or the one that Playwright or npm brought."""
    if named := os.environ.get("CHROMIUM"):
        return Path(named) if os.access(named, os.X_OK) else None
    for name in CHROMIUM_NAMES:
        if found := shutil.which(name):
            return Path(found)
    if os.access(CACHE / "chromium" / "chromium", os.X_OK):
        return CACHE / "chromium" / "chromium"
    home = Path(os.environ.get("HOME") or "/nonexistent")
    for folder in (CACHE / "chromium", home / ".cache" / "ms-playwright"):
        for pattern in ("chromium*/chrome-linux*/chrome", "chromium*/chrome-linux*/headless_shell"):
            if found_here := sorted(folder.glob(pattern)):
                return found_here[-1]
    return None


def find_bubblewrap() -> Path | None:
    """`bwrap`, which locks in the generated code that tests run."""
    found = shutil.which("bwrap")
    return Path(found) if found else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def die_with_parent() -> None:
    """On Linux: the server stops when this process is gone, even by kill -9."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def unprivileged_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: what subprocess needs to run it as someone else."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise ServiceError("PostgreSQL refuses to run as root, and there is no user postgres or nobody.")


@contextlib.contextmanager
def own_folder(name: str, owner: dict[str, Any]) -> Iterator[Path]:
    """A folder that only `owner` can read, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix=f"codejury-{name}-"))
    if owner:
        os.chown(folder, owner["user"], owner["group"])
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def server(command: list[str], folder: Path, answers: Any, **options: Any) -> Iterator[None]:
    """Runs a server until it answers, hands over, and stops it; its log is shown if it does not start."""
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C ends the tests first, then this
            preexec_fn=die_with_parent,
            **options,
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not answers():
            if process.poll() is not None or time.monotonic() > deadline:
                tail = log.read_text(errors="replace")[-2000:]
                raise ServiceError(f"{Path(command[0]).name} did not start:\n{tail}")
            time.sleep(0.05)
        yield
    finally:
        # SIGINT: PostgreSQL's fast shutdown, and Redis leaves at once too.
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(frozen=True)
class Cluster:
    """The data of a PostgreSQL server, which may be started on it, killed and started again."""

    binaries: Path
    folder: Path
    owner: dict[str, Any]
    port: int
    url: str

    def command(self, *, durable: bool) -> list[str]:
        """The server's command; unless `durable`, it never waits for the disk."""
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "fsync": "on" if durable else "off",
            "full_page_writes": "on" if durable else "off",
            "max_connections": "200",
            # A test's rows are never committed: it would take the tables for empty, and queries for cheap.
            "autovacuum": "on" if durable else "off",
        }
        settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        return [str(self.binaries / "postgres"), "-D", str(self.folder / "data"), *settings]

    @contextlib.contextmanager
    def running(self, *, durable: bool) -> Iterator[None]:
        command = self.command(durable=durable)
        with server(command, self.folder, lambda: postgres_answers(self.url), **self.owner):
            yield

    def server_pid(self) -> int:
        """The server's first process, by its own note."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])


@contextlib.contextmanager
def cluster(port: int | None = None) -> Iterator[Cluster]:
    """An empty cluster in a folder of its own, removed at the end; no server runs on it yet."""
    binaries = find_postgres()
    if binaries is None:
        raise ServiceError("PostgreSQL is not installed here. " + HOW_TO_GET["postgresql"])
    owner, password, port = unprivileged_user(), secrets.token_hex(12), port or free_port()
    with own_folder("postgresql", owner) as folder:
        secret = folder / "password"
        secret.write_text(password)
        if owner:
            os.chown(secret, owner["user"], owner["group"])
        made = subprocess.run(
            [
                *[str(binaries / "initdb"), f"--pgdata={folder / 'data'}", "--username=codejury"],
                *[
                    f"--pwfile={secret}",
                    "--auth=scram-sha-256",
                    "--encoding=UTF8",
                    "--no-locale",
                    "--no-sync",
                ],
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            **owner,
        )
        if made.returncode:
            raise ServiceError(f"initdb failed:\n{made.stdout}{made.stderr}")
        url = f"postgres://codejury:{password}@127.0.0.1:{port}/postgres"
        yield Cluster(binaries, folder, owner, port, url)


@contextlib.contextmanager
def postgres(*, durable: bool = False) -> Iterator[str]:
    """A PostgreSQL of its own; gives the address of an empty database in it.

    What does not outlive the tests need not wait for the disk; proofs about crashes ask for a `durable` one.
    """
    with cluster() as made, made.running(durable=durable):
        yield made.url


def postgres_answers(url: str) -> bool:
    import psycopg2

    try:
        psycopg2.connect(url, connect_timeout=2).close()
    except psycopg2.OperationalError:
        return False
    return True


@contextlib.contextmanager
def redis() -> Iterator[str]:
    """A Redis (or Valkey) of its own that writes nothing to disk; gives its address."""
    binary = find_redis()
    if binary is None:
        raise ServiceError("Redis is not installed here. " + HOW_TO_GET["redis"])
    port, password = free_port(), secrets.token_hex(12)
    with own_folder("redis", {}) as folder:
        command = [str(binary), "--bind", "127.0.0.1", "--port", str(port), "--requirepass", password]
        command += ["--save", "", "--appendonly", "no", "--dir", str(folder), "--daemonize", "no"]
        url = f"redis://:{password}@127.0.0.1:{port}/0"
        with server(command, folder, lambda: redis_answers(url)):
            yield url


def redis_answers(url: str) -> bool:
    from redis import Redis
    from redis.exceptions import RedisError

    try:
        with Redis.from_url(url, socket_timeout=2) as client:
            return bool(client.ping())
    except RedisError:
        return False


@contextlib.contextmanager
def running(*, durable: bool = False) -> Iterator[dict[str, str]]:
    """PostgreSQL and Redis together; gives the environment variables that name them to tests."""
    with postgres(durable=durable) as database, redis() as broker:
        yield {"CODEJURY_TEST_DATABASE_URL": database, "CODEJURY_TEST_REDIS_URL": broker}


HOW_TO_GET = {
    "postgresql": "Debian, Ubuntu: apt-get install postgresql. Elsewhere: put initdb and postgres on PATH.",
    "redis": "Debian, Ubuntu: apt-get install redis-server. Elsewhere: put redis-server on PATH.",
    "chromium": "Debian: apt-get install chromium. Elsewhere: install Chrome, or set CHROMIUM to its path.",
    "bubblewrap": "Debian, Ubuntu: apt-get install bubblewrap. Elsewhere: put bwrap (0.8 or newer) on PATH.",
}
