"""What a study shows: pairs, scores, gold items, samples, questionnaires; settled when it opens."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from annotator.errors import BadInput, Conflict
from annotator.grading.verify import drifted
from annotator.studies import actions
from annotator.studies.importer import Material, material_of
from annotator.studies.models import Item, Study
from annotator.studies.tabular import Row

pytestmark = pytest.mark.django_db
METRICS = ("BLEU", "chrF", "RUBY")


def material(
    problems: int = 4,
    systems: tuple[str, ...] = ("a", "b"),
    *,
    order: Any = None,
    names: Any = None,
    **cells: Any,
) -> Material:
    """Snippets of `systems`, each with a reference; in another order, or under other names, where asked."""
    from pathlib import Path

    rows = [
        {
            "problem": f"p{number}",
            "intent": f"Do {number}.",
            "system": (names or {}).get(system, system),
            "code": f"do({number}, {place})",
            "reference": f"done({number})",
            "scores": {
                metric: round(0.1 * place + 0.01 * number + rank / 7, 4)
                for rank, metric in enumerate(METRICS)
            },
            **cells,
        }
        for number, (place, system) in itertools.product(range(problems), enumerate(systems))
    ]
    if order:
        rows = order(rows)
    return material_of([Row(f"rows:{number}", row) for number, row in enumerate(rows)], Path("rows.jsonl"))


def study(protocol: str, slug: str = "s", *, load: Material | None = None, **options: Any) -> Study:
    made = actions.create_study(slug, "T", protocol, seed=5, **options)
    actions.add_material(made, load or material())
    return made


def test_pairs_stand_beside_the_first_reference() -> None:
    made = study("value-accuracy-effort")
    items = list(made.items.select_related("snippet", "reference"))
    assert len(items) == made.item_count == 8
    assert {item.kind for item in items} == {"pair"}
    assert all(item.reference and item.reference.code.startswith("done(") for item in items)
    assert all(item.target == 2 for item in items)


def test_a_pair_needs_a_reference() -> None:
    made = actions.create_study("s", "T", "value-accuracy-effort")
    bare = material(reference="")
    with pytest.raises(BadInput) as caught:
        actions.add_material(made, bare)
    assert caught.value.lines[0] == "problem 'p0' has no reference to show beside the snippets."
    assert not made.problems.exists()


def test_a_score_is_an_item_of_its_own_and_the_sample_comes_from_the_seed() -> None:
    settings = {"sample_snippets": 3, "blocks": 2}
    made = study("metric-reasonableness", settings=settings)
    assert made.item_count == 4 * 2 * 3
    actions.open_study(made)
    made.refresh_from_db()
    assert made.item_count == made.items.count() == 3 * 3
    assert set(made.items.values_list("judged_metric", flat=True)) == set(METRICS)
    assert sorted(group.open_slots for group in made.groups.all()) == [4, 5]
    again = study(
        "metric-reasonableness", "t", settings=settings, load=material(order=lambda rows: rows[::-1])
    )
    actions.open_study(again)

    def drawn(each: Study) -> set[tuple[str, str]]:
        return set(each.items.values_list("snippet__code", "judged_metric"))

    assert drawn(made) == drawn(again)


def test_a_score_item_needs_a_score() -> None:
    made = actions.create_study("s", "T", "metric-reasonableness")
    with pytest.raises(BadInput) as caught:
        actions.add_material(made, material(scores=""))
    assert "no metric's score" in caught.value.lines[0]


def test_names_and_import_order_do_not_move_the_pool() -> None:
    for protocol in ("helpfulness", "value-accuracy-effort", "metric-reasonableness"):
        places = []
        loads = [material(), material(names={"a": "b", "b": "a"}), material(order=lambda rows: rows[::-1])]
        for number, load in enumerate(loads):
            made = study(protocol, f"{protocol}-{number}", load=load)
            places.append(sorted(made.items.values_list("draw", "snippet__code", "snippet__problem__key")))
        assert places[0] == places[1] == places[2]


def test_swapped_pair_has_the_same_place() -> None:
    """What is the snippet and what the reference must not show in the order."""
    one = study("value-accuracy-effort", "one", load=material(1, ("a",), code="x", reference="y"))
    two = study("value-accuracy-effort", "two", load=material(1, ("a",), code="y", reference="x"))
    assert one.items.get().draw == two.items.get().draw


def test_gold_items_are_checks_outside_the_count() -> None:
    load = material(2)
    gold = material(1, ("gold",), gold_low=3, gold_high=4)
    load.snippets.append(gold.snippets[0])
    made = study("helpfulness", load=load)
    item = made.items.get(check_kind="gold")
    assert (item.low, item.high, item.target) == (3, 4, None)
    assert made.item_count == made.items.filter(check_kind="").count()


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ({"gold": "good"}, "`gold` must be a number, not 'good'."),
        ({"gold_low": 3}, "a gold check needs"),
        ({"gold_low": 3, "gold_high": 2}, "a gold check needs"),
        ({"scores": "[1]"}, "`scores` must be like"),
        ({"scores": "{"}, "`scores` must be like"),
        ({"scores": {"BLEU": "high"}}, "the score of BLEU must be a number, not 'high'."),
        ({"scores": {"BLEU": True}}, "the score of BLEU must be a number"),
        ({"scores": {"": 1}}, "cannot name a metric"),
        ({"score:BLEU": "nan"}, "the score of BLEU must be a number, not 'nan'."),
    ],
)
def test_bad_cells_are_told(cells: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        material(1, ("a",), **cells)
    assert any(sentence in line for line in caught.value.lines), caught.value.lines


def test_scores_stand_in_columns_too() -> None:
    load = material(1, ("a",), scores="", **{"score:PASS": "1", "score:BLEU": ".25"})
    assert load.snippets[0].scores == {"BLEU": 0.25, "PASS": 1.0}


def test_opening_settles_groups_once() -> None:
    made = study("value-accuracy-effort", settings={"tasks_per_person": 2})
    actions.open_study(made)
    assert [group.open_slots for group in made.groups.all()] == [4, 4, 4, 4]
    assert not made.items.filter(group=None).exists()
    actions.pause_study(made)
    actions.open_study(made)
    assert made.groups.count() == 4
    assert drifted(made) == []
    with pytest.raises(Conflict, match="nothing can be added"):
        actions.add_material(made, material(6))


def test_more_questionnaires_than_items_are_refused() -> None:
    made = study("metric-reasonableness", settings={"sample_snippets": 1, "blocks": 9})
    with pytest.raises(BadInput, match=r"3 items cannot be dealt into 9 questionnaires\."):
        actions.open_study(made)
    made.refresh_from_db()
    assert made.state == "draft"
    assert made.items.count() == 24


def test_instructed_checks_come_with_opening() -> None:
    settings = "[checks]\nkinds = ['instructed']\nevery = 2\n"
    made = study("helpfulness")
    actions.change_protocol(made, made.protocol_source + settings)
    actions.open_study(made)
    checks = list(made.items.filter(check_kind="instructed"))
    assert len(checks) == 12  # of all 8 snippets and 4 references
    for check in checks:
        assert check.low == check.high
        label = made.read_protocol().questions[0].label(check.low or 0)
        assert f'please answer "{label}" here' in check.shown_code


def test_a_protocol_changes_by_version() -> None:
    made = study("helpfulness", target=2)
    actions.change_protocol(made, made.protocol_source.replace("target = 2", "target = 3"))
    assert (made.protocol_version, made.target) == (2, 3)
    assert set(made.items.values_list("target", flat=True)) == {3}
    actions.open_study(made)
    actions.change_protocol(made, made.protocol_source.replace("How helpful is this", "How good is this"))
    assert made.protocol_version == 3
    assert made.read_protocol().questions[0].text.startswith("How good is this")
    assert [each.version for each in made.protocol_versions.all()] == [1, 2, 3]
    for old, new, what in (
        ("target = 3", "target = 4", "target"),
        ('policy = "open"', 'policy = "everyone"', "policy"),
        ("value = 4", "value = 5", "the questions and their scales"),
        ('key = "helpfulness"', 'key = "quality"', "the questions and their scales"),
        ("grade_references = true", "grade_references = false", "grade_references"),
    ):
        with pytest.raises(Conflict, match=f"cannot change any more: {what}"):
            actions.change_protocol(made, made.protocol_source.replace(old, new))
    with pytest.raises(BadInput) as caught:
        actions.change_protocol(made, made.protocol_source + "colour = 1\n", "mine.toml")
    assert "mine.toml:" in caught.value.lines[0]
    made.refresh_from_db()
    assert made.protocol_version == 3
    assert Item.objects.filter(study=made).count() == made.item_count
