"""Whatever people do, in whatever order: each kept count equals its rows, and no promise is broken."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    run_state_machine_as_test,
)

from annotator.grading import steps
from annotator.studies.protocol_reader import read_protocol
from annotator.studies.protocols import Protocol
from tests.grading.machine import LATER, Finished
from tests.grading.surveys import (
    ASIDE,
    BESIDE,
    EFFORT,
    PRACTICE,
    QUALITY,
    REMARK,
    gold,
    make_survey,
    protocol_text,
    rows_of,
)

pytestmark = pytest.mark.django_db
CHECKS = """
[checks]


kinds = ["instructed", "gold", "degraded", "repeat"]
every = 2
"""


LOUD = CHECKS + "loud = true\nfail_at = 2\n"
DRILL = PRACTICE.format(expected="")
STUDIES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "open": (
        protocol_text(QUALITY, BESIDE, REMARK, ASIDE, DRILL, policy="open", target=2, back=True),
        rows_of(3),
    ),
    "open with checks": (
        protocol_text(QUALITY, EFFORT, CHECKS, policy="open", target=2),
        [*rows_of(4), *gold(rows_of(1, ("known",), problem="g"), 3)],
    ),
    "everyone with loud checks": (
        protocol_text(QUALITY, EFFORT, LOUD, ASIDE, policy="everyone"),
        [*rows_of(3), *gold(rows_of(1, ("known",), problem="g"), 3)],
    ),
    "balanced": (
        protocol_text(QUALITY, EFFORT, policy="balanced", target=2, tasks_per_person=3),
        rows_of(4),
    ),
    "balanced pairs with checks": (
        protocol_text(
            *(QUALITY, EFFORT + "reveal = true\n", '[checks]\nkinds = ["degraded", "repeat"]\nevery = 2\n'),
            policy="balanced",
            target=2,
            tasks_per_person=3,
            show="pair",
            skip=False,
        ),
        rows_of(4, references=1),
    ),
    "blocks": (
        protocol_text(QUALITY, CHECKS, ASIDE, policy="blocks", target=1, blocks=2),
        [*rows_of(3), *gold(rows_of(1, ("known",), problem="g"), 3)],
    ),
}


def machine_of(name: str) -> type[Finished]:
    """A machine that begins, each time, with the same fresh study."""
    text, rows = STUDIES[name]
    return type("Machine", (Finished,), {"study": make_survey(text, rows)})


@pytest.mark.parametrize("name", STUDIES)
def test_no_order_of_acts_breaks_a_promise(name: str) -> None:
    search(machine_of(name), 4, 30)


def search(machine: type[Finished], examples: int, acts: int) -> None:
    """Hypothesis looks for a short order of acts that does."""
    chosen = settings(
        max_examples=examples,
        stateful_step_count=acts,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=chosen)


@pytest.mark.parametrize("name", STUDIES)
def test_no_busy_day_breaks_a_promise(name: str) -> None:
    machine = machine_of(name)
    for seed in range(4):
        spend_a_day(machine, f"{name} {seed}", 50)


def spend_a_day(machine: type[Finished], seed: str, acts: int) -> None:
    """The same acts, drawn one after another, with those that matter most often in the lead."""
    rng, day = random.Random(seed), machine()
    log: list[str] = []
    try:
        day.some_start()
        for _ in range(acts):
            name, arguments = an_act(rng)
            log.append(f"{name}({arguments})")
            getattr(day, name)(**arguments)
            day.counts_equal_their_rows()
            day.nobody_goes_back()
            day.grades_have_their_history()
    except BaseException as error:
        error.add_note(f"seed {seed!r}, acts: {', '.join(log)}")
        raise
    finally:
        day.teardown()


def an_act(rng: random.Random) -> tuple[str, dict[str, Any]]:
    which, pick, who = (rng.randrange(21) for _ in range(3))
    yes, no = rng.random() < 0.5, rng.random() < 0.5
    steps_off = ["on", "on", "start", "start", "stop", *LATER]
    acts: list[tuple[int, str, dict[str, Any]]] = [
        (4, "arrive", {"to_tasks": rng.random() < 0.7}),
        (5, "step", {"who": who, "act": rng.choice(steps_off)}),
        (3, "hand_out", {"who": who}),
        (4, "grade", {"who": who, "pick": pick}),
        (6, "grade_on", {"who": who, "pick": pick}),
        (2, "send_again", {"which": which, "other": yes}),
        (4, "send_late", {"who": who, "which": which, "pick": pick}),
        (
            6,
            "come_back_late",
            {"who": who, "pick": pick, "begun": yes, "taken_over": no, "times": 1 + pick % 3},
        ),
        (2, "change", {"who": who, "pick": pick}),
        (3, "give_back", {"who": who, "broken": yes, "which": which}),
        (3, "run_out", {"which": which, "all_of_them": rng.random() < 0.3, "release": no}),
        (2, "researcher", {"who": who, "act": rng.choice(["reopen slots", "reinstate", "paused", "closed"])}),
    ]
    _, name, arguments = rng.choices(acts, [weight for weight, _, _ in acts])[0]
    return name, arguments


# The pure part of the steps: for every protocol that can be.

kinds = st.lists(st.sampled_from(["options", "slider", "text"]), min_size=1, max_size=6)
flags = st.lists(st.booleans(), min_size=6, max_size=6)


def protocol_of(kinds: list[str], joined: list[bool], present: list[bool]) -> Protocol:
    """A protocol with questions of these kinds, some on a page with the one before, and some of the steps."""
    questions = []
    for number, kind in enumerate(kinds):
        made: dict[str, Any] = {"key": f"q{number}", "text": "How?", "kind": kind}
        if kind == "options":
            made["options"] = [{"value": value, "label": f"L{value}"} for value in (2, 1)]
        # A comment goes with a question, so that no page is without one.
        if number and (kind == "text" or joined[number]):
            made["with_previous"] = True
        questions.append(made)
    if kinds[0] == "text":
        questions[0] |= {"kind": "slider"}
    table: dict[str, Any] = {"name": "n", "title": "t", "policy": "open", "questions": questions}
    table |= {
        key: "A text." for key, there in zip(("consent", "instructions"), present, strict=False) if there
    }
    ask = {"key": "a", "text": "Who?"}
    table |= {
        key: [ask] for key, there in zip(("background", "feedback"), present[2:], strict=False) if there
    }
    if present[4]:
        table["practice"] = [{"intent": "i", "code": "c"}] * 2
    return read_protocol(table)


protocols = st.builds(protocol_of, kinds, flags, flags)


@given(protocols)
def test_steps_go_forward_to_the_end(protocol: Protocol) -> None:
    order = steps.steps_of(protocol)
    walked = [steps.first_step(protocol)]
    while walked[-1] != steps.THANKS:
        walked.append(steps.step_after(protocol, walked[-1]))
    assert walked == order
    assert order[-1] == steps.THANKS
    assert steps.TASKS in order


@given(protocols, st.sampled_from([*steps.BEFORE_TASKS, steps.TASKS, steps.FEEDBACK, steps.THANKS]))
def test_a_step_that_is_left_out_leads_on(protocol: Protocol, step: str) -> None:
    """Who stands on a step that a changed protocol has no more goes to one that it has, and never back."""
    everything = [*steps.BEFORE_TASKS, steps.TASKS, steps.FEEDBACK, steps.THANKS]
    after = steps.step_after(protocol, step)
    assert after in steps.steps_of(protocol)
    assert everything.index(after) > everything.index(step) or step == after == steps.THANKS


@given(protocols, st.booleans(), st.booleans(), st.integers(0, 2), st.integers(0, 3))
def test_who_comes_back_goes_on_at_what_is_not_done(
    protocol: Protocol, consented: bool, asked: bool, practised: int, handed: int
) -> None:
    step = steps.resumed(protocol, consented=consented, asked=asked, practised=practised, handed=handed)
    assert step in steps.steps_of(protocol)
    assert step not in (steps.FEEDBACK, steps.THANKS)
    if handed:
        assert step == steps.TASKS
    elif protocol.consent and not consented:
        assert step == steps.CONSENT
    elif protocol.practice and practised < len(protocol.practice):
        assert step != steps.TASKS


@given(protocols, st.data())
def test_pages_come_in_their_order_and_each_question_once(protocol: Protocol, data: st.DataObject) -> None:
    answered: dict[str, float] = {}
    seen: list[str] = []
    while (due := steps.due_page(protocol, answered)) is not None:
        assert not steps.is_complete(protocol, answered)
        assert steps.page_of(protocol, due.key) == due.questions
        seen += [question.key for question in due.questions]
        values = {
            question.key: data.draw(st.sampled_from([question.lowest, question.highest]))
            for question in due.scaled
        }
        assert steps.off_scale(due, values) == []
        for question in due.scaled:
            assert steps.off_scale(due, values | {question.key: question.highest + 0.5}) == [question.key]
        assert steps.off_scale(due, {}) == [question.key for question in due.scaled]
        answered |= values
    assert seen == [question.key for question in protocol.questions]
    assert steps.is_complete(protocol, answered)
