"""Simulation-based calibration of a user's design: PyMC draws the tables, and the posterior is that of `verdict`."""

import numpy as np
import pytest

from bayes_bias import calibrate, cosines, prior_predictive
from bayes_bias.checks.calibration import uniformity_of
from bayes_bias.checks.simulation import simulated_tables
from bayes_bias.errors import BayesBiasError, ScopeError, SpecError
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.verdict import verdict_of_table
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.statistics import table_means
from tests.helpers import random_table, refused

SPEC = load_spec("crossed")


@pytest.fixture(scope="module")
def table():
    return random_table(targets={"men": 6, "women": 6}, attributes={"work": 6, "home": 6})


def test_simulated_tables_have_planted_bias(table):
    def biases(truth):
        found = []
        for drawn in simulated_tables(table, SPEC, truth=truth, draws=8, seed=2):
            means = table_means(drawn)
            found.append(float((bias_weights(means).isel(contrast=0) * means.block_mean).sum()))
        return found

    planted, none = biases(0.05), biases(0.0)
    np.testing.assert_allclose(np.subtract(planted, none), 0.05)
    assert 0 < np.std(none) < 0.2


def test_calibrate_records_equal_verdicts_of_simulated_tables(table):
    result = calibrate(table, by="simulation", draws=3, seed=4, planted=0.02)
    simulated = simulated_tables(table, SPEC, truth=0.02, draws=3, seed=4)
    for drawn, record in zip(simulated, result.records.to_dict("records"), strict=True):
        verdict = verdict_of_table(drawn)
        assert record["mean"] == pytest.approx(verdict.mean)
        assert record["p_value"] == pytest.approx(verdict.chance)
        assert record["ci95_lb"] == pytest.approx(verdict.lower, rel=1e-3, abs=1e-6)


def test_calibrate_ranks_are_uniform_for_simulated_tables(table):
    result = calibrate(table, by="simulation", draws=200)
    row = result.uniformity.loc[("crossed", "both")]
    assert row.p_value > 0.01
    assert row.coverage_80_ci95_lb < 0.8 < row.coverage_80_ci95_ub
    assert "compatible with a uniform distribution" in result.text
    assert f"{row.coverage_80:.1%}" in result.text


def test_uniformity_of_rejects_too_short_intervals(table):
    records = calibrate(table, by="simulation", draws=5).records
    ranks = np.linspace(0.005, 0.995, 100)
    fine = records.iloc[[0] * 100].assign(rank=ranks)
    short = fine.assign(rank=np.where(ranks < 0.5, ranks**2, 1 - (1 - ranks) ** 2))
    assert uniformity_of(fine).p_value.item() > 0.5
    row = uniformity_of(short).iloc[0]
    assert row.p_value < 0.01
    assert row.coverage_95_ci95_ub < 0.95


def test_simulated_tables_have_replicates_with_own_values():
    def encoder(texts):
        return [[text.count(letter) + 1 for letter in "aeiourst"] for text in texts]

    encoded = cosines("weat6", encoder, (), templates="noun-10")
    (simulated,) = simulated_tables(encoded, SPEC, truth=0.0, draws=1, seed=1)
    tables = simulated.replicates.stacked().to_numpy()
    assert len(tables) == 10
    np.testing.assert_allclose(np.mean(tables, axis=0), simulated.values)
    assert np.std(tables, axis=0).min() > 0


def test_calibrate_by_simulation_raises_for_unused_settings(table):
    for setting, value in (("random", "both"), ("size", 5), ("folder", "records"), ("scopes", "both")):
        with refused(BayesBiasError, f"{setting} by='simulation'"):
            calibrate(table, by="simulation", **{setting: value})
    with refused(SpecError, "'robust' 'crossed'"):
        calibrate(table, by="simulation", models="robust")
    with refused(BayesBiasError, "by: 'simulated' 'simulation'"):
        calibrate(table, by="simulated")


def test_prior_noise_equals_verdict_mean_of_unbiased_tables(table):
    noise = prior_predictive(table, draws=4, seed=3)["prior"].noise.isel(chain=0)
    simulated = simulated_tables(table, SPEC, truth=0.0, draws=4, seed=3)
    np.testing.assert_allclose(noise, [verdict_of_table(drawn).mean for drawn in simulated], atol=1e-9)


def test_calibrate_raises_for_simulation_of_single_word():
    with refused(ScopeError, "by 'simulation' two or more words Add words"):
        calibrate(random_table(targets={"men": 1, "women": 6}), by="simulation", draws=2)
