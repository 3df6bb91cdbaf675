"""What each of the annotator's pages shows. Nothing here changes anything."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.crypto import salted_hmac
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotator.errors import Conflict
from annotator.grading import access, actions, display, steps
from annotator.grading.models import Annotator, Answer, Assignment
from annotator.studies import attention
from annotator.studies.models import Study
from annotator.studies.protocols import Ask, Example, Protocol, Question

ENOUGH_TO_GUESS = 5
"""Items after which the time left is told."""


def current(request: HttpRequest, person: Annotator) -> HttpResponse:
    """The page of the person's current step."""
    closed = access.why_closed(person.study)
    is_open = person.study.state == Study.State.OPEN
    held = access.get_held(person) if closed and person.step == steps.TASKS else None
    if closed and person.step not in (steps.FEEDBACK, steps.THANKS) and not (held and is_open):
        code = completion_code(person, person.study.read_protocol())
        return render(request, "grading/closed.html", context_of(person) | {"sentence": closed, "code": code})
    if person.step == steps.CONSENT:
        return consent(request, person)
    if person.step in (steps.BACKGROUND, steps.FEEDBACK):
        return asks(request, person, person.step)
    if person.step == steps.INSTRUCTIONS:
        return instructions(request, person, again=False)
    if person.step == steps.PRACTICE:
        return practice(request, person)
    if person.step == steps.TASKS:
        return task(request, person)
    return thanks(request, person)


def context_of(person: Annotator) -> dict[str, Any]:
    """What every page's frame shows: the study, the progress and the time left."""
    protocol = person.study.read_protocol()
    done, total, minutes = person.graded + person.skipped, access.tasks_for(person), None
    if total is not None and access.has_checks(person.study, protocol):
        every = protocol.checks.every
        total += attention.checks_among(person.study.seed, person.number, total, every)
    if total:
        recent = access.recent_seconds(person)
        left = max(total - done, 0)
        if len(recent) >= ENOUGH_TO_GUESS and left:
            minutes = max(round(left * statistics.median(recent) / 60), 1)
    return {
        "study": person.study,
        "annotator": person,
        "protocol": protocol,
        "graded": person.graded,
        "done": done,
        "total": total,
        "minutes_left": minutes,
    }


def consent(request: HttpRequest, person: Annotator) -> HttpResponse:
    context = context_of(person)
    context["paragraphs"] = display.paragraphs(context["protocol"].consent)
    context["personal_link"] = request.build_absolute_uri(request.path)
    return render(request, "grading/consent.html", context)


