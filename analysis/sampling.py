"""Which problems a study shows: strata, the seeded draw from each, and the weights that undo the oversampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import columns
from analysis.columns import TableError, natural_order

PASS_LOW, FAIL_HIGH, AGREE = "pass-low", "fail-high", "agree"
BUCKETS = (PASS_LOW, FAIL_HIGH, AGREE)
BUCKETED = ("problem", "stratum")
DRAWN = ("problem", "stratum", "drawn_for", "weight")
SIZES = ("stratum", "population", "wanted", "drawn", "weight")
SEEDS = 2**128
PROBLEM_COLUMNS = {
    "problem": (columns.TEXT, None),
    "stratum": (columns.TEXT, ""),
    "passed": (columns.NUMBER, np.nan),
    "edit_similarity": (columns.NUMBER, np.nan),
}
"""Columns of a file of problems, as in `columns.GRADE_COLUMNS`."""


@dataclass(frozen=True)
class Sample:
    """A draw. Both tables are sorted and do not depend on the order of the rows drawn from.

    rows: one a problem drawn, DRAWN: its own `stratum`, `drawn_for` = the stratum whose place it takes (another
    one where that was too small), `weight` = how many problems of its stratum it stands for.
    sizes: one a stratum, SIZES: problems there are, wanted, drawn (with those drawn for other strata), and
    weight = population / drawn, missing where none was drawn.
    warnings: sentences for the reader; empty when the draw is what was asked for.
    """

    rows: pd.DataFrame
    sizes: pd.DataFrame
    warnings: list[str]


def buckets(table: pd.DataFrame) -> pd.DataFrame:
    """Where PASS and EDIT-SIM of one anchor system disagree, problem by problem: the columns of BUCKETED.

    `table`: one row a problem, `passed` 0 or 1, `edit_similarity` from 0 to 1 of the anchor's snippet. The strata:
    `pass-low` (passes, similarity low), `fail-high` (fails, similarity high), `agree` (the rest). High is at or
    above the median of all problems in the table. The paper does not say where the median itself belongs; so
    with an odd number of problems the middle one is high, and where all similarities are equal all are high.
    A single problem is high. No problems give no rows.

    After Dibia et al., "Aligning Offline Metrics and Human Judgments of Value for Code Generation Models"
    (arXiv:2210.16494), section III D.

    Raises TableError, which names the problems: a value is missing or out of range, a problem comes twice.
    """
    table = _problems(table, ("passed", "edit_similarity"))
    passed = pd.to_numeric(table["passed"], errors="coerce").to_numpy(float)
    similarity = pd.to_numeric(table["edit_similarity"], errors="coerce").to_numpy(float)
    _refuse(table, ~np.isin(passed, (0.0, 1.0)), "have no PASS of 0 or 1")
    _refuse(table, ~((similarity >= 0) & (similarity <= 1)), "have no edit similarity from 0 to 1")
    if table.empty:
        return pd.DataFrame({column: pd.Series(dtype="str") for column in BUCKETED})
    high = similarity >= np.median(similarity)
    strata = np.where((passed == 1) & ~high, PASS_LOW, np.where((passed == 0) & high, FAIL_HIGH, AGREE))
    return table.assign(stratum=strata)[list(BUCKETED)]


def draw_strata(
    table: pd.DataFrame,
    per_stratum: int | Mapping[str, int],
    seed: int,
    *,
    fill_from: str | None = AGREE,
    strata: Sequence[str] = (),
) -> Sample:
    """Problems drawn from each stratum without replacement: those with the smallest keyed hashes.

    `table`: `problem` and `stratum`, each problem once. `per_stratum`: how many of each stratum, or of those
    named (none of the others). `strata`: strata to draw from though the table may have no problem of them, so
    that their places are filled too. A stratum with too few gives all it has, and what it lacks is drawn from
    `fill_from` (None: from nowhere), with a warning. The problems of a stratum are a simple random sample of it:
    the weight is the same for those drawn for another one. The same seed with a larger number draws the same
    problems and more.

    Raises TableError: a problem comes twice or has no stratum; ValueError: numbers below 0, a seed that is no
    whole number from 0 to 2**128 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < SEEDS:
        raise ValueError(f"The seed must be a whole number from 0 to 2**128 - 1, not {seed}.")
    table = _problems(table, ("stratum",))
    _refuse(table, table["stratum"].isna().to_numpy(), "have no stratum")
    table = table.assign(stratum=table["stratum"].astype(str))
    wanted = _wanted(table, per_stratum, strata)
    waiting = {name: _shuffled(table, name, int(seed)) for name in wanted}
    places: list[tuple[str, str, str]] = []
    warnings: list[str] = []
    lacking: dict[str, int] = {}
    for name, count in wanted.items():
        taken, waiting[name] = waiting[name][:count], waiting[name][count:]
        places += [(problem, name, name) for problem in taken]
        lacking[name] = count - len(taken)
    for name, count in lacking.items():
        if not count:
            continue
        filled: list[str] = []
        if fill_from is not None and fill_from != name:
            spare = waiting.get(fill_from, [])
            filled, waiting[fill_from] = spare[:count], spare[count:]
            places += [(problem, fill_from, name) for problem in filled]
        warnings.append(_shortage(name, wanted[name], count, len(filled), fill_from))
    sizes = _sizes(table, wanted, places)
    for name, population, drawn in zip(sizes["stratum"], sizes["population"], sizes["drawn"], strict=True):
        if population and not drawn:
            warnings.append(f"{_named(name)} is not drawn from: the sample says nothing of its {population}.")
    rows = pd.DataFrame(places, columns=["problem", "stratum", "drawn_for"], dtype="str")
    rows["weight"] = (
        rows["stratum"].map(dict(zip(sizes["stratum"], sizes["weight"], strict=True))).astype(float)
    )
    return Sample(natural_order(rows, ["stratum", "problem"]).reset_index(drop=True), sizes, warnings)


