"""What is judged: studies, problems, systems, snippets and the items made of them."""

from __future__ import annotations

from typing import Any

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q

from annotator.studies.protocol_reader import read_protocol
from annotator.studies.protocols import Protocol


class Study(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        PAUSED = "paused", "Paused"
        CLOSED = "closed", "Closed"

    class Policy(models.TextChoices):
        OPEN = "open", "Open: random over the pool until the person stops"
        EVERYONE = "everyone", "Everyone: each person grades all items, in an own order"
        BALANCED = "balanced", "Balanced: a set a person, one item of a problem, the emptiest first"
        BLOCKS = "blocks", "Blocks: the items are dealt into questionnaires, a person gets one"

    slug = models.SlugField(max_length=60, unique=True, help_text="Part of the links: /join/SLUG/")
    title = models.CharField(max_length=200)
    protocol_name = models.CharField(max_length=60)
    protocol_version = models.PositiveIntegerField(default=1)
    protocol = models.JSONField(help_text="The protocol's table, as it is now.")
    protocol_source = models.TextField(blank=True, help_text="The protocol file's text, as it is now.")
    policy = models.CharField(max_length=20, choices=Policy, default=Policy.OPEN)
    target = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Grades wanted an item; empty = no target.",
    )
    seed = models.PositiveBigIntegerField(help_text="Every order and every draw comes from this number.")
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    item_count = models.PositiveIntegerField(default=0, editable=False)
    notes = models.TextField(
        blank=True, help_text="What a reader of the results must know, e.g. from the import."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    sample = models.JSONField(
        null=True, blank=True, editable=False, help_text="How its problems were drawn, where a sample was."
    )
    settled = models.BooleanField(
        default=False, editable=False, help_text="It has been open: items, scales and seed stay as they are."
    )
    opened_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.title

    def read_protocol(self) -> Protocol:
        """The protocol as it is read; once for each table that this object holds."""
        known: tuple[Any, Protocol] | None = self.__dict__.get("_read")
        if known is None or known[0] is not self.protocol:
            known = self.__dict__["_read"] = (self.protocol, read_protocol(self.protocol))
        return known[1]

    def share_protocol(self, other: Study) -> None:
        """Take over what another object of the same study has read, if that is of the same version."""
        if (other.pk, other.protocol_version) == (self.pk, self.protocol_version):
            self.protocol = other.protocol
            self.__dict__["_read"] = other.__dict__.get("_read")

    @property
    def reserves(self) -> bool:
        """Whether a person's whole set is reserved at once."""
        return self.policy in (self.Policy.BALANCED, self.Policy.BLOCKS)


class ProtocolVersion(models.Model):
    """What annotators were shown, version by version: each grade names the one that it was given under."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="protocol_versions")
    version = models.PositiveIntegerField()
    source = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study_id", "version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "version"], name="protocol_version_once"),
        ]

    def __str__(self) -> str:
        return f"version {self.version}"


class Problem(models.Model):
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="problems")
    key = models.CharField(max_length=200, help_text="The problem's name in the researcher's files.")
    intent = models.TextField(blank=True)
    context = models.TextField(blank=True)
    image = models.CharField(
        max_length=100,
        blank=True,
        help_text="File name under MEDIA_ROOT/images.",
        validators=[RegexValidator(r"\A[0-9a-f]{64}\.(png|jpg|gif|webp)\Z")],
    )
    image_alt = models.CharField(max_length=300, blank=True)
    stratum = models.CharField(max_length=100, blank=True)
    weight = models.FloatField(
        default=1, help_text="Problems of the stratum for each one drawn: what an estimate weighs it with."
    )
    tests = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="problem_key_once")]

    def __str__(self) -> str:
        return self.key


class System(models.Model):
    class Kind(models.TextChoices):
        GENERATED = "generated", "Generation model"
        REFERENCE = "reference", "Reference"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.GENERATED)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="system_name_once")]

    def __str__(self) -> str:
        return self.name


class Snippet(models.Model):
    """One system's code for one problem; `sample` counts where a system has several (references do)."""

    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="snippets")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="snippets")
    sample = models.PositiveIntegerField(default=0)
    code = models.TextField(blank=True)
    language = models.CharField(max_length=40, default="python")
    file_scores = models.JSONField(
        default=dict, blank=True, help_text="Metric -> score, as the file gives them."
    )
    gold_low = models.FloatField(null=True, blank=True, help_text="A check: the lowest right answer.")
    gold_high = models.FloatField(null=True, blank=True, help_text="A check: the highest right answer.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["problem", "system", "sample"], name="snippet_once")]

    def __str__(self) -> str:
        return f"{self.problem_id}/{self.system_id}/{self.sample}"


class Group(models.Model):
    """Items that are handed out with regard to each other: those of one problem (`balanced`: a person gets one
    of them) or of one questionnaire (`blocks`: a person gets all). `open_slots` is the sum of its items'
    target - taken, kept in the transaction that changes them."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="groups")
    draw = models.BigIntegerField()
    open_slots = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["study", "open_slots", "draw", "id"], name="open_groups"),
        ]

    def __str__(self) -> str:
        return f"group {self.pk}"


class Item(models.Model):
    """What is shown and graded. `taken` = held, reserved + counted, kept in the transaction that changes it."""

    class Kind(models.TextChoices):
        SNIPPET = "snippet", "Snippet"
        PAIR = "pair", "Snippet beside its reference"
        SCORE = "score", "Snippet with a metric's score"

    class Check(models.TextChoices):
        NONE = "", "None: a task"
        INSTRUCTED = "instructed", "The code asks for a particular answer"
        GOLD = "gold", "The right answer is known"
        DEGRADED = "degraded", "A spoilt copy, to be graded below its original"
        REPEAT = "repeat", "The same once more, to be graded alike"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="items")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.SNIPPET)
    check_kind = models.CharField(max_length=10, choices=Check, default=Check.NONE, blank=True)
    snippet = models.ForeignKey(Snippet, on_delete=models.CASCADE, related_name="items")
    reference = models.ForeignKey(
        Snippet, on_delete=models.CASCADE, null=True, blank=True, related_name="beside"
    )
    judged_metric = models.CharField(max_length=100, blank=True)
    judged_score = models.FloatField(null=True, blank=True)
    code = models.TextField(blank=True, help_text="Of a check: what is shown instead of the snippet's code.")
    low = models.FloatField(null=True, blank=True, help_text="Of a check: the lowest right answer.")
    high = models.FloatField(null=True, blank=True, help_text="Of a check: the highest right answer.")
    original = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="copies"
    )
    group = models.ForeignKey(Group, on_delete=models.CASCADE, null=True, blank=True, related_name="items")
    draw = models.BigIntegerField(
        help_text="Keyed hash of what is shown and the study's seed: the order of the pool."
    )
    taken = models.PositiveIntegerField(default=0)
    target = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["snippet", "kind", "judged_metric", "check_kind"], name="item_once"
            ),
            models.CheckConstraint(
                condition=Q(target__isnull=True) | Q(taken__lte=F("target")), name="taken_within_target"
            ),
        ]
        indexes = [
            models.Index(
                fields=["study", "draw", "id"],
                condition=Q(check_kind="") & (Q(target__isnull=True) | Q(taken__lt=F("target"))),
                name="open_items",
            ),
            models.Index(
                fields=["study", "check_kind", "draw"], condition=~Q(check_kind=""), name="check_items"
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.pk}"

    @property
    def shown_code(self) -> str:
        return self.code or self.snippet.code
