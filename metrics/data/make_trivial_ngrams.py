"""Makes trivial_ngrams.txt: the 500 most frequent n-grams of Python's own library, one a line, most frequent first.

    python -m metrics.data.make_trivial_ngrams      # with CPython 3.11.7, whose library it then reads

Tests, tables of character sets (encodings) and pages of the manual (pydoc_data) are left out, and so are comments
and docstrings, which are prose. Python and its library are under the PSF licence, version 2.
"""

from __future__ import annotations

import ast
import hashlib
import sysconfig
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path

from metrics.crystalbleu import fingerprint, most_frequent

FILE = Path(__file__).parent / "trivial_ngrams.txt"
LEFT_OUT = {"test", "tests", "idle_test", "site-packages", "dist-packages", "encodings", "pydoc_data"}
SHA256 = "e93bb70a55badaddce94c2328b82be84c78ccd8642e1095876dffb634b569ebe"
"""Of FILE."""


def library(folder: Path) -> Iterator[Path]:
    """The modules, in the order of their paths."""
    for path in sorted(folder.rglob("*.py")):
        if not LEFT_OUT.intersection(path.relative_to(folder).parts):
            yield path


def code(path: Path) -> str:
    """The module without comments and docstrings, in Python's own layout; empty if it is no valid module."""
    with tokenize.open(path) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(file.read())
        except SyntaxError:
            return ""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                del node.body[0]
    return ast.unparse(tree)


def main() -> None:
    """Writes the file and prints its hash and the fingerprint of its n-grams."""
    modules = library(Path(sysconfig.get_path("stdlib")))
    ngrams = most_frequent(code(path) for path in modules)
    FILE.write_text("".join(" ".join(ngram) + "\n" for ngram in ngrams), encoding="utf-8")
    print(hashlib.sha256(FILE.read_bytes()).hexdigest(), fingerprint(ngrams))


if __name__ == "__main__":
    main()