def asks(
    request: HttpRequest,
    person: Annotator,
    step: str,
    *,
    errors: list[str] | None = None,
    typed: Mapping[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The questions about the person, or those at the end; again with what was typed if something does not fit."""
    context = context_of(person)
    shown: tuple[Ask, ...] = getattr(context["protocol"], step)
    fields = [{"ask": ask, "typed": (typed or {}).get(f"answer-{ask.key}", "")} for ask in shown]
    context |= {"step": step, "fields": fields, "errors": errors or []}
    return render(request, "grading/asks.html", context, status=status)


def instructions(request: HttpRequest, person: Annotator, *, again: bool) -> HttpResponse:
    context = context_of(person)
    protocol: Protocol = context["protocol"]
    context |= {
        "paragraphs": display.paragraphs(protocol.instructions),
        "questions": [
            {"question": each, "text": display.question_text(each.text, "A")}
            for each in steps.scaled_of(protocol.pages[0])
        ],
        "example": None if protocol.example is None else example_of(protocol, protocol.example),
        "again": again,
    }
    return render(request, "grading/instructions.html", context)


def example_of(protocol: Protocol, example: Example) -> dict[str, Any]:
    """A worked example or a practice task as its page shows it."""
    own = display.code_html(example.code.strip("\n"), example.language)
    codes = [{"title": protocol.snippet_heading, "html": own}]
    if example.reference:
        other = display.code_html(example.reference.strip("\n"), example.language)
        codes = [
            {"title": f"{protocol.snippet_heading} A", "html": own},
            {"title": f"{protocol.snippet_heading} B", "html": other},
        ]
        if protocol.show == "score":
            codes = [
                {"title": protocol.reference_heading, "html": other},
                {"title": protocol.snippet_heading, "html": own},
            ]
    return {
        "example": example,
        "intent": problem_text(protocol, example.intent, example.language),
        "panels": codes,
        "tests": display.code_html(example.tests.strip("\n"), example.language)
        if example.tests.strip()
        else "",
    }


def problem_text(protocol: Protocol, intent: str, language: str) -> dict[str, Any]:
    if protocol.intent_as_code:
        return {"code": display.code_html(intent.strip("\n"), language)}
    return {"text": display.intent_html(intent)}


def practice(
    request: HttpRequest, person: Annotator, *, typed: Mapping[str, str] | None = None
) -> HttpResponse:
    """The practice task that comes next; with what was typed where that leaves a question open."""
    context = context_of(person)
    protocol: Protocol = context["protocol"]
    if access.has_practised(person):
        return render(request, "grading/continue.html", context)
    number = person.practised
    context |= {
        "sample": example_of(protocol, protocol.practice[number]),
        "number": number + 1,
        "count": len(protocol.practice),
        "questions": questions_html(practised(protocol), "A", typed or {}),
        "error": "" if typed is None else _("Please answer each question."),
    }
    return render(request, "grading/practice.html", context, status=200 if typed is None else 400)


def practised(protocol: Protocol) -> list[Question]:
    """The questions of a practice task: those that can be asked before anything is revealed."""
    unrevealed = takewhile(lambda question: not question.reveal, protocol.questions)
    return steps.scaled_of(list(unrevealed))


def practice_result(request: HttpRequest, person: Annotator, number: int) -> HttpResponse:
    context = context_of(person)
    protocol: Protocol = context["protocol"]
    if not 1 <= number <= min(person.practised, len(protocol.practice)):
        return redirect("annotator", token=person.token)
    example = protocol.practice[number - 1]
    rows = Answer.objects.filter(annotator=person, step=Answer.Step.PRACTICE)
    given = dict(rows.filter(question__startswith=f"{number}.").values_list("question", "text"))
    results = []
    for question in practised(protocol):
        right = sorted((example.expected or {}).get(question.key, ()))
        text = given.get(f"{number}.{question.key}", "")
        value = float(text) if text else None
        results.append(
            {
                "text": display.question_text(question.text, "A"),
                "given": "" if value is None else (question.label(value) or text),
                "right": _in_words(question, right),
                "fits": bool(right) and value is not None and _fits(question, value, right),
            }
        )
    context |= {
        "sample": example_of(protocol, example),
        "number": number,
        "count": len(protocol.practice),
        "results": results,
    }
    return render(request, "grading/practice_result.html", context)


def _fits(question: Question, value: float, right: list[float]) -> bool:
    """Whether a practice answer is one of the right ones, on a slider between the lowest and the highest of them."""
    return right[0] <= value <= right[-1] if question.kind == "slider" else value in right


def _in_words(question: Question, right: list[float]) -> str:
    if question.kind == "slider":
        return "–".join(dict.fromkeys(f"{each:g}" for each in right[:1] + right[-1:]))
    return " / ".join(question.label(each) or f"{each:g}" for each in right)


def questions_html(questions: Sequence[Question], side: str, typed: Mapping[str, str]) -> list[SafeString]:
    """Each question of a page with its options, slider or comment field, and what was typed into it."""
    return [
        display.part_html(
            "grading/scale.html",
            question=question,
            text=display.question_text(question.text, side),
            chosen=typed.get(f"value-{question.key}", ""),
            comment=typed.get(f"comment-{question.key}", ""),
            first=place == 0,
        )
        for place, question in enumerate(questions)
    ]


def task(
    request: HttpRequest,
    person: Annotator,
    *,
    typed: Mapping[str, str] | None = None,
    error: str = "",
    status: int = 200,
    changing: tuple[Assignment, steps.Due] | None = None,
) -> HttpResponse:
    """The item in the annotator's hands with the question that is due: nothing of what comes later."""
    held = access.get_held(person) if changing is None else changing[0]
    context = context_of(person)
    protocol: Protocol = context["protocol"]
    answered = {} if held is None else access.answered_so_far(protocol, held)
    due = None
    if changing is not None:
        due = changing[1]
    elif held is not None:
        due = access.get_due(protocol, held, answered)
    if held is None or due is None:
        waits = access.is_waiting(person)
        template = "grading/wait.html" if waits else "grading/continue.html"
        return render(request, template, context | {"error": error}, status=status)
    if typed is not None and (typed.get("sequence"), typed.get("question")) != (str(held.sequence), due.key):
        typed = None  # it was typed on another page
    if changing is not None:
        stored = held.grades.values_list("question", "value")
        typed = {f"value-{key}": f"{value:.12g}" for key, value in stored}
    elif due.revision and not error:
        error = _("Please look at this one again, then answer once more.")
    problem = held.item.snippet.problem
    context |= {
        "sequence": held.sequence,
        "due": due,
        "key": actions.submission_key(person, held.sequence, due.key, due.revision),
        "questions": questions_html(due.questions, held.side, typed or {}),
        "can_skip": protocol.skip and not answered,
        "error": error,
        "problem": problem,
        "intent": problem_text(protocol, problem.intent, held.item.snippet.language),
        "context_html": display.intent_html(problem.context),
        "tests": display.code_html(problem.tests.strip("\n"), held.item.snippet.language)
        if problem.tests.strip()
        else "",
        "image": display.image_name(person.study, problem) if problem.image else "",
        "panels": display.panels(
            held.item, held.side, protocol, revealed=steps.is_revealed(protocol, answered)
        ),
        "score": "" if held.item.judged_score is None else display.shown_score(held.item.judged_score),
        "can_change": changing is None and access.get_changeable(person) is not None,
        "first": not answered,
    }
    return render(request, "grading/task.html", context, status=status)


def conflict(request: HttpRequest, person: Annotator, error: Conflict) -> HttpResponse:
    """An answer that is not taken: why, and the way on."""
    return render(
        request, "grading/conflict.html", context_of(person) | {"error": error}, status=error.status
    )


def thanks(request: HttpRequest, person: Annotator) -> HttpResponse:
    context = context_of(person)
    protocol: Protocol = context["protocol"]
    is_open = not access.why_closed(person.study)
    enough = access.has_enough(person)
    left = is_open and not enough and access.has_free(person)
    context |= {
        "paragraphs": display.paragraphs(protocol.thanks),
        "code": completion_code(person, protocol),
        "stopped": person.stopped_at is not None,
        "can_continue": left,
        "exhausted": is_open and not left,
    }
    return render(request, "grading/thanks.html", context)


def completion_code(person: Annotator, protocol: Protocol) -> str:
    """The code that a panel asks for: the study's own where the protocol has them, else the person's."""
    if not person.graded:
        return ""
    fail_at = protocol.checks.fail_at
    if fail_at is not None and person.failed_checks >= fail_at and "failed" in protocol.codes:
        return protocol.codes["failed"]
    # Who is cut off in the middle of a set did a part of it; who grades without an end did all that was asked.
    ended = person.stopped_at is not None or (
        person.step == steps.TASKS and access.tasks_for(person) is not None
    )
    # The rest of a questionnaire that was given up may be with others: nothing is left of it then, yet it is not done.
    enough = person.study.policy != Study.Policy.BLOCKS and access.has_enough(person)
    outcome = "partial" if ended and not enough else "complete"
    own = salted_hmac("codejury.completion", person.token).hexdigest()[:8].upper()
    return protocol.codes.get(outcome, own)
