"""What the keys of a protocol must not say together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from annotator.studies.protocols import Example, Protocol, Question
from annotator.studies.toml_lines import Path

PLACES = re.compile(r"\{(ai|human)\}")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def contradictions(protocol: Protocol) -> list[tuple[Path, str]]:
    """Path of a key and a sentence for each fault."""
    return [*_of_policy(protocol), *_of_questions(protocol), *_of_examples(protocol), *_of_the_rest(protocol)]


def _of_policy(protocol: Protocol) -> Iterator[tuple[Path, str]]:
    if protocol.policy == "balanced" and protocol.tasks_per_person is None:
        yield ("policy",), "`balanced` needs `tasks_per_person`: how many tasks are reserved for a person."
    if protocol.policy == "balanced" and protocol.target is None:
        yield ("policy",), "`balanced` needs a `target`: how many grades an item gets."
    if protocol.policy == "blocks" and (protocol.blocks is None or protocol.target is None):
        yield ("policy",), "`blocks` needs `blocks`, how many questionnaires there are, and a `target`."
    if protocol.policy != "blocks" and protocol.blocks is not None:
        yield ("blocks",), '`blocks` goes with `policy = "blocks"` only.'
    if protocol.sample_snippets is not None and protocol.show != "score":
        yield ("sample_snippets",), '`sample_snippets` goes with `show = "score"` only.'


def _of_questions(protocol: Protocol) -> Iterator[tuple[Path, str]]:
    questions = protocol.questions
    if not questions:
        yield ("questions",), "`questions` must hold at least one question."
        return
    for place, question in enumerate(questions):
        if question.key in [each.key for each in questions[:place]]:
            yield ("questions", place, "key"), "each question needs a `key` of its own."
    if questions[0].with_previous:
        yield ("questions", 0, "with_previous"), "the first question has none before it."
    start = 0
    for page in protocol.pages:
        if all(question.kind == "text" for question in page):
            yield ("questions", start), "a comment goes with a question: set `with_previous = true`."
        start += len(page)
    yield from _of_reveal(protocol, questions)


def _of_reveal(protocol: Protocol, questions: tuple[Question, ...]) -> Iterator[tuple[Path, str]]:
    revealed = False
    first_page = len(protocol.pages[0])
    for place, question in enumerate(questions):
        if question.reveal and (protocol.show != "pair" or place < first_page):
            yield ("questions", place, "reveal"), "only a pair has an origin to reveal, after its first page."
        revealed = revealed or question.reveal
        if PLACES.search(question.text) and not revealed:
            yield (
                ("questions", place, "text"),
                "{ai} and {human} tell the origin: this question needs `reveal = true`.",
            )
    if revealed and protocol.back:
        yield ("back",), "after a reveal nobody goes back: `back` and `reveal` exclude each other."


def _of_examples(protocol: Protocol) -> Iterator[tuple[Path, str]]:
    if protocol.example is not None:
        yield from _of_example(protocol, protocol.example, ("example",))
    for place, example in enumerate(protocol.practice):
        yield from _of_example(protocol, example, ("practice", place))


def _of_example(protocol: Protocol, example: Example, path: Path) -> Iterator[tuple[Path, str]]:
    scaled = {question.key: question for question in protocol.scaled}
    for key, values in (example.expected or {}).items():
        if key not in scaled:
            yield (*path, "expected"), f"there is no question {key!r} to answer."
        elif not all(map(scaled[key].accepts, values)):
            yield (*path, "expected"), f"the answers to {key!r} must be on its scale {scaled[key].scale}."
    if protocol.show == "pair" and not example.reference.strip():
        yield (*path, "reference"), "a pair needs its `reference`."


def _of_the_rest(protocol: Protocol) -> Iterator[tuple[Path, str]]:
    if protocol.show != "snippet" and protocol.grade_references:
        yield ("grade_references",), "references are graded only where snippets are shown one at a time."
    if not LANGUAGE.fullmatch(protocol.language):
        yield ("language",), "`language` must be like en, de or pt-br."
    for name in ("background", "feedback"):
        keys = [ask.key for ask in getattr(protocol, name)]
        if len(set(keys)) < len(keys):
            yield (name,), f"`{name}`: each question needs a `key` of its own."
