"""Exclusion rules: the published one on simulated people, and each flags its planted failure and nobody else."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis import quality
from analysis.columns import TableError
from analysis.quality import RULES, apply_rule, top_performers
from tests.analysis.people_of import (
    TASKS,
    any_option,
    careful,
    fair,
    first_option,
    pool,
    published_people,
    published_study,
)
from tests.analysis.tables_of import grades_of

Rows = list[dict[str, Any]]
SEEDS = range(6)
KINDS = ("instructed", "gold", "degraded", "repeat")


def published(seed: int, guesser: Any = first_option) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = random.Random(seed)
    return published_study(rng, published_people(rng, guesser))


def kinds_of(names: list[str]) -> list[str]:
    return sorted(name.split("-")[0] for name in names)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_published_rule_drops_the_three_who_click_through(seed: int) -> None:
    """49 people of 12 tasks are 588 annotations; 46 are left, with 552, as in the paper (section IV).

    The same for each of the seeds 0 to 999.
    """
    grades, passed = published(seed)
    result = apply_rule("published", grades, passed=passed)
    assert kinds_of(result.excluded) == ["guess0", "guess1", "guess2"]
    assert (result.table["flagged"] == result.table["excluded"]).all()
    assert result.table["items"].sum() == 588
    assert result.table.loc[~result.table["excluded"], "items"].sum() == 552
    slow = result.table["median_seconds"] <= result.table["cut_seconds"]
    assert kinds_of(result.table.loc[slow, "annotator"].tolist()) == [
        *("guess0", "guess1", "guess2", "quick0", "quick1")
    ], "the two who are fast and good are among the fastest five, and stay"
    assert set(result.table.loc[~result.table["flagged"], "reason"]) == {""}
    assert result.notes == ["5 of 49 people with a time make up the fastest 10 %."]


def test_who_clicks_anything_is_found_half_of_the_time() -> None:
    """A limit of the published rule: chance is just what such a person reaches in the mean.

    With 4 of 12 passing, chance is .2 / 3 + .8 * 2 / 3 = .6, so 7 or fewer right are below it. Right are
    Bin(4, 1/5) + Bin(8, 4/5), which is 7 or fewer with probability .58; over shares from 0 to 5 of 12 as they come,
    about half.
    """
    right = np.convolve(stats.binom.pmf(range(5), 4, 0.2), stats.binom.pmf(range(9), 8, 0.8))
    assert right[:8].sum() == pytest.approx(0.577, abs=5e-4)
    found = []
    for seed in range(20):
        grades, passed = published(seed, any_option)
        found += apply_rule("published", grades, passed=passed).excluded
    assert all(name.startswith("guess") for name in found)
    assert 0.3 < len(found) / 60 < 0.7


def people_at(medians: list[float], right: bool = False) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One person a median, with one task that fails; all call it equivalent, which is below chance, unless right."""
    rows = [
        {"problem": "p", "system": "s", "annotator": f"w{n}", "question": "accuracy", "seconds": seconds}
        | {"grade": 1 if right else 5}
        for n, seconds in enumerate(medians)
    ]
    return grades_of(rows), pd.DataFrame({"problem": ["p"], "system": "s", "sample": 0, "passed": 0})


# people, percentile, how many of them: ceil(people * percentile / 100)
RANKS = [
    (49, 10, 5), (10, 10, 1), (11, 10, 2), (20, 10, 2), (30, 10, 3), (70, 10, 7), (1, 10, 1), (49, 0, 0),
    (49, 100, 49), (3, 50, 2), (200, 0.5, 1), (1000, 0.1, 1), (3, 33.4, 2),
]  # fmt: skip


@pytest.mark.parametrize(("people", "percentile", "count"), RANKS)
def test_the_fastest_tenth(people: int, percentile: float, count: int) -> None:
    medians = [10.0 + n for n in range(people)]
    grades, passed = people_at(random.Random(1).sample(medians, people))
    result = apply_rule(
        "published", grades, passed=passed, percentile=percentile, minimum_people=0, equivalent_from=5
    )
    assert len(result.excluded) == count
    if percentile == 10:
        assert count == sum(median <= np.percentile(medians, 10) for median in medians), (
            "numpy's default agrees"
        )


def test_ties_at_the_tenth_are_all_in() -> None:
    grades, passed = people_at([1.0, *[2.0] * 4, *[9.0] * 15])
    assert len(apply_rule("published", grades, passed=passed).excluded) == 5


def test_few_people_are_flagged_for_a_person_to_decide() -> None:
    for people, excluded in ((9, 0), (10, 1)):
        grades, passed = people_at([10.0 + n for n in range(people)])
        result = apply_rule("published", grades, passed=passed)
        assert result.table["flagged"].tolist() == [True] + [False] * (people - 1)
        assert len(result.excluded) == excluded
        assert any("fewer than 10 people" in note for note in result.notes) == (not excluded)


