"""The figure of the study of native writers."""

from pathlib import Path

from studies.figures import figure
from studies.native_writers.page import NAMES
from studies.study import Results

TITLES = {"weat1": "flowers, insects", "weat2": "instruments, weapons"}


def draw(results: Results, folder: Path) -> None:
    """How d differs between writers, against the bootstrap of words within a list: a dot for a language and model."""
    published, ends = results["published"], (0.15, 0.6)
    with figure(folder / "writers.png", 7.2, 3.9, 2, sharex=True, sharey=True) as axes:
        for ax, (test, title) in zip(axes, TITLES.items(), strict=True):
            for marker, (code, cells) in zip("os^D", published[published.test == test].groupby("code"), strict=True):
                look = {"linestyle": "", "marker": marker, "markersize": 4, "alpha": 0.7}
                ax.plot(cells.within, cells.between, **look, label=NAMES[code])
            ax.plot(ends, ends, color="black", linewidth=0.7)
            ax.set(xlim=ends, ylim=ends, aspect="equal", xlabel="standard error of d from words")
            ax.set_title(title, loc="left", fontsize=9.5, fontweight="bold")
        axes[0].set_ylabel("standard deviation of d between writers")
        axes[0].legend(frameon=False, loc="lower right", fontsize=8)
