"""Words that belong together: the correlation of their effects enters every number exactly."""

from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.stats import beta, norm

from bayes_bias import AssociationTable, fit, summarize, word_effects
from bayes_bias.errors import TableError
from bayes_bias.fitting.collapsed_density import _correlation
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.models.correlations import quantiles
from bayes_bias.models.crossed import data as model_data
from bayes_bias.models.patterns import Variances
from bayes_bias.models.spec import load_spec
from bayes_bias.models.structures import build_model
from bayes_bias.posterior.word_effects import conditional
from tests.helpers import (
    SCALES,
    SHORT,
    attribute_covariance,
    integrated_density,
    random_point,
    random_table,
    refused,
    restricted_log_likelihood,
    target_covariance,
)

CLUSTERS = {
    **dict.fromkeys(("men 0", "men 1", "men 2"), "young"),
    **dict.fromkeys(("men 3", "men 4"), "old"),
    **dict.fromkeys(("work 0", "work 1", "work 2"), "pay"),
}
SHARE = {"men": 0.5, "work": 0.7}


@pytest.fixture(scope="module")
def related() -> AssociationTable:
    return random_table(3).with_related_words(CLUSTERS, SHARE)


def correlation(words: list[str], homes: list[str], shares: dict[str, float] = SHARE) -> np.ndarray:
    """As it is defined, word by word."""
    same = [[a == b or (a in CLUSTERS and CLUSTERS[a] == CLUSTERS.get(b)) for b in words] for a in words]
    share = np.array([shares.get(home, 0.0) for home in homes])
    return np.where(np.eye(len(words), dtype=bool), 1.0, share * np.array(same))


def correlations(table: AssociationTable, shares: dict[str, float] = SHARE) -> tuple[np.ndarray, np.ndarray]:
    values = table.values
    return (
        correlation(values.target.to_numpy().tolist(), values.group.to_numpy().tolist(), shares),
        correlation(values.attribute.to_numpy().tolist(), values.attribute_class.to_numpy().tolist(), shares),
    )


def dense_covariance(
    table: AssociationTable, point: dict[str, np.ndarray], shares: dict[str, float] = SHARE
) -> np.ndarray:
    g, c = table.group_index, table.class_index
    (i, j), (of_targets, of_attributes) = (
        (x.ravel() for x in np.indices(table.values.shape)),
        correlations(table, shares),
    )
    attribute = attribute_covariance(table, point)
    v = of_targets[np.ix_(i, i)] * target_covariance(table, point)[g[i][:, None], c[j][:, None], c[j]]
    v = v + of_attributes[np.ix_(j, j)] * attribute[c[j][:, None], g[i][:, None], g[i]]
    return v + point["sd_residual"] ** 2 * np.eye(i.size)


def as_posterior(table: AssociationTable, point: dict[str, np.ndarray]) -> xr.Dataset:
    dims: dict[str, tuple[str, ...]] = {"sd_target_control": ("group", "control"), "mean": ("group", "attribute_class")}
    dims |= dict.fromkeys(("sd_target", "sd_target_associated", "sd_target_preference"), ("group",))
    dims |= dict.fromkeys(("sd_attribute", "sd_attribute_preference"), ("attribute_class",))
    labels: dict[str, Any] = {"group": list(table.groups), "attribute_class": list(table.classes)}
    return xr.Dataset(
        {
            name: (("chain", "draw", *dims.get(name, ())), np.asarray(value)[None, None])
            for name, value in point.items()
        },
        coords={"chain": [0], "draw": [0], "control": list(table.controls), **labels},
    )


def shares_at(rng: np.random.Generator) -> dict[str, float]:
    """Correlations at which a likelihood is compared."""
    return {home: float(rng.uniform()) for home in SHARE}


def test_collapsed_likelihood_is_the_dense_one(related):
    spec = load_spec("crossed").with_option("unit", "as measured")
    names = (*SCALES, "target_correlation", "attribute_correlation")
    density = integrated_density(build_model(spec, model_data(related)), names)
    rng, differences = np.random.default_rng(1), []
    for _ in range(4):
        point, shares = random_point(related, rng), shares_at(rng)
        dense = restricted_log_likelihood(related, dense_covariance(related, point, shares))
        of_homes = [np.array([shares[home]]) for home in SHARE]
        differences.append(density(*(point[name] for name in SCALES), *of_homes) - dense)
    assert np.ptp(differences) <= 1e-8 * max(map(abs, differences))


