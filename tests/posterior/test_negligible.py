"""Whoever says up to which size a bias is negligible is told how probable it is that it is."""

import numpy as np
import pytest
from scipy.stats import norm

from bayes_bias import posterior_draws, report, summarize, verdict
from bayes_bias.errors import BayesBiasError
from bayes_bias.posterior.estimates import bias_estimate
from tests.helpers import refused, says

ROPE = 0.1


def test_prob_negligible_matches_share_of_draws(small_fit):
    found = summarize(small_fit, rope=ROPE)
    for estimand in ("bias", "group_bias", "excess", "target_bias"):
        inside = (abs(posterior_draws(small_fit, estimand)) < ROPE).mean(("chain", "draw"))
        np.testing.assert_allclose(found.loc[estimand, "prob_negligible"], inside, atol=0.03)


def test_prob_negligible_equals_average_normal_probability(small_fit):
    mixture = bias_estimate(small_fit).mixture
    upper, lower = (norm.cdf((end - mixture.centre) / mixture.sd).mean() for end in (ROPE, -ROPE))
    assert verdict(small_fit, rope=ROPE).prob_negligible == pytest.approx(upper - lower)


def test_prob_negligible_increases_with_rope(small_fit):
    found = [verdict(small_fit, rope=rope).prob_negligible for rope in (0.001, 0.1, 0.12, 10)]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(1)


def test_prob_negligible_is_missing_for_effect_size_and_raw_contrast(small_fit):
    assert np.isnan(summarize(small_fit, "targets", rope=ROPE).loc["effect_size", "prob_negligible"]).all()
    assert np.isnan(summarize(small_fit, "none", rope=ROPE).prob_negligible).all()
    assert "prob_negligible" not in summarize(small_fit)
    assert "negligible" not in verdict(small_fit, "none", rope=ROPE).text


def test_verdict_contains_probability_of_negligible_bias_with_rope(small_fit):
    assert says(verdict(small_fit, rope=0.001).text, "negligible 0.001 below .001")
    assert "negligible" not in verdict(small_fit).text


@pytest.mark.parametrize("rope", [0, -0.01, float("nan"), float("inf"), "0.01", True])
def test_verdict_summarize_and_report_raise_for_invalid_rope(small_fit, small_table, rope):
    for ask in (verdict, summarize):
        with refused(BayesBiasError, "rope positive"):
            ask(small_fit, rope=rope)
    with refused(BayesBiasError, "rope"):
        report(small_table, rope=rope)
