"""Figures of a fit: one plot per file, each returns matplotlib axes."""

from bayes_bias.plots.forest import plot_forest
from bayes_bias.plots.overview import plot_overview
from bayes_bias.plots.plan import plot_plan
from bayes_bias.plots.posterior import plot_posterior
from bayes_bias.plots.variance_shares import plot_variance_shares
from bayes_bias.plots.word_bias import plot_word_bias

__all__ = [
    "plot_forest",
    "plot_overview",
    "plot_plan",
    "plot_posterior",
    "plot_variance_shares",
    "plot_word_bias",
]
