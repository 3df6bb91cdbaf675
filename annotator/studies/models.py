"""What is judged: studies, problems, systems, snippets and the items made of them."""

from __future__ import annotations

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q

from annotator.studies.protocols import Protocol, read_protocol


class Study(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        PAUSED = "paused", "Paused"
        CLOSED = "closed", "Closed"

    class Policy(models.TextChoices):
        OPEN = "open", "Open: random over the pool until the person stops"
        EVERYONE = "everyone", "Everyone: each person grades all items, in an own order"

    slug = models.SlugField(max_length=60, unique=True, help_text="Part of the links: /join/SLUG/")
    title = models.CharField(max_length=200)
    protocol_name = models.CharField(max_length=60)
    protocol_version = models.PositiveIntegerField(default=1)
    protocol = models.JSONField(help_text="The protocol file as it was when the study was made.")
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
    opened_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.title

    def read_protocol(self) -> Protocol:
        return read_protocol(self.protocol)


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

    class Meta:
        constraints = [models.UniqueConstraint(fields=["problem", "system", "sample"], name="snippet_once")]

    def __str__(self) -> str:
        return f"{self.problem_id}/{self.system_id}/{self.sample}"


class Item(models.Model):
    """What is shown and graded. `taken` = held + counted, kept in the transaction that changes it."""

    class Kind(models.TextChoices):
        SNIPPET = "snippet", "Snippet"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="items")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.SNIPPET)
    snippet = models.ForeignKey(Snippet, on_delete=models.CASCADE, related_name="items")
    draw = models.BigIntegerField(
        help_text="Keyed hash of what is shown and the study's seed: the order of the pool."
    )
    taken = models.PositiveIntegerField(default=0)
    target = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["snippet", "kind"], name="item_once"),
            models.CheckConstraint(
                condition=Q(target__isnull=True) | Q(taken__lte=F("target")), name="taken_within_target"
            ),
        ]
        indexes = [
            models.Index(
                fields=["study", "draw"],
                condition=Q(target__isnull=True) | Q(taken__lt=F("target")),
                name="open_items",
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.pk}"
