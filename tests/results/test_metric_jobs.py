"""Scores are computed again where something changed, metric by metric; what is undefined keeps its reason."""

from __future__ import annotations

import pytest

from annotator.results import access, jobs, pages, records
from annotator.results.models import MetricScore
from annotator.studies.models import Snippet, Study
from tests.factories import make_study
from tests.results.jobs_of import silence, start

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    silence(monkeypatch)


@pytest.fixture
def study() -> Study:
    return make_study(problems=4, systems=("a", "b"), references=2)


def test_doing_it_again_replaces_what_changed(study: Study) -> None:
    jobs.run_here(start(study, "chrf"))
    first = dict(MetricScore.objects.values_list("snippet_id", "score"))
    MetricScore.objects.update(score=0.123)
    jobs.run_here(start(study, "chrf"))
    assert set(MetricScore.objects.values_list("score", flat=True)) == {0.123}, "all was as before"
    problem = study.problems.get(key="0")
    Snippet.objects.filter(problem=problem, system__kind="reference", sample=0).update(code="another()")
    changed = Snippet.objects.get(problem__key="1", system__name="a")
    Snippet.objects.filter(pk=changed.pk).update(code="another()")
    jobs.run_here(start(study, "chrf"))
    anew = MetricScore.objects.exclude(score=0.123)
    generated = problem.snippets.filter(system__kind="generated").values_list("pk", flat=True)
    assert set(anew.values_list("snippet_id", flat=True)) == {*generated, changed.pk}
    assert anew.get(snippet=changed).score != first[changed.pk]
    MetricScore.objects.update(inputs="")
    jobs.run_here(start(study, "chrf"))
    assert not MetricScore.objects.filter(score=0.123).exists(), "nobody knows what was read"


def test_a_score_that_is_undefined_is_stored_with_its_reason(study: Study) -> None:
    long = Snippet.objects.filter(system__name="a").order_by("pk")[0]
    Snippet.objects.filter(pk=long.pk).update(code="x" * 120_001)
    job = jobs.run_here(start(study, "bleu", "chrf"))
    assert (job.state, job.error) == ("done", "")
    scores = MetricScore.objects.filter(snippet=long)
    reason = "a text has 120,001 characters; metrics read 120,000 at most."
    assert set(scores.values_list("metric", "score", "undefined")) == {
        ("bleu", None, reason),
        ("chrf", None, reason),
    }
    assert MetricScore.objects.filter(score=None).count() == 2
    exported = [row[-2:] for row in records.score_table(study, using="default")]
    assert exported.count((None, reason)) == 2
    Snippet.objects.filter(pk=long.pk).update(code="x")
    jobs.run_here(start(study, "bleu", "chrf"))
    assert not MetricScore.objects.filter(score=None).exists()
    assert not MetricScore.objects.exclude(undefined="").exists()


def test_the_page_shows_how_far_each_metric_is(study: Study) -> None:
    job = start(study, "bleu", "chrf")
    assert pages.by_metric(job) == [{"name": "bleu", "percent": 0}, {"name": "chrf", "percent": 0}]
    jobs.run_part(job.parts.order_by("number")[0].pk)
    row = pages.job_row(access.get_jobs(study).get())
    assert row["by_metric"] == [{"name": "bleu", "percent": 100}, {"name": "chrf", "percent": 0}]
    jobs.run_here(job)
    assert pages.job_row(access.get_jobs(study).get())["by_metric"] == []
