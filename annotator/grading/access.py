"""Getters that know who asks: an annotator is whoever holds the personal link, and sees that work only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    BooleanField,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce
from django.db.models.lookups import Exact
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotator.errors import Conflict, NotYours
from annotator.grading import steps
from annotator.grading.models import Annotator, Answer, Assignment, Grade
from annotator.prepared import Prepared, Slot
from annotator.studies import attention
from annotator.studies.models import Group, Item, Study
from annotator.studies.protocols import Protocol

CLOSED = {
    Study.State.DRAFT: gettext_lazy("This study has not been opened yet. Please come back later."),
    Study.State.PAUSED: gettext_lazy("This study is paused. Please come back later."),
    Study.State.CLOSED: gettext_lazy("This study is closed. Thank you."),
}
# Each page asks for few columns: naming them is what Django spends most of a query's time on.
PERSON = (
    *(
        "number",
        "token",
        "step",
        "practised",
        "handed",
        "graded",
        "skipped",
        "checks",
        "failed_checks",
        "stopped_at",
    ),
    *("study__slug", "study__title", "study__state", "study__policy", "study__target", "study__seed"),
    *("study__item_count", "study__protocol_version"),
)
"""What acts and pages need of a person and their study, beside its protocol."""
JUDGED = (
    *("kind", "check_kind", "code", "low", "high", "original", "judged_score", "reference"),
    *("snippet__code", "snippet__language", "reference__code", "reference__language"),
    *("snippet__problem__intent", "snippet__problem__context", "snippet__problem__tests"),
    *("snippet__problem__image", "snippet__problem__image_alt"),
)
"""What a page needs of an item."""


@dataclass(frozen=True)
class Someone:
    """Stands for the annotator in a query that is prepared for any of them."""

    pk: Slot
    study_id: Slot


DAMAGED = gettext_lazy("The form was damaged on its way. Please reload the page and answer again.")
TOO_LATE = gettext_lazy("The time for this study is over. Thank you.")


def get_study_to_join(slug: str) -> Study:
    try:
        return Study.objects.get(slug=slug)
    except Study.DoesNotExist:
        raise NotYours(_("There is no such study. Please check the link.")) from None


_known = Prepared(
    lambda token: (
        Annotator.objects.select_related("study")
        .only(*PERSON, "study__protocol")
        .filter(token=token, origin=Annotator.Origin.JOINED, revoked_at=None)
        .order_by()
    )
)


def get_annotator(token: str) -> Annotator:
    """The person with this personal link. Nobody grades on in the name of an imported or simulated grader."""
    person = _known.first(token)
    if person is None:
        raise NotYours(_("This link is not known. Please check that you copied all of it."))
    return person


def why_closed(study: Study, now: datetime | None = None) -> str:
    """A kind sentence where nothing is handed out now; "" where the study is open."""
    if study.state != Study.State.OPEN:
        return str(CLOSED[Study.State(study.state)])
    deadline = study.read_protocol().deadline
    return str(TOO_LATE) if deadline is not None and (now or timezone.now()) >= deadline else ""


def check_open(study: Study) -> None:
    """Raises Conflict with a kind sentence unless the study hands out items now."""
    sentence = why_closed(study)
    if sentence:
        raise Conflict(sentence)


def in_hand(annotator: Annotator) -> QuerySet[Assignment]:
    """The item in the annotator's hands."""
    return _in_hand(annotator.pk)


def _in_hand(pk: int | Slot) -> QuerySet[Assignment]:
    return _holds(Assignment.State.HELD).filter(annotator_id=pk).order_by("held_until")


def _holds(*states: Assignment.State) -> QuerySet[Assignment]:
    """Held or reserved assignments; by words that lead to the index of those that have a lease."""
    return Assignment.objects.filter(state__in=states, held_until__isnull=False)


def holds_of(study: Study) -> QuerySet[Assignment]:
    """What is held or reserved in the study. The sum keeps SQLite from walking through all of its items instead."""
    holds = _holds(Assignment.State.HELD, Assignment.State.RESERVED)
    return holds.alias(of_study=F("item__study_id") + 0).filter(of_study=study.pk)


def _shown(annotator: Slot, alone: bool) -> QuerySet[Assignment]:
    joined = ["item__snippet__problem"] if alone else ["item__snippet__problem", "item__reference"]
    needed = [f"item__{name}" for name in JUDGED if not (alone and name.startswith("reference__"))]
    held = _in_hand(annotator).select_related(*joined)
    return held.only("annotator", "sequence", "state", "side", "handed_at", *needed)[:1]


_shown_alone = Prepared(lambda annotator: _shown(annotator, alone=True))
_shown_beside = Prepared(lambda annotator: _shown(annotator, alone=False))


def get_held(annotator: Annotator) -> Assignment | None:
    """The item in the annotator's hands, with all that its page shows."""
    alone = annotator.study.read_protocol().show == "snippet"
    return (_shown_alone if alone else _shown_beside).first(annotator.pk)


