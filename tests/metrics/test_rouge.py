"""ROUGE-1 and ROUGE-2 against numbers worked by hand, rouge-score's, and a plain count."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metrics

LOOPS = ("for (int i = 0; i < n; i++) sum += v[i];", "for (int v : values) sum += v;")
JOINS = ("os.path.join(a, 'b')", 'os.path.join("b", a)')
SCORER = "rouge-score 0.1.2 with the same tokens"

# name, code, references, score, where the number comes from
TABLE = [
    ("rouge-1", "a a a b", ["a a c"], 4 / 7, "by hand: a counts twice"),
    ("rouge-2", "a a a b", ["a a c"], 2 / 5, "by hand: one of three and two pairs"),
    ("rouge-1", "a b c", ["c b a"], 1.0, "by hand: order does not count"),
    ("rouge-2", "a b c", ["c b a"], 0.0, "by hand: no pair is shared"),
    ("rouge-2", "a b c", ["x", "a b", "c b a"], 2 / 3, "by hand: the best reference"),
    ("rouge-2", "a", ["a"], 0.0, "by definition: a single token has no neighbour"),
    ("rouge-2", "a b", ["a b"], 1.0, "by hand: equal pairs"),
    ("rouge-1", "f('x')", ['f("x")'], 1.0, "by hand: the tokenizer makes both quotes a backtick"),
    ("rouge-1", LOOPS[0], [LOOPS[1]], 0.5142857142857143, SCORER),
    ("rouge-2", LOOPS[0], [LOOPS[1]], 0.3636363636363636, SCORER),
    ("rouge-1", JOINS[0], [JOINS[1]], 1.0, SCORER),
    ("rouge-2", JOINS[0], [JOINS[1]], 0.6363636363636364, SCORER),
]


@pytest.mark.parametrize(("name", "code", "references", "expected", "source"), TABLE)
def test_scores_are_as_worked_out(
    name: str, code: str, references: list[str], expected: float, source: str
) -> None:
    assert metrics.get(name).segment(code, references) == pytest.approx(expected, abs=1e-12), source


few_words = st.lists(st.sampled_from(["a", "b", "c", "(", "é"]), max_size=15)


@settings(max_examples=200, deadline=None)
@given(left=few_words, right=few_words, order=st.sampled_from([1, 2]))
def test_shared_pieces_equal_those_struck_off_one_by_one(
    left: list[str], right: list[str], order: int
) -> None:
    pieces, others = (
        [" ".join(words[place : place + order]) for place in range(len(words) - order + 1)]
        for words in (left, right)
    )
    total, shared = len(pieces) + len(others), 0
    for piece in pieces:
        if piece in others:
            others.remove(piece)
            shared += 1
    expected = 2 * shared / total if shared else 0.0
    score = metrics.get(f"rouge-{order}").segment(" ".join(left), [" ".join(right)])
    assert score == pytest.approx(expected, abs=1e-12)
