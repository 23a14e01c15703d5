"""What templates, seeds or corpora say of a bias: laws that hold in every draw."""

import numpy as np
import pytest
from scipy.special import ndtr

from bayes_bias.fitting.fitted import Fitted
from bayes_bias.posterior.estimate import Estimate
from bayes_bias.posterior.estimates import estimates
from bayes_bias.table.bias_weights import BLOCK, bias_weights


@pytest.fixture(scope="module")
def over_all(fit_of_templates) -> dict[str, Estimate]:
    return estimates(fit_of_templates, "all", words=False)


def test_reliability_of_ten_replicates_matches_spearman_brown(over_all):
    """Brown (1910), https://doi.org/10.1111/j.2044-8295.1910.tb00207.x: n r / (1 + (n - 1) r)."""
    draws = over_all["reliability"].draws
    single, ten = draws.sel(contrast="1"), draws.sel(contrast="10")
    np.testing.assert_allclose(ten, 10 * single / (1 + 9 * single), rtol=1e-10)


def test_same_sign_matches_normal_probability(fit_of_templates, over_all):
    sign, fitted = over_all["same_sign"], Fitted.of(fit_of_templates)
    bias = (fitted.posterior["mean"] * bias_weights(fitted.data)).sum(BLOCK)
    np.testing.assert_allclose(sign.draws, ndtr(bias / over_all["replicate_sd"].draws), rtol=1e-10)
    raw = over_all["replicate_bias"].observed
    assert raw.mean() > 0
    assert (bias < 0).any()
    assert ((sign.draws < 0.5) == (bias < 0)).all()
    assert sign.observed.item() == pytest.approx((np.sign(raw) == np.sign(raw.mean())).mean().item())


def test_spread_of_replicates_ignores_scope(fit_of_templates, over_all):
    for scope in ("both", "targets"):
        narrower = estimates(fit_of_templates, scope, words=False)
        for name in ("replicate_sd", "same_sign", "reliability"):
            assert narrower[name].draws.identical(over_all[name].draws)


def test_replicate_bias_equals_observed_in_scope_replicates(fit_of_templates, over_all):
    given = estimates(fit_of_templates, "replicates", words=False)["replicate_bias"]
    raw = over_all["replicate_bias"].observed
    assert given.draws.identical(given.observed)
    np.testing.assert_allclose(given.observed, raw)
