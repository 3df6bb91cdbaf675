"""Changes of a study: made, given its material, opened, paused, closed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.errors import BadInput, CodejuryError, Conflict
from annotator.grading.verify import drifted
from annotator.studies import actions
from annotator.studies.importer import Material, ProblemData, SnippetData, material_of
from annotator.studies.models import Item, Problem, Snippet, Study, System
from annotator.studies.tabular import Row

pytestmark = pytest.mark.django_db
PNG = b"\x89PNG\r\n\x1a\n"


def made(slug: str = "mine", **options: Any) -> Study:
    return actions.create_study(slug, "Mine", "helpfulness", **({"seed": 7} | options))


def material(*rows: tuple[str, str, str], **cells: Any) -> Material:
    """Material of (problem, system, code) rows; `cells` are the same in all of them."""
    read = [
        Row(f"x.csv:{line}", {"problem": p, "system": s, "code": c, "intent": "Do it."} | cells)
        for line, (p, s, c) in enumerate(rows, start=2)
    ]
    return material_of(read, Path("x.csv"))


ROWS = (("1", "a", "x"), ("1", "b", "y"), ("2", "a", "z"), ("1", "reference", "r"))


def stored() -> tuple[list[Any], ...]:
    """Everything that the import of a study can change."""
    return tuple(
        list(kind.objects.order_by("pk").values()) for kind in (Study, Problem, System, Snippet, Item)
    )


def test_a_study_takes_what_is_not_said_from_its_protocol() -> None:
    study = actions.create_study("s-1_x", "", "helpfulness")
    protocol = study.read_protocol()
    assert (study.title, study.policy, study.target) == (protocol.title, protocol.policy, protocol.target)
    assert (study.state, study.protocol_version) == ("draft", protocol.version)
    assert 0 <= study.seed <= actions.MAX_SEED
    other = made(policy="everyone", target=3, seed=actions.MAX_SEED)
    other.refresh_from_db()
    assert (other.policy, other.target, other.seed) == ("everyone", 3, 2**63 - 1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        *(
            ({"slug": slug}, "cannot stand in a link")
            for slug in ("", "-a", "A", "a b", "a/b", "ä", "a\n", "x" * 61)
        ),
        ({"slug": "taken"}, "There is a study 'taken' already. Choose another name with --slug."),
        ({"title": "x" * 201}, "The title is longer than 200 characters."),
        ({"title": "\0"}, "The title holds a NUL character"),
        ({"title": "\udcff"}, "The title holds half a character"),
        (
            {"protocol_name": "none"},
            "There is no protocol 'none'. Known: hearthstone, helpfulness, metric-reasonableness",
        ),
        ({"protocol_name": "../protocols/helpfulness"}, "There is no protocol"),
        ({"policy": "none"}, "There is no policy 'none'. Known: open, everyone, balanced, blocks."),
        *(({"target": target}, "The target must be from 1 to") for target in (0, -1, 10**12)),
        *(({"seed": seed}, "The seed must be a whole number from 0 to") for seed in (-1, 2**63)),
    ],
)
def test_a_study_that_cannot_be_is_not_made(options: dict[str, Any], sentence: str) -> None:
    made("taken")
    wanted: dict[str, Any] = {"slug": "new", "title": "New", "protocol_name": "helpfulness"}
    with pytest.raises(BadInput) as caught:
        actions.create_study(**(wanted | options))
    assert sentence in str(caught.value)
    assert Study.objects.count() == 1


def test_material_becomes_problems_systems_snippets_and_items() -> None:
    study = made(target=4)
    assert actions.add_material(study, material(*ROWS)) == actions.Added(2, 3, 4, 4)
    study.refresh_from_db()
    assert study.item_count == 4
    assert set(study.items.values_list("target", "taken")) == {(4, 0)}
    kinds = dict(study.systems.values_list("name", "kind"))
    assert kinds == {"a": "generated", "b": "generated", "reference": "reference"}
    assert drifted(study) == []


def test_references_are_items_only_where_the_protocol_has_them_graded() -> None:
    study = made()
    study.protocol["grade_references"] = False
    study.save()
    assert actions.add_material(study, material(*ROWS)) == actions.Added(2, 3, 4, 3)
    assert not study.items.filter(snippet__system__kind="reference").exists()
    assert drifted(study) == []


@pytest.mark.parametrize("state", Study.State.values)
def test_the_same_material_again_changes_nothing(state: str) -> None:
    study = made()
    actions.add_material(study, material(*ROWS))
    Study.objects.update(state=state)
    before = stored()
    assert actions.add_material(study, material(*reversed(ROWS))) == actions.Added(0, 0, 0, 0)
    assert stored() == before


def test_notes_are_added_once_and_leave_those_of_the_researcher() -> None:
    study = made()
    first = material(*ROWS)
    first.notes += ["Rows were merged."]
    actions.add_material(study, first)
    assert study.notes == "Rows were merged."
    Study.objects.update(notes="Mine.\r\n\r\n\r\nRows were merged.\r\n")
    before = stored()
    actions.add_material(study, first)
    assert stored() == before


def test_rows_can_be_added_to_a_draft_and_to_nothing_else() -> None:
    study = made()
    actions.add_material(study, material(*ROWS[:2]))
    assert actions.add_material(study, material(*ROWS)) == actions.Added(1, 1, 2, 2)
    assert drifted(study) == []
    before = Snippet.objects.count()
    for change in (actions.open_study, actions.pause_study, actions.close_study):
        change(study)
        with pytest.raises(Conflict, match="nothing can be added to it"):
            actions.add_material(study, material(*ROWS, ("3", "a", "new")))
        assert Snippet.objects.count() == before


def test_another_text_for_what_is_there_is_refused_with_its_line() -> None:
    study = made()
    actions.add_material(study, material(*ROWS))
    before = stored()
    for changed, line in (
        (material(*ROWS[:1], ("1", "b", "other")), "x.csv:3: this snippet of b differs from what is stored."),
        (material(*ROWS[:1], language="java"), "x.csv:2: this snippet of a differs from what is stored."),
        (
            material(*ROWS[1:3], intent="Other."),
            "x.csv:3: problem '2': its intent differs from what is stored.",
        ),
    ):
        with pytest.raises(BadInput, match="Nothing was imported") as caught:
            actions.add_material(study, changed)
        assert line in caught.value.lines
        assert stored() == before


def test_another_image_for_a_problem_is_refused(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    (tmp_path / "1.png").write_bytes(PNG)

    def pictured() -> Material:
        problem = ProblemData("1", image=tmp_path / "1.png", place="x.csv:2")
        return Material({"1": problem}, [SnippetData("1", "a", 0, "x", "python", "x.csv:2")])

    study = made()
    actions.add_material(study, pictured())
    before = stored()
    assert actions.add_material(study, pictured()) == actions.Added(0, 0, 0, 0)
    (tmp_path / "1.png").write_bytes(PNG + b"changed")
    with pytest.raises(BadInput) as caught:
        actions.add_material(study, pictured())
    assert caught.value.lines == ["x.csv:2: problem '1': its image differs from what is stored."]
    assert stored() == before


def test_a_study_is_opened_paused_and_closed() -> None:
    study = made()
    with pytest.raises(Conflict, match="no items to grade"):
        actions.open_study(study)
    with pytest.raises(Conflict, match="Only an open study"):
        actions.pause_study(study)
    actions.add_material(study, material(*ROWS))
    actions.open_study(study)
    opened = study.opened_at
    assert (study.state, opened is None) == ("open", False)
    actions.pause_study(study)
    assert study.state == "paused"
    actions.close_study(study)
    with pytest.raises(CodejuryError):
        actions.pause_study(study)
    actions.open_study(study)
    assert (study.state, study.opened_at) == ("open", opened)


@settings(max_examples=15, deadline=None)
@given(
    codes=st.lists(st.tuples(st.sampled_from("12"), st.sampled_from("ab")), min_size=2, max_size=8),
    cut=st.integers(0, 8),
    order=st.randoms(use_true_random=False),
)
def test_draws_tell_nothing_of_the_order_or_the_systems(
    codes: list[tuple[str, str]], cut: int, order: random.Random
) -> None:
    """Shuffled rows under other names of systems, in two imports, give the same draws of the same texts."""

    def draws(names: list[str], places: list[int], cut: int) -> list[tuple[int, str, str]]:
        rows = [(codes[place][0], names[place], codes[place][1]) for place in places]
        with transaction.atomic():
            study = made()
            for part in filter(None, (rows[:cut], rows[cut:])):
                actions.add_material(study, material(*part))
            found = sorted(study.items.values_list("draw", "snippet__problem__key", "snippet__code"))
            study.delete()
        return found

    names = [f"system {number}" for number in range(len(codes))]
    places = list(range(len(codes)))
    plain = draws(names, places, 0)
    assert len({draw for draw, _, _ in plain}) == len(codes)
    order.shuffle(names)
    order.shuffle(places)
    assert draws(names, places, cut) == plain
