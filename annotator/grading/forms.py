"""From the text of a form to values of the protocol's scales."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from django import forms
from django.utils.translation import gettext as _

from annotator.errors import BadInput
from annotator.studies.protocols import Ask, Question

MAX_ANSWER = 5000


class GradeForm(forms.Form):
    """The hidden part of a page of questions: which one it is."""

    sequence = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    question = forms.CharField(max_length=60)
    revision = forms.IntegerField(min_value=0, max_value=10_000, required=False)
    key = forms.CharField(max_length=64)
    active_seconds = forms.CharField(required=False)

    def clean_revision(self) -> int:
        return self.cleaned_data["revision"] or 0

    def clean_active_seconds(self) -> float | None:
        """The browser's stopwatch is a courtesy: what it says wrongly is dropped, and the grade kept."""
        try:
            seconds = float(self.cleaned_data["active_seconds"])
        except ValueError:
            return None
        return seconds if math.isfinite(seconds) else None


def read_values(questions: Iterable[Question], data: Mapping[str, str]) -> dict[str, float]:
    """Answers to scaled questions, from the fields `value-KEY`; those that are missing or no number are left out."""
    values: dict[str, float] = {}
    for question in questions:
        text = data.get(f"value-{question.key}", "").strip()
        try:
            value = float(text) if len(text) <= 40 else math.nan
        except ValueError:
            value = math.nan
        if question.kind != "text" and math.isfinite(value):
            values[question.key] = value
    return values


def read_comments(questions: Iterable[Question], data: Mapping[str, str]) -> dict[str, str]:
    """The texts of the fields `comment-KEY`."""
    texts = {
        question.key: data.get(f"comment-{question.key}", "")
        for question in questions
        if question.kind == "text"
    }
    return {key: text.replace("\0", "") for key, text in texts.items() if text.strip()}


def read_answers(asks: Iterable[Ask], data: Mapping[str, str]) -> dict[str, str]:
    """The answers to questions about the person or the study, from the fields `answer-KEY`; empty ones are left out.

    Raises BadInput with a line for each that does not fit its question.
    """
    answers: dict[str, str] = {}
    wrong: list[str] = []
    for ask in asks:
        text = data.get(f"answer-{ask.key}", "").replace("\0", "").strip()
        if not text:
            if ask.required:
                wrong.append(_("Please answer: %(question)s") % {"question": ask.text})
            continue
        sentence = _unfit(ask, text)
        if sentence:
            wrong.append(sentence)
        answers[ask.key] = text
    if wrong:
        raise BadInput(wrong[0], wrong)
    return answers


def _unfit(ask: Ask, text: str) -> str:
    if len(text) > MAX_ANSWER:
        return _("Please shorten your answer to: %(question)s") % {"question": ask.text}
    if ask.kind == "choice" and text not in ask.choices:
        return _("Please choose one of the answers to: %(question)s") % {"question": ask.text}
    if ask.kind == "number":
        try:
            number = float(text.replace(",", "."))
        except ValueError:
            number = math.nan
        low, high = (-math.inf if ask.low is None else ask.low), (math.inf if ask.high is None else ask.high)
        if not low <= number <= high:
            return _("Please give a number that fits: %(question)s") % {"question": ask.text}
    return ""


class SequenceForm(forms.Form):
    """A skipped item, or a report about it."""

    sequence = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    text = forms.CharField(max_length=2000, required=False)


class StopForm(forms.Form):
    reason = forms.CharField(max_length=200, required=False)
    text = forms.CharField(max_length=280, required=False)
