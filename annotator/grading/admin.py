"""Annotators and what they did, to look at. Nothing here edits a grade."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotator.grading.models import Annotator, Assignment, Grade, GradeRevision
from annotator.studies.admin import ReadOnly


@admin.register(Annotator)
class AnnotatorAdmin(ReadOnly):
    list_display = ("pseudonym", "study", "origin", "step", "graded", "skipped", "last_seen_at")
    list_filter = ("study", "origin", "step")
    search_fields = ("pseudonym",)
    list_select_related = ("study",)
    readonly_fields = ("personal_link",)

    @admin.display(description="Personal link (a key: send it to this person only)")
    def personal_link(self, annotator: Annotator) -> SafeString | str:
        if annotator.origin != Annotator.Origin.JOINED:
            return "none: these grades were imported"
        path = reverse("annotator", args=[annotator.token])
        return format_html('<a href="{}">{}</a>', path, path)


@admin.register(Assignment)
class AssignmentAdmin(ReadOnly):
    list_display = ("annotator", "sequence", "item", "state", "surplus", "handed_at", "held_until")
    list_filter = ("state", "surplus", "item__study")
    list_select_related = ("annotator", "item")


class RevisionInline(admin.TabularInline):
    model = GradeRevision
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Grade)
class GradeAdmin(ReadOnly):
    list_display = ("annotator", "problem", "system", "question", "grade", "complete", "submitted_at")
    list_filter = ("question", "complete", "assignment__item__study")
    list_select_related = (
        "assignment__annotator",
        "assignment__item__snippet__problem",
        "assignment__item__snippet__system",
    )
    inlines = (RevisionInline,)

    @admin.display(ordering="assignment__annotator")
    def annotator(self, grade: Grade) -> str:
        return grade.assignment.annotator.pseudonym

    @admin.display
    def problem(self, grade: Grade) -> str:
        return grade.assignment.item.snippet.problem.key

    @admin.display
    def system(self, grade: Grade) -> str:
        return grade.assignment.item.snippet.system.name

    @admin.display(ordering="value")
    def grade(self, grade: Grade) -> str:
        return f"{grade.value:g} {grade.label}".strip()
