"""What the grades tell of each annotator: pace, sameness of answers, checks, agreement, performance against PASS."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.columns import GRADE_COLUMNS, SNIPPET, TEXT, TableError, natural_order, steady

QUALITY = (
    *("annotator", "items", "median_seconds", "timed_items", "modal_share", "longest_run"),
    *("checks_passed", "checks_failed", "agreement", "agreement_items"),
    *("performance", "chance", "chance_half", "pass_items", "note"),
)
TIMES = ("seconds", "active_seconds")
EQUIVALENCE = "accuracy"
"""Key of the question whether a snippet is equivalent to the reference, in the published protocol."""
GUESS = 0.2
"""How often a guesser says "equivalent": one of five answers."""
PASSED = (*SNIPPET, "passed")
JUDGED = ["kind", "judged_metric", *SNIPPET]
"""What two annotators must share for their answers to be about the same thing."""
TASK_OF = ["annotator", "study", "wave", "assignment", "item", *JUDGED]
"""One task: one item in the hands of one annotator, with all its questions."""
USED = [
    *TASK_OF,
    "question",
    "grade",
    "position",
    *TIMES,
    "submitted_at",
    "complete",
    "surplus",
    "check",
    "reference",
]
VERDICTS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


def annotator_table(
    grades: pd.DataFrame,
    passed: pd.DataFrame | None = None,
    *,
    time: str = "seconds",
    question: str = EQUIVALENCE,
    equivalent_from: float | None = None,
    guess: float = GUESS,
) -> pd.DataFrame:
    """One row an annotator of `grades` (raw, `columns.GRADES`), in the order of QUALITY.

    Counted are complete grades that are not surplus, whatever an exclusion says of them: what a rule finds must not
    depend on what an earlier one found. Attention checks count in the two columns of checks and nowhere else.

    items: tasks with a grade. median_seconds: of the times of these tasks, each the sum over its questions, of
    `timed_items` tasks with all times recorded. `time` names the clock: `seconds` of the server, or the browser's
    `active_seconds`; an answer without the latter has the server's, and the note counts them.
    modal_share: share of the tasks answered most often in the same way, all questions taken together; longest_run:
    most tasks in a row answered in the same way, in the order of `position`, else of `submitted_at`.
    checks_passed, checks_failed: checks with a result in the column `check_passed`, which may be absent.
    agreement: Pearson's r of the person's grades with the mean of the others' of the same snippet and question, for
    each question apart, then the mean over the questions where it exists; `agreement_items` shared snippets.
    performance: share of own tasks in which (answer to `question` >= `equivalent_from`) == (PASS = 1), among
    `pass_items` with known PASS, references left out. `equivalent_from`: None = the highest answer that anybody gave.
    chance: q * p + (1 - q) * (1 - p), with q = `guess` the rate of saying "equivalent" and p the share that passes
    among these tasks; chance_half: the same with q = 1/2. `passed`: the columns PASSED, 0, 1 or missing.

    A number that does not exist is missing, and `note` says why. Sorted by annotator; the order of the rows and the
    names of the annotators decide no number. Raises TableError: missing columns, an answer twice, a bad PASS.
    """
    if time not in TIMES:
        raise ValueError(f"There is no time {time!r}. Known: {', '.join(TIMES)}.")
    rows = counted(grades)
    names = pd.DataFrame({"annotator": grades["annotator"].astype(str).unique()}, dtype="str")
    people = natural_order(names, ["annotator"]).set_index("annotator")
    own = rows[rows["check"] == ""]
    for part in (
        _paces(own, time),
        _sameness(own),
        check_counts(rows),
        _agreements(own),
        _performances(own, passed, question, equivalent_from, guess),
    ):
        people = people.join(part)
    for column in ("items", "timed_items", "checks_passed", "checks_failed", "agreement_items", "pass_items"):
        people[column] = people[column].fillna(0).astype("int64")
    people["note"] = [_note(row) for row in people.to_dict("records")]
    return people.reset_index()[list(QUALITY)]


def counted(grades: pd.DataFrame) -> pd.DataFrame:
    """The complete grades that are not surplus, with a `task` number and steady kinds of columns.

    Raises TableError: missing columns, the same question of the same task answered twice.
    """
    missing = [column for column in USED if column not in grades]
    if missing:
        raise TableError(f"The table of grades has no column {', '.join(missing)}.")
    rows = grades[grades["complete"].astype(bool) & ~grades["surplus"].astype(bool)]
    made: dict[str, Any] = {}
    for column in USED:
        kind = GRADE_COLUMNS[column][0]
        made[column] = (
            rows[column].where(rows[column].notna(), "").astype(str) if kind == TEXT else rows[column]
        )
    for column in ("grade", "position", *TIMES):
        made[column] = pd.to_numeric(made[column]).astype(float)
    table = pd.DataFrame(made).assign(reference=rows["reference"].astype(bool))
    table["check_passed"] = _verdicts(rows)
    table = table.sort_values([*TASK_OF, "check", "question", "grade"], ignore_index=True)
    twice = table[table.duplicated([*TASK_OF, "check", "question"]) & (table["check"] == "")]
    if len(twice):
        raise TableError(
            "The table of grades cannot be used: a task has one answer to each question.",
            [
                f"{row.annotator} answered {row.question} of {row.system} for problem {row.problem} more than once."
                for row in twice.drop_duplicates([*TASK_OF, "question"]).itertuples()
            ],
        )
    return table.assign(task=table.groupby([*TASK_OF, "check"], sort=False).ngroup())


def check_counts(rows: pd.DataFrame, kinds: tuple[str, ...] = ()) -> pd.DataFrame:
    """`checks_passed` and `checks_failed` of each annotator with a check, of these kinds only (none: of all).

    `rows` as `counted` gives them. A check is one task: it is failed where any of its answers is.
    """
    rows = rows[(rows["check"] != "") & rows["check_passed"].notna()]
    if kinds:
        rows = rows[rows["check"].isin(kinds)]
    checks = rows.groupby(["annotator", "task"])["check_passed"].min()
    passed = checks.groupby("annotator").sum()
    return pd.DataFrame(
        {"checks_passed": passed, "checks_failed": checks.groupby("annotator").size() - passed}
    )


def top_answer(rows: pd.DataFrame, question: str) -> float | None:
    """The highest answer to the question that anybody gave, attention checks left out; None without one.

    `rows` as `counted` gives them.
    """
    given = rows.loc[(rows["question"] == question) & (rows["check"] == ""), "grade"].max()
    return None if pd.isna(given) else float(given)


def _verdicts(rows: pd.DataFrame) -> pd.Series:
    """1, 0 or missing for what the column check_passed says, be it flags, numbers or words."""
    if "check_passed" not in rows:
        return pd.Series(np.nan, index=rows.index)
    words = rows["check_passed"].map(lambda value: VERDICTS.get(str(value).lower()))
    return words.astype(float)


def _paces(own: pd.DataFrame, time: str) -> pd.DataFrame:
    seconds = own["seconds"].where(own["seconds"] >= 0)
    if time == "active_seconds":
        active = own["active_seconds"].where(own["active_seconds"] >= 0)
        borrowed, seconds = active.isna() & seconds.notna(), active.fillna(seconds)
    else:
        borrowed = seconds.isna() & False
    rows = own.assign(time=seconds, timed=seconds.notna(), borrowed=borrowed, given=own["grade"].notna())
    tasks = rows.groupby(["annotator", "task"]).agg(
        time=("time", "sum"), timed=("timed", "all"), borrowed=("borrowed", "sum"), given=("given", "any")
    )
    tasks = tasks[tasks["given"]]
    tasks["time"] = tasks["time"].where(tasks["timed"])
    people = tasks.groupby("annotator")
    return pd.DataFrame(
        {
            "items": people.size(),
            "median_seconds": people["time"].median().map(steady),
            "timed_items": people["timed"].sum(),
            "borrowed": people["borrowed"].sum(),
        }
    )


def _sameness(own: pd.DataFrame) -> pd.DataFrame:
    given = own[own["grade"].notna()]
    answers: dict[int, list[tuple[str, float]]] = {}
    for task, question, grade in zip(given["task"], given["question"], given["grade"], strict=True):
        answers.setdefault(task, []).append((question, grade))
    tasks = given.drop_duplicates("task")[["annotator", "task", "position", "submitted_at"]]
    codes: dict[tuple[tuple[str, float], ...], int] = {}
    tasks["answer"] = [codes.setdefault(tuple(answers[task]), len(codes)) for task in tasks["task"]]
    people = tasks.groupby("annotator")
    common = tasks.groupby(["annotator", "answer"]).size().groupby("annotator").max()
    ordered = pd.DataFrame(
        {
            "position": people["position"].count(),
            "at": (tasks["submitted_at"] != "").groupby(tasks["annotator"]).sum(),
        }
    )
    size = people.size()
    by_position = tasks["annotator"].map(ordered["position"] == size).astype(bool)
    tasks = tasks.assign(position=tasks["position"].where(by_position, 0))
    tasks = tasks.sort_values(["annotator", "position", "submitted_at", "task"])
    starts = (tasks[["annotator", "answer"]] != tasks[["annotator", "answer"]].shift()).any(axis=1).cumsum()
    runs = tasks.groupby(["annotator", starts.rename("run")]).size().groupby("annotator").max()
    known = (ordered["position"] == size) | (ordered["at"] == size) | (size == 1)
    return pd.DataFrame(
        {"modal_share": (common / size).map(steady), "longest_run": runs.where(known).astype(float)}
    )


def _agreements(own: pd.DataFrame) -> pd.DataFrame:
    # Sorted by grade, not by annotator: sums then come out the same whatever the names are.
    given = own[own["grade"].notna()].sort_values([*JUDGED, "question", "grade"])
    one = given.groupby(["annotator", *JUDGED, "question"])["grade"].mean().reset_index()
    one = one.sort_values([*JUDGED, "question", "grade"])
    same = one.groupby([*JUDGED, "question"])["grade"]
    total, size = same.transform("sum"), same.transform("size")
    one["others"] = (total - one["grade"]) / (size - 1).where(size > 1)
    shared = one[size > 1].sort_values(["annotator", "question", "grade", "others"])
    shared = shared.assign(item=shared.groupby(JUDGED).ngroup())
    values = {
        key: _pearson(rows["grade"].to_numpy(), rows["others"].to_numpy())
        for key, rows in shared.groupby(["annotator", "question"])
    }
    means = pd.Series(values, dtype=float).groupby(level=0).mean() if values else pd.Series(dtype=float)
    items = shared.groupby("annotator")["item"].nunique()
    return pd.DataFrame({"agreement": means.map(steady), "agreement_items": items})


def _pearson(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float:
    """Missing where there are fewer than 3 pairs or a side is constant but for rounding."""
    if len(x) < 3 or any(np.ptp(side) <= 1e-9 * max(1.0, float(np.abs(side).max())) for side in (x, y)):
        return np.nan
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip((x @ y) / np.sqrt((x @ x) * (y @ y)), -1, 1))


def _performances(
    own: pd.DataFrame, passed: pd.DataFrame | None, question: str, equivalent_from: float | None, guess: float
) -> pd.DataFrame:
    asked = own[(own["question"] == question) & own["grade"].notna() & ~own["reference"]]
    columns = ["performance", "chance", "chance_half", "pass_items", "no_pass"]
    if asked.empty or passed is None:
        reason = "PASS was not given" if passed is None else f"no answer to {question}"
        return pd.DataFrame({"no_pass": reason}, index=own["annotator"].unique(), columns=columns).astype(
            dict.fromkeys(columns[:-1], float)
        )
    cut = asked["grade"].max() if equivalent_from is None else equivalent_from
    known = asked.merge(_passed(passed), on=SNIPPET, how="left")
    known = known[known["passed"].notna()]
    known["right"] = (known["grade"] >= cut) == (known["passed"] == 1)
    people = known.groupby("annotator")
    passing = people["passed"].mean()
    table = pd.DataFrame(
        {
            "performance": people["right"].mean().map(steady),
            "chance": (guess * passing + (1 - guess) * (1 - passing)).map(steady),
            "chance_half": 0.5,
            "pass_items": people.size(),
        }
    ).reindex(own["annotator"].unique())
    answered = pd.Series(table.index.isin(asked["annotator"]), table.index)
    unknown = answered.map({True: "no task with a known PASS", False: f"no answer to {question}"})
    return table.assign(no_pass=unknown)


def _passed(passed: pd.DataFrame) -> pd.DataFrame:
    missing = [column for column in PASSED if column not in passed]
    if missing:
        raise TableError(f"The table of PASS has no column {', '.join(missing)}.")
    table = pd.DataFrame(
        {
            "problem": passed["problem"].astype(str),
            "system": passed["system"].astype(str),
            "sample": passed["sample"].astype("int64"),
            "passed": pd.to_numeric(passed["passed"]).astype(float),
        }
    )
    bad = table["passed"].notna() & ~table["passed"].isin((0.0, 1.0))
    for rows, what in ((bad, "is neither 0 nor 1"), (table.duplicated(SNIPPET), "is there more than once")):
        if rows.any():
            lines = [
                f"{row.system} for problem {row.problem}, sample {row.sample}."
                for row in table[rows].itertuples()
            ]
            raise TableError(f"The table of PASS cannot be used: PASS {what} {len(lines)} times.", lines)
    return table


def _note(row: dict[Any, Any]) -> str:
    items, timed = row["items"], row["timed_items"]
    if not items:
        return "no counted grade"
    said = []
    if timed < items:
        said.append(f"{items - timed} of {items} tasks without a recorded time")
    if row["borrowed"]:
        said.append(f"{int(row['borrowed'])} answers without active time have the server's")
    if pd.isna(row["longest_run"]):
        said.append("the order of the tasks was not recorded")
    if pd.isna(row["agreement"]):
        shared = row["agreement_items"]
        said.append(
            f"no agreement from {shared} shared snippets: " + ("too few" if shared < 3 else "nothing varies")
        )
    if pd.isna(row["performance"]):
        said.append(f"no performance: {row['no_pass']}")
    return "; ".join(said)