def test_a_correlation_is_a_quantile_of_priors():
    z = np.linspace(-4, 4, 997)
    for expected in (0.002, 0.05, 0.4, 0.9):
        knots = np.concatenate([np.zeros(2), quantiles(expected, 4.0).ravel()])
        value, slope = np.array([_correlation(x, knots, 2) for x in z]).T
        prior = beta(4 * expected, 4 * (1 - expected))
        exact = np.where(z < 0, prior.ppf(norm.cdf(z)), prior.isf(norm.sf(z)))
        np.testing.assert_allclose(value, exact, atol=2e-6)
        np.testing.assert_allclose(np.cumsum(slope) * (z[1] - z[0]), value - value[0], atol=0.01)


def test_contrast_variance_is_that_of_values(related):
    data, point = model_data(related), random_point(related, np.random.default_rng(4))
    weights = np.array([[[0.5, -0.5, 0.0], [-0.5, 0.5, 0.0]]])
    posterior = as_posterior(related, point).assign(
        target_correlation=(("chain", "draw", "related_group"), [[[SHARE["men"]]]]),
        attribute_correlation=(("chain", "draw", "related_class"), [[[SHARE["work"]]]]),
    )
    parts = Variances.from_posterior(posterior, data).contrast_variances(weights)
    g, c = related.group_index, related.class_index
    of_value = (weights[0][np.ix_(g, c)] / np.outer(np.bincount(g)[g], np.bincount(c)[c])).ravel()
    variance = sum(part.item() for part in parts.values())
    assert variance == pytest.approx(of_value @ dense_covariance(related, point) @ of_value)


@pytest.mark.slow
def test_words_are_drawn_towards_their_cluster(related):
    fitted = Fitted.of(fit(related, seed=1, sampling=SHORT))
    given = conditional(fitted, "target")
    g = related.group_index
    centre = np.eye(len(g)) - (g[:, None] == g) / np.bincount(g)[g]
    sd = {str(name): draws[0, 0].to_numpy() for name, draws in fitted.posterior.items() if str(name) in SCALES}
    shares = {"men": fitted.posterior.target_correlation[0, 0, 0].item()}
    between = centre @ correlations(related, shares)[0] @ centre  # words of one group alone correlate
    effects = between[:, None, :, None] * target_covariance(related, sd)[g][:, :, None, :]
    effects = effects.reshape(2 * (len(g) * len(related.classes),))
    noise = np.kron(centre, np.diag(sd["sd_residual"] ** 2 / np.bincount(related.class_index)))
    expected = effects @ np.linalg.pinv(effects + noise) @ given.words.ravel()
    np.testing.assert_allclose(given.mean()[0, 0].ravel(), expected, rtol=1e-6, atol=1e-9)
    assert np.isfinite(word_effects(fitted.tree).target_effect).all()


@pytest.mark.slow
def test_related_words_count_fewer_and_others_fully(related):
    alone = random_table(3)
    sd = {
        name: summarize(fit(table, seed=1, sampling=SHORT), words=False).loc[("bias", "overall"), "sd"]
        for name, table in {
            "alone": alone,
            "related": related,
            "no share": alone.with_related_words(CLUSTERS, {}),
        }.items()
    }
    assert sd["no share"] == sd["alone"]
    assert sd["related"] > 1.1 * sd["alone"]


def test_a_correlation_that_cannot_be_is_refused():
    for share, said in (({"men": 1.2}, "share 'men' 1.2"), ({"man": 0.5}, "share 'man' 'men'")):
        with refused(TableError, said):
            random_table(3).with_related_words(CLUSTERS, share)
    related = random_table(3).with_related_words(CLUSTERS, SHARE)
    assert related.sha256 != random_table(3).sha256
    assert related.without_controls().has_related_words
