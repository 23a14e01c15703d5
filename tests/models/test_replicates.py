"""Replicates: their likelihood is the dense normal's, and they change what intervals are about."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from bayes_bias import AssociationTable, Sampling, cosines, fit, load_fit, load_spec, save_fit, summarize
from bayes_bias.errors import TableError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.models.components import BY_REPLICATE, DIMS, REPLICATES
from bayes_bias.models.crossed import data as model_data
from bayes_bias.models.patterns import Variances
from bayes_bias.models.table_parts import parts_of
from bayes_bias.posterior.estimates import estimate_of, estimates
from bayes_bias.table.association_table import assemble
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.combine_tables import combine_replicates
from bayes_bias.table.statistics import table_means
from tests.helpers import (
    REFERENCE,
    SCALES,
    SHORT,
    attribute_covariance,
    numbered,
    random_table,
    refused,
    restricted_log_likelihood,
    says,
    summing_to_zero,
    target_covariance,
)

SAMPLING = ("all", "both", "targets", "attributes", "replicates", "targets+replicates", "attributes+replicates")


def replicated_table(
    seed: int, targets: list[int], attributes: list[int], controls: int, replicates: int
) -> AssociationTable:
    """Random values: so many targets in each group, attributes in each associated class, words in one control."""
    rng = np.random.default_rng(seed)
    target_group = {f"t{g}{i}": f"g{g}" for g, n in enumerate(targets) for i in range(n)}
    attribute_class = {f"a{c}{j}": f"c{c}" for c, n in enumerate(attributes) for j in range(n)}
    attribute_class |= dict.fromkeys(numbered("z", controls), "neutral")
    classes = numbered("c", len(attributes))
    stereotypes = dict(zip(numbered("g", len(targets)), itertools.cycle(classes), strict=False))
    words = target_group, attribute_class, stereotypes
    tables = {}
    for label in numbered("r", replicates):
        values = rng.normal(size=(len(target_group), len(attribute_class)))
        tables[label] = assemble(values, *words, opposites=tuple(classes[len(targets) :]))
    return combine_replicates(tables, "template")


def random_scales(data: xr.Dataset, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Scales of words, of words by replicate, and of replicates."""
    shapes = {
        "sd_attribute": data.sizes["attribute_class"],
        "sd_attribute_preference": data.sizes["attribute_class"],
        "sd_target_control": data.sizes["control"],
    }
    word_scales = SCALES if data.sizes["control"] else (*SCALES[4:], "sd_target_associated", "sd_target_preference")
    names = [name + suffix for name in word_scales for suffix in ("", BY_REPLICATE)]
    own = REPLICATES if data.sizes["control"] else REPLICATES[:4]
    return {name: rng.uniform(0.2, 1.0, shapes.get(name.removesuffix(BY_REPLICATE), ())) for name in (*names, *own)}


def variances_of(scales: dict[str, np.ndarray], data: xr.Dataset) -> Variances:
    """Of one draw of scales that groups share."""
    draws = {}
    for name, value in scales.items():
        dims = [dim for dim in DIMS[name] if dim != "group"]
        draws[name] = ("draw", *dims[: np.ndim(value)]), np.array(value)[None]
    return Variances.from_posterior(xr.Dataset(draws), data)


def restricted(variances: Variances, data: xr.Dataset) -> float:
    """The log likelihood of all parts."""
    parts = parts_of(data, variances.patterns).values()
    return float(sum(part.log_likelihood(variances.coefficients[0]) for part in parts))


