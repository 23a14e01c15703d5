"""The checks of a report, in the order of the page: one file each, and one row here."""

from bayes_bias.reports.checks import clusters, convergence, data_fit, nulls, prior, second_opinion

CHECKERS = (
    convergence.CHECKER,
    nulls.CHECKER,
    second_opinion.CHECKER,
    prior.CHECKER,
    clusters.CHECKER,
    data_fit.CHECKER,
)

__all__ = ["CHECKERS"]
