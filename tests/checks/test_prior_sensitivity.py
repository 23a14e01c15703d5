"""Power-scaling: its likelihood is exact, and a prior that decides is found out."""

import json

import arviz_stats
import numpy as np
import pytest
import xarray as xr
from scipy.stats import beta, expon, norm

from bayes_bias import Sampling, cosines, fit, summarize
from bayes_bias.analyses.report.check import Study
from bayes_bias.analyses.report.checks import CHECKERS
from bayes_bias.checks.prior_sensitivity import prior_sensitivity, sensitivity_by_prior
from bayes_bias.errors import SpecError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.power_scaling import collapsed_log_likelihood, log_priors, sensitivity
from bayes_bias.models.spec import load_spec
from tests.helpers import SCALES, dense_log_likelihood, refused


def test_likelihood_of_draws_is_the_dense_one(small_table, small_fit):
    posterior = small_fit["posterior"].to_dataset()
    collapsed = collapsed_log_likelihood(posterior, small_fit["constant_data"].to_dataset())
    differences = []
    for draw in (0, 5, 500):
        point = {name: posterior[name].to_numpy()[0, draw] for name in (*SCALES, "mean")}
        differences.append(dense_log_likelihood(small_table, point) - collapsed[0, draw].item())
    np.testing.assert_allclose(differences, differences[0], rtol=1e-8)


def test_log_priors_are_those_of_the_spec(small_fit):
    posterior = small_fit["posterior"].to_dataset()
    data = small_fit["constant_data"].to_dataset()
    found = log_priors(posterior, data, load_spec("crossed"))
    expected = expon(scale=1 / 2.5).logpdf(posterior.sd_attribute_preference / data.class_within_sd)
    np.testing.assert_allclose(found.sd_attribute_preference, expected, atol=1e-6)
    np.testing.assert_allclose(small_fit["log_prior"].sd_attribute_preference, expected.sum(axis=-1), atol=1e-6)


@pytest.fixture(scope="module")
def gender(sampled):
    """A list whose related words make the prior of their correlation matter."""
    return cosines("gender", "googlenews-demo")


@pytest.fixture(scope="module")
def gender_fit(gender):
    return fit(gender, seed=1)


def test_priors_of_correlations_are_part_of_the_prior(gender_fit):
    found = set(gender_fit["log_prior"].data_vars)
    assert {"target_correlation", "attribute_correlation"} <= found
    priors = set(load_spec("crossed").priors) - {"correlation"}
    sampled = {name for name in priors if name in gender_fit["posterior"]}
    assert found - {"target_correlation", "attribute_correlation"} == sampled


def test_density_of_a_correlation_is_the_density_of_its_normal_score(gender_fit):
    data, posterior = gender_fit["constant_data"], gender_fit["posterior"]
    expected = data.attribute_correlation_expected.to_numpy()
    nu = load_spec("crossed").priors["correlation"].parameters["nu"]
    below = beta(nu * expected, nu * (1 - expected)).cdf(posterior.attribute_correlation.to_numpy())
    density = norm.logpdf(norm.ppf(below)).sum(axis=-1)
    between = (below > 1e-10).all(axis=-1) & (below < 1 - 1e-10).all(axis=-1)
    stored = gender_fit["log_prior"].attribute_correlation.to_numpy()
    np.testing.assert_allclose(stored[between], density[between], rtol=1e-5)


def test_sensitivity_is_high_when_the_concentration_changes_the_interval(gender, gender_fit):
    """Two further fits are the reference: power-scaling has to find what they show."""
    spec = load_spec("crossed")
    widths = []
    for nu in (2, 4):
        bias = summarize(fit(gender, spec.with_prior("correlation", "Beta", nu=nu), seed=1)).loc[("bias", "overall")]
        widths.append(bias.eti95_ub - bias.eti95_lb)
    assert widths[0] / widths[1] > 1.1
    by_prior = sensitivity_by_prior(gender_fit)
    assert by_prior.index[0].endswith("correlation")
    assert prior_sensitivity(gender_fit).loc[("bias", "overall"), "prior"] > 0.05
    assert Diagnostics.of(gender_fit).concern


def test_report_shows_the_bias_with_other_concentrations(gender, gender_fit):
    study = Study(
        gender,
        Fitted.of(gender_fit),
        load_spec("crossed"),
        "both",
        0.95,
        1,
        Sampling(),
        None,
        0,
        against_published=False,
    )
    text = next(each for each in CHECKERS if each.name == "prior").run(study).text
    assert "With nu = 2, the bias is" in text
    assert "With nu = 8, the bias is" in text


def test_data_decide_a_clear_bias(small_fit):
    table = prior_sensitivity(small_fit)
    assert table.loc[("bias", "overall"), "prior"] < 0.05 < table.loc[("bias", "overall"), "likelihood"]
    assert table.loc[("bias", "overall"), "diagnosis"] == ""
    assert Diagnostics.of(small_fit).prior_sensitivity == pytest.approx(table.loc[("bias", "overall"), "prior"])
    assert arviz_stats.psense(small_fit)["mean"].max() < 0.05  # ArviZ finds in a fit all that it needs
    assert {"group_bias", "excess", "repulsion"} <= set(table.index.get_level_values(0))


def test_a_prior_that_fights_the_data_is_reported(small_fit):
    other = small_fit.copy()
    priors = json.loads(small_fit.attrs["priors"]) | {"sd_attribute": "HalfNormal(sigma=0.05)"}
    other.attrs = small_fit.attrs | {"priors": json.dumps(priors)}
    row = prior_sensitivity(other).loc[("group_bias", "men")]
    assert row["prior"] > 0.05
    assert row.diagnosis == "prior and data disagree"


def test_uniform_priors_and_constant_chains_say_nothing(small_fit):
    def sensitivity_to(log_prior):
        found = sensitivity(small_fit["posterior"].to_dataset()[["bias"]], {"log_prior": log_prior}, "prior")
        return found.bias.item()

    log_prior = small_fit["log_prior"].to_dataset()
    assert sensitivity_to(xr.zeros_like(log_prior)) == 0
    stuck = log_prior.sd_residual
    highest = stuck.where(stuck < stuck.quantile(0.4), stuck.max()).to_dataset()
    assert np.isnan(sensitivity_to(highest))


def test_without_a_collapsed_likelihood_it_is_not_defined(small_fit):
    long = small_fit.copy()
    options = json.loads(small_fit.attrs["options"]) | {"likelihood": "long"}
    long.attrs = small_fit.attrs | {"options": json.dumps(options)}
    with refused(SpecError, "model='crossed'"):
        prior_sensitivity(long)
