"""Makes meteor.json: stems, synonyms and METEOR scores as NLTK computes them with Debian's WordNet 3.0.

    pip install nltk==3.10.4
    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb wordnet
    python tests/metrics/golden/make_meteor.py wordnet/usr/share/wordnet

NLTK wants a file `lexnames` that Debian leaves out and a version line that Debian's files lack; the class and the
file below stand in for both. Run it from the folder of the project.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nltk
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score

HERE = Path(__file__).parent
LEXICAL_FILES = 45

_STEMS = """
caresses ponies ties flies dies tie caress cats s as feed agreed plastered bled motoring sing
conflated troubled sized hopping tanned falling hissing fizzed failing filing happy sky enjoy spy
fly by yyy toy syzygy said spied died relational conditional rational valenci hesitanci digitizer
conformabli radicalli differentli vileli analogousli vietnamization predication operator feudalism
decisiveness hopefulness callousness formaliti sensitiviti sensibiliti hopefulli theologi geologi
logi archaeologi triplicate formative formalize electriciti electrical hopeful goodness revival
allowance inference airliner gyroscopic adjustable defensible irritant replacement adjustment
dependent adoption onion homologou communism activate angulariti homologous effective bowdlerize
probate rate cease controll roll all skies dying news innings outing cannings howe proceed exceed
succeed rationally finally totalli ateing atting getting setter setters values value dictionary
dictionaries keys indices index indexes sorted sorting sorts arrays matrices nested strings joined
iterates iteration x ab é größe über 123 1st _private snake_case_names eed ing ed eeing aeed bling
zed geology archaeology
"""
STEMS = _STEMS.split()

_SYNONYMS = """
geese mice men better best went goes running ran lists list keys words now big larger was is cd a i
one 10 look_up well-known string sort file files washington quickly ox oxen analyses indices dies
ties axes
"""
SYNONYMS = _SYNONYMS.split()

PAIRS = [
    ("x = foo('a', b)", "x = foo(`a`, b)"),
    ("foo", "foo"),
    ("foo(bar)", "foo(baz)"),
    ("a b c d", "d c b a"),
    ("a a a b", "a b a"),
    ("sortedList(d)", "sorted_lists(d)"),
    ("sorting lists of words", "sort a list of word"),
    ("the big car is fast", "a large automobile was quick"),
    ("one 1 single unity", "1 unity one I"),
    ("sorted(d.items(), key=lambda x: x[1])", "sorted(list(d.values()), key=itemgetter(1))"),
    ("for (int i = 0; i < n; i++) { total += values[i]; }", "for (int value : values) sum += value;"),
    ("std::vector<int> result;\nreturn result;", "vector<int> results; return results;"),
    ("NOW() AT TIME ZONE", "now() at time zones"),
    ("größe = 'ß'", "grösse = 'ss'"),
    ("\0 \ud800", "\ud800 \0"),
    ("", ""),
    ("", "x"),
    ("nothing shared", "( )"),
]


class Debian(WordNetCorpusReader):  # type: ignore[misc]
    """WordNet without the table of versions."""

    def map_wn(self, *_: Any) -> None:
        return None


def reader(dictionary: Path) -> Debian:
    """NLTK's reader of a copy of the dictionary files."""
    folder = Path(tempfile.mkdtemp()) / "wordnet"
    shutil.copytree(dictionary, folder)
    (folder / "lexnames").write_text(
        "".join(f"{place:02}\tname{place}\t1\n" for place in range(LEXICAL_FILES))
    )
    nltk.data.path.append(str(folder.parent))
    return Debian(str(folder), None)


def synonyms(wordnet: Debian, word: str) -> list[str]:
    """As single_meteor_score collects them."""
    names = {lemma.name() for synset in wordnet.synsets(word) for lemma in synset.lemmas()}
    return sorted({name for name in names if "_" not in name} | {word})


def prose(wordnet: Debian, count: int) -> list[tuple[str, str]]:
    """Pairs of texts of words that are forms and synonyms of each other, drawn with seed 1."""
    rng = random.Random(1)
    pool = sorted({name for word in SYNONYMS for name in synonyms(wordnet, word)} | {*STEMS, *SYNONYMS})
    pairs = []
    for _ in range(count):
        code = [rng.choice(pool) for _ in range(rng.randint(1, 15))]
        reference = [rng.choice([word, word + "s", *synonyms(wordnet, word.lower())]) for word in code]
        rng.shuffle(reference) if rng.random() < 0.5 else None
        pairs.append((" ".join(code), " ".join(reference[: rng.randint(1, 15)])))
    return pairs


def cuts(text: str) -> dict[str, list[str]]:
    """The tokens of both metrics; tranX written anew here, from its description."""
    spaced = re.sub(r"([a-z])(?=[A-Z])", r"\1 ", re.sub(r"([^A-Za-z0-9_])", r" \1 ", text))
    return {"meteor": re.sub("['\"]", "`", spaced).split(), "meteor-whitespace": text.split()}


def main(dictionary: Path) -> None:
    """Writes meteor.json."""
    wordnet = reader(dictionary)
    scores = []
    for code, reference in [*PAIRS, *prose(wordnet, 60)]:
        for name, tokens in cuts(code).items():
            score = single_meteor_score(cuts(reference)[name], tokens, wordnet=wordnet)
            scores.append([name, code, reference, float(score)])
    golden = {
        "nltk": nltk.__version__,
        "stems": {word: PorterStemmer().stem(word) for word in STEMS},
        "synonyms": {word: synonyms(wordnet, word) for word in SYNONYMS},
        "scores": scores,
    }
    text = json.dumps(golden, indent=None, separators=(",\n", ": "))
    (HERE / "meteor.json").write_text(text + "\n", encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
