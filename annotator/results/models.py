"""What leaves: jobs, metric scores and reports."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotator.studies.models import Snippet, Study


class Job(models.Model):
    """Long work that a researcher asked for. The rows are the truth; the broker only wakes workers up."""

    class Kind(models.TextChoices):
        METRICS = "metrics", "Compute metrics"
        REPORT = "report", "Build report"

    class State(models.TextChoices):
        QUEUED = "queued", "Waiting for a worker"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    ACTIVE = (State.QUEUED, State.RUNNING)

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=10, choices=Kind)
    params = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    total = models.PositiveIntegerField(default=0)
    text = models.CharField(max_length=200, blank=True, help_text="What it is doing now.")
    note = models.CharField(max_length=200, blank=True, help_text="What its result leaves out.")
    error = models.TextField(blank=True, help_text="One sentence for the researcher.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["state"], condition=Q(state__in=("queued", "running")), name="active_jobs")
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} #{self.pk}"


class JobPart(models.Model):
    """A share of a job, done by one worker. `attempts` is the fencing number of whoever holds the lease."""

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    params = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True, help_text="When a worker was last told of it.")
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="part_once")]

    def __str__(self) -> str:
        return f"{self.job_id}.{self.number} {self.state}"


class MetricScore(models.Model):
    """A metric's score of one snippet against its problem's references, in the metric's range (0..1).

    `inputs` is a hash of the texts that were read: while they and the signature are the same, so is the score.
    """

    snippet = models.ForeignKey(Snippet, on_delete=models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=60)
    signature = models.CharField(max_length=300)
    score = models.FloatField(null=True)
    undefined = models.CharField(max_length=300, blank=True, help_text="Why there is no score.")
    inputs = models.CharField(max_length=16, blank=True, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["snippet", "metric", "signature"], name="score_once")]

    def __str__(self) -> str:
        return f"{self.metric} undefined" if self.score is None else f"{self.metric} {self.score:.3f}"


class Report(models.Model):
    """One run of the analysis: what went in, how, and its files."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="reports")
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="report")
    summary = models.JSONField(
        help_text="report.json of the analysis: tables, figures, seed, versions, hashes."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Report {self.pk}"


class ReportFile(models.Model):
    """A file of a report. Kept in the database, so that web and workers need no common disk."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=200)
    content = models.BinaryField()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["report", "name"], name="report_file_once")]

    def __str__(self) -> str:
        return self.name
