"""Pure: the steps of the survey, from the protocol. The server knows the current one; none goes back."""

from __future__ import annotations

from annotator.studies.protocols import Protocol, Question

CONSENT, INSTRUCTIONS, TASKS, THANKS = "consent", "instructions", "tasks", "thanks"


def steps_of(protocol: Protocol) -> list[str]:
    """The steps in order; those without a text are left out."""
    steps = [CONSENT] if protocol.consent else []
    return [*steps, INSTRUCTIONS, TASKS, THANKS] if protocol.instructions else [*steps, TASKS, THANKS]


def first_step(protocol: Protocol) -> str:
    return steps_of(protocol)[0]


def step_after(protocol: Protocol, step: str) -> str:
    steps = steps_of(protocol)
    return steps[steps.index(step) + 1] if step in steps[:-1] else THANKS


def question_after(protocol: Protocol, answered: set[str]) -> Question | None:
    """The first question that has no answer yet; None when the item is complete."""
    return next(
        (question for question in protocol.questions if question.key not in answered),
        None,
    )
