"""`manage.py serve`: web server and worker together on one machine, restarted when they die."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotator.studies.models import Study

STOP_SECONDS = 20
START_SECONDS = 60
QUICK_DEATH_SECONDS = 5
MAX_WAIT_SECONDS = 30


def die_with_parent() -> None:
    """On Linux: a child does not outlive a `serve` that was killed (it would keep the port)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


@dataclass
class Child:
    """A process that should be running: its command, and when it may be started again."""

    name: str
    command: list[str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    not_before: float = 0.0
    wait: float = field(default=0.5)

    def start(self) -> None:
        # Own process group: Ctrl-C reaches `serve` alone, which then stops the children in order.
        self.process = subprocess.Popen(
            self.command,
            cwd=settings.BASE_DIR,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        self.started = time.monotonic()

    def died(self) -> int | None:
        return None if self.process is None else self.process.poll()

    def plan_restart(self) -> None:
        """At once after a long life; later and later when it dies young."""
        now = time.monotonic()
        young = now - self.started < QUICK_DEATH_SECONDS
        self.wait = min(self.wait * 2, MAX_WAIT_SECONDS) if young else 0.5
        self.not_before, self.process = now + self.wait, None

    def signal_group(self, number: int) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


class Command(BaseCommand):
    help = (
        "Starts the web server (gunicorn) and one worker (Celery) on this machine, restarts them when they "
        "die, prints the links and stops both cleanly on Ctrl-C. For several machines see docs/deployment.md."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=settings.PORT, help="default: PORT or 8000")
        parser.add_argument(
            "--host",
            default=settings.HOST,
            help="default: HOST or 127.0.0.1 (this machine only)",
        )
        parser.add_argument(
            "--threads",
            type=int,
            default=4,
            help="threads of each web process (default 4)",
        )
        parser.add_argument("--web-processes", type=int, default=2, help="web processes (default 2)")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        if not 1 <= port <= 65535:
            raise CommandError(f"--port must be from 1 to 65535, not {port}.")
        self.check_port(host, port)
        self.check(databases=["default"])
        children = [
            Child(
                "web server",
                self.web_command(host, port, options["web_processes"], options["threads"]),
            ),
            Child("worker", self.worker_command()),
        ]
        stopping: list[int] = []
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda received, frame: stopping.append(received))
        try:
            for child in children:
                child.start()
            if self.wait_for_health(children[0], host, port, stopping):
                self.print_links(host, port)
            self.supervise(children, stopping)
        finally:
            self.stop(children)

    def check_port(self, host: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except PermissionError:
                raise CommandError(
                    f"Port {port} needs more rights. Choose one above 1023: --port 8001"
                ) from None
            except OSError as error:
                raise CommandError(
                    f"Cannot listen on {host}:{port} ({error.strerror}). "
                    "Another program may be using it: stop it, or choose another port with "
                    f"--port {port + 1} (make run PORT={port + 1})."
                ) from None

    def web_command(self, host: str, port: int, processes: int, threads: int) -> list[str]:
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return [
            *[sys.executable, "-m", "gunicorn", "annotator.wsgi", "--bind", address],
            *[
                "--workers",
                str(processes),
                "--threads",
                str(threads),
                "--worker-class",
                "gthread",
            ],
            *[
                "--graceful-timeout",
                "10",
                "--timeout",
                "60",
                "--log-level",
                "warning",
                "--no-control-socket",
            ],
        ]

    def worker_command(self) -> list[str]:
        return [
            *[
                sys.executable,
                "-m",
                "celery",
                "-A",
                "annotator.celery",
                "--quiet",
                "worker",
            ],
            *[
                "--loglevel",
                "WARNING",
                "--without-gossip",
                "--without-mingle",
                "--without-heartbeat",
            ],
        ]

    def wait_for_health(self, web: Child, host: str, port: int, stopping: list[int]) -> bool:
        """Until /healthz answers. Raises CommandError when it does not come up."""
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and not stopping:
            if web.died() is not None:
                raise CommandError("The web server did not start: see the lines above.")
            try:
                with urllib.request.urlopen(f"http://{shown}:{port}/healthz", timeout=2) as answer:
                    if answer.status == 200:
                        return True
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        if stopping:
            return False
        raise CommandError(f"The web server did not answer on {shown}:{port} within {START_SECONDS} seconds.")

    def print_links(self, host: str, port: int) -> None:
        shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1") else host
        base = f"http://{shown}:{port}"
        study = Study.objects.filter(state=Study.State.OPEN).order_by("-opened_at").first()
        study = Study.objects.filter(state=Study.State.OPEN, slug="demo").first() or study
        slug = study.slug if study else ""
        self.stdout.write("")
        self.stdout.write("Codejury is running." + ("" if study else " No study is open yet."))
        if study:
            self.stdout.write(f"  Join as annotator  {base}/join/{slug}/")
        self.stdout.write(f"  Admin              {base}/admin/")
        self.stdout.write(f"  Results            {base}/results/{slug + '/' if slug else ''}")
        self.stdout.write("Stop with Ctrl-C.")
        self.stdout.flush()

    def supervise(self, children: list[Child], stopping: list[int]) -> None:
        while not stopping:
            for child in children:
                status = child.died()
                if status is not None:
                    child.signal_group(signal.SIGKILL)  # what is left of its group
                    child.plan_restart()
                    self.stderr.write(f"The {child.name} ended (status {status}); starting it again.")
                elif child.process is None and time.monotonic() >= child.not_before:
                    child.start()
            time.sleep(0.2)

    def stop(self, children: list[Child]) -> None:
        """SIGTERM: gunicorn finishes its requests, Celery its part of a job; SIGKILL for what stays."""
        for child in children:
            if child.process is not None and child.process.poll() is None:
                child.process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for child in children:
            if child.process is None:
                continue
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(max(deadline - time.monotonic(), 0.1))
            child.signal_group(signal.SIGKILL)
            child.process.wait()
        self.stdout.write("Stopped. Everything is stored.")
