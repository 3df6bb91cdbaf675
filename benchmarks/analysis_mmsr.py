"""How fast our M-MSR is beside crowd-kit's, and our bootstrapped tau beside one scipy call a resample.

`python -m benchmarks.analysis_mmsr` makes a virtual environment in .cache/ with crowd-kit (about 800 MB; the
app does not need it) and times everything in one process of it, in turns, on one core. Every label and every
tau must be equal, else it stops. Grades are simulated (seed 1): each annotator gives the true grade with a
probability of their own, else any other. Where crowd-kit cannot be installed, only tau is measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from analysis.aggregate import m_msr
from analysis.correlate import draw_counts, kendall_resampled

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".cache" / "bench-analysis"
RIVAL = "crowd-kit==1.4.2"
OURS = ("numpy", "pandas", "scipy")
"""In the throw-away environment in the same versions as here."""
STUDIES = [(16, 2360, 5), (50, 5000, 5), (100, 5000, 5)]
"""Annotators, snippets, grades a snippet. The first is as large as the published CoNaLa study."""
KINDS, TURNS, SEED = 5, 3, 1
SNIPPETS, SYSTEMS, RESAMPLES = 2360, 5, 1000
Ints = npt.NDArray[np.int64]


def rival_python() -> Path:
    """The interpreter of the throw-away environment, made on first use."""
    python = ENVIRONMENT / "bin" / "python"
    done = ENVIRONMENT / "rivals.txt"
    wanted = [RIVAL, *(f"{name}=={version(name)}" for name in OURS)]
    if not done.exists() or done.read_text(encoding="utf-8") != "\n".join([*wanted, sys.version]):
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *wanted], check=True)
        done.write_text("\n".join([*wanted, sys.version]), encoding="utf-8")
    return python


def simulated(workers: int, tasks: int, each: int) -> tuple[Ints, Ints, Ints]:
    """Votes of annotators with skills around 0.75: (n,) annotator, task and label."""
    rng = np.random.default_rng(SEED)
    skills = rng.beta(6, 2, workers)
    who = np.concatenate([rng.choice(workers, each, replace=False) for _ in range(tasks)])
    task = np.repeat(np.arange(tasks), each)
    true = rng.integers(KINDS, size=tasks)[task]
    wrong = (true + rng.integers(1, KINDS, size=len(true))) % KINDS
    return who, task, np.where(rng.random(len(true)) < skills[who], true, wrong)


def seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def fastest(*functions: Callable[[], object]) -> list[float]:
    """The best CPU time of each over TURNS turns; in a turn each runs once."""
    turns = [[seconds(function) for function in functions] for _ in range(TURNS)]
    return [min(column) for column in zip(*turns, strict=True)]


def race_m_msr() -> None:
    if find_spec("crowdkit") is None:
        print("crowd-kit is not installed here: M-MSR is not compared.\n")
        return
    from crowdkit.aggregation import MMSR  # type: ignore[import-not-found]

    def by_crowd_kit(table: pd.DataFrame) -> pd.Series:
        return MMSR().fit_predict(table)  # type: ignore[no-any-return]

    print(f"M-MSR, seconds of CPU time, best of {TURNS} turns (crowd-kit {version('crowd-kit')})")
    print(f"{'annotators':>10} {'snippets':>9} {'grades':>8} {'ours':>8} {'crowd-kit':>10} {'ratio':>7}")
    for workers, tasks, each in STUDIES:
        votes = simulated(workers, tasks, each)
        table = pd.DataFrame(dict(zip(("worker", "task", "label"), votes, strict=True)))
        theirs = by_crowd_kit(table).sort_index().to_numpy()
        equal = int((m_msr(*votes).labels == theirs).sum())
        if equal < tasks:
            sys.exit(f"{tasks - equal} of {tasks} labels differ from crowd-kit's.")
        mine, other = fastest(partial(m_msr, *votes), partial(by_crowd_kit, table))
        print(f"{workers:10} {tasks:9} {len(table):8} {mine:8.3f} {other:10.3f} {other / mine:6.0f}x")
    print("All labels are equal.\n")


def race_tau() -> None:
    rng = np.random.default_rng(SEED)
    truth = rng.integers(KINDS, size=SNIPPETS).astype(float)
    score = np.round(0.1 * truth + rng.random(SNIPPETS), 3)
    problem = np.arange(SNIPPETS) // SYSTEMS
    draws = draw_counts(SNIPPETS // SYSTEMS, RESAMPLES, SEED)

    def one_by_one() -> npt.NDArray[np.float64]:
        found = []
        for row in draws:
            rows = np.repeat(np.arange(SNIPPETS), row[problem].astype(int))
            found.append(stats.kendalltau(score[rows], truth[rows]).statistic)
        return np.array(found)

    def together() -> npt.NDArray[np.float64]:
        return kendall_resampled(score, truth, problem, draws)

    worst = float(np.abs(one_by_one() - together()).max())
    if worst > 1e-12:
        sys.exit(f"Our tau-b and scipy's differ by {worst}.")
    mine, other = fastest(together, one_by_one)
    print(
        f"tau-b of {SNIPPETS} snippets in {RESAMPLES} resamples of {SNIPPETS // SYSTEMS} problems, CPU time"
    )
    print(
        f"ours {mine:.3f} s, scipy {version('scipy')} resample by resample {other:.3f} s: {other / mine:.1f}x"
    )
    print(f"The largest difference is {worst:.0e}.")


def main() -> int:
    if sys.argv[1:] == ["--measure"]:
        print(f"Python {sys.version.split()[0]}, one core")
        race_m_msr()
        race_tau()
        return 0
    try:
        python = rival_python()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"crowd-kit could not be installed, so M-MSR is not compared: {error}", file=sys.stderr)
        python = Path(sys.executable)
    one_core = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [str(python), "-m", "benchmarks.analysis_mmsr", "--measure"]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **one_core}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
