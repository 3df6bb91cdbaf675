"""What the survey prints: one line for each run, the ratios, and the bounds with what was kept of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks._survey.load import Measured, percentile

MAX_CPU_MS = 12.0
MAX_P95_MS = 150.0
MIN_RATIO = 3.0
MANY = 16
"""Users at which times and ratios are held to their bounds."""
OURS = "Codejury"
BOUND_BY_RATIO = ("Label Studio", "Potato")
HEADINGS = (
    f"{'':26} {'users':>5} {'grades':>7} {'submit ms':>13} {'next ms':>13} {'server':>8} {'database':>9} "
    f"{'client':>7} {'memory':>7} {'over':>5} {'lost':>5} {'errors':>6} {'others':>6}\n"
    f"{'':26} {'':>5} {'a sec.':>7} {'p50   p95':>13} {'p50   p95':>13} {'CPU ms':>8} {'CPU ms':>9} "
    f"{'CPU ms':>7} {'MB':>7} {'':>5} {'':>5} {'':>6} {'cores':>6}"
)


@dataclass(frozen=True)
class Bound:
    """A stated bound: what was measured, in a sentence, and whether it was kept."""

    sentence: str
    kept: bool

    def __str__(self) -> str:
        return f"{'kept  ' if self.kept else 'MISSED'}  {self.sentence}"


def line(row: Measured) -> str:
    """The row under HEADINGS; below it the first of its errors."""
    times = [
        f"{percentile(each, 0.5):6.1f} {percentile(each, 0.95):6.1f}" for each in (row.submits, row.shows)
    ]
    inside = "inside" if row.database_ms is None else f"{row.database_ms:.1f}"
    client = 1000 * row.client_cpu / row.grades if row.grades else float("nan")
    over, lost = ("-" if each is None else str(each) for each in (row.over_target, row.lost))
    text = (
        f"{row.tool:26} {row.users:5} {row.rate:7.1f} {times[0]} {times[1]} {row.server_ms:8.1f} {inside:>9} "
        f"{client:7.1f} {row.memory:7.0f} {over:>5} {lost:>5} {len(row.errors):6} {row.others:6.1f}"
    )
    return "\n".join([text, *(f"    {error:.160}" for error in row.errors[:1])])


def named(row: Measured) -> str:
    return f"{row.tool}, {row.users} user{'s' if row.users > 1 else ''}"


def bounds(rows: Sequence[Measured]) -> Iterator[Bound]:
    """CPU, times and losses of our own rows, then the rates beside the rivals'."""
    for row in rows:
        if row.tool.startswith(OURS):
            cpu = f"{named(row)}: {row.server_ms:.1f} ms of server CPU a grade, at most {MAX_CPU_MS:g}"
            if row.database_ms is not None:
                cpu += f" (without the database's {row.database_ms:.1f} ms)"
            yield Bound(cpu, row.server_ms <= MAX_CPU_MS)
            if row.users == MANY:
                for what, times in (("submit", row.submits), ("next", row.shows)):
                    p95 = percentile(times, 0.95)
                    sentence = f"{named(row)}: p95 of {what} {p95:.0f} ms, under {MAX_P95_MS:g}"
                    yield Bound(sentence, p95 < MAX_P95_MS)
            bad = (row.over_target or 0, row.lost or 0, len(row.errors))
            sentence = f"{named(row)}: {bad[0]} items over target, {bad[1]} grades lost, {bad[2]} errors"
            yield Bound(sentence, not any(bad))
    for ours in at_many(rows, OURS):
        for name in BOUND_BY_RATIO:
            best = max(at_many(rows, name), key=lambda row: row.rate, default=None)
            if best is not None:
                ratio = ours.rate / best.rate
                sentence = f"{named(ours)}: {ratio:.1f} x the grades a second of {best.tool}, at least {MIN_RATIO:g} x"
                yield Bound(sentence, ratio >= MIN_RATIO)


def at_many(rows: Sequence[Measured], name: str) -> list[Measured]:
    """The rows of a tool at 16 users that graded something."""
    return [row for row in rows if row.tool.startswith(name) and row.users == MANY and row.grades]


def ratios(rows: Sequence[Measured]) -> str:
    """Ours by theirs at 16 users: grades a second, and CPU a grade with that of a database server."""
    rivals = [row for row in rows if not row.tool.startswith(OURS) and row.users == MANY and row.grades]
    lines = [f"{'ours : theirs at 16 users':52} {'grades a second':>16} {'CPU a grade':>12}"]
    for ours in at_many(rows, OURS):
        for theirs in rivals:
            name = f"{ours.tool} : {theirs.tool}"
            lines.append(
                f"{name:52} {ours.rate / theirs.rate:15.1f}x {ours.whole_ms / theirs.whole_ms:11.2f}x"
            )
    return "\n".join(lines) if len(lines) > 1 else ""
