"""Existing grades: from rows of a file, or of a package, to annotators, assignments and grades with their history."""

from __future__ import annotations

import math
import secrets
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from annotator.errors import BadInput
from annotator.grading import steps
from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.studies.importer import REFERENCE, sample_of
from annotator.studies.items import recount_groups
from annotator.studies.models import Item, Study
from annotator.studies.protocols import Protocol
from annotator.studies.tabular import Row, no_column

BATCH = 500
COLUMNS = (
    *("problem", "system", "sample", "annotator", "question", "grade"),
    *("label", "seconds", "submitted_at", "simulated"),
    *("kind", "judged_metric", "check", "complete", "surplus", "excluded"),
)
REQUIRED = ("problem", "system", "annotator", "grade")
TRUE, FALSE = ("true", "1", "yes"), ("false", "0", "no")
KINDS = ("", "snippet", "pair", "score")
Key = tuple[str, str, int, str]
"""(problem, system, sample) of a snippet, and the metric whose score is judged."""


@dataclass(frozen=True)
class GradeData:
    """One grade as a file gives it; `place` is its `file:line`."""

    problem: str
    system: str
    sample: int
    annotator: str
    question: str
    grade: float
    place: str
    label: str = ""
    seconds: float | None = None
    submitted_at: datetime | None = None
    simulated: bool = False
    judged_metric: str = ""

    @property
    def key(self) -> Key:
        return self.problem, self.system, self.sample, self.judged_metric


@dataclass(frozen=True)
class AddedGrades:
    grades: int
    annotators: int
    known: int


def read_grade_rows(rows: list[Row], name: str, protocol: Protocol) -> list[GradeData]:
    """Grades from the rows of a file, without those that it marks as outside the counts (see `counts`).

    Raises BadInput: missing columns, and every bad line together.
    """
    columns = list(dict.fromkeys(column for row in rows for column in row.cells))
    missing = [column for column in REQUIRED if column not in columns]
    if missing:
        raise BadInput(f"{no_column(name, missing, columns)} A file of grades has {', '.join(REQUIRED)}.")
    found, bad = [], []
    for row in rows:
        try:
            if counts(row):
                found.append(_read(row, protocol))
        except ValueError as error:
            bad.append(f"{row.place}: {error}")
    if bad:
        raise BadInput(f"{name} has {len(bad)} bad lines. Nothing was imported.", bad)
    return found


def counts(row: Row) -> bool:
    """Whether analysis would count the row, by the columns of an export: complete, not surplus, not excluded, no
    check. Stored as plain grades, such rows would come to count. Raises ValueError for an unfit flag.
    """
    flags = [_flag(row, "complete", empty=True), not _flag(row, "surplus"), not _flag(row, "excluded")]
    return all(flags) and not row.text("check").strip() and row.text("kind").strip() in KINDS


def _read(row: Row, protocol: Protocol) -> GradeData:
    for column in REQUIRED:
        if not row.text(column).strip():
            raise ValueError(f"`{column}` is empty.")
    if len(row.text("annotator")) > 100:
        raise ValueError("`annotator` is longer than 100 characters.")
    system = row.text("system").strip()
    submitted = row.text("submitted_at").strip()
    return GradeData(
        problem=row.text("problem").strip(),
        system=REFERENCE if system.lower() == REFERENCE else system,
        sample=sample_of(row),
        annotator=row.text("annotator").strip(),
        question=row.text("question").strip() or protocol.scaled[0].key,
        grade=_number(row, "grade"),
        place=row.place,
        label=row.text("label").strip(),
        seconds=_seconds(row),
        submitted_at=_moment(submitted) if submitted else None,
        simulated=_flag(row, "simulated"),
        judged_metric=row.text("judged_metric").strip(),
    )


def _number(row: Row, column: str) -> float:
    text = row.text(column).strip()
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"`{column}` must be a number, not {text!r:.40}.")
    return number


