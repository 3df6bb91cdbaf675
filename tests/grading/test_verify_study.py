"""`verify_study` is silent about a sound study and names each count that drifted."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotator.grading import actions
from annotator.grading.models import Annotator, GradeRevision
from annotator.studies.models import Item, Study
from tests.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def worked_in() -> Study:
    study = make_study(problems=3)
    annotator = actions.join(study, "")
    actions.consent(annotator)
    assignment = actions.start(annotator)
    assert assignment is not None
    actions.skip(annotator, assignment.sequence)
    assignment = actions.hand_out(annotator)
    assert assignment is not None
    key = actions.submission_key(annotator, assignment.sequence, "helpfulness")
    actions.submit(annotator, assignment.sequence, {"helpfulness": 3}, key=key)
    actions.hand_out(annotator)
    return study


def test_a_sound_study(worked_in: Study, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("verify_study", worked_in.slug)
    assert "every count equals its rows" in capsys.readouterr().out


def test_every_drift_is_named(worked_in: Study, capsys: pytest.CaptureFixture[str]) -> None:
    Item.objects.filter(taken=0).update(taken=2)
    Annotator.objects.update(graded=7, skipped=0)
    GradeRevision.objects.all().delete()
    Study.objects.update(item_count=1)
    with pytest.raises(CommandError, match="differ from their rows"):
        call_command("verify_study", worked_in.slug)
    out = capsys.readouterr().out
    for part in (
        "taken is 2, counted 0",
        "graded is 7, counted 1",
        "skipped is 0, counted 1",
        "item_count is 1",
    ):
        assert part in out
    assert "1 grades have no history" in out


def test_an_unknown_study(worked_in: Study) -> None:
    with pytest.raises(CommandError, match=f"Known studies: {worked_in.slug}"):
        call_command("verify_study", "none")
