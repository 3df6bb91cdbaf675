"""Every change of a study: made, given its material, opened, paused, closed. One transaction each."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.errors import BadInput, Conflict
from annotator.studies.images import image_name, store_image
from annotator.studies.importer import Material, ProblemData, SnippetData
from annotator.studies.items import count_tasks, make_instructed, make_items, prepare
from annotator.studies.models import Problem, ProtocolVersion, Snippet, Study, System
from annotator.studies.protocol_reader import parse_protocol, protocol_text, read_protocol, set_key
from annotator.studies.protocols import Protocol
from annotator.studies.tabular import unfit

BATCH = 500
SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
MAX_SEED = 2**63 - 1
MAX_TARGET = 10_000
MAX_TITLE = 200
TEXTS = ("intent", "context", "image_alt", "stratum", "tests")


def create_study(
    slug: str,
    title: str,
    protocol_name: str,
    *,
    policy: str | None = None,
    target: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Study:
    """A draft study that follows a shipped protocol, or the one in a .toml file. Policy and target default to the
    protocol's, seed to a random one; `settings` sets other top-level keys of the protocol.

    Raises BadInput: a slug that cannot stand in a link or is taken, an unfit title, an unknown or faulty protocol, an
    unknown policy or one that lacks what it needs, a target below 1, a seed outside 0 .. 2**63 - 1.
    """
    check_slug(slug)
    if unfit(title, MAX_TITLE):
        raise BadInput(f"The title {unfit(title, MAX_TITLE)}")
    if Study.objects.filter(slug=slug).exists():
        raise BadInput(f"There is a study {slug!r} already. Choose another name with --slug.")
    if policy is not None and policy not in Study.Policy.values:
        raise BadInput(f"There is no policy {policy!r}. Known: {', '.join(Study.Policy.values)}.")
    if target is not None and not 1 <= target <= MAX_TARGET:
        raise BadInput(f"The target must be from 1 to {MAX_TARGET} grades an item, not {target}.")
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise BadInput(f"The seed must be a whole number from 0 to {MAX_SEED}, not {seed}.")
    name, source = protocol_text(protocol_name)
    parse_protocol(source, name)
    chosen = {"policy": policy, "target": target, **(settings or {})}
    for key, value in chosen.items():
        if value is not None:
            source = set_key(source, key, value)
    data = parse_protocol(source, name)
    protocol = read_protocol(data)
    with transaction.atomic():
        study = Study.objects.create(
            slug=slug,
            title=title or protocol.title,
            protocol_name=protocol.name,
            seed=secrets.randbelow(2**31) if seed is None else seed,
            **_of_protocol(protocol, data, source),
        )
        ProtocolVersion.objects.create(study=study, version=study.protocol_version, source=source)
    return study


def _of_protocol(protocol: Protocol, data: dict[str, Any], source: str) -> dict[str, Any]:
    """The fields of a study that its protocol decides."""
    return {
        "protocol_version": protocol.version,
        "protocol": data,
        "protocol_source": source,
        "policy": protocol.policy,
        "target": protocol.target,
    }


SETTLED = ("policy", "target", "show", "grade_references", "blocks", "sample_snippets", "tasks_per_person")
"""What the items and their slots were made of: as it is once a study has been opened."""


def change_protocol(study: Study, source: str, name: str = "protocol.toml") -> None:
    """Another wording, lease, deadline, steps or checks: from now on, under a new version that each grade names.

    A draft can change everything but what its items show. Raises BadInput with the lines, and Conflict for what is
    settled: once opened the policy, target, items and each question's key and scale.
    """
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        check_protocol_change(locked, source, name)
        last = locked.protocol_versions.order_by("version").last()
        version = max(locked.protocol_version, last.version if last else 0) + 1
        source = set_key(source, "version", version)
        data = parse_protocol(source, name)
        new = read_protocol(data)
        for key, value in _of_protocol(new, data, source).items():
            setattr(locked, key, value)
        locked.save()
        locked.items.filter(check_kind="").exclude(target=locked.target).update(target=locked.target)
        if locked.settled:
            make_instructed(locked)
        ProtocolVersion.objects.create(study=locked, version=version, source=source)
    study.refresh_from_db()


def check_protocol_change(study: Study, source: str, name: str = "protocol.toml") -> None:
    """Raises as `change_protocol` does. Changes nothing."""
    old, new = study.read_protocol(), read_protocol(parse_protocol(source, name))
    settled = SETTLED if study.settled else ("show", "grade_references") if study.items.exists() else ()
    differing = [key for key in settled if getattr(old, key) != getattr(new, key)]
    if (study.settled or study.annotators.exists()) and _scales(old) != _scales(new):
        differing.append("the questions and their scales or pages")
    if differing:
        raise Conflict(
            f"This cannot change any more: {', '.join(differing)}. "
            "Import the file as a study of its own with --slug."
        )
    if new.target is not None and study.items.filter(check_kind="", taken__gt=new.target).exists():
        raise Conflict(f"Some items have more grades than {new.target} already: the target cannot be lower.")


def _scales(protocol: Protocol) -> list[tuple[object, ...]]:
    return [
        (
            *(each.key, each.kind, sorted(option.value for option in each.options)),
            *(each.low, each.high, each.step, each.with_previous, each.reveal),
        )
        for each in protocol.questions
    ]


def check_slug(slug: str) -> None:
    """Raises BadInput if the text cannot name a study."""
    if not SLUG.fullmatch(slug):
        raise BadInput(
            f"{slug!r:.80} cannot stand in a link: use up to 60 of a-z, 0-9, - and _, a letter or digit first."
        )


def open_study(study: Study) -> None:
    """Take grades from now on. The first time what is handed out is settled: sample, groups, checks.

    Raises Conflict if there is nothing to grade, BadInput if it cannot be dealt out as the protocol says.
    """
    if not study.items.filter(check_kind="").exists():
        raise Conflict("This study has no items to grade. Import snippets first.")
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if not locked.settled:
            prepare(locked)
            locked.settled, locked.item_count = True, count_tasks(locked)
            locked.save(update_fields=["settled", "item_count"])
        _set_state(study, Study.State.OPEN)


def pause_study(study: Study) -> None:
    """Hand out nothing new; answers for items in hands are still taken."""
    if study.state not in (Study.State.OPEN, Study.State.PAUSED):
        raise Conflict("Only an open study can be paused.")
    _set_state(study, Study.State.PAUSED)


def close_study(study: Study) -> None:
    """Take no more grades. It can be opened again."""
    _set_state(study, Study.State.CLOSED)


def _set_state(study: Study, state: Study.State) -> None:
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        locked.state = state
        if state == Study.State.OPEN and locked.opened_at is None:
            locked.opened_at = timezone.now()
        locked.save(update_fields=["state", "opened_at"])
    study.refresh_from_db()


@dataclass(frozen=True)
class Added:
    """How much of the material was new; what was there already is the same, to the letter."""

    problems: int
    systems: int
    snippets: int
    items: int


def add_material(study: Study, material: Material) -> Added:
    """Store what is new of the material, all or nothing, and make its items.

    The same material again changes nothing. Raises BadInput with a line for each text that differs from what is
    stored, and Conflict when something is new and the study is no draft any more.
    """
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        problems, new_problems = _add_problems(locked, material)
        systems, new_systems = _add_systems(locked, material)
        new = _new_snippets(locked, material, problems, systems)
        if (new or new_problems) and locked.state != Study.State.DRAFT:
            raise Conflict(
                f"The study {locked.slug!r} is {locked.get_state_display().lower()}: nothing can be added to it. "
                "Import the file as a study of its own with --slug."
            )
        Snippet.objects.bulk_create(new, batch_size=BATCH)
        items = make_items(locked, new)
        locked.item_count = count_tasks(locked)
        new_notes = [note for note in material.notes if note not in locked.notes]
        locked.notes = "\n".join(filter(None, [locked.notes, *new_notes]))
        locked.save(update_fields=["item_count", "notes"])
    study.refresh_from_db()
    return Added(new_problems, new_systems, len(new), items)


def _add_problems(study: Study, material: Material) -> tuple[dict[str, Problem], int]:
    """All problems of the study by key, those of the material among them; and how many are new."""
    known = {problem.key: problem for problem in study.problems.all()}
    new, bad = [], []
    for data in material.problems.values():
        stored = known.get(data.key)
        if stored is None:
            new.append(_problem(study, data))
            continue
        differing = [
            name
            for name in TEXTS
            if getattr(stored, name) != getattr(data, name) and not (name == "stratum" and study.sample)
        ]
        if (image_name(data.image) if data.image else "") != stored.image:
            differing.append("image")
        if differing:
            bad.append(
                f"{data.place}: problem {data.key!r}: its {', '.join(differing)} differs from what is stored."
            )
    if bad:
        raise BadInput(_differs(study), bad)
    for problem in Problem.objects.bulk_create(new, batch_size=BATCH):
        known[problem.key] = problem
    return known, len(new)


def _problem(study: Study, data: ProblemData) -> Problem:
    texts: dict[str, Any] = {name: getattr(data, name) for name in TEXTS}
    return Problem(study=study, key=data.key, image=store_image(data.image) if data.image else "", **texts)


def _add_systems(study: Study, material: Material) -> tuple[dict[str, System], int]:
    kinds = {
        snippet.system: System.Kind.REFERENCE if snippet.is_reference else System.Kind.GENERATED
        for snippet in material.snippets
    }
    known = {system.name: system for system in study.systems.all()}
    new = [System(study=study, name=name, kind=kind) for name, kind in kinds.items() if name not in known]
    for system in System.objects.bulk_create(new):
        known[system.name] = system
    return known, len(new)


def _new_snippets(
    study: Study, material: Material, problems: dict[str, Problem], systems: dict[str, System]
) -> list[Snippet]:
    stored = {
        (snippet.problem_id, snippet.system_id, snippet.sample): snippet
        for snippet in Snippet.objects.filter(problem__study=study)
    }
    new, bad = [], []
    for data in material.snippets:
        problem, system = problems[data.problem], systems[data.system]
        known = stored.get((problem.pk, system.pk, data.sample))
        if known is None:
            new.append(_snippet(problem, system, data))
        elif _told(known) != _told(_snippet(problem, system, data)):
            bad.append(f"{data.place}: this snippet of {data.system} differs from what is stored.")
    if bad:
        raise BadInput(_differs(study), bad)
    return new


def _snippet(problem: Problem, system: System, data: SnippetData) -> Snippet:
    low, high = data.gold or (None, None)
    return Snippet(
        problem=problem,
        system=system,
        sample=data.sample,
        code=data.code,
        language=data.language,
        file_scores=data.scores,
        gold_low=low,
        gold_high=high,
    )


def _told(snippet: Snippet) -> tuple[object, ...]:
    """What a file tells of a snippet."""
    return snippet.code, snippet.language, snippet.file_scores, snippet.gold_low, snippet.gold_high


def _differs(study: Study) -> str:
    return (
        f"The study {study.slug!r} has other texts than the file. Nothing was imported. "
        "What people may have seen is never changed: import the file as a study of its own with --slug."
    )


def keep_problems(study: Study, drawn: Mapping[str, tuple[str, float]], sample: dict[str, Any]) -> int:
    """Of a draft keep the items of these problems (key -> stratum, weight); the others' are taken away. How many stay.

    `sample` says how they were drawn, and is kept.

    Raises Conflict once the study was opened.
    """
    with transaction.atomic():
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if locked.settled or locked.state != Study.State.DRAFT:
            raise Conflict("What is graded cannot change any more: a sample is drawn before the study opens.")
        if locked.sample:
            raise Conflict("A sample was drawn already. Import the file as a study of its own with --slug.")
        if locked.annotators.exists():
            raise Conflict(
                "There are grades already, which a sample would delete: draw it before they are imported."
            )
        problems = list(locked.problems.filter(key__in=drawn))
        for problem in problems:
            problem.stratum, problem.weight = drawn[problem.key]
        Problem.objects.bulk_update(problems, ["stratum", "weight"], batch_size=BATCH)
        left_out = locked.problems.exclude(pk__in=[problem.pk for problem in problems])
        locked.items.filter(snippet__problem__in=left_out).delete()
        locked.item_count = count_tasks(locked)
        locked.sample = sample
        locked.save(update_fields=["item_count", "sample"])
    study.refresh_from_db()
    return study.item_count
