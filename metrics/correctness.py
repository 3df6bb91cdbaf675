"""Numbers from test results: pass@k, PassRatio, AvgPassRatio, Executability, COMBINED."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from metrics.base import MissingInput

ERRORS = (-1, -2)
"""How stored results write a test that ended in an error: while running, and while compiling."""


def pass_at_k(n: npt.ArrayLike, c: npt.ArrayLike, k: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The unbiased estimate of pass@k for each problem: 1 - C(n - c, k) / C(n, k), from 0 to 1.

    n: samples of the problem; c: those that passed; k: how many a user would look at. Numbers or arrays, which
    are broadcast; the mean over the problems is the score of a system. Raises ValueError unless
    0 <= c <= n and 1 <= k <= n, whole numbers. Chen et al. 2021, arXiv 2107.03374.
    """
    grids = np.broadcast_arrays(*(np.asarray(values) for values in (n, c, k)))
    if grids[0].size and not all(np.issubdtype(grid.dtype, np.integer) for grid in grids):
        raise ValueError("pass@k needs whole numbers of samples.")
    samples, right, looks = grids
    if np.any(right < 0) or np.any(right > samples):
        raise ValueError("pass@k needs from 0 to n samples that passed.")
    if np.any(looks < 1) or np.any(looks > samples):
        raise ValueError("pass@k needs at least k samples of each problem, and k of at least 1.")
    scores = [_pass_at_k(*map(int, row)) for row in zip(samples.flat, right.flat, looks.flat, strict=True)]
    return np.array(scores, dtype=np.float64).reshape(samples.shape)


def _pass_at_k(n: int, c: int, k: int) -> float:
    if n - c < k:
        return 1.0
    return float(1 - np.prod(1 - k / np.arange(n - c + 1, n + 1)))


def pass_ratio(passed: Sequence[bool]) -> float:
    """The share of a program's tests that it passed, from 0 to 1; a test that did not end counts as not passed.

    Raises MissingInput without tests. Dong et al. 2023 (CodeScore), arXiv 2301.09043, equation 1.
    """
    if not len(passed):
        raise MissingInput("PassRatio needs at least one test.")
    return sum(map(bool, passed)) / len(passed)


def average_pass_ratio(ratios: Iterable[float]) -> float:
    """AvgPassRatio: the mean PassRatio over programs, each with the same weight, from 0 to 1.

    Raises MissingInput without programs. Hendrycks et al. 2021 (APPS), arXiv 2105.09938.
    """
    values = list(ratios)
    if not values:
        raise MissingInput("AvgPassRatio needs at least one program.")
    return math.fsum(values) / len(values)


def stored_pass_ratio(results: Sequence[bool | int]) -> float:
    """PassRatio of stored results, one a test: true, false, -1 (error while running), -2 (while compiling).

    Both errors count as not passed. From 0 to 1. Raises MissingInput without tests, ValueError for another value.
    """
    for result in results:
        if not isinstance(result, bool | np.bool_) and result not in ERRORS:
            raise ValueError(f"A stored result is true, false, -1 or -2, not {result!r}.")
    return pass_ratio([isinstance(result, bool | np.bool_) and bool(result) for result in results])


def stored_executable(results: Sequence[bool | int]) -> bool:
    """Executability of stored results: no test ended in an error. Raises as `stored_pass_ratio`."""
    stored_pass_ratio(results)
    return not any(result in ERRORS for result in results)


def combined(passed: bool | float | None, edit_similarity: float | None) -> float | None:
    """COMBINED = min(1, PASS + EDIT-SIM), from 0 to 1. Dibia et al. 2023, arXiv 2210.16494, equation 1.

    passed: PASS, or pass@1 of several samples. None or NaN is a missing value: then the result is None, also where
    the other value alone would make it 1 (else the programs with a missing part would be those that did badly).
    Raises ValueError for values outside 0 to 1.
    """
    if passed is None or edit_similarity is None or math.isnan(passed) or math.isnan(edit_similarity):
        return None
    if not (0 <= passed <= 1 and 0 <= edit_similarity <= 1):
        raise ValueError(f"COMBINED needs values from 0 to 1, not {passed} and {edit_similarity}.")
    return min(1.0, float(passed) + edit_similarity)
