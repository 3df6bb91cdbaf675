"""What one grade costs the server, beside Label Studio, Potato and Pearmut, and with a million items.

`python -m benchmarks.survey [--quick] [--only ours,rivals,scale]` (or `make bench ARGS=survey`). People grade without
thinking, each on a kept connection: they send the answer (submit) and get the page of the next item (next). Counted
are grades a second, the times of both requests, and the CPU of the server's processes, user and system, from /proc;
what the client costs is not in it, though it runs on the same cores. On SQLite the database's CPU is in, a PostgreSQL
server's is counted apart. Codejury runs as the image's command does; PostgreSQL waits for the disk as in production.
Rivals come from their packages, into environments of their own under .cache/. Ends with 1 when a bound is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks._survey import database, growth, label_studio, ours, pearmut, potato, rivals, texts
from benchmarks._survey.load import Measured
from benchmarks._survey.processes import StartError
from benchmarks._survey.report import HEADINGS, MANY, Bound, bounds, line, ratios
from scripts.services import ServiceError

PARTS = ("ours", "rivals", "scale")
USERS = (1, MANY)
TARGET = 2


def measure_ours(
    folder: Path, server: database.Server | None, options: argparse.Namespace
) -> Iterator[Measured]:
    """Our rows. Raises StartError."""
    pieces = texts.pieces()
    with ExitStack() as stack:
        homes: dict[str, tuple[str, int | None]] = {"SQLite": ("", None)}
        if server is not None:
            homes["PostgreSQL"] = (stack.enter_context(server.database()), server.pid)
        for name, (url, pid) in homes.items():
            installation = ours.Installation(folder / name.lower(), url)
            installation.set_up()
            installation.fill(pieces, target=TARGET)
            yield from ours.measure(
                f"Codejury, {name}",
                installation,
                users=USERS,
                warm_seconds=options.warm,
                seconds=options.seconds,
                database=pid,
            )


def measure_rivals(
    folder: Path, server: database.Server | None, options: argparse.Namespace
) -> Iterator[Measured | str]:
    """Rows of the rivals; a sentence for one that cannot be had."""
    known = [pearmut.RIVAL, potato.RIVAL, label_studio.on_sqlite()]
    if server is not None:
        known.append(label_studio.on_postgresql(server))
    for rival in known:
        try:
            python = rivals.environment_of(rival)
            yield from rivals.measure(
                rival,
                python,
                folder / rival.name.replace(", ", "-"),
                users=USERS,
                warm_seconds=options.warm,
                seconds=options.seconds,
            )
        except StartError as error:
            yield f"{rival.name} is not measured: {error}"


def measure(options: argparse.Namespace) -> list[Bound]:
    """Prints what is measured as it comes; the bounds at the end. Raises StartError if Codejury does not run."""
    rows: list[Measured] = []
    grown: list[Bound] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="codejury-bench-")))
        server = None
        try:
            server = stack.enter_context(database.running())
        except ServiceError as error:
            print(f"Nothing is measured on PostgreSQL: {error}")
        if "scale" in options.parts:
            grown += growth.measure(folder, server, options.rounds)
            print()
        print(HEADINGS, flush=True)
        parts = {"ours": measure_ours, "rivals": measure_rivals}
        for name in [name for name in parts if name in options.parts]:
            for found in parts[name](folder, server, options):
                if isinstance(found, Measured):
                    rows.append(found)
                    found = line(found)
                print(found, flush=True)
    print(f"\n{ratios(rows)}\n")
    return [*bounds(rows), *grown]


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.survey", description="What one grade costs.")
    parser.add_argument("--quick", action="store_true", help="a short run: shows that it works, not how fast")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts, of {','.join(PARTS)}")
    options = parser.parse_args()
    options.parts = options.only.split(",")
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    options.warm, options.seconds = (1.0, 3.0) if options.quick else (2.0, 10.0)
    options.rounds = 3 if options.quick else 9
    return options


def main() -> int:
    options, start = read_options(), time.monotonic()
    print(
        f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    )
    try:
        found = measure(options)
    except StartError as error:
        sys.exit(f"Codejury could not be measured: {error}")
    print("\n".join(map(str, found)))
    print(f"{time.monotonic() - start:.0f} s in all")
    return 0 if all(bound.kept for bound in found) else 1


if __name__ == "__main__":
    sys.exit(main())