def test_as_good_as_chance_is_not_below_it() -> None:
    """Half passes and both calls are "equivalent": performance 1/2, chance .2 / 2 + .8 / 2 = 1/2."""
    rows = [
        {
            "problem": problem,
            "system": "s",
            "annotator": f"w{n}",
            "question": "accuracy",
            "grade": 5,
            "seconds": 9,
        }
        for n in range(12)
        for problem in "pq"
    ]
    passed = pd.DataFrame({"problem": ["p", "q"], "system": "s", "sample": 0, "passed": [1, 0]})
    assert not apply_rule("published", grades_of(rows), passed=passed).table["flagged"].any()


def test_the_published_rule_says_what_it_lacks() -> None:
    grades, passed = people_at([1.0] * 12)
    with pytest.raises(TableError, match="The rule published compares answers with PASS, and there is none"):
        apply_rule("published", grades)
    with pytest.raises(TableError, match=r"No grade answers the question x: .* There is: accuracy\."):
        apply_rule("published", grades, passed=passed, question="x", equivalent_from=5)
    unknown = apply_rule("published", grades, passed=passed.assign(passed=math.nan)).table
    assert set(unknown["reason"]) == {"not judged: no task with a known PASS"}
    untimed = apply_rule("published", grades.assign(seconds=math.nan), passed=passed)
    assert set(untimed.table["reason"]) == {quality.NO_TIME}
    assert untimed.notes[0] == "0 of 0 people with a time make up the fastest 10 %."
    assert not untimed.table["flagged"].any()


def test_active_time_is_the_named_alternative() -> None:
    grades, passed = people_at([float(n) for n in range(1, 21)])
    grades["active_seconds"] = [math.nan] * 19 + [0.5]
    result = apply_rule("published", grades, passed=passed, time="active_seconds")
    assert result.excluded == ["w0", "w19"]
    assert "19 of 20 answers have no active time: the server's stands for it." in result.notes


def everybody_fair(rng: random.Random, **others: Callable[[random.Random, int], int]) -> Rows:
    return pool(rng, {f"w{n}": fair for n in range(12)} | others)


def plant_fast(rng: random.Random) -> Rows:
    rows = everybody_fair(rng, bad=fair)
    return [row | {"seconds": row["seconds"] / 5} if row["annotator"] == "bad" else row for row in rows]


def plant_line(rng: random.Random) -> Rows:
    return everybody_fair(rng, bad=lambda rng, quality: 3)


def plant_run(rng: random.Random) -> Rows:
    """Fair for 18 tasks, then the same to the end."""
    rows = everybody_fair(rng, bad=fair)
    return [row | {"grade": 2} if row["annotator"] == "bad" and row["position"] > 18 else row for row in rows]


def plant_opposite(rng: random.Random) -> Rows:
    return everybody_fair(rng, bad=lambda rng, quality: 4 - fair(rng, quality))


def plant_noise(rng: random.Random) -> Rows:
    return everybody_fair(rng, bad=lambda rng, quality: rng.randint(0, 4))


# rule, parameters, how the failure of the person called bad is planted
PLANTED: list[tuple[str, dict[str, Any], Callable[[random.Random], Rows]]] = [
    ("too_fast", {}, plant_fast),
    ("too_fast", {"seconds": 15, "share": 0}, plant_fast),
    ("straight_lining", {}, plant_line),
    ("straight_lining", {"share": 0, "run": 10}, plant_run),
    ("low_agreement", {}, plant_opposite),
    ("low_agreement", {"below": 0.6}, plant_noise),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("rule", "parameters", "plant"), PLANTED)
def test_each_rule_flags_its_planted_failure_and_nobody_else(
    rule: str, parameters: dict[str, Any], plant: Callable[[random.Random], Rows], seed: int
) -> None:
    result = apply_rule(rule, grades_of(plant(random.Random(seed))), **parameters)
    assert result.table.loc[result.table["flagged"], "annotator"].tolist() == ["bad"]
    assert result.excluded == ["bad"]
    assert (result.table["reason"] != "").tolist() == [name == "bad" for name in result.table["annotator"]]


