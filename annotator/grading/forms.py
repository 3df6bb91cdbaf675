"""From the text of a form to values of the protocol's scale."""

from __future__ import annotations

import math

from django import forms


class GradeForm(forms.Form):
    """One answer. What is wrong with it comes back as one sentence; what was typed is kept by the page."""

    sequence = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    question = forms.CharField(max_length=60)
    key = forms.CharField(max_length=64)
    value = forms.IntegerField(
        min_value=-(2**31),
        max_value=2**31 - 1,
        error_messages={"required": "Please choose one of the answers."},
    )
    active_seconds = forms.CharField(required=False)

    def clean_active_seconds(self) -> float | None:
        """The browser's stopwatch is a courtesy: what it says wrongly is dropped, and the grade kept."""
        try:
            seconds = float(self.cleaned_data["active_seconds"])
        except ValueError:
            return None
        return seconds if math.isfinite(seconds) else None

    def sentence(self) -> str:
        if "value" in self.errors and len(self.errors) == 1:
            return "Please choose one of the answers."
        return "The form was damaged on its way. Please reload the page and answer again."


class SkipForm(forms.Form):
    sequence = forms.IntegerField(min_value=1, max_value=2**31 - 1)


class StopForm(forms.Form):
    reason = forms.CharField(max_length=200, required=False)
    text = forms.CharField(max_length=280, required=False)
