"""Variances of preferences that share a factor, beside dense integration and the sampler."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from scipy import integrate, stats

import bayes_bias as bb
from bayes_bias.models.spec import FROM_VECTORS, Prior, load_spec
from bayes_bias.posterior.quadrature import Integrand, SideOfTable, integrated, variance_ratios
from bayes_bias.posterior.variance_grids import Grid, PreferencesOnGrid, WordVariance
from bayes_bias.table.scopes import scope_of
from tests.helpers import random_table, sampled_bias
from tests.models.test_related_words import RELATED

SPEC = load_spec("crossed")
# The prior of preferences, written out.
NU, NU_FACTOR = 8.0, 1.0
LOG_FACTOR = np.linspace(-6, 14, 321)
FACTOR = np.exp(LOG_FACTOR)
LOG_VARIANCE = np.linspace(np.log(1e-7), np.log(30), 1501)
VARIANCE = np.exp(LOG_VARIANCE)


@dataclass(frozen=True, eq=False)
class Dense:
    """The variances of one side, on nodes of their own."""

    sharing: list[WordVariance]

    @cached_property
    def priors(self) -> list[np.ndarray]:
        """The density of each log variance (factors, nodes)."""
        scales = [NU / 2 * np.ravel(each.expected) * np.exp(LOG_FACTOR[:, None]) for each in self.sharing]
        return [stats.invgamma.pdf(VARIANCE, NU / 2, scale=scale) * VARIANCE for scale in scales]

    def given(self, residual: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The density of the log factor times the likelihood, and the mean and mean square of the effects of each
        group given the factor."""
        of_factor = stats.invgamma(NU_FACTOR / 2, scale=NU_FACTOR / 2)
        density, means, squares = of_factor.pdf(FACTOR) * FACTOR, [], []
        for each, prior in zip(self.sharing, self.priors, strict=True):
            effects = np.maximum(VARIANCE - each.explained * residual, 0.0)
            joint = prior * likelihood(each, effects, residual)
            evidence = integrate.simpson(joint, x=LOG_VARIANCE, axis=1)
            means.append(integrate.simpson(effects * joint, x=LOG_VARIANCE, axis=1) / evidence)
            squares.append(integrate.simpson(effects**2 * joint, x=LOG_VARIANCE, axis=1) / evidence)
            density = density * evidence
        return density, np.array(means), np.array(squares)


def likelihood(words: WordVariance, effects: np.ndarray, residual: float) -> np.ndarray:
    variance = words.loading * effects + np.ravel(words.noise)[0] * residual
    return variance ** (-words.df[0] / 2) * np.exp(-np.ravel(words.squares)[0] / (2 * variance))


def over_factor(values: np.ndarray) -> np.ndarray:
    return integrate.simpson(values, x=LOG_FACTOR, axis=-1)


def evidence_of_level(words: WordVariance, residual: float) -> float:
    prior = stats.halfnorm(0, words.prior.parameters["sigma"] * words.unit.item())
    sd = np.linspace(0, prior.isf(1e-7), 2001)
    return integrate.simpson(likelihood(words, sd**2, residual) * prior.pdf(sd), x=sd)


def variances_of(integrand: Integrand, side: SideOfTable) -> list[WordVariance]:
    return list(side.variances(integrand.residual_squares / integrand.residual_df))


def sharing_of(integrand: Integrand, side: SideOfTable) -> list[WordVariance]:
    return [each for each in variances_of(integrand, side) if each.has_factor]


@pytest.fixture(scope="module")
def table() -> bb.AssociationTable:
    """Groups vary less, and classes more, than expected."""
    expected = {"men": 0.03, "women": 0.04, "work": 0.004, "home": 0.006}
    related = {name: replace(RELATED[name], inflation=1.0, preference_sd=sd) for name, sd in expected.items()}
    return random_table(3).without_controls().with_related_words(related)


@pytest.fixture(scope="module")
def integrand(table) -> Integrand:
    return Integrand.of(*integrated(table, SPEC), scope_of("both"))


