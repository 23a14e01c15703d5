"""What vectors tell of preferences and related words enters every number exactly."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr
from scipy.integrate import simpson
from scipy.special import digamma, polygamma
from scipy.stats import invgamma

from bayes_bias import AssociationTable, fit, load_spec, priors, pymc_model, summarize, word_effects
from bayes_bias.errors import TableError
from bayes_bias.fitting.diagnostics import diagnose
from bayes_bias.models.crossed import data as model_data
from bayes_bias.models.patterns import Variances
from bayes_bias.models.preferences import drawn_inflation, residual_shares
from bayes_bias.table.labels import CATEGORY_COORD
from bayes_bias.table.related_words import Related
from tests.helpers import FEW, SHORT, attribute_covariance, random_table, refused, residual_variances, target_covariance

NUMBERS = {"men": (0, 5), "women": (5, 11), "work": (0, 6), "home": (6, 11), "neutral": (11, 19)}
WORDS = {category: [f"{category} {i}" for i in range(*ends)] for category, ends in NUMBERS.items()}
INFLATION = {"men": 2.0, "women": 1.0, "work": 1.5, "home": 1.0, "neutral": 1.0}
RELATED = {
    category: Related(tuple(words), INFLATION[category], 0.03 + 0.01 * k, 20.0, np.linspace(-1, 1, len(words)))
    for k, (category, words) in enumerate(WORDS.items())
}


@pytest.fixture(scope="module")
def related() -> AssociationTable:
    return random_table(3).with_related_words(RELATED)


@pytest.fixture(scope="module")
def related_fit(sampled, related):
    return fit(related, seed=1, sampling=SHORT)


def test_with_related_words_keeps_inflation_and_groups(related):
    found = related.related_words
    assert {category: related.inflation for category, related in found.categories.items()} == INFLATION
    assert set(found.reduced) == {"men", "work"}
    assert found.groups["men"].effective == 2.5
    assert found.groups["men"].ends == (("men 4", "men 3"), ("men 0", "men 1"))
    assert related.sha256 != random_table(3).sha256
    assert related.without_controls().related_words.groups.keys() == {"men", "women"}


@pytest.mark.parametrize(
    ("category", "change", "said"),
    [("men", {"inflation": 0.9}, "inflation 'men' 0.9"), ("man", {}, "related 'man' 'men'")],
)
def test_with_related_words_raises_for_invalid_inflation_or_category(category, change, said):
    with refused(TableError, said):
        random_table(3).with_related_words({category: replace(RELATED["men"], **change)})


def test_contrast_variance_with_inflation_matches_dense_covariance(related, related_fit):
    """Words of a group share a part of each effect, whose variance makes that of the mean larger by the inflation."""
    data, posterior = model_data(related), related_fit["posterior"].to_dataset().isel(chain=[0], draw=[3])
    weights = np.array([[[0.5, -0.5, 0.0], [-0.5, 0.5, 0.0]]])
    parts = Variances.from_posterior(posterior, data).contrast_variances(weights)
    point = {str(name): values[0, 0].to_numpy() for name, values in posterior.items()}
    g, c = related.group_index, related.class_index
    i, j = np.indices(related.values.shape).reshape(2, -1)

    def in_common(cells: np.ndarray, inflation: np.ndarray) -> np.ndarray:
        return np.eye(len(cells)) + (cells[:, None] == cells) * ((inflation - 1) / np.bincount(cells))[cells]

    target_part = in_common(g, point["target_inflation"])
    attribute_part = in_common(c, point["attribute_inflation"])
    v = target_part[np.ix_(i, i)] * target_covariance(related, point)[g[i][:, None], c[j][:, None], c[j]]
    v += attribute_part[np.ix_(j, j)] * attribute_covariance(related, point)[c[j][:, None], g[i][:, None], g[i]]
    v += np.diag(residual_variances(related, point)[c[j]])
    value_weights = (weights[0][np.ix_(g, c)] / np.outer(np.bincount(g)[g], np.bincount(c)[c])).ravel()
    assert sum(parts.values()).item() == pytest.approx(value_weights @ v @ value_weights)


def test_preference_sd_omits_residual_share(related, related_fit):
    posterior, data = related_fit["posterior"], model_data(related)
    for side in ("target", "attribute"):
        variance = posterior[f"{side}_preference_variance"]
        share, left = residual_shares(data, side)[0], variance - 0
        for cell, name in enumerate(variance[CATEGORY_COORD[side]].to_numpy()):
            # Attributes of control classes have residuals of their own.
            residual_sd = posterior.sd_residual_control if name in data.control else posterior.sd_residual
            left[{CATEGORY_COORD[side]: cell}] = variance.isel({CATEGORY_COORD[side]: cell}) - share * residual_sd**2
        expected = np.sqrt(left.clip(min=0)).transpose(*posterior[f"sd_{side}_preference"].dims)
        np.testing.assert_allclose(posterior[f"sd_{side}_preference"], expected, atol=1e-6)


def test_residual_shares_match_simulated_variance():
    """Simulated: the residual's variance is one, and preferences are means of a class minus the mean of all."""
    table = random_table(attributes={"a": 3, "b": 5, "c": 4}, targets=dict.fromkeys("xyz", 4))
    noise = np.random.default_rng(1).standard_normal((200_000, 12))
    means = np.add.reduceat(noise, [0, 3, 8], axis=1) / [3, 5, 4]
    preferences = means - means.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(residual_shares(model_data(table), "target"), preferences.var(), rtol=0.01)


