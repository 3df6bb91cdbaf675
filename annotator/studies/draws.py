"""Pure: the keyed hashes that stand behind every random choice of a study."""

from __future__ import annotations

from hashlib import blake2b

SPAN = 2**63
"""Draws and pivots are whole numbers in [0, SPAN): they fit a signed 64-bit column."""


def keyed_hash(seed: int, *parts: str | int) -> int:
    """A number in [0, SPAN) that depends on all parts and cannot be told without the seed."""
    digest = blake2b(digest_size=8, key=seed.to_bytes(16, "big"))
    for part in parts:
        data = str(part).encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return int.from_bytes(digest.digest(), "big") >> 1


def item_draw(seed: int, problem: str, shown: tuple[str, ...], occurrence: int) -> int:
    """Place of an item in the pool's order.

    Only what an annotator may see goes in (`shown`: the code; of a pair both codes in no order) - never the system -
    so that neither its name nor the order of import shows. `occurrence` counts items that show the same for the
    same problem.
    """
    return keyed_hash(seed, "draw", problem, *shown, occurrence)


def block_sizes(items: int, blocks: int) -> list[int]:
    """How many items each questionnaire gets: all alike, but for one item more in the first ones."""
    size, more = divmod(items, blocks)
    return [size + (place < more) for place in range(blocks)]
