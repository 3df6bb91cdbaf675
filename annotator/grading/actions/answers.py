"""An answer is stored: once, checked again in its own transaction, with its history."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from annotator.errors import BadInput, Conflict
from annotator.grading import access, steps
from annotator.grading.actions import pool, tasks
from annotator.grading.models import Annotator, Answer, Assignment, Grade, GradeRevision
from annotator.prepared import insert, update
from annotator.studies.models import Study
from annotator.studies.protocols import Protocol, Question

MAX_COMMENT = 5000


@dataclass(frozen=True)
class Submitted:
    """What `submit` did: the page's grades as stored, and whether this was a replay of an earlier submission."""

    grades: list[Grade]
    replayed: bool
    in_hand: bool = False
    """Whether the person has something in hand now: the same item's next page, or with `go_on` the next item."""


def submission_key(annotator: Annotator, sequence: int, question: str, revision: int = 0) -> str:
    """The key that the form carries: the same for each copy of one form, and unguessable for others."""
    parts = f"{annotator.token}:{sequence}:{question}"
    parts += f":{revision}" if revision else ""
    return salted_hmac("codejury.submission", parts).hexdigest()[:32]


def submit(
    annotator: Annotator,
    sequence: int,
    answers: Mapping[str, float],
    *,
    key: str,
    question: str = "",
    revision: int = 0,
    comments: Mapping[str, str] | None = None,
    active_seconds: float | None = None,
    go_on: bool = False,
) -> Submitted:
    """Store the answers to one page of questions of one assignment; sent again, it gets the first answer.

    `answers` holds a value for each scaled question of the page, `question` the page's first question (taken from
    the answers if there is none). One transaction: find the key, lock the assignment, check ownership, study,
    question and scale, write Grade and GradeRevision, and at the item's last page close the assignment. An
    answer that comes after its slot was given away is stored as surplus. With `go_on` the same transaction hands
    out the next item where one is free at once.

    Raises BadInput (value not on the scale, too soon, damaged form) and Conflict (study closed, another question
    is due, the same form came before with other answers).
    """
    question = question or next(iter(answers), "")
    if key != submission_key(annotator, sequence, question, revision):
        raise BadInput(str(access.DAMAGED))
    now = timezone.now()
    with pool.turn():
        annotator = pool.lock_annotator(annotator)
        protocol = annotator.study.read_protocol()
        assignment = pool.lock_assignment(annotator, sequence)
        page = steps.page_of(protocol, question)
        if page is None:
            raise BadInput(str(access.DAMAGED))
        answered = access.answered_so_far(protocol, assignment)
        came = any(each.key in answered for each in steps.scaled_of(page))
        if came and GradeRevision.objects.filter(submission_key=key).exists():
            return _replay(assignment, page, revision, answers, comments or {})
        due = _due(annotator, assignment, protocol, answered, (question, revision))
        if steps.off_scale(due, answers):
            one = len(due.scaled) == 1
            raise BadInput(
                _("Please choose one of the answers.") if one else _("Please answer each question.")
            )
        seconds = _seconds(assignment, answered, now)
        if seconds < protocol.minimum_seconds and not revision:
            raise BadInput(_("That was very fast. Please look at it once more, then save again."))
        late = assignment.state not in (Assignment.State.HELD, Assignment.State.GRADED)
        if late:
            pool.take_back(assignment)
        page_time = (round(seconds, 3), _active(active_seconds, seconds))
        grades = _store(assignment, due, answers, key, now, protocol, page_time)
        _comment(assignment, due, comments or {})
        done = {*answered, *(grade.question for grade in grades)}
        _count(annotator, assignment, protocol, now, done, late=late)
        held = assignment.state == Assignment.State.HELD
        # A late answer has locked an item: no second one beside it.
        handed = go_on and not late and not held and _go_on(annotator, protocol)
        if not handed:  # else they were saved with the hand-out
            update(annotator, *pool.COUNTERS)
    return Submitted(grades, replayed=False, in_hand=held or handed)


def _go_on(annotator: Annotator, protocol: Protocol) -> bool:
    """Whether the next item could be handed out at once."""
    if annotator.step != steps.TASKS or access.why_closed(annotator.study):
        return False
    return tasks.take_next(annotator, protocol) is not None


def _replay(
    assignment: Assignment,
    page: tuple[Question, ...],
    revision: int,
    answers: Mapping[str, float],
    comments: Mapping[str, str],
) -> Submitted:
    """The grades of this form, which came before. Raises Conflict if it carried other answers then."""
    grades = list(assignment.grades.filter(question__in=[question.key for question in page]).order_by("pk"))
    rows = GradeRevision.objects.filter(grade__in=grades, number=revision)
    first = dict(rows.values_list("grade__question", "value"))
    for question in steps.scaled_of(page):
        stored, sent = first.get(question.key), answers.get(question.key)
        if stored is not None and sent is not None and sent != stored:
            raise _differs(_shown(question, stored), _shown(question, sent))
    texts = assignment.answers.filter(step=Answer.Step.COMMENT).order_by("pk")
    for key in (question.key for question in page if question.kind == "text"):
        known = list(texts.filter(question=key).values_list("text", flat=True))
        now = _kept(comments.get(key, ""))
        if now not in (known or [""]) and (now or not revision):
            raise _differs(*(f'"{Truncator(text).chars(80)}"' for text in (known[-1] if known else "", now)))
    return Submitted(grades, replayed=True)


