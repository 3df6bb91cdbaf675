"""`python -m metrics`: scores of generated code on the command line."""

from __future__ import annotations

import argparse
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import metrics
from metrics.table import BadInput, read_snippets, write_scores

DESCRIPTION = "Automatic metrics of generated code. Text in, scores from 0 to 1 out."
SCORE_HELP = """\
Score every snippet by every metric asked for, and write one row for each of both.

SNIPPETS.jsonl holds one JSON object a line (UTF-8):
  {"problem": "12", "system": "codex", "code": "f(a)", "references": ["f(b)", "g(a)"]}
  problem, system   names, as text or whole numbers
  code              what the system wrote; may be empty
  references        what people wrote: a list of texts, or one text; `reference` is read too
  sample            optional (0 if absent): tells a system's several answers to a problem apart

SNIPPETS.csv holds the same as columns. There `references` is a JSON list of texts, or else one text, and an
empty cell means none. Codejury's CSV files set an apostrophe before a cell that begins with = + - @, a tab or
a carriage return, because spreadsheets would run it; the apostrophe is taken off on reading. Code that truly
begins with an apostrophe and such a character belongs in a .jsonl file.

SCORES.csv gets the columns problem, system, sample, metric, signature, score. The signature says how the
score came about; scores have full precision, and one that is undefined is an empty cell. The file appears
whole or not at all.
"""
EPILOG = """\
example:
  python -m metrics score snippets.jsonl --metric bleu --metric chrf --output scores.csv

exit status: 0 if all is well, 2 if something was wrong with the call or the files (nothing is written then).
"""
MOST_PROBLEMS = 100
CHUNK = 64


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence; the usage is behind --help."""

    def error(self, message: str) -> NoReturn:
        text = message[:1].upper() + message[1:]
        self.exit(2, f"{text.rstrip('.')}. See {self.prog} --help.\n")


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


positive.__name__ = "whole number above 0"


def parser() -> argparse.ArgumentParser:
    main = Parser(prog="python -m metrics", description=DESCRIPTION, epilog=EPILOG)
    main.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser(
        "list",
        help="print the metrics: name, paper, signature",
        description="Print one line for each metric: name, paper and signature, between tabs.",
    )
    score = commands.add_parser(
        "score",
        help="score the snippets of a file",
        description=SCORE_HELP,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    score.add_argument("snippets", metavar="SNIPPETS", type=Path, help="a .jsonl or .csv file (see above)")
    score.add_argument(
        "--metric",
        action="append",
        required=True,
        metavar="NAME",
        help=f"may be given several times; one of {', '.join(metrics.names())}",
    )
    score.add_argument("--output", type=Path, required=True, metavar="SCORES.csv", help="where to write")
    score.add_argument(
        "--jobs", type=positive, default=1, metavar="N", help="processes to work in (default 1)"
    )
    return main


def print_list() -> None:
    for name in metrics.names():
        metric = metrics.get(name)
        print(name, metric.paper, metric.signature, sep="\t")


def score_chunk(names: Sequence[str], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(metrics.score_rows(rows, names))


def scored(rows: list[dict[str, Any]], names: Sequence[str], *, jobs: int) -> Iterator[dict[str, Any]]:
    """The scores in the order of the rows, whatever the number of processes."""
    chunks = [rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK)]
    work = partial(score_chunk, names)
    if jobs == 1:
        yield from progress(map(work, chunks), len(rows))
        return
    # Control-C reaches every process; only this one answers.
    quiet = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(min(jobs, len(chunks)), initializer=quiet) as pool:
        yield from progress(pool.map(work, chunks), len(rows))


def progress(chunks: Iterator[list[dict[str, Any]]], total: int) -> Iterator[dict[str, Any]]:
    """Hands on the scores of each chunk; draws a bar if a person is looking."""
    drawn = sys.stderr.isatty()
    for number, chunk in enumerate(chunks, 1):
        yield from chunk
        if drawn:
            done = min(number * CHUNK, total)
            bar = "#" * (30 * done // total)
            end = "\n" if done == total else ""
            print(f"\r[{bar:<30}] {done:,} of {total:,} snippets", end=end, file=sys.stderr, flush=True)


def tell(text: str) -> None:
    print(text, file=sys.stderr)


def checked_output(path: Path, *, source: Path) -> Path:
    """Where to write, links followed; raises BadInput before any work where that cannot be."""
    output = path.resolve()
    reason = ""
    if output.exists() and not output.is_file():
        reason = "that is not a file"
    elif not output.parent.is_dir():
        reason = f"there is no folder {output.parent}"
    elif output == source.resolve():
        reason = "that is the file of the snippets"
    if reason:
        raise BadInput(f"Cannot write {path}: {reason}.")
    return output


def run_score(options: argparse.Namespace) -> None:
    chosen = list(dict.fromkeys(options.metric))
    needs = frozenset[str]().union(*(metrics.get(name).needs for name in chosen))
    output = checked_output(options.output, source=options.snippets)
    try:
        rows = read_snippets(options.snippets, need_references="references" in needs, note=tell)
    except OSError as error:
        raise BadInput(f"Cannot read {options.snippets}: {error.strerror}.") from None
    undefined: Counter[tuple[str, str]] = Counter()

    def counted() -> Iterator[dict[str, Any]]:
        for row in scored(rows, chosen, jobs=options.jobs):
            if row["score"] is None:
                undefined[row["metric"], row["undefined"]] += 1
            yield row

    try:
        write_scores(output, counted())
    except OSError as error:
        raise BadInput(f"Cannot write {output}: {error.strerror}.") from None
    except BrokenProcessPool:
        raise BadInput("A process was killed, perhaps for want of memory; try a smaller --jobs.") from None
    for (name, why), number in sorted(undefined.items()):
        tell(f"{name} is undefined for {number:,} of {len(rows):,} snippets: {why}")
    print(f"Wrote {len(rows) * len(chosen):,} scores of {len(rows):,} snippets to {output}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit status: 0, 2 for bad input, 130 if interrupted."""
    options = parser().parse_args(arguments)
    try:
        print_list() if options.command == "list" else run_score(options)
    except BadInput as error:
        for problem in error.problems[:MOST_PROBLEMS]:
            tell(problem)
        if len(error.problems) > MOST_PROBLEMS:
            tell(f"... and {len(error.problems) - MOST_PROBLEMS:,} more.")
        return 2
    except (metrics.UnknownMetric, metrics.MissingInput) as error:
        tell(str(error))
        return 2
    except KeyboardInterrupt:
        tell("\nStopped; nothing was written.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
