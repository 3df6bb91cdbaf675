"""Runs `scale` in installations of its own: does a grade in a million items cost what it costs in 2,800?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from benchmarks._survey import database, texts
from benchmarks._survey.ours import ROOT, Installation
from benchmarks._survey.processes import StartError, run
from benchmarks._survey.report import Bound
from benchmarks._survey.scale import FAMILIES, Cell
from scripts.services import die_with_parent

MAX_RATIO = 1.3
HEADINGS = f"{'CPU of next + submit, ms a grade':58} {'2,800':>9} {'1,002,400':>9} {'ratio':>6}"


def line(name: str, cell: Cell) -> str:
    state = f"{name}, {cell.policy}, {cell.full:.1%} full, {cell.person}"
    note = "" if cell.bound else "  (no bound)"
    return f"{state:58} {cell.small:9.2f} {cell.large:9.2f} {cell.ratio:5.2f}x{note}"


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks._survey.scale", *words]


def build(installation: Installation) -> str:
    """The small studies as imported, the large ones copied from them; a sentence for what the code does not know."""
    installation.set_up()
    for family in FAMILIES:
        installation.fill(texts.pieces(), target=1, slug=f"small-{family}")
    return run(command("build"), environment=installation.environment, cwd=ROOT, seconds=1200)


def cells(installation: Installation, rounds: int) -> Iterator[Cell]:
    """Raises StartError if measuring fails."""
    errors = installation.folder / "scale.log"
    with (
        errors.open("wb") as log,
        subprocess.Popen(
            command("measure", "--rounds", str(rounds)),
            cwd=ROOT,
            env=installation.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            preexec_fn=die_with_parent,
        ) as process,
    ):
        assert process.stdout is not None
        for text in process.stdout:
            yield Cell(**json.loads(text))
    if process.returncode:
        raise StartError(errors.read_text(errors="replace").strip().splitlines()[-1])


def measure(folder: Path, server: database.Server | None, rounds: int) -> Iterator[Bound]:
    """Prints the table as it grows; gives a bound for each state and database."""
    with ExitStack() as stack:
        homes = {"SQLite": Installation(folder / "scale-sqlite")}
        if server is not None:
            url = stack.enter_context(server.database())
            homes["PostgreSQL"] = Installation(folder / "scale-postgresql", url)
        with ThreadPoolExecutor() as both:  # copying a million rows is not measured
            said = list(both.map(build, homes.values()))
        print(said[0], end="")
        print(
            "PostgreSQL is analyzed after each filling, as autovacuum does; SQLite never is, as in production."
        )
        print(HEADINGS, flush=True)
        for name, installation in homes.items():
            for cell in cells(installation, rounds):
                text = line(name, cell)
                print(text, flush=True)
                if cell.bound:
                    yield Bound(f"{' '.join(text.split())}, at most {MAX_RATIO:g} x", cell.ratio <= MAX_RATIO)
