"""Every change of a study: made, given its material, opened, paused, closed. One transaction each."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.errors import BadInput, Conflict
from annotator.studies.draws import item_draw
from annotator.studies.images import image_name, store_image
from annotator.studies.importer import Material, ProblemData, SnippetData
from annotator.studies.models import Item, Problem, Snippet, Study, System
from annotator.studies.protocols import load_protocol, read_protocol
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
) -> Study:
    """A draft study that follows a shipped protocol. Policy and target default to the protocol's, seed to a random one.

    Raises BadInput: a slug that cannot stand in a link or is taken, an unfit title, an unknown protocol or policy,
    a target below 1, a seed outside 0 .. 2**63 - 1.
    """
    check_slug(slug)
    if unfit(title, MAX_TITLE):
        raise BadInput(f"The title {unfit(title, MAX_TITLE)}")
    if Study.objects.filter(slug=slug).exists():
        raise BadInput(f"There is a study {slug!r} already. Choose another name with --slug.")
    data = load_protocol(protocol_name)
    protocol = read_protocol(data)
    if policy is not None and policy not in Study.Policy.values:
        raise BadInput(f"There is no policy {policy!r}. Known: {', '.join(Study.Policy.values)}.")
    if target is not None and not 1 <= target <= MAX_TARGET:
        raise BadInput(f"The target must be from 1 to {MAX_TARGET} grades an item, not {target}.")
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise BadInput(f"The seed must be a whole number from 0 to {MAX_SEED}, not {seed}.")
    return Study.objects.create(
        slug=slug,
        title=title or protocol.title,
        protocol_name=protocol.name,
        protocol_version=protocol.version,
        protocol=data,
        policy=policy or protocol.policy,
        target=target if target is not None else protocol.target,
        seed=secrets.randbelow(2**31) if seed is None else seed,
    )


def check_slug(slug: str) -> None:
    """Raises BadInput if the text cannot name a study."""
    if not SLUG.fullmatch(slug):
        raise BadInput(
            f"{slug!r:.80} cannot stand in a link: use up to 60 of a-z, 0-9, - and _, a letter or digit first."
        )


def open_study(study: Study) -> None:
    """Take grades from now on. Raises Conflict if there is nothing to grade."""
    if not study.items.exists():
        raise Conflict("This study has no items to grade. Import snippets first.")
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
        items = _make_items(locked, new)
        locked.item_count = locked.items.count()
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
        differing = [name for name in TEXTS if getattr(stored, name) != getattr(data, name)]
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
        elif (known.code, known.language) != (data.code, data.language):
            bad.append(f"{data.place}: this snippet of {data.system} differs from what is stored.")
    if bad:
        raise BadInput(_differs(study), bad)
    return new


def _snippet(problem: Problem, system: System, data: SnippetData) -> Snippet:
    return Snippet(problem=problem, system=system, sample=data.sample, code=data.code, language=data.language)


def _differs(study: Study) -> str:
    return (
        f"The study {study.slug!r} has other texts than the file. Nothing was imported. "
        "What people may have seen is never changed: import the file as a study of its own with --slug."
    )


def _make_items(study: Study, snippets: list[Snippet]) -> int:
    """Items of new snippets, each with its place in the pool's order; how many.

    Snippets that show the same code for the same problem get numbers in an order that does not tell whose they are:
    they look alike, so that whichever comes first, an annotator sees the same.
    """
    with_references = study.read_protocol().grade_references
    graded = [each for each in snippets if with_references or each.system.kind == System.Kind.GENERATED]
    seen: Counter[tuple[int, str]] = Counter()
    for problem, code in Item.objects.filter(study=study).values_list("snippet__problem_id", "snippet__code"):
        seen[problem, code] += 1
    items = []
    for snippet in graded:
        key = (snippet.problem_id, snippet.code)
        draw = item_draw(study.seed, snippet.problem.key, snippet.code, seen[key])
        seen[key] += 1
        items.append(Item(study=study, snippet=snippet, draw=draw, target=study.target))
    Item.objects.bulk_create(items, batch_size=BATCH)
    return len(items)
