"""The checks of a report in the order of the page. Each check has its own file and a row in this module."""

from bayes_bias.analyses.report import check_clusters as clusters
from bayes_bias.analyses.report import check_convergence as convergence
from bayes_bias.analyses.report import check_data_fit as data_fit
from bayes_bias.analyses.report import check_frequency as frequency
from bayes_bias.analyses.report import check_nulls as nulls
from bayes_bias.analyses.report import check_prior as prior
from bayes_bias.analyses.report import check_second_opinion as second_opinion

CHECKERS = (
    convergence.CHECKER,
    nulls.CHECKER,
    second_opinion.CHECKER,
    prior.CHECKER,
    clusters.CHECKER,
    frequency.CHECKER,
    data_fit.CHECKER,
)
