"""The transform of scales is one to one for either sign of its variable, and leaves the prior as it is."""

import numpy as np
import pymc as pm
import pytest
from scipy.integrate import quad
from scipy.stats import halfnorm

from bayes_bias.models.priors import FoldedScale

SCALES = np.array([1e-6, 0.01, 0.3, 1.0, 40.0])


@pytest.mark.parametrize("typical", [1.0, 0.05])
def test_folded_scale_inverts_for_either_sign(typical):
    transform = FoldedScale(typical)
    variable = transform.forward(SCALES).eval(mode="FAST_COMPILE")
    for signed in (variable, -variable):
        assert transform.backward(signed).eval(mode="FAST_COMPILE") == pytest.approx(SCALES, rel=1e-12)


@pytest.mark.parametrize("typical", [1.0, 0.05])
def test_folded_scale_keeps_prior_density(typical):
    transform = FoldedScale(typical)
    with pm.Model() as model:
        pm.HalfNormal("sd", 1.65 * typical, default_transform=transform)
    logp = model.compile_logp(mode="FAST_COMPILE")

    def density(variable):
        return float(np.exp(logp({"sd_folded__": variable})))

    whole = quad(density, -np.inf, np.inf)[0]
    for scale in SCALES[1:4] * typical:
        variable = float(transform.forward(scale).eval(mode="FAST_COMPILE"))
        below = quad(density, -variable, variable)[0]
        assert below / whole == pytest.approx(halfnorm(scale=1.65 * typical).cdf(scale), abs=1e-6)
