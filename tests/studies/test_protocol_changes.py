"""Odd protocol files, and changes of a protocol while people or grades are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotator.errors import BadInput, Conflict
from annotator.grading.importer import add_grades, read_grade_rows
from annotator.results import research
from annotator.studies import actions
from annotator.studies.models import Study
from annotator.studies.protocol_reader import parse_protocol, set_key
from annotator.studies.protocol_reader import protocol_text as file_text
from annotator.studies.tabular import Row
from tests.grading.surveys import EFFORT, PRACTICE, QUALITY, gold, make_survey, protocol_text, rows_of

CHECKS = '[checks]\nkinds = ["instructed"]\nevery = 2\n'


def graded_draft(**keys: object) -> Study:
    study = make_survey(protocol_text(QUALITY, policy="open", **keys), rows_of(3), is_open=False)
    rows = [
        Row(f"g:{name}", {"problem": "p0", "system": "a", "annotator": name, "grade": "2"}) for name in "xyz"
    ]
    add_grades(study, read_grade_rows(rows, "g", study.read_protocol()))
    return study


@pytest.mark.parametrize(
    "text",
    [
        protocol_text(QUALITY, policy="open", target="TARGET").replace('"TARGET"', "9" * 5000),
        protocol_text(
            PRACTICE.format(expected=f"expected = {{ effort = 1{'0' * 400} }}"), EFFORT, policy="open"
        ),
        protocol_text(QUALITY, policy="open").replace("A survey", "A\\u0000survey"),
        protocol_text(QUALITY, policy="open").replace("A survey", "A" * 201),
        protocol_text(QUALITY, policy="open").replace("Mostly", "M" * 201),
    ],
)
def test_what_no_database_or_number_can_hold_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_protocol(text, "odd.toml")


def test_a_text_of_several_lines_can_be_set() -> None:
    text = set_key(file_text("helpfulness")[1], "consent", "Short.")
    assert parse_protocol(text, "x.toml")["consent"] == "Short."
    assert parse_protocol(text, "x.toml")["thanks"] == "Thank you. Your grades are stored."


def test_line_separators_in_a_text_and_a_mark_before_it_do_no_harm(tmp_path: Path) -> None:
    text = protocol_text(QUALITY, policy="open").replace("A survey", "A\u2028survey")
    assert parse_protocol(set_key(text, "target", 2), "x.toml")["title"] == "A\u2028survey"
    file = tmp_path / "mark.toml"
    file.write_text(text, encoding="utf-8-sig")
    assert file_text(str(file))[1] == text


@pytest.mark.django_db
def test_a_draft_with_grades_keeps_what_they_answer() -> None:
    study = graded_draft()
    with pytest.raises(Conflict, match="more grades than 2"):
        actions.change_protocol(study, protocol_text(QUALITY, policy="open", target=2))
    with pytest.raises(Conflict, match="questions"):
        actions.change_protocol(study, protocol_text(EFFORT, policy="open"))
    with pytest.raises(Conflict, match="grades already"):
        research.draw_sample(study, 1)
    actions.change_protocol(study, protocol_text(QUALITY, policy="open", target=3))
    assert study.target == 3


@pytest.mark.django_db
def test_pages_stay_once_a_study_was_open() -> None:
    study = make_survey(protocol_text(QUALITY, EFFORT, policy="open"), rows_of(2))
    with pytest.raises(Conflict, match="pages"):
        actions.change_protocol(
            study, protocol_text(QUALITY, EFFORT + "with_previous = true\n", policy="open")
        )


@pytest.mark.django_db
def test_instructed_checks_can_be_switched_on_later() -> None:
    study = make_survey(protocol_text(QUALITY, policy="open"), rows_of(2))
    actions.change_protocol(study, protocol_text(QUALITY, CHECKS, policy="open"))
    made = study.items.filter(check_kind="instructed").count()
    assert made == 4
    actions.change_protocol(study, protocol_text(QUALITY, CHECKS, policy="open", lease_minutes=5))
    assert study.items.filter(check_kind="instructed").count() == made


@pytest.mark.django_db
def test_an_instructed_answer_is_on_the_slider() -> None:
    question = EFFORT.replace("low = 0", "low = 0.2").replace("high = 100", "high = 0.8").replace("25", "0.1")
    study = make_survey(protocol_text(question, CHECKS, policy="open"), rows_of(4))
    scale = study.read_protocol().scaled[0]
    for item in study.items.filter(check_kind="instructed"):
        assert item.low is not None
        assert item.high is not None
        assert scale.accepts(round((item.low + item.high) / 2, 9))
        assert f'answer "{(item.low + item.high) / 2:g}"' in item.code


@pytest.mark.django_db
def test_a_gold_answer_off_the_scale_is_refused() -> None:
    with pytest.raises(BadInput) as refused:
        make_survey(protocol_text(QUALITY, policy="open"), rows_of(1) + gold(rows_of(1, ("g",)), 99))
    assert "no answer from 99 to 99 is on the scale" in refused.value.lines[0]
