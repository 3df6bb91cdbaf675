"""Makes crystalbleu.json: scores of the authors' package with the n-grams that Codejury ignores.

    pip install crystalbleu==0.2
    python tests/metrics/golden/make_crystalbleu.py     # from the folder of the project

Only pairs with a match in each order are kept: the package does not smooth, so elsewhere it gives 0.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

from crystalbleu import corpus_bleu

HERE = Path(__file__).parent
IGNORED = HERE.parents[2] / "metrics" / "data" / "trivial_ngrams.txt"
PAIRS = [
    ("x = sorted(d.items(), key=itemgetter(1))", "sorted(d.items(), key=itemgetter(1), reverse=True)"),
    (
        "return json.loads(open(path).read())['items']",
        "with open(path) as f:\n    return json.loads(f.read())['items']",
    ),
    ("os.kill(os.getpid(), signal.SIGUSR1)", "os.kill(os.getpid(), signal.SIGTERM)"),
    ("df.groupby('a').agg({'b': 'sum'}).reset_index()", "df.groupby('a').agg({'b': 'mean'}).reset_index()"),
    ("a b c d e f g h", "a b c d e f g x y z"),
    ("self.assertEqual(foo(bar, baz), 3)", "self.assertEqual(foo(bar, baz), 4)"),
]


def tokens(text: str) -> list[str]:
    """tranX, written anew here from its description."""
    spaced = re.sub(r"([a-z])(?=[A-Z])", r"\1 ", re.sub(r"([^A-Za-z0-9_])", r" \1 ", text))
    return re.sub("['\"]", "`", spaced).split()


def pairs() -> list[tuple[list[str], list[list[str]]]]:
    """Those above and 30 made of words, brackets and dots with seed 1."""
    made = [(tokens(code), [tokens(reference)]) for code, reference in PAIRS]
    rng = random.Random(1)
    for _ in range(30):
        code = rng.choices(["foo", "bar", "self", ".", "(", ")", ",", "baz", "1"], k=30)
        cut = rng.randrange(8, 20)
        made.append((code, [code[:cut], code[cut - 3 :] + ["end"] * rng.randrange(6)]))
    return made


def main() -> None:
    """Writes crystalbleu.json."""
    ignored = {tuple(line.split(" ")): 1 for line in IGNORED.read_text(encoding="utf-8").splitlines()}
    rows = []
    for code, references in pairs():
        score = float(corpus_bleu([references], [code], ignoring=ignored))
        if score > 1e-6:
            rows.append([" ".join(code), [" ".join(reference) for reference in references], score])
    (HERE / "crystalbleu.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="ascii")
    print(len(rows))


if __name__ == "__main__":
    main()
