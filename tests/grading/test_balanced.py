"""`balanced`: every pair graded as often as wanted, by different people, and no problem twice for a person."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotator.grading import actions
from annotator.grading.assignment import emptiest, most_open, order_in_set, pivot, side
from annotator.grading.models import Annotator, Assignment
from annotator.grading.verify import drifted
from annotator.studies.draws import SPAN, block_sizes, keyed_hash
from annotator.studies.models import Item, Study
from tests.grading.surveys import QUALITY, make_survey, protocol_text, rows_of

PROBLEMS, SYSTEMS, TARGET, PEOPLE, TASKS = 60, 5, 2, 50, 12
EXTRA, LEAVING = 10, 8
"""Who comes on top, and how many of the 50 (15 %) leave before they are done."""
CROWDS = (1, 16, 50)
"""How many people work at a time."""
Pair = tuple[int, int]
"""A problem and a system."""


class Desk(ABC):
    """Where people come for their tasks. `graded` has (person, pair) for each task that was done."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.graded: list[tuple[int, Pair]] = []

    @abstractmethod
    def ask(self, person: int) -> bool:
        """Whether there is a task in the person's hands, or comes into them now."""

    @abstractmethod
    def work(self, person: int) -> None:
        """The task in hand is done."""

    @abstractmethod
    def leave(self, person: int) -> None:
        """The person is gone; what was reserved comes free."""

    @abstractmethod
    def holds(self) -> bool:
        """Whether anybody has something in their hands."""

    def done_by(self, person: int) -> int:
        return sum(each == person for each, _ in self.graded)


def work_through(desk: Desk, crowd: int, *, leaving: int = 0, extra: int = 0) -> None:
    """People come in turn, `crowd` of them at a time; who acts next is drawn. Some leave before they are done.

    Who finds nothing stays and asks again, as the page tells them, until nobody holds anything.
    """
    rng = random.Random(f"{desk.seed} {crowd}")
    leavers = rng.sample(range(1, PEOPLE + 1), leaving)
    leaves_after = {person: rng.randrange(TASKS) for person in leavers}
    coming, here = list(range(1, PEOPLE + extra + 1)), []
    while coming or here:
        while coming and len(here) < crowd:
            here.append(coming.pop(0))
        person = rng.choice(here)
        if not desk.ask(person):
            if not desk.holds():
                here.remove(person)
            elif crowd == 1 or all(not desk.ask(each) for each in here):
                here.remove(person)
                coming.append(person)
            continue
        if leaves_after.get(person) == desk.done_by(person):
            desk.leave(person)
            here.remove(person)
            continue
        desk.work(person)
        if desk.done_by(person) == TASKS:
            here.remove(person)


def check_complete(desk: Desk) -> None:
    """Every pair as often as wanted, each time by another person, and no problem twice for a person."""
    counts = Counter(pair for _, pair in desk.graded)
    assert set(counts) == {(problem, system) for problem in range(PROBLEMS) for system in range(SYSTEMS)}
    assert set(counts.values()) == {TARGET}
    assert len(set(desk.graded)) == len(desk.graded)
    problems = Counter((person, problem) for person, (problem, _) in desk.graded)
    assert set(problems.values()) == {1}


