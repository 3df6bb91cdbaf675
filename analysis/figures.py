"""Figures as SVG: quiet, readable on light and dark pages, the same bytes from the same tables."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path as MplPath

ACCENT, INK, SOFT, LINE = "#2456c9", "#1c1e21", "#5d636b", "#dcdcd6"
SHADES = ("#b3372e", "#d98a5b", "#c9c7bd", "#7fa3e0", "#2456c9")
"""From the worst grade to the best; readable side by side for colour-blind eyes."""
DARK_SHADES = ("#ec8379", "#9c5f49", "#4a4e54", "#4a679f", "#8fb0ff")
"""On dark pages the ends are the brightest, as on light ones they are the darkest."""
DARK = {ACCENT: "#8fb0ff", INK: "#e8e9ea", SOFT: "#a2a8b0", LINE: "#33373d"}
DOTS = 4000
"""Dots of a strip plot: of more snippets so many are drawn, chosen by the seed."""
LAYERS = 12
MOST_SHADES = 11
"""Different grades up to which each has its own shade; of more, ten ranges have."""
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "codejury",
    "path.simplify": False,  # it would drop the lines without length that are dots
    "text.parse_math": False,  # a name may have dollar signs
    "font.family": "sans-serif",
    "font.sans-serif": ["system-ui", "Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.titlecolor": INK,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Picture:
    """A figure of a report: its file under `figures/`, and its words."""

    name: str
    title: str
    caption: str
    alt: str

    @property
    def file(self) -> str:
        return f"figures/{self.name}.svg"


@contextmanager
def drawing(
    path: Path, width: float, height: float, *, dark: Mapping[str, str] | None = None
) -> Iterator[Axes]:
    """Axes to draw on; on leaving, the figure is written to `path` with our style and colours for dark pages.

    `dark`: colour on light pages -> colour on dark ones, for colours that are not in DARK.
    """
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # Only guesses at widths suffer: the reader's browser draws the texts with its own fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure.add_subplot()
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": "Codejury"})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(with_dark(short_dots(buffer.getvalue()), DARK | dict(dark or {})), encoding="utf-8")


def short_dots(svg: str) -> str:
    """Lines without length in a third of the letters, to a tenth of a point."""

    def dot(found: re.Match[str]) -> str:
        return f"M{float(found[1]):.1f} {float(found[2]):.1f}h0\n"

    return re.sub(r"M ([\d.]+) ([\d.]+) \nL \1 \2 \n?", dot, svg)


def with_dark(svg: str, colours: Mapping[str, str]) -> str:
    """Colours of the dark scheme, chosen by the browser that shows the figure."""
    rules = "".join(
        f'[style*="{kind}: {light}"]{{{kind}:{dark} !important}}'
        for light, dark in colours.items()
        for kind in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>"
    start = svg.index(">", svg.index("<svg")) + 1
    return svg[:start] + style + svg[start:]


def grade_histogram(counts: pd.DataFrame, path: Path) -> None:
    """How many snippets got how many grades (`tables.grade_counts` of one question)."""
    places = np.arange(counts["grades"].min(), counts["grades"].max() + 1)
    series = [(False, ACCENT, "generated snippets"), (True, SOFT, "references")]
    series = [one for one in series if (counts["reference"] == one[0]).any()]
    width = 0.76 / len(series)
    with drawing(path, 6.4, 3.6) as axes:
        for place, (reference, colour, name) in enumerate(series):
            own = counts[counts["reference"] == reference].set_index("grades")["snippets"]
            heights = own.reindex(places, fill_value=0).to_numpy()
            shift = (place - (len(series) - 1) / 2) * width
            axes.bar(places + shift, heights, width - 0.02, color=colour, label=name)
        spare = 0.7 + max(5 - len(places), 0) / 2
        axes.set_xlim(places[0] - spare, places[-1] + spare)
        axes.set_xlabel("grades of a snippet")
        axes.set_ylabel("snippets")
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(nbins=12, integer=True, min_n_ticks=1))
        axes.yaxis.grid(True, color=LINE, linewidth=0.6)
        axes.set_axisbelow(True)
        _legend_above(axes, len(series))


def grade_shares(shares: pd.DataFrame, path: Path) -> None:
    """Share of each grade a system got, the best system first (`tables.distribution` of one question)."""
    wide = shares.pivot_table(index="system", columns="grade", values="grades", fill_value=0, aggfunc="sum")
    mean = (wide * wide.columns.to_numpy(float)).sum(axis=1) / wide.sum(axis=1)
    systems = list(mean.sort_values().index)
    names, counts = _in_ranges(wide.loc[systems])
    part = counts / counts.sum(axis=1, keepdims=True) * 100
    colours, dark = _shades(SHADES, len(names)), _shades(DARK_SHADES, len(names))
    across = 8 if len(names) <= MOST_SHADES and max(map(len, names)) <= 4 else 5
    height = 0.7 + 0.38 * len(systems) + 0.22 * -(-len(names) // across)
    with drawing(path, 6.4, height, dark=dict(zip(colours, dark, strict=True))) as axes:
        left = np.zeros(len(systems))
        for place, name in enumerate(names):
            axes.barh(range(len(systems)), part[:, place], 0.7, left=left, color=colours[place], label=name)
            left += part[:, place]
        axes.set_yticks(range(len(systems)), [_label(name) for name in systems])
        axes.set_ylim(-0.5, len(systems) - 0.5)
        axes.set_xlim(0, 100)
        axes.set_xlabel("share of grades, %")
        axes.tick_params(length=0)
        axes.spines["left"].set_visible(False)
        _legend_above(axes, across)


def _in_ranges(wide: pd.DataFrame) -> tuple[list[str], np.ndarray]:
    """Names of the grades and the counts (systems, grades); grades of many kinds in ten ranges of equal width."""
    grades, counts = wide.columns.to_numpy(float), wide.to_numpy(float)
    if len(grades) <= MOST_SHADES:
        return [f"{grade:g}" for grade in grades], counts
    edges = np.linspace(grades.min(), grades.max(), 11)
    place = np.clip(np.searchsorted(edges, grades, side="right") - 1, 0, 9)
    sums = np.stack([counts[:, place == one].sum(axis=1) for one in range(10)], axis=1)
    dash = "\N{EN DASH}"
    return [f"{low:.3g}{dash}{high:.3g}" for low, high in pairwise(edges)], sums


def _shades(shades: tuple[str, ...], count: int) -> list[str]:
    ramp = mpl.colors.LinearSegmentedColormap.from_list("grades", shades, N=1001)
    return [mpl.colors.to_hex(ramp(place)) for place in np.linspace(0, 1, count)]


def _legend_above(axes: Axes, across: int) -> None:
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=across,
        labelcolor=SOFT,
        handlelength=1,
        columnspacing=1.2,
        borderaxespad=0.2,
    )


def means(systems: pd.DataFrame, path: Path) -> None:
    """Mean grade of each system with its interval, the best first (`tables.system_means` of one question)."""
    ordered = systems.sort_values(["mean", "system"]).reset_index(drop=True)
    with drawing(path, 6.4, 0.8 + 0.36 * len(ordered)) as axes:
        for place, row in enumerate(ordered.to_dict("records")):
            colour = SOFT if row["reference"] else ACCENT
            if pd.notna(row["mean_low"]):
                axes.plot([row["mean_low"], row["mean_high"]], [place, place], color=colour, linewidth=1.6)
            axes.plot(row["mean"], place, "o", color=colour, markersize=5)
        axes.set_yticks(range(len(ordered)), [_label(name) for name in ordered["system"]])
        axes.set_ylim(-0.6, len(ordered) - 0.4)
        axes.set_xlabel("mean grade, with 95 % interval")
        axes.xaxis.grid(True, color=LINE, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(length=0)
        axes.spines["left"].set_visible(False)


def forest(correlations: pd.DataFrame, path: Path) -> None:
    """Pooled Kendall's tau-b of each metric with its interval, one line a metric and truth."""
    table = correlations[(correlations["system"] == "all") & correlations["kendall"].notna()]
    order = table.groupby("metric")["kendall"].max().sort_values().index
    truths = list(dict.fromkeys(table["truth"]))
    with drawing(path, 6.4, 0.9 + 0.42 * len(order)) as axes:
        for shift, truth in enumerate(truths):
            own = table[table["truth"] == truth].set_index("metric").reindex(order)
            places = np.arange(len(order)) + (0.14 if shift == 0 else -0.14) * (len(truths) > 1)
            colour = ACCENT if shift == 0 else SOFT
            axes.hlines(
                places,
                own["kendall_low"].astype(float),
                own["kendall_high"].astype(float),
                colour,
                linewidth=1.6,
            )
            axes.plot(own["kendall"], places, "o", color=colour, markersize=4.5, label=f"truth by {truth}")
        if (table["kendall_low"].astype(float) < 0).any():
            axes.axvline(0, color=SOFT, linewidth=0.8)
        axes.set_yticks(range(len(order)), [_label(name) for name in order])
        axes.set_ylim(-0.6, len(order) - 0.4)
        axes.set_xlabel("Kendall's tau-b over all snippets, with 95 % interval")
        axes.xaxis.grid(True, color=LINE, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(length=0)
        axes.spines["left"].set_visible(False)
        _legend_above(axes, 2)


def strip(pairs: pd.DataFrame, metric: str, tau: float | None, path: Path, *, seed: int) -> None:
    """Scores of one metric (y) by truth (x): dots jittered by the seed, and the mean at each truth or bin."""
    pairs = pairs.sort_values(["value", "score"], kind="stable")
    values, scores = pairs["value"].to_numpy(float), pairs["score"].to_numpy(float)
    levels = np.unique(values)
    few = len(levels) <= 11
    rng = np.random.default_rng(seed)
    jitter = rng.uniform(-1, 1, len(values)) * (0.28 * _gap(levels) if few else 0.0)
    shown = np.sort(rng.permutation(len(values))[:DOTS])
    with drawing(path, 6.4, 3.9) as axes:
        _dots(axes, values[shown] + jitter[shown], scores[shown])
        middles, heights = _line(values, scores, levels if few else None)
        axes.plot(middles, heights, "-o", color=INK, linewidth=1.4, markersize=4)
        axes.set_xlabel("truth")
        axes.set_ylabel(_label(metric))
        if few:
            axes.set_xticks(levels, [f"{level:g}" for level in levels])
        axes.set_title(_label(metric) + ("" if tau is None else f", tau-b {tau:.3f}"))


def _dots(axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Transparent dots as a few paths of lines without length: a tenth of the bytes of one shape each.

    Dots of one path do not darken where they overlap, so neighbours in the given order go to different paths.
    """
    size = float(np.clip(60 / np.sqrt(len(x)), 1.8, 4.5))
    for layer in range(min(LAYERS, len(x))):
        points = np.repeat(np.column_stack([x[layer::LAYERS], y[layer::LAYERS]]), 2, axis=0)
        codes = np.tile([MplPath.MOVETO, MplPath.LINETO], len(points) // 2)
        dots = PathPatch(MplPath(points, codes), fill=False, edgecolor=ACCENT, linewidth=size)
        dots.set(capstyle="round", alpha=float(np.clip(size / 6, 0.35, 0.6)))
        axes.add_patch(dots)
    axes.update_datalim(np.column_stack([x, y]))
    axes.autoscale_view()


def _gap(levels: np.ndarray) -> float:
    return float(np.diff(levels).min()) if len(levels) > 1 else 1.0


def _line(values: np.ndarray, scores: np.ndarray, levels: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The mean score at each level, or in ten bins of equal size."""
    if levels is not None:
        return levels, np.array([scores[values == level].mean() for level in levels])
    parts = np.array_split(np.argsort(values, kind="stable"), 10)
    return (
        np.array([values[part].mean() for part in parts if len(part)]),
        np.array([scores[part].mean() for part in parts if len(part)]),
    )


def _label(name: str) -> str:
    """The name as a label: one line of at most 28 characters, none of which XML forbids."""
    line = "".join(letter if letter.isprintable() else " " for letter in name)
    return line if len(line) <= 28 else line[:27] + "\N{HORIZONTAL ELLIPSIS}"
