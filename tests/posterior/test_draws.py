"""Draws of an estimand are those that its row of the summary describes, in the form that ArviZ plots."""

import arviz as az
import numpy as np
import pytest

from bayes_bias import posterior_draws, summarize
from bayes_bias.errors import BayesBiasError, ScopeError
from tests.helpers import refused


@pytest.mark.parametrize("estimand", ["bias", "group_bias", "excess", "attribute_bias"])
@pytest.mark.parametrize("scope", ["both", "targets"])
def test_posterior_draws_match_labels_and_mean_of_summary(small_fit, estimand, scope):
    found, rows = posterior_draws(small_fit, estimand, scope), summarize(small_fit, scope).loc[estimand]
    assert found.dims == ("chain", "draw", "contrast")
    assert found.name == estimand
    assert found.contrast.to_numpy().tolist() == rows.index.tolist()
    missed = found.mean(("chain", "draw")).to_numpy() - rows["mean"].to_numpy()
    assert np.abs(missed / rows["sd"].to_numpy()).max() < 0.08


def test_arviz_plots_each_contrast_of_posterior_draws(small_fit):
    plotted = az.plot_dist(posterior_draws(small_fit, "group_bias").to_dataset(), backend="none")
    assert plotted.viz["dist"]["group_bias"].contrast.to_numpy().tolist() == ["men", "women"]


def test_posterior_draws_raises_for_unknown_estimand(small_fit):
    with refused(BayesBiasError, "'grup_bias' 'group_bias'"):
        posterior_draws(small_fit, "grup_bias")


def test_posterior_draws_raises_for_scope_none(small_fit):
    with refused(ScopeError, "scope 'none'"):
        posterior_draws(small_fit, scope="none")
