"""The figures of the study of languages."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from studies.figures import figure, intervals
from studies.languages.data import CORPORA
from studies.study import Results

_TITLES = {
    "wiki": "Wikipedia",
    "subtitles": "subtitles",
    "wiki_cc": "Wikipedia + web",
    "wiki_native": "untranslated Wikipedia",
}
_LISTS = {"weat1": "flowers, insects", "weat2": "instruments, weapons"}


def draw(results: Results, folder: Path) -> None:
    """Career and gender, flowers and instruments in every language, and what counting words does to each."""
    _career(results, folder / "career.png")
    _pleasantness(results, folder / "flowers-and-instruments.png")
    _standardised(results, folder / "words-as-samples.png")


def _career(results: Results, path: Path) -> None:
    cells = results["career"]
    order = cells.groupby("language").bias.mean().sort_values(ascending=False).index
    with figure(path, 9, 6, len(CORPORA), sharex=True, sharey=True) as axes:
        for ax, corpus in zip(axes, CORPORA, strict=True):
            rows = cells[cells.corpus == corpus].set_index("language").reindex(order)
            intervals(ax, rows, order, _TITLES[corpus])
        axes[1].set_xlabel("bias: male words with career, female words with family (difference of mean cosines)", x=1)


def _pleasantness(results: Results, path: Path) -> None:
    cells = results["pleasantness"]
    order = cells.groupby("language").bias.mean().sort_values(ascending=False).index
    with figure(path, 7, 5.8, 2, sharex=True, sharey=True) as axes:
        for ax, (name, title) in zip(axes, _LISTS.items(), strict=True):
            intervals(ax, cells[cells["list"] == name].set_index("language").reindex(order), order, title)
        axes[0].set_xlabel("bias (difference of mean cosines)", x=1)


def _standardised(results: Results, path: Path) -> None:
    parts = {"career": "o", "occupations": "s", "pleasantness": "^"}
    names = {"pleasantness": "flowers, instruments"}
    with figure(path, 4.6, 4.2) as (ax,):
        for k, (part, marker) in enumerate(parts.items()):
            cells = results[part]
            x, y = (cells.bias / cells[se] for se in ("quasi_f_se_targets", "quasi_f_se"))
            ax.plot(
                x, y, linestyle="", marker=marker, markersize=4, alpha=0.7, color=f"C{k}", label=names.get(part, part)
            )
        _diagonal(ax)
        ax.set(xlabel="bias in standard errors, targets as samples (WEAT)", ylabel="... both lists as samples")
        ax.legend(frameon=False)


def _diagonal(ax: Axes) -> None:
    ends = np.array([min(ax.get_xlim()[0], ax.get_ylim()[0]), min(ax.get_xlim()[1], ax.get_ylim()[1])])
    ax.plot(ends, ends, color="black", linewidth=0.7)
    ax.axhline(1.96, color="black", linewidth=0.7, linestyle=":")
    ax.axvline(1.96, color="black", linewidth=0.7, linestyle=":")
