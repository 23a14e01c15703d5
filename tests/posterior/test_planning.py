"""Designs planned from one fit: what longer lists would show, how many words it would take, where noise comes from."""

import numpy as np
import pytest
import scipy.stats
import xarray as xr

from bayes_bias import AssociationTable, Sampling, fit, summarize, verdict
from bayes_bias.errors import ScopeError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.plots.plan import plot_plan
from bayes_bias.posterior.estimate import SAMPLE
from bayes_bias.posterior.planning import _Study, by_words, plan, variance_shares, words_needed
from bayes_bias.table.columns import interval_columns
from bayes_bias.table.scopes import ATTRIBUTES, REPLICATES, SCOPES, TARGETS
from tests.helpers import SHORT, random_table, refused


@pytest.mark.slow
def test_plan_width_decreases_and_power_increases_with_words(small_table):
    table = plan(
        fit(small_table, seed=1, sampling=Sampling(draws=8000)), 0.02, targets=[4, 8, 32], attributes=[4, 8, 32]
    )
    width = table.width.unstack("attributes").to_numpy()
    power = table.power.unstack("attributes").to_numpy()
    more_attributes = np.diff(width, axis=1)
    assert (np.diff(width, axis=0) < 0).all()
    assert (np.diff(power, axis=0) > 0).all()
    # Beside four targets a much longer list of attributes costs a little, .9% of the width with 32,000 draws:
    # Satterthwaite's degrees of freedom are then those of the targets.
    assert (more_attributes[1:] < 0).all()
    assert (np.diff(power, axis=1)[1:] > 0).all()
    assert (more_attributes[0] < 0.015 * width[0, 1:]).all()
    assert (np.diff(power, axis=1)[0] > -0.02).all()
    assert width[2, 2] < width[1, 1] < width[0, 0]
    assert ((table.width_lb < table.width) & (table.width < table.width_ub)).all()


def test_plan_matches_width_of_given_design(small_fit):
    row = summarize(small_fit, "both", ci_prob=0.95, ci_kind="eti").loc[("bias", "overall")]
    lower, upper = interval_columns(row.to_frame().T)
    predicted = plan(small_fit, 0.02, targets=[5, 6], attributes=[5, 6]).width
    assert predicted.mean() == pytest.approx(row[upper] - row[lower], rel=0.25)


def test_plan_width_omits_variance_of_fixed_side(small_fit):
    both, targets = (plan(small_fit, 0.02, [8], [8], scope=scope).width.item() for scope in ("both", "targets"))
    assert targets < both


@pytest.mark.parametrize(
    ("lengths", "scope", "why"), [([1], "both", "targets 1"), ([], "both", "targets"), ([8], "none", "interval")]
)
def test_plan_raises_for_invalid_designs(small_fit, lengths, scope, why):
    with refused(ScopeError, why):
        plan(small_fit, 0.02, lengths, lengths, scope=scope)


def test_plot_plan_marks_design_of_fit(small_fit):
    ax = plot_plan(small_fit, 0.02)
    cross = next(line for line in ax.lines if line.get_label() == "these lists")
    np.testing.assert_allclose(cross.get_xydata(), [[5.5, 5.5]])
    assert ax.get_xlabel() == "attributes in each class"


def test_words_needed_increases_for_smaller_bias_and_wider_interval(small_fit):
    assert words_needed(small_fit, 0.02) > words_needed(small_fit, 0.05)
    assert words_needed(small_fit, 0.05, ci_prob=0.99) > words_needed(small_fit, 0.05)
    assert words_needed(small_fit, 0.05, "targets") <= words_needed(small_fit, 0.05)


def test_plan_for_words_needed_has_requested_power(small_fit):
    """Nearly: the number rests on mean variances, and the plan averages over their posterior."""
    needed = words_needed(small_fit, 0.02, power=0.8)
    assert plan(small_fit, 0.02, [needed], [needed]).power.item() == pytest.approx(0.8, abs=0.03)


