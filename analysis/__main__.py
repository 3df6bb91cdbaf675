"""`python -m analysis`: the app's computations on CSV files, without the app."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis import aggregate, columns, quality, report, sampling

DESCRIPTION = """From the CSV files that Codejury exports (docs/columns.md) to ground truth, reports and quality.

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
    _quality_options(
        commands.add_parser(
            "quality",
            help="pace, sameness, checks and agreement of each annotator, and whom an exclusion rule would drop",
            description="Writes one row an annotator. With --rule: the numbers behind the rule, flagged, excluded and "
            "reason. Nothing is excluded by it; exclusions already in GRADES.csv are ignored.",
            epilog=_known_rules(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    _sample_options(
        commands.add_parser(
            "sample",
            help="draw problems from strata, with their weights",
            description="Writes one row a problem drawn: problem, stratum, drawn_for, weight. TABLE.csv has a column "
            "problem and either stratum or, of one anchor system, passed (0 or 1) and edit_similarity (0 to 1), from "
            "which the strata pass-low, fail-high and agree are made.",
        )
    )
    return top


def _quality_options(one: argparse.ArgumentParser) -> None:
    one.add_argument("grades", metavar="GRADES.csv")
    one.add_argument("--scores", metavar="SCORES.csv", help="with PASS of each snippet, for performance")
    one.add_argument(
        "--pass-metric", metavar="NAME", default="pass", help="of PASS in SCORES.csv (default: pass)"
    )
    one.add_argument("--rule", metavar="NAME", choices=list(quality.RULES), help="see below")
    one.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a parameter of the rule; as many as you like",
    )
    one.add_argument(
        "--output",
        metavar="FILE",
        default="-",
        help="the CSV file to write, or - for the terminal (default: -)",
    )


def _known_rules() -> str:
    lines = ["Rules and their parameters:"]
    for rule in quality.RULES.values():
        lines += ["", *textwrap.wrap(f"{rule.name} (version {rule.version}): {rule.description}", 100)]
        for key, parameter in rule.parameters.items():
            default = "" if parameter.default in (None, "") else f" (default: {parameter.default})"
            lines.append(f"  {key}: {parameter.text}{default}")
    return "\n".join(lines)


def _sample_options(one: argparse.ArgumentParser) -> None:
    one.add_argument("table", metavar="TABLE.csv")
    one.add_argument(
        "--per-stratum",
        metavar="N",
        action="append",
        required=True,
        help="problems to draw from each stratum; or STRATUM=N, once for each to draw from",
    )
    one.add_argument("--seed", type=int, required=True, help="of the draw")
    one.add_argument(
        "--fill-from",
        metavar="STRATUM",
        default=sampling.AGREE,
        help="draws what a stratum lacks; empty: nothing does (default: agree)",
    )
    one.add_argument(
        "--output", metavar="FILE", required=True, help="the CSV file to write, or - for the terminal"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 2 with a sentence on stderr and nothing written."""
    options = parser().parse_args(arguments)
    try:
        if options.command == "aggregate":
            write_truth(options.grades, options.method, options.output)
        elif options.command == "report":
            write_report(options)
        elif options.command == "quality":
            write_quality(options)
        else:
            write_sample(options)
    except (ValueError, OSError) as error:
        print(f"analysis: {_sentence(error)}", file=sys.stderr)
        return 2
    return 0


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"Cannot use {error.filename}: {error.strerror}."
    return str(error)


def write_truth(grades: str, method: str, output: str) -> None:
    table = columns.read_grades(grades)
    if method == "m-msr":
        aggregate.check_shared(table)
    truth = aggregate.aggregate(table, method)
    _deliver(truth.table, output, f"the truth of {len(truth.table)} snippets by {method}.", truth.warnings)


def write_quality(options: argparse.Namespace) -> None:
    if options.set and not options.rule:
        raise ValueError("--set gives a parameter of a rule: name the rule with --rule.")
    settings = dict(_pair(text, "--set") for text in options.set)
    if "passed" in settings:
        raise ValueError("PASS comes from --scores, not from --set.")
    grades = columns.read_grades(options.grades)
    passed = (
        None if options.scores is None else _passed(columns.read_scores(options.scores), options.pass_metric)
    )
    if not options.rule:
        table = quality.annotator_table(grades, passed)
        _deliver(table, options.output, f"what the grades tell of {len(table)} annotators.")
        return
    found = quality.apply_rule(options.rule, grades, passed=passed, **settings)
    given = ", ".join(f"{key}={value}" for key, value in found.parameters.items())
    flagged, excluded = int(found.table["flagged"].sum()), len(found.excluded)
    said = [
        f"{found.rule}, version {found.version}, with {given}.",
        *found.notes,
        f"Of {len(found.table)} annotators {flagged} are flagged and {excluded} would be excluded.",
    ]
    _deliver(found.table, options.output, f"{len(found.table)} annotators by the rule {found.rule}.", said)


def _passed(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    own = scores[scores["metric"] == metric]
    if own.empty:
        known = ", ".join(sorted(scores["metric"].unique())) or "none"
        raise ValueError(
            f"There are no scores of {metric}: name PASS with --pass-metric. There are: {known}."
        )
    return own.rename(columns={"score": "passed"})


def write_sample(options: argparse.Namespace) -> None:
    table = sampling.read_problems(options.table)
    per_stratum: int | dict[str, int]
    if len(options.per_stratum) == 1 and "=" not in options.per_stratum[0]:
        per_stratum = _whole(options.per_stratum[0])
    else:
        pairs = (_pair(text, "--per-stratum") for text in options.per_stratum)
        per_stratum = {name: _whole(number) for name, number in pairs}
    bucketed = set(table["stratum"]) <= set(sampling.BUCKETS)
    sample = sampling.draw_strata(
        table,
        per_stratum,
        options.seed,
        fill_from=options.fill_from or None,
        strata=sampling.BUCKETS if bucketed and isinstance(per_stratum, int) else (),
    )
    sizes = [
        f"{stratum or '(no name)'}: {drawn} of {there} problems drawn."
        for stratum, drawn, there in sample.sizes[["stratum", "drawn", "population"]].to_numpy()
    ]
    said = f"{len(sample.rows)} of {len(table)} problems, seed {options.seed}."
    _deliver(sample.rows, options.output, said, [*sizes, *sample.warnings])


def _pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.rpartition("=") if option == "--per-stratum" else text.partition("=")
    if not sign:
        raise ValueError(f"{option} takes NAME=VALUE, not {text!r}.")
    return name, value


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise ValueError(f"--per-stratum must be a whole number from 0, not {text!r}.")
    return int(text)


def _deliver(table: pd.DataFrame, output: str, what: str, notes: Sequence[str] = ()) -> None:
    """The table into its file or onto the terminal; notes, and what it is, beside it."""
    for note in notes:
        print(f"Note: {note}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "table.csv"
        columns.write_csv(table, made)
        if output == "-":
            sys.stdout.write(made.read_text(encoding="utf-8"))
            return
        _put(made, Path(output))
    print(f"{output}: {what}")


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
