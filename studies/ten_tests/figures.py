"""The figure of the ten tests."""

from pathlib import Path

from studies.figures import figure, intervals
from studies.study import Results


def draw(results: Results, folder: Path) -> None:
    """Draw ten biases in three models."""
    cells = results["cells"]
    names = list(dict.fromkeys(cells.embedding))
    with figure(folder / "ten-tests.png", 8, 3.2, len(names), sharey=True) as axes:
        for ax, name in zip(axes, names, strict=True):
            rows = cells[cells.embedding == name]
            intervals(ax, rows, list(rows["list"]), name)
        axes[1].set_xlabel("bias (difference of mean cosines), with 95% intervals")