def test_drawn_inflation_matches_inverse_gamma(related):
    drawn = drawn_inflation(model_data(related), "target", (200_000,), np.random.default_rng(1))
    factor = invgamma(20 / 4, scale=20 / 4)
    assert (drawn[:, 1] == 1).all()
    np.testing.assert_allclose(np.quantile(drawn[:, 0] - 1, [0.1, 0.5, 0.9]), factor.ppf([0.1, 0.5, 0.9]), rtol=0.02)


def test_priors_print_factor_of_groups_and_associated_classes(related_fit):
    found = priors(related_fit).prior
    for side in ("target", "attribute"):
        assert found[f"{side}_preference_factor", ""] == "1 / ChiSquared(1)"
    assert found["target_preference_variance", "men"] == "target_preference_factor * 0.03**2 * 8 / ChiSquared(8)"
    variances = found["attribute_preference_variance"]
    assert variances["work"] == "attribute_preference_factor * 0.05**2 * 8 / ChiSquared(8)"
    assert variances["neutral"] == "0.07**2 * 8 / ChiSquared(8)"  # a control class
    assert found["target_inflation", "men"] == "1 + 1 * 10 / ChiSquared(10)"  # half of the 20 directions


def test_priors_print_numbers_of_changed_prior_from_vectors(sampled, related):
    parameters = {"nu": 5, "nu_factor": 3, "lam": 2.5}
    spec = load_spec("crossed").with_prior("sd_target_preference", "FromVectors", **parameters)
    found = priors(fit(related, spec, seed=1, sampling=FEW)).prior
    assert found["target_preference_factor", ""] == "3 / ChiSquared(3)"
    assert found["target_preference_variance", "women"] == "target_preference_factor * 0.04**2 * 5 / ChiSquared(5)"
    assert found["attribute_preference_factor", ""] == "1 / ChiSquared(1)"


@pytest.mark.slow
@pytest.mark.parametrize("words", [4, 8])
def test_preference_variance_posterior_matches_numerical_integral(words):
    """Without a preference of attributes, variances of two groups and their factor are all that the words tell."""
    table = random_table(5, targets={"men": words, "women": words}, attributes={"work": 300, "home": 300})
    all_words = pd.Index([*table.values.target.to_numpy(), *table.values.attribute.to_numpy()])
    related = {}
    for category, sd in {"men": 0.02, "women": 0.02, "work": 0.05, "home": 0.05}.items():
        related[category] = Related(tuple(all_words[all_words.str.startswith(category)]), 1.0, sd, 10.0)
    posterior = fit(table.with_related_words(related), seed=1)["posterior"]
    data = model_data(table)
    preferences = (data.target_mean[:, 0] - data.target_mean[:, 1]).to_numpy() / 2
    explained, df = float(posterior.sd_residual.mean() ** 2) / 600, words - 1
    # Densities of the logs of the factor and of the variance.
    log_factor, log_variance = np.linspace(-9, 11, 401)[:, None], np.linspace(np.log(1e-8), np.log(10), 4001)
    variance, half = np.exp(log_variance), 4
    scale = half * 0.02**2 * np.exp(log_factor)
    prior = invgamma.pdf(variance, half, scale=scale) * variance
    evidence, moment = [], []
    for own in (preferences[:words], preferences[words:]):
        observable = np.maximum(variance, explained)
        likelihood = observable ** (-df / 2) * np.exp(-((own - own.mean()) ** 2).sum() / 2 / observable)
        evidence.append(simpson(likelihood * prior, x=log_variance))
        moment.append(simpson(variance * likelihood * prior, x=log_variance))
    factor = np.exp(log_factor.ravel())
    of_factor = invgamma(1 / 2, scale=1 / 2).pdf(factor) * factor
    mass = simpson(of_factor * evidence[0] * evidence[1], x=log_factor.ravel())
    expected = simpson(of_factor * moment[0] * evidence[1], x=log_factor.ravel()) / mass
    found = float(posterior.target_preference_variance.sel(group="men").mean())
    assert found == pytest.approx(expected, rel=0.05)


