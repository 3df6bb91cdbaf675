"""What is graded in the benchmark: 2,800 short pieces of Python with a sentence, the same for every tool."""

from __future__ import annotations

import random
import sysconfig
from dataclasses import dataclass
from pathlib import Path

SYSTEMS = ("model-a", "model-b", "model-c", "model-d")
PROBLEMS = 560
"""With a reference each: 560 x 5 = 2,800 items."""
SOURCES = (
    "argparse",
    "ast",
    "configparser",
    "csv",
    "difflib",
    "optparse",
    "shutil",
    "subprocess",
    "textwrap",
)


@dataclass(frozen=True)
class Piece:
    problem: str
    intent: str
    system: str
    code: str


def pieces(problems: int = PROBLEMS) -> list[Piece]:
    """Stretches of 1 to 12 lines of Python's own library (seed 1), five for each problem."""
    rng = random.Random(1)
    library = Path(sysconfig.get_paths()["stdlib"])
    lines = [
        line.rstrip()
        for name in SOURCES
        for line in (library / f"{name}.py").read_text(encoding="utf-8").splitlines()
        if 8 <= len(line.strip()) <= 100 and '"""' not in line
    ]
    found = []
    for number in range(problems):
        intent = f"Write code number {number}: {' '.join(rng.choice(lines).split())} with `{rng.choice(lines).strip()}`"
        for system in (*SYSTEMS, "reference"):
            start, length = rng.randrange(len(lines) - 12), rng.randint(1, 12)
            found.append(Piece(f"p{number}", intent, system, "\n".join(lines[start : start + length])))
    return found