def _seconds(row: Row) -> float | None:
    if not row.text("seconds").strip():
        return None
    seconds = _number(row, "seconds")
    if seconds < 0:
        raise ValueError(f"`seconds` must not be below 0, as {seconds:g} is.")
    return seconds


def _moment(text: str) -> datetime:
    try:
        moment = parse_datetime(text)
        if moment is not None:
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"`submitted_at` must be like 2026-01-31T12:00:00Z, not {text!r:.40}.")


def _flag(row: Row, column: str, *, empty: bool = False) -> bool:
    """The cell as true or false; `empty` if it is missing or empty."""
    value = row.cells.get(column, "")
    text = str(value).strip().lower() if isinstance(value, bool) else row.text(column).strip().lower()
    if not text:
        return empty
    if text not in TRUE and text not in FALSE:
        raise ValueError(f"`{column}` must be true or false, not {text!r:.40}.")
    return text in TRUE


def add_grades(study: Study, grades: Iterable[GradeData]) -> AddedGrades:
    """Store what is new, all or nothing: annotators by name, one assignment a snippet, grades with their history.

    The same grades again change nothing. Raises BadInput with a line for each grade that cannot be stored: an
    unknown snippet or question, a value off the scale, another value than before, an item beyond its target.
    """
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        batch = _Batch(study)
        for data in grades:
            try:
                batch.add(data)
            except ValueError as error:
                batch.bad.append(f"{data.place}: {error}")
        batch.check_targets()
        if batch.bad:
            raise BadInput(f"{len(batch.bad)} grades cannot be stored. Nothing was imported.", batch.bad)
        return batch.store()


