"""Protocol files: the shipped ones are right, and a wrong one is refused by name of its wrong keys."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from annotator.errors import BadInput
from annotator.studies.protocol_reader import load_protocol, read_protocol
from annotator.studies.protocols import protocol_names


@pytest.mark.parametrize("name", protocol_names())
def test_shipped_protocols_are_whole(name: str) -> None:
    protocol = read_protocol(load_protocol(name))
    assert protocol.name == name
    assert protocol.consent
    assert protocol.instructions
    assert protocol.thanks


@pytest.mark.parametrize("name", ["helpfulness", "hearthstone"])
def test_the_published_scale(name: str) -> None:
    """Out of the BLEU, section 5.4.2: 0 to 4."""
    (question,) = read_protocol(load_protocol(name)).questions
    assert [option.value for option in question.options] == [0, 1, 2, 3, 4]
    assert all(option.description for option in question.options)


def test_an_unknown_protocol_lists_the_known() -> None:
    with pytest.raises(BadInput, match="Known: hearthstone, helpfulness"):
        load_protocol("../secret")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"polcy": "open"}, "`polcy` is not known"),
    ({"policy": "fair"}, "`policy` must be one of"),
    ({"version": "1"}, "`version` must be a whole number"),
    ({"skip": 1}, "`skip` must be true or false"),
    ({"lease_minutes": 0}, "`lease_minutes` must be from"),
    ({"target": -1}, "`target` must be from 1 to 10000"),
    ({"questions": []}, "at least one question"),
    ({"questions": [{"key": "q", "text": "?", "options": []}]}, "questions[1]: needs at least two options"),
    ({"questions": [{"text": "?", "options": []}]}, "questions[1]"),
    ({"questions": ["q"]}, "questions[1]"),
    ({"questions": 3}, "`questions` must be a list"),
]


@pytest.mark.parametrize(("change", "line"), WRONG)
def test_wrong_keys_are_named(change: dict[str, Any], line: str) -> None:
    data = deepcopy(load_protocol("helpfulness")) | change
    with pytest.raises(BadInput) as caught:
        read_protocol(data)
    assert any(line in each for each in caught.value.lines), caught.value.lines


def test_all_wrong_keys_are_named_together() -> None:
    with pytest.raises(BadInput) as caught:
        read_protocol({"name": "x", "colour": 1})
    assert len(caught.value.lines) >= 4
