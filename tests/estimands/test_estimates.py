"""What "bias" means: contrasts of block means, under a scope."""

import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import multivariate_normal

from bayes_bias import Sampling, fit, summarize, verdict, word_effects
from bayes_bias.associations.statistics import table_means
from bayes_bias.errors import ScopeError
from bayes_bias.estimands.contrasts import attribute_weights, block_weights, target_weights
from bayes_bias.estimands.estimates import block_estimates, estimates
from bayes_bias.measures import weat
from bayes_bias.models.components import Covariance
from bayes_bias.models.word_effects import deviations
from bayes_bias.results.design import variance_shares, words_needed
from tests.helpers import random_table

SCOPES = ("both", "targets", "attributes", "none")


def test_scope_none_is_the_raw_contrast_and_half_of_weats_numerator(small_table, small_fit):
    summary = summarize(small_fit, "none", ci_prob=0.95)
    published = weat(small_table)
    bias = summary.loc[("bias", "overall")]
    assert 2 * bias["mean"] == pytest.approx(published.difference, rel=1e-12)
    assert bias["sd"] == 0
    assert bias["eti95_lb"] == bias["eti95_ub"] == bias["mean"]
    assert summary.loc[("effect_size", "overall"), "mean"] == pytest.approx(published.effect_size)


def test_group_bias_is_written_out_for_one_group(small_table, small_fit):
    raw = summarize(small_fit, "none")
    own, other = (small_table.block("men", c).mean() for c in ("work", "home"))
    control = small_table.block("men", "neutral").mean()
    assert raw.loc[("group_bias", "men"), "mean"] == pytest.approx(own - other)
    assert raw.loc[("excess", "men, neutral"), "mean"] == pytest.approx(own - control)
    assert raw.loc[("repulsion", "men, neutral"), "mean"] == pytest.approx(control - other)


def test_bias_averages_group_bias_and_excess_and_repulsion_add_up_to_it(small_fit):
    mean = summarize(small_fit)["mean"]
    assert mean["bias", "overall"] == pytest.approx(mean["group_bias"].mean())
    for group in ("men", "women"):
        parts = mean["excess", f"{group}, neutral"] + mean["repulsion", f"{group}, neutral"]
        assert mean["group_bias", group] == pytest.approx(parts)


def test_word_contrasts_average_to_those_of_their_group_and_class(small_table, small_fit):
    raw = summarize(small_fit, "none")["mean"]
    men = [t for t in small_table.values.target.to_numpy() if t.startswith("men")]
    assert raw["target_bias"][men].mean() == pytest.approx(raw["group_bias", "men"])
    work, home = (raw["attribute_bias"].filter(like=c).mean() for c in ("work", "home"))
    assert (work + home) / 2 == pytest.approx(raw["bias", "overall"])


def test_every_scope_centres_on_the_same_contrast_and_wider_scopes_are_wider(small_fit):
    tables = {scope: summarize(small_fit, scope) for scope in SCOPES}
    sd = {scope: table.loc[("bias", "overall"), "sd"] for scope, table in tables.items()}
    assert (
        sd["none"] < min(sd["targets"], sd["attributes"]) < max(sd["targets"], sd["attributes"]) < sd["both"]
    )
    for table in tables.values():
        row = table.loc[("bias", "overall")]
        assert abs(row["mean"] - row["observed"]) < 0.25 * max(sd.values())


def test_effect_size_stays_inside_two(small_fit):
    for scope in ("both", "targets", "attributes"):
        d = estimates(small_fit, scope)["effect_size"].draws
        assert abs(d).max() < 2.2 if scope == "attributes" else abs(d).max() < 2


def test_associating_nothing_and_everything_leaves_no_bias():
    """Weights of a contrast sum to zero, whatever the design: three groups, one class for two of them."""
    table = random_table(targets={"a": 3, "b": 4, "c": 2}, attributes={"x": 3, "y": 2, "z": 4, "control": 2})
    data = table_means(table)
    for weights in (*block_weights(data).values(), target_weights(data), attribute_weights(data)):
        assert abs(weights.sum(("group", "attribute_class"))).max() < 1e-12


def test_word_effects_have_the_exact_conditional_distribution():
    """Against the textbook conditional of a multivariate normal, projected to sum zero (design 3.2)."""
    rng = np.random.default_rng(0)
    n, k = 4, 3
    specific, noise = np.array([0.3, 0.5, 0.2]), np.array([0.25, 0.3, 0.35])
    loadings = [np.array([0.4, 0.4, 0.4]), np.array([0.3, 0.3, 0.0])]
    observed = rng.normal(0, 0.5, (n, k))
    observed -= observed.mean(axis=0)
    repeat = 40_000

    def repeated(scale: np.ndarray) -> np.ndarray:
        return np.broadcast_to(scale, (repeat, k))

    covariance_of_effect = Covariance(repeated(specific) ** 2, [repeated(s) for s in loadings])
    draws = deviations(observed, covariance_of_effect, repeated(noise) ** 2, rng)
    effect = np.diag(specific**2) + sum(np.outer(loading, loading) for loading in loadings)
    gain = effect @ np.linalg.inv(effect + np.diag(noise**2))
    covariance = (effect - gain @ effect) * (1 - 1 / n)
    assert np.allclose(draws.mean(axis=0), observed @ gain.T, atol=0.006)
    assert np.allclose(np.cov(draws[:, 0].T), covariance, atol=0.004)
    assert np.allclose(draws.sum(axis=1), 0, atol=1e-12)
    # Of a normal distribution, the mean of the log density is minus the entropy.
    normal = multivariate_normal(observed[0] @ gain.T, covariance)
    assert normal.logpdf(draws[:, 0]).mean() == pytest.approx(-normal.entropy(), abs=0.02)
    assert np.allclose(cross_covariance(draws[:, 0], draws[:, 1]), -covariance / (n - 1), atol=0.004)


