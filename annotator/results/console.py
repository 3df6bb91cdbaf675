"""What the commands of this app share: sentences instead of tracebacks, and a job with a progress bar."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotator.errors import CodejuryError
from annotator.results import actions, jobs
from annotator.results.models import Job
from annotator.studies.models import Study

BAR = 30
LINE_SECONDS = 5.0
"""Where there is no terminal: at most one line in this time."""


class StudyCommand(BaseCommand):
    """A command about one study. An expected failure is one sentence and exit status 1."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="S", help="the study's slug, as in its link /join/S/")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.work(**options)
        except (CodejuryError, OSError) as error:
            raise CommandError(_sentence(error)) from None

    def work(self, **options: Any) -> None:
        raise NotImplementedError

    def do_job(self, study: Study, kind: str, params: dict[str, Any]) -> Job:
        """Start a job, do it here (workers help), show its progress; CommandError if it fails."""
        job = actions.start_job(study, kind, params)
        bar = Progress(self.stderr)
        try:
            job = jobs.run_here(job, bar)
        except KeyboardInterrupt:
            actions.cancel_job(job)
            raise CommandError("Stopped: the job was cancelled. What was finished stays.") from None
        finally:
            bar.close()
        if job.state == Job.State.FAILED:
            raise CommandError(job.error)
        if job.state == Job.State.CANCELLED:
            raise CommandError("The job was cancelled.")
        return job


class Progress:
    """A bar that is redrawn on a terminal, a line now and then elsewhere."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.terminal = stream, bool(stream.isatty())
        self.last, self.drawn = 0.0, False

    def __call__(self, done: int, total: int, text: str) -> None:
        share = done / total if total else 0.0
        if self.terminal:
            filled = int(BAR * share)
            bar = "#" * filled + "." * (BAR - filled)
            self._write(f"\r[{bar}] {share:4.0%}  {done}/{total}  {text[:40]:<40}")
            self.drawn = True
        elif time.monotonic() - self.last >= LINE_SECONDS or (total and done >= total):
            self._write(f"{share:.0%} ({done} of {total}) {text}".rstrip() + "\n")
            self.last = time.monotonic()

    def close(self) -> None:
        if self.drawn:
            self._write("\n")
            self.drawn = False

    def _write(self, text: str) -> None:
        self.stream.write(text, ending="")
        self.stream.flush()


def table_lines(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Lines of a plain text table: first column to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in [list(columns), *map(list, rows)]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]

    def line(row: list[str]) -> str:
        first = row[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join([first, *rest]).rstrip()

    return [line(cells[0]), "  ".join("-" * width for width in widths), *map(line, cells[1:])]


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
    return str(error)
