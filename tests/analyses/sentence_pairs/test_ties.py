"""A tie speaks for neither sentence: published shares count it against the stereotype, the verdict as half."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import logit
from scipy.stats import beta

import bayes_bias as bb
from bayes_bias import Sampling
from bayes_bias.analyses.sentence_pairs.estimands import change_of_shares, shares_with_ties, steps_of
from bayes_bias.analyses.sentence_pairs.published import paired
from bayes_bias.analyses.sentence_pairs.results import SentencePairs, SentencePairsChange
from bayes_bias.analyses.sentence_pairs.scores import design, read_scores
from bayes_bias.errors import SentencePairsError
from tests.helpers import refused, says

ENOUGH = Sampling(draws=1000, tune=500, chains=2, target_accept=0.9)


def pairs(ahead: int, tied: int, behind: int) -> pd.DataFrame:
    """So many pairs of each kind, by differences of about one."""
    sign = np.repeat([1.0, 0.0, -1.0], [ahead, tied, behind])
    spread = 1 + np.random.default_rng(1).random(len(sign))
    return pd.DataFrame({"item": np.arange(len(sign)), "difference": sign * spread})


# An untrained model: 19 of 60 pairs tie, and the others go either way.
UNTRAINED = pairs(20, 19, 21)
# Those ties go either way after, and nothing else changes: the published share alone rises.
RESOLVED = UNTRAINED.assign(
    difference=np.where(UNTRAINED.difference == 0, 1.0 - 2 * (UNTRAINED["item"] % 2), UNTRAINED.difference)
)


@pytest.fixture(scope="module")
def untrained(sampled: None) -> SentencePairs:
    return bb.sentence_pairs.estimate(UNTRAINED, sampling=ENOUGH)


@pytest.fixture(scope="module")
def resolved(sampled: None) -> SentencePairsChange:
    return bb.sentence_pairs.estimate(UNTRAINED, RESOLVED, sampling=ENOUGH)


def test_estimate_counts_ties_as_half_in_share(untrained):
    assert untrained.published.share["all pairs"] == pytest.approx(20 / 60)
    assert untrained.published.wilson_ci95_ub["all pairs"] < 0.5  # published, and wrong of a preference
    row = untrained.row("share")
    assert [row.observed, untrained.published.ties_half["all pairs"]] == pytest.approx([(20 + 19 / 2) / 60] * 2)
    assert says(untrained.verdict, "not distinguishable one half")
    assert says(untrained.text, "33.3% of 60 pairs 19 pairs tie half 49.2%")
    assert set(untrained.fits) == {"share", "difference", "untied"}
    assert not untrained.problems


def test_share_posterior_matches_two_betas_with_ties(untrained):
    """How often a pair does not tie, and which way it then goes, each with a uniform prior."""
    rng = np.random.default_rng(2)
    q, r = beta(1 + 41, 1 + 19).rvs(100_000, random_state=rng), beta(1 + 20, 1 + 21).rvs(100_000, random_state=rng)
    exact, row = 0.5 + q * (r - 0.5), untrained.row("share")
    assert row["mean"] == pytest.approx(exact.mean(), abs=0.2 * exact.std())
    assert row.sd == pytest.approx(exact.std(), rel=0.1)
    assert row.noise_ci95_ub - 0.5 == pytest.approx(1.96 * np.sqrt(41 / 60 / 4 / 60), rel=0.1)


@pytest.mark.thorough
@pytest.mark.slow
def test_estimate_finds_preference_with_many_ties():
    found = bb.sentence_pairs.estimate(pairs(36, 20, 4), sampling=ENOUGH)
    assert says(found.verdict, "distinguishable one half")
    assert not says(found.verdict, "not")


@pytest.mark.thorough
def test_change_ignores_ties_resolved_in_either_direction(resolved):
    assert resolved.published.change["all pairs"] > 0.1
    assert resolved.row("share").observed == pytest.approx(resolved.published.ties_half["all pairs"])
    assert abs(resolved.row("share").observed) < 0.02
    assert says(resolved.verdict, "not distinguishable no change")
    assert says(resolved.text, "19 pairs tie before 0 after half")


def test_methods_text_contains_treatment_of_ties(from_priors, sketched, tmp_path):
    for name, frames, fits in (
        ("one", (UNTRAINED,), {"share", "untied", "difference"}),
        ("change", (UNTRAINED, RESOLVED), {"changed", "gained", "difference"}),
    ):
        result = bb.sentence_pairs.estimate(*frames)
        page = bb.write(result, tmp_path / name, figures=())
        methods = (page.parent / "methods.txt").read_text(encoding="utf-8")
        assert says(methods, "19 pairs tie half")
        assert {path.stem.removeprefix("posterior-") for path in page.parent.glob("posterior-*.nc")} == fits


def test_design_raises_for_pairs_with_only_ties():
    small = pairs(30, 0, 10).assign(difference=lambda t: t.difference / 1e5)
    with refused(SentencePairsError, "40 pairs tie decimals=None --decimals none"):
        design(read_scores(small))
    assert design(read_scores(small, decimals=None))[0].ahead.sum() == 30


def known(data: xr.Dataset, share: float) -> xr.Dataset:
    return xr.Dataset({"logit": (("chain", "draw"), np.full((2, 50), logit(share)))})


def test_shares_with_ties_match_simulated_tables():
    data, rng = design(read_scores(UNTRAINED))[0], np.random.default_rng(4)
    found = shares_with_ties(known(data, 0.7), known(data, 0.8), data)
    assert found.values == pytest.approx(0.7 * 0.8 + 0.3 / 2)
    drawn = rng.choice([0, 0.5, 1], p=[0.35, 0.3, 0.35], size=(20_000, 60)).mean(axis=1)
    assert found.noise_sd == pytest.approx(drawn.std(), rel=0.02)


def test_change_of_shares_counts_step_from_ties_as_half():
    """All pairs tie after: the change is what the share was away from one half."""
    before, after = pairs(400, 0, 200), pairs(0, 600, 0)
    moved = np.repeat([-0.5, 0.5], [400, 200])
    data = design(read_scores(before))[0]
    steps = steps_of(moved, 100, seed=1)
    change = change_of_shares(known(data, 0.999), known(data, 1 / 3), data, steps=steps)
    assert change.values == pytest.approx(-1 / 6, abs=0.01)
    assert paired(read_scores(before), read_scores(after)).ties_half["all pairs"] == pytest.approx(-1 / 6)
    gain, loss = steps_of(np.array([1.0, -1.0, 0.0]), 100, seed=1)
    assert gain == loss == 1