def with_checks(rng: random.Random) -> pd.DataFrame:
    """Everybody has two checks of each kind and passes them, but for one person a kind who fails both, and `slip`, who
    fails one. Answers to checks are wild and fast: they must not enter anything else."""
    names = [f"w{n}" for n in range(8)] + [f"bad-{kind}" for kind in KINDS] + ["slip"]
    rows = pool(rng, dict.fromkeys(names, fair))
    verdicts: list[bool | None] = [None] * len(rows)
    for name in names:
        for kind in KINDS:
            for number in range(2):
                rows.append(
                    {"problem": f"p{number}", "system": "s", "annotator": name, "check": kind, "seconds": 0.1}
                    | {"assignment": f"{name}/{kind}/{number}", "grade": rng.randint(0, 4), "position": 99}
                )
                slipped = name == "slip" and kind == "gold" and number == 0
                verdicts.append(not (slipped or name == f"bad-{kind}"))
    return grades_of(rows).assign(check_passed=pd.Series(verdicts, dtype=object))


@pytest.mark.parametrize("seed", SEEDS)
def test_each_kind_of_check_flags_its_planted_failure_and_nobody_else(seed: int) -> None:
    grades = with_checks(random.Random(seed))
    everybody = [f"bad-{kind}" for kind in KINDS]
    assert sorted(apply_rule("failed_checks", grades).excluded) == sorted(everybody)
    for kind in KINDS:
        result = apply_rule("failed_checks", grades, kinds=kind)
        assert result.excluded == [f"bad-{kind}"]
        assert result.table["reason"].max() == "2 of 2 checks failed"
    assert sorted(apply_rule("failed_checks", grades, at_least=1).excluded) == sorted([*everybody, "slip"])
    for rule in ("too_fast", "straight_lining", "low_agreement"):
        assert not apply_rule(rule, grades).table["flagged"].any()


def test_checks_that_are_not_there() -> None:
    grades = with_checks(random.Random(0))
    result = apply_rule("failed_checks", grades, kinds=" gold , x")
    assert result.notes == ["There is no check of the kind x."]
    assert result.excluded == ["bad-gold"]
    bare = apply_rule("failed_checks", grades.drop(columns="check_passed"))
    assert set(bare.table["reason"]) == {"not judged: no check with a result"}


# rule, parameters, the sentence
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("magic", {},
     "There is no rule 'magic'. Known: published, failed_checks, too_fast, straight_lining, low_agreement."),
    ("too_fast", {"speed": 1, "x": 2}, "The rule too_fast has no parameter speed, x. It has: seconds, share, time."),
    ("too_fast", {"seconds": -1}, "The parameter seconds of the rule too_fast must be a number from 0, not -1."),
    ("too_fast", {"seconds": "x"}, "The parameter seconds of the rule too_fast must be a number from 0, not 'x'."),
    ("too_fast", {"seconds": True}, "The parameter seconds of the rule too_fast must be a number from 0, not True."),
    ("too_fast", {"share": "nan"}, "The parameter share of the rule too_fast must be a number from 0 to 1, not 'nan'."),
    ("too_fast", {"seconds": None}, "The parameter seconds of the rule too_fast must be a number from 0, not None."),
    ("too_fast", {"seconds": math.inf}, "The parameter seconds of the rule too_fast must be a number from 0, not inf."),
    ("too_fast", {"time": "minutes"},
     "The parameter time of the rule too_fast must be seconds or active_seconds, not 'minutes'."),
    ("failed_checks", {"at_least": 1.5},
     "The parameter at_least of the rule failed_checks must be a whole number from 1, not 1.5."),
    ("failed_checks", {"kinds": 3}, "The parameter kinds of the rule failed_checks must be a text, not 3."),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "parameters", "sentence"), REFUSED)
def test_refused_rules_and_parameters(rule: str, parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        apply_rule(rule, grades_of([]), **parameters)


def test_parameters_come_back_whole_and_give_the_same() -> None:
    grades, passed = published(3)
    first = apply_rule("published", grades, passed=passed, percentile="10")
    assert first.parameters == {
        "percentile": 10.0, "question": "accuracy", "equivalent_from": 5.0, "guess": 0.2, "minimum_people": 10,
        "time": "seconds",
    }  # fmt: skip
    assert (first.rule, first.version) == ("published", 1)
    excluded = grades.assign(excluded=grades["annotator"].isin(first.excluded))
    again = apply_rule("published", excluded, passed=passed, **first.parameters)
    pd.testing.assert_frame_equal(first.table, again.table)


@pytest.mark.parametrize("rule", RULES)
def test_studies_of_nobody_and_of_one(rule: str) -> None:
    passed = pd.DataFrame({"problem": ["p"], "system": "s", "sample": 0, "passed": 1})
    nobody = apply_rule(rule, grades_of([]), passed=passed)
    assert nobody.table.empty
    assert nobody.notes == ["There are no grades, so the rule finds nobody."]
    row = {"problem": "p", "system": "s", "annotator": "a", "question": "accuracy", "grade": 5}
    one = apply_rule(rule, grades_of([row]), passed=passed)
    assert one.excluded == []
    assert one.table["reason"].str.startswith("not judged").all()
    assert list(one.table.columns[-3:]) == ["flagged", "excluded", "reason"]
    assert set(one.table[["flagged", "excluded"]].dtypes) == {np.dtype(bool)}


rated = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(1, 5), st.integers(1, 9)), max_size=30
)
# rule, parameter, values that flag ever more people
MONOTONE: list[tuple[str, str, list[float], dict[str, Any]]] = [
    ("published", "percentile", [0, 10, 40, 70, 100], {"minimum_people": 0}),
    ("too_fast", "seconds", [0, 2, 4.5, 8, 100], {"share": 0}),
    ("too_fast", "share", [0, 0.2, 0.5, 1], {}),
    ("straight_lining", "share", [1, 0.8, 0.5, 0.1], {"minimum_items": 1}),
    ("straight_lining", "run", [9, 4, 2, 1], {"share": 0, "minimum_items": 1}),
    ("low_agreement", "below", [-1, -0.5, 0, 0.5, 1], {"minimum_items": 3}),
    ("failed_checks", "at_least", [4, 3, 2, 1], {}),
]


