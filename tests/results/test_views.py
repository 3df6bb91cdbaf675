"""The researcher's pages: who may see them, what they show, and that looking changes nothing."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotator.results import actions, jobs, tasks
from annotator.results.models import Job, JobPart, MetricScore, Report, ReportFile
from annotator.studies.models import Snippet, Study
from tests.factories import give_grade, give_grades, make_annotator, make_researcher, make_study

pytestmark = pytest.mark.django_db(databases=["default", "reader"], transaction=True)
PAGES = ["/results/", "/results/study/", "/results/study/grades.csv", "/results/study/scores.csv"]
PAGES += [
    "/results/study/jobs.json",
    "/results/study/reports/{report}/",
    "/results/study/reports/{report}/all.zip",
]
PAGES += ["/results/study/reports/{report}/truth.csv", "/results/study/reports/{report}/figures/a.svg"]
POSTS = ["/results/study/jobs/", "/results/study/jobs/{job}/cancel/"]


@pytest.fixture(autouse=True)
def quiet_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.run_part, "apply_async", lambda *args, **options: None)


@pytest.fixture
def study() -> Study:
    study = make_study()
    give_grades(study, annotators=2)
    return study


@pytest.fixture
def researcher() -> Client:
    client = Client()
    client.force_login(make_researcher())
    return client


def add_report(study: Study) -> Report:
    table = {
        "title": "Correlations <b>",
        "caption": "c",
        "columns": ["metric", "n"],
        "rows": [["<i>bleu", "6"]],
    }
    figure = {"name": "a", "file": "figures/a.svg", "title": "A", "caption": "c", "alt": 'a "plot"'}
    report = Report.objects.create(
        study=study,
        summary={
            "tables": {"correlations": table, "annotators": table | {"title": "People"}},
            "figures": [figure],
            "warnings": ["Few grades & few people."],
            "seed": 7,
            "resamples": 1000,
            "aggregator": "m-msr",
            "command": "python -m analysis report",
        },
    )
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    ReportFile.objects.create(report=report, name="figures/a.svg", content=svg)
    ReportFile.objects.create(report=report, name="truth.csv", content=b"problem,truth\n1,2\n")
    return report


def paths(study: Study, templates: list[str]) -> list[str]:
    report, job = add_report(study), actions.start_job(study, "report")
    return [path.format(report=report.pk, job=job.pk) for path in templates]


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else bytes(response.content)


def test_strangers_are_asked_to_log_in(client: Client, study: Study) -> None:
    for path in paths(study, PAGES):
        answer: Any = client.get(path)
        assert (answer.status_code, answer.url.split("?")[0]) == (302, "/admin/login/"), path
    for path in paths(study, POSTS):
        assert client.post(path, {"kind": "report"}).status_code == 302
    assert not Job.objects.filter(state="cancelled").exists()


def test_people_who_are_no_researchers_find_nothing(client: Client, study: Study) -> None:
    client.force_login(User.objects.create_user("somebody"))
    for path in paths(study, PAGES):
        assert client.get(path).status_code == 404, path
    for path in paths(study, POSTS):
        assert client.post(path, {"kind": "metrics", "metric": "bleu"}).status_code == 404
    assert not Job.objects.filter(kind="metrics").exists()
    assert not Job.objects.filter(state="cancelled").exists()


def test_each_page_answers_and_looking_changes_nothing(researcher: Client, study: Study) -> None:
    urls = paths(study, PAGES)
    tables = (Job, JobPart, Report, ReportFile, MetricScore, Study)
    before = [list(model.objects.order_by("pk").values()) for model in tables]
    for path in urls:
        answer = researcher.get(path)
        assert answer.status_code == 200, path
        assert "no-store" in answer.headers["Cache-Control"], path
        body(answer)
    for path in paths(study, POSTS):
        assert researcher.get(path).status_code == 405
    Report.objects.order_by("pk").last().delete()  # type: ignore[union-attr]
    assert [list(model.objects.order_by("pk").values()) for model in tables] == before


def test_unknown_things_are_404(researcher: Client, study: Study) -> None:
    other = add_report(make_study("other"))
    for path in (
        "none/",
        "none/grades.csv",
        "study/reports/999/",
        "study/jobs.jsonx",
        f"study/reports/{10**30}/",
        f"study/reports/{other.pk}/",
    ):
        assert researcher.get(f"/results/{path}").status_code == 404, path
    report = add_report(study)
    for name in ("nothing.csv", "../truth.csv", "figures/../truth.csv", "%00"):
        assert researcher.get(f"/results/study/reports/{report.pk}/{name}").status_code == 404, name
    assert researcher.post("/results/study/jobs/999/cancel/").status_code == 404


def test_forms_need_their_token(study: Study) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_researcher())
    for path in paths(study, POSTS):
        assert strict.post(path, {"kind": "report"}).status_code == 403
    assert Job.objects.count() == 1


def test_the_study_page_counts_what_counts(researcher: Client, study: Study) -> None:
    late, item = make_annotator(study), study.items.first()
    assert item is not None
    give_grade(late, item, 4, surplus=True)
    page = researcher.get("/results/study/")
    assert page.context["counts"] == {
        "grades": 18,
        "annotators": 2,
        "items": 9,
        "scores": 0,
        "simulated": 0,
        "per_item": "2.0",
    }
    assert "http://testserver/join/study/" in page.content.decode()
    assert "simulated" not in page.content.decode()


def test_simulated_grades_are_announced(researcher: Client, study: Study) -> None:
    give_grades(study, annotators=1, origin="simulated")
    text = researcher.get("/results/study/").content.decode()
    assert "9 of the 27 grades here are simulated" in " ".join(text.replace("<b>", "").split())


def test_a_job_is_started_watched_and_cancelled(researcher: Client, study: Study) -> None:
    form = {"kind": "metrics", "metric": ["chrf", "bleu"]}
    answer: Any = researcher.post("/results/study/jobs/", form)
    assert (answer.status_code, answer.url) == (302, "/results/study/")
    job = Job.objects.get()
    assert job.params == {"metrics": ["bleu", "chrf"]}
    assert job.created_by is not None
    state = researcher.get("/results/study/jobs.json").json()
    assert state["active"] is True
    assert (state["jobs"][0]["percent"], state["jobs"][0]["total"]) == (0, 12)
    assert f"jobs/{job.pk}/cancel/" in state["html"]
    page = researcher.get("/results/study/").content.decode()
    assert "<progress" in page
    researcher.post(f"/results/study/jobs/{job.pk}/cancel/")
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert researcher.get("/results/study/jobs.json").json()["active"] is False


def test_what_went_wrong_is_shown_escaped(researcher: Client, study: Study) -> None:
    Job.objects.create(study=study, kind="report", state="failed", error="It <broke>.")
    page = researcher.get("/results/study/").content.decode()
    assert "It &lt;broke&gt;." in page
    answer = researcher.post("/results/study/jobs/", {"kind": "metrics"}, follow=True)
    assert "Choose at least one metric." in answer.content.decode()
    for form in ({"kind": "metrics", "metric": "blue"}, {"kind": "rubbish"}, {}):
        answer = researcher.post("/results/study/jobs/", form, follow=True)
        assert answer.status_code == 200
        assert "alert" in answer.content.decode()
    assert Job.objects.count() == 1


def test_a_failure_without_references_is_one_sentence_on_the_page(researcher: Client) -> None:
    make_study("bare", references=0)
    page = researcher.post("/results/bare/jobs/", {"kind": "metrics", "metric": "bleu"}, follow=True)
    assert "No problem of this study has a reference" in page.content.decode()


def test_the_report_page_shows_tables_figures_and_files(researcher: Client, study: Study) -> None:
    old, new = add_report(study), add_report(study)
    page = researcher.get("/results/study/").content.decode()
    assert "Correlations &lt;b&gt;" in page
    assert "&lt;i&gt;bleu" in page
    assert f'src="/results/study/reports/{new.pk}/figures/a.svg"' in page
    assert 'alt="a &quot;plot&quot;"' in page
    assert "Few grades &amp; few people." in page
    assert f"/results/study/reports/{old.pk}/" in page
    alone = researcher.get(f"/results/study/reports/{old.pk}/").content.decode()
    assert f'src="/results/study/reports/{old.pk}/figures/a.svg"' in alone


def test_files_come_with_their_type_and_run_nothing(researcher: Client, study: Study) -> None:
    base = f"/results/study/reports/{add_report(study).pk}/"
    figure = researcher.get(base + "figures/a.svg")
    assert figure.headers["Content-Type"] == "image/svg+xml"
    assert "sandbox" in figure.headers["Content-Security-Policy"]
    assert "script-src" not in figure.headers["Content-Security-Policy"]
    assert "default-src 'none'" in figure.headers["Content-Security-Policy"]
    assert "Content-Disposition" not in figure.headers
    saved = researcher.get(base + "figures/a.svg?download")
    assert saved.headers["Content-Disposition"] == 'attachment; filename="study-a.svg"'
    truth = researcher.get(base + "truth.csv")
    assert truth.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert truth.content == b"problem,truth\n1,2\n"
    assert truth.headers["X-Content-Type-Options"] == "nosniff"


def test_everything_as_one_zip(researcher: Client, study: Study) -> None:
    report = add_report(study)
    url = f"/results/study/reports/{report.pk}/all.zip"
    answer = researcher.get(url)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        folder = f"study-report-{report.pk}/"
        assert sorted(archive.namelist()) == [folder + "figures/a.svg", folder + "truth.csv"]
        assert archive.read(folder + "truth.csv") == b"problem,truth\n1,2\n"
    assert researcher.get(url).content == answer.content


def test_scores_are_downloaded_as_they_are_stored(researcher: Client, study: Study) -> None:
    jobs.run_here(actions.start_job(study, "metrics", {"metrics": ["bleu"]}))
    answer = researcher.get("/results/study/scores.csv")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="study-scores.csv"'
    rows = list(csv.DictReader(io.StringIO(body(answer).decode())))
    stored = MetricScore.objects.order_by("snippet_id").values_list("snippet__system__name", "score")
    assert [(row["system"], float(row["score"])) for row in rows] == list(stored)
    assert len(rows) == 6


def test_the_admin_lists_the_beginning_of_a_snippet(admin_client: Client, study: Study) -> None:
    Snippet.objects.filter(system__study=study).update(code="x = 1\n" * 200)
    page = admin_client.get("/admin/studies/snippet/").content.decode()
    assert "x = 1" in page
    assert "…" in page
    assert page.count("x = 1") < 20 * Snippet.objects.count()


def test_the_list_of_studies(researcher: Client, study: Study) -> None:
    make_study("second", title="The <second>")
    page = researcher.get("/results/").content.decode()
    assert "The &lt;second&gt;" in page
    assert page.index("second") < page.index("/results/study/")
    assert ">second</span>" in page, "studies of one title are told apart by their slugs"
    Study.objects.all().delete()
    assert "There is no study yet" in researcher.get("/results/").content.decode()


def test_an_admin_exports_one_study(researcher: Client, study: Study) -> None:
    admin = Client()
    admin.force_login(make_researcher("boss", is_superuser=True))
    form = {"action": "export_grades", "_selected_action": [study.pk]}
    answer = admin.post("/admin/studies/study/", form)
    assert body(answer) == body(researcher.get("/results/study/grades.csv"))
    form["_selected_action"] = [study.pk, make_study("second").pk]
    assert "Choose one study" in admin.post("/admin/studies/study/", form, follow=True).content.decode()


def test_jobs_and_reports_in_the_admin_can_be_looked_at_only(study: Study) -> None:
    admin = Client()
    admin.force_login(make_researcher("boss", is_superuser=True))
    job, report = actions.start_job(study, "report"), add_report(study)
    score = MetricScore.objects.create(
        snippet=study.items.all()[0].snippet, metric="bleu", signature="s", score=0.5
    )
    for path in ("job", "report", "metricscore"):
        assert admin.get(f"/admin/results/{path}/").status_code == 200
        assert admin.get(f"/admin/results/{path}/add/").status_code == 403
    for path in (f"job/{job.pk}", f"report/{report.pk}", f"metricscore/{score.pk}"):
        assert admin.get(f"/admin/results/{path}/change/").status_code == 200
        assert admin.post(f"/admin/results/{path}/change/", {}).status_code == 403
        assert admin.post(f"/admin/results/{path}/delete/", {"post": "yes"}).status_code == 403
    admin.post("/admin/results/job/", {"action": "cancel", "_selected_action": [job.pk]})
    job.refresh_from_db()
    assert job.state == "cancelled"
