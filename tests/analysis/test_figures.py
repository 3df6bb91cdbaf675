"""Figures: well-formed whatever the names are, the same bytes again, and readable on light and dark pages."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import figures

Draw = Callable[[Path], None]
NAMES = ["plain", "$x_1$ \\frac$", "<b>&\"'", "a\x01b\x0bc\nd", "模型 😀", "x" * 300, ""]


def shares(grades: list[float], systems: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"system": system, "reference": False, "grade": grade, "grades": 1 + place}
            for system in systems
            for place, grade in enumerate(grades)
        ]
    )


def systems_table(names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "system": names,
            "reference": [place % 2 == 1 for place in range(len(names))],
            "mean": np.linspace(1, 3, len(names)),
            "mean_low": [np.nan, *np.linspace(0.9, 2.5, len(names) - 1)],
            "mean_high": [np.nan, *np.linspace(1.8, 3.2, len(names) - 1)],
        }
    )


def correlations_table(names: list[str]) -> pd.DataFrame:
    rows = [
        {"metric": name, "truth": truth, "system": "all", "kendall": 0.1 * place}
        for place, name in enumerate(names)
        for truth in ("m-msr", "mean")
    ]
    table = pd.DataFrame(rows)
    return table.assign(kendall_low=table["kendall"] - 0.1, kendall_high=table["kendall"] + 0.1)


def pairs_table(count: int, levels: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({"value": rng.integers(levels, size=count) / 1.0, "score": rng.random(count)})


COUNTS = pd.DataFrame(
    {"reference": [False, False, True], "grades": [1, 12, 3], "snippets": [5, 1, 2]},
)
FIGURES: dict[str, Draw] = {
    "shares": lambda path: figures.grade_shares(shares([0, 1, 2, 3, 4], NAMES), path),
    "shares of two": lambda path: figures.grade_shares(shares([0.5, 1], ["one"]), path),
    "shares of a slider": lambda path: figures.grade_shares(shares([*range(101)], NAMES), path),
    "means": lambda path: figures.means(systems_table(NAMES), path),
    "forest": lambda path: figures.forest(correlations_table(NAMES), path),
    "counts": lambda path: figures.grade_histogram(COUNTS, path),
    "counts without references": lambda path: figures.grade_histogram(COUNTS[:1], path),
    "strip": lambda path: figures.strip(pairs_table(50, 5), NAMES[1], 0.5, path, seed=1),
    "strip without tau": lambda path: figures.strip(pairs_table(5, 1), NAMES[3], None, path, seed=1),
    "strip of means": lambda path: figures.strip(pairs_table(200, 100), "m", -0.5, path, seed=1),
    "strip of one": lambda path: figures.strip(pairs_table(1, 1), "m", None, path, seed=1),
}
every_figure = pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)


def texts_of(path: Path) -> list[str]:
    return [element.text or "" for element in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def colours_of(svg: str) -> set[tuple[str, str]]:
    """(property, colour) of all that is drawn."""
    styles = re.findall(r'style="([^"]*)"', svg)
    return {found for style in styles for found in re.findall(r"(fill|stroke): (#[0-9a-f]{6})", style)}


@every_figure
def test_is_well_formed_and_the_same_again(draw: Draw, tmp_path: Path) -> None:
    draw(tmp_path / "deep" / "one.svg")
    draw(tmp_path / "two.svg")
    first = (tmp_path / "deep" / "one.svg").read_bytes()
    assert first == (tmp_path / "two.svg").read_bytes()
    assert ET.fromstring(first).tag == "{http://www.w3.org/2000/svg}svg"
    assert b"dc:date" not in first


@every_figure
def test_every_colour_has_its_dark_one(draw: Draw, tmp_path: Path) -> None:
    draw(tmp_path / "one.svg")
    svg = (tmp_path / "one.svg").read_text(encoding="utf-8")
    drawn = colours_of(svg)
    assert len(drawn) >= 3
    rules = dict(re.findall(r'\[style\*="((?:fill|stroke): #[0-9a-f]{6})"\]\{([^}]*)\}', svg))
    assert {f"{kind}: {colour}" for kind, colour in drawn} <= set(rules)
    for before, after in rules.items():
        kind, colour = before.split(": ")
        assert re.fullmatch(rf"{kind}:#[0-9a-f]{{6}} !important", after)
        assert colour not in after
    assert "@media (prefers-color-scheme: dark)" in svg


@every_figure
def test_the_page_shines_through(draw: Draw, tmp_path: Path) -> None:
    draw(tmp_path / "one.svg")
    svg = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert re.search(r'<g id="patch_1">\s*<path [^>]*style="fill: none"', svg)
    assert "#ffffff" not in svg


@pytest.mark.parametrize("draw", [FIGURES["shares"], FIGURES["means"], FIGURES["forest"]])
def test_names_are_texts_as_they_are(draw: Draw, tmp_path: Path) -> None:
    draw(tmp_path / "one.svg")
    cut = "x" * 27 + "…"
    assert {"plain", NAMES[1], NAMES[2], "a b c d", NAMES[4], cut} <= set(texts_of(tmp_path / "one.svg"))


def test_the_best_system_is_on_top(tmp_path: Path) -> None:
    figures.means(systems_table(["low", "middle", "high"]), tmp_path / "one.svg")
    labels = [text for text in texts_of(tmp_path / "one.svg") if text in ("low", "middle", "high")]
    assert labels == ["low", "middle", "high"], "matplotlib writes the labels of an axis from its bottom"


def test_a_strip_says_its_tau(tmp_path: Path) -> None:
    FIGURES["strip"](tmp_path / "one.svg")
    assert "$x_1$ \\frac$, tau-b 0.500" in texts_of(tmp_path / "one.svg")


def test_many_grades_go_into_ten_ranges() -> None:
    wide = shares([*range(101)], ["a", "b"]).pivot_table(index="system", columns="grade", values="grades")
    names, counts = figures._in_ranges(wide)
    assert names[0] == "0–10"
    assert names[-1] == "90–100"
    # grade g was given g + 1 times: 0 to 9 are 1 + ... + 10, the last range has 90 to 100
    assert counts[0, 0] == 55
    assert counts[1, 9] == sum(range(91, 102))
    assert counts.sum() == wide.to_numpy().sum()


def test_few_grades_keep_their_own_shade() -> None:
    wide = shares([0.5, 1, 4], ["a"]).pivot_table(index="system", columns="grade", values="grades")
    names, counts = figures._in_ranges(wide)
    assert names == ["0.5", "1", "4"]
    assert counts.tolist() == [[1, 2, 3]]
    assert tuple(figures._shades(figures.SHADES, 5)) == figures.SHADES


def test_the_line_of_a_strip_joins_means() -> None:
    values, scores = np.array([0, 0, 1, 1, 1.0]), np.array([0, 1, 0.2, 0.3, 0.4])
    places, heights = figures._line(values, scores, np.array([0, 1.0]))
    assert places.tolist() == [0, 1]
    assert heights.tolist() == pytest.approx([0.5, 0.3])
    places, heights = figures._line(np.arange(20.0), np.arange(20.0) * 2, None)
    assert places.tolist() == [0.5 + 2 * bin for bin in range(10)]
    assert heights.tolist() == [1 + 4 * bin for bin in range(10)]