class _Batch:
    """Grades on their way into a study, checked one by one against what is stored."""

    def __init__(self, study: Study) -> None:
        self.study, self.protocol = study, study.read_protocol()
        self.questions = {question.key: question for question in self.protocol.scaled}
        # Locked, because people may be taking the same items while this is checked against the target.
        locked = study.items.filter(check_kind="").select_for_update(no_key=True, of=("self",))
        self.items = {
            (
                item.snippet.problem.key,
                item.snippet.system.name,
                item.snippet.sample,
                item.judged_metric,
            ): item
            for item in locked.select_related("snippet__problem", "snippet__system").order_by("pk")
        }
        self.people = {person.pseudonym: person for person in study.annotators.all()}
        fields = ("assignment__annotator__pseudonym", "assignment__item_id", "question", "value")
        stored = Grade.objects.filter(assignment__annotator__study=study).values_list(*fields)
        self.stored = {(name, item, question): value for name, item, question, value in stored}
        self.touched = {(name, item) for name, item, _ in self.stored}
        self.new: dict[tuple[str, int], dict[str, GradeData]] = {}
        self.places: dict[int, str] = {}
        self.known = 0
        self.bad: list[str] = []

    def add(self, data: GradeData) -> None:
        item = self.items.get(data.key)
        if item is None:
            sample = f", sample {data.sample}" if data.sample else ""
            raise ValueError(
                f"there is no snippet of {data.system!r} for problem {data.problem!r}{sample} to grade."
            )
        question = self.questions.get(data.question)
        if question is None:
            raise ValueError(f"there is no question {data.question!r}. Known: {', '.join(self.questions)}.")
        if not question.accepts(data.grade):
            raise ValueError(f"{data.grade:g} is not on the scale {question.scale}.")
        label = question.label(data.grade)
        if data.label and data.label != label:
            raise ValueError(f"{data.label!r:.60} is not the label of {data.grade:g}, {label!r} is.")
        person = self.people.get(data.annotator)
        if person is not None and person.origin == Annotator.Origin.JOINED:
            raise ValueError(
                f"{data.annotator!r} joined this study by link: rename the annotator in the file."
            )
        before = self.stored.get((data.annotator, item.pk, data.question))
        if before is not None:
            self.known += 1
            if before != data.grade:
                raise ValueError(f"{data.annotator} gave this snippet {before:g} before, now {data.grade:g}.")
            return
        if (data.annotator, item.pk) in self.touched:
            raise ValueError(f"{data.annotator} graded this snippet before, by other questions.")
        own = self.new.setdefault((data.annotator, item.pk), {})
        if data.question in own:
            raise ValueError(f"{data.annotator} graded this snippet at {own[data.question].place} already.")
        own[data.question] = data
        self.places[item.pk] = data.place

    def complete(self, answers: dict[str, GradeData]) -> bool:
        return steps.is_complete(self.protocol, answers)

    def counted(self) -> Counter[int]:
        return Counter(item for (_, item), answers in self.new.items() if self.complete(answers))

    def check_targets(self) -> None:
        more = self.counted()
        for item in self.items.values():
            if item.target is not None and item.taken + more[item.pk] > item.target:
                self.bad.append(
                    f"{self.places[item.pk]}: with this file the snippet has {item.taken + more[item.pk]} grades, but "
                    f"the target is {item.target}."
                )

    def store(self) -> AddedGrades:
        now = timezone.now()
        added = self._add_people()
        assignments = [
            self._assignment(name, item, answers, now) for (name, item), answers in self.new.items()
        ]
        Assignment.objects.bulk_create(assignments, batch_size=BATCH)
        grades = [
            self._grade(assignment, data, self.complete(answers))
            for assignment, answers in zip(assignments, self.new.values(), strict=True)
            for data in answers.values()
        ]
        Grade.objects.bulk_create(grades, batch_size=BATCH)
        GradeRevision.objects.bulk_create(
            [
                GradeRevision(grade=grade, value=grade.value, label=grade.label, source="import")
                for grade in grades
            ],
            batch_size=BATCH,
        )
        by_count: dict[int, list[int]] = {}
        for pk, count in self.counted().items():
            by_count.setdefault(count, []).append(pk)
        for count, pks in by_count.items():
            for start in range(0, len(pks), BATCH):
                Item.objects.filter(pk__in=pks[start : start + BATCH]).update(taken=F("taken") + count)
        if self.study.reserves:
            recount_groups(self.study)
        graders = {name: self.people[name] for name, _ in self.new}  # not those who are grading right now
        Annotator.objects.bulk_update(graders.values(), ["handed", "graded"], batch_size=BATCH)
        return AddedGrades(len(grades), added, self.known)

    def _add_people(self) -> int:
        simulated = {
            data.annotator for answers in self.new.values() for data in answers.values() if data.simulated
        }
        names = dict.fromkeys(name for name, _ in self.new if name not in self.people)
        number = self.study.annotators.aggregate(last=Max("number"))["last"] or 0
        origins = Annotator.Origin
        people = [
            Annotator(
                study=self.study,
                number=place,
                pseudonym=name,
                token=secrets.token_urlsafe(24),
                origin=origins.SIMULATED if name in simulated else origins.IMPORTED,
                step=steps.THANKS,
            )
            for place, name in enumerate(names, start=number + 1)
        ]
        for person in Annotator.objects.bulk_create(people, batch_size=BATCH):
            self.people[person.pseudonym] = person
        return len(people)

    def _assignment(self, name: str, item: int, answers: dict[str, GradeData], now: datetime) -> Assignment:
        person = self.people[name]
        person.handed += 1
        whole = self.complete(answers)
        person.graded += whole
        moment = max((data.submitted_at for data in answers.values() if data.submitted_at), default=now)
        return Assignment(
            annotator=person,
            item_id=item,
            sequence=person.handed,
            state=Assignment.State.GRADED if whole else Assignment.State.RELEASED,
            handed_at=moment,
            closed_at=moment,
        )

    def _grade(self, assignment: Assignment, data: GradeData, complete: bool) -> Grade:
        return Grade(
            assignment=assignment,
            question=data.question,
            value=data.grade,
            label=self.questions[data.question].label(data.grade),
            seconds=data.seconds,
            submitted_at=data.submitted_at,
            protocol_version=self.protocol.version,
            complete=complete,
        )
