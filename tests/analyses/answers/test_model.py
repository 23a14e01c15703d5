"""The density of answers is that of the dense normal, of the written-out model, and of quadrature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import halfnorm, multivariate_normal, norm

import bayes_bias as bb
from bayes_bias.analyses.answers.model import (
    ANSWER,
    MAX_PARETO_K,
    PRIORS,
    SAMPLES,
    WORD,
    Density,
    loadings,
    names_of,
    observed,
    sample,
)
from bayes_bias.analyses.answers.reading import read_answers
from tests.analyses.answers.made_up import LIST, answers
from tests.helpers import untransformed_density

TABLE = answers(40, labels=3)
(CELL,) = read_answers(TABLE, LIST).cells
DATA = observed(CELL)
WHOLE = Density(DATA, SAMPLES["all"])
SCALES = np.array([[0.1, 0.2, 0.3, 0.4, 0.25, 0.5], [0.01, 0.3, 0.2, 0.6, 0.05, 0.4]])


def dense_covariance(scales):
    total = np.diag(np.full(len(DATA.difference), scales[-1] ** 2 + DATA.rounding))
    for scale, effect in zip(scales, SAMPLES["all"], strict=False):
        weights = loadings(DATA.keys, effect, DATA.words)
        total += scale**2 * weights @ weights.T
    return total


def test_answers_density_matches_dense_normal():
    y, values = DATA.difference, WHOLE.log_density(SCALES)[0]
    for scales, value in zip(SCALES, values, strict=True):
        log_density = multivariate_normal(np.zeros(len(y)), dense_covariance(scales)).logpdf
        mu = np.linspace(-1, 1, 4001)
        curve = log_density(y - mu[:, None])
        integral = curve.max() + np.log(np.trapezoid(np.exp(curve - curve.max()), mu) / 2)
        contrasts = norm(0, np.hypot(scales[0], DATA.noise)).logpdf(DATA.contrasts).sum()
        assert value == pytest.approx(integral + contrasts, abs=1e-5)


def test_mu_matches_generalised_least_squares_for_fixed_scales():
    _, centre, sd = WHOLE.log_density(SCALES)
    inverse = np.linalg.inv(dense_covariance(SCALES[0]))
    assert sd[0] == pytest.approx(inverse.sum() ** -0.5)
    assert centre[0] == pytest.approx(inverse.sum(axis=0) @ DATA.difference / inverse.sum())


def test_loadings_average_over_unknown_labels():
    row = DATA.keys.iloc[:1].assign(label_a=-1)
    keys = DATA.keys.copy()
    keys.iloc[0] = row.iloc[0]
    assert_allclose(loadings(keys, "label_a", DATA.words)[0], np.full(3, 1 / 3))


def test_answers_pymc_model_matches_integrated_density():
    """Given the scales its log density is quadratic in mu and effects, so that Laplace's approximation is exact."""
    density = untransformed_density(bb.answers.pymc_model(TABLE, LIST))
    sizes = {effect: len(names) for effect, names in names_of(CELL).items()}
    scales = dict(zip([*SAMPLES["all"], ANSWER], SCALES[0], strict=True))

    def log_density(x):
        parts = np.split(x[1:], np.cumsum(list(sizes.values()))[:-1])
        effects = {f"{name}_standard": part for name, part in zip(sizes, parts, strict=True)}
        return density({f"sd_{name}": sd for name, sd in scales.items()} | effects | {"mu": x[0]})

    at_zero, gradient, precision = of_quadratic(log_density, 1 + sum(sizes.values()))
    peak = np.linalg.solve(precision, gradient)
    whole = (
        at_zero + 0.5 * gradient @ peak + 0.5 * len(peak) * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(precision)[1]
    )
    normal = norm(peak[0], np.linalg.inv(precision)[0, 0] ** 0.5)
    priors = sum(halfnorm(scale=PRIORS[name]).logpdf(sd) for name, sd in scales.items())
    inside = np.log(normal.cdf(1) - normal.cdf(-1))
    assert whole + inside - priors == pytest.approx(WHOLE.log_density(SCALES[:1])[0][0], abs=1e-6)


def of_quadratic(function, size):
    """Value and gradient at zero, and minus the second derivatives, which differences give exactly."""
    unit = np.eye(size)
    zero = function(np.zeros(size))
    plus, minus = np.array([*map(function, unit / 2)]), np.array([*map(function, -unit / 2)])
    second = np.diag(4 * (plus + minus - 2 * zero))
    for i in range(size):
        for j in range(i):
            both = function(0.5 * (unit[i] + unit[j]))
            second[i, j] = second[j, i] = 4 * (both - plus[i] - plus[j] + zero)
    return zero, plus - minus, -second


def test_sample_matches_quadrature_over_scales():
    """With words alone there are two scales, few enough for a grid."""
    density = Density(DATA, SAMPLES["words"])
    grid = np.stack(np.meshgrid(np.linspace(1e-4, 0.3, 400), np.linspace(0.2, 1, 100)), -1).reshape(-1, 2)
    log_density, centre, sd = density.log_density(grid)
    log_density += halfnorm(scale=PRIORS[WORD]).logpdf(grid[:, 0]) + halfnorm(scale=PRIORS[ANSWER]).logpdf(grid[:, 1])
    weights = log_density
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    found = sample(density, seed=1)
    assert found.pareto_k < MAX_PARETO_K
    assert found.draws.mu.mean() == pytest.approx(weights @ centre, abs=0.01)
    assert found.draws.mu.std() == pytest.approx(
        np.sqrt(weights @ (sd**2 + centre**2) - (weights @ centre) ** 2), rel=0.05
    )
    assert found.draws.sd_word.mean() == pytest.approx(weights @ grid[:, 0], rel=0.05)


def test_sample_is_equal_for_same_seed():
    assert sample(WHOLE, seed=4).draws.equals(sample(WHOLE, seed=4).draws)


@pytest.mark.slow
@pytest.mark.thorough
def test_answers_pymc_model_posterior_matches_sample():
    import pymc as pm

    with bb.answers.pymc_model(TABLE, LIST):
        drawn = pm.sample(
            4000,
            tune=2000,
            chains=2,
            cores=1,
            target_accept=0.98,
            random_seed=1,
            progressbar=False,
            nuts_sampler="nutpie",
        )
    ours, theirs = sample(WHOLE, seed=1).draws, drawn["posterior"]
    assert float(theirs["mu"].mean()) == pytest.approx(ours.mu.mean(), abs=0.02)
    assert float(theirs["mu"].std()) == pytest.approx(ours.mu.std(), rel=0.1)
    for name in SAMPLES["all"]:
        assert float(theirs[f"sd_{name}"].mean()) == pytest.approx(ours[f"sd_{name}"].mean(), rel=0.1)