def dense_covariance(table: AssociationTable, scales: dict[str, np.ndarray], data: xr.Dataset) -> np.ndarray:
    """Of all values of all replicates at once."""
    n_replicates, k = (data.sizes["replicate"], data.sizes["attribute_class"] - data.sizes["control"])
    index = np.indices((n_replicates, *table.values.shape)).reshape(3, -1)
    _, i, j = index
    g, c = table.group_index[i], table.class_index[j]
    same_r, same_i, same_j = index[:, :, None] == index[:, None, :]
    found = np.zeros((index.shape[1],) * 2)
    none = {"sd_target": np.zeros(()), "sd_target_control": np.zeros(0)}  # of a table without controls
    for suffix, alike in (("", np.ones_like(same_r)), (BY_REPLICATE, same_r)):
        own = none | {name: scales[name + suffix] for name in SCALES if name + suffix in scales}
        target_cov, attribute_cov = target_covariance(table, own), attribute_covariance(table, own)
        found += alike * same_i * target_cov[g[:, None], c[:, None], c]
        found += alike * same_j * attribute_cov[c[:, None], g[:, None], g]
        class_codes = (
            np.where(c >= k, scales.get("sd_residual_control" + suffix, 0.0), scales["sd_residual" + suffix]) ** 2
        )
        found += alike * same_i * same_j * class_codes
    sums_g, sums_c = summing_to_zero(data.sizes["group"]), np.zeros((data.sizes["attribute_class"],) * 2)
    sums_c[:k, :k] = summing_to_zero(k)
    own = scales["sd_replicate"] ** 2 + scales["sd_replicate_group"] ** 2 * sums_g[np.ix_(g, g)]
    own = own + scales["sd_replicate_class"] ** 2 * sums_c[np.ix_(c, c)]
    own = own + scales["sd_replicate_preference"] ** 2 * sums_g[np.ix_(g, g)] * sums_c[np.ix_(c, c)]
    if data.sizes["control"]:
        same_control = (c[:, None] == c) & (c >= k)
        own = own + scales["sd_replicate_control"] ** 2 * same_control
        own = own + scales["sd_replicate_control_group"] ** 2 * same_control * sums_g[np.ix_(g, g)]
    return found + same_r * own


designs = st.tuples(
    st.integers(0, 10_000),
    st.lists(st.integers(2, 3), min_size=1, max_size=3),
    st.lists(st.integers(2, 3), min_size=2, max_size=3),
    st.sampled_from([0, 2, 3]),
    st.integers(2, 4),
)


@given(designs)
@settings(max_examples=12)
def test_replicated_likelihood_matches_dense_normal(design):
    table = replicated_table(*design)
    data, rng = model_data(table), np.random.default_rng(design[0])
    differences, size = [], 0.0
    for _ in range(3):
        scales = random_scales(data, rng)
        found = restricted(variances_of(scales, data), data)
        dense = restricted_log_likelihood(table, dense_covariance(table, scales, data))
        differences.append(found - dense)
        size = max(size, abs(dense))
    assert np.ptp(differences) <= 1e-8 * size


@given(designs)
@settings(max_examples=12)
def test_contrast_variance_with_replicates_matches_dense_covariance(design):
    table = replicated_table(*design)
    data, rng = model_data(table), np.random.default_rng(design[0])
    scales = random_scales(data, rng)
    weights = rng.normal(size=(1, data.sizes["group"], data.sizes["attribute_class"]))
    parts = variances_of(scales, data).contrast_variances(weights)
    g, c = table.group_index, table.class_index
    value_weights = weights[0][np.ix_(g, c)] / np.outer(np.bincount(g)[g], np.bincount(c)[c])
    value_weights = np.tile(value_weights.ravel(), data.sizes["replicate"]) / data.sizes["replicate"]
    dense = value_weights @ dense_covariance(table, scales, data) @ value_weights
    assert sum(parts.values()).item() == pytest.approx(dense)


def lme4_scales(point: "pd.Series[float]") -> dict[str, np.ndarray]:
    """By our names; lme4 has a scale for each class, and two groups and classes have two each."""
    scales = {}
    scale_values = point[point.index.str.startswith("sd_")].sort_index()
    for name, values in scale_values.groupby(scale_values.index.str.replace("_[12]", "", regex=True)):
        scales[name] = values.to_numpy() if len(values) > 1 else values.to_numpy()[0]
    return scales


def test_replicated_likelihood_and_standard_error_match_lme4():
    """R 4.2.2, lme4 1.1.31 (tests/reference/lme4_replicates.R): weat7 in the ten templates of minilm-demo."""
    lme4 = pd.read_csv(REFERENCE / "lme4_replicates.csv").set_index(["point", "quantity"]).value
    table = cosines("weat7", "minilm-demo", controls=(), sub_topics="independent")
    data = model_data(table)

    def log_likelihood_at(scales: dict[str, np.ndarray]) -> float:
        return restricted(variances_of(scales, data), data)

    best = lme4_scales(lme4["REML"])
    found = log_likelihood_at(best)
    at_lme4 = log_likelihood_at(lme4_scales(lme4["all alike"]))
    expected = lme4["REML", "log_likelihood"] - lme4["all alike", "log_likelihood"]
    assert found - at_lme4 == pytest.approx(expected, rel=1e-6)
    for name in best:
        for factor in (0.9, 1.1):
            assert log_likelihood_at(best | {name: best[name] * factor}) < found + 1e-4
    means = table_means(table)
    weights = bias_weights(means)
    variance = variances_of(best, data).contrast_variances(weights.to_numpy())
    assert sum(variance.values()).item() ** 0.5 == pytest.approx(lme4["REML", "se"], rel=1e-5)
    assert float((means.block_mean * weights).sum()) == pytest.approx(lme4["REML", "bias"], rel=1e-5)


