"""What "bias" means: contrasts of block means, under a scope."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_bias import fit, summarize, verdict, word_effects
from bayes_bias.errors import ScopeError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.measures import weat
from bayes_bias.posterior.estimates import estimates
from bayes_bias.posterior.planning import variance_shares, words_needed
from bayes_bias.posterior.word_effects import conditional
from bayes_bias.table.bias_weights import attribute_weights, block_weights, target_weights
from bayes_bias.table.statistics import table_means
from tests.helpers import (
    SCALES,
    SHORT,
    attribute_covariance,
    random_table,
    refused,
    residual_variances,
    target_covariance,
)

SCOPES = ("both", "targets", "attributes", "none")


def test_bias_in_scope_none_equals_half_weat_numerator(small_table, small_fit):
    summary = summarize(small_fit, "none", ci_prob=0.95)
    published = weat(small_table)
    bias = summary.loc[("bias", "overall")]
    assert 2 * bias["mean"] == pytest.approx(published.difference, rel=1e-12)
    assert bias["sd"] == 0
    assert bias["eti95_lb"] == bias["eti95_ub"] == bias["mean"]
    assert summary.loc[("effect_size", "overall"), "mean"] == pytest.approx(published.effect_size)


def test_raw_group_bias_excess_and_repulsion_equal_block_differences(small_table, small_fit):
    raw = summarize(small_fit, "none")
    to_own, to_opposite = (small_table.block("men", c).mean() for c in ("work", "home"))
    control = small_table.block("men", "neutral").mean()
    assert raw.loc[("group_bias", "men"), "mean"] == pytest.approx(to_own - to_opposite)
    assert raw.loc[("excess", "men, neutral"), "mean"] == pytest.approx(to_own - control)
    assert raw.loc[("repulsion", "men, neutral"), "mean"] == pytest.approx(control - to_opposite)


def test_class_biases_average_to_bias(small_table, small_fit):
    raw = summarize(small_fit, "none")["mean"]
    men, women = (small_table.block(group, "work").mean() for group in ("men", "women"))
    assert raw["class_bias", "work"] == pytest.approx(men - women)
    assert raw["class_bias"].mean() == pytest.approx(raw["bias", "overall"])
    assert raw["attribute_bias"].filter(like="work").mean() == pytest.approx(raw["class_bias", "work"])


@pytest.mark.slow
def test_summarize_omits_class_bias_when_groups_share_class():
    """There is no other group to compare the class with; its mean cosine is not a bias."""
    table = random_table()
    table = replace(table, stereotypes={"men": "work", "women": "work"}, opposites=("home",))
    posterior = fit(table, seed=1, sampling=SHORT)
    for scope in ("both", "targets", "none"):
        estimands = summarize(posterior, scope).index.get_level_values("estimand")
        assert "group_bias" in estimands
        assert not {"class_bias", "attribute_bias", "effect_size"} & set(estimands)


@pytest.mark.parametrize(
    ("stereotypes", "opposites", "contrasted"),
    [
        ({"a": "x", "b": "x", "c": "x"}, ("y",), []),
        ({"a": "x", "b": "x", "c": "y"}, (), ["x", "y"]),
        ({"a": "x"}, ("y", "z"), []),
    ],
)
def test_class_bias_contains_only_classes_of_some_groups(stereotypes, opposites, contrasted):
    groups = dict.fromkeys(stereotypes, 3)
    table = random_table(targets=groups, attributes={"x": 3, "y": 3, "z": 3}, opposites=("y", "z"))
    weights = block_weights(table_means(replace(table, stereotypes=stereotypes, opposites=opposites)))
    labels = weights["class_bias"].contrast.to_numpy().tolist() if "class_bias" in weights else []
    assert labels == contrasted
    for contrast_weights in weights.values():
        np.testing.assert_allclose(contrast_weights.sum(["group", "attribute_class"]), 0, atol=1e-12)


def test_excess_and_repulsion_add_up_to_bias(small_fit):
    mean = summarize(small_fit)["mean"]
    assert mean["bias", "overall"] == pytest.approx(mean["group_bias"].mean())
    for group in ("men", "women"):
        parts = mean["excess", f"{group}, neutral"] + mean["repulsion", f"{group}, neutral"]
        assert mean["group_bias", group] == pytest.approx(parts)


def test_word_biases_average_to_group_bias(small_table, small_fit):
    raw = summarize(small_fit, "none")["mean"]
    men = [t for t in small_table.values.target.to_numpy() if t.startswith("men")]
    assert raw["target_bias"][men].mean() == pytest.approx(raw["group_bias", "men"])
    work, home = (raw["attribute_bias"].filter(like=c).mean() for c in ("work", "home"))
    assert (work + home) / 2 == pytest.approx(raw["bias", "overall"])


def test_bias_sd_increases_with_scope(small_fit):
    tables = {scope: summarize(small_fit, scope) for scope in SCOPES}
    sd = {scope: table.loc[("bias", "overall"), "sd"] for scope, table in tables.items()}
    assert sd["none"] < min(sd["targets"], sd["attributes"]) < max(sd["targets"], sd["attributes"]) < sd["both"]
    for table in tables.values():
        row = table.loc[("bias", "overall")]
        assert abs(row["mean"] - row["observed"]) < 0.25 * max(sd.values())


def test_effect_size_requires_fixed_attributes(small_fit):
    assert abs(estimates(small_fit, "targets")["effect_size"].draws).max() < 2
    for scope in ("both", "attributes"):
        assert "effect_size" not in estimates(small_fit, scope)


def test_weights_of_contrasts_sum_to_zero():
    """Weights of a contrast sum to zero, whatever the design: three groups, one class for two of them."""
    table = random_table(targets={"a": 3, "b": 4, "c": 2}, attributes={"x": 3, "y": 2, "z": 4, "control": 2})
    data = table_means(table)
    for weights in (*block_weights(data).values(), target_weights(data), attribute_weights(data)):
        assert abs(weights.sum(("group", "attribute_class"))).max() < 1e-12


@pytest.mark.parametrize("side", ["target", "attribute"])
def test_conditional_matches_multivariate_normal_formula(small_table, small_fit, side):
    """Against the textbook conditional of a multivariate normal, projected to sum zero (design 3.2)."""
    fitted = Fitted.of(small_fit)
    data, given = fitted.data, conditional(fitted, side)
    point = {name: fitted.posterior[name].to_numpy()[1, 7] for name in SCALES}
    if side == "target":
        prior, n, words = target_covariance(small_table, point)[0], data.n_attributes.to_numpy(), slice(0, 5)
        observed = (data.target_mean - data.block_mean[0]).to_numpy()[words]
    else:
        prior, n, words = attribute_covariance(small_table, point)[0], data.n_targets.to_numpy(), slice(0, 6)
        observed = (data.attribute_mean - data.block_mean[:, 0]).to_numpy()[words]
    class_variances = residual_variances(small_table, point)
    gain = prior @ np.linalg.inv(prior + np.diag((class_variances if side == "target" else class_variances[0]) / n))
    root = given.directions[0].root[1, 7]
    np.testing.assert_allclose(given.observed[words], observed, atol=1e-12)
    np.testing.assert_allclose(given.directions[0].gain[1, 7], gain, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(root @ root.T, prior - gain @ prior, atol=1e-12)


def test_word_effects_match_conditional_mean_and_sd(small_fit):
    """Standardised by their conditional mean and spread, the deviations of the words of a group are standard normal."""
    fitted = Fitted.of(small_fit)
    given, drawn = conditional(fitted, "target"), word_effects(small_fit).target_effect.to_numpy()[:, :, :5]
    deviation = drawn - drawn.mean(axis=2, keepdims=True)
    centre = given.observed[:5] @ np.swapaxes(given.directions[0].gain, -1, -2)
    scale = np.sqrt((given.directions[0].root ** 2).sum(axis=-1) * (1 - 1 / 5))[:, :, None]
    z = (deviation - centre) / scale
    assert abs(z.mean(axis=(0, 1))).max() < 0.08  # 4.4 standard errors of a mean of 3,000 draws
    assert np.allclose(z.std(axis=(0, 1)), 1, atol=0.06)


def test_word_effects_average_to_sampled_group_average(small_fit):
    """The deviations that are drawn for the words of a group sum to zero."""
    effects, average = word_effects(small_fit).target_effect, small_fit["posterior"].target_average
    for group, words in effects.groupby(small_fit["constant_data"].group_of):
        expected = average.isel(group=group).transpose("chain", "draw", "attribute_class")
        np.testing.assert_allclose(words.mean("target").transpose(*expected.dims), expected, atol=1e-12)


@pytest.mark.parametrize("scope", ["both", "targets", "attributes"])
def test_mixture_matches_distribution_of_draws(small_fit, scope):
    """Of every estimand that has one: mean, spread and tails agree with 6,000 draws within their own error."""
    for name, estimate in estimates(small_fit, scope).items():
        if name == "effect_size":
            assert estimate.mixture is None
            continue
        draws, mixture = estimate.draws, estimate.mixture
        sd = mixture.total_sd
        error = abs(draws.mean(("chain", "draw")).to_numpy() - mixture.mean) / sd
        assert error.max() < 0.08, name
        np.testing.assert_allclose(draws.std(("chain", "draw")), sd, rtol=0.06)
        low, high = mixture.quantiles([0.025, 0.975])
        inside = ((draws > low) & (draws < high)).mean(("chain", "draw"))
        np.testing.assert_allclose(inside, 0.95, atol=0.015)
        negative = (draws < 0).mean(("chain", "draw"))
        np.testing.assert_allclose(negative, mixture.below(0.0), atol=0.04)


@pytest.mark.slow
def test_summarize_raises_for_generalising_from_single_word(small_table):
    table = random_table(targets={"men": 1, "women": 6})
    posterior = fit(table, seed=1, sampling=SHORT)
    with refused(ScopeError, "word (men) 'attributes'"):
        summarize(posterior, "both")
    assert np.isfinite(summarize(posterior, "attributes")["mean"]).all()


def test_summarize_raises_for_unknown_scope(small_fit):
    with refused(ScopeError, "'targets'"):
        summarize(small_fit, "target")


def test_summarize_returns_numeric_table_with_arviz_columns(small_fit):
    summary = summarize(small_fit, ci_prob=0.9)
    assert {"mean", "sd", "eti90_lb", "eti90_ub", "ess_bulk", "r_hat"} <= set(summary.columns)
    assert all(np.issubdtype(dtype, np.number) or np.issubdtype(dtype, np.bool_) for dtype in summary.dtypes)
    assert summary.index.names == ["estimand", "label"]
    assert summary.converged.all()


def test_estimands_of_crossed_raise_for_hierarchical_fit(hierarchical_fit):
    for ask in (verdict, variance_shares, lambda fit: words_needed(fit, 0.02), word_effects):
        with refused(ScopeError, "crossed 'hierarchical'"):
            ask(hierarchical_fit)
