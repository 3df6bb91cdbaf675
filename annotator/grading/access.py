"""Getters that know who asks: an annotator is whoever holds the personal link, and sees that work only."""

from __future__ import annotations

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotator.errors import Conflict, NotYours
from annotator.grading.models import Annotator, Assignment, Grade
from annotator.studies.models import Item, Study

CLOSED = {
    Study.State.DRAFT: "This study has not been opened yet. Please come back later.",
    Study.State.PAUSED: "This study is paused. Your grades are stored; please come back later.",
    Study.State.CLOSED: "This study is closed. Your grades are stored. Thank you.",
}


def get_study_to_join(slug: str) -> Study:
    try:
        return Study.objects.get(slug=slug)
    except Study.DoesNotExist:
        raise NotYours("There is no such study. Please check the link.") from None


def get_annotator(token: str) -> Annotator:
    """The person with this personal link. Nobody grades on in the name of an imported or simulated grader."""
    try:
        return Annotator.objects.select_related("study").get(token=token, origin=Annotator.Origin.JOINED)
    except Annotator.DoesNotExist:
        raise NotYours("This link is not known. Please check that you copied all of it.") from None


def check_open(study: Study) -> None:
    """Raises Conflict with a kind sentence unless the study takes grades now."""
    if study.state != Study.State.OPEN:
        raise Conflict(CLOSED[Study.State(study.state)])


def get_held(annotator: Annotator) -> Assignment | None:
    """The item in the annotator's hands, with all that its page shows."""
    held = Assignment.objects.filter(annotator=annotator, state=Assignment.State.HELD)
    return held.select_related("item__snippet__problem").order_by("sequence").first()


def answered_questions(assignment: Assignment) -> set[str]:
    return set(Grade.objects.filter(assignment=assignment).values_list("question", flat=True))


def open_items(annotator: Annotator) -> QuerySet[Item]:
    """Items with a free slot that this annotator has not had, in the pool's order."""
    had = Assignment.objects.filter(annotator=annotator, item=OuterRef("pk"), state__in=Assignment.LIVE)
    free = Q(target__isnull=True) | Q(taken__lt=F("target"))
    return Item.objects.filter(free, ~Exists(had), study_id=annotator.study_id).order_by("draw", "pk")


def recent_seconds(annotator: Annotator, count: int = 20) -> list[float]:
    """Seconds that the annotator's latest answers took."""
    grades = Grade.objects.filter(assignment__annotator=annotator, seconds__isnull=False)
    latest = grades.order_by("-assignment__sequence").values_list("seconds", flat=True)[:count]
    return [seconds for seconds in latest if seconds is not None]


def drifted(study: Study) -> list[str]:
    """Recounts every kept number of the study from its rows; one sentence for each that differs."""
    counted = Q(assignments__state__in=("held", "graded"), assignments__surplus=False)
    items = study.items.annotate(live=Count("assignments", filter=counted)).exclude(taken=F("live"))
    found = [f"Item {item.pk}: taken is {item.taken}, counted {item.live}." for item in items.iterator()]
    for kept, state in (("graded", Assignment.State.GRADED), ("skipped", Assignment.State.SKIPPED)):
        people = study.annotators.annotate(rows=Count("assignments", filter=Q(assignments__state=state)))
        found += [
            f"Annotator {person.number}: {kept} is {getattr(person, kept)}, counted {person.rows}."
            for person in people.exclude(**{kept: F("rows")}).iterator()
        ]
    if study.item_count != study.items.count():
        found.append(f"Study: item_count is {study.item_count}, counted {study.items.count()}.")
    grades = Grade.objects.filter(assignment__annotator__study=study)
    bare = grades.filter(revisions__isnull=True).count()
    if bare:
        found.append(f"{bare} grades have no history.")
    return found
