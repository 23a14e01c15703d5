"""Covariates of words: their slopes, and the bias at equal covariates, are those of generalised least squares."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayes_bias import AssociationTable, Sampling, fit, pymc_model, summarize, verdict
from bayes_bias.errors import SpecError, TableError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.models.crossed import data as model_data
from bayes_bias.models.patterns import Variances
from bayes_bias.models.slopes import Slopes, explained_contrast
from bayes_bias.models.spec import load_spec
from bayes_bias.models.structures import build_model
from bayes_bias.posterior.covariate_estimates import covariates_of
from bayes_bias.posterior.word_effects import conditional
from bayes_bias.table.bias_weights import bias_weights
from tests.helpers import (
    SCALES,
    SHORT,
    as_posterior,
    dense_covariance,
    integrated_density,
    random_point,
    random_table,
    refused,
    restricted_log_likelihood,
)

COMPARED = ("work", "home")


def numbers(table: AssociationTable, side: str, names: tuple[str, ...], seed: int = 0) -> pd.DataFrame:
    """Numbers that differ between groups, and between classes, on average."""
    words = table.values[side].to_numpy()
    codes = table.group_index if side == "target" else table.class_index
    kept = np.ones(len(words), dtype=bool) if side == "target" else codes < len(COMPARED)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: codes + rng.normal(size=len(words)) for name in names}, index=words)
    return frame[kept]


def covariates(table: AssociationTable, sides: tuple[str, ...], names: tuple[str, ...] = ("rank",)) -> AssociationTable:
    return table.with_covariates({side: numbers(table, side, names, k) for k, side in enumerate(sides)})


def regressors(table: AssociationTable) -> list[np.ndarray]:
    """Columns of the long table, word by word: a slope of targets for each class, one of attributes for each group, and
    products; attributes of control classes have none."""
    data, (i, j) = model_data(table), np.indices(table.values.shape)
    g, c = table.group_index[i], table.class_index[j]
    no_values = xr.DataArray(np.zeros((0, 0)))
    target_values = data.get("target_covariate_value", no_values).to_numpy().T
    attribute_values = data.get("attribute_covariate_value", no_values).to_numpy().T
    columns = [values[i] * (c == k) for values in target_values for k in range(len(table.classes))]
    columns += [values[j] * (g == k) for values in attribute_values for k in range(len(table.groups))]
    return columns + [left[i] * right[j] for left in target_values for right in attribute_values]


DESIGNS = {
    "targets": (("target",), ("rank",)),
    "attributes": (("attribute",), ("rank",)),
    "both sides": (("target", "attribute"), ("rank",)),
    "two covariates": (("target", "attribute"), ("rank", "valence")),
}


@pytest.mark.parametrize(("sides", "names"), DESIGNS.values(), ids=DESIGNS)
def test_likelihood_with_covariates_matches_dense_normal(sides, names):
    table = random_table(3, attributes={"work": 7, "home": 6, "neutral": 5})
    table = covariates(table, sides, names)
    spec = load_spec("crossed").with_option("unit", "as measured")
    density = integrated_density(build_model(spec, model_data(table)), SCALES)
    rng, differences = np.random.default_rng(1), []
    for _ in range(4):
        point = random_point(table, rng)
        dense = restricted_log_likelihood(table, dense_covariance(table, point), regressors(table))
        differences.append(density(*(point[name] for name in SCALES)) - dense)
    assert np.ptp(differences) <= 1e-8 * max(map(abs, differences))


@pytest.mark.parametrize(("sides", "names"), DESIGNS.values(), ids=DESIGNS)
def test_slopes_and_bias_match_generalised_least_squares(sides, names):
    table = random_table(3, attributes={"work": 7, "home": 6, "neutral": 5})
    table = covariates(table, sides, names)
    data, point = model_data(table), random_point(table, np.random.default_rng(4))
    block = np.eye(6)[(table.group_index[:, None] * 3 + table.class_index).ravel()]
    x = np.column_stack([block, *map(np.ravel, regressors(table))])
    precision = np.linalg.inv(dense_covariance(table, point))
    covariance = np.linalg.inv(x.T @ precision @ x)
    beta = covariance @ x.T @ precision @ table.values.to_numpy().ravel()
    weights = bias_weights(data)
    block_columns = np.concatenate([weights.to_numpy().ravel(), np.zeros(len(beta) - 6)])

    variances = Variances.from_posterior(as_posterior(table, point), data)
    explained = explained_contrast(variances, data, weights)
    raw = float((data.block_mean * weights).sum())
    parts = variances.contrast_variances(weights.to_numpy())
    adjusted, variance = raw, sum(parts.values()).item()
    for centre, spread in explained.values():
        adjusted -= centre.item()
        variance += spread.item()
    assert adjusted == pytest.approx(block_columns @ beta, abs=1e-10)
    assert variance == pytest.approx(block_columns @ covariance @ block_columns, rel=1e-8)

    if len(sides) == 1:
        slopes = Slopes.of(variances, data, sides[0])
        np.testing.assert_allclose(slopes.centre.ravel(), beta[6:], atol=1e-10)
        np.testing.assert_allclose(slopes.covariance[0, 0], covariance[6:, 6:], atol=1e-12)


@pytest.fixture(scope="module")
def table() -> AssociationTable:
    return covariates(random_table(3), ("target", "attribute"))


@pytest.fixture(scope="module")
def adjusted(table) -> Fitted:
    return Fitted.of(fit(table, seed=2, sampling=SHORT))


@pytest.mark.slow
def test_adjusted_and_explained_bias_add_to_unadjusted_bias(adjusted, table):
    rows = summarize(adjusted, words=False)["mean"].xs("overall", level="label")
    assert rows.bias + rows.explained_bias == pytest.approx(rows.unadjusted_bias, abs=1e-6)
    raw = summarize(fit(random_table(3), seed=1, sampling=SHORT), words=False)
    assert rows.unadjusted_bias == pytest.approx(raw.loc[("bias", "overall"), "mean"])
    assert summarize(adjusted, "none").loc[("bias", "overall"), "mean"] == pytest.approx(rows.unadjusted_bias)
    found = verdict(adjusted)
    assert found.covariates == "rank of targets and attributes"
    for said in ("adjusted for rank of targets", "explained by rank of targets"):
        assert said in found.text
    assert len(adjusted.posterior.target_slope.target_covariate) == 1


@pytest.mark.thorough
@pytest.mark.slow
def test_crossed_long_matches_crossed_with_covariates(adjusted, table):
    # Each draw of every word's effects takes long; the means of 1,000 are close enough for what follows.
    long = Fitted.of(fit(table, "crossed-long", seed=1, sampling=Sampling(draws=500, tune=400, chains=2)))
    short, written_out = summarize(adjusted, words=False), summarize(long, words=False)
    difference = (short["mean"] - written_out["mean"]) / written_out["sd"]
    assert difference.drop("effect_size", errors="ignore").abs().max() < 0.15
    assert {"target_slope", "attribute_slope", "covariate_product"} <= set(pymc_model(table).named_vars)


@pytest.mark.slow
def test_conditional_subtracts_slopes_from_word_means(adjusted):
    data, posterior = adjusted.data, adjusted.posterior
    given = conditional(adjusted, "target").observed[0, 0]
    z = data.target_covariate_value - data.target_covariate_mean[data.group_of.to_numpy()].to_numpy()
    slope = posterior.target_slope[0, 0] + posterior.covariate_product[0, 0] @ data.attribute_covariate_mean
    left = data.target_mean - data.block_mean[data.group_of.to_numpy()].to_numpy() - z @ slope
    np.testing.assert_allclose(given, left.transpose("target", ...), atol=1e-12)


def test_table_keeps_covariates_in_hash_and_parts(table):
    assert table.sha256 != random_table(3).sha256
    assert table.covariates == {"target": ["rank"], "attribute": ["rank"]}
    assert table.without_controls().covariates == table.covariates
    assert random_table(3).covariates == {}


def test_with_covariates_warns_about_groups_without_overlap():
    small = random_table(3)
    far = pd.Series(10 * small.group_index + np.arange(len(small.group_index)), small.values.target)
    assert "do not overlap" in small.with_covariates(far).notices[-1]


def test_with_covariates_warns_about_small_overlap():
    small = random_table(3)
    by_group = pd.Series(np.arange(len(small.group_index)), small.values.target).groupby(small.group_index)
    z = (by_group.transform("rank") - by_group.transform("size") / 2) / by_group.transform("std")
    for sds, said in ((1.5, False), (2.5, True)):
        table = small.with_covariates(z + sds * small.group_index)
        assert any("hardly overlap" in notice for notice in table.notices) == said


TARGETS = random_table(3).values.target.to_numpy().tolist()
RISING = pd.Series(np.arange(11.0), TARGETS).to_dict()
IRREGULAR = np.random.default_rng(1).normal(size=(11, 8))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (dict.fromkeys(TARGETS[1:], 1.0), "covariates 1 11 targets men 0"),
        (dict.fromkeys(TARGETS, 2.0), "'covariate' 2 all targets"),
        ({word: float("women" in word) for word in TARGETS}, "covariate same all targets group"),
        (RISING | {"men 1": float("nan")}, "covariate 'men 1' finite nan"),
        (RISING | {"men 1": "rare"}, "covariate 'men 1' number 'rare'"),
        ({"nobody": 1.0}, "covariates no word target attribute"),
        (3, "covariates int DataFrame"),
        (pd.DataFrame({"a": RISING}).assign(b=lambda frame: 2 * frame.a), "covariates a b each other"),
        (pd.concat([pd.Series(RISING), pd.Series(RISING)]), "covariates 'men 0' more than once"),
        (pd.DataFrame(IRREGULAR, TARGETS), "11 targets too few 0 7"),
    ],
)
def test_with_covariates_raises_for_invalid_covariates(given, said):
    with refused(TableError, said):
        random_table(3).with_covariates(given)


def test_hierarchical_raises_for_covariates(table):
    with refused(SpecError, "'hierarchical' covariates 'crossed'"):
        fit(table, "hierarchical")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"target": ["rank"]}, "rank of targets"),
        ({"target": ["rank", "length"], "attribute": ["age"]}, "rank and length of targets, and age of attributes"),
        ({"target": ["rank"], "attribute": ["rank"]}, "rank of targets and attributes"),
        ({}, ""),
    ],
)
def test_covariates_of_returns_names_and_sides(names, said):
    labels = xr.Dataset(coords={f"{side}_covariate": covariates for side, covariates in names.items()})
    slopes = xr.Dataset({f"{side}_slope": 0.0 for side in names})
    assert covariates_of(SimpleNamespace(posterior=slopes, data=labels)) == said