def _differs(stored: str, sent: str) -> Conflict:
    sentence = _(
        "Your answer %(stored)s is stored already. The page now sent %(sent)s: the first one stands."
    )
    return Conflict(sentence % {"stored": stored, "sent": sent})


def _kept(comment: str) -> str:
    """A comment as it is stored."""
    return comment.strip()[:MAX_COMMENT]


def _shown(question: Question, value: float) -> str:
    label = question.label(value)
    return f'"{label}"' if label else f"{value:g}"


def _due(
    annotator: Annotator,
    assignment: Assignment,
    protocol: Protocol,
    answered: Mapping[str, datetime | None],
    sent: tuple[str, int],
) -> steps.Due:
    """The page that may be answered now, if it is the one sent (its question and revision). Raises Conflict."""
    in_hand = assignment.state == Assignment.State.HELD
    if not (in_hand and annotator.study.state in (Study.State.OPEN, Study.State.PAUSED)):
        access.check_open(annotator.study)  # what is in hand is taken, even after the deadline
    if assignment.state == Assignment.State.SKIPPED:
        raise Conflict(_("You skipped this one before."))
    if assignment.state != Assignment.State.GRADED:
        due = access.get_due(protocol, assignment, answered)
        if due is not None and (due.key, due.revision) == sent:
            return due
    change = access.get_changeable(annotator)
    if change is not None and change[0].pk == assignment.pk and (change[1].key, change[1].revision) == sent:
        return change[1]
    if assignment.state == Assignment.State.GRADED:
        raise Conflict(_("This one was dealt with already: the answer that came first is stored."))
    raise Conflict(_("This question was answered already: the answer that came first is stored."))


def _seconds(assignment: Assignment, answered: Mapping[str, datetime | None], now: datetime) -> float:
    """Since the question was shown: since the hand-out, or the answer before it."""
    moments = [moment for moment in (assignment.handed_at, *answered.values()) if moment is not None]
    return max((now - max(moments, default=now)).total_seconds(), 0.0)


def _active(active_seconds: float | None, seconds: float) -> float | None:
    return None if active_seconds is None else round(min(max(active_seconds, 0.0), seconds), 3)


def _store(
    assignment: Assignment,
    due: steps.Due,
    answers: Mapping[str, float],
    key: str,
    now: datetime,
    protocol: Protocol,
    page_time: tuple[float, float | None],
) -> list[Grade]:
    """The page's grades with their history. The time is the page's: its first question carries it."""
    grades = []
    for place, question in enumerate(due.scaled):
        value = answers[question.key]
        grade = Grade(assignment=assignment, question=question.key)
        if due.revision:
            grade = assignment.grades.get(question=question.key)
        else:
            grade.seconds, grade.active_seconds = (0.0, None) if place else page_time
            grade.complete = len(protocol.pages) == 1
        grade.value, grade.label = value, question.label(value)
        grade.submitted_at, grade.protocol_version = now, protocol.version
        if due.revision:
            grade.save()
        else:
            insert(grade)
        revision = GradeRevision(grade=grade, number=due.revision, value=grade.value, label=grade.label)
        revision.submission_key = None if place else key
        insert(revision)
        grades.append(grade)
    return grades


def _comment(assignment: Assignment, due: steps.Due, comments: Mapping[str, str]) -> None:
    texts = {question.key for question in due.questions if question.kind == "text"}
    for key, text in comments.items():
        if key in texts and _kept(text):
            Answer.objects.create(
                annotator=assignment.annotator,
                assignment=assignment,
                step=Answer.Step.COMMENT,
                question=key,
                text=_kept(text),
            )


def _count(
    annotator: Annotator,
    assignment: Assignment,
    protocol: Protocol,
    now: datetime,
    answered: Collection[str],
    *,
    late: bool,
) -> None:
    """Close the item if this was its last page, and count it; else it stays in hand, unless it came late and the
    person has another one in hand by now: then its answers stay, and its slot is free again. The person's
    counters are not saved here."""
    annotator.last_seen_at = now
    if assignment.state == Assignment.State.GRADED:
        _judge(annotator, assignment, protocol)
        assignment.save(update_fields=["passed"])
        return
    if access.get_due(protocol, assignment, answered) is not None:
        if len(protocol.pages) == 1:  # a check with a second chance
            assignment.grades.update(complete=False)
        others = annotator.assignments.filter(state=Assignment.State.HELD).exclude(pk=assignment.pk)
        if late and others.exists():
            pool.close(assignment, Assignment.State.EXPIRED, now)
            pool.free_slots(annotator.study, [assignment])
        else:
            pool.renew(assignment, protocol)
        return
    _judge(annotator, assignment, protocol)
    annotator.checks += bool(assignment.item.check_kind)
    pool.close(assignment, Assignment.State.GRADED, now)
    if len(protocol.pages) > 1:
        assignment.grades.update(complete=True)
    annotator.graded += 1


def _judge(annotator: Annotator, assignment: Assignment, protocol: Protocol) -> None:
    """The result of a check, by its first question's answer as it is now."""
    if not assignment.item.check_kind:
        return
    value = assignment.grades.get(question=protocol.scaled[0].key).value
    failed_before = assignment.passed is False
    assignment.passed = access.check_passed(protocol, assignment, value)
    annotator.failed_checks += (not assignment.passed) - failed_before
