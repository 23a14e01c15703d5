r"""How much the words of a sub-topic correlate: the vectors say what to expect, and the table has its say.

Of each group or class h with sub-topics the effects of two words of one sub-topic correlate by

.. math:: \rho_h \sim \mathrm{Beta}(\nu m_h,\ \nu (1 - m_h)),

where :math:`m_h` is what the vectors show (`bayes_bias.associations.sub_topics`), and :math:`\nu` stands in the spec.
"""

from functools import cache

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import beta, norm

from bayes_bias.models.spec import CORRELATION, ModelSpec
from bayes_bias.table.clusters import RELATED
from bayes_bias.table.labels import SIDES

type Numbers = NDArray[np.float64]

# Where a standard normal variable is looked up; between these the quantile of the prior is a cubic.
FIRST, STEP, KNOTS = -8.0, 0.05, 321


def expected_correlations(data: xr.Dataset) -> dict[str, Numbers]:
    """Expected correlations of each side that has some, by its name in the data."""
    names = [f"{side}_{CORRELATION}_expected" for side in SIDES if data.sizes.get(RELATED[side])]
    return {name: data[name].to_numpy() for name in names}


def correlations_needed(data: xr.Dataset) -> set[str]:
    """The variables without which it is not known how much words of a sub-topic correlate."""
    return {name.removesuffix("_expected") for name in expected_correlations(data)}


def concentration(spec: ModelSpec) -> float:
    """How closely correlations lie about what is expected: that many words of evidence."""
    return float(spec.priors[CORRELATION].parameters["nu"])


@cache
def quantiles(expected: float, nu: float) -> Numbers:
    """The correlation as a function of a standard normal variable, and its slope, at the knots; (knots, 2).

    Sampled as that variable, a correlation whose prior lies nearly all at zero, with a long tail, is as easy as any.
    """
    z, prior = FIRST + STEP * np.arange(KNOTS), beta(nu * expected, nu * (1 - expected))
    value = np.where(z < 0, prior.ppf(norm.cdf(z)), prior.isf(norm.sf(z)))
    density = np.exp(norm.logpdf(z) - prior.logpdf(np.clip(value, np.finfo(float).tiny, 1 - 1e-15)))
    slope = np.where((value > 0) & (value < 1), density, 0.0)
    return np.column_stack([value, slope])


def normal_scores(correlation: Numbers, expected: Numbers, nu: float) -> Numbers:
    """Return the standard normal variable whose quantile each correlation is; expected values lie in the last axis."""
    prior = beta(nu * expected, nu * (1 - expected))
    lower, upper = prior.cdf(correlation), prior.sf(correlation)
    return np.asarray(np.where(lower < upper, norm.ppf(lower), norm.isf(upper)).clip(FIRST, -FIRST))