def test_quantile_of_few_replicates_has_their_degrees_of_freedom():
    """An uncertain variance of replicates, with a heavy tail, does not change how many of them estimate it."""
    variance = xr.DataArray(np.random.default_rng(1).pareto(1.5, (2, 500)), dims=SAMPLE)
    study = _Study({"replicates": variance}, {REPLICATES: 1})
    t = study.quantile({REPLICATES: xr.DataArray([4.0, 10.0], dims="replicates")}, 0.95)
    for column, n in enumerate([4, 10]):
        np.testing.assert_allclose(t.isel(replicates=column), scipy.stats.t(n - 1).ppf(0.975))


@pytest.mark.parametrize("bias", [0, -0.02, float("nan"), "small", None])
def test_plan_raises_for_invalid_bias(small_fit, bias):
    with refused(ScopeError, "bias smallest positive 0.02"):
        plan(small_fit, bias)


@pytest.mark.slow
@pytest.mark.thorough
def test_words_needed_detects_bias_in_simulated_lists():
    """Asked of a long list, which knows the scales well; lists of the proposed length then bear it out."""

    def sized(n: int, seed: int) -> AssociationTable:
        targets = dict.fromkeys(("men", "women"), n)
        return random_table(seed, bias=0.03, targets=targets, attributes=dict.fromkeys(("work", "home", "neutral"), n))

    needed = words_needed(fit(sized(40, seed=1), seed=1, sampling=SHORT), 0.03, power=0.8)
    short = Sampling(draws=500, tune=400, chains=2)
    settled = [verdict(fit(sized(needed, seed), seed=1, sampling=short)).lower > 0 for seed in range(12)]
    assert 0.5 <= np.mean(settled) < 1


def test_words_needed_raises_for_scope_none(small_fit):
    with refused(ScopeError, "words interval"):
        words_needed(small_fit, 0.02, "none")


def test_shares_of_variance_sum_to_one(small_fit):
    shares = variance_shares(small_fit)
    assert list(shares.columns) == ["targets", "attributes", "residual"]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(1)


def test_plot_plan_has_axes_of_templates_and_words(fit_of_templates):
    planned = plan(fit_of_templates, 0.02, [8, 16, 32], [8, 16, 25], [3, 10, 30])
    assert by_words(planned).words.to_numpy().tolist() == [8, 16]
    assert by_words(planned).width.sel(words=8, replicates=10).item() == planned.width[8, 8, 10]
    ax = plot_plan(fit_of_templates, 0.02, planned=plan(fit_of_templates, 0.02, [8, 16], [8, 16], [3, 10]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("words in each group and class", "templates")
    cross = next(line for line in ax.lines if line.get_marker() == "X")
    np.testing.assert_allclose(cross.get_xydata(), [[8, 10]])
    words_only = plot_plan(fit_of_templates, 0.02, planned=plan(fit_of_templates, 0.02, [8, 16], [8, 16]))
    assert words_only.get_ylabel() == "targets in each group"


def test_words_needed_has_degrees_of_freedom_of_replicates(fit_of_templates):
    """As in `plan`, the variance between ten templates has nine degrees of freedom."""
    n = xr.DataArray([30.0, 31.0], dims="n")
    lengths = {TARGETS: n, ATTRIBUTES: n, REPLICATES: xr.DataArray(10)}
    study = _Study.of(Fitted.of(fit_of_templates), lengths, SCOPES["all"]).with_means()
    t = study.quantile(lengths, 0.95)
    detectable = (t + scipy.stats.norm.ppf(0.8)) * study.variance(lengths) ** 0.5
    assert detectable[1] < 0.012 < detectable[0]
    assert words_needed(fit_of_templates, 0.012, "all") == 31


def test_words_needed_returns_none_for_scope_replicates(fit_of_templates):
    assert words_needed(fit_of_templates, 0.02, "replicates") is None
