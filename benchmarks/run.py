"""Runs benchmarks and shows what they print: python -m benchmarks.run [name ...] (or `make bench`)

A benchmark is a file benchmarks/NAME.py that measures ours and the other in the same run and prints the
ratio, or one plain sentence if what it compares with cannot be had here.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def find(names: list[str]) -> list[Path]:
    """The benchmarks whose file name contains one of the words; all without any."""
    files = sorted(path for path in FOLDER.glob("*.py") if path.stem != "run" and path.name[0] != "_")
    chosen = [path for path in files if not names or any(name in path.stem for name in names)]
    if not chosen:
        known = ", ".join(path.stem for path in files) or "none yet"
        sys.exit(f"No such benchmark: {' '.join(names) or 'none is here'}. Known: {known}.")
    return chosen


def main(names: list[str]) -> int:
    failed = []
    for path in find(names):
        print(f"== {path.stem}", flush=True)
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{path.stem}"],
            cwd=FOLDER.parent,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        print(f"   ({time.perf_counter() - start:.1f} s)\n", flush=True)
        if done.returncode:
            failed.append(path.stem)
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
