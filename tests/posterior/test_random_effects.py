"""Partial pooling: against published numbers, a closed form, an even grid, and draws."""

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.stats import halfnorm, norm

from bayes_bias.posterior import pooling
from bayes_bias.posterior.pooling import RandomEffects

# Rubin (1981), https://doi.org/10.3102/10769986006004377, as in Gelman et al. (2013), table 5.2.
EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])

# Mean, its Monte Carlo error, sd, quartiles of the same model with flat priors: 4,000 draws by Stan, in the vignette
# "Accessing the contents of a stanfit object", https://mc-stan.org/rstan/articles/stanfit_objects.html.
MU = (8.096, 0.106, 5.064, 4.918, 7.902, 11.303)
TAU = (6.294, 0.145, 5.374, 2.358, 5.086, 8.850)
THETAS = (
    (11.323, 0.155, 8.278, 6.033, 10.280, 15.318),
    (8.004, 0.096, 6.242, 4.038, 7.898, 11.788),
    (6.300, 0.116, 7.542, 2.312, 6.762, 11.121),
    (7.767, 0.085, 6.379, 3.844, 7.673, 11.819),
    (5.247, 0.091, 6.331, 1.558, 5.757, 9.549),
    (6.337, 0.096, 6.822, 2.376, 6.805, 10.781),
    (10.609, 0.113, 6.847, 6.047, 10.097, 14.541),
    (8.422, 0.123, 7.745, 3.886, 8.286, 12.722),
)
QUARTILES = (0.25, 0.5, 0.75)

# Lists whose standard deviations are themselves uncertain: mixtures of two.
CENTRES = np.array([0.08, 0.01, 0.05])
SDS = np.array([[0.008, 0.02], [0.01, 0.03], [0.015, 0.02]])
SCALE = 0.03


@pytest.fixture(scope="module")
def schools() -> RandomEffects:
    """With so wide a prior of tau that it is flat where the likelihood is."""
    return RandomEffects(EFFECTS, ERRORS[:, None], tau_scale=100.0)


@pytest.fixture(scope="module")
def lists() -> RandomEffects:
    return RandomEffects(CENTRES, SDS, SCALE)


def check(found: tuple[float, float, list[float]], published: tuple[float, ...]) -> None:
    mean, error, sd, *quartiles = published
    assert found[0] == pytest.approx(mean, abs=4 * error)
    assert found[1] == pytest.approx(sd, rel=0.05)
    assert found[2] == pytest.approx(quartiles, abs=6 * error)


def test_random_effects_match_published_eight_schools(schools):
    check((schools.tau_mean, schools.tau_sd, list(schools.tau_quantiles(QUARTILES))), TAU)
    for found, published in ((schools.mu, MU), *((schools.theta(k), THETAS[k]) for k in range(8))):
        check((found.mean, found.total_sd, [found.quantile(prob) for prob in QUARTILES]), published)


def test_random_effects_pool_completely_with_small_tau_scale():
    """Gelman et al. (2013, p. 120): 7.7 with a standard error of 4.1."""
    found = RandomEffects(EFFECTS, ERRORS[:, None], tau_scale=1e-3)
    assert (found.mu.mean, found.mu.total_sd) == pytest.approx((7.7, 4.1), abs=0.05)
    assert found.theta(0).mean == pytest.approx(found.mu.mean, abs=1e-3)


def test_random_effects_keep_lists_with_vast_differences():
    found = RandomEffects(np.array([-1e3, 0, 1e3]), np.ones((3, 1)), tau_scale=1e3)
    assert [found.theta(k).mean for k in range(3)] == pytest.approx([-1e3, 0, 1e3], abs=0.01)
    assert found.theta(0).total_sd == pytest.approx(1, abs=1e-3)


def test_lists_that_differ_much_more_than_their_prior_are_not_cut_off():
    """Biases of 60 lists have a standard deviation of ten units of its prior; its posterior as a sum."""
    y = 10 * np.random.default_rng(1).standard_normal(60)
    found = RandomEffects(y, np.full((60, 1), 0.3), tau_scale=1.0)
    tau = np.linspace(1, 20, 4_000)
    variance = tau**2 + 0.3**2
    log_density = -(tau**2) / 2 - 59 / 2 * np.log(variance) - ((y - y.mean()) ** 2).sum() / variance / 2
    mean = np.average(tau, weights=np.exp(log_density - log_density.max()))
    assert mean > 6
    assert found.tau_mean == pytest.approx(mean, rel=0.01)


