"""One report: truth, correlations, small tables and figures in a folder, and report.json that traces them."""

from __future__ import annotations

import hashlib
import json
import platform
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import scipy

from analysis import aggregate, columns, correlate, figures, tables
from analysis.columns import TASK, TableError, natural_order, usable, write_csv

Progress = Callable[[int, int, str], None]
STAGES = 10
"""Correlations take most of the time: they are counted in parts between the second and the eighth."""
NO_GRADES = "There is nothing to report on yet: no snippet of a generation model has a complete grade."
NO_SCORES = "There are no metric scores yet, so there are no correlations: compute the metrics first."
SIMULATED = (
    "The grades were simulated by a program to show how the app works. They say nothing about real people."
)
POOLED_NAME = (
    f"A system called {correlate.POOLED} has no correlations of its own: in the tables {correlate.POOLED} stands for "
    "all systems together."
)
SOME_SIMULATED = "Some grades were simulated by a program: those of {names}."


def build(
    grades: pd.DataFrame,
    scores: pd.DataFrame,
    output: Path,
    *,
    seed: int,
    resamples: int = 1000,
    aggregator: str = "m-msr",
    decimals: int | None = None,
    study: str = "",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a whole report into the folder `output` and return what its report.json says.

    `grades` and `scores` have the columns of `columns.GRADES` and `columns.SCORES`. Files: truth.csv,
    scores.csv, correlations.csv, systems.csv, grade_counts.csv, grade_distribution.csv, annotators.csv, undefined.csv,
    figures/*.svg, report.json. The same tables, seed and settings give the same bytes, whatever the order of
    the rows. `progress(done, total, text)` is called on the way.

    `decimals`: scores are rounded to so many before anything is done with them, in scores.csv too; None = not.
    The published studies give and compare three: scores closer than that are ties there.

    Raises TableError when no grade can be used, ValueError for an unknown aggregator.
    """
    say = progress or (lambda done, total, text: None)
    say(0, STAGES, "Aggregating grades")
    grades = natural_order(grades, [*TASK, "annotator", "assignment", *columns.GRADES]).reset_index(drop=True)
    scores = tables.snippet_scores(scores)
    hashes = {"grades": digest(grades), "scores": digest(scores)}
    if decimals is not None:
        scores = scores.assign(score=scores["score"].round(decimals))
    truth = aggregate.aggregate(grades, aggregator)
    if truth.table.empty:
        raise TableError(NO_GRADES)
    say(1, STAGES, "Correlating")

    def inner(done: int, total: int, text: str) -> None:
        say(100 * 1 + (600 * done) // max(total, 1), 100 * STAGES, text)

    made = {
        "truth": truth.table,
        "scores": scores,
        "correlations": correlate.correlate(
            truth.table, scores, aggregator=aggregator, seed=seed, resamples=resamples, progress=inner
        ),
        "systems": tables.system_means(grades, truth.table, seed=seed, resamples=resamples),
        "grade_counts": tables.grade_counts(grades),
        "grade_distribution": tables.distribution(grades),
        "annotators": tables.annotator_table(grades, truth.weights),
        "undefined": tables.undefined_scores(scores),
    }
    output.mkdir(parents=True, exist_ok=True)
    for name, table in made.items():
        write_csv(table, output / f"{name}.csv")
    say(8, STAGES, "Drawing figures")
    pictures = list(draw(made, aggregator, output, seed=seed))
    summary = {
        "study": study,
        "seed": seed,
        "resamples": resamples,
        "aggregator": aggregator,
        "versions": versions(),
        "data_sha256": hashes,
        "decimals": decimals,
        "signatures": sorted(set(scores["signature"]) - {""}),
        "counts": counts(grades, made),
        "warnings": [*notes(grades, scores), *truth.warnings],
        "tables": shown_tables(made, aggregator),
        "figures": [{**vars(picture), "file": picture.file} for picture in pictures],
        "command": command(seed, resamples, aggregator, decimals),
    }
    (output / "report.json").write_text(
        json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
    )
    say(STAGES, STAGES, "Done")
    return summary


def command(seed: int, resamples: int, aggregator: str, decimals: int | None) -> str:
    rounding = "" if decimals is None else f" --decimals {decimals}"
    return (
        f"python -m analysis report grades.csv scores.csv --output DIR --seed {seed} "
        f"--resamples {resamples} --aggregator {aggregator}{rounding}"
    )


def versions() -> dict[str, str]:
    found = {module.__name__: module.__version__ for module in (np, scipy, pd, matplotlib)}
    return found | {"python": platform.python_version()}


def digest(table: pd.DataFrame) -> str:
    """SHA-256 of the table as `columns.write_csv` writes it."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        write_csv(table, file.name)
        return hashlib.sha256(Path(file.name).read_bytes()).hexdigest()


def counts(grades: pd.DataFrame, made: dict[str, pd.DataFrame]) -> dict[str, int]:
    counted = usable(grades)
    return {
        "grades": len(counted),
        "grades_of_references": int(counted["reference"].sum()),
        "grades_left_out": len(grades) - len(counted),
        "annotators": int(counted["annotator"].nunique()),
        "problems": int(counted["problem"].nunique()),
        "snippets_with_truth": len(made["truth"]),
        "metrics": int(made["scores"]["metric"].nunique()),
    }


def notes(grades: pd.DataFrame, scores: pd.DataFrame) -> list[str]:
    counted = usable(grades)
    found = []
    if counted["simulated"].all():
        found.append(SIMULATED)
    elif counted["simulated"].any():
        names = sorted(counted.loc[counted["simulated"], "annotator"].unique())
        found.append(SOME_SIMULATED.format(names=", ".join(names)))
    if (counted["system"] == correlate.POOLED).any():
        found.append(POOLED_NAME)
    if scores["score"].notna().sum() == 0:
        found.append(NO_SCORES)
    return found


def draw(
    made: dict[str, pd.DataFrame], aggregator: str, output: Path, *, seed: int
) -> Iterator[figures.Picture]:
    """Write every figure and tell of it. With several questions the file names carry the question."""
    groups = list(made["truth"][tables.GROUP].drop_duplicates().itertuples(index=False, name=None))
    spoken = {group: ", ".join(filter(None, group)) for group in groups}
    tails = _file_names(list(spoken.values()))
    metrics = _file_names(sorted(set(made["scores"]["metric"])))
    for (question, judged), text in spoken.items():
        tail, of = (f"_{tails[text]}", f" ({text})") if len(groups) > 1 else ("", "")
        own = {
            name: _own(table, question, judged if name != "correlations" else None)
            for name, table in made.items()
            if name not in ("scores", "undefined")
        }
        yield from _draw_grades(own, tail, of, output)
        if not judged:
            yield from _draw_metrics(own, made["scores"], aggregator, metrics, tail, of, output, seed=seed)


def _own(table: pd.DataFrame, question: str, judged: str | None) -> pd.DataFrame:
    """The rows of one question, and of one judged metric where the table tells them apart."""
    rows = table[table["question"] == question]
    return rows if judged is None else rows[rows["judged_metric"] == judged]


def _draw_grades(own: dict[str, pd.DataFrame], tail: str, of: str, output: Path) -> Iterator[figures.Picture]:
    picture = figures.Picture(
        f"systems{tail}",
        f"Mean grade of each system{of}",
        "Mean of the snippets' mean grades; bars are 95 % intervals from resampling problems. Grey: references.",
        "Mean grades: " + _spoken(own["systems"], "system", "mean"),
    )
    figures.means(own["systems"], output / picture.file)
    yield picture
    picture = figures.Picture(
        f"grade_distribution{tail}",
        f"Grades of each system{of}",
        "Share of each grade among all grades of a system.",
        "Shares of the grades of each system; the numbers are in grade_distribution.csv.",
    )
    figures.grade_shares(own["grade_distribution"], output / picture.file)
    yield picture
    picture = figures.Picture(
        f"grade_counts{tail}",
        f"How many grades snippets got{of}",
        "Number of snippets by the number of grades they have.",
        "Snippets by number of grades: " + _spoken(own["grade_counts"], "grades", "snippets"),
    )
    figures.grade_histogram(own["grade_counts"], output / picture.file)
    yield picture


def _draw_metrics(
    own: dict[str, pd.DataFrame],
    scores: pd.DataFrame,
    aggregator: str,
    names: dict[str, str],
    tail: str,
    of: str,
    output: Path,
    *,
    seed: int,
) -> Iterator[figures.Picture]:
    pooled = own["correlations"][own["correlations"]["system"] == "all"]
    if pooled["kendall"].notna().any():
        picture = figures.Picture(
            f"correlations{tail}",
            f"Agreement of each metric with people{of}",
            "Kendall's tau-b over the snippets of all systems; bars are 95 % intervals from resampling problems.",
            "Kendall's tau-b: " + _spoken(pooled[pooled["truth"] == aggregator], "metric", "kendall"),
        )
        figures.forest(own["correlations"], output / picture.file)
        yield picture
    single = pooled[pooled["truth"] == aggregator]
    for metric, kendall in zip(single["metric"], single["kendall"].astype(float), strict=True):
        values = scores[(scores["metric"] == metric) & scores["score"].notna()]
        pairs = own["truth"].merge(values[[*columns.SNIPPET, "score"]], on=columns.SNIPPET)
        if pairs.empty:
            continue
        some = f" ({figures.DOTS} of {len(pairs)} are drawn)" if len(pairs) > figures.DOTS else ""
        tau = None if np.isnan(kendall) else kendall
        picture = figures.Picture(
            f"strip_{names[metric]}{tail}",
            f"{metric} by truth{of}",
            f"Each dot is a snippet{some}, moved sideways a little; the line joins mean scores. Truth: {aggregator}.",
            f"{metric} of {len(pairs)} snippets by truth" + ("" if tau is None else f"; tau-b {tau:.3f}"),
        )
        pairs = pairs.rename(columns={"truth": "value"})
        figures.strip(pairs, metric, tau, output / picture.file, seed=seed)
        yield picture


def _file_names(texts: list[str]) -> dict[str, str]:
    """A part of a file name for each text, all different also where large and small letters are the same."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for text in texts:
        plain = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in text)[:60]
        name, number = plain, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.lower())
        found[text] = name
    return found


def _spoken(table: pd.DataFrame, name: str, value: str) -> str:
    pairs = [
        f"{key} {number:.3g}"
        for key, number in zip(table[name], table[value], strict=True)
        if pd.notna(number)
    ]
    return ", ".join(pairs[:20]) + "."


def shown_tables(made: dict[str, pd.DataFrame], aggregator: str) -> dict[str, dict[str, Any]]:
    """The tables as a page or a terminal shows them: rounded texts. The CSV files have every digit."""
    pooled = made["correlations"][made["correlations"]["system"] == "all"]
    each = made["correlations"][made["correlations"]["system"] != "all"]
    bars = "In brackets: 95 % intervals from resampling problems."
    several = made["truth"]["question"].nunique() > 1
    undefined = _shown(
        made["undefined"],
        "Scores that are undefined",
        "These snippets are left out where the metric is compared with people.",
        {name: name.capitalize() for name in tables.UNDEFINED},
        several=False,
    )
    found = {
        "correlations": _shown(
            pooled,
            "How far each metric agrees with people",
            f"All snippets together, against the truth by {aggregator} and against the mean grade. {bars}",
            {"metric": "Metric", "truth": "Truth", "n": "Snippets", **_measures(), "note": "Note"},
            several,
        ),
        "systems": _shown(
            made["systems"].sort_values(["question", "mean"], ascending=[True, False], kind="stable"),
            "Systems",
            f"Mean grade, and mean truth by {aggregator}. {bars} References are graded but have no truth.",
            {
                "system": "System",
                "snippets": "Snippets",
                "grades": "Grades",
                "mean": "Mean grade",
                "truth": "Truth",
            },
            several,
        ),
        "correlations_by_system": _shown(
            each,
            "Agreement within each system",
            bars,
            {
                "metric": "Metric",
                "truth": "Truth",
                "system": "System",
                "n": "Snippets",
                **_measures(),
                "note": "Note",
            },
            several,
        ),
        "annotators": _shown(
            made["annotators"],
            "Annotators",
            "Severity: mean difference from the others' grades of the same snippets. Agreement: share of equal "
            "grades with others. Weight: say in the truth.",
            {
                name: name.replace("_", " ").capitalize()
                for name in tables.ANNOTATORS[2:]
                if name != "simulated"
            },
            several,
        ),
        "grade_counts": _shown(
            made["grade_counts"],
            "Snippets by number of grades",
            "",
            {"reference": "Reference", "grades": "Grades", "snippets": "Snippets"},
            several,
        ),
    }
    return found | ({"undefined": undefined} if undefined["rows"] else {})


def _measures() -> dict[str, str]:
    return {"kendall": "Kendall tau-b", "spearman": "Spearman", "pearson": "Pearson"}


def _shown(
    table: pd.DataFrame, title: str, caption: str, names: dict[str, str], several: bool
) -> dict[str, Any]:
    names = {"question": "Question", **names} if several else names
    if "note" in names and (table["note"] == "").all():
        names = {name: text for name, text in names.items() if name != "note"}
    records: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    rows = [[_text(row, name) for name in names] for row in records]
    return {"title": title, "caption": caption, "columns": list(names.values()), "rows": rows}


def _text(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if value is None or pd.isna(value):
        return "\N{EN DASH}"
    if float(value).is_integer() and name not in ("mean", "truth", *columns.MEASURES):
        return f"{int(value)}"
    low = row.get(f"{name}_low")
    if low is None or pd.isna(low):
        return _rounded(value, name)
    return f"{_rounded(value, name)} [{_rounded(low, name)}, {_rounded(row[f'{name}_high'], name)}]"


def _rounded(value: float, name: str) -> str:
    """Correlations as the published tables have them: three places and no zero before the point."""
    if name not in columns.MEASURES:
        return f"{value:.2f}"
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text
