"""Does a grade cost more in a million items? `python -m benchmarks._survey.scale build|measure` in the environment of
an installation; JSON lines come out.

Requests go straight into the WSGI application of this process, so that nothing but the application and its database
is in the CPU that is counted: on SQLite the process's, on PostgreSQL also that of the server process behind the
connection. Rounds of the small and the large study take turns, and each leaves the pool as it found it.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks._survey.browser import Browser, HttpError
from benchmarks._survey.ours import Annotator as Visitor
from benchmarks._survey.processes import TICKS_A_SECOND, stat_of

if TYPE_CHECKING:
    from benchmarks._survey.pools import Pool

FAMILIES = {"pool": ("open", "everyone"), "groups": ("balanced", "blocks")}
"""Studies without groups of items, and with; a small and a large one of each."""
FILLS = (0.0, 0.5, 0.999)
DONE = 2000
DONE_OF_SETS = 500
"""`balanced`, 2,800 items: of 560 problems nobody can have done 2,000 with one item of each."""
AHEAD = 12
"""Tasks that a person has before them where a set is reserved; as many as are open where nearly all is full."""
A_ROUND = 8
"""Grades of a round."""
MOST_BLOCKS = 100_000
"""That a protocol may have."""
LAST_OPEN = 3
"""Open items that are left of 2,800 where 99.9 % are full."""
PATIENCE = 15.0
"""Seconds for one cell of the table, and the most that one statement may take."""
NEARLY_ALL = "all but 3 open ones done"


@dataclass
class Cell:
    """CPU of next + submit, in ms a grade, in the same state of a small and of a large pool."""

    policy: str
    full: float
    person: str
    small: float
    large: float
    bound: bool = True

    @property
    def ratio(self) -> float:
        return self.large / self.small


def process_seconds(pid: int) -> float:
    """CPU of one process, to the nanosecond where the kernel tells."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except (OSError, ValueError, IndexError):
        stat = stat_of(pid)
        return (int(stat[11]) + int(stat[12])) / TICKS_A_SECOND if stat else 0.0


def give_up_after(seconds: float | None) -> None:
    """Statements that take longer fail: without it a slow one in a million items would take an hour."""
    from django.db import connection

    connection.ensure_connection()
    if connection.vendor == "sqlite":
        deadline = math.inf if seconds is None else time.monotonic() + 4 * seconds
        connection.connection.set_progress_handler(lambda: time.monotonic() > deadline, 1_000_000)
    else:
        with connection.cursor() as cursor:
            cursor.execute(f"SET statement_timeout = {int(1000 * (seconds or 0))}")


class Grader(Visitor):
    """A person of a Pool, whose requests go into this process; `cost` sums up their CPU in seconds."""

    def __init__(self, token: str) -> None:
        from benchmarks._survey.inside import Inside

        self.inside, self.cost = Inside(), 0.0
        super().__init__(Browser(self.inside), link=f"/a/{token}/")

    def backend(self) -> float:
        from django.db import connection

        if connection.vendor == "sqlite":
            return 0.0
        connection.ensure_connection()
        return process_seconds(connection.connection.info.backend_pid)

    def counted(self, act: Any) -> Any:
        before = self.backend()
        answer = act()
        self.cost += self.inside.cpu + self.backend() - before
        return answer

    def round(self, grades: int) -> float:
        """CPU seconds a grade: the first hand-out, then up to `grades` answers, each with the page after it."""
        self.cost, self.page, done = 0.0, self.browser.get(self.link).text, 0
        if 'id="grade"' in self.page:
            raise HttpError("The round before was not undone.")
        form = self.step_form()
        self.check(self.counted(lambda: self.browser.post(self.link, form)), 302)
        more = self.counted(self.show)
        while more and done < grades and self.cost < PATIENCE / 3:
            self.counted(self.submit)
            more = self.counted(self.show)
            done += 1
        if not done:
            raise HttpError("There was nothing to grade.")
        return self.cost / done


class State:
    """A person of a pool before them, and the way back to it after each round."""

    def __init__(self, pool: Pool, person: Any, policy: str, ahead: int) -> None:
        from annotator.grading.models import Annotator, Assignment

        self.pool, self.person = pool, person
        self.annotators, self.assignments = Annotator.objects, Assignment.objects
        self.last = self.assignments.order_by("-pk").values_list("pk", flat=True).first() or 0
        self.grader = Grader(person.token)
        study = pool.study
        set_policy(study, policy, person.graded + ahead)

    def round(self, grades: int) -> float:
        """As the person's; infinite if it did not come to an end."""
        give_up_after(PATIENCE)
        try:
            return self.grader.round(grades)
        except HttpError as error:
            print(f"{self.pool.study.slug}, {self.person.pseudonym}: {error}", file=sys.stderr)
            return math.inf
        finally:
            give_up_after(None)
            self.undo()

    def undo(self) -> None:
        from benchmarks._survey.pools import sql

        own = f"FROM grading_assignment a WHERE a.annotator_id = {self.person.pk} AND a.id > {self.last}"
        live = f"SELECT a.item_id {own} AND a.state IN ('reserved', 'held', 'graded')"
        sql(f"UPDATE studies_item SET taken = taken - 1 WHERE id IN ({live})")
        self.pool.recount_groups(f"AND id IN (SELECT i.group_id FROM studies_item i WHERE i.id IN ({live}))")
        self.assignments.filter(annotator=self.person, pk__gt=self.last).delete()
        self.annotators.filter(pk=self.person.pk).update(
            graded=self.person.graded, step="tasks", stopped_at=None
        )


