"""Power-scaling: its likelihood is exact, and a prior that decides is found out."""

import arviz_stats
import numpy as np
import pytest
import xarray as xr
from scipy.stats import expon, invgamma

from bayes_bias import cosines, fit
from bayes_bias.fitting import power_scaling
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.power_scaling import (
    collapsed_log_likelihood,
    log_priors,
    power_scaling_groups,
    sensitivity,
    sensitivity_of_bias,
)
from bayes_bias.models.spec import ModelSpec, load_spec
from tests.helpers import SCALES, dense_log_likelihood


def test_collapsed_log_likelihood_matches_dense_normal(small_table, small_fit):
    posterior = small_fit["posterior"].to_dataset()
    parts = collapsed_log_likelihood(posterior, Fitted.of(small_fit).data)
    collapsed = parts.to_array().sum("variable")
    differences = []
    for draw in (0, 5, 500):
        point = {name: posterior[name].to_numpy()[0, draw] for name in (*SCALES, "mean")}
        differences.append(dense_log_likelihood(small_table, point) - collapsed[0, draw].item())
    np.testing.assert_allclose(differences, differences[0], rtol=1e-8)


def test_collapsed_log_likelihood_is_the_same_in_batches(small_fit, monkeypatch):
    """Covariances of all blocks for all draws took 27 GB for 20 groups and 20 classes."""
    posterior, data = small_fit["posterior"].to_dataset(), Fitted.of(small_fit).data
    at_once = collapsed_log_likelihood(posterior, data)
    monkeypatch.setattr(power_scaling, "_MOST_NUMBERS", 7 * posterior.sizes["chain"] * data.block_mean.size**2)
    xr.testing.assert_allclose(collapsed_log_likelihood(posterior, data), at_once)


def test_many_blocks_have_no_log_likelihood(small_fit, monkeypatch):
    fitted = Fitted.of(small_fit)
    assert "log_likelihood" in power_scaling_groups(fitted.posterior, fitted.data, fitted.spec)
    monkeypatch.setattr(power_scaling, "_MOST_BLOCKS", fitted.data.block_mean.size - 1)
    assert list(power_scaling_groups(fitted.posterior, fitted.data, fitted.spec)) == ["log_prior"]


def test_log_priors_match_densities_of_spec(small_fit):
    posterior = small_fit["posterior"].to_dataset()
    data = Fitted.of(small_fit).data
    found = log_priors(posterior, data, load_spec("crossed"))
    # The table has no vectors, so that preferences have the exponential prior.
    expected = expon(scale=1 / 2.5).logpdf(posterior.sd_attribute_preference / data.class_within_sd)
    np.testing.assert_allclose(found.sd_attribute_preference, expected, atol=1e-6)
    np.testing.assert_allclose(small_fit["log_prior"].sd_attribute_preference, expected.sum(axis=-1), atol=1e-6)


@pytest.fixture(scope="module")
def gender(sampled):
    """A list for which it matters a little how sure the vectors are of preferences."""
    return cosines("gender", "googlenews-demo")


@pytest.fixture(scope="module")
def gender_fit(gender):
    return fit(gender, seed=1)


def test_log_prior_contains_preference_variances_and_factors_from_vectors(gender_fit):
    found = set(gender_fit["log_prior"].data_vars)
    from_vectors = {"target_preference_variance", "attribute_preference_variance"}
    from_vectors |= {"target_preference_factor", "attribute_preference_factor"}
    followed = {"sd_target_preference", "sd_attribute_preference"}
    assert from_vectors <= found
    sampled = {name for name in load_spec("crossed").priors if name in gender_fit["posterior"]}
    assert found - from_vectors == sampled - followed


def test_log_prior_of_variance_and_factor_matches_scipy(gender_fit):
    """Control classes, which come last, have no factor. The prior is written out here."""
    data, posterior = Fitted.of(gender_fit).data, gender_fit["posterior"].to_dataset()
    factor = posterior.attribute_preference_factor.to_numpy()
    n_controls = data.sizes["control"]
    assert n_controls == 2
    factors = np.stack([factor] * 2 + [np.ones_like(factor)] * n_controls, axis=-1)
    prior = invgamma(8 / 2, scale=8 / 2 * factors * data.attribute_preference_sd.to_numpy() ** 2)
    variance = posterior.attribute_preference_variance.transpose("chain", "draw", "attribute_class").to_numpy()
    stored = gender_fit["log_prior"]
    expected = prior.logpdf(variance).sum(axis=-1)
    np.testing.assert_allclose(stored.attribute_preference_variance.to_numpy(), expected, rtol=1e-6)
    expected = invgamma(1 / 2, scale=1 / 2).logpdf(factor)
    np.testing.assert_allclose(stored.attribute_preference_factor.to_numpy(), expected, rtol=1e-6)


def test_prior_sensitivity_is_low_for_clear_bias(small_fit):
    found = Diagnostics.of(small_fit).prior_sensitivity
    table = arviz_stats.psense(small_fit)["mean"]  # ArviZ finds in a fit all that it needs
    assert table.max() < 0.05
    assert 0 < found < 0.05


def test_prior_sensitivity_is_high_for_narrow_prior(small_fit):
    """The prior would have preferences of attributes much smaller than they are."""
    fitted = Fitted.of(small_fit)
    posterior = fitted.posterior

    def sensitivity_with(spec: ModelSpec) -> float:
        groups = power_scaling_groups(posterior, fitted.data, spec)
        return sensitivity_of_bias(posterior, fitted.data, groups["log_prior"])

    narrow = fitted.spec.with_prior("sd_attribute_preference", "HalfNormal", sigma=0.05)
    assert sensitivity_with(fitted.spec) == pytest.approx(Diagnostics.of(small_fit).prior_sensitivity)
    assert sensitivity_with(narrow) > 0.05


def test_power_scaling_is_undefined_without_collapsed_likelihood(small_fit):
    fitted = Fitted.of(small_fit)
    assert power_scaling_groups(fitted.posterior, fitted.data, fitted.spec.with_option("likelihood", "long")) == {}


def test_sensitivity_is_zero_for_uniform_and_nan_for_constant(small_fit):
    def sensitivity_to(log_prior):
        found = sensitivity(small_fit["posterior"].to_dataset()[["bias"]], {"log_prior": log_prior}, "prior")
        return found.bias.item()

    log_prior = small_fit["log_prior"].to_dataset()
    assert sensitivity_to(xr.zeros_like(log_prior)) == 0
    stuck = log_prior.sd_residual
    highest = stuck.where(stuck < stuck.quantile(0.4), stuck.max()).to_dataset()
    assert np.isnan(sensitivity_to(highest))
