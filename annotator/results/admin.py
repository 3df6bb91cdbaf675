"""Jobs and reports in the admin, to look at; and the export as an action on studies."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotator.results import access, actions, export
from annotator.results.models import Job, JobPart, MetricScore, Report
from annotator.studies.admin import ReadOnly
from annotator.studies.models import Study


@admin.action(description="Export grades as CSV", permissions=["view"])
def export_grades(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Study]
) -> HttpResponseBase | None:
    studies = list(queryset[:2])
    if len(studies) != 1:
        model_admin.message_user(request, "Choose one study: each is a file of its own.", messages.ERROR)
        return None
    return export.download(studies[0], "grades")


# `studies` does not know `results`: this app adds what it can do to the admin of studies.
_study_admin = admin.site.get_model_admin(Study)
_study_admin.actions = [*(_study_admin.actions or ()), export_grades]


class PartInline(admin.TabularInline):
    model = JobPart
    fields = ("number", "state", "attempts", "done", "total", "lease_until", "sent_at")
    readonly_fields = fields
    extra = 0
    can_delete = False
    verbose_name = "part"

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Job)
class JobAdmin(ReadOnly):
    list_display = ("__str__", "study", "state", "progress", "text", "error", "created_by", "created_at")
    list_filter = ("state", "kind", "study")
    list_select_related = ("study", "created_by")
    inlines = (PartInline,)
    actions = ("cancel",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        return access.with_done(super().get_queryset(request))

    @admin.display(description="Done")
    def progress(self, job: Any) -> str:
        return f"{job.done} of {job.total}"

    @admin.action(description="Cancel", permissions=["cancel"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        for job in queryset:
            actions.cancel_job(job)

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("results.change_job")


@admin.register(Report)
class ReportAdmin(ReadOnly):
    list_display = ("__str__", "study", "created_at", "page")
    list_filter = ("study",)
    list_select_related = ("study",)
    fields = ("study", "job", "created_at", "page")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return super().get_queryset(request).defer("summary")

    @admin.display(description="Page")
    def page(self, report: Report) -> SafeString:
        address = reverse("results:report", args=[report.study.slug, report.pk])
        return format_html('<a href="{}">Open the report</a>', address)


@admin.register(MetricScore)
class MetricScoreAdmin(ReadOnly):
    list_display = ("snippet", "metric", "score", "signature")
    list_filter = ("metric", "snippet__system__study")
    list_select_related = ("snippet",)
