"""The figure of the ten tests."""

from pathlib import Path

from studies.figures import figure, intervals
from studies.study import Results


def draw(results: Results, folder: Path) -> None:
    """Ten biases in three models with words of a sub-topic counted as fewer, and behind them as independent draws."""
    cells = results["cells"]
    names = list(dict.fromkeys(cells.embedding))
    with figure(folder / "ten-tests.png", 8, 3.2, len(names), sharey=True) as axes:
        for ax, name in zip(axes, names, strict=True):
            rows = cells[cells.embedding == name]
            for row, cell in enumerate(rows.itertuples()):
                ax.plot([cell.ci95_lb, cell.ci95_ub], [-row, -row], color="#d5d5d5", linewidth=5, solid_capstyle="butt")
            counted = {"ci95_lb": rows.topics_lb, "ci95_ub": rows.topics_ub, "verdict": rows.topics_verdict}
            intervals(ax, rows.assign(**counted), list(rows["list"]), name)
        axes[1].set_xlabel("bias (difference of mean cosines); grey bars: if all words were independent draws")
