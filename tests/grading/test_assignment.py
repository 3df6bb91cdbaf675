"""The pure part of handing out: fair, repeatable, and the order tells nothing."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from annotator.grading.assignment import choose, pivot, pseudonym
from annotator.studies.draws import SPAN, item_draw


@given(st.lists(st.integers(0, SPAN - 1), unique=True), st.integers(0, SPAN - 1))
def test_choose_takes_the_first_at_or_after_round_the_end(draws: list[int], entry: int) -> None:
    draws = sorted(draws)
    index = choose(draws, entry)
    if not draws:
        assert index is None
        return
    assert index is not None
    later = [draw for draw in draws if draw >= entry]
    assert draws[index] == (later[0] if later else draws[0])


def order(seed: int, annotator: int, pool: list[int]) -> list[int]:
    left, given_out = sorted(pool), []
    for sequence in range(1, len(pool) + 1):
        index = choose(left, pivot(seed, annotator, sequence))
        assert index is not None
        given_out.append(left.pop(index))
    return given_out


def test_everyone_gets_all_items_in_unrelated_orders() -> None:
    pool = [item_draw(5, str(number), ("code",), 0) for number in range(120)]
    first, second = order(5, 1, pool), order(5, 2, pool)
    assert sorted(first) == sorted(second) == sorted(pool)
    assert order(5, 1, pool) == first
    follows = dict(itertools.pairwise(first))
    kept = sum(follows.get(one) == two for one, two in itertools.pairwise(second))
    assert kept <= 8  # unrelated orders share one neighbourhood in about 120; the mean is 1


def test_first_hand_outs_are_spread_over_the_pool() -> None:
    """Each of 50 items comes first for some of 2,000 annotators, none for more than 10 % of them."""
    pool = sorted(item_draw(5, str(number), ("code",), 0) for number in range(50))
    firsts = Counter(choose(pool, pivot(5, number, 1)) for number in range(2000))
    assert len(firsts) >= 48
    assert max(firsts.values()) < 200


def test_pseudonyms_are_unique() -> None:
    assert len({pseudonym(3, number) for number in range(5000)}) == 5000