def test_variance_of_bias_equals_dense_integration_with_factors(integrand):
    """Given the residual variance the two sides are independent, and given its factor the variances of a side are."""
    sides = [Dense(sharing_of(integrand, side)) for side in integrand.sides]
    levels = []
    for side in integrand.sides:
        levels += [each for each in variances_of(integrand, side) if not each.has_factor]
    assert [len(side.sharing) for side in sides] == [2, 2]
    squares, df = integrand.residual_squares.item(), integrand.residual_df
    unit = integrand.residual_unit.item()
    residual_prior = stats.halfnorm(scale=integrand.residual_prior.parameters["sigma"] * unit)
    residuals = squares / df * np.linspace(0.4, 2.2, 41)
    log_density, moments = [], []
    for e in residuals:
        log_weight = -df / 2 * np.log(e) - squares / (2 * e) + np.log(residual_prior.pdf(np.sqrt(e)) / np.sqrt(e))
        log_weight += sum(np.log(evidence_of_level(words, e)) for words in levels)
        mean, variance = integrand.residual_weight * e, 0.0
        for side in sides:
            density, means, mean_squares = side.given(e)
            weights = np.array([[sum(words.weights.values())] for words in side.sharing])
            mean_given_factor = (weights * means).sum(axis=0)
            square_given_factor = (weights**2 * (mean_squares - means**2)).sum(axis=0) + mean_given_factor**2
            evidence = over_factor(density)
            side_mean = over_factor(density * mean_given_factor) / evidence
            mean += side_mean
            variance += over_factor(density * square_given_factor) / evidence - side_mean**2
            log_weight += np.log(evidence)
        log_density.append(log_weight)
        moments.append((mean, variance + mean**2))
    density = np.exp(np.array(log_density) - max(log_density))
    mean, square = integrate.simpson(density[:, None] * moments, x=residuals, axis=0)
    mass = integrate.simpson(density, x=residuals)
    (found,) = integrand.variances(Grid(points=65_536))
    assert found.mean() == pytest.approx(mean / mass, rel=0.01)
    assert found.var() == pytest.approx(square / mass - (mean / mass) ** 2, rel=0.05)


@pytest.mark.parametrize("side", [0, 1])
def test_quantiles_and_evidence_equal_dense_integration(side, integrand):
    sharing = sharing_of(integrand, integrand.sides[side])
    residuals = np.array([0.8, 1.2]) * integrand.residual_squares / integrand.residual_df
    on_grid = PreferencesOnGrid.of(sharing, residuals[None], Grid())
    points, log_evidence = 2**16, []
    uniform = np.random.default_rng(1).permuted(np.tile((np.arange(points) + 0.5) / points, (3, 1)), axis=1)
    for k, e in enumerate(residuals):
        density, means, _ = Dense(sharing).given(e)
        evidence = over_factor(density)
        log_evidence.append(np.log(evidence))
        quantiles = on_grid.quantiles(np.full((1, points), k), uniform)[:, 0]
        effects = np.array([each.effects(own, np.array(e)) for each, own in zip(sharing, quantiles, strict=True)])
        np.testing.assert_allclose(effects.mean(axis=1), over_factor(density * means) / evidence, rtol=0.01)
    np.testing.assert_allclose(on_grid.log_evidence[0], log_evidence, atol=1e-3)


def test_evidence_is_product_only_if_factor_is_known(integrand):
    sharing = sharing_of(integrand, integrand.sides[0])
    residual = integrand.residual_squares[:, None] / integrand.residual_df

    def gain_of_sharing(nu_factor: float) -> float:
        prior = Prior(FROM_VECTORS, {"nu": NU, "nu_factor": nu_factor, "lam": 2.5})
        words = [replace(each, prior=prior) for each in sharing]
        together = PreferencesOnGrid.of(words, residual, Grid()).log_evidence
        single = [PreferencesOnGrid.of([each], residual, Grid()).log_evidence for each in words]
        return float((together - sum(single)).item())

    assert gain_of_sharing(1e5) == pytest.approx(0, abs=1e-3)
    assert abs(gain_of_sharing(NU_FACTOR)) > 0.1


@pytest.mark.slow
def test_integrated_verdict_matches_sampled_verdict_with_factors(table):
    without = bb.verdict(table)
    sampled = sampled_bias(bb.fit(table, sampling=bb.Sampling(draws=1500, tune=500, chains=4)))
    width = sampled.eti95_ub - sampled.eti95_lb
    assert without.prob_direction == pytest.approx(sampled.prob_direction, abs=0.002)
    assert without.lower == pytest.approx(sampled.eti95_lb, abs=0.012 * width)
    assert without.upper == pytest.approx(sampled.eti95_ub, abs=0.012 * width)


def test_variance_ratios_are_observed_over_expected_variances(table):
    spec, data = integrated(table, SPEC)
    of_class = table.values.groupby("attribute_class").mean("attribute")
    preference = (of_class.sel(attribute_class="work") - of_class.sel(attribute_class="home")) / 2
    squares = 0.0
    for group, sd in {"men": 0.03, "women": 0.04}.items():
        own = preference.to_numpy()[table.values.group.to_numpy() == group]
        squares += ((own - own.mean()) ** 2).sum() / sd**2
    ratios = variance_ratios(spec, data)
    assert list(ratios) == ["target", "attribute"]
    assert ratios["target"] == pytest.approx(squares / (4 + 5))
    assert ratios["target"] < 1 < ratios["attribute"]


def test_variance_ratios_are_empty_without_vectors():
    assert variance_ratios(*integrated(random_table(3).without_controls(), SPEC)) == {}
