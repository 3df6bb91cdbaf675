"""Makes wordnet.txt.gz, the synonyms of METEOR, from the dictionary files of WordNet 3.0.

    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb wordnet
    python -m metrics.data.make_wordnet wordnet/usr/share/wordnet

The files are described in wndb(5WN). Four sections, `%noun` to `%adverb`, hold two kinds of lines, sorted:
`!form base ...` is an irregular form with its base forms; any other line is the words of one synonym set.
Sets without a word in small letters and without "_" are left out: no synonym can come from them. So are sets of
one word that a larger set of its section holds too.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
FILE = HERE / "wordnet.txt.gz"
LICENCE = HERE / "WORDNET-LICENSE.txt"
SECTIONS = {"noun": "noun", "verb": "verb", "adjective": "adj", "adverb": "adv"}
SHA256 = "61a845e8040402566bd2dad05d7299620fbc6bfe932c2adf6c0320490bd3111d"
"""Of FILE, as made from Debian's wordnet-base 1:3.0-37."""


def is_synonym(word: str) -> bool:
    """Whether METEOR can match the word: its tokens are in small letters and a lemma with "_" does not count."""
    return word == word.lower() and "_" not in word


def synonym_sets(lines: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The words of each synonym set of a data file, without the place marks of adjectives such as `(p)`."""
    for line in lines:
        if not line.startswith("  "):
            fields = line.split(" ")
            count = int(fields[3], 16)
            yield tuple(sorted({fields[4 + 2 * place].partition("(")[0] for place in range(count)}))


def useful(sets: Iterable[tuple[str, ...]]) -> list[str]:
    """The lines of a section: sets that give a synonym, each once."""
    kept = {words for words in sets if any(map(is_synonym, words))}
    held = {word for words in kept if len(words) > 1 for word in words}
    return sorted(" ".join(words) for words in kept if len(words) > 1 or words[0] not in held)


def exceptions(lines: Iterable[str]) -> list[str]:
    """The lines of irregular forms; where a form is listed twice the last line counts."""
    bases = {form: rest for form, _, rest in (line.strip().partition(" ") for line in lines)}
    return sorted(f"!{form} {rest}" for form, rest in bases.items())


def read(path: Path) -> list[str]:
    """The lines of a dictionary file."""
    return path.read_text(encoding="ascii").splitlines()


def packed(folder: Path) -> bytes:
    """The content of FILE; the same bytes on every run (no name and no time in the header)."""
    lines = []
    for section, suffix in SECTIONS.items():
        irregular = exceptions(read(folder / f"{suffix}.exc"))
        lines += [f"%{section}", *irregular, *useful(synonym_sets(read(folder / f"data.{suffix}")))]
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        file.write("\n".join([*lines, ""]).encode("ascii"))
    return buffer.getvalue()


def licence(folder: Path) -> str:
    """The licence that heads every data file, without the line numbers."""
    head = [line for line in read(folder / "data.noun") if line.startswith("  ")]
    return "\n".join(line.lstrip().partition(" ")[2].rstrip() for line in head).strip() + "\n"


def main(folder: Path) -> None:
    """Writes both files and prints the hash."""
    FILE.write_bytes(packed(folder))
    LICENCE.write_text(licence(folder), encoding="ascii")
    print(hashlib.sha256(FILE.read_bytes()).hexdigest(), FILE.stat().st_size)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
