"""From snippets to the items of a study: what is shown, in which place of the pool, dealt out how."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator

from django.db.models import F, Sum
from django.utils import translation
from django.utils.translation import gettext as _

from annotator.errors import BadInput
from annotator.studies import attention
from annotator.studies.draws import block_sizes, item_draw, keyed_hash
from annotator.studies.models import Group, Item, Snippet, Study, System
from annotator.studies.protocols import Protocol, Question

BATCH = 500
INSTRUCTED_ITEMS = 50
"""Instructed checks made for a study: more than anybody meets."""
Shown = tuple[str, ...]


def shown_score(score: float) -> str:
    """A metric's score as annotators see it."""
    return f"{score:.2f}"


def make_items(study: Study, snippets: list[Snippet]) -> int:
    """Items of new snippets, each with its place in the pool's order; how many.

    Items that show the same get numbers in an order that does not tell whose they are: they look alike, so that
    whichever comes first, an annotator sees the same. Raises BadInput where a snippet lacks what is shown with it.
    """
    protocol = study.read_protocol()
    graded = [
        each for each in snippets if protocol.grade_references or each.system.kind == System.Kind.GENERATED
    ]
    references = _references(study) if protocol.show != "snippet" else {}
    _check_complete(graded, protocol, references)
    seen: Counter[tuple[int, Shown]] = Counter()
    for item in _stored(study):
        seen[item.snippet.problem_id, shown(item)] += 1
    items = []
    for item in _items_of(study, graded, protocol, references):
        key = (item.snippet.problem_id, shown(item))
        item.draw = item_draw(study.seed, item.snippet.problem.key, key[1], seen[key])
        seen[key] += 1
        items.append(item)
    Item.objects.bulk_create(items, batch_size=BATCH)
    return len(items)


def _stored(study: Study) -> Iterator[Item]:
    items = study.items.select_related("snippet", "reference").filter(original=None)
    return items.iterator(chunk_size=2000)


def shown(item: Item) -> Shown:
    """What tells items of one problem apart for an annotator; of a pair in no order. Checks are counted apart, so that
    a task's place does not depend on whether it or a check that looks like it was imported first."""
    texts = _look(item.snippet)
    if item.kind == Item.Kind.PAIR and item.reference is not None:
        first, second = sorted((texts, _look(item.reference)))
        texts = (*first, *second)
    elif item.kind == Item.Kind.SCORE and item.judged_score is not None:
        texts = (*texts, shown_score(item.judged_score))
    return (*texts, item.check_kind) if item.check_kind else texts


def _look(snippet: Snippet) -> Shown:
    """The code and, where it is not Python, its language, which decides the colours."""
    return (snippet.code,) if snippet.language == "python" else (snippet.code, snippet.language)


def _references(study: Study) -> dict[int, Snippet]:
    """The reference of each problem that is shown beside the others: the first one."""
    found = Snippet.objects.filter(problem__study=study, system__kind=System.Kind.REFERENCE)
    return {reference.problem_id: reference for reference in found.order_by("-sample")}


def _check_complete(snippets: list[Snippet], protocol: Protocol, references: dict[int, Snippet]) -> None:
    first = protocol.scaled[0]
    bad = [
        f"problem {each.problem.key!r}, {each.system.name}: no answer from {each.gold_low:g} to {each.gold_high:g} "
        f"is on the scale of {first.key!r} ({first.scale})."
        for each in snippets
        if each.gold_low is not None
        and each.gold_high is not None
        and not first.reaches(each.gold_low, each.gold_high)
    ]
    if protocol.show != "snippet":
        bad += [
            f"problem {key!r} has no reference to show beside the snippets."
            for key in dict.fromkeys(
                each.problem.key for each in snippets if each.problem_id not in references
            )
        ]
    if protocol.show == "score":
        bad += [
            f"problem {each.problem.key!r}, {each.system.name}: no metric's score. Give a column `scores`."
            for each in snippets
            if not each.file_scores
        ]
    if bad:
        raise BadInput(
            f"The protocol {protocol.name!r} cannot show these snippets. Nothing was imported.", bad
        )


def _items_of(
    study: Study, snippets: Iterable[Snippet], protocol: Protocol, references: dict[int, Snippet]
) -> Iterator[Item]:
    for snippet in snippets:
        is_gold = snippet.gold_low is not None
        scores = snippet.file_scores if protocol.show == "score" else {"": None}
        for metric, score in scores.items():
            yield Item(
                study=study,
                kind=protocol.show,
                check_kind=Item.Check.GOLD if is_gold else Item.Check.NONE,
                snippet=snippet,
                reference=references.get(snippet.problem_id),
                judged_metric=metric,
                judged_score=score,
                low=snippet.gold_low,
                high=snippet.gold_high,
                target=None if is_gold else study.target,
            )


def prepare(study: Study) -> None:
    """What opening a study settles for good: its sample, its groups, its instructed checks."""
    protocol = study.read_protocol()
    if protocol.sample_snippets is not None:
        _sample_snippets(study, protocol.sample_snippets)
    if study.policy == Study.Policy.BALANCED:
        _group_by_problem(study)
    elif study.policy == Study.Policy.BLOCKS:
        _deal_blocks(study, protocol.blocks or 1)
    make_instructed(study)


