"""Getters that know who asks. Researchers are staff; to anybody else the results do not exist."""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from annotator.errors import NotYours
from annotator.grading.models import Annotator, Grade
from annotator.results.models import Job, MetricScore, Report, ReportFile
from annotator.studies.models import Study

User = AbstractBaseUser | AnonymousUser
NO_STUDY = "There is no such study."


def is_researcher(user: User) -> bool:
    return bool(user.is_active and getattr(user, "is_staff", False))


def get_studies(user: User) -> QuerySet[Study]:
    """The studies that the user may see the results of, newest first."""
    return Study.objects.all() if is_researcher(user) else Study.objects.none()


def get_study(user: User, slug: str) -> Study:
    study = get_studies(user).filter(slug=slug).first()
    if study is None:
        raise NotYours(NO_STUDY)
    return study


def get_jobs(study: Study) -> QuerySet[Job]:
    """The study's jobs, newest first, with `done`: how many of their `total` units are done."""
    return with_done(study.jobs.order_by("-id"))


def with_done(jobs: QuerySet[Job]) -> QuerySet[Job]:
    return jobs.annotate(done=Coalesce(Sum("parts__done"), 0))


def get_job(study: Study, pk: int) -> Job:
    job = get_jobs(study).filter(pk=pk).first()
    if job is None:
        raise NotYours("There is no such job in this study.")
    return job


def get_reports(study: Study) -> QuerySet[Report]:
    """The study's reports, newest first, without what is in them."""
    return study.reports.defer("summary").order_by("-id")


def get_report(study: Study, pk: int) -> Report:
    report = study.reports.filter(pk=pk).first()
    if report is None:
        raise NotYours("There is no such report in this study.")
    return report


def get_report_file(report: Report, name: str) -> ReportFile:
    known = "\0" not in name  # PostgreSQL refuses to look for it
    file = report.files.filter(name=name).first() if known else None
    if file is None:
        raise NotYours("There is no such file in this report.")
    return file


def count_grades(study: Study) -> dict[str, int]:
    """How many grades count (complete, not surplus), who gave them, simulated ones, items, metric scores."""
    counted = Grade.objects.filter(assignment__item__study=study, complete=True, assignment__surplus=False)
    numbers = counted.aggregate(
        grades=Count("pk"),
        annotators=Count("assignment__annotator", distinct=True),
        simulated=Count("pk", filter=Q(assignment__annotator__origin=Annotator.Origin.SIMULATED)),
    )
    scores = MetricScore.objects.filter(snippet__problem__study=study).count()
    return {**numbers, "items": study.item_count, "scores": scores}
