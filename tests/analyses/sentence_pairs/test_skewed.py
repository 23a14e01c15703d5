"""The mean that is printed is estimated, whatever the shape of the scores, and the default converges."""

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.sentence_pairs.scores import design, read_scores
from bayes_bias.files import shipped
from tests.helpers import says


def skewed(pairs: int, seed: int = 3) -> pd.DataFrame:
    """Three in four pairs about zero and one in four far above, as of a language model on WinoBias; two types."""
    rng = np.random.default_rng(seed)
    difference = np.where(
        rng.random(pairs) < 0.75, 0.05 + 0.35 * rng.standard_normal(pairs), 2 + 1.5 * rng.gamma(1.5, size=pairs)
    )
    return pd.DataFrame(
        {"item": np.arange(pairs), "difference": difference, "bias_type": [f"type {k % 2}" for k in range(pairs)]}
    )


@pytest.mark.thorough
@pytest.mark.slow
def test_skewed_scores_have_unbiased_mean_without_problems():
    result = bb.sentence_pairs.estimate(skewed(1584), decimals=None)
    assert not result.problems
    row = result.row("difference")
    assert row["mean"] == pytest.approx(row.observed, abs=0.2 * row.sd)
    assert row.eti95_ub - row.eti95_lb == pytest.approx(row.independent_ci95_ub - row.independent_ci95_lb, rel=0.15)
    assert says(result.text, "Mean difference")


@pytest.mark.thorough
@pytest.mark.slow
def test_student_residual_estimates_location_below_mean(tmp_path):
    robust = tmp_path / "robust.toml"
    pairs = shipped("models") / "pairs.toml"
    robust.write_text(f'{pairs.read_text()}\n[priors.nu]\ndistribution = "Gamma"\nalpha = 2.0\nbeta = 0.1\n')
    sampling = bb.Sampling(draws=300, tune=300, chains=2)
    result = bb.sentence_pairs.estimate(skewed(200), decimals=None, model=robust, sampling=sampling)
    row = result.row("difference")
    assert row["mean"] < row.observed - 3 * row.sd
    assert result.estimated == "location of the differences (Student-t)"


def test_design_warns_about_few_skewed_differences():
    _, few = design(read_scores(skewed(40), decimals=None))
    _, enough = design(read_scores(skewed(1584), decimals=None))
    assert says(few[0], "40 skewed short")
    assert not enough
