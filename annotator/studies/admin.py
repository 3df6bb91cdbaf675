"""The researcher's desk: studies, what is judged in them, and their state."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from annotator.errors import BadInput, CodejuryError
from annotator.studies import actions
from annotator.studies.models import Problem, ProtocolVersion, Snippet, Study, System

admin.site.site_header = admin.site.site_title = "Codejury"
admin.site.index_title = "Studies and their data"


class StudyForm(forms.ModelForm):
    """The protocol's text is checked as its file would be; saving it makes a new version."""

    class Meta:
        model = Study
        fields = ("title", "notes", "protocol_source")
        labels = {"protocol_source": "Protocol"}
        help_texts = {
            "protocol_source": "Its TOML file. A change makes a new version, which later grades name. Once the study "
            "was open its policy, target, items, questions and scales stay.",
        }
        widgets = {"protocol_source": forms.Textarea(attrs={"rows": 30, "cols": 110, "spellcheck": "false"})}

    def clean_protocol_source(self) -> str:
        source = str(self.cleaned_data["protocol_source"]).replace("\r\n", "\n")
        if source.strip() != self.instance.protocol_source.strip():
            try:
                actions.check_protocol_change(self.instance, source)
            except BadInput as error:
                raise forms.ValidationError([str(error), *error.lines]) from None
            except CodejuryError as error:
                raise forms.ValidationError(str(error)) from None
        return source


@admin.register(Study)
class StudyAdmin(admin.ModelAdmin):
    """Title and notes can be changed at any time; what decides the grades is set when the study is made."""

    list_display = ("title", "slug", "state", "target", "item_count", "links")
    list_filter = ("state", "protocol_name")
    search_fields = ("title", "slug")
    readonly_fields = (
        "slug",
        "state",
        "protocol_name",
        "protocol_version",
        "policy",
        "target",
        "seed",
        "item_count",
        "created_at",
        "opened_at",
        "links",
    )
    fields = ("title", "notes", *readonly_fields, "protocol_source")
    form = StudyForm
    actions = ("open_studies", "pause_studies", "close_studies")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Studies are made from a file: `manage.py import_study`."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        """Only before anybody took part: grades are never deleted by a click."""
        return obj is not None and not obj.annotators.exists() and super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        """Title and notes as they are; the protocol through its action."""
        source = form.cleaned_data.get("protocol_source", "")
        Study.objects.filter(pk=obj.pk).update(title=obj.title, notes=obj.notes)
        if "protocol_source" in form.changed_data and source.strip():
            stored = Study.objects.get(pk=obj.pk)
            if source.strip() != stored.protocol_source.strip():
                actions.change_protocol(stored, source)
        obj.refresh_from_db()

    @admin.display(description="Links")
    def links(self, study: Study) -> SafeString:
        return format_html(
            '<a href="{}">Join</a> &nbsp; <a href="{}">Results</a>',
            reverse("join", args=[study.slug]),
            reverse("results:study", args=[study.slug]),
        )

    @admin.action(description="Open: take grades")
    def open_studies(self, request: HttpRequest, queryset: QuerySet[Study]) -> None:
        self._each(request, queryset, actions.open_study, "open")

    @admin.action(description="Pause: hand out nothing new")
    def pause_studies(self, request: HttpRequest, queryset: QuerySet[Study]) -> None:
        self._each(request, queryset, actions.pause_study, "paused")

    @admin.action(description="Close: take no more grades")
    def close_studies(self, request: HttpRequest, queryset: QuerySet[Study]) -> None:
        self._each(request, queryset, actions.close_study, "closed")

    def _each(self, request: HttpRequest, queryset: QuerySet[Study], action: Any, word: str) -> None:
        for study in queryset:
            try:
                action(study)
                self.message_user(request, f"{study.title} is {word}.", messages.SUCCESS)
            except CodejuryError as error:
                self.message_user(request, f"{study.title}: {error}", messages.ERROR)


class ReadOnly(admin.ModelAdmin):
    """What can be looked at, not changed by hand: material, grades, jobs and reports."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Problem)
class ProblemAdmin(ReadOnly):
    list_display = ("key", "study", "intent", "stratum")
    list_filter = ("study",)
    search_fields = ("key", "intent")


@admin.register(System)
class SystemAdmin(ReadOnly):
    list_display = ("name", "kind", "study")
    list_filter = ("study", "kind")


@admin.register(Snippet)
class SnippetAdmin(ReadOnly):
    list_display = ("problem", "system", "sample", "beginning")
    list_filter = ("system__study", "system")
    list_select_related = ("problem", "system")
    search_fields = ("problem__key", "code")

    @admin.display(description="code")
    def beginning(self, snippet: Snippet) -> str:
        return Truncator(snippet.code).chars(100)


@admin.register(ProtocolVersion)
class ProtocolVersionAdmin(ReadOnly):
    list_display = ("study", "version", "created_at")
    list_filter = ("study",)
