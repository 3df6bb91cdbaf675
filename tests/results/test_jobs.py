"""The life of a job: claimed once, fenced, revived, failed with a sentence, cancelled."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

import metrics
from annotator.errors import BadInput
from annotator.results import access, actions, jobs, tasks, work
from annotator.results.models import Job, JobPart, MetricScore
from annotator.studies.models import Snippet, Study
from tests.factories import make_researcher, make_study
from tests.results.jobs_of import expire, only_part, silence, start

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The parts that workers were told of; no worker listens."""
    return silence(monkeypatch)


@pytest.fixture
def study() -> Study:
    return make_study(problems=4, systems=("a", "b"), references=2)


def taken(part: JobPart) -> int:
    mine = jobs.claim(part.pk)
    assert mine is not None
    return mine


def break_metric(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def broken(*args: Any) -> float:
        raise error

    monkeypatch.setattr(type(metrics.get("bleu")), "segment", broken)


def test_scores_are_those_of_the_metrics_package(study: Study) -> None:
    job = jobs.run_here(start(study))
    assert (job.state, job.total, job.error) == ("done", 8 * len(metrics.defaults()), "")
    assert MetricScore.objects.count() == job.total
    for score in MetricScore.objects.select_related("snippet__problem"):
        references = list(
            Snippet.objects.filter(problem=score.snippet.problem, system__kind="reference")
            .order_by("sample")
            .values_list("code", flat=True)
        )
        assert len(references) == 2
        metric = metrics.get(score.metric)
        assert score.score == metric.segment(score.snippet.code, references)
        assert score.signature == metric.signature
        assert score.snippet.system.kind == "generated"


def test_a_large_job_is_split_and_every_score_is_there_once(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "UNITS_A_PART", 6)
    job = start(study, "bleu", "chrf")
    assert [part.total for part in job.parts.order_by("number")] == [6, 2, 6, 2]
    assert jobs.run_here(job).state == "done"
    assert MetricScore.objects.count() == 16


def test_other_studies_are_left_alone(study: Study) -> None:
    make_study("other", problems=2)
    jobs.run_here(start(study, "bleu"))
    assert set(MetricScore.objects.values_list("snippet__problem__study__slug", flat=True)) == {"study"}


def test_the_same_job_is_not_started_twice(study: Study) -> None:
    job = start(study, "bleu", "chrf")
    assert start(study, "chrf", "bleu", "bleu") == job
    assert start(study, "bleu") != job
    assert actions.start_job(study, "report") == actions.start_job(study, "report", {"seed": study.seed})
    assert actions.start_job(study, "report", {"seed": 99}) != actions.start_job(study, "report")
    jobs.run_here(job)
    assert start(study, "bleu", "chrf") != job


@pytest.mark.parametrize(
    ("kind", "params", "sentence"),
    [
        ("metrics", {"metrics": ["bleu", "blue"]}, "no metric 'blue'; the known ones are"),
        ("metrics", {"metrics": "bleu"}, "list of names"),
        ("metrics", {"metrics": [3]}, "list of names"),
        ("metrics", {"seed": 1}, "does not know seed"),
        ("metrics", ["bleu"], "object with names"),
        ("report", {"seed": -1}, "whole number"),
        ("report", {"seed": True}, "whole number"),
        ("report", {"seed": "1"}, "whole number"),
        ("report", {"resamples": 0}, "from 1 to"),
        ("report", {"resamples": 10**9}, "from 1 to"),
        ("report", {"aggregator": "median"}, "m-msr, mean"),
        ("report", {"aggregator": {}}, "m-msr, mean"),
        ("report", {"aggregator": 0}, "m-msr, mean"),
        ("bake", {}, "metrics or report"),
    ],
)
def test_wrong_parameters_are_refused(study: Study, kind: str, params: Any, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        actions.start_job(study, kind, params)
    assert not Job.objects.exists()


def test_a_study_without_references_says_what_to_import() -> None:
    job = start(make_study(references=0))
    assert job.state == "failed"
    assert "No problem of this study has a reference" in job.error
    assert "import" in job.error
    assert job.finished_at is not None
    empty = start(make_study("empty", problems=0))
    assert empty.error == work.NO_SNIPPETS


def test_problems_without_references_are_left_out_and_counted(study: Study) -> None:
    Snippet.objects.filter(problem__key__in=("1", "2"), system__kind="reference").delete()
    job = jobs.run_here(start(study, "bleu"))
    assert (job.state, job.text) == ("done", "2 problems without references left out.")
    assert set(MetricScore.objects.values_list("snippet__problem__key", flat=True)) == {"0", "3"}
    assert access.get_job(study, job.pk).done == job.total == 4  # type: ignore[attr-defined]


def test_workers_are_told_after_the_commit_only(
    study: Study, sent: list[int], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        job = start(study, "bleu")
        assert sent == []
    assert sent == [only_part(job).pk]
    assert only_part(job).sent_at is not None


def test_a_broker_that_is_down_is_no_failure(
    study: Study, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise ConnectionRefusedError("no broker")

    monkeypatch.setattr(tasks.run_part, "apply_async", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        job = start(study, "bleu")
    assert only_part(job).sent_at is None
    assert jobs.sweep() == [only_part(job).pk]


def test_a_part_is_claimed_once(study: Study) -> None:
    job = start(study, "bleu")
    part = only_part(job)
    assert jobs.claim(part.pk) == 1
    assert jobs.claim(part.pk) is None
    assert jobs.run_part(part.pk) is False
    job.refresh_from_db()
    assert job.state == "running"
    assert job.started_at is not None
    assert jobs.claim(part.pk + 1000) is None


def test_a_worker_that_comes_back_from_the_dead_writes_nothing(study: Study) -> None:
    part = only_part(start(study, "bleu"))
    old = taken(part)
    effect = work.compute(part, lambda done, text: None)
    expire(part)
    new = taken(part)
    assert new == old + 1
    with pytest.raises(jobs.LeaseLost):
        jobs.finish(part.pk, old, effect)
    with pytest.raises(jobs.LeaseLost):
        jobs.renew(part.pk, old, done=3, text="old")
    with pytest.raises(jobs.LeaseLost):
        jobs.fail(part.pk, old, "old")
    assert not MetricScore.objects.exists()
    jobs.finish(part.pk, new, effect)
    assert MetricScore.objects.count() == 8
    with pytest.raises(jobs.LeaseLost):
        jobs.finish(part.pk, new, effect)
    assert Job.objects.get().state == "done"


def test_an_effect_that_breaks_leaves_nothing_behind(study: Study) -> None:
    part = only_part(start(study, "bleu"))
    mine = taken(part)
    effect = work.compute(part, lambda done, text: None)

    def half() -> None:
        effect()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        jobs.finish(part.pk, mine, half)
    assert not MetricScore.objects.exists()
    assert only_part(Job.objects.get()).state == "running"


def test_the_lease_is_renewed_while_a_part_is_computed(
    study: Study, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    part = only_part(start(study, "bleu"))
    mine = taken(part)
    before = JobPart.objects.get(pk=part.pk).lease_until
    settings.JOB_LEASE_SECONDS = 600
    jobs.renew(part.pk, mine)
    after = JobPart.objects.get(pk=part.pk).lease_until
    assert before is not None
    assert after is not None
    assert after - before > timedelta(seconds=400)


def test_progress_is_counted(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PROGRESS_SECONDS", 0)
    seen: list[tuple[int, str]] = []
    real = jobs.renew

    def spy(part_id: int, mine: int, *, done: int | None = None, text: str | None = None) -> None:
        real(part_id, mine, done=done, text=text)
        job = access.get_jobs(study).get()
        seen.append((job.done, job.text))  # type: ignore[attr-defined]

    monkeypatch.setattr(jobs, "renew", spy)
    for part in start(study, "bleu", "chrf").parts.order_by("number"):
        jobs.run_part(part.pk)
    assert seen == [(done, "bleu" if done < 8 else "chrf") for done in range(16)]
    job = access.get_jobs(study).get()
    assert (job.done, job.total, job.text) == (16, 16, "")  # type: ignore[attr-defined]


def test_the_sweep_revives_a_part_whose_worker_died(study: Study) -> None:
    part = only_part(start(study, "bleu"))
    jobs.mark_sent([part.pk])
    assert jobs.sweep() == []
    taken(part)
    assert jobs.sweep() == []
    expire(part)
    assert jobs.sweep() == [part.pk]
    assert jobs.run_part(part.pk)
    assert jobs.sweep() == []
    assert Job.objects.get().state == "done"


def test_the_sweep_sends_an_old_message_again(study: Study) -> None:
    part = only_part(start(study, "bleu"))
    JobPart.objects.update(sent_at=timezone.now() - timedelta(days=1))
    assert jobs.sweep() == [part.pk]


def test_a_part_that_kills_its_workers_is_given_up(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "UNITS_A_PART", 4)
    job = start(study, "bleu")
    part = job.parts.order_by("number")[0]
    for _ in range(jobs.MAX_ATTEMPTS):
        taken(part)
        expire(part)
    assert jobs.claim(part.pk) is None
    assert jobs.sweep() == []
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "This job was given up: its worker died 5 times.")
    assert sorted(job.parts.values_list("state", flat=True)) == ["cancelled", "failed"]


def test_an_expected_failure_is_its_sentence(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    break_metric(monkeypatch, metrics.MissingInput("bleu needs something. Import it."))
    job = jobs.run_here(start(study, "bleu"))
    assert (job.state, job.error) == ("failed", "bleu needs something. Import it.")


def test_an_unexpected_failure_is_an_id_that_is_in_the_log(
    study: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_metric(monkeypatch, ValueError("operands could not be broadcast, secret /etc/path"))
    monkeypatch.setattr(work, "UNITS_A_PART", 4)
    job = jobs.run_here(start(study, "bleu"))
    assert job.state == "failed"
    assert job.error.startswith("Something broke (id ")
    assert "secret" not in job.error
    number = job.error.split("(id ")[1][:8]
    assert f"(id {number})" in caplog.text
    assert "operands could not be broadcast" in caplog.text
    assert sorted(job.parts.values_list("state", flat=True)) == ["cancelled", "failed"]
    assert not MetricScore.objects.exists()


def test_a_busy_database_is_tried_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    part = only_part(start(study, "bleu"))
    with monkeypatch.context() as patch:
        break_metric(patch, OperationalError("database is locked"))
        assert jobs.run_part(part.pk)
    assert Job.objects.get().state == "running"
    expire(part)
    assert jobs.sweep() == [part.pk]
    assert jobs.run_part(part.pk)
    assert Job.objects.get().state == "done"


def test_cancel_stops_the_job_and_its_worker(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "UNITS_A_PART", 4)
    job = start(study, "bleu")
    first, second = job.parts.order_by("number")
    mine = taken(first)
    effect = work.compute(first, lambda done, text: None)
    actions.cancel_job(job)
    with pytest.raises(jobs.LeaseLost):
        jobs.finish(first.pk, mine, effect)
    assert jobs.claim(second.pk) is None
    assert not MetricScore.objects.exists()
    job.refresh_from_db()
    assert (job.state, job.finished_at is not None) == ("cancelled", True)
    assert jobs.sweep() == []


def test_cancel_leaves_a_job_that_has_ended(study: Study) -> None:
    job = jobs.run_here(start(study, "bleu"))
    actions.cancel_job(job)
    job.refresh_from_db()
    assert job.state == "done"


def test_a_cancelled_job_stops_in_the_middle_of_its_part(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "PROGRESS_SECONDS", 0)
    job = start(study, "bleu")
    asked = []

    def segment(self: object, code: str, references: list[str]) -> float:
        asked.append(code)
        actions.cancel_job(job)
        return 0.5

    monkeypatch.setattr(type(metrics.get("bleu")), "segment", segment)
    assert jobs.run_part(only_part(job).pk)
    assert len(asked) == 1
    assert not MetricScore.objects.exists()


def test_a_deleted_study_takes_its_jobs_along(study: Study) -> None:
    part = only_part(start(study, "bleu"))
    mine = taken(part)
    effect = work.compute(part, lambda done, text: None)
    study.delete()
    with pytest.raises(jobs.LeaseLost):
        jobs.finish(part.pk, mine, effect)
    assert jobs.claim(part.pk) is None


def test_who_asked_is_kept(study: Study) -> None:
    user = make_researcher()
    assert actions.start_job(study, "report", user=user).created_by == user
