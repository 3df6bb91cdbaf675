"""Who judges: annotators, the items handed to them and the grades they gave."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotator.studies.models import Item, Study


class Annotator(models.Model):
    """A person known by a personal link. `handed` counts hand-outs, `graded` complete items."""

    class Origin(models.TextChoices):
        JOINED = "joined", "Joined by link"
        IMPORTED = "imported", "Imported grades"
        SIMULATED = "simulated", "Simulated for the demo"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="annotators")
    number = models.PositiveIntegerField()
    pseudonym = models.CharField(max_length=100)
    token = models.CharField(max_length=64, unique=True, editable=False)
    join_key = models.CharField(max_length=64, null=True, editable=False)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.JOINED)
    external_id = models.CharField(max_length=100, blank=True, help_text="Of a panel: PROLIFIC_PID, say.")
    external_study = models.CharField(max_length=100, blank=True)
    external_session = models.CharField(max_length=100, blank=True)
    step = models.CharField(max_length=20, default="consent")
    practised = models.PositiveIntegerField(default=0, help_text="Practice tasks that are done.")
    handed = models.PositiveIntegerField(default=0)
    graded = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    checks = models.PositiveIntegerField(
        default=0, help_text="Attention checks among the graded and skipped."
    )
    failed_checks = models.PositiveIntegerField(default=0)
    stop_reason = models.CharField(max_length=500, blank=True)
    joined_at = models.DateTimeField(auto_now_add=True)
    consent_version = models.PositiveIntegerField(null=True, editable=False)
    consented_at = models.DateTimeField(null=True, editable=False)
    last_seen_at = models.DateTimeField(null=True, editable=False)
    stopped_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["study_id", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "external_id"], condition=~Q(external_id=""), name="external_id_once"
            ),
            models.UniqueConstraint(fields=["study", "number"], name="annotator_number_once"),
            models.UniqueConstraint(fields=["study", "join_key"], name="join_key_once"),
            models.UniqueConstraint(fields=["study", "pseudonym"], name="annotator_pseudonym_once"),
        ]

    def __str__(self) -> str:
        return self.pseudonym


class Assignment(models.Model):
    """One item handed to one annotator: a hold with a lease until graded, skipped, released or expired."""

    class State(models.TextChoices):
        RESERVED = "reserved", "Reserved"
        HELD = "held", "Held"
        GRADED = "graded", "Graded"
        SKIPPED = "skipped", "Skipped"
        RELEASED = "released", "Released"
        EXPIRED = "expired", "Expired"

    LIVE = (State.RESERVED, State.HELD, State.GRADED, State.SKIPPED)
    """States in which the item is not handed to the same annotator again."""
    SEEN = Q(state__in=LIVE) | Q(partial=True)

    annotator = models.ForeignKey(
        Annotator, on_delete=models.CASCADE, related_name="assignments", db_index=False
    )
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="assignments")
    sequence = models.PositiveIntegerField(
        default=0, help_text="Which hand-out of the annotator it is, counted from 1; 0 while reserved."
    )
    state = models.CharField(max_length=10, choices=State, default=State.HELD)
    surplus = models.BooleanField(
        default=False, help_text="Came after its slot was given away: outside counts."
    )
    reopened = models.BooleanField(
        default=False, help_text="An exclusion gave its slot to others: outside counts."
    )
    partial = models.BooleanField(
        default=False, help_text="Given up with some questions answered: not handed to this person again."
    )
    side = models.CharField(max_length=1, blank=True, help_text="Of a pair: where the judged code stood.")
    passed = models.BooleanField(null=True, help_text="Of a check: its result.")
    handed_at = models.DateTimeField(null=True)
    held_until = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["annotator", "sequence"], condition=~Q(sequence=0), name="assignment_sequence_once"
            ),
            models.UniqueConstraint(
                fields=["annotator", "item"],
                condition=Q(state__in=("reserved", "held", "graded", "skipped")),
                name="live_once",
            ),
        ]
        indexes = [
            models.Index(fields=["annotator", "item"], name="had_by_annotator"),
            models.Index(fields=["annotator", "sequence"], name="in_order_of_annotator"),
            # What is held or reserved has a lease, and nothing else. SQLite takes a partial index where a query's
            # own words imply its condition: values that come as parameters imply nothing but "not null".
            models.Index(fields=["held_until"], condition=Q(held_until__isnull=False), name="holds_by_lease"),
            models.Index(
                fields=["annotator", "held_until"],
                condition=Q(held_until__isnull=False),
                name="hold_of_annotator",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}#{self.sequence} {self.state}"


class Grade(models.Model):
    """The current answer to one question of one assignment."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="grades")
    question = models.CharField(max_length=60)
    value = models.FloatField()
    label = models.CharField(max_length=200, blank=True)
    seconds = models.FloatField(
        null=True, help_text="From showing the question to its answer, server's clock."
    )
    active_seconds = models.FloatField(
        null=True, help_text="While the page was visible, by the browser's clock."
    )
    submitted_at = models.DateTimeField(null=True)
    protocol_version = models.PositiveIntegerField(default=1)
    complete = models.BooleanField(default=False, help_text="All questions of the item were answered.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "question"], name="grade_once")]

    def __str__(self) -> str:
        return f"{self.question}={self.value:g}"


class GradeRevision(models.Model):
    """Append-only history of a grade, its first value included."""

    grade = models.ForeignKey(Grade, on_delete=models.CASCADE, related_name="revisions")
    value = models.FloatField()
    label = models.CharField(max_length=200, blank=True)
    number = models.PositiveIntegerField(default=0, help_text="0 is the first answer.")
    submission_key = models.CharField(max_length=64, unique=True, null=True, editable=False)
    source = models.CharField(max_length=20, default="annotator")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.grade_id}: {self.value:g}"


class Answer(models.Model):
    """What a person said that is no grade: about themselves, in practice, at the end, or on one item. Append-only."""

    class Step(models.TextChoices):
        BACKGROUND = "background", "Background question"
        PRACTICE = "practice", "Practice task"
        COMMENT = "comment", "Comment on an item"
        BROKEN = "broken", "Report of a broken item"
        FEEDBACK = "feedback", "Feedback at the end"

    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="answers")
    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, null=True, blank=True, related_name="answers"
    )
    step = models.CharField(max_length=10, choices=Step)
    question = models.CharField(max_length=80, blank=True)
    text = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.step} {self.question}"


class Exclusion(models.Model):
    """A rule applied to a study at a moment: whose grades analysis leaves out. Reversible; the grades stay."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="exclusions")
    rule = models.CharField(max_length=40)
    version = models.PositiveIntegerField()
    parameters = models.JSONField(default=dict)
    annotators = models.ManyToManyField(Annotator, related_name="exclusions")
    reasons = models.JSONField(default=dict, help_text="Pseudonym -> why, in words.")
    reopened = models.BooleanField(default=False, help_text="The slots of the grades were given to others.")
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.rule} v{self.version}"
