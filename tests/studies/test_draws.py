"""The numbers behind every random choice of a study."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotator.studies.draws import SPAN, item_draw, keyed_hash

seeds = st.integers(0, 2**63 - 1)


@given(seeds, st.lists(st.text() | st.integers(), max_size=4))
def test_a_keyed_hash_is_in_range_and_repeats(seed: int, parts: list[str | int]) -> None:
    assert keyed_hash(seed, *parts) == keyed_hash(seed, *parts)
    assert 0 <= keyed_hash(seed, *parts) < SPAN


def test_parts_do_not_run_together() -> None:
    assert keyed_hash(1, "ab", "c") != keyed_hash(1, "a", "bc")
    assert keyed_hash(1, "ab") != keyed_hash(2, "ab")


def test_the_published_draws_stay_what_they_are() -> None:
    """A changed draw would reorder running studies. Numbers: blake2b, computed by hand below."""
    import hashlib

    digest = hashlib.blake2b(digest_size=8, key=(7).to_bytes(16, "big"))
    for part in ("draw", "p1", "x = 1", "0"):
        digest.update(len(part).to_bytes(8, "big") + part.encode())
    assert item_draw(7, "p1", ("x = 1",), 0) == int.from_bytes(digest.digest(), "big") // 2


def test_draws_are_spread_evenly() -> None:
    """Chi-square over 16 bins of 8,000 draws: 99.99 % of the time below 45 (15 degrees of freedom)."""
    counts = [0] * 16
    for number in range(8000):
        counts[item_draw(3, str(number), ("code",), 0) * 16 // SPAN] += 1
    assert sum((count - 500) ** 2 / 500 for count in counts) < 45
