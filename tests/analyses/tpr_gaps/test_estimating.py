"""What the posterior of gaps says, against closed forms, the model as it is written, and truths that are known."""

from pathlib import Path

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import expit
from scipy.stats import beta, binom

import bayes_bias as bb
from bayes_bias.analyses.tpr_gaps.counts import PeopleCounts, gaps
from bayes_bias.analyses.tpr_gaps.estimation import gaps_of
from bayes_bias.analyses.tpr_gaps.results import MEAN_ABSOLUTE, RMS, VARIANCE, TprGaps
from bayes_bias.errors import BayesBiasError, CriterionError, TprGapsError
from bayes_bias.fitting.diagnostics import diagnose
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.table.columns import interval_of
from tests.helpers import FEW, refused, says, unlisted_columns

CLASSES = 28
BRIEF = Sampling(draws=800, tune=400)


def counted(hits: np.ndarray, people: np.ndarray, groups: str = "FM") -> PeopleCounts:
    names = [f"class {k:02d}" for k in range(len(hits))]
    return PeopleCounts(*(pd.DataFrame(n, names, list(groups[: hits.shape[1]])) for n in (hits, people)))


@pytest.fixture(scope="module")
def nothing(sampled: None) -> TprGaps:
    """28 classes, ten people in each cell, and no gap at all."""
    rng = np.random.default_rng(4)
    level, people = rng.uniform(0.4, 0.8, size=(CLASSES, 1)), np.full((CLASSES, 2), 10)
    return gaps_of(counted(rng.binomial(people, level), people), sampling=Sampling(draws=1500, tune=500))


@pytest.mark.thorough
@pytest.mark.slow
def test_gap_of_large_class_matches_binomial_rates(nothing: TprGaps):
    hits, people = nothing.counts.hits.to_numpy().copy(), nothing.counts.people.to_numpy().copy()
    hits[0], people[0] = (14_000, 25_000), (20_000, 40_000)
    row = gaps_of(counted(hits, people), sampling=BRIEF).table.loc[("class 00", "F")]
    # With flat priors each rate would be a beta; at these numbers priors hardly matter.
    rates = beta.rvs(hits[0] + 1, people[0] - hits[0] + 1, size=(200_000, 2), random_state=1)
    difference = rates[:, 0] - rates[:, 1]
    assert row.observed == pytest.approx(0.7 - 0.625)
    assert row["mean"] == pytest.approx(difference.mean(), abs=0.001)
    assert (row.eti95_lb, row.eti95_ub) == pytest.approx(np.quantile(difference, [0.025, 0.975]), abs=0.002)


@pytest.mark.thorough
@pytest.mark.slow
def test_posterior_matches_written_model():
    hits, people = np.array([[2, 5, 1], [7, 4, 2]]), np.array([[3, 6, 5], [8, 9, 2]])
    # The prior, drawn as the formulas say, and weighed by the likelihood.
    rng, n, k = np.random.default_rng(1), 1_000_000, 3
    level = rng.normal(0, 1.5, n)[:, None] + abs(rng.normal(0, 1.5, n))[:, None] * rng.normal(size=(n, 2))
    mean, own = rng.normal(size=(n, 1, k)), rng.normal(size=(n, 2, k))
    deviation = mean + rng.exponential(0.4, size=(n, 1, 1)) * own
    # One group less the average of the others: Normal(0, 1) about zero over means, Normal(0, sd) about these.
    deviation = (deviation - deviation.mean(axis=-1, keepdims=True)) * np.sqrt((k - 1) / k)
    less = deviation - (deviation.sum(axis=-1, keepdims=True) - deviation) / (k - 1)
    assert less.std() == pytest.approx(np.sqrt(1 + 2 * 0.4**2), rel=0.01)
    rates = expit(level[:, :, None] + deviation)
    weight = binom.pmf(hits, people, rates).prod(axis=(1, 2))
    expected = np.average(gaps(rates, people), axis=0, weights=weight)
    found = gaps_of(counted(hits, people, "ABC"), sampling=BRIEF)
    assert np.allclose(found.table["mean"].to_numpy().reshape(2, 3), expected, atol=0.012)
    variance = np.average(rates.var(axis=-1).mean(axis=-1), weights=weight)
    assert found.aggregate.loc[VARIANCE, "mean"] == pytest.approx(variance, rel=0.06)