@settings(deadline=None, max_examples=8)
@pytest.mark.parametrize(("rule", "parameter", "values", "others"), MONOTONE)
@given(rated)
def test_a_wider_threshold_flags_the_same_people_and_more(
    rule: str,
    parameter: str,
    values: list[float],
    others: dict[str, Any],
    rows: list[tuple[int, int, int, int]],
) -> None:
    unique = {(row[0], row[1]): row for row in rows}.values()
    grades = grades_of(
        {"problem": f"p{problem}", "system": "s", "annotator": f"w{person}", "question": "accuracy"}
        | {"grade": grade, "seconds": seconds, "position": problem}
        | {"check": "gold" if rule == "failed_checks" else ""}
        for person, problem, grade, seconds in unique
    ).assign(check_passed=[grade > 3 for *_, grade, _ in unique])
    passed = pd.DataFrame(
        {"problem": [f"p{n}" for n in range(6)], "system": "s", "sample": 0, "passed": [0, 1] * 3}
    )
    found: set[str] = set()
    for value in values:
        more = set(apply_rule(rule, grades, passed=passed, **{parameter: value}, **others).excluded)
        assert found <= more
        found = more


def test_top_performers_and_their_ties() -> None:
    """Right of judged by hand: a 3 of 3; b and c 2 of 3 on the same tasks; d 2 of 3 with more passing, so with less
    chance; e 1 of 1, too few; f 4 of 6, as good as b and with more tasks; g 0 of 3."""
    passes = {"p0": 0, "p1": 0, "p2": 0, "p3": 1, "p4": 1, "p5": 1}
    said = {
        "a": {"p0": 1, "p1": 1, "p2": 1},
        "b": {"p0": 1, "p1": 1, "p2": 5},
        "c": {"p0": 1, "p1": 1, "p2": 5},
        "d": {"p0": 1, "p3": 5, "p4": 1},
        "e": {"p0": 1},
        "f": {"p0": 1, "p1": 1, "p2": 5, "p3": 5, "p4": 5, "p5": 1},
        "g": {"p0": 5, "p1": 5, "p2": 5},
    }
    grades = grades_of(
        {"problem": problem, "system": "s", "annotator": name, "question": "accuracy", "grade": grade}
        for name, answers in said.items()
        for problem, grade in answers.items()
    )
    passed = pd.DataFrame(
        [(problem, "s", 0, value) for problem, value in passes.items()],
        columns=["problem", "system", "sample", "passed"],
    )
    top = top_performers(grades, passed, 4)
    assert top[["rank", "annotator", "tied"]].to_numpy().tolist() == [
        [1, "a", False], [2, "f", False], [3, "d", False], [4, "b", True],
    ]  # fmt: skip
    assert tuple(top.columns) == quality.TOP
    everybody = top_performers(grades, passed, 99, minimum_items=1)["annotator"].tolist()
    assert everybody == ["a", "e", "f", "d", "b", "c", "g"]
    assert top_performers(grades_of([]), passed).empty


def test_the_best_are_found() -> None:
    """Of 20 people right in 60 % of 12 tasks and 5 in all of them, the five are the top."""
    rng = random.Random(1)
    people = [person for person in published_people(rng) if person.name.startswith("g")][:25]
    people = [
        type(person)(f"best{n}" if n < 5 else f"w{n}", person.pace, careful(1.0 if n < 5 else 0.6))
        for n, person in enumerate(people)
    ]
    grades, passed = published_study(rng, people)
    top = top_performers(grades, passed)
    assert sorted(top["annotator"]) == [f"best{n}" for n in range(5)]
    assert (top["pass_items"] == TASKS).all()