@pytest.mark.slow
def test_word_effects_keep_variance_of_group_mean(related_fit):
    """What all words of a group share is part of their effects: by the inflation, their mean varies more."""
    effects, posterior = word_effects(related_fit).target_effect, related_fit["posterior"]
    for group in ("men", "women"):
        words = effects.sel(target=WORDS[group])
        of_words = (posterior.target_inflation.sel(group=group) * posterior.sd_target**2).mean() / len(WORDS[group])
        assert (words.mean("target").var(("chain", "draw")) > 0.75 * of_words).all()


@pytest.mark.slow
def test_related_words_increase_sd_of_bias(related):
    independent = {category: replace(related, inflation=1.0) for category, related in RELATED.items()}

    def bias_sd(table: AssociationTable) -> float:
        return summarize(fit(table, seed=1, sampling=SHORT), words=False).loc[("bias", "overall"), "sd"]

    assert bias_sd(related) > 1.1 * bias_sd(random_table(3).with_related_words(independent))


@pytest.mark.parametrize("marginal", [True, False])
def test_pymc_model_has_variances_and_inflations(related, marginal):
    model = pymc_model(related, marginal=marginal)
    free = {rv.name for rv in model.free_RVs}
    relative = {f"{side}_preference_variance_relative" for side in ("target", "attribute")}
    factors = {f"{side}_preference_factor" for side in ("target", "attribute")}
    assert {*relative, *factors, "target_inflation_factor"} <= free
    variance, expected = pm.draw(model["target_preference_variance"], 20_000, random_seed=1), [0.03**2, 0.04**2]
    distance = np.log(variance) - np.log(expected)
    # Logs of two scaled inverse chi-squared variables, the factor with one degree of freedom and the other with eight.
    mean = np.log(1 / 2) - digamma(1 / 2) + np.log(4) - digamma(4)
    of_factor = polygamma(1, 1 / 2)
    sd = np.sqrt(of_factor + polygamma(1, 4))
    np.testing.assert_allclose(distance.mean(axis=0), mean, atol=0.06)
    np.testing.assert_allclose(distance.std(axis=0), sd, rtol=0.03)
    # Both groups share the factor.
    assert np.corrcoef(distance.T)[0, 1] == pytest.approx(of_factor / sd**2, abs=0.02)


@pytest.mark.parametrize("marginal", [True, False])
def test_pymc_model_has_no_factor_for_control_classes(related, marginal):
    model = pymc_model(related, marginal=marginal)
    names = ("attribute_preference_variance", "attribute_preference_variance_relative", "attribute_preference_factor")
    variance, relative, factor = pm.draw([model[name] for name in names], 5, random_seed=1)
    assert model.coords["attribute_class"][-1] == "neutral"
    np.testing.assert_allclose(variance[:, :2], relative[:, :2] * factor[:, None])
    np.testing.assert_array_equal(variance[:, 2], relative[:, 2])


def test_gradient_is_finite_if_some_words_are_independent(related):
    """The root of an inflation less one has no slope where it is zero, and nutpie could not start."""
    model = pymc_model(related)
    gradient = model.compile_dlogp(mode="FAST_COMPILE")(model.initial_point())
    assert np.isfinite(gradient).all()


def test_diagnose_ignores_constant_inflation():
    rng, dims = np.random.default_rng(1), ("chain", "draw", "group")
    factor = rng.gamma(5, size=(4, 200, 2))
    draws = {"target_inflation_factor": (dims, factor), "target_inflation": (dims, 1 + factor * np.array([1.0, 0.0]))}
    stats = xr.Dataset({"diverging": (dims[:2], np.zeros((4, 200), dtype=bool))})
    assert diagnose(xr.Dataset(draws), stats).r_hat < 1.05
