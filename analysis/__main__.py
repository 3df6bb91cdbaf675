"""`python -m analysis`: the app's computations on CSV files, without the app."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from analysis import aggregate, columns, report

DESCRIPTION = """From the CSV files that Codejury exports (docs/columns.md) to ground truth and reports.

Of the columns of GRADES.csv only problem, system, annotator and grade must be there."""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="python -m analysis",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    one = commands.add_parser(
        "aggregate",
        help="one truth a snippet from the grades of several annotators",
        description="Writes one row a snippet: question, problem, system, sample, truth, n (grades), mean. "
        "Grades of references, surplus and excluded grades do not count.",
    )
    one.add_argument("grades", metavar="GRADES.csv")
    one.add_argument(
        "--method",
        choices=list(aggregate.METHODS),
        default="m-msr",
        help="m-msr weighs annotators by how they agree with each other; mean is the mean grade (default: m-msr)",
    )
    one.add_argument(
        "--output", metavar="FILE", required=True, help="the CSV file to write, or - for the terminal"
    )
    whole = commands.add_parser(
        "report",
        help="truth, correlations with metrics, tables and figures",
        description="Writes truth.csv, correlations.csv, more tables, figures/*.svg and report.json into a folder. "
        "The same files, seed and settings give the same bytes.",
    )
    whole.add_argument("grades", metavar="GRADES.csv")
    whole.add_argument("scores", metavar="SCORES.csv")
    whole.add_argument("--output", metavar="DIR", required=True, help="the folder; made if missing")
    whole.add_argument("--seed", type=int, required=True, help="of the resampling")
    whole.add_argument("--resamples", type=int, default=1000, help="for the intervals (default: 1000)")
    whole.add_argument(
        "--aggregator", choices=list(aggregate.METHODS), default="m-msr", help="(default: m-msr)"
    )
    whole.add_argument(
        "--decimals",
        type=int,
        choices=range(13),
        help="round scores to so many first (default: do not round)",
    )
    whole.add_argument("--study", default="", help="a name to write into report.json")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 2 with a sentence on stderr and nothing written."""
    options = parser().parse_args(arguments)
    try:
        if options.command == "aggregate":
            write_truth(options.grades, options.method, options.output)
        else:
            write_report(options)
    except (ValueError, OSError) as error:
        print(f"analysis: {_sentence(error)}", file=sys.stderr)
        return 2
    return 0


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"Cannot use {error.filename}: {error.strerror}."
    return str(error)


def write_truth(grades: str, method: str, output: str) -> None:
    truth = aggregate.aggregate(columns.read_grades(grades), method)
    for warning in truth.warnings:
        print(f"Note: {warning}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "truth.csv"
        columns.write_csv(truth.table, made)
        if output == "-":
            sys.stdout.write(made.read_text(encoding="utf-8"))
            return
        _put(made, Path(output))
    print(f"{output}: the truth of {len(truth.table)} snippets by {method}.")


def write_report(options: argparse.Namespace) -> None:
    if options.resamples < 1:
        raise ValueError(f"--resamples must be at least 1, not {options.resamples}.")
    if options.seed < 0:
        raise ValueError(f"--seed must be a whole number from 0, not {options.seed}.")
    grades, scores = columns.read_grades(options.grades), columns.read_scores(options.scores)
    folder = Path(options.output)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: --output must name a folder.")
    with tempfile.TemporaryDirectory() as temporary:
        made = report.build(
            grades,
            scores,
            Path(temporary),
            seed=options.seed,
            resamples=options.resamples,
            aggregator=options.aggregator,
            decimals=options.decimals,
            study=options.study,
            progress=progress_bar if sys.stderr.isatty() else None,
        )
        for path in sorted(Path(temporary).rglob("*")):
            if path.is_file():
                _put(path, folder / path.relative_to(temporary))
    for warning in made["warnings"]:
        print(f"Note: {warning}", file=sys.stderr)
    print(f"The report is in {folder}.")


def _put(made: Path, place: Path) -> None:
    """Copies a finished file beside its place and renames it: the place never holds half a file."""
    if place.is_dir():
        raise ValueError(f"{place} is a folder: give the name of a file.")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}.", delete=False) as beside:
        pass
    try:
        shutil.copyfile(made, beside.name)
        umask = os.umask(0)
        os.umask(umask)
        Path(beside.name).chmod(0o666 & ~umask)
        Path(beside.name).replace(place)
    except BaseException:
        Path(beside.name).unlink(missing_ok=True)
        raise


def progress_bar(done: int, total: int, text: str) -> None:
    filled = 30 * done // max(total, 1)
    end = "\n" if done >= total else ""
    print(f"\r[{'#' * filled}{' ' * (30 - filled)}] {text:<40}", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