def test_parts_of_ignores_order_and_labels_of_replicates():
    table = replicated_table(1, [3, 4], [3, 3], 2, 4)
    tables = {label.upper(): single for label, single in table.singles().items()}
    data = model_data(table)
    patterns = variances_of(random_scales(data, np.random.default_rng(1)), data).patterns
    expected = parts_of(data, patterns)
    for order in (["R3", "R2", "R1", "R0"], ["R2", "R0", "R3", "R1"]):
        reordered = combine_replicates({label: tables[label] for label in order}, "seed")
        for name, part in parts_of(model_data(reordered), patterns).items():
            np.testing.assert_allclose(part.scatter, expected[name].scatter, rtol=1e-9, atol=1e-12)


def test_crossed_has_priors_for_all_replicate_scales():
    by_replicate = np.char.add(SCALES, BY_REPLICATE).tolist()
    assert {*REPLICATES, *by_replicate} <= set(load_spec("crossed").priors)


ENOUGH = Sampling(draws=1000, tune=700)


@pytest.fixture(scope="module")
def templates() -> AssociationTable:
    """Tables that share their words' effects and have shifts of their own."""
    rng = np.random.default_rng(4)
    shared = random_table(1)
    tables = {}
    for r in range(5):
        shift = 0.02 * rng.standard_normal((2, 3))
        own = 0.02 * rng.standard_normal(shared.values.shape)
        moved = shared.values + shift[np.ix_(shared.group_index, shared.class_index)] + own
        tables[f"template {r}"] = replace(shared, values=moved)
    return combine_replicates(tables, "template")


@pytest.fixture(scope="module")
def fitted(sampled: None, templates: AssociationTable) -> Fitted:
    return Fitted.of(fit(templates, sampling=ENOUGH))


def test_replicated_fit_converges_and_equals_reloaded_fit(fitted, tmp_path):
    assert Diagnostics.of(fitted).converged
    assert not Diagnostics.of(fitted).divergences
    again = load_fit(save_fit(fitted.tree, tmp_path / "replicated.nc"))
    xr.testing.assert_identical(again["posterior"].to_dataset(), fitted.posterior)
    pd.testing.assert_frame_equal(summarize(again, words=False), summarize(fitted, words=False))


def test_bias_sd_increases_with_sampled_sides(fitted):
    mean, sd = {}, {}
    for scope in SAMPLING:
        bias = estimate_of(fitted, "bias", scope).mixture
        mean[scope], sd[scope] = bias.mean.item(), bias.total_sd.item()
    assert sd["all"] > max(sd["both"], sd["targets+replicates"], sd["attributes+replicates"])
    assert sd["both"] > max(sd["targets"], sd["attributes"])
    assert sd["targets+replicates"] > max(sd["targets"], sd["replicates"])
    # Fixed or not, the raw contrast is the centre.
    assert np.ptp([*mean.values()]) < 1e-12


def test_estimate_of_is_equal_for_new_fitted(fitted):
    for scope in SAMPLING[:3]:  # of which the first samples replicates
        kept = estimate_of(fitted, "target_bias", scope).mixture
        new = estimate_of(Fitted.of(fitted.tree), "target_bias", scope).mixture
        np.testing.assert_array_equal(kept.centre, new.centre)
        np.testing.assert_array_equal(kept.sd, new.sd)


@pytest.mark.parametrize("scope", SAMPLING)
def test_draws_match_mean_and_sd_of_mixture(fitted, scope):
    """Of every estimand: what is drawn has the mean and the spread of the mixture."""
    for name, estimate in estimates(fitted, scope).items():
        if estimate.mixture is None:
            continue
        sd, over = estimate.mixture.total_sd, ("chain", "draw")
        mean, spread = estimate.draws.mean(over), estimate.draws.std(over)
        np.testing.assert_allclose(mean, estimate.mixture.mean, atol=0.1 * sd.max(), err_msg=name)
        np.testing.assert_allclose(spread, sd, rtol=0.1, err_msg=name)


def test_replicate_bias_equals_raw_contrast_in_scope_none(fitted, templates):
    raw = summarize(fitted, "none")
    for label, table in templates.singles().items():
        means = table_means(table)
        expected = float((means.block_mean * bias_weights(means)).sum())
        assert raw.loc[("replicate_bias", label), "mean"] == pytest.approx(expected)


