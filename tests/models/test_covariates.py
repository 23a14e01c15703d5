"""Covariates of words: their slopes, and the bias at equal covariates, are those of generalised least squares."""

import numpy as np
import pandas as pd
import pytest

from bayes_bias import AssociationTable, fit, pymc_model, summarize
from bayes_bias.errors import SpecError, TableError
from bayes_bias.models.crossed import data as model_data
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.model_spec import load_spec
from bayes_bias.models.replicate_variances import Variances
from bayes_bias.models.slopes import Slopes, explained_contrast
from bayes_bias.models.structures import build_model
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.word_labels import SIDES
from tests.helpers import SCALES, SHORT, integrated_density, random_point, random_table, refused, restricted_log_likelihood
from tests.models.test_related_words import CLUSTERS, SHARE, as_posterior, dense_covariance

COMPARED = ("work", "home")


def numbers(table: AssociationTable, side: str, names: tuple[str, ...], seed: int = 0) -> pd.DataFrame:
    """Numbers that differ between groups, and between classes, on average."""
    words = table.values[side].to_numpy()
    home = table.group_index if side == "target" else table.class_index
    kept = np.ones(len(words), dtype=bool) if side == "target" else home < len(COMPARED)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: home + rng.normal(size=len(words)) for name in names}, index=words)
    return frame[kept]


def covariates(table: AssociationTable, sides: tuple[str, ...], names: tuple[str, ...] = ("rank",)) -> AssociationTable:
    return table.with_covariates({side: numbers(table, side, names, k) for k, side in enumerate(sides)})


def regressors(table: AssociationTable) -> list[np.ndarray]:
    """Columns of the long table, word by word: a slope of targets for each class, one of attributes for each group, and
    products; attributes of control classes have none."""
    data, (i, j) = model_data(table), np.indices(table.values.shape)
    g, c = table.group_index[i], table.class_index[j]
    z = {s: data[f"{s}_covariate_value"].to_numpy().T if f"{s}_covariate_value" in data else () for s in SIDES}
    columns = [of[i] * (c == k) for of in z["target"] for k in range(len(table.classes))]
    columns += [of[j] * (g == k) for of in z["attribute"] for k in range(len(table.groups))]
    return columns + [one[i] * other[j] for one in z["target"] for other in z["attribute"]]


DESIGNS = {
    "targets": (("target",), ("rank",)),
    "attributes": (("attribute",), ("rank",)),
    "both sides": (("target", "attribute"), ("rank",)),
    "two covariates": (("target", "attribute"), ("rank", "valence")),
}


@pytest.mark.parametrize("shares", [{}, SHARE], ids=["independent words", "related words"])
@pytest.mark.parametrize(("sides", "names"), DESIGNS.values(), ids=DESIGNS)
def test_the_collapsed_likelihood_is_the_dense_restricted_one(sides, names, shares):
    table = random_table(3, attributes={"work": 7, "home": 6, "neutral": 5})
    table = table.with_related_words(CLUSTERS, shares)
    table = covariates(table, sides, names)
    spec = load_spec("crossed").with_option("unit", "as measured")
    density = integrated_density(build_model(spec, model_data(table)), SCALES)
    rng, differences = np.random.default_rng(1), []
    for _ in range(4):
        point = random_point(table, rng)
        dense = restricted_log_likelihood(table, dense_covariance(table, point, shares), regressors(table))
        differences.append(density(*(point[name] for name in SCALES)) - dense)
    assert np.ptp(differences) <= 1e-8 * max(map(abs, differences))


@pytest.mark.parametrize(("sides", "names"), DESIGNS.values(), ids=DESIGNS)
def test_slopes_and_the_bias_at_equal_covariates_are_those_of_generalised_least_squares(sides, names):
    table = random_table(3, attributes={"work": 7, "home": 6, "neutral": 5})
    table = covariates(table, sides, names)
    data, point = model_data(table), random_point(table, np.random.default_rng(4))
    block = np.eye(6)[(table.group_index[:, None] * 3 + table.class_index).ravel()]
    x = np.column_stack([block, *(each.ravel() for each in regressors(table))])
    precision = np.linalg.inv(dense_covariance(table, point, {}))
    covariance = np.linalg.inv(x.T @ precision @ x)
    beta = covariance @ x.T @ precision @ table.values.to_numpy().ravel()
    weights = bias_weights(data)
    of_blocks = np.concatenate([weights.to_numpy().ravel(), np.zeros(len(beta) - 6)])

    variances = Variances.of_posterior(as_posterior(table, point), data)
    explained = explained_contrast(variances, data, weights)
    raw = float((data.block_mean * weights).sum())
    parts = variances.of_contrast(weights.to_numpy(), data.n_targets.to_numpy(), data.n_attributes.to_numpy())
    adjusted = raw - sum(centre.item() for centre, _ in explained.values())
    variance = sum(part.item() for part in parts.values()) + sum(spread.item() for _, spread in explained.values())
    assert adjusted == pytest.approx(of_blocks @ beta, abs=1e-10)
    assert variance == pytest.approx(of_blocks @ covariance @ of_blocks, rel=1e-8)

    if len(sides) == 1:
        slopes = Slopes.of(variances, data, sides[0])
        np.testing.assert_allclose(slopes.centre.ravel(), beta[6:], atol=1e-10)
        np.testing.assert_allclose(slopes.covariance[0, 0], covariance[6:, 6:], atol=1e-12)
