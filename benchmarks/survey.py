"""What one grade costs the server, beside Label Studio, Potato and Pearmut, and with a million items.

`python -m benchmarks.survey [--quick] [--only ours,rivals,scale]` (or `make bench ARGS=survey`). People grade without
thinking, each on a kept connection: they send the answer (submit) and get the page of the next item (next). Counted
are grades a second, the times of both requests, and the CPU of the server's processes, user and system, from /proc;
what the client costs is not in it, though it runs on the same cores. A PostgreSQL server's CPU is counted apart.
Codejury runs as the image's command does, on SQLite and on PostgreSQL, which waits for the disk. Rivals come from
their packages, into environments of their own under .cache/. Ends with 1 when a stated bound is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks._survey import database, ours, texts
from benchmarks._survey.load import Measured, percentile
from benchmarks._survey.processes import StartError
from scripts.services import ServiceError

PARTS = ("ours", "rivals", "scale")
USERS = (1, 16)
TARGET = 2
MAX_CPU_MS = 12.0
MAX_P95_MS = 150.0
MIN_RATIO = 3.0
SCALE_RATIO = 1.3


def measure_ours(folder: Path, server: database.Server | None, options: argparse.Namespace) -> list[Measured]:
    pieces, rows = texts.pieces(), []
    with ExitStack() as stack:
        homes: dict[str, tuple[str, int | None]] = {"Codejury, SQLite": ("", None)}
        if server is not None:
            homes["Codejury, PostgreSQL"] = (stack.enter_context(server.database()), server.pid)
        for label, (url, pid) in homes.items():
            installation = ours.Installation(folder / label.rpartition(" ")[2].lower(), url)
            installation.fill(pieces, target=TARGET)
            rows += ours.measure(
                label,
                installation,
                users=USERS,
                warm_seconds=options.warm,
                seconds=options.seconds,
                database=pid,
            )
    return rows


HEADINGS = (
    f"{'':26} {'users':>5} {'grades':>7} {'submit ms':>13} {'next ms':>13} {'server':>8} {'database':>9} "
    f"{'client':>7} {'memory':>7} {'over':>5} {'lost':>5} {'errors':>6} {'load':>5}\n"
    f"{'':26} {'':>5} {'a sec.':>7} {'p50   p95':>13} {'p50   p95':>13} {'CPU ms':>8} {'CPU ms':>9} "
    f"{'CPU ms':>7} {'MB':>7} {'':>5} {'':>5} {'':>6} {'':>5}"
)


def line(row: Measured) -> str:
    times = [
        f"{percentile(each, 0.5):6.1f} {percentile(each, 0.95):6.1f}" for each in (row.submits, row.shows)
    ]
    inside = "inside" if row.database_ms is None else f"{row.database_ms:.1f}"
    client = 1000 * row.client_cpu / row.grades if row.grades else float("nan")
    over, lost = ("-" if each is None else str(each) for each in (row.over_target, row.lost))
    return (
        f"{row.tool:26} {row.users:5} {row.rate:7.1f} {times[0]} {times[1]} {row.server_ms:8.1f} {inside:>9} "
        f"{client:7.1f} {row.memory:7.0f} {over:>5} {lost:>5} {len(row.errors):6} {row.busy:5.1f}"
    )


def bounds(rows: list[Measured]) -> list[tuple[str, bool]]:
    """(sentence, kept) of each bound."""
    found = []
    for row in rows:
        name = f"{row.tool}, {row.users} user{'s' if row.users > 1 else ''}"
        if not row.tool.startswith("Codejury"):
            continue
        found.append((f"{name}: {row.server_ms:.1f} ms of server CPU a grade, at most {MAX_CPU_MS:g}",
                      row.server_ms <= MAX_CPU_MS))  # fmt: skip
        for what, times in (("submit", row.submits), ("next", row.shows)):
            p95 = percentile(times, 0.95)
            if row.users == max(USERS):
                found.append((f"{name}: {what} p95 {p95:.0f} ms, under {MAX_P95_MS:g}", p95 < MAX_P95_MS))
        bad = (row.over_target or 0, row.lost or 0, len(row.errors))
        found.append(
            (f"{name}: {bad[0]} items over target, {bad[1]} grades lost, {bad[2]} errors", not any(bad))
        )
    return found


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.survey", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short run: shows that it works, not how fast")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts, of {','.join(PARTS)}")
    options = parser.parse_args()
    options.parts = options.only.split(",")
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    options.warm, options.seconds = (1.0, 3.0) if options.quick else (2.0, 12.0)
    return options


def main() -> int:
    options, start = read_options(), time.monotonic()
    print(
        f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    )
    rows: list[Measured] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="codejury-bench-")))
        server = None
        try:
            server = stack.enter_context(database.running())
        except ServiceError as error:
            print(f"Nothing is measured on PostgreSQL: {error}")
        print(HEADINGS, flush=True)
        try:
            if "ours" in options.parts:
                for row in measure_ours(folder, server, options):
                    rows.append(row)
                    print(line(row), flush=True)
                    print("".join(f"    {sentence}\n" for sentence in row.errors[:2]), end="")
        except StartError as error:
            sys.exit(f"Codejury could not be measured: {error}")
    print()
    failed = 0
    for sentence, kept in bounds(rows):
        failed += not kept
        print(f"{'kept  ' if kept else 'MISSED'}  {sentence}")
    print(f"{time.monotonic() - start:.0f} s in all")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
