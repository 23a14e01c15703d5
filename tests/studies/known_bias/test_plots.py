"""A figure has what its table has."""

import numpy as np
import pandas as pd

from bayes_bias.plots.style import MARKERS
from studies.known_bias.plots import plot_answers
from tests.plots.test_plots_of_results import interval_at_height, legend, yticks


def test_plot_answers_has_rows_and_colours_of_table() -> None:
    table = pd.DataFrame(
        {
            "measure": ["WEAT", "WEAT", "SAME"],
            "model": ["skip-gram", "glove", "skip-gram"],
            "value": [0.3, 0.5, 0.9],
            "ci95_lb": [0.2, 0.4, np.nan],
            "ci95_ub": [0.4, 0.6, np.nan],
        }
    )
    ax = plot_answers(table, unit="correlation", reference=1.0, title="words")
    assert yticks(ax) == ["WEAT", "SAME"]
    points = {line.get_xdata()[0]: line for line in ax.lines if line.get_marker() in MARKERS}
    assert sorted(points) == [0.3, 0.5, 0.9]
    assert [round(float(points[value].get_ydata()[0])) for value in (0.3, 0.5, 0.9)] == [0, 0, 1]
    assert points[0.3].get_color() == points[0.9].get_color() != points[0.5].get_color()
    assert sorted(interval_at_height(ax).values()) == [[0.2, 0.4], [0.4, 0.6]]
    assert legend(ax) == ["skip-gram", "glove"]
    assert any(set(line.get_xdata()) == {1.0} for line in ax.lines)  # the reference
    assert (ax.get_xlabel(), ax.get_title(loc="left")) == ("correlation", "words")
