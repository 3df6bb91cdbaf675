"""Jobs under many workers and many clicks at once."""

from __future__ import annotations

import pytest
from django.db import connections

import metrics
from annotator.results import jobs, work
from annotator.results.models import Job, MetricScore
from tests.factories import make_study
from tests.results.jobs_of import expire, in_threads, only_part, silence, start

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "reader"])


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    return silence(monkeypatch)


def test_many_workers_claim_a_part_once() -> None:
    part = only_part(start(make_study(), "bleu"))
    for attempt in (1, 2, 3):
        got = in_threads(8, lambda number: jobs.claim(part.pk))
        assert sorted(got, key=str) == [attempt] + [None] * 7, got
        expire(part)


def test_no_transaction_is_open_while_scores_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On SQLite an open one would make every annotator wait."""
    job, seen = start(make_study(), "bleu"), []

    def segment(self: object, code: str, references: list[str]) -> float:
        seen.append(connections["default"].in_atomic_block)
        return 0.5

    monkeypatch.setattr(type(metrics.get("bleu")), "segment", segment)
    assert jobs.run_here(job).state == "done"
    assert seen == [False] * 6


def test_a_double_click_starts_one_job() -> None:
    study = make_study()
    got = in_threads(6, lambda number: start(study, "bleu").pk)
    assert len(set(got)) == 1, got
    assert Job.objects.count() == 1


def test_several_workers_share_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "UNITS_A_PART", 10)
    study = make_study(problems=15)
    job = start(study)
    ended = in_threads(4, lambda number: jobs.run_here(Job.objects.get(pk=job.pk)).state)
    assert ended == ["done"] * 4
    assert MetricScore.objects.count() == 30 * len(metrics.defaults())
    assert set(job.parts.values_list("attempts", flat=True)) == {1}
