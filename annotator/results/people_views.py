"""The researcher's page about annotators: how they worked, whom a rule would leave out, and leaving them out."""

from __future__ import annotations

from typing import Any

import pandas as pd
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from analysis import quality
from annotator.errors import BadInput, NotYours
from annotator.grading import actions as grading
from annotator.grading.models import Exclusion
from annotator.results import access, research
from annotator.results.views import researchers_only
from annotator.studies.models import Study

HEADINGS = {
    "items": "items",
    "median_seconds": "median s",
    "modal_share": "same answer",
    "longest_run": "longest run",
    "checks_passed": "checks passed",
    "checks_failed": "checks failed",
    "agreement": "agreement",
    "performance": "performance",
    "chance": "chance",
}
"""Columns of `analysis.annotators` shown on the page, with their headings."""


@require_safe
@researchers_only
def annotators(request: HttpRequest, slug: str) -> HttpResponse:
    """Everybody with pace, checks and agreement; with ?rule= also whom that rule would leave out. Changes nothing."""
    study = access.get_study(request.user, slug)
    context: dict[str, Any] = {"study": study, "rules": quality.RULES.values(), "rule": None}
    try:
        context |= {"people": table_of(research.annotator_frame(study), HEADINGS)}
        top = research.top_performers(study)
        if len(top):
            context["top"] = table_of(top, {name: name.replace("_", " ") for name in top.columns[2:]})
        if request.GET.get("rule"):
            context |= preview(study, request.GET["rule"], given_parameters(request.GET.dict()))
    except (BadInput, ValueError) as error:
        context["error"] = str(error)
    context["exclusions"] = study.exclusions.prefetch_related("annotators")
    return render(request, "results/annotators.html", context)


def preview(study: Study, name: str, given: dict[str, str]) -> dict[str, Any]:
    rule = quality.RULES.get(name)
    if rule is None:
        raise BadInput(f"There is no rule {name!r:.60}. Known: {', '.join(quality.RULES)}.")
    fields = [
        {
            "key": key,
            "text": parameter.text,
            "value": given.get(key, "" if parameter.default is None else parameter.default),
            "choices": parameter.choices,
        }
        for key, parameter in rule.parameters.items()
    ]
    context: dict[str, Any] = {"rule": rule, "fields": fields}
    try:
        found = research.preview_rule(study, name, given)
    except BadInput as error:
        return context | {"error": str(error)}
    shown = {
        column: column.replace("_", " ")
        for column in found.table.columns
        if column not in ("annotator", "flagged")
    }
    flagged = found.table[found.table["flagged"] | (found.table["reason"] != "")]
    return context | {
        "found": found,
        "flagged": table_of(flagged, shown),
        "out": int(found.table["excluded"].sum()),
        "given": given,
    }


def given_parameters(data: dict[str, str]) -> dict[str, str]:
    """The parameters of a rule in a form, those left empty left out."""
    return {
        key.removeprefix("set-"): value.strip()
        for key, value in data.items()
        if key.startswith("set-") and value.strip()
    }


def table_of(frame: pd.DataFrame, headings: dict[str, str]) -> dict[str, Any]:
    """The table as texts for the template; columns without any value are left out."""
    names = [name for name in headings if name in frame and frame[name].notna().any()]
    rows = [
        {"annotator": row["annotator"], "cells": [text_of(row[name]) for name in names]}
        for row in frame.to_dict("records")
    ]
    return {"headings": [headings[name] for name in names], "rows": rows}


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return "" if value != value else f"{value:.3g}"
    return str(value)


@require_POST
@researchers_only
def exclude(request: HttpRequest, slug: str) -> HttpResponse:
    study = access.get_study(request.user, slug)
    given = given_parameters(request.POST.dict())
    try:
        _, exclusion = research.apply_rule(
            study, request.POST.get("rule", ""), given, reopen="reopen" in request.POST
        )
    except BadInput as error:
        messages.error(request, str(error))
    else:
        said = (
            "The rule leaves nobody out: nothing changed."
            if exclusion is None
            else "They are left out from now on."
        )
        messages.success(request, said)
    return redirect("results:annotators", slug)


@require_POST
@researchers_only
def undo_exclusion(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    study = access.get_study(request.user, slug)
    exclusion = Exclusion.objects.filter(study=study, pk=pk).first()
    if exclusion is None:
        raise NotYours("There is no such exclusion. Please check the link.")
    surplus = grading.undo_exclusion(exclusion)
    more = f" {surplus} of their grades are surplus now: their slots were given to others." if surplus else ""
    messages.success(request, f"The exclusion is undone.{more}")
    return redirect("results:annotators", slug)
