"""Shares are averaged over writers; noise, and plans, are those of tables drawn at random."""

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from bayes_bias.analyses.sentence_pairs.estimands import differences, shares, variance_parts
from bayes_bias.analyses.sentence_pairs.planning import pairs_needed, plan_pairs
from bayes_bias.analyses.sentence_pairs.scores import design, read_scores
from tests.analyses.sentence_pairs.tables import simulated

DATA = design(read_scores(simulated(300, 20)))[0]
TYPE_OF, WRITER_OF = DATA.type_of.to_numpy(), DATA.writer_of.to_numpy()


def known(level: float, sd: float, types: tuple[float, ...] = (0.5, -0.2, -0.3)) -> xr.Dataset:
    """A posterior that knows all parameters of the share."""
    rng = np.random.default_rng(1)
    return xr.Dataset(
        {
            "logit": (("chain", "draw"), [[level] * 2]),
            "logit_sd_writer": (("chain", "draw"), [[sd] * 2]),
            "type_effect": (("chain", "draw", "bias_type"), [[types] * 2]),
            "writer_effect": (("chain", "draw", "writer"), [[sd * rng.standard_normal(20)] * 2]),
        }
    )


def test_shares_match_integral_over_writers():
    posterior = known(1.0, 1.5)
    found = shares(posterior, DATA)
    by_type = [
        quad(lambda z, at=level: expit(1.0 + at + 1.5 * z) * norm.pdf(z), -9, 9)[0] for level in (0.5, -0.2, -0.3)
    ]
    assert found.values[0, 1:] == pytest.approx(by_type, abs=1e-5)
    assert found.values[0, 0] == pytest.approx(np.array(by_type)[TYPE_OF].mean(), abs=1e-5)
    assert by_type[0] < expit(1.5) - 0.05


def test_shares_with_scope_pairs_match_effects_of_given_writers():
    posterior = known(1.0, 1.5)
    given = posterior.isel(chain=0, draw=0)
    expected = expit(1.0 + given.type_effect.to_numpy()[TYPE_OF] + given.writer_effect.to_numpy()[WRITER_OF])
    assert shares(posterior, DATA, "pairs").values[0, 0] == pytest.approx(expected.mean())


def test_noise_floor_matches_tables_without_preference():
    rng, sd = np.random.default_rng(2), 1.2
    chance = expit(sd * rng.standard_normal((20_000, 20)))[:, WRITER_OF]
    drawn = (rng.random(chance.shape) < chance).mean(axis=1)
    found = shares(known(0.0, sd), DATA).noise_sd[0, 0]
    assert found == pytest.approx(drawn.std(), rel=0.02)
    assert found > 2 * 0.5 / np.sqrt(300)  # what it would be if pairs were independent


def test_noise_of_differences_equals_sd_of_clustered_mean():
    """Without clusters the variance of a normal mean; with them what the sizes of writers say."""
    names = {"mean": 0.0, "scale_residual": 2.0, "sd_writer": 0.7}
    posterior = xr.Dataset({name: (("chain", "draw"), [[value]]) for name, value in names.items()})
    share = np.bincount(WRITER_OF) / 300
    expected = np.sqrt(4 / 300 + 0.49 * (share**2).sum())
    assert differences(posterior, DATA).noise_sd[0, 0] == pytest.approx(expected)


def test_plan_of_needed_writers_has_the_stated_power():
    """The share is uncertain: the probability averaged over its posterior would be far below the power."""
    rng = np.random.default_rng(1)
    posterior = xr.concat([known(mean, 1.0, (0.0, 0.0, 0.0)) for mean in rng.normal(0.4, 0.3, 200)], "draw")
    needed = pairs_needed(posterior, DATA)
    below, enough = plan_pairs(posterior, DATA, [needed.count - 1, needed.count], [needed.pairs_each]).power
    assert below < needed.power <= enough < needed.power + 0.02


def test_plan_pairs_width_matches_simulated_tables():
    posterior = known(0.4, 1.0, (0.0, 0.0, 0.0))
    rng = np.random.default_rng(5)
    chance = expit(0.4 + rng.standard_normal((20_000, 15, 1)))
    drawn = (rng.random((20_000, 15, 8)) < chance).mean(axis=(1, 2))
    row = plan_pairs(posterior, DATA, [15], [8]).iloc[0]
    assert row.pairs == 120
    assert row.width == pytest.approx(2 * 2.1448 * drawn.std(), rel=0.03)  # Student's, 14 degrees of freedom
    shared, total = variance_parts(posterior, DATA)
    assert total[0] == pytest.approx(drawn.mean() * (1 - drawn.mean()), rel=0.01)
    assert shared[0] == pytest.approx(chance.var(), rel=0.02)