def test_aggregates_are_below_raw_values_without_gaps(nothing: TprGaps):
    for quantity in (MEAN_ABSOLUTE, RMS):
        row = nothing.aggregate.loc[quantity]
        assert row.observed == pytest.approx(row.without_gaps, rel=0.15)
        assert row.chance > 0.1
        assert row["mean"] < row.observed / 2
        assert row.eti95_lb < 0.02
    assert nothing.aggregate.loc[RMS, "unbiased"] < 0.1
    assert nothing.clear.empty
    assert nothing.shrinkage > 0.6
    assert says(nothing.text, "none 28 95%")


def test_documentation_lists_columns_of_tpr_gaps(nothing: TprGaps) -> None:
    assert unlisted_columns(nothing.table.reset_index(), nothing.aggregate, nothing.variances) == set()


@pytest.mark.thorough
@pytest.mark.slow
def test_gaps_change_sign_for_swapped_groups(nothing: TprGaps):
    both = (nothing.counts.hits, nothing.counts.people)
    swapped = PeopleCounts(*(n.set_axis(["M", "F"], axis=1)[["F", "M"]] for n in both))
    mirrored, mine = gaps_of(swapped, sampling=BRIEF).table, nothing.table
    assert np.allclose(mirrored.observed, -mine.observed)
    assert np.allclose(mirrored["mean"], -mine["mean"], atol=0.02)
    assert np.allclose(mirrored[["eti95_lb", "eti95_ub"]], -mine[["eti95_ub", "eti95_lb"]], atol=0.04)


def test_posterior_gaps_equal_differences_of_rates(nothing: TprGaps):
    posterior = nothing.fit["posterior"]
    assert np.allclose(posterior["gap"].sel(group="F"), -posterior["gap"].sel(group="M"))
    difference = posterior["rate"].sel(group="F") - posterior["rate"].sel(group="M")
    assert np.allclose(posterior["gap"].sel(group="F"), difference)
    assert set(az.summary(nothing.fit, var_names=["sd_gap"]).index) == {"sd_gap"}


def test_diagnostics_exclude_derived_gaps(nothing: TprGaps):
    posterior = nothing.fit["posterior"].to_dataset()[["level_mean", "sd_level", "sd_gap", "mean_gap", "rate"]]
    assert diagnose(posterior, nothing.fit["sample_stats"].to_dataset()).ess_bulk == nothing.diagnostics.ess_bulk


@pytest.mark.parametrize(
    ("asked", "said"), [({"of": "woman"}, "of 'woman' F M"), ({"ci_prob": 95}, "ci_prob 95"), ({"seed": -1}, "seed -1")]
)
def test_estimate_raises_for_bad_arguments(asked: dict, said: str):
    y, group = ["a", "a", "b", "b"], ["F", "M", "F", "M"]
    with pytest.raises(BayesBiasError) as raised:
        bb.tpr_gaps.estimate(y, y, group, **asked)
    assert says(str(raised.value), said)


@pytest.mark.thorough
@pytest.mark.slow
def test_correlation_corrects_for_errors_in_both():
    rng = np.random.default_rng(3)
    z = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=CLASSES)
    people = np.full((CLASSES, 2), 25)
    hits = rng.binomial(people, expit(0.5 + 0.7 * z[:, 1:] * [0.5, -0.5]))
    gaps = gaps_of(counted(hits, people), sampling=FEW)
    seen = 0.05 * z[:, 0] + 0.04 * rng.normal(size=CLASSES)
    words = pd.DataFrame({"class": gaps.counts.classes, "bias": seen, "sd": 0.04})
    found = bb.tpr_gaps.correlation(gaps, words, sampling=BRIEF)
    naive, rho = (found.correlation(words) for words in ("as observed", "new words"))
    # Log odds are nearly linear in rates where nobody is near 0 or 1.
    assert naive["median"] == pytest.approx(np.corrcoef(seen, gaps.table.observed)[0, 1], abs=0.02)
    assert naive["median"] + 0.1 < rho["median"]
    assert interval_of(rho)[0] < 0.8 < interval_of(rho)[1]
    assert says(found.text, "28 classes word bias gap of F M")


