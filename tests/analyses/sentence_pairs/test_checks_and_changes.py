"""A check finds what a model cannot say, and a change is how often pairs change times where they go."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import expit, logit

from bayes_bias.analyses.sentence_pairs.estimands import change_of_shares
from bayes_bias.analyses.sentence_pairs.estimation import predictive_checks
from bayes_bias.analyses.sentence_pairs.scores import design, read_scores
from tests.analyses.sentence_pairs.tables import simulated

FRAME = simulated(600, 12, sd=0.0)
DATA = design(read_scores(FRAME[["item", "score_more", "score_less"]]))[0]
BY_WRITER = design(read_scores(simulated(600, 12, sd=1.5).drop(columns="bias_type")))[0]
AVERAGE, SPREAD = "mean difference", "standard deviation of differences"


def fit_of(data: xr.Dataset, **parameters: float) -> xr.DataTree:
    """A fit that knows its parameters: 400 draws of one value."""
    same = {name: (("chain", "draw"), np.full((2, 200), value)) for name, value in parameters.items()}
    return xr.DataTree.from_dict({"posterior": xr.Dataset(same), "constant_data": data})


def posterior_of(data: xr.Dataset, level: float, **parameters: float) -> xr.Dataset:
    """The posterior of shares with this log odds."""
    return fit_of(data, logit=float(level), **parameters)["posterior"].to_dataset()


def checks(data: xr.Dataset, **wrong: float):
    values = data.difference.to_numpy()
    true = {"mean": values.mean(), "scale_residual": values.std()} | wrong
    share = fit_of(data, logit=float(logit(data.ahead.to_numpy().mean())))
    return predictive_checks(share, fit_of(data, **true), seed=1)


def test_predictive_checks_fit_for_right_model():
    fitting = checks(DATA)
    assert fitting.fits[[AVERAGE, SPREAD]].all()
    row = fitting.loc[AVERAGE]
    assert row.observed == pytest.approx(DATA.difference.to_numpy().mean())
    error = DATA.difference.to_numpy().std() / np.sqrt(DATA.sizes["pair"])
    assert row.eti99_ub - row.eti99_lb == pytest.approx(2 * 2.576 * error, rel=0.25)


@pytest.mark.parametrize(("wrong", "seen_in"), [({"mean": 1.2}, AVERAGE), ({"scale_residual": 4.0}, SPREAD)])
def test_predictive_checks_find_wrong_mean_or_spread(wrong, seen_in):
    fits = checks(DATA, **wrong).fits
    assert not fits[seen_in]
    assert fits[AVERAGE if seen_in == SPREAD else SPREAD]


def test_predictive_checks_find_differences_between_writers():
    spread = "standard deviation of shares between writers"
    assert not checks(BY_WRITER).fits[spread]
    even = BY_WRITER.assign(ahead=("pair", np.arange(BY_WRITER.sizes["pair"]) % 10 < 6))
    assert checks(even).loc[spread, "observed"] < checks(BY_WRITER).loc[spread, "observed"] / 2


def changes(changed: float, gained: float) -> np.ndarray:
    return change_of_shares(posterior_of(DATA, logit(changed)), posterior_of(DATA, logit(gained)), DATA).values


def test_change_of_shares_equals_frequency_times_direction():
    assert changes(0.4, 0.75) == pytest.approx(0.4 * (2 * 0.75 - 1))
    assert changes(0.4, 0.5) == pytest.approx(0)


def test_change_of_shares_is_mirrored_for_opposite_direction():
    assert changes(0.4, 0.8) == pytest.approx(-changes(0.4, 0.2))


def test_noise_sd_of_change_matches_simulated_changes():
    rng, often, count = np.random.default_rng(3), 0.3, DATA.sizes["pair"]
    moved = (rng.random((4000, count)) < often) * rng.choice([-1, 1], size=(4000, count))
    found = change_of_shares(posterior_of(DATA, logit(often)), posterior_of(DATA, logit(0.9)), DATA)
    assert found.noise_sd == pytest.approx(moved.mean(axis=1).std(), rel=0.05)


def test_change_over_writers_equals_product_of_averages():
    """Over new writers the change is a product of averages, not the average of the products of one writer's effects."""
    changed = posterior_of(BY_WRITER, -0.5, logit_sd_writer=1.5)
    gained = posterior_of(BY_WRITER, 1.0, logit_sd_writer=1.5)
    z = np.random.default_rng(4).standard_normal((2, 400_000))
    often, towards = expit(-0.5 + 1.5 * z[0]).mean(), expit(1.0 + 1.5 * z[1]).mean()
    assert change_of_shares(changed, gained, BY_WRITER).values == pytest.approx(often * (2 * towards - 1), abs=0.002)