def test_replicate_biases_shrink_and_average_to_bias(fitted):
    summary = summarize(fitted, "all")
    shrunk = summary.loc["replicate_bias"]
    assert shrunk["mean"].std() < shrunk.observed.std()
    assert shrunk["mean"].mean() == pytest.approx(summary.loc[("bias", "overall"), "mean"])
    assert 0 < summary.loc[("reliability", "1"), "mean"] < summary.loc[("reliability", "5"), "mean"] < 1


def test_replicate_bias_matches_dense_normal(fitted, templates):
    """Of one draw of the scales: the bias in each replicate given all values, words and replicates random."""
    data = fitted.data
    at = {"chain": 0, "draw": 0}
    scales = {name: fitted.posterior[name][at].to_numpy() for name in fitted.posterior if name.startswith("sd_")}
    v = dense_covariance(templates, scales, data)
    n_replicates, size = data.sizes["replicate"], templates.values.size
    block = (templates.group_index[:, None] * len(templates.classes) + templates.class_index).ravel()
    x = np.tile(np.eye(data.block_mean.size)[block], (n_replicates, 1))
    weights = bias_weights(data).to_numpy()[0].ravel()
    effects = {name: scale if name in REPLICATES else 0 * scale for name, scale in scales.items()}
    effects_cov = dense_covariance(templates, effects, data)
    # One value of each block of each replicate stands for the replicate's effects on it.
    first = np.unique(block, return_index=True)[1]
    rows = np.arange(n_replicates)[:, None] * size + first
    with_data = weights @ effects_cov[rows]
    among = np.einsum("j,rjsk,k->rs", weights, effects_cov[rows][:, :, rows], weights)
    y = templates.replicates.stacked().to_numpy().ravel()
    solved = np.linalg.solve(v, np.column_stack([x, y, with_data.T]))
    information = x.T @ solved[:, : x.shape[1]]
    mean = np.linalg.solve(information, x.T @ solved[:, x.shape[1]])
    expected = weights @ mean + with_data @ (solved[:, x.shape[1]] - solved[:, : x.shape[1]] @ mean)
    left = np.tile(weights, (n_replicates, 1)) - with_data @ solved[:, : x.shape[1]]
    covariance = among - with_data @ solved[:, x.shape[1] + 1 :] + left @ np.linalg.solve(information, left.T)
    found = estimates(fitted, "all")["replicate_bias"].mixture
    np.testing.assert_allclose(found.centre[at], expected, atol=1e-10)
    np.testing.assert_allclose(found.sd[at], np.sqrt(np.diag(covariance)), rtol=1e-8)


@pytest.mark.slow
def test_fit_of_identical_replicates_equals_single_table(small_table, small_fit, caplog):
    same = combine_replicates(dict.fromkeys(numbered("copy ", 3), small_table))
    found = fit(same, seed=1, sampling=SHORT)
    assert says(caplog.text, "replicates same values")
    xr.testing.assert_equal(found["posterior"].to_dataset(), small_fit["posterior"].to_dataset())


def test_fit_raises_for_replicates_without_residual():
    """Shifted by effects of words alone: no variance of single values is left, and its scale would go to zero."""
    rng = np.random.default_rng(2)
    shared, tables = random_table(1), {}
    for r in range(4):
        shift = rng.normal(0, 0.06, len(shared.group_index))[:, None] * np.sign(shared.class_index - 0.5)
        tables[f"corpus {r}"] = replace(shared, values=shared.values + shift)
    with refused(TableError, "replicates mean"):
        fit(combine_replicates(tables, "corpus"))


def test_hierarchical_averages_replicates_with_notice(templates, from_priors, caplog):
    found = fit(templates, "hierarchical")
    assert says(caplog.text, "no effects replicates")
    assert Fitted.of(found).data.sizes.get("replicate", 0) == 0


@pytest.mark.slow
def test_summary_of_replicates_scales_with_unit(templates, fitted):
    tables = {label: replace(table, values=table.values / 8) for label, table in templates.singles().items()}
    smaller = fit(combine_replicates(tables, "template"), sampling=ENOUGH)
    whole, part = summarize(fitted)["mean"], summarize(smaller)["mean"]
    scaled = ~whole.index.get_level_values("estimand").isin(("same_sign", "reliability", "effect_size"))
    np.testing.assert_allclose(8 * part[scaled], whole[scaled], rtol=1e-6, atol=1e-9)
