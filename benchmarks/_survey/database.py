"""A throw-away PostgreSQL that keeps its promises as one in production does: it waits for the disk."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks._survey.processes import family
from scripts import services


@dataclass(frozen=True)
class Server:
    url: str
    pid: int

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """The address of a new database."""
        import psycopg2

        name = f"bench_{secrets.token_hex(6)}"
        with contextlib.closing(psycopg2.connect(self.url)) as connection:
            connection.autocommit = True
            connection.cursor().execute(f"CREATE DATABASE {name}")
            try:
                yield urlsplit(self.url)._replace(path=f"/{name}").geturl()
            finally:
                connection.cursor().execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """PostgreSQL with fsync, full-page writes and synchronous commit on. Raises services.ServiceError."""
    binaries = services.find_postgres()
    if binaries is None:
        raise services.ServiceError("PostgreSQL is not installed here. " + services.HOW_TO_GET["postgresql"])
    owner, password, port = services.unprivileged_user(), secrets.token_hex(12), services.free_port()
    with services.own_folder("postgresql", owner) as folder:
        secret, data = folder / "password", folder / "data"
        secret.write_text(password)
        if owner:
            os.chown(secret, owner["user"], owner["group"])
        access = ["--username=codejury", f"--pwfile={secret}", "--auth=scram-sha-256"]
        made = subprocess.run(
            [str(binaries / "initdb"), f"--pgdata={data}", *access, "--encoding=UTF8", "--no-locale"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            **owner,
        )
        if made.returncode:
            raise services.ServiceError(f"initdb failed:\n{made.stdout}{made.stderr}")
        command = [str(binaries / "postgres"), "-D", str(data)]
        for option in (f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories="):
            command += ["-c", option]
        command += ["-c", "max_connections=200"]
        url = f"postgres://codejury:{password}@127.0.0.1:{port}/postgres"
        with services.server(command, folder, lambda: services.postgres_answers(url), **owner):
            yield Server(url, find_pid(data))


def find_pid(data: Path) -> int:
    """The postmaster of the data folder: its file names it."""
    pid = int((data / "postmaster.pid").read_text(encoding="utf-8").split("\n")[0])
    if not family(pid):
        raise services.ServiceError("PostgreSQL ended at once.")
    return pid
