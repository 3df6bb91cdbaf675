"""Several people in the survey at once, over HTTP, on real web processes. The large crowds are in tests/proof."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from contextlib import ExitStack
from io import StringIO
from pathlib import Path

import pytest

from tests.serving import (
    Served,
    Stored,
    import_snippets,
    manage,
    own_database,
    own_environment,
    serving,
    wait_until,
)
from tests.swarm import check_exhausted, exhaust
from tests.walker import Habits, Page, Walker


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("swarm")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """An installation of its own, on the kind of database that the other tests run on."""
    with ExitStack() as stack:
        addresses = {}
        if os.environ.get("CODEJURY_TEST_ON") == "postgresql":
            server = os.environ["CODEJURY_TEST_DATABASE_URL"]
            addresses["DATABASE_URL"] = stack.enter_context(own_database(server))
            addresses["BROKER_URL"] = os.environ["CODEJURY_TEST_REDIS_URL"]
        yield stack.enter_context(serving(own_environment(folder, **addresses)))


def one_item(served: Served, folder: Path, slug: str, **protocol: float) -> list[Walker]:
    """Three people who have come to the tasks of a study with one item, wanted once: the first has it in hand."""
    import_snippets(
        served.environment, folder, slug, problems=1, systems=["model"], target=1, protocol=protocol
    )
    people = [Walker(served.base, slug, seed) for seed in range(3)]
    for person in people:
        person.go_to("instructions")
    assert [ask_again(person) for person in people] == ["tasks", "wait", "wait"]
    return people


def ask_again(person: Walker) -> str:
    """The step after "look again"."""
    person.onward()
    return shown(person).step


def shown(person: Walker) -> Page:
    assert person.page is not None
    return person.page


def test_sixteen_people_grade_a_pool_to_exhaustion(served: Served, folder: Path) -> None:
    import_snippets(served.environment, folder, "pool", problems=50, target=2)
    crowd = exhaust(served, "pool", [Habits()] * 16)
    outcome = check_exhausted(served, "pool", crowd, target=2, seconds=0)
    assert (outcome.grades, outcome.surplus, outcome.refused) == (200, 0, 0)


def test_who_comes_while_all_is_in_other_hands_waits_until_it_is_done(served: Served, folder: Path) -> None:
    holder, waiting, other = one_item(served, folder, "done")
    assert ask_again(waiting) == "wait"
    assert waiting.open(waiting.link).step == "wait"
    holder.grade(3)
    assert shown(holder).step == "thanks"
    assert [ask_again(waiting), ask_again(other)] == ["thanks", "thanks"]


def test_who_waits_gets_what_another_gives_back(served: Served, folder: Path) -> None:
    holder, waiting, other = one_item(served, folder, "back")
    found = shown(holder).form_with("skip")
    assert found is not None
    holder.post(found[0], {"action": "skip"})
    assert shown(holder).step == "thanks"
    assert [ask_again(waiting), ask_again(other)] == ["tasks", "wait"]
    waiting.stop()
    assert ask_again(other) == "tasks"


def test_asking_again_brings_back_what_somebody_left_and_the_late_answer_is_surplus(
    served: Served, folder: Path
) -> None:
    gone, waiting, other = one_item(served, folder, "left", lease_minutes=2 / 60)
    old = shown(gone)
    # Only this person asks: nobody else ends the hold.
    wait_until(lambda: ask_again(waiting) != "wait", "the item comes back")
    assert [shown(waiting).step, ask_again(other)] == ["tasks", "wait"]
    assert gone.grade(1, old=old) == 302
    waiting.grade(4)
    assert ask_again(other) == "thanks"
    stored = Stored(served.environment, "left")
    assert stored.values == {(gone.token, 1, "helpfulness"): 1, (waiting.token, 1, "helpfulness"): 4}
    assert stored.surplus == {(gone.token, 1)}
    assert [[token for token, _ in grades] for grades in stored.counted.values()] == [[waiting.token]]
    exported = manage(served.environment, "export_grades", "left", "--output", "-")
    assert sorted((row["grade"], row["surplus"]) for row in csv.DictReader(StringIO(exported))) == [
        ("1", "true"),
        ("4", "false"),
    ]