def cross_covariance(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one - one.mean(axis=0)).T @ (other - other.mean(axis=0)) / len(one)


def test_word_effects_add_up_to_what_the_block_leaves(small_fit):
    """Means, levels, effects and noise make up the observed block means: on average nothing is left over."""
    effects, data = word_effects(small_fit), small_fit["constant_data"]
    of_targets = effects.target_effect.groupby(data.group_of).mean("target").rename(group_of="group")
    of_attributes = effects.attribute_effect.groupby(data.class_of).mean("attribute")
    of_attributes = of_attributes.rename(class_of="attribute_class")
    total = (
        small_fit["posterior"]["mean"].drop_vars(["group", "attribute_class"])
        + of_targets.drop_vars(["group", "attribute_class"])
        + of_attributes.drop_vars(["group", "attribute_class"])
    )
    left = data.block_mean.drop_vars(["group", "attribute_class"]) - total
    residual = small_fit["posterior"].sd_residual.mean() / np.sqrt(5 * 5)
    assert abs(left.mean(("chain", "draw"))).max() < residual
    assert left.std(("chain", "draw")).max() < 2 * residual


def test_words_that_stay_bring_the_average_of_their_effects_along_draw_by_draw(small_fit):
    """Contrasts of blocks are computed without word effects, and yet agree with them to the last digit."""
    effects = word_effects(small_fit)
    to_men = effects.attribute_effect.sel(group="men").transpose("chain", "draw", ...)
    of_men = effects.target_effect.transpose("chain", "draw", ...)[:, :, effects.target.str.startswith("men")]
    work, home = (
        to_men[:, :, effects.attribute.str.startswith(c)].mean("attribute") for c in ("work", "home")
    )
    of_targets = (of_men.sel(attribute_class="work") - of_men.sel(attribute_class="home")).mean("target")
    bias = {
        scope: block_estimates(small_fit, scope)["group_bias"]
        .draws.sel(contrast="men")
        .transpose("chain", ...)
        for scope in ("both", "targets", "attributes")
    }
    np.testing.assert_allclose(bias["attributes"] - bias["both"], of_targets, atol=1e-12)
    np.testing.assert_allclose(bias["targets"] - bias["both"], work - home, atol=1e-12)


def test_words_too_many_for_memory_are_left_out_with_a_notice(small_fit, monkeypatch, caplog):
    whole = {scope: summarize(small_fit, scope) for scope in ("attributes", "none")}
    attributes = small_fit["constant_data"].attribute_mean.size * 6_000
    module = sys.modules["bayes_bias.models.word_effects"]  # the package has a function of this name
    monkeypatch.setattr(module, "MOST_NUMBERS", attributes - 1)
    left = summarize(small_fit, "attributes")
    assert "attribute_bias is left out: the effects of 19 attributes in 6,000 draws" in caplog.text
    pd.testing.assert_frame_equal(left, whole["attributes"].drop("attribute_bias"))
    pd.testing.assert_frame_equal(summarize(small_fit, "none"), whole["none"])
    with pytest.raises(ScopeError, match=r"19 attributes .* scope='none'"):
        word_effects(small_fit)
    assert list(word_effects(small_fit, ["target"])) == ["target_effect"]


def test_the_same_fit_gives_the_same_word_effects(small_fit):
    xr.testing.assert_identical(word_effects(small_fit), word_effects(small_fit))


@pytest.mark.slow
def test_one_word_carries_no_generalisation(small_table):
    table = random_table(targets={"men": 1, "women": 6})
    posterior = fit(table, seed=1)
    with pytest.raises(ScopeError, match=r"one word \(men\).*'attributes' or 'none'"):
        summarize(posterior, "both")
    assert np.isfinite(summarize(posterior, "attributes")["mean"]).all()


def test_an_unknown_scope_is_refused_with_the_nearest(small_fit):
    with pytest.raises(ScopeError, match="did you mean 'targets'"):
        summarize(small_fit, "target")


def test_every_number_of_a_summary_is_numeric_and_arviz_names_the_columns(small_fit):
    summary = summarize(small_fit, ci_prob=0.9)
    assert {"mean", "sd", "eti90_lb", "eti90_ub", "ess_bulk", "r_hat"} <= set(summary.columns)
    assert all(np.issubdtype(dtype, np.number) or np.issubdtype(dtype, np.bool_) for dtype in summary.dtypes)
    assert summary.index.names == ["estimand", "label"]
    assert summary.converged.all()


@pytest.mark.slow
def test_the_published_model_is_told_to_be_the_wrong_fit_for_a_verdict(small_table):
    published = fit(small_table, "hierarchical", seed=1, sampling=Sampling(draws=200, tune=300))
    for ask in (verdict, variance_shares, words_needed, word_effects):
        with pytest.raises(ScopeError, match="needs a fit of the crossed model, not of 'hierarchical'"):
            ask(published)
