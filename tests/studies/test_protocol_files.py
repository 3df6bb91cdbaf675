"""Protocol files: the four published ones, and faults told with their lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotator.errors import BadInput
from annotator.studies.protocol_reader import load_protocol, parse_protocol, read_protocol, set_key
from annotator.studies.toml_lines import key_lines

SMALL = """name = "small"
version = 1
title = "Small"
policy = "open"
consent = \"\"\"
policy = "not this one"
\"\"\"

[[questions]]
key = "good"
text = "Is it good?"
options = [
    { value = 0, label = "No" },
    { value = 1, label = "Yes" },
]
"""
SECOND = """
[[questions]]
key = "{key}"
text = "{text}"
kind = "{kind}"
"""


def test_value_accuracy_effort_is_as_published() -> None:
    """Dibia et al., arXiv:2210.16494, section III D-E and Figure 2."""
    protocol = read_protocol(load_protocol("value-accuracy-effort"))
    assert (protocol.show, protocol.policy, protocol.target, protocol.tasks_per_person) == (
        "pair",
        "balanced",
        2,
        12,
    )
    assert [[question.key for question in page] for page in protocol.pages] == [
        ["accuracy"],
        ["value"],
        ["effort"],
    ]
    assert [question.reveal for question in protocol.questions] == [False, True, True]
    assert (protocol.back, protocol.skip, protocol.checks.kinds) == (False, False, ())
    for question in protocol.questions:
        assert [option.value for option in question.options] == [5, 4, 3, 2, 1]
    effort = protocol.questions[2]
    assert effort.label(5) == "No effort"
    assert [option.label for option in effort.options] == [
        "No effort", "Little effort", "Average effort", "Some effort", "A lot of effort",
    ]  # fmt: skip
    assert protocol.consent
    assert protocol.example
    assert protocol.feedback


def test_metric_reasonableness_is_as_published() -> None:
    """Dong et al., arXiv:2301.09043, RQ4: 100 snippets x 5 metrics, 10 questionnaires, one person each, 0 to 5."""
    protocol = read_protocol(load_protocol("metric-reasonableness"))
    assert (protocol.show, protocol.policy, protocol.blocks, protocol.target) == ("score", "blocks", 10, 1)
    assert protocol.sample_snippets == 100
    assert protocol.truth == "mean"
    assert [option.value for option in protocol.questions[0].options] == [0, 1, 2, 3, 4, 5]


def test_helpfulness_and_hearthstone() -> None:
    helpfulness = read_protocol(load_protocol("helpfulness"))
    assert (helpfulness.policy, helpfulness.target, helpfulness.skip) == ("open", None, True)
    assert [(ask.key, ask.kind) for ask in helpfulness.background] == [("python_years", "number")]
    assert read_protocol(load_protocol("hearthstone")).policy == "everyone"


FAULTS: list[tuple[str, str, str]] = [
    ('title = "Small"', 'titel = "Small"', "small.toml:1: `title` is missing."),
    ('title = "Small"', 'titel = "Small"', "small.toml:3: `titel` is not known here."),
    ('title = "Small"', "title = 7", "small.toml:3: `title` must be a text."),
    ('policy = "open"', 'policy = "fair"', "small.toml:4: `policy` must be one of open, everyone, balanced, blocks."),
    ('policy = "open"', 'policy = "balanced"', "small.toml:4: `balanced` needs `tasks_per_person`"),
    ('policy = "open"', 'policy = "balanced"', "small.toml:4: `balanced` needs a `target`"),
    ('policy = "open"', 'policy = "blocks"', "small.toml:4: `blocks` needs `blocks`"),
    ('policy = "open"', 'policy = "open"\nblocks = 3', "small.toml:5: `blocks` goes with"),
    ('key = "good"', 'key = "so good"', "small.toml:10: `key` must be up to 60 of"),
    ('text = "Is it good?"', 'text = ""', "small.toml:11: `text` is empty."),
    ('text = "Is it good?"', 'text = "Is {ai} good?"', "small.toml:11: {ai} and {human} tell the origin"),
    ('key = "good"', 'key = "good"\nreveal = true', "small.toml:11: only a pair has an origin"),
    ('key = "good"', 'key = "good"\nwith_previous = true', "small.toml:11: the first question has none"),
    ("value = 1", "value = 0", "small.toml:12: needs at least two options"),
    ("value = 1", "value = 1.5", "small.toml:12: `value` must be a whole number."),
    ('version = 1', 'version = 1\ndeadline = "soon"', "small.toml:3: `deadline` must be like 2026-12-31"),
    ("[[questions]]", "[checks]\nkinds = ['trick']\n[[questions]]", "small.toml:10: `kinds` knows instructed"),
    ("[[questions]]", "[codes]\nwon = 'A'\n[[questions]]", "small.toml:10: `won` is not known here."),
    (
        "[[questions]]",
        "[[practice]]\nintent = 'a'\ncode = 'b'\n[practice.expected]\ngood = 7\n[[questions]]",
        "small.toml:12: the answers to 'good' must be on its scale 0, 1.",
    ),
    ("[[questions]]", "[[background]]\nkey='a'\ntext='b'\nkind='choice'\n[[questions]]", "`choices` is missing."),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line"), FAULTS)
def test_a_fault_is_told_with_its_line(old: str, new: str, line: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_protocol(SMALL.replace(old, new, 1), "small.toml")
    assert any(line in each for each in caught.value.lines), caught.value.lines


def test_a_comment_alone_is_no_page() -> None:
    first = SMALL.replace('key = "good"', 'key = "good"\nkind = "text"').split("options")[0]
    with pytest.raises(BadInput) as caught:
        parse_protocol(first, "small.toml")
    assert caught.value.lines == ["small.toml:9: a comment goes with a question: set `with_previous = true`."]


def test_broken_toml_is_told_with_its_line() -> None:
    with pytest.raises(BadInput, match=r"small\.toml: .*line 3"):
        parse_protocol(SMALL.replace('"Small"', '"Small'), "small.toml")


def test_sliders_comments_and_several_questions_at_once() -> None:
    more = (
        SECOND.format(key="fit", text="How well?", kind="slider")
        + "with_previous = true\nlow = 0\nhigh = 1\nstep = 0.1\n"
    )
    more += SECOND.format(key="why", text="Why?", kind="text") + "with_previous = true\n"
    protocol = read_protocol(parse_protocol(SMALL + more, "small.toml"))
    (page,) = protocol.pages
    assert [question.key for question in page] == ["good", "fit", "why"]
    assert [question.key for question in protocol.scaled] == ["good", "fit"]
    slider = page[1]
    assert [slider.accepts(value) for value in (0, 0.1, 0.3, 1, 1.1, -0.1, 0.15)] == [True] * 4 + [False] * 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("policy", "everyone"),
        ("target", 3),
        ("lease_minutes", 0.5),
        ("skip", False),
        ("title", 'A "quote" ä'),
    ],
)
def test_a_key_is_set_in_the_text(key: str, value: Any) -> None:
    changed = set_key(SMALL, key, value)
    assert parse_protocol(changed, "small.toml") == parse_protocol(SMALL, "small.toml") | {key: value}
    assert "not this one" in changed


def test_the_comment_behind_a_key_stays() -> None:
    assert 'policy = "everyone"  # so' in set_key(
        SMALL.replace('"open"', '"open"  # so'), "policy", "everyone"
    )


def test_lines_of_keys() -> None:
    lines = key_lines(SMALL)
    assert lines[("policy",)] == 4
    assert lines[("questions", 0)] == 9
    assert lines[("questions", 0, "options")] == 12


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SMALL)
    assert load_protocol(str(tmp_path / "mine.toml"))["name"] == "small"
    with pytest.raises(BadInput, match="Cannot read"):
        load_protocol(str(tmp_path / "other.toml"))


def test_every_key_is_documented() -> None:
    with pytest.raises(BadInput) as caught:
        parse_protocol("colour = 1\n" + SMALL, "small.toml")
    known = caught.value.lines[0].partition("Known: ")[2].rstrip(".").split(", ")
    text = (Path(__file__).parents[2] / "docs" / "protocols.md").read_text()
    assert len(known) > 30
    assert [key for key in known if f"`{key}`" not in text and f"[{key}]" not in text] == []