def test_random_effects_match_closed_form_for_equal_sds():
    """mu ~ Normal(mean, (sd**2 + tau**2) / n), and each theta is drawn by sd**2 / (sd**2 + tau**2) of the way."""
    y, sd = np.array([1.0, 2.0, 4.0, 9.0]), 2.0
    found = RandomEffects(y, np.full((4, 1), sd), tau_scale=3.0)
    tau, weight = found._taus, found._tau_weights
    scatter = ((y - y.mean()) ** 2).sum()
    log = halfnorm.logpdf(tau, scale=3.0) - 1.5 * np.log(sd**2 + tau**2) - scatter / (2 * (sd**2 + tau**2))
    exact = np.exp(log - log.max()) * np.diff(found._tau_edges)
    assert weight == pytest.approx(exact / exact.sum(), abs=1e-8)
    assert found.mu.mean == pytest.approx(y.mean())
    assert found.mu.total_sd == pytest.approx(np.sqrt(weight @ (sd**2 + tau**2) / 4), rel=0.005)
    drawn = weight @ (sd**2 / (sd**2 + tau**2))
    assert [found.theta(k).mean for k in range(4)] == pytest.approx(y + drawn * (y.mean() - y), abs=1e-3)
    assert found.new.total_sd == pytest.approx(np.hypot(found.mu.total_sd, np.sqrt(weight @ tau**2)), rel=0.001)


def test_random_effects_match_even_grid(lists):
    """Every point of a wide rectangle, none of them chosen by what is likely."""
    mu, tau = np.linspace(-0.4, 0.5, 1801)[:, None], np.linspace(0, 6 * SCALE, 601)
    density = halfnorm.pdf(tau, scale=SCALE) * np.ones_like(mu)
    for centre, sds in zip(CENTRES, SDS, strict=True):
        density = density * sum(norm.pdf(centre, mu, np.hypot(tau, sd)) for sd in sds)
    whole, by_mu, by_tau = (simpson(simpson(factor * density, x=tau), x=mu[:, 0]) for factor in (1.0, mu, tau))
    assert lists.mu.mean == pytest.approx(by_mu / whole, abs=2e-5)
    assert lists.tau_mean == pytest.approx(by_tau / whole, abs=2e-5)


def test_random_effects_match_importance_draws(lists):
    """The model as it is written, its thetas drawn and weighed by their likelihood: no grid, no closed form."""
    rng, n = np.random.default_rng(1), 1_000_000
    mu, tau = rng.uniform(-0.4, 0.5, n), abs(SCALE * rng.standard_normal(n))
    theta = mu[:, None] + tau[:, None] * rng.standard_normal((n, 3))
    likelihood = sum(norm.pdf(CENTRES, theta, sd) for sd in SDS.T).prod(axis=1)
    weight = likelihood / likelihood.sum()
    assert 1 / (weight**2).sum() > 1000
    kept = rng.choice(n, 20_000, p=weight)
    for name, found in (("mu", lists.mu), *((k, lists.theta(k)) for k in range(3))):
        draws = mu[kept] if name == "mu" else theta[kept, name]
        error = 5 * draws.std() / np.sqrt(1000)  # of at least a thousand effective draws
        assert found.mean == pytest.approx(draws.mean(), abs=error)
        assert found.total_sd == pytest.approx(draws.std(), rel=0.1)
        ends = np.quantile(draws, [0.025, 0.975])
        assert [found.quantile(0.025), found.quantile(0.975)] == pytest.approx(ends, abs=3 * error)
    assert lists.tau_mean == pytest.approx(tau[kept].mean(), abs=0.002)


def test_random_effects_are_stable_with_finer_grid(lists, monkeypatch):
    def ends(found: RandomEffects) -> list[float]:
        return [normals.quantile(p) for normals in (found.mu, found.new, found.theta(0)) for p in (0.025, 0.975)]

    coarse = ends(lists)
    monkeypatch.setattr(pooling, "_TAUS", 2 * pooling._TAUS)
    monkeypatch.setattr(pooling, "_MUS", 2 * pooling._MUS - 1)
    fine = ends(RandomEffects(CENTRES, SDS, SCALE))
    assert coarse == pytest.approx(fine, abs=0.01 * lists.theta(0).total_sd)
