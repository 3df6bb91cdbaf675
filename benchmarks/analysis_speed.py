"""How fast our M-MSR is beside crowd-kit's, and our resampled tau-b beside scipy called for every resample.

`python benchmarks/analysis_speed.py` makes a virtual environment in .cache/ with crowd-kit (the app does not need
it), then times both sides in one process of it, in turns, and stops where labels or taus differ. Grades are
simulated one-coin annotators (seed 1), five grades a snippet; scores are noise on a truth of five levels, five
snippets a problem. Ratios are CPU time of the rival by ours. crowd-kit brings heavy packages: where they cannot be
installed, that part is left out and said so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".cache" / "bench-analysis"
RIVAL = "crowd-kit==1.4.2"
NEEDS = ("scipy", RIVAL)
TURNS = 3
Ints = npt.NDArray[np.int64]


def rival_python() -> Path:
    """The interpreter of the throw-away environment, made on first use."""
    python = ENVIRONMENT / "bin" / "python"
    done = ENVIRONMENT / "rivals.txt"
    wanted = "\n".join([*NEEDS, sys.version])
    if not done.exists() or done.read_text(encoding="utf-8") != wanted:
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *NEEDS], check=True)
        done.write_text(wanted, encoding="utf-8")
    return python


def votes(annotators: int, snippets: int) -> tuple[Ints, Ints, Ints]:
    """(annotator, snippet, label) of five grades a snippet; each annotator is right with a chance of its own."""
    rng = np.random.default_rng(1)
    skill = rng.beta(6, 2, annotators)
    workers = np.concatenate([rng.permutation(annotators)[:5] for _ in range(snippets)])
    tasks = np.repeat(np.arange(snippets), 5)
    right = rng.random(len(tasks)) < skill[workers]
    labels = np.where(right, tasks % 5, (tasks + rng.integers(1, 5, len(tasks))) % 5)
    return workers, tasks, labels


def cpu(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def contest(name: str, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Prints the best of TURNS, taken in turns."""
    times = [(cpu(ours), cpu(theirs)) for _ in range(TURNS)]
    mine, other = (min(column) for column in zip(*times, strict=True))
    print(f"{name:44} {mine:9.4f} {other:9.4f} {other / mine:8.0f}x", flush=True)


def measure_truth() -> None:
    from crowdkit.aggregation import MMSR  # type: ignore[import-not-found]

    from analysis.aggregate import m_msr

    for annotators, snippets in ((16, 2360), (50, 5000), (100, 5000)):
        workers, tasks, labels = votes(annotators, snippets)
        table = pd.DataFrame({"task": tasks, "worker": workers, "label": labels})

        def theirs(table: pd.DataFrame = table) -> pd.Series[int]:
            return MMSR().fit_predict(table)  # type: ignore[no-any-return]

        equal = (theirs().sort_index().to_numpy() == m_msr(workers, tasks, labels).labels).mean()
        if equal < 1:
            sys.exit(f"M-MSR and {RIVAL} give different labels to {1 - equal:.2%} of the snippets.")
        name = f"M-MSR, {annotators} annotators, {snippets} snippets"
        contest(name, lambda w=workers, t=tasks, y=labels: m_msr(w, t, y), theirs)  # type: ignore[misc]


def measure_intervals() -> None:
    from analysis.correlate import draw_counts, kendall_resampled

    rng = np.random.default_rng(1)
    for problems, resamples in ((24, 1000), (472, 1000)):
        y = rng.integers(0, 5, 5 * problems).astype(np.float64)
        x = y + rng.normal(0, 2, len(y))
        clusters = np.repeat(np.arange(problems), 5)
        draws = draw_counts(problems, resamples, seed=1)

        def theirs(x: npt.NDArray[np.float64] = x, y: npt.NDArray[np.float64] = y,
                   clusters: Ints = clusters, draws: npt.NDArray[np.float64] = draws) -> list[float]:  # fmt: skip
            places = [np.repeat(np.arange(len(x)), row[clusters].astype(np.int64)) for row in draws]
            return [float(stats.kendalltau(x[place], y[place]).statistic) for place in places]

        worst = np.abs(kendall_resampled(x, y, clusters, draws) - np.array(theirs())).max()
        if worst > 1e-12:
            sys.exit(f"Our tau-b and scipy's differ by {worst}.")
        name = f"tau-b, {5 * problems} snippets, {resamples} resamples"
        contest(name, lambda x=x, y=y, c=clusters, d=draws: kendall_resampled(x, y, c, d), theirs)  # type: ignore[misc]


def measure() -> None:
    print(f"Python {sys.version.split()[0]}, CPU seconds, best of {TURNS} turns")
    print(f"{'':44} {'ours':>9} {'rival':>9} {'ratio':>9}")
    measure_intervals()
    if find_spec("crowdkit"):
        measure_truth()
        print(f"Labels equal those of {RIVAL}, taus those of scipy to 1e-12.")
    else:
        print(f"{RIVAL} is not installed, so M-MSR was not measured.")


def main() -> int:
    if sys.argv[1:] == ["--measure"]:
        measure()
        return 0
    python = sys.executable
    try:
        python = str(rival_python())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The rival could not be installed: {error}", file=sys.stderr)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run([python, __file__, "--measure"], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
