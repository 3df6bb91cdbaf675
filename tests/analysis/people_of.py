"""Simulated annotators for the tests of quality. The figures of each kind of person are fixed here, before any test
looks at a result, and none depends on the seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from tests.analysis.tables_of import grades_of

QUESTIONS = ("accuracy", "value", "effort")
TASKS = 12
Answerer = Callable[[random.Random, bool], int]
"""The answer, 1 to 5, to whether a snippet is equivalent to the reference, by whether it passes."""


@dataclass(frozen=True)
class Person:
    """`pace`: seconds of a typical task; `answer`: to the first question."""

    name: str
    pace: float
    answer: Answerer


def careful(hit: float) -> Answerer:
    """Right with probability `hit`, each task by itself; a wrong or failing one gets any of the answers 1 to 4."""

    def answer(rng: random.Random, passes: bool) -> int:
        return 5 if passes == (rng.random() < hit) else rng.randint(1, 4)

    return answer


def first_option(rng: random.Random, passes: bool) -> int:
    """Clicks what stands first on the page: "completely equivalent"."""
    return 5


def any_option(rng: random.Random, passes: bool) -> int:
    return rng.randint(1, 5)


def published_people(rng: random.Random, guesser: Answerer = first_option) -> list[Person]:
    """46 careful people and 3 who click through at 6 to 15 seconds a task.

    44 of the careful need 90 to 500 seconds and are right in 75 to 98 % of the tasks; two are fast, 25 to 40 seconds,
    and right in 95 %. 49 people make a fastest tenth of five: the three and the two.
    """
    people = [Person(f"g{n}", rng.uniform(90, 500), careful(rng.uniform(0.75, 0.98))) for n in range(44)]
    people += [Person(f"quick{n}", rng.uniform(25, 40), careful(0.95)) for n in range(2)]
    people += [Person(f"guess{n}", rng.uniform(6, 15), guesser) for n in range(3)]
    named = list(range(len(people)))
    rng.shuffle(named)
    return [
        replace(person, name=f"{person.name}-{number}") for person, number in zip(people, named, strict=True)
    ]


def published_study(rng: random.Random, people: list[Person]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Grades and PASS: 60 problems x 5 systems, 30 % of the snippets of each problem pass in the mean, everybody has
    12 problems and a random system of each. One task in twenty is interrupted for up to two hours.

    A draw that gives somebody half or more passing tasks is dealt again: at such shares always saying "equivalent"
    beats chance, and the published rule cannot tell.
    """
    passes = {(f"p{p}", f"s{s}"): rng.random() < 0.1 + 0.1 * s for p in range(60) for s in range(5)}
    rows: list[dict[str, Any]] = []
    for person in people:
        tasks = _deal(rng, passes)
        while 2 * sum(passes[task] for task in tasks) >= TASKS:
            tasks = _deal(rng, passes)
        for place, (problem, system) in enumerate(tasks):
            rows += _task(rng, person, place + 1, problem, system, passes[problem, system])
    table = [(problem, system, 0, float(passed)) for (problem, system), passed in passes.items()]
    return grades_of(rows), pd.DataFrame(table, columns=["problem", "system", "sample", "passed"])


def _deal(rng: random.Random, passes: dict[tuple[str, str], bool]) -> list[tuple[str, str]]:
    problems = rng.sample(range(60), TASKS)
    return [(f"p{problem}", f"s{rng.randrange(5)}") for problem in problems]


def _task(
    rng: random.Random, person: Person, place: int, problem: str, system: str, passed: bool
) -> Iterator[dict[str, Any]]:
    first = person.answer(rng, passed)
    total = person.pace * rng.lognormvariate(0, 0.4) + (rng.uniform(60, 7200) if rng.random() < 0.05 else 0)
    shares = [rng.uniform(0.5, 1.5) for _ in QUESTIONS]
    for question, share in zip(QUESTIONS, shares, strict=True):
        moved = first if person.answer is first_option else min(max(first + rng.choice([-1, 0, 0, 1]), 1), 5)
        yield {
            "problem": problem,
            "system": system,
            "annotator": person.name,
            "assignment": f"{person.name}/{place}",
            "kind": "pair",
            "position": place,
            "question": question,
            "grade": first if question == "accuracy" else moved,
            "seconds": total * share / sum(shares),
        }


def pool(
    rng: random.Random, answers: dict[str, Callable[[random.Random, int], int]], items: int = 30
) -> list[dict[str, Any]]:
    """Rows of one question, 0 to 4: everybody grades every item, whose true quality is 0 to 4, in 20 to 60 seconds."""
    qualities = [item % 5 for item in range(items)]
    rng.shuffle(qualities)
    return [
        {
            "problem": f"p{item}",
            "system": "s",
            "annotator": name,
            "assignment": f"{name}/{item}",
            "position": item + 1,
            "grade": answer(rng, quality),
            "seconds": rng.uniform(20, 60),
        }
        for name, answer in answers.items()
        for item, quality in enumerate(qualities)
    ]


def fair(rng: random.Random, quality: int) -> int:
    """The true quality, one up or one down: each with one chance in five."""
    return min(max(quality + rng.choice([-1, 0, 0, 0, 1]), 0), 4)