def answered_questions(assignment: Assignment) -> dict[str, datetime | None]:
    """The questions that have an answer, each with the time of it."""
    grades = Grade.objects.filter(assignment=assignment)
    return dict(grades.values_list("question", "submitted_at"))


def answered_so_far(protocol: Protocol, assignment: Assignment) -> dict[str, datetime | None]:
    """`answered_questions`, without asking where it is plain: with one page what is in hand has no answer yet."""
    one_page = len(protocol.pages) == 1 and not protocol.checks.loud
    if one_page and assignment.state == Assignment.State.HELD:
        return {}
    return answered_questions(assignment)


def get_due(
    protocol: Protocol, assignment: Assignment, answered: Collection[str] | None = None
) -> steps.Due | None:
    """The page of questions that the assignment waits for; None when all is answered."""
    if answered is None:
        answered = answered_questions(assignment)
    first = steps.scaled_of(protocol.pages[0])[0]
    if protocol.checks.loud and assignment.item.check_kind in attention.LOUD:
        grade = assignment.grades.filter(question=first.key).first()
        once = grade is not None and not grade.revisions.filter(number=1).exists()
        if grade is not None and once and not check_passed(protocol, assignment, grade.value):
            return steps.Due(protocol.pages[0], revision=1)
    return steps.due_page(protocol, answered)


def check_passed(protocol: Protocol, assignment: Assignment, value: float) -> bool:
    """Whether the answer to the first question passes the attention check that the item is."""
    item, first = assignment.item, protocol.scaled[0]
    original = None
    if item.original_id is not None:
        graded = Grade.objects.filter(
            assignment__annotator_id=assignment.annotator_id,
            assignment__item_id=item.original_id,
            assignment__state=Assignment.State.GRADED,
            question=first.key,
        )
        original = graded.values_list("value", flat=True).first()
    return attention.passed(
        item.check_kind,
        value,
        low=item.low,
        high=item.high,
        original=original,
        lowest=first.lowest,
        tolerance=protocol.checks.tolerance,
    )


def get_changeable(annotator: Annotator) -> tuple[Assignment, steps.Due] | None:
    """The last stored page of answers, where the protocol lets people change it: assignment and page."""
    protocol = annotator.study.read_protocol()
    if not protocol.back:
        return None
    grade = Grade.objects.filter(assignment__annotator=annotator).order_by("-pk").first()
    if grade is None:
        return None
    page = next(page for page in protocol.pages if grade.question in {question.key for question in page})
    first = grade.assignment.grades.get(question=steps.scaled_of(page)[0].key)
    return grade.assignment, steps.Due(page, revision=first.revisions.count())


def had_by(annotator: Annotator) -> QuerySet[Assignment]:
    """Assignments of an outer query's item that keep it from the annotator for good."""
    return Assignment.objects.filter(Assignment.SEEN, annotator=annotator, item=OuterRef("pk"))


def none_of(rows: QuerySet[Any]) -> Q:
    """NOT EXISTS that is looked up row by row.

    PostgreSQL makes a join of NOT EXISTS; planned while a table is new, that goes through all that the annotator has
    had for each open item. A scalar subquery stays what it is: one look into an index.
    """
    found = Coalesce(Subquery(rows.values(one=Value(1))[:1], output_field=IntegerField()), 0)
    return Q(Exact(found, 0))


class NotHad(RawSQL):
    """`none_of(had_by(annotator))` of a query of items, ready made: composing it took a tenth of a hand-out's time."""

    TEXT = """
    COALESCE((SELECT 1 FROM grading_assignment had WHERE had.annotator_id = %s AND had.item_id = {item}.id
    AND (had.state IN ({states}) OR had.partial) LIMIT 1), 0) = 0
    """

    def __init__(self, annotator: Annotator | Someone) -> None:
        super().__init__(self.TEXT, (annotator.pk,), output_field=BooleanField())

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        states = ", ".join(f"'{state}'" for state in Assignment.LIVE)
        return self.sql.format(item=compiler.query.get_initial_alias(), states=states), tuple(self.params)


def free_tasks(annotator: Annotator | Someone) -> QuerySet[Item]:
    """Tasks with a free slot that this annotator has not had, of any study and in no order."""
    free = Q(target__isnull=True) | Q(taken__lt=F("target"))
    return Item.objects.filter(free, NotHad(annotator), check_kind="")


def open_items(annotator: Annotator | Someone) -> QuerySet[Item]:
    """Those of the study, in the pool's order."""
    study: Any = annotator.study_id
    return free_tasks(annotator).filter(study_id=study).order_by("draw", "pk")


def open_in_group(annotator: Annotator, group: Group) -> list[Item]:
    """Those of one group, in the pool's order. Sorted here: asked for it, SQLite would walk through the whole pool."""
    return sorted(free_tasks(annotator).filter(group=group), key=lambda item: (item.draw, item.pk))


def has_checks(study: Study, protocol: Protocol) -> bool:
    """Whether any of the protocol's kinds of checks is to be had: a copy always is, the others need their items."""
    kinds = set(protocol.checks.kinds)
    if not kinds or kinds & {Item.Check.DEGRADED, Item.Check.REPEAT}:
        return bool(kinds)
    return study.items.filter(check_kind__in=kinds).exists()