class Paper(Desk):
    """The pure functions and plain counts."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.draws = [keyed_hash(seed, "group", problem) for problem in range(PROBLEMS)]
        self.item_draws = [
            [keyed_hash(seed, "draw", problem, system) for system in range(SYSTEMS)]
            for problem in range(PROBLEMS)
        ]
        self.taken: Counter[Pair] = Counter()
        self.open_slots = [SYSTEMS * TARGET] * PROBLEMS
        self.hands: dict[int, list[Pair]] = {}
        self.had: dict[int, set[int]] = {}
        self.done: Counter[int] = Counter()

    def ask(self, person: int) -> bool:
        if not self.hands.get(person):
            self.hands[person] = self.reserve(person, TASKS - self.done[person])
        return bool(self.hands[person])

    def reserve(self, person: int, count: int) -> list[Pair]:
        had = self.had.setdefault(person, set())
        chosen: list[Pair] = []
        for turn in range(count):
            open_slots = [0 if problem in had else slots for problem, slots in enumerate(self.open_slots)]
            problem = emptiest(open_slots, self.draws, pivot(self.seed, person, self.done[person] + 1 + turn))
            if problem is None:
                break
            left = [TARGET - self.taken[problem, system] for system in range(SYSTEMS)]
            system = most_open(self.seed, person, left, self.item_draws[problem])
            assert self.taken[problem, system] < TARGET
            self.move((problem, system), 1)
            had.add(problem)
            chosen.append((problem, system))
        return chosen

    def move(self, pair: Pair, change: int) -> None:
        self.taken[pair] += change
        self.open_slots[pair[0]] -= change

    def work(self, person: int) -> None:
        self.graded.append((person, self.hands[person].pop(0)))
        self.done[person] += 1

    def leave(self, person: int) -> None:
        for pair in self.hands.pop(person):
            self.move(pair, -1)

    def holds(self) -> bool:
        return any(self.hands.values())

    def done_by(self, person: int) -> int:
        return self.done[person]


def work_on_paper(seeds: range, crowd: int, **people: int) -> None:
    for seed in seeds:
        desk = Paper(seed)
        work_through(desk, crowd, **people)
        check_complete(desk)


@pytest.mark.parametrize("crowd", CROWDS)
def test_fifty_people_grade_each_pair_twice(crowd: int) -> None:
    """By the pure functions, for 20 seeds; `make proof` takes 300."""
    work_on_paper(range(20), crowd)


@pytest.mark.parametrize("crowd", CROWDS)
def test_ten_more_fill_in_for_those_who_leave(crowd: int) -> None:
    work_on_paper(range(20), crowd, leaving=LEAVING, extra=EXTRA)


TEXT = protocol_text(QUALITY, policy="balanced", target=TARGET, tasks_per_person=TASKS)


def make_balanced(problems: int = PROBLEMS, systems: int = SYSTEMS, seed: int = 0) -> Study:
    names = [f"s{number}" for number in range(systems)]
    return make_survey(TEXT, rows_of(problems, names), seed=seed)


class Office(Desk):
    """The real thing: actions on a database."""

    def __init__(self, study: Study) -> None:
        super().__init__(study.seed)
        self.study = study
        self.people: dict[int, Annotator] = {}
        pairs = Item.objects.filter(study=study).values_list("pk", "snippet__problem__key", "snippet__system__name")
        self.pairs = {pk: (int(problem[1:]), int(system[1:])) for pk, problem, system in pairs}

    def person(self, number: int) -> Annotator:
        if number not in self.people:
            person = actions.join(self.study, f"{number}")
            actions.consent(person)
            actions.start(person)
            self.people[number] = Annotator.objects.select_related("study").get(pk=person.pk)
        return self.people[number]

    def ask(self, person: int) -> bool:
        return actions.hand_out(self.person(person)) is not None

    def work(self, person: int) -> None:
        annotator = self.people[person]
        held = Assignment.objects.get(annotator=annotator, state=Assignment.State.HELD)
        key = actions.submission_key(annotator, held.sequence or 0, "quality")
        actions.submit(annotator, held.sequence or 0, {"quality": float(person % 5)}, key=key)
        self.graded.append((person, self.pairs[held.item_id]))

    def leave(self, person: int) -> None:
        """Every other one says so; the others vanish, and their reservations run out one day."""
        if person % 2:
            actions.stop(self.people[person], "tired")
        else:
            holds = Assignment.objects.filter(annotator=self.people[person], held_until__isnull=False)
            holds.update(held_until=timezone.now() - timedelta(seconds=1))

    def holds(self) -> bool:
        return Assignment.objects.filter(annotator__study=self.study, held_until__isnull=False).exists()


def check_rows(study: Study) -> None:
    """The same as check_complete, from the rows."""
    rows = Assignment.objects.filter(annotator__study=study, state=Assignment.State.GRADED)
    graded = Counter(rows.values_list("item", flat=True))
    assert set(graded) == set(study.items.values_list("pk", flat=True))
    assert set(graded.values()) == {study.target}
    assert not rows.filter(surplus=True).exists()
    problems = Counter(rows.values_list("annotator", "item__snippet__problem"))
    assert set(problems.values()) == {1}
    assert drifted(study) == []


@pytest.mark.django_db
def test_the_same_through_the_database() -> None:
    """Every act of 60 people, 16 at a time, 8 of whom leave; `make proof` has the other crowds."""
    work_in_office(1, 16, leaving=LEAVING, extra=EXTRA)


def work_in_office(seed: int, crowd: int, **people: int) -> None:
    study = make_balanced(seed=seed)
    desk = Office(study)
    work_through(desk, crowd, **people)
    check_complete(desk)
    check_rows(study)


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(3))
def test_the_database_reserves_what_the_pure_functions_say(seed: int) -> None:
    """Set by set: the problems by `emptiest`, in each the item by `most_open`, the order by `order_in_set`."""
    study = make_balanced(problems=20, systems=3, seed=seed)
    groups = list(study.groups.order_by("draw"))
    items = [list(group.items.order_by("draw")) for group in groups]
    slots = {item.pk: TARGET for of_group in items for item in of_group}
    for number in range(1, 9):
        person = actions.join(study, "")
        actions.consent(person)
        actions.start(person)
        expected: list[int] = []
        had: set[int] = set()
        for turn in range(TASKS):
            left = [
                0 if place in had else sum(slots[item.pk] for item in of_group)
                for place, of_group in enumerate(items)
            ]
            place = emptiest(left, [group.draw for group in groups], pivot(seed, number, turn + 1))
            if place is None:
                break
            had.add(place)
            of_group = items[place]
            found = most_open(
                seed, number, [slots[item.pk] for item in of_group], [item.draw for item in of_group]
            )
            slots[of_group[found].pk] -= 1
            expected.append(of_group[found].pk)
        rows = Assignment.objects.filter(annotator=person).select_related("item").order_by("pk")
        assert {row.item_id for row in rows} == set(expected)
        reserved = [row.item.draw for row in rows]
        held = next(row for row in rows if row.state == Assignment.State.HELD)
        assert held.item.draw == reserved[order_in_set(seed, number, reserved)[0]]
        actions.skip(person, 1)
        slots[held.item_id] += 1


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, SPAN - 1)), min_size=1), st.integers(1, 99))
def test_most_open_is_open_and_needs_no_order(items: list[tuple[int, int]], number: int) -> None:
    """Whatever order the items are in, the same one is found; equal draws look alike."""
    slots, draws = [slots for slots, _ in items], [each for _, each in items]
    found = most_open(5, number, slots, draws)
    assert slots[found] == max(slots)
    again = most_open(5, number, slots[::-1], draws[::-1])
    assert items[::-1][again] == items[found]


draw = st.integers(0, SPAN - 1)


@given(st.lists(st.tuples(st.integers(0, 4), draw), max_size=30), draw)
def test_emptiest_has_the_most_open_slots_and_comes_first_from_the_entry(
    groups: list[tuple[int, int]], entry: int
) -> None:
    slots, draws = [slots for slots, _ in groups], [each for _, each in groups]
    found = emptiest(slots, draws, entry)
    if not any(slots):
        assert found is None
        return
    assert found is not None
    assert slots[found] == max(slots)
    distance = [(each - entry) % SPAN for each in draws]
    assert distance[found] == min(
        far for far, open_slots in zip(distance, slots, strict=True) if open_slots == max(slots)
    )


@given(st.integers(0, 2**63 - 1), st.integers(1, 10_000), st.lists(draw, max_size=40))
def test_the_order_in_a_set_is_a_permutation_that_needs_no_order(seed: int, number: int, draws: list[int]) -> None:
    order = order_in_set(seed, number, draws)
    assert sorted(order) == list(range(len(draws)))
    handed = [draws[place] for place in order]
    assert [sorted(draws)[place] for place in order_in_set(seed, number, sorted(draws))] == handed


@given(st.integers(0, 100_000), st.integers(1, 500))
def test_questionnaires_are_of_one_size_but_for_one(items: int, blocks: int) -> None:
    sizes = block_sizes(items, blocks)
    assert (len(sizes), sum(sizes)) == (blocks, items)
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(0, 2**63 - 1), st.integers(1, 1000), st.integers(1, 1000), st.text(), st.text())
def test_a_pair_looks_the_same_whichever_is_judged(
    seed: int, number: int, sequence: int, code: str, reference: str
) -> None:
    one, two = side(seed, number, sequence, code, reference), side(seed, number, sequence, reference, code)
    assert {one, two} <= {"A", "B"}
    assert (one == two) == (code == reference)


def test_sides_are_drawn_evenly() -> None:
    """Of 4,000 pairs 2,000 are expected on side A; 5 standard deviations are 158."""
    sides = Counter(side(1, person, task, "code", "reference") for person in range(40) for task in range(100))
    assert abs(sides["A"] - 2000) < 158