def read_problems(path: str | Path) -> pd.DataFrame:
    """`problem` and `stratum` of a CSV file of problems: its column stratum, else the `buckets` of its columns
    passed and edit_similarity.

    Raises TableError: neither is there, or as `buckets` does.
    """
    table = columns.read_table(Path(path), PROBLEM_COLUMNS, lambda name, rows: [])
    if (table["stratum"] != "").any():
        return table[list(BUCKETED)]
    if table[["passed", "edit_similarity"]].isna().all(axis=None):
        raise TableError(
            f"{Path(path).name} has nothing to draw by: it needs a column stratum, or passed and edit_similarity."
        )
    return buckets(table)


def _problems(table: pd.DataFrame, needed: tuple[str, ...]) -> pd.DataFrame:
    """The table in the order of its problems, whose keys are texts."""
    missing = [column for column in ("problem", *needed) if column not in table]
    if missing:
        raise TableError(f"The table of problems has no column {', '.join(missing)}.")
    table = table.assign(problem=table["problem"].astype(str))
    table = natural_order(table, ["problem"]).reset_index(drop=True)
    _refuse(table, table["problem"].duplicated().to_numpy(), "are there more than once")
    return table


def _refuse(table: pd.DataFrame, bad: np.ndarray, what: str) -> None:
    names = table.loc[bad, "problem"].unique().tolist()
    if names:
        raise TableError(f"The table of problems cannot be used: {len(names)} of its problems {what}.", names)


def _wanted(
    table: pd.DataFrame, per_stratum: int | Mapping[str, int], strata: Sequence[str]
) -> dict[str, int]:
    """How many of each stratum: first those of `strata`, then the others in their natural order."""
    given = per_stratum if isinstance(per_stratum, Mapping) else {}
    others = pd.DataFrame({"stratum": [*table["stratum"].unique(), *given]}, dtype="str").drop_duplicates()
    names = list(dict.fromkeys([*strata, *natural_order(others, ["stratum"])["stratum"]]))
    counts = dict.fromkeys(names, 0) | (
        {str(name): count for name, count in given.items()}
        if isinstance(per_stratum, Mapping)
        else dict.fromkeys(names, per_stratum)
    )
    for count in [*counts.values(), *([] if isinstance(per_stratum, Mapping) else [per_stratum])]:
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise ValueError(f"The problems of a stratum must be a whole number from 0, not {count}.")
    return {name: int(count) for name, count in counts.items()}


def _shuffled(table: pd.DataFrame, stratum: str, seed: int) -> list[str]:
    """The problems of a stratum in the order of the draw: that of hashes which only the seed and the key decide."""
    problems = table.loc[table["stratum"] == stratum, "problem"]
    return sorted(problems, key=lambda problem: (_hash(seed, problem), problem))


def _hash(seed: int, problem: str) -> bytes:
    return blake2b(problem.encode("utf-8", "surrogatepass"), key=seed.to_bytes(16, "big")).digest()


def _shortage(name: str, wanted: int, lacking: int, filled: int, fill_from: str | None) -> str:
    sentence = f"{_named(name)} has only {wanted - lacking} of the {wanted} problems wanted"
    if fill_from is None or fill_from == name:
        return f"{sentence}: the sample is {lacking} smaller."
    source = _named(fill_from)
    if not filled:
        return f"{sentence} and nothing of {source} is left to fill from: the sample is {lacking} smaller."
    if filled == lacking:
        return f"{sentence}: {filled} more of {source} take their place."
    return f"{sentence}: {filled} more of {source} take their place, and the sample is {lacking - filled} smaller."


def _named(stratum: str) -> str:
    return stratum or "(no name)"


def _sizes(table: pd.DataFrame, wanted: dict[str, int], places: list[tuple[str, str, str]]) -> pd.DataFrame:
    there = table["stratum"].value_counts().to_dict()
    rows = []
    for name, count in wanted.items():
        population, drawn = int(there.get(name, 0)), sum(stratum == name for _, stratum, _ in places)
        weight = population / drawn if drawn else np.nan
        rows.append((name, population, count, drawn, weight))
    return pd.DataFrame(rows, columns=list(SIZES)).astype(
        {"stratum": "str", "population": "int64", "wanted": "int64", "drawn": "int64", "weight": "float64"}
    )