def set_policy(study: Any, policy: str, tasks: int) -> None:
    """The policy with what its protocol must say: how many tasks are reserved, or how many questionnaires there are."""
    own: dict[str, Any] = {"policy": policy}
    own |= {"tasks_per_person": tasks} if policy == "balanced" else {}
    own |= {"blocks": min(study.item_count // 5, MOST_BLOCKS)} if policy == "blocks" else {}
    rest = {key: value for key, value in study.protocol.items() if key not in ("tasks_per_person", "blocks")}
    study.policy, study.protocol = policy, rest | own
    study.save()


def build() -> None:
    """The large studies, beside the small ones that are there. Groups are made as when a study is opened."""
    from annotator.studies.actions import open_study
    from annotator.studies.models import Study
    from benchmarks._survey.pools import enlarge, group_model

    for family, policies in FAMILIES.items():
        small = Study.objects.get(slug=f"small-{family}")
        if policies == FAMILIES["groups"]:
            if group_model() is None:
                print(json.dumps(f"{' and '.join(policies)}: not measured, the code does not know them yet."))
                continue
            small.state, small.settled = Study.State.DRAFT, False  # type: ignore[attr-defined]
            set_policy(small, policies[0], AHEAD)
            open_study(small)
        enlarge(small)


def people_of(pool: Pool, family: str, policy: str) -> dict[str, Any]:
    """Who is measured under a policy, by a few words: somebody new, and somebody who did much."""
    items = "SELECT {} FROM studies_item o WHERE o.study_id = " + str(pool.study.pk)
    large = pool.study.item_count > 2 * DONE
    # What is open to the end stays open to everybody who is measured.
    early = f"{pool.place} <= {pool.last_full(FILLS[-1])}"
    if policy == "blocks":
        done = f"o.id IN ({items.format('o.id')} ORDER BY o.id LIMIT {DONE})"
    elif policy == "balanced":
        whole = f"GROUP BY o.group_id HAVING MAX({pool.place}) <= {pool.last_full(FILLS[-1])}"
        done = f"o.id IN ({items.format('MIN(o.id)')} {whole} LIMIT {DONE if large else DONE_OF_SETS})"
    else:
        done = f"{'o.id % 501 = 0' if large else 'o.id % 7 < 5'} AND {early}"
    found = {"new": pool.person(f"new-{policy}")}
    return found | {f"{DONE:,} done": pool.person(f"old-{policy}", done)}


def measure(rounds: int) -> Iterator[Cell]:
    from annotator.studies.models import Study
    from benchmarks._survey.pools import Blocks, Pool

    for family, policies in FAMILIES.items():
        studies = [Study.objects.filter(slug=f"{size}-{family}").first() for size in ("small", "large")]
        pools = [Pool(study) for study in studies if study is not None]
        if len(pools) < 2:
            continue
        people = {policy: [people_of(pool, family, policy) for pool in pools] for policy in policies}
        blocks = [Blocks(pool, DONE + AHEAD, AHEAD) for pool in pools] if "blocks" in policies else []
        for full in FILLS:
            for block in blocks:
                block.switch(False)
            for pool in pools:
                pool.fill(full)
            for policy in policies:
                for block in blocks:
                    block.switch(policy == "blocks")
                for words in people[policy][0]:
                    pair = [each[words] for each in people[policy]]
                    yield compare(pools, pair, policy, full, words, rounds)
        if family == "pool":
            pair = [pool.nearly_done("last") for pool in pools]
            yield compare(pools, pair, "open", FILLS[-1], NEARLY_ALL, rounds)


def compare(pools: list[Pool], people: list[Any], policy: str, full: float, words: str, rounds: int) -> Cell:
    """The median round of each size, one warming up; sizes take turns. Where a round is very slow, of fewer."""
    nearly_full = full == FILLS[-1]
    ahead = LAST_OPEN if nearly_full else AHEAD
    states = [State(pool, person, policy, ahead) for pool, person in zip(pools, people, strict=True)]
    grades = LAST_OPEN - 1 if nearly_full and policy != "blocks" else A_ROUND
    costs: list[list[float]] = []
    start = time.monotonic()
    while len(costs) <= rounds and (len(costs) < 2 or time.monotonic() - start < PATIENCE):
        costs.append([state.round(grades) for state in states])
    small, large = (1000 * statistics.median(column) for column in zip(*costs[1:], strict=True))
    return Cell(policy, full, words, small, large, bound=words != NEARLY_ALL)


def main() -> int:
    import django

    django.setup()
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["build", "measure"])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    if options.what == "build":
        build()
        return 0
    for cell in measure(options.rounds):
        print(json.dumps(asdict(cell)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
