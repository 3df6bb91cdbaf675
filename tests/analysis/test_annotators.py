"""The figures of each annotator: each equals a number worked by hand, and neither order nor names decide one."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.annotators import QUALITY, annotator_table, check_counts, counted
from analysis.columns import TableError
from tests.analysis.people_of import fair, pool, published_people, published_study
from tests.analysis.tables_of import grades_of

NAN = math.nan
Rows = list[dict[str, Any]]


def tasks(*grades: float, annotator: str = "a", **cells: Any) -> Rows:
    """One question of each of p0, p1 ..; a list among the cells gives each task its own."""
    return [
        {"problem": f"p{n}", "system": "s", "annotator": annotator, "position": n + 1, "grade": grade}
        | {name: value[n] if isinstance(value, list) else value for name, value in cells.items()}
        for n, grade in enumerate(grades)
    ]


def three(*times: tuple[float, float, float], **cells: Any) -> Rows:
    """Three questions a task with these seconds."""
    return [
        {
            "problem": f"p{n}",
            "system": "s",
            "annotator": "a",
            "position": n + 1,
            "question": f"q{place}",
            "grade": 1,
        }
        | {"seconds": seconds}
        | cells
        for n, task in enumerate(times)
        for place, seconds in enumerate(task)
    ]


def passed_of(*values: float) -> pd.DataFrame:
    return pd.DataFrame({"problem": [f"p{n}" for n in range(len(values))], "passed": values}).assign(
        system="s", sample=0
    )


def only(rows: Rows, passed: pd.DataFrame | None = None, **options: Any) -> dict[str, Any]:
    table = annotator_table(grades_of(rows), passed, **options)
    assert tuple(table.columns) == QUALITY
    return {str(key): value for key, value in table[table["annotator"] == "a"].iloc[0].items()}


# what, rows, options, expected figures; each worked by hand
FIGURES: list[tuple[str, Rows, dict[str, Any], dict[str, float]]] = [
    ("a task lasts as long as its questions: 60, 15 and 300 s",
     three((10, 20, 30), (5, 5, 5), (100, 100, 100)), {}, {"median_seconds": 60, "items": 3, "timed_items": 3}),
    ("of two tasks the middle", three((10, 10, 10), (20, 20, 20)), {}, {"median_seconds": 45}),
    ("a task with a time missing has none: 15 and 300 s are left",
     three((10, NAN, 30), (5, 5, 5), (100, 100, 100)), {},
     {"median_seconds": 157.5, "items": 3, "timed_items": 2}),
    ("a time below 0 is none", three((-10, 20, 30), (5, 5, 5)), {}, {"median_seconds": 15, "timed_items": 1}),
    ("active time", three((10, 10, 10), active_seconds=4), {"time": "active_seconds"}, {"median_seconds": 12}),
    ("active time, else the server's", three((10, 20, 30)), {"time": "active_seconds"}, {"median_seconds": 60}),
    ("a question left out took its time, a task left out did not",
     [row | {"grade": NAN if row["question"] == "q2" or row["problem"] == "p1" else 3}
      for row in three((10, 10, 40), (1, 1, 1))], {}, {"median_seconds": 60, "items": 1}),
    ("checks take no part", tasks(1, 2, seconds=10) + tasks(4, 4, 4, seconds=1, check="gold"), {},
     {"median_seconds": 10, "items": 2, "modal_share": 0.5, "longest_run": 1}),
    ("surplus and incomplete grades take none either",
     tasks(1, 2, seconds=10) + tasks(4, item="i", surplus=True) + tasks(4, item="j", complete=False), {},
     {"items": 2, "modal_share": 0.5}),
    ("excluded grades do: rules look at raw data", tasks(1, 2, 2, excluded=True), {}, {"items": 3}),
    ("3 of 4 alike, never more than 2 in a row", tasks(1, 1, 0, 1), {}, {"modal_share": 0.75, "longest_run": 2}),
    ("3 in a row by position", tasks(1, 1, 0, 1, position=[1, 3, 4, 2]), {}, {"longest_run": 3}),
    ("3 in a row by time of day, where a position is missing",
     tasks(1, 1, 0, 1, position=[1, NAN, 4, 2], submitted_at=["01", "03", "04", "02"]), {}, {"longest_run": 3}),
    ("no order", tasks(1, 1, position=NAN), {}, {"longest_run": NAN, "modal_share": 1}),
    ("one task has no order", tasks(1, position=NAN), {}, {"longest_run": 1}),
    ("alike in one question is not alike",
     tasks(1, 1, 1, question="x") + tasks(1, 2, 2, question="y"), {}, {"modal_share": 0.667, "longest_run": 2}),
    ("answers 5 5 3 4, PASS 1 0 0 1: right in the first and third; half passes",
     tasks(5, 5, 3, 4, question="accuracy"), {"passed": passed_of(1, 0, 0, 1)},
     {"performance": 0.5, "chance": 0.5, "chance_half": 0.5, "pass_items": 4}),
    ("from 4 on equivalent: wrong only in the second",
     tasks(5, 5, 3, 4, question="accuracy"), {"passed": passed_of(1, 0, 0, 1), "equivalent_from": 4},
     {"performance": 0.75}),
    ("a quarter passes: .2 * .25 + .8 * .75", tasks(5, 1, 1, 1, question="accuracy"),
     {"passed": passed_of(1, 0, 0, 0)}, {"performance": 1, "chance": 0.65, "chance_half": 0.5}),
    ("the same, guessing .3: .3 * .25 + .7 * .75", tasks(5, 1, 1, 1, question="accuracy"),
     {"passed": passed_of(1, 0, 0, 0), "guess": 0.3}, {"chance": 0.6}),
    ("the top is the highest answer of anybody",
     tasks(4, 4, question="accuracy") + tasks(5, annotator="b", question="accuracy"),
     {"passed": passed_of(0, 0)}, {"performance": 1}),
    ("unknown PASS and references are left out",
     tasks(5, 5, 5, 5, question="accuracy", reference=[False, False, False, True]),
     {"passed": passed_of(1, NAN, 0, 1)}, {"performance": 0.5, "pass_items": 2}),
    ("another question", tasks(2, 1, question="same"), {"passed": passed_of(1, 0), "question": "same"},
     {"performance": 1}),
    ("r of (0 1 2 3) with the others' means (2 2 2 2.5): .75 / sqrt(5 * .1875)",
     tasks(0, 1, 2, 3) + tasks(0, 1, 2, 4, annotator="b") + tasks(4, 3, 2, 1, annotator="c"), {},
     {"agreement": 0.775, "agreement_items": 4}),
    ("two questions: r = 1 and r = -1, whatever their scales",
     tasks(0, 1, 2, question="x") + tasks(0, 1, 2, question="x", annotator="b")
     + tasks(10, 50, 90, question="y") + tasks(90, 50, 10, question="y", annotator="b"), {},
     {"agreement": 0, "agreement_items": 3}),
    ("a question without an r is left out of the mean",
     tasks(0, 1, 2, question="x") + tasks(0, 1, 2, question="x", annotator="b")
     + tasks(1, 1, 1, question="y") + tasks(0, 1, 2, question="y", annotator="b"), {}, {"agreement": 1}),
    ("a pair is another thing to judge than its snippet",
     tasks(0, 1, 2) + tasks(0, 1, 2, annotator="b", kind="pair"), {},
     {"agreement": NAN, "agreement_items": 0}),
    ("checks do not agree with anybody",
     tasks(0, 1, 2, check="gold") + tasks(0, 1, 2, annotator="b"), {}, {"agreement_items": 0, "items": 0}),
    ("constant but for rounding: no r",
     tasks(0, 1, 2) + tasks(0.1, 0.2, 0.3, annotator="b") + tasks(0.2, 0.1, 0, annotator="c"), {},
     {"agreement": NAN, "agreement_items": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("what", "rows", "options", "expected"), FIGURES, ids=[case[0] for case in FIGURES])
def test_figures(what: str, rows: Rows, options: dict[str, Any], expected: dict[str, float]) -> None:
    found = only(rows, **options)
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=5e-4, nan_ok=True)


# what, rows, options, note
NOTES: list[tuple[str, Rows, dict[str, Any], str]] = [
    ("all there", tasks(1, 2, 3, seconds=1, question="accuracy") + tasks(1, 2, 3, annotator="b", question="accuracy"),
     {"passed": passed_of(1, 0, 1)}, ""),
    ("nothing counted", tasks(1, complete=False), {}, "no counted grade"),
    ("only checks", tasks(1, check="gold"), {}, "no counted grade"),
    ("one person, no times, no PASS", tasks(1, 2, 3), {},
     "3 of 3 tasks without a recorded time; no agreement from 0 shared snippets: too few; "
     "no performance: PASS was not given"),
    ("constant, question not asked", tasks(1, 1, 1, seconds=1) + tasks(1, 2, 3, annotator="b"),
     {"passed": passed_of(1)}, "no agreement from 3 shared snippets: nothing varies; "
                               "no performance: no answer to accuracy"),
    ("PASS unknown, no order, borrowed times",
     tasks(1, 2, 3, seconds=1, question="accuracy", position=NAN) + tasks(1, 2, 3, annotator="b"),
     {"passed": passed_of(NAN), "time": "active_seconds"},
     "3 answers without active time have the server's; the order of the tasks was not recorded; "
     "no agreement from 0 shared snippets: too few; no performance: no task with a known PASS"),
    ("the question is another's",
     tasks(1, 2, 3, seconds=1) + tasks(1, 2, 3, annotator="b") + tasks(1, annotator="b", question="accuracy"),
     {"passed": passed_of(1)}, "no performance: no answer to accuracy"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "rows", "options", "note"), NOTES, ids=[case[0] for case in NOTES])
def test_whatever_is_missing_has_its_reason(
    what: str, rows: Rows, options: dict[str, Any], note: str
) -> None:
    found = only(rows, **options)
    assert found["note"] == note
    assert bool(note) == any(pd.isna(value) for value in found.values()) or "active time" in note


def test_no_grades_at_all() -> None:
    for table in (grades_of([]), pd.DataFrame(columns=list(grades_of([]).columns), dtype=object)):
        found = annotator_table(table, passed_of())
        assert tuple(found.columns) == QUALITY
        assert found.empty


# answers in the column check_passed, passed and failed
CHECKS: list[tuple[list[Any], int, int]] = [
    ([True, False, None], 1, 1),
    ([1.0, 0.0, NAN], 1, 1),
    (["true", "FALSE", ""], 1, 1),
    ([np.True_, np.False_, pd.NA], 1, 1),
    ([None, None, None], 0, 0),
    ([True, True, True], 3, 0),
]


@pytest.mark.parametrize(("verdicts", "right", "wrong"), CHECKS)
def test_checks(verdicts: list[Any], right: int, wrong: int) -> None:
    kinds = ["instructed", "gold", "repeat"]
    grades = grades_of(tasks(1, 1, 1, check=kinds)).assign(check_passed=pd.Series(verdicts, dtype=object))
    row = annotator_table(grades).iloc[0]
    assert (row["checks_passed"], row["checks_failed"]) == (right, wrong)
    assert check_counts(counted(grades), ("gold",))["checks_failed"].sum() == (
        1 if verdicts[1] is not None and wrong else 0
    )


def test_a_check_of_several_questions_is_one() -> None:
    rows = tasks(1, 1, check="gold", question="x") + tasks(1, 1, check="gold", question="y")
    grades = grades_of(rows).assign(check_passed=[True, False, False, True])
    assert check_counts(counted(grades)).to_numpy().tolist() == [[0, 2]]
    grades["check_passed"] = [True, True, True, None]
    assert check_counts(counted(grades)).to_numpy().tolist() == [[2, 0]]
    assert annotator_table(grades.drop(columns="check_passed"))["checks_failed"].tolist() == [0]


def test_agreement_is_that_of_scipy() -> None:
    grades = grades_of(pool(random.Random(5), {f"w{n}": fair for n in range(6)}))
    wide = grades.pivot_table(index="problem", columns="annotator", values="grade")
    expected = [
        stats.pearsonr(wide[name], wide.drop(columns=name).mean(axis=1)).statistic for name in wide.columns
    ]
    assert annotator_table(grades)["agreement"].tolist() == pytest.approx(expected, abs=1e-12)


# what is wrong, PASS, the sentence
BAD_PASS: list[tuple[str, pd.DataFrame, str]] = [
    ("no column", passed_of(1).drop(columns="sample"), "The table of PASS has no column sample."),
    ("a rate", passed_of(0.5), "PASS is neither 0 nor 1 1 times.\ns for problem p0, sample 0."),
    ("twice", pd.concat([passed_of(1)] * 2), "PASS is there more than once 1 times."),
]


@pytest.mark.parametrize(("what", "passed", "sentence"), BAD_PASS, ids=[case[0] for case in BAD_PASS])
def test_refused_pass(what: str, passed: pd.DataFrame, sentence: str) -> None:
    with pytest.raises(TableError) as refusal:
        annotator_table(grades_of(tasks(1, question="accuracy")), passed)
    assert sentence in str(refusal.value)


def test_refused_grades() -> None:
    with pytest.raises(TableError, match="has no column seconds, check"):
        annotator_table(grades_of(tasks(1)).drop(columns=["seconds", "check"]))
    with pytest.raises(TableError, match="a answered grade of s for problem p0 more than once"):
        annotator_table(grades_of(tasks(1) + tasks(2)))
    with pytest.raises(ValueError, match=r"There is no time 'minutes'\. Known: seconds, active_seconds"):
        annotator_table(grades_of(tasks(1)), time="minutes")


def test_keys_that_are_numbers() -> None:
    grades = grades_of(tasks(5, 1, question="accuracy")).assign(problem=[7, 8], assignment=[1, 2])
    passed = pd.DataFrame({"problem": [7, 8], "system": "s", "sample": 0, "passed": [True, False]})
    assert annotator_table(grades, passed)["performance"].tolist() == [1]


cells = st.tuples(
    st.integers(0, 3),
    st.integers(0, 4),
    st.sampled_from(["accuracy", "value"]),
    st.sampled_from([NAN, 0.0, 1.0, 2.5, 4.0]),
    st.sampled_from([NAN, 0.1, 0.2, 30.7]),
    st.sampled_from([NAN, 0.1, 3.3]),
    st.sampled_from(["", "", "", "gold"]),
    st.sampled_from([True, True, True, False]),
    st.sampled_from([True, False, None]),
)


def random_study(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    unique = {(row[0], row[1], row[2], row[6]): row for row in rows}.values()
    table = grades_of(
        {
            "annotator": f"w{annotator}",
            "problem": f"p{problem}",
            "system": "s",
            "position": problem % 3,
            "question": question,
            "grade": grade,
            "seconds": seconds,
            "active_seconds": active,
            "check": check,
            "complete": complete,
        }
        for annotator, problem, question, grade, seconds, active, check, complete, _ in unique
    )
    return table.assign(check_passed=pd.Series([row[-1] for row in unique], dtype=object))


studies = st.lists(cells, max_size=40).map(random_study)


@settings(deadline=None, max_examples=25)
@given(studies, st.randoms(use_true_random=False))
def test_order_and_names_decide_nothing(grades: pd.DataFrame, rng: random.Random) -> None:
    passed = passed_of(1, 0, NAN, 1)
    expected = annotator_table(grades, passed, time="active_seconds")
    order = list(range(len(grades)))
    rng.shuffle(order)
    pd.testing.assert_frame_equal(
        annotator_table(grades.iloc[order], passed, time="active_seconds"), expected, check_exact=True
    )
    names = dict(zip(["w0", "w1", "w2", "w3"], rng.sample(["zoe", "10", "9", "=x"], 4), strict=True))
    renamed = annotator_table(
        grades.assign(annotator=grades["annotator"].map(names)), passed, time="active_seconds"
    )
    back = renamed.assign(annotator=renamed["annotator"].map({new: old for old, new in names.items()}))
    pd.testing.assert_frame_equal(
        back.sort_values("annotator", ignore_index=True), expected, check_exact=True, check_dtype=False
    )


@settings(deadline=None, max_examples=25)
@given(studies)
def test_numbers_stay_in_their_ranges(grades: pd.DataFrame) -> None:
    table = annotator_table(grades, passed_of(1, 0, 1))
    for column in ("modal_share", "performance", "chance"):
        assert table[column].dropna().between(0, 1).all()
    assert table["agreement"].dropna().between(-1, 1).all()
    assert (table["longest_run"].dropna() <= table["items"][table["longest_run"].notna()]).all()
    lacking = table[[column for column in QUALITY if column != "note"]].isna().any(axis=1)
    assert (table.loc[lacking, "note"] != "").all()


def test_a_study_of_the_published_size() -> None:
    rng = random.Random(0)
    grades, passed = published_study(rng, published_people(rng))
    table = annotator_table(grades, passed)
    assert table["items"].sum() == 588
    assert (table["pass_items"] == 12).all()
    assert not table.drop(columns=["agreement", "note"]).isna().any(axis=None)
