"""How fast our ROUGE-L and edit similarity are beside rapidfuzz and rouge-score, and that all agree.

`python benchmarks/metrics_speed.py` makes a virtual environment in .cache/ with the rivals (the app needs
none of them), then times everything in one process of it, in turns. It prints snippets a second, and our
speed as a ratio of the rival's. Snippets are lines and stretches of Python's own library; the code to be
scored is a damaged copy (seed 1). rapidfuzz is C++; we are plain Python and slower, most of all in edit
similarity: the point of our own code is one dependency less at a speed that scoring does not feel.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".cache" / "bench-metrics"
RIVALS = ("rapidfuzz==3.14.6", "rouge-score==0.1.2")
SOURCES = ("argparse", "textwrap", "shutil", "csv", "difflib")
TURNS = 5
Pairs = list[tuple[str, str]]
Score = Callable[[str, str], float]


def rival_python() -> Path:
    """The interpreter of the throw-away environment, made on first use."""
    python = ENVIRONMENT / "bin" / "python"
    done = ENVIRONMENT / "rivals.txt"
    wanted = "\n".join([*RIVALS, sys.version])
    if not done.exists() or done.read_text(encoding="utf-8") != wanted:
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *RIVALS], check=True)
        done.write_text(wanted, encoding="utf-8")
    return python


def damaged(text: str, rng: random.Random) -> str:
    """The text after edits to about one word in four."""
    words = text.split(" ")
    for _ in range(max(1, len(words) // 4)):
        place = rng.randrange(len(words))
        words[place] = rng.choice(["x", "foo(a)", "", words[place][::-1], "return None"])
    return " ".join(words)


def snippets() -> dict[str, Pairs]:
    """(code, reference) pairs by the sort of text: single lines, and stretches of 60 lines."""
    rng = random.Random(1)
    library = Path(sysconfig.get_paths()["stdlib"])
    texts = [(library / f"{name}.py").read_text(encoding="utf-8") for name in SOURCES]
    lines = [line.strip() for text in texts for line in text.splitlines() if 20 <= len(line.strip()) <= 120]
    long = ["\n".join(lines[start : start + 60]) for start in range(0, 1200, 60)]
    short = rng.sample(lines, 1000)
    return {
        "lines of 20 to 120 characters": [(damaged(text, rng), text) for text in short],
        "stretches of 60 lines": [(damaged(text, rng), text) for text in long],
    }


def contests() -> list[tuple[str, Score, dict[str, Score]]]:
    """What is measured: name, our function, rival functions. All do the whole metric, tokens included."""
    from rapidfuzz.distance import LCSseq, Levenshtein  # type: ignore[import-not-found]
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-not-found]

    from metrics.edit_similarity import EditSimilarity
    from metrics.rouge import RougeL
    from metrics.tokenizers import tranx

    class Tranx:
        tokenize = staticmethod(tranx)

    scorer = RougeScorer(["rougeL"], tokenizer=Tranx())

    def by_rouge_score(code: str, reference: str) -> float:
        return float(scorer.score(reference, code)["rougeL"].fmeasure)

    def by_lcsseq(code: str, reference: str) -> float:
        left, right = tranx(code), tranx(reference)
        return 2 * LCSseq.similarity(left, right) / (len(left) + len(right))

    return [
        ("rouge-l", RougeL().pair, {RIVALS[1]: by_rouge_score, RIVALS[0]: by_lcsseq}),
        ("edit-similarity", EditSimilarity().pair, {RIVALS[0]: Levenshtein.normalized_similarity}),
    ]


def seconds(function: Score, pairs: Pairs) -> float:
    start = time.process_time()
    for code, reference in pairs:
        function(code, reference)
    return time.process_time() - start


def measure() -> None:
    """Prints the table; stops with a sentence where a rival's score is not ours."""
    print(f"Python {sys.version.split()[0]}, one core, CPU time, best of {TURNS} turns")
    print(f"{'metric':16} {'text':30} {'ours/s':>9} {'rival':20} {'rival/s':>9} {'ours : rival':>12}")
    for sort, pairs in snippets().items():
        for name, ours, rivals in contests():
            for rival, theirs in rivals.items():
                worst = max(abs(ours(*pair) - theirs(*pair)) for pair in pairs)
                if worst > 1e-12:
                    sys.exit(f"{name} and {rival} differ by {worst}.")
                times = [(seconds(ours, pairs), seconds(theirs, pairs)) for _ in range(TURNS)]
                mine, other = (min(column) for column in zip(*times, strict=True))
                rates = f"{len(pairs) / mine:9,.0f} {rival:20} {len(pairs) / other:9,.0f}"
                print(f"{name:16} {sort:30} {rates} {other / mine:11.2f}x")
    installed = ", ".join(f"{name} {version(name)}" for name in ("rapidfuzz", "rouge-score"))
    print(f"All scores equal those of {installed} to 1e-12.")


def main() -> int:
    if sys.argv[1:] == ["--measure"]:
        measure()
        return 0
    try:
        python = rival_python()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The rivals could not be installed, so nothing was measured: {error}", file=sys.stderr)
        return 1
    command = [str(python), __file__, "--measure"]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
