"""The crossed model in PyMC: what PyMC and ArviZ do with it, and that its posterior is that of `fit`."""

import arviz_stats
import numpy as np
import pymc as pm
import pytest

from bayes_bias import Sampling, cosines, fit, posterior_predictive, pymc_model
from bayes_bias.errors import SpecError
from bayes_bias.models.model_spec import Prior
from tests.helpers import refused

# Some words have few pairs, which importance sampling cannot leave out well.
PARETO = pytest.mark.filterwarnings("ignore:Estimated shape parameter")
SAMPLING = Sampling(draws=1000, tune=1000, chains=2)


@pytest.fixture(scope="module")
def table():
    return cosines("googlenews-demo", "weat7").without_controls()


def test_it_has_named_variables_with_dims(table):
    model = pymc_model(table, "robust")
    assert [variable.name for variable in model.observed_RVs] == ["association"]
    assert {"mean", "sd_target_preference", "sd_attribute", "nu"} <= {rv.name for rv in model.free_RVs}
    assert model.named_vars_to_dims["target_effect"] == ("target", "attribute_class")
    assert model.named_vars_to_dims["attribute_effect"] == ("attribute", "group")
    assert model["association"].shape.eval() == table.values.size


def test_a_model_without_word_effects_is_refused(table):
    with refused(SpecError, "hierarchical"):
        pymc_model(table, "hierarchical")


@pytest.mark.parametrize(
    "prior",
    [
        Prior("HalfNormal", {"sigma": 2.0}),
        Prior("Exponential", {"lam": 2.5}),
        Prior("Gamma", {"alpha": 2.0, "beta": 3.0}),
        Prior("InverseGamma", {"alpha": 2.0, "beta": 3.0}),
        Prior("LogNormal", {"mu": -1.0, "sigma": 0.5}),
        Prior("HalfStudentT", {"nu": 4.0, "sigma": 2.0}),
        Prior("HalfCauchy", {"beta": 2.0}),
    ],
    ids=str,
)
def test_a_prior_in_other_units_is_that_of_the_product(prior):
    """The density of ten times a parameter is that of the parameter, divided by ten."""

    def density(prior: Prior, at: float) -> float:
        return float(pm.logp(getattr(pm, prior.distribution).dist(**prior.parameters), at).eval())

    assert density(prior.in_units(10), 7.0) == pytest.approx(density(prior, 0.7) - np.log(10))


@pytest.mark.slow
@pytest.mark.thorough
@PARETO
def test_pymc_samples_the_posterior_of_the_collapsed_fit(table):
    """Block means and scales to four Monte Carlo standard errors; then PyMC's and ArviZ's functions run on it."""
    collapsed = fit(table, sampling=SAMPLING, seed=1)["posterior"].to_dataset()
    model = pymc_model(table)
    with model:
        prior = pm.sample_prior_predictive(draws=20, random_seed=1)
        drawn = pm.sample(
            1000,
            tune=1000,
            chains=2,
            cores=1,
            nuts_sampler="nutpie",
            target_accept=0.95,
            random_seed=1,
            progressbar=False,
        )
        pm.compute_log_likelihood(drawn, progressbar=False)
        predicted = pm.sample_posterior_predictive(drawn, random_seed=1, progressbar=False)
    assert prior["prior_predictive"].association.sizes["pair"] == table.values.size
    assert predicted["posterior_predictive"].association.sizes["pair"] == table.values.size
    for name in ("mean", "sd_target_preference", "sd_attribute", "sd_attribute_preference", "sd_residual"):
        one, other = collapsed[name], drawn["posterior"][name]
        error = np.hypot(*(arviz_stats.mcse(draws) for draws in (one, other)))
        gap = np.abs(one.mean(("chain", "draw")) - other.mean(("chain", "draw")))
        assert bool((gap < 4 * error).all()), name
    assert arviz_stats.loo(drawn).n_data_points == table.values.size


@pytest.mark.slow
@PARETO
def test_a_collapsed_fit_does_not_pass_for_one_observation(table):
    posterior = fit(table, sampling=Sampling(draws=200, tune=200, chains=2))
    assert "log_likelihood" not in posterior.children
    assert arviz_stats.loo(posterior_predictive(posterior)).n_data_points == table.values.size
