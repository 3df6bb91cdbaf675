"""Annotators and what they did, to look at. Nothing here edits a grade."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotator.grading import actions as grading
from annotator.grading.models import Annotator, Answer, Assignment, Exclusion, Grade, GradeRevision
from annotator.studies.admin import ReadOnly


@admin.register(Annotator)
class AnnotatorAdmin(ReadOnly):
    list_display = (
        "pseudonym",
        "study",
        "origin",
        "step",
        "graded",
        "skipped",
        "failed_checks",
        "last_seen_at",
    )
    list_filter = ("study", "origin", "step")
    search_fields = ("pseudonym", "external_id")
    list_select_related = ("study",)
    readonly_fields = ("personal_link",)
    actions = ("reissue_links", "revoke_links")

    def has_links_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("grading.change_annotator")

    @admin.action(description="Give a new personal link (the old one dies)", permissions=["links"])
    def reissue_links(self, request: HttpRequest, queryset: QuerySet[Annotator]) -> None:
        for person in queryset.filter(origin=Annotator.Origin.JOINED):
            link = request.build_absolute_uri(reverse("annotator", args=[grading.reissue_link(person).token]))
            self.message_user(request, f"{person.pseudonym}: {link}", messages.SUCCESS)

    @admin.action(description="Revoke the personal link", permissions=["links"])
    def revoke_links(self, request: HttpRequest, queryset: QuerySet[Annotator]) -> None:
        for person in queryset.filter(origin=Annotator.Origin.JOINED):
            grading.revoke_link(person)
            self.message_user(
                request, f"The link of {person.pseudonym} opens nothing any more.", messages.SUCCESS
            )

    @admin.display(description="Personal link (a key: send it to this person only)")
    def personal_link(self, annotator: Annotator) -> SafeString | str:
        if annotator.origin != Annotator.Origin.JOINED:
            return "none: these grades were imported"
        if annotator.revoked_at is not None:
            return "revoked: give a new one from the list of annotators"
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


@admin.register(Answer)
class AnswerAdmin(ReadOnly):
    list_display = ("annotator", "step", "question", "text", "problem", "at")
    list_filter = ("step", "annotator__study")
    list_select_related = ("annotator", "assignment__item__snippet__problem")
    search_fields = ("text",)

    @admin.display
    def problem(self, answer: Answer) -> str:
        return "" if answer.assignment is None else answer.assignment.item.snippet.problem.key


@admin.register(Exclusion)
class ExclusionAdmin(ReadOnly):
    list_display = ("study", "rule", "version", "people", "reopened", "created_at", "undone_at")
    list_filter = ("study", "rule")

    @admin.display
    def people(self, exclusion: Exclusion) -> str:
        return ", ".join(exclusion.reasons)
