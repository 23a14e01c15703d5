"""Fit to the raw cosines: predictive coverage and PSIS-LOO, with word effects recovered."""

import numpy as np
import pytest

from bayes_bias import posterior_predictive, word_effects
from bayes_bias.checks.predictive import compare_models, predictive_coverage
from bayes_bias.errors import TableError
from tests.helpers import random_table, refused


def test_predictive_coverage_exceeds_nominal_share(small_fit):
    """More than that here: half as many word effects as cosines, and the same cosines decided on the effects."""
    coverage = predictive_coverage(small_fit, probs=(0.5, 0.89))
    assert 0.5 < coverage[0.5] < 0.8
    assert 0.89 < coverage[0.89] < 1


def test_log_likelihood_matches_normal_density_of_one_pair(small_table, small_fit):
    posterior, effects = small_fit["posterior"], word_effects(small_fit)
    expected = (
        posterior["mean"].sel(group="men", attribute_class="work")
        + effects.target_effect.sel(attribute_class="work").isel(target=0)
        + effects.attribute_effect.sel(group="men").isel(attribute=0)
    )[0, 0]
    sd = posterior.sd_residual[0, 0]
    density = -0.5 * np.log(2 * np.pi * sd**2) - (small_table.values[0, 0] - expected) ** 2 / 2 / sd**2
    assert posterior_predictive(small_fit)["log_likelihood"].association[0, 0, 0].item() == pytest.approx(
        density.item()
    )


def test_hierarchical_log_likelihood_matches_density_of_connections(small_table, hierarchical_fit):
    posterior = hierarchical_fit["posterior"].isel(chain=0, draw=0)
    found = (
        posterior_predictive(hierarchical_fit)["log_likelihood"]
        .association[0, 0]
        .to_numpy()
        .reshape(small_table.values.shape)
    )
    for attribute, connection in ((0, "associated"), (6, "different"), (11, "neutral")):
        expected = posterior.target_connection_mean.sel(connection=connection).isel(target=0)
        sd = posterior.residual_sd.sel(connection=connection)
        missed = 1 - small_table.values[0, attribute] - expected
        density = -0.5 * np.log(2 * np.pi * sd**2) - missed**2 / 2 / sd**2
        assert found[0, attribute] == pytest.approx(density.item())


def test_compare_models_ranks_true_model_first(small_fit, hierarchical_fit):
    table = compare_models({"crossed": small_fit, "hierarchical": hierarchical_fit})
    assert table.index[0] == "crossed"
    assert table.loc["hierarchical", "elpd_diff"] < -2 * table.loc["hierarchical", "dse"]
    assert set(table.columns) >= {"elpd", "p", "weight", "bad_k"}


def test_compare_models_raises_for_different_tables(small_fit, hierarchical_fit):
    with_other_table = hierarchical_fit.copy()
    with_other_table.attrs = hierarchical_fit.attrs | {"table_sha256": random_table(1).sha256}
    with refused(TableError, "different tables"):
        compare_models({"a": small_fit, "b": with_other_table})


def test_predictive_coverage_raises_without_observed_data(small_fit):
    with refused(TableError, "many"):
        predictive_coverage(small_fit.drop_nodes("observed_data"))


def test_predictive_coverage_of_template_means_matches_nominal_share(fit_of_templates):
    half, most = predictive_coverage(fit_of_templates)
    assert 0.45 < half < 0.7
    assert 0.85 < most < 0.97
