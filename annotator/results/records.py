"""Everything that leaves: the two tables that the science packages read, one row at a time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.models import F, Q

import metrics
from analysis import columns
from annotator.grading.models import Annotator, Answer, Grade
from annotator.results.models import MetricScore
from annotator.studies.models import Snippet, Study, System

CHUNK = 2000
WAVE = "main"

GRADE_FIELDS = (
    "assignment__item__snippet__problem__key",
    "assignment__item__snippet__system__name",
    "assignment__item__snippet__sample",
    "assignment__item_id",
    "assignment__item__kind",
    "assignment__item__judged_metric",
    "assignment__item__check_kind",
    "assignment__passed",
    "assignment__side",
    "assignment__item__snippet__problem__weight",
    "assignment_id",
    "assignment__annotator__pseudonym",
    "question",
    "value",
    "label",
    "assignment__sequence",
    "assignment__item__snippet__problem__stratum",
    "seconds",
    "active_seconds",
    "submitted_at",
    "protocol_version",
    "complete",
    "assignment__surplus",
    "assignment__item__snippet__system__kind",
    "assignment__annotator__origin",
)


def grade_table(study: Study, *, using: str = "reader") -> Iterator[tuple[Any, ...]]:
    """The study's grades in the order of `analysis.columns.GRADES`, oldest first.

    One query, read in chunks: memory does not grow with the study. Values are str, int, float, bool or None.
    """
    grades = Grade.objects.using(using).filter(assignment__item__study_id=study.pk).order_by("pk")
    excluded = excluded_annotators(study, using=using)
    for row in grades.values_list(*GRADE_FIELDS).iterator(chunk_size=CHUNK):
        yield _grade_row(study.slug, row, excluded)


def excluded_annotators(study: Study, *, using: str = "reader") -> set[str]:
    """Pseudonyms of those whom an exclusion that stands leaves out."""
    standing = Annotator.objects.using(using).filter(
        exclusions__study_id=study.pk, exclusions__undone_at=None
    )
    return set(standing.values_list("pseudonym", flat=True))


def _grade_row(slug: str, row: tuple[Any, ...], excluded: set[str]) -> tuple[Any, ...]:
    (problem, system, sample, item, kind, metric, check, passed, side, weight, *rest) = row
    (assignment, annotator, question, value, label, position, stratum, seconds, active, *rest) = rest
    (submitted, version, complete, surplus, origin_system, origin) = rest
    cells = {
        "study": slug,
        "wave": WAVE,
        "problem": problem,
        "system": system,
        "sample": sample,
        "item": item,
        "judged_metric": metric,
        "kind": kind,
        "assignment": assignment,
        "annotator": annotator,
        "question": question,
        "grade": plain_number(value),
        "label": label,
        "position": position,
        "side": side,
        "stratum": stratum,
        "weight": plain_number(weight),
        "seconds": plain_number(seconds),
        "active_seconds": plain_number(active),
        "submitted_at": plain_time(submitted),
        "protocol_version": version,
        "complete": complete,
        "surplus": surplus,
        "excluded": annotator in excluded,
        "check": check,
        "check_passed": "" if passed is None else passed,
        "reference": origin_system == System.Kind.REFERENCE,
        "simulated": origin == Annotator.Origin.SIMULATED,
    }
    return tuple(cells[name] for name in columns.GRADES)


def score_table(study: Study, *, using: str = "reader") -> Iterator[tuple[Any, ...]]:
    """The study's metric scores in the order of `analysis.columns.SCORES`: snippet by snippet.

    Only scores made by the metrics as they are now: those with an older signature stay in the database.
    """
    current = Q(pk__in=())
    for name in metrics.names():
        current |= Q(metric=name, signature=metrics.get(name).signature)
    scores = MetricScore.objects.using(using).filter(current, snippet__problem__study_id=study.pk)
    fields = {
        "study": F("snippet__problem__study__slug"),
        "problem": F("snippet__problem__key"),
        "system": F("snippet__system__name"),
        "sample": F("snippet__sample"),
        "metric": F("metric"),
        "signature": F("signature"),
        "score": F("score"),
        "undefined": F("undefined"),
    }
    ordered = scores.order_by("snippet_id", "metric")
    yield from ordered.values_list(*(fields[name] for name in columns.SCORES)).iterator(chunk_size=CHUNK)
    yield from _file_scores(study, using)


FROM_FILE = "from the imported file"
"""Signature of a score that the study's file gave."""


def _file_scores(study: Study, using: str) -> Iterator[tuple[Any, ...]]:
    """The scores that the study's file gave, but for those of metrics that are computed here."""
    given = Snippet.objects.using(using).filter(problem__study_id=study.pk).exclude(file_scores={})
    rows = given.order_by("pk").values_list("problem__key", "system__name", "sample", "file_scores")
    computed = set(metrics.names())
    for problem, system, sample, scores in rows.iterator(chunk_size=CHUNK):
        cells = {"study": study.slug, "problem": problem, "system": system, "sample": sample}
        for metric, score in scores.items():
            if metric not in computed:
                row = cells | {"metric": metric, "signature": FROM_FILE, "score": plain_number(score)}
                row["undefined"] = ""
                yield tuple(row[name] for name in columns.SCORES)


ANSWERS = ("study", "annotator", "step", "question", "answer", "problem", "item", "position", "at")


def answer_table(study: Study, *, using: str = "reader") -> Iterator[tuple[Any, ...]]:
    """What people said that is no grade, in the order of ANSWERS, oldest first: background, comments, feedback."""
    answers = Answer.objects.using(using).filter(annotator__study_id=study.pk).order_by("pk")
    fields = ("annotator__pseudonym", "step", "question", "text", "assignment__item__snippet__problem__key")
    rows = answers.values_list(*fields, "assignment__item_id", "assignment__sequence", "at")
    for *cells, at in rows.iterator(chunk_size=CHUNK):
        yield (study.slug, *cells, plain_time(at))


def plain_number(value: float | None) -> float | int | None:
    """A whole number without its ".0"."""
    return int(value) if value is not None and float(value).is_integer() else value


def plain_time(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).isoformat(timespec="milliseconds")