def unseen_checks(annotator: Annotator, kind: str) -> QuerySet[Item]:
    """The study's checks of the kind that this annotator has not had, in their order."""
    items = Item.objects.filter(none_of(had_by(annotator)), study_id=annotator.study_id, check_kind=kind)
    return items.order_by("draw", "pk")


def open_groups(annotator: Annotator) -> QuerySet[Group]:
    """Groups with a free slot of which this annotator has had no item."""
    return new_groups(annotator).filter(open_slots__gt=0)


def new_groups(annotator: Annotator) -> QuerySet[Group]:
    """Groups of which this annotator has had no item, free or not."""
    had = Item.objects.filter(~none_of(had_by(annotator)), group=OuterRef("pk"))
    return Group.objects.filter(none_of(had), study_id=annotator.study_id)


def get_reserved(annotator: Annotator) -> QuerySet[Assignment]:
    return _holds(Assignment.State.RESERVED).filter(annotator=annotator)


def tasks_done(annotator: Annotator) -> int:
    return annotator.graded + annotator.skipped - annotator.checks


def rest_of_block(annotator: Annotator) -> QuerySet[Item]:
    """`blocks`: what is free of the questionnaire that the annotator began."""
    begun = Assignment.objects.filter(annotator=annotator, item__group__isnull=False)
    return free_tasks(annotator).filter(group__in=begun.values("item__group"))


def has_enough(annotator: Annotator) -> bool:
    """Whether the person did all tasks that the protocol wants of one."""
    if annotator.study.policy == Study.Policy.BLOCKS:
        begun = tasks_done(annotator) > 0
        return begun and not get_reserved(annotator).exists() and not rest_of_block(annotator).exists()
    wanted = annotator.study.read_protocol().tasks_per_person
    return wanted is not None and tasks_done(annotator) >= wanted


def has_free(annotator: Annotator) -> bool:
    """Whether there is something to hand to the annotator right now."""
    if not annotator.study.reserves:
        return open_items(annotator).exists()
    if annotator.study.policy == Study.Policy.BLOCKS and rest_of_block(annotator).exists():
        return True
    return get_reserved(annotator).exists() or open_groups(annotator).exists()


def held_by_others(annotator: Annotator) -> QuerySet[Assignment]:
    """What others have in their hands that could still come to this annotator."""
    study = annotator.study
    held = holds_of(study).filter(surplus=False, item__check_kind="", item__target__isnull=False)
    held = held.exclude(annotator=annotator)
    mine = Assignment.objects.filter(Assignment.SEEN, annotator=annotator)
    shared = "item__group" if study.reserves else "item"
    return held.filter(none_of(mine.filter(**{shared: OuterRef(shared)})))


def others_hold(annotator: Annotator) -> bool:
    return held_by_others(annotator).exists()


def may_come(annotator: Annotator) -> bool:
    """Whether something is free for the annotator, or may come back from others.

    Both are asked in one statement: on PostgreSQL a slot can be given back between two, and then neither sees it.
    """
    found = Q(Exists(held_by_others(annotator)))
    if not annotator.study.reserves:  # there nobody takes or frees a slot meanwhile: see `lock_pool`
        found |= Q(Exists(open_items(annotator).order_by()))
    return Annotator.objects.filter(found, pk=annotator.pk).exists()


def is_waiting(annotator: Annotator) -> bool:
    """Whether all that is left for the annotator is in the hands of others at this moment."""
    return not has_enough(annotator) and not has_free(annotator) and others_hold(annotator)


def recent_seconds(annotator: Annotator, count: int = 20) -> list[float]:
    """Seconds that each of the annotator's latest items took."""
    graded = Assignment.objects.filter(annotator=annotator, state=Assignment.State.GRADED)
    latest = list(graded.order_by("-sequence").values_list("pk", flat=True)[:count])
    times = Grade.objects.filter(assignment__in=latest).values("assignment").annotate(whole=Sum("seconds"))
    return [whole for whole in times.values_list("whole", flat=True) if whole is not None]


def tasks_for(annotator: Annotator) -> int | None:
    """How many tasks the person is asked to do in all; None where nothing but the person ends them."""
    study, protocol = annotator.study, annotator.study.read_protocol()
    if study.policy == Study.Policy.BLOCKS:
        own = Assignment.objects.filter(
            annotator=annotator, state__in=Assignment.LIVE, item__check_kind="", item__group__isnull=False
        )
        return own.count() or None
    if protocol.tasks_per_person is not None:
        return min(protocol.tasks_per_person, study.item_count)
    return study.item_count if study.policy == Study.Policy.EVERYONE else None


def has_practised(annotator: Annotator) -> bool:
    """Whether no practice task is left: another version of the protocol may have fewer."""
    return annotator.practised >= len(annotator.study.read_protocol().practice)


def gave_feedback(annotator: Annotator) -> bool:
    return Answer.objects.filter(annotator=annotator, step=Answer.Step.FEEDBACK).exists()