def _sample_snippets(study: Study, count: int) -> None:
    """Keep the items of `count` snippets, drawn by the seed from what they show."""
    tasks = study.items.filter(check_kind="")
    rows = (
        Snippet.objects.filter(items__in=tasks)
        .distinct()
        .values_list("pk", "problem__key", "code", "file_scores")
    )
    ranked = sorted(
        (keyed_hash(study.seed, "sample", key, code), json.dumps(sorted(scores.values())), pk)
        for pk, key, code, scores in rows
    )
    left_out = [pk for _, _, pk in ranked[count:]]
    if study.annotators.exists() and left_out:
        raise BadInput("There are grades already, which drawing `sample_snippets` would delete.")
    for start in range(0, len(left_out), BATCH):
        tasks.filter(snippet__in=left_out[start : start + BATCH]).delete()


def _group_by_problem(study: Study) -> None:
    rows = study.items.filter(check_kind="").annotate(problem_key=F("snippet__problem__key"))
    items = list(rows.only("pk", "draw", "snippet_id").order_by("problem_key", "draw", "pk"))
    groups = {
        item.problem_key: Group(study=study, draw=keyed_hash(study.seed, "group", item.problem_key))  # type: ignore[attr-defined]
        for item in items
    }
    Group.objects.bulk_create(groups.values(), batch_size=BATCH)
    for item in items:
        item.group = groups[item.problem_key]  # type: ignore[attr-defined]
    Item.objects.bulk_update(items, ["group"], batch_size=BATCH)
    recount_groups(study)


def _deal_blocks(study: Study, count: int) -> None:
    """Disjoint questionnaires of nearly the same size, cut from the pool's order."""
    items = list(study.items.filter(check_kind="").order_by("draw", "pk").only("pk", "target"))
    if count > len(items):
        raise BadInput(f"{len(items)} items cannot be dealt into {count} questionnaires. Lower `blocks`.")
    groups = [Group(study=study, draw=keyed_hash(study.seed, "block", number)) for number in range(count)]
    Group.objects.bulk_create(groups, batch_size=BATCH)
    start = 0
    for size, group in zip(block_sizes(len(items), count), groups, strict=True):
        end = start + size
        for item in items[start:end]:
            item.group = group
        start = end
    Item.objects.bulk_update(items, ["group"], batch_size=BATCH)
    recount_groups(study)


def recount_groups(study: Study) -> None:
    """Each group's open slots, from its items."""
    counted = study.groups.annotate(left=Sum(F("items__target") - F("items__taken")))
    groups = list(counted)
    for group in groups:
        group.open_slots = group.left or 0  # type: ignore[attr-defined]
    Group.objects.bulk_update(groups, ["open_slots"], batch_size=BATCH)


def make_instructed(study: Study) -> None:
    """Checks whose code asks for an answer, where the protocol wants them and there are none yet; which, and of what
    snippet, comes from the seed."""
    protocol = study.read_protocol()
    there = study.items.filter(check_kind=Item.Check.INSTRUCTED).exists()
    if there or Item.Check.INSTRUCTED not in protocol.checks.kinds:
        return
    question = protocol.scaled[0]
    tasks = study.items.filter(check_kind="", original=None).select_related("snippet", "reference")
    entry = keyed_hash(study.seed, "instructed")
    originals = list(tasks.filter(draw__gte=entry).order_by("draw")[:INSTRUCTED_ITEMS])
    originals += list(tasks.filter(draw__lt=entry).order_by("draw")[: INSTRUCTED_ITEMS - len(originals)])
    Item.objects.bulk_create([_instructed(study, item, question) for item in originals], batch_size=BATCH)


def _instructed(study: Study, item: Item, question: Question) -> Item:
    pick = keyed_hash(study.seed, "answer", item.draw)
    if question.options:
        option = question.options[pick % len(question.options)]
        label, low, high = option.label, float(option.value), float(option.value)
    else:
        share = (question.high - question.low) * (0.1 + 0.8 * (pick % 1000) / 1000)
        value = round(question.low + question.step * round(share / question.step), 9)
        near = max((question.high - question.low) * 0.05, question.step)
        label, low, high = f"{value:g}", value - near, value + near
    with translation.override(study.read_protocol().language):
        sentence = _('To show that you are reading: please answer "%(answer)s" here.') % {"answer": label}
    return Item(
        study=study,
        kind=item.kind,
        check_kind=Item.Check.INSTRUCTED,
        snippet=item.snippet,
        reference=item.reference,
        judged_metric=item.judged_metric,
        judged_score=item.judged_score,
        code=attention.instructed(item.snippet.code, item.snippet.language, sentence),
        low=low,
        high=high,
        draw=keyed_hash(study.seed, "instructed item", item.draw),
    )


def count_tasks(study: Study) -> int:
    return study.items.filter(check_kind="").count()
