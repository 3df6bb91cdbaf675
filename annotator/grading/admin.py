"""Annotators and what they did, to look at. Nothing here edits a grade."""

from __future__ import annotations

from django.contrib import admin
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
    def personal_link(self, annotator: Annotator) -> SafeString:
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


@admin.register(Grade)
class GradeAdmin(ReadOnly):
    list_display = ("assignment", "question", "value", "label", "complete", "submitted_at", "seconds")
    list_filter = ("question", "complete", "assignment__item__study")
    list_select_related = ("assignment",)
    inlines = (RevisionInline,)