@pytest.mark.thorough
@pytest.mark.slow
def test_correlation_posterior_matches_jeffreys_for_few_classes():
    rng = np.random.default_rng(5)
    z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=CLASSES)
    people = np.full((CLASSES, 2), 20_000)
    hits = rng.binomial(people, expit(0.3 * z[:, 1:] * [0.5, -0.5]))
    gaps = gaps_of(counted(hits, people), sampling=FEW)
    found = bb.tpr_gaps.correlation(gaps, draws_of(z[:, 0], 0.02, gaps.counts.classes), sampling=BRIEF)
    # Jeffreys's posterior of a correlation r of n pairs, rho uniform (Theory of Probability, 1961, section 3.9).
    row = found.correlation("these words")
    rho, r, n = np.linspace(-0.999, 0.999, 4001), found.correlation("as observed")["median"], CLASSES
    density = (1 - rho**2) ** ((n - 1) / 2) * (1 - rho * r) ** -(n - 1.5)
    below = np.cumsum(density) / density.sum()
    assert found.fit["posterior"].correlation.mean() == pytest.approx(np.average(rho, weights=density), abs=0.02)
    assert interval_of(row) == pytest.approx(np.interp([0.025, 0.975], below, rho), abs=0.04)


def draws_of(means: np.ndarray, sd: float, classes: list[str]) -> xr.DataArray:
    noise = sd * np.random.default_rng(0).standard_normal((2, 500, len(means)))
    coords = {"contrast": classes}
    return xr.DataArray(means + noise, dims=("chain", "draw", "contrast"), coords=coords)


def test_correlation_raises_for_bad_input(nothing: TprGaps):
    words = pd.DataFrame({"class": nothing.counts.classes, "bias": np.arange(28.0), "sd": 0.1})
    with refused(TprGapsError, "group 'X'"):
        bb.tpr_gaps.correlation(nothing, words, group="X")
    with refused(CriterionError, "three four"):
        bb.tpr_gaps.correlation(nothing, words.iloc[:3])


def test_folder_contains_page_tables_and_posterior(nothing: TprGaps, tmp_path: Path):
    page = bb.write(nothing, tmp_path / "out", figures=["png"])
    names = {path.relative_to(page.parent).as_posix() for path in page.parent.rglob("*") if path.is_file()}
    assert names >= {"index.html", "gaps.csv", "aggregate.csv", "counts.csv", "methods.tex", "posterior.nc"}
    assert "figures/gaps-f.png" in names
    text = page.read_text(encoding="utf-8")
    assert f"<b>{nothing.answer}</b>" in text
    assert "10.1145/3287560.3287572" in text
    again = pd.read_csv(page.parent / "gaps.csv", index_col=["class", "group"])
    pd.testing.assert_frame_equal(again, nothing.table)
    kept = xr.load_datatree(page.parent / "posterior.nc", engine="h5netcdf")
    assert np.array_equal(kept["posterior"]["gap"], nothing.fit["posterior"]["gap"])


def test_tpr_gaps_command_prints_and_writes_results(run, from_priors, tmp_path: Path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"job": [f"job {k:02d}" for k in range(CLASSES)] * 60})
    frame["sex"] = rng.choice(["F", "M"], len(frame))
    frame["said"] = np.where(rng.random(len(frame)) < 0.7, frame.job, "job 00")
    frame.to_csv(tmp_path / "people.csv", index=False)
    columns = ["--y", "job", "--prediction", "said", "--group", "sex"]
    code, out, err = run("tpr-gaps", tmp_path / "people.csv", *columns, "--of", "M", "--out", tmp_path / "out")
    assert code == 0, err
    assert says(out, "true-positive rates")
    assert (tmp_path / "out" / "index.html").is_file()
    code, _, err = run("tpr-gaps", tmp_path / "people.csv")
    assert code == 2
    assert says(err, "y 'y'")
