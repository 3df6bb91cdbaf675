"""Pure: the steps of the survey, from the protocol. The server knows the current one; none goes back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from annotator.studies.protocols import Protocol, Question

CONSENT, BACKGROUND, INSTRUCTIONS, PRACTICE = "consent", "background", "instructions", "practice"
TASKS, FEEDBACK, THANKS = "tasks", "feedback", "thanks"
BEFORE_TASKS = (CONSENT, BACKGROUND, INSTRUCTIONS, PRACTICE)
AFTER_PRACTICE = (TASKS, FEEDBACK, THANKS)


def steps_of(protocol: Protocol) -> list[str]:
    """The steps in order; those for which the protocol has nothing are left out."""
    wanted = {
        CONSENT: protocol.consent,
        BACKGROUND: protocol.background,
        INSTRUCTIONS: protocol.instructions or protocol.example,
        PRACTICE: protocol.practice,
        TASKS: True,
        FEEDBACK: protocol.feedback,
        THANKS: True,
    }
    return [step for step, content in wanted.items() if content]


def first_step(protocol: Protocol) -> str:
    return steps_of(protocol)[0]


def step_after(protocol: Protocol, step: str) -> str:
    """The next step. One that the protocol does not have any more leads to what comes after its place."""
    steps = steps_of(protocol)
    order = [*BEFORE_TASKS, TASKS, FEEDBACK, THANKS]
    later = order[order.index(step) + 1 :] if step in order else []
    return next((each for each in later if each in steps), THANKS)


def resumed(protocol: Protocol, *, consented: bool, asked: bool, practised: int, handed: int) -> str:
    """Where a person who stopped goes on: at the tasks, or at the first step before them that is not done."""
    if handed:
        return TASKS
    done = {
        CONSENT: consented,
        BACKGROUND: asked,
        INSTRUCTIONS: practised > 0,
        PRACTICE: practised >= len(protocol.practice),
    }
    return next(step for step in steps_of(protocol) if not done.get(step))


@dataclass(frozen=True)
class Due:
    """The questions of one page that are to be answered now; `revision` counts the answers before."""

    questions: tuple[Question, ...]
    revision: int = 0

    @property
    def key(self) -> str:
        """The page's name: its first question's."""
        return self.questions[0].key

    @property
    def scaled(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.kind != "text")


def scaled_of(page: Collection[Question]) -> list[Question]:
    return [question for question in page if question.kind != "text"]


def due_page(protocol: Protocol, answered: Collection[str]) -> Due | None:
    """The first page that has an unanswered scaled question; None when the item is complete."""
    for page in protocol.pages:
        if any(question.key not in answered for question in scaled_of(page)):
            return Due(page)
    return None


def page_of(protocol: Protocol, question: str) -> tuple[Question, ...] | None:
    """The page that begins with the question."""
    return next((page for page in protocol.pages if page[0].key == question), None)


def is_complete(protocol: Protocol, answered: Collection[str]) -> bool:
    return due_page(protocol, answered) is None


def is_revealed(protocol: Protocol, answered: Collection[str]) -> bool:
    """Whether the page that is due may tell which code is whose."""
    due = due_page(protocol, answered)
    last = protocol.questions[-1] if due is None else due.questions[-1]
    upto = protocol.questions[: protocol.questions.index(last) + 1]
    return any(question.reveal for question in upto)


def off_scale(due: Due, values: Mapping[str, float]) -> list[str]:
    """Keys of the page's scaled questions whose value is missing or not on the scale."""
    return [
        question.key
        for question in due.scaled
        if question.key not in values or not question.accepts(values[question.key])
    ]
