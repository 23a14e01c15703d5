"""The figures of the null benchmark and of simulation-based calibration."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from arviz_stats.ecdf_utils import ecdf_pit
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from bayes_bias.analyses.published.published import FEWEST_STUDIES
from bayes_bias.plots.style import GREY, NOISE, PAPER, colour_and_marker, style

_METHODS = {
    ("WEAT", "targets"): "WEAT",
    ("hierarchical", "both"): "published Bayesian model",
    ("this model", "both"): "this model",
}


def plot_shares(rows: pd.DataFrame, path: Path, wanted: tuple[float, float]) -> None:
    """A dot for each list, in columns by method and number of attributes; the band is what is wanted."""
    without = rows[~rows.controls.astype(bool)]
    with style():
        figure = Figure(figsize=(5.4, 3.4), layout="constrained")
        ax = figure.add_subplot()
        ax.axhspan(*wanted, color=NOISE, zorder=0)
        ticks = {}
        for m, (key, label) in enumerate(_METHODS.items()):
            mine = without[(without.method == key[0]) & (without.scope == key[1])]
            for s, (size, cell) in enumerate(mine.groupby("size")):
                x = 4 * m + s
                spread = x + np.linspace(-0.25, 0.25, len(cell))
                ax.plot(
                    spread, cell["share"], linestyle="", markersize=4, alpha=0.8, clip_on=False, **colour_and_marker(m)
                )
                ticks[x] = f"{size:.0f}"
            ax.text(4 * m + 1, 1.02, label, ha="center", transform=ax.get_xaxis_transform(), fontsize=9)
        ax.axhline(0.05, color=GREY, linewidth=0.8)
        ax.set_xticks(list(ticks), labels=list(ticks.values()))
        ax.set(xlabel="random attributes in each class", ylabel="share of findings without any bias", ylim=(0, None))
        figure.savefig(path, dpi=150)


def plot_reliability(rows: pd.DataFrame, path: Path) -> None:
    """Predicted and true shares of studies, as large as they have tables; of those with several, name and range."""
    studies = rows.assign(true=rows.verdict == "distinguishable").groupby("study")
    means = studies[["predicted", "least", "most", "true"]].mean().assign(tables=studies.size())
    several = means[means.tables >= FEWEST_STUDIES]
    with style():
        figure = Figure(figsize=(5.4, 4.2), layout="constrained")
        ax = figure.add_subplot()
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, zorder=0)
        ax.hlines(several.true, several.least, several.most, color=NOISE, linewidth=3, zorder=1)
        ax.scatter(means.predicted, means.true, s=20 + 3 * means.tables, alpha=0.8, clip_on=False, zorder=2)
        for study, row in several.iterrows():
            beside = (row.tables**0.5 / 2 + 2, 4)
            name = ax.annotate(
                f"{study} ({row.tables:.0f})", (row.predicted, row.true), beside, textcoords="offset points", fontsize=7
            )
            name.set_path_effects([withStroke(linewidth=2, foreground=PAPER)])
        ax.set(xlabel="predicted from the other studies", ylabel="share of its tables that are distinguishable")
        ax.set(xlim=(0, 1), ylim=(-0.04, 1.03))
        figure.savefig(path, dpi=150)


def plot_ranks(pit: Mapping[str, np.ndarray], path: Path) -> None:
    """ECDF of each quantity's ranks less the uniform's; if all are uniform, all lines stay inside all bands with
    probability .95. (ArviZ's `plot_ecdf_pit` is about to give up bands for a test; its bands remain.)"""
    columns = 4
    with style():
        rows = -(-len(pit) // columns)
        figure = Figure(figsize=(9, max(6.5, 0.95 * rows)), layout="constrained")
        axes = figure.subplots(rows, columns, sharex=True, sharey=True).ravel()
        for ax, (name, ranks) in zip(axes, pit.items(), strict=False):
            at, ecdf, lower, upper = ecdf_pit(ranks, 1 - 0.05 / len(pit), 10_000)
            ax.fill_between(at, lower - at, upper - at, color=NOISE, linewidth=0)
            ax.plot(at, ecdf - at, linewidth=1)
            ax.set_title(name, fontsize="x-small" if len(name) > 28 else "small")
        for ax in axes[len(pit) :]:
            ax.remove()
        figure.supxlabel("rank of the truth among the posterior draws")
        figure.supylabel("ECDF less the uniform's")
        figure.savefig(path, dpi=150)
