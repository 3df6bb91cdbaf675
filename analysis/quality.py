"""Exclusion rules: versioned definitions over raw grades that say whom a researcher may want to leave out, and why.

A rule reads and never changes the grades. Its version grows whenever the same grades and parameters could give
another answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from analysis.annotators import (
    EQUIVALENCE,
    GUESS,
    QUALITY,
    TIMES,
    annotator_table,
    check_counts,
    counted,
    top_answer,
)
from analysis.columns import TableError

__all__ = ["QUALITY", "RULES", "Rule", "RuleResult", "annotator_table", "apply_rule", "top_performers"]

Settings = dict[str, Any]
TOP = ("rank", "annotator", "performance", "pass_items", "chance", "tied")
NO_PASS = (
    "The rule {rule} compares answers with PASS, and there is none: compute PASS for the systems of the study "
    "first, and give its scores along."
)


NO_TIME = "not judged: no task with all its times recorded"


@dataclass(frozen=True)
class Parameter:
    """`default` also decides the kind: a number, a whole number or a text; None stands for a number not yet known."""

    default: float | int | str | None
    text: str
    low: float = 0.0
    high: float = math.inf
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """`find(grades, passed, settings)` gives the table of a RuleResult without its last three columns, then the
    flags with reasons by annotator, and notes; it may fill in settings that were None.
    """

    name: str
    version: int
    description: str
    parameters: Mapping[str, Parameter]
    find: Callable[[pd.DataFrame, pd.DataFrame | None, Settings], Finding]
    needs_pass: bool = False


@dataclass
class Finding:
    """`table`: annotator and the numbers behind the flags. `reasons`: why a row is flagged; `unknown`: why a row
    could not be judged; both by the place of the row. `only_flags`: exclude nobody without a look.
    """

    table: pd.DataFrame
    reasons: dict[int, str]
    unknown: dict[int, str]
    notes: list[str]
    only_flags: bool = False


@dataclass(frozen=True)
class RuleResult:
    """What a rule finds. `parameters`: all of them, defaults filled in, so that they give the same again.

    table: one row an annotator of the grades: `annotator`, the numbers behind the rule, `flagged`, `excluded`,
    `reason` (why flagged, or why the person could not be judged; else empty). Who is flagged and not excluded
    needs a person's decision. notes: sentences for the reader.
    """

    rule: str
    version: int
    parameters: dict[str, Any]
    table: pd.DataFrame
    notes: list[str]

    @property
    def excluded(self) -> list[str]:
        return [str(name) for name in self.table.loc[self.table["excluded"], "annotator"]]


def apply_rule(
    name: str, grades: pd.DataFrame, /, *, passed: pd.DataFrame | None = None, **parameters: Any
) -> RuleResult:
    """What the rule says of every annotator of `grades` (raw, `columns.GRADES`; exclusions in them are ignored).

    `passed`: PASS of the snippets (`annotators.PASSED`), which some rules need. A number may come as a text.
    Raises ValueError: no such rule or parameter, a value out of range; TableError: PASS or a question is missing.
    """
    if name not in RULES:
        raise ValueError(f"There is no rule {name!r}. Known: {', '.join(RULES)}.")
    rule = RULES[name]
    unknown = [key for key in parameters if key not in rule.parameters]
    if unknown:
        raise ValueError(
            f"The rule {name} has no parameter {', '.join(unknown)}. It has: {', '.join(rule.parameters)}."
        )
    settings = {
        key: _setting(name, key, parameter, parameters.get(key, parameter.default))
        for key, parameter in rule.parameters.items()
    }
    if rule.needs_pass and passed is None:
        raise TableError(NO_PASS.format(rule=name))
    found = rule.find(grades, passed, settings)
    places = range(len(found.table))
    flagged = np.array([place in found.reasons for place in places], dtype=bool)
    table = found.table.assign(
        flagged=flagged,
        excluded=flagged & (not found.only_flags),
        reason=pd.Series([found.reasons.get(n, found.unknown.get(n, "")) for n in places], dtype="str"),
    )
    notes = found.notes if len(table) else ["There are no grades, so the rule finds nobody."]
    return RuleResult(name, rule.version, settings, table, notes)


def top_performers(
    grades: pd.DataFrame,
    passed: pd.DataFrame,
    count: int = 5,
    *,
    question: str = EQUIVALENCE,
    equivalent_from: float | None = None,
    minimum_items: int | None = None,
) -> pd.DataFrame:
    """The best at telling equivalent snippets from others, as `annotator_table` counts performance: TOP.

    Ties: first who judged more tasks, then whose tasks were harder (lower chance), then the order of pseudonyms,
    which are drawn at random; `tied` marks those whom only that last step tells from somebody else, listed or not.
    `minimum_items`: tasks with a known PASS that one must have judged; None = as many as the median person, so
    that a single lucky answer wins nothing. Fewer people than `count` give fewer rows.
    """
    people = annotator_table(grades, passed, question=question, equivalent_from=equivalent_from)
    people = people[people["performance"].notna()]
    if minimum_items is None:
        minimum_items = math.ceil(people["pass_items"].median()) if len(people) else 0
    people = people[people["pass_items"] >= minimum_items]
    by = ["performance", "pass_items", "chance"]
    people = people.assign(tied=people.duplicated(by, keep=False))
    people = people.sort_values(by, ascending=[False, False, True], kind="stable", ignore_index=True).head(
        count
    )
    return people.assign(rank=np.arange(1, len(people) + 1))[list(TOP)]


def _setting(rule: str, key: str, parameter: Parameter, value: Any) -> Any:
    wrong = f"The parameter {key} of the rule {rule} must be"
    if isinstance(parameter.default, str):
        if not isinstance(value, str) or (parameter.choices and value not in parameter.choices):
            raise ValueError(f"{wrong} {' or '.join(parameter.choices) or 'a text'}, not {value!r}.")
        return value
    if value is None and parameter.default is None:
        return None
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    whole = isinstance(parameter.default, int)
    if (
        not parameter.low <= number <= parameter.high
        or math.isinf(number)
        or (whole and not number.is_integer())
    ):
        kind = "a whole number" if whole else "a number"
        most = "" if math.isinf(parameter.high) else f" to {parameter.high:g}"
        least = "" if math.isinf(parameter.low) else f" from {parameter.low:g}"
        raise ValueError(f"{wrong} {kind}{least}{most}, not {value!r}.")
    return int(number) if whole else number


def _rows(people: pd.DataFrame, *numbers: str) -> tuple[pd.DataFrame, list[dict[Any, Any]]]:
    return people[["annotator", "items", *numbers]].copy(), people.to_dict("records")


def _published(grades: pd.DataFrame, passed: pd.DataFrame | None, settings: Settings) -> Finding:
    question, percentile = settings["question"], settings["percentile"]
    own = counted(grades).query("check == ''")
    highest = top_answer(own, question)
    if highest is None and len(own):
        known = ", ".join(sorted(own["question"].unique()))
        raise TableError(
            f"No grade answers the question {question}: set question to the one about equivalence. There is: {known}."
        )
    if settings["equivalent_from"] is None:
        settings["equivalent_from"] = highest
    people = annotator_table(
        grades,
        passed,
        time=settings["time"],
        question=question,
        equivalent_from=settings["equivalent_from"],
        guess=settings["guess"],
    )
    times = np.sort(people["median_seconds"].dropna().to_numpy())
    # Exact: in floating point a tenth of 30 is a little more than 3, and a fourth person would be in.
    rank = math.ceil(Fraction(str(percentile)) * len(times) / 100)
    cut = times[rank - 1] if rank else np.nan
    few = len(times) < settings["minimum_people"]
    table, rows = _rows(
        people.assign(cut_seconds=cut),
        *("median_seconds", "cut_seconds", "performance", "chance", "chance_half", "pass_items"),
    )
    reasons, unknown = {}, {}
    for place, row in enumerate(rows):
        if pd.isna(row["median_seconds"]) or pd.isna(row["performance"]):
            unknown[place] = (
                NO_TIME if pd.isna(row["median_seconds"]) else "not judged: no task with a known PASS"
            )
        elif row["median_seconds"] <= cut and row["performance"] < row["chance"]:
            reasons[place] = (
                f"median task time {row['median_seconds']:.4g} s, at most {cut:.4g} s, and "
                f"performance {row['performance']:.3g} below chance {row['chance']:.3g}"
            )
    notes = [f"{rank} of {len(times)} people with a time make up the fastest {percentile:g} %."]
    notes += _borrowed(grades, settings["time"])
    if few:
        notes.append(
            f"With fewer than {settings['minimum_people']} people the rule excludes nobody: look at the flagged."
        )
    return Finding(table, reasons, unknown, notes, only_flags=few)


def _failed_checks(grades: pd.DataFrame, passed: pd.DataFrame | None, settings: Settings) -> Finding:
    people = annotator_table(grades)
    done = counted(grades)
    kinds = tuple(kind.strip() for kind in settings["kinds"].split(",") if kind.strip())
    if kinds:
        counts = check_counts(done, kinds).reindex(people["annotator"]).fillna(0).astype("int64")
        people[["checks_passed", "checks_failed"]] = counts[["checks_passed", "checks_failed"]].to_numpy()
    table, rows = _rows(people, "checks_passed", "checks_failed")
    reasons, unknown = {}, {}
    for place, row in enumerate(rows):
        count = row["checks_passed"] + row["checks_failed"]
        if not count:
            unknown[place] = "not judged: no check with a result"
        elif row["checks_failed"] >= settings["at_least"]:
            reasons[place] = f"{row['checks_failed']} of {count} checks failed"
    there = set(done["check"])
    notes = [f"There is no check of the kind {kind}." for kind in kinds if kind not in there]
    return Finding(table, reasons, unknown, notes)


def _too_fast(grades: pd.DataFrame, passed: pd.DataFrame | None, settings: Settings) -> Finding:
    people = annotator_table(grades, time=settings["time"])
    middle = people["median_seconds"].median()
    limits = [settings["seconds"], settings["share"] * middle if settings["share"] else 0.0]
    cut = float(np.nanmax(limits))
    table, rows = _rows(people.assign(cut_seconds=cut), "median_seconds", "cut_seconds")
    reasons, unknown = {}, {}
    for place, row in enumerate(rows):
        if pd.isna(row["median_seconds"]):
            unknown[place] = NO_TIME
        elif row["median_seconds"] < cut:
            reasons[place] = f"median task time {row['median_seconds']:.4g} s, below {cut:.4g} s"
    notes = [] if pd.isna(middle) else [f"The median of all people's median task times is {middle:.4g} s."]
    return Finding(table, reasons, unknown, notes + _borrowed(grades, settings["time"]))


def _borrowed(grades: pd.DataFrame, time: str) -> list[str]:
    rows = counted(grades).query("check == ''")
    lacking = int((rows["active_seconds"].isna() & rows["seconds"].notna()).sum())
    if time == "seconds" or not lacking:
        return []
    return [f"{lacking} of {len(rows)} answers have no active time: the server's stands for it."]


def _straight_lining(grades: pd.DataFrame, passed: pd.DataFrame | None, settings: Settings) -> Finding:
    table, rows = _rows(annotator_table(grades), "modal_share", "longest_run")
    share, run, least = settings["share"], settings["run"], settings["minimum_items"]
    reasons, unknown = {}, {}
    for place, row in enumerate(rows):
        said = []
        if share and row["modal_share"] >= share:
            said.append(f"{row['modal_share']:.0%} of {row['items']} tasks answered in one way")
        if run and row["longest_run"] >= run:
            said.append(f"{int(row['longest_run'])} tasks in a row answered in one way")
        if row["items"] < max(least, 1):
            unknown[place] = f"not judged: {row['items']} tasks, fewer than {max(least, 1)}"
        elif said:
            reasons[place] = "; ".join(said)
        elif run and pd.isna(row["longest_run"]):
            unknown[place] = "not judged by runs: the order of the tasks was not recorded"
    return Finding(table, reasons, unknown, [])


def _low_agreement(grades: pd.DataFrame, passed: pd.DataFrame | None, settings: Settings) -> Finding:
    table, rows = _rows(annotator_table(grades), "agreement", "agreement_items")
    reasons, unknown = {}, {}
    for place, row in enumerate(rows):
        shared, least = row["agreement_items"], settings["minimum_items"]
        if shared < least:
            unknown[place] = f"not judged: {shared} snippets shared with others, fewer than {least}"
        elif pd.isna(row["agreement"]):
            unknown[place] = "not judged: the grades of the shared snippets do not vary"
        elif row["agreement"] < settings["below"]:
            reasons[place] = (
                f"agreement {row['agreement']:.3g} with the others on {shared} snippets, below {settings['below']:g}"
            )
    return Finding(table, reasons, unknown, [])


TIME = Parameter("seconds", "the clock: the server's, or the browser's active time", choices=TIMES)
_ALL = (
    Rule(
        "published",
        1,
        "Among the fastest tenth by median task time, and worse than chance at telling equivalence. After Dibia et "
        "al., arXiv:2210.16494, section IV. The fastest tenth of n people: medians up to and including the "
        "ceil(n / 10)-th smallest. With few people it only flags.",
        {
            "percentile": Parameter(10.0, "of the median task times, in percent; ties are in", high=100),
            "question": Parameter(EQUIVALENCE, "key of the question about equivalence"),
            "equivalent_from": Parameter(
                None, "lowest answer that says equivalent; not set: the highest given", -math.inf
            ),
            "guess": Parameter(
                GUESS, "how often a guesser says equivalent: 0.2 of five answers, or 0.5", high=1
            ),
            "minimum_people": Parameter(10, "with a time; with fewer nobody is excluded"),
            "time": TIME,
        },
        _published,
        needs_pass=True,
    ),
    Rule(
        "failed_checks",
        1,
        "Failed attention checks.",
        {
            "at_least": Parameter(2, "so many failed checks", low=1),
            "kinds": Parameter("", "kinds of checks that count, with commas between; empty: all"),
        },
        _failed_checks,
    ),
    Rule(
        "too_fast",
        1,
        "A median task time below a number of seconds, or below a share of the median of all people's medians.",
        {
            "seconds": Parameter(0.0, "seconds a task; 0: off"),
            "share": Parameter(0.3, "share of the median person's median; 0: off", high=1),
            "time": TIME,
        },
        _too_fast,
    ),
    Rule(
        "straight_lining",
        1,
        "The same answers, all questions of a task together, again and again.",
        {
            "share": Parameter(0.95, "at least this share of the tasks answered in one way; 0: off", high=1),
            "run": Parameter(0, "at least so many tasks in a row answered in one way; 0: off"),
            "minimum_items": Parameter(10, "tasks; who has fewer is not judged"),
        },
        _straight_lining,
    ),
    Rule(
        "low_agreement",
        1,
        "Pearson's r with the mean of the others' grades of the same snippets is low. The others are all others, "
        "those that this rule flags included.",
        {
            "below": Parameter(0.0, "r below which a person is flagged", low=-1, high=1),
            "minimum_items": Parameter(10, "snippets shared with others; who has fewer is not judged"),
        },
        _low_agreement,
    ),
)
RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in _ALL})
