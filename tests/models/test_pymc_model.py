"""The crossed model in PyMC: what PyMC and ArviZ do with it, and that its posterior is that of `fit`."""

import re
from pathlib import Path
from typing import Any

import arviz_stats
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from bayes_bias import Sampling, cosines, fit, load_spec, posterior_predictive, pymc_model
from bayes_bias.errors import SpecError
from bayes_bias.models.crossed_marginal import _random
from bayes_bias.models.pymc_model import formula_of, priors_of
from bayes_bias.models.spec import Prior
from bayes_bias.table.statistics import within_sd
from tests.helpers import integrated_density, random_table, refused, restricted_log_likelihood, untransformed_density
from tests.models.test_clusters import ATTRIBUTE_TOPICS, TARGET_PAIRS, TARGET_TOPICS, clustered_table
from tests.models.test_related_words import RELATED
from tests.models.test_replicates import replicated_table

DOCS = Path(__file__).parents[2] / "docs" / "statistics.md"
# Some words have few pairs, which importance sampling cannot leave out well.
PARETO = pytest.mark.filterwarnings("ignore:Estimated shape parameter")
SAMPLING = Sampling(draws=1000, tune=1000, chains=2)


@pytest.fixture(scope="module")
def table():
    return cosines("weat7", "googlenews-demo", sub_topics="independent").without_controls()


def test_pymc_model_matches_code_in_docs(table):
    (code,) = re.findall(r"```python\n([^`]*def crossed[^`]*)```", DOCS.read_text(encoding="utf-8"))
    written: dict[str, Any] = {}
    exec(code, written)
    models = pymc_model(table), written["crossed"](table)
    prior = pm.sample_prior_predictive(3, model=models[0], random_seed=1, compile_kwargs={"mode": "FAST_COMPILE"})[
        "prior"
    ]
    densities = np.empty((2, 3))
    for row, model in enumerate(models):
        density = untransformed_density(model)
        for k in range(3):
            densities[row, k] = density({rv.name: prior[rv.name].to_numpy()[0, k] for rv in model.free_RVs})
    # Scales are in units of the priors here, and of the table there, so that densities differ by a constant.
    np.testing.assert_allclose(*np.diff(densities, axis=1), rtol=1e-5)
    assert np.ptp(densities[0]) > 1


def test_pymc_model_has_named_variables_with_dims(table):
    model = pymc_model(table, "robust")
    assert [variable.name for variable in model.observed_RVs] == ["association"]
    free = {rv.name for rv in model.free_RVs}
    from_vectors = {"target_preference_variance_relative", "target_preference_factor"}
    assert {"block_mean", "sd_attribute_z", "nu", *from_vectors} <= free
    deterministics = {variable.name for variable in model.deterministics}
    assert {"mean", "sd_attribute", "target_preference_variance"} <= deterministics
    assert model.named_vars_to_dims["target_effect"] == ("attribute_class", "target")
    assert model.named_vars_to_dims["attribute_effect"] == ("group", "attribute")
    assert model["association"].shape.eval(mode="FAST_COMPILE") == table.values.size


def test_formula_of_prints_priors_with_numbers(table):
    formula = formula_of(pymc_model(table, load_spec("crossed").with_prior("sd_attribute", "Gamma", alpha=2, beta=4)))
    assert "<" not in formula
    assert "sd_attribute_z ~ Gamma(2, " in formula
    scale = 4 * table.values.target_preference_sd.to_numpy()[0] ** 2  # half of the degrees of freedom
    assert f"target_preference_variance_relative ~ InverseGamma(4, [{scale:.4g}, " in formula
    assert "target_preference_factor ~ InverseGamma(0.5, 0.5)" in formula
    priors = priors_of(pymc_model(table))
    assert priors["sd_residual"] == f"{within_sd(table):.4g} * HalfNormal(0, 1.65)"
    assert not {"target_associated_z", "attribute_preference_z"} & set(priors)


def test_pymc_model_with_set_data_equals_new_model(table):
    """All that differs between tables of one shape can be set."""
    second_table = cosines("weat8", "googlenews-demo", sub_topics="independent").without_controls()
    for marginal in (False, True):
        model, expected = pymc_model(table, marginal=marginal), pymc_model(second_table, marginal=marginal)
        drawn = pm.draw(expected.free_RVs, random_seed=1, mode="FAST_COMPILE")
        point = {rv.name: values for rv, values in zip(expected.free_RVs, drawn, strict=True)}
        before = untransformed_density(model)(point)
        pm.set_data({data.name: data.get_value() for data in expected.data_vars}, model=model)
        assert untransformed_density(model)(point) == pytest.approx(untransformed_density(expected)(point), rel=1e-10)
        assert untransformed_density(model)(point) != pytest.approx(before, rel=1e-3)


def test_pymc_model_draws_finite_prior_predictive(table):
    """Also where the residual is Student-t, whose standard deviation not every prior draw has by itself."""
    for model, name in ((pymc_model(table, "robust"), "nu"), (pymc_model(table, "hierarchical"), "connection_mean")):
        with pytensor.config.change_flags(mode="FAST_COMPILE"):
            prior = pm.sample_prior_predictive(draws=50, model=model, random_seed=1)
        assert name in prior["prior"]
        assert np.isfinite(prior["prior_predictive"].association).all()


def test_pymc_model_raises_for_marginal_robust(table):
    with refused(SpecError, "Student-t 'long'"):
        pymc_model(table, "robust", marginal=True)


def _linear(model: pm.Model) -> tuple[list[pt.TensorVariable], list[pt.TensorVariable]]:
    """Scales, variances, factors and inflations, and standard normal variables, of a long form."""
    endings = ("_preference_variance_relative", "_preference_factor", "_inflation_factor")
    scales = [rv for rv in model.free_RVs if rv.name.startswith("sd_") or rv.name.endswith(endings)]
    return scales, [rv for rv in model.free_RVs if rv.name.endswith("_z") and not rv.name.startswith("sd_")]


def _spread(variable: pt.TensorVariable) -> pt.TensorVariable:
    """The standard deviation of each entry of an effect, which the scales may determine."""
    is_zero_sum = isinstance(variable.owner.op, pm.ZeroSumNormal.rv_type)
    sd = 1.0 if is_zero_sum else variable.owner.op.dist_params(variable.owner)[1]
    return pt.ones(variable.shape) * sd


def _standard(variable: pt.TensorVariable) -> np.ndarray:
    """Values of a variable of which independent standard normals are made: one row for each of these."""
    shape = variable.shape.eval(mode="FAST_COMPILE")
    units = np.eye(np.prod(shape)).reshape(-1, *shape)
    if not isinstance(variable.owner.op, pm.ZeroSumNormal.rv_type):
        return units
    for axis in range(1, variable.owner.op.ndim_supp + 1):
        units = units - units.mean(axis=-axis, keepdims=True)
    sigma = variable.owner.op.dist_params(variable.owner)[0].eval(mode="FAST_COMPILE")
    return units * sigma


TABLES = {
    "three groups": lambda: random_table(targets=dict.fromkeys("abc", 2), attributes=dict.fromkeys("vwxyz", 2)),
    "one group": lambda: random_table(targets={"a": 4}, attributes={"v": 3, "w": 4}, opposites=("w",)),
    "sub-topics": lambda: clustered_table(1, controls=3, topics=TARGET_TOPICS | ATTRIBUTE_TOPICS),
    "pairs": lambda: clustered_table(1, pairs=TARGET_PAIRS, topics=ATTRIBUTE_TOPICS),
    "related words": lambda: random_table(3).with_related_words(RELATED),
    "replicates": lambda: replicated_table(1, [2, 3], [3, 2], 2, 3),
    "replicates, one group": lambda: replicated_table(1, [3], [3, 2], 0, 2),
}

BY_GROUP = [(name, "by group and class") for name in TABLES if name != "pairs"]


@pytest.mark.parametrize(("name", "scales"), [*((name, "by class") for name in TABLES), *BY_GROUP, ("pairs", "common")])
def test_marginal_model_matches_integrated_word_effects(name, scales):
    """Its values are linear in standard normals. The covariance that follows, and the restricted likelihood, which
    integrates over flat means, have nothing to do with how the marginal model was derived."""
    table, spec = TABLES[name](), load_spec("crossed").with_option("scales", scales)
    model, marginal = pymc_model(table, spec), pymc_model(table, spec, marginal=True)
    scale_rvs, normal_rvs = _linear(model)
    names = [rv.name for rv in scale_rvs]
    assert names == [rv.name for rv in marginal.free_RVs]
    expected, residual = model["association"].owner.op.dist_params(model["association"].owner)
    values = pytensor.function(
        [*normal_rvs, *scale_rvs],
        [expected, residual],
        givens={model["mean"]: np.zeros(model["mean"].shape.eval(mode="FAST_COMPILE"))},
        mode="FAST_COMPILE",
        on_unused_input="ignore",
    )
    spread = pytensor.function(scale_rvs, [*map(_spread, normal_rvs)], mode="FAST_COMPILE", on_unused_input="ignore")
    y = model["values"].get_value()
    density, rng, differences = integrated_density(marginal, names), np.random.default_rng(1), []
    largest = 0.0
    normals = list(map(_standard, normal_rvs))
    zeros = [np.zeros(rows.shape[1:]) for rows in normals]
    scale_shapes = [rv.shape.eval(mode="FAST_COMPILE") for rv in scale_rvs]
    for _ in range(2):
        # In units of the prior, but for variances and inflations.
        point = []
        for scale_name, shape in zip(names, scale_shapes, strict=True):
            size = 1.0 if scale_name.endswith(("_z", "_preference_factor")) else 0.1
            point.append(size * rng.uniform(0.2, 2.0, shape))
        loadings = []
        for k, (rows, size) in enumerate(zip(normals, spread(*point), strict=True)):
            for row in rows * size:
                effect = values(*zeros[:k], row, *zeros[k + 1 :], *point)[0]
                loadings.append(np.broadcast_to(effect, y.shape).ravel())
        sd = values(*zeros, *point)[1]
        covariance = np.transpose(loadings) @ loadings + np.diag(np.broadcast_to(sd, y.shape).ravel() ** 2)
        dense = restricted_log_likelihood(table, covariance)
        differences.append(density(*point) - dense)
        largest = max(largest, abs(dense))
    assert np.ptp(differences) <= 1e-8 * largest


def test_drawn_scatter_has_expected_mean_rank_and_variance(table):
    """Also the prior predictive of the marginal model: Wishart, singular with fewer words than dimensions."""
    patterns = np.stack([np.eye(3), np.ones((3, 3))])[None]
    drawn = _random(np.array([0.5, 0.2]), patterns, np.array([2.0]), np.random.default_rng(1), (20_000,))
    np.testing.assert_allclose(drawn.mean(axis=0)[0], 2 * (0.5 * patterns[0, 0] + 0.2 * patterns[0, 1]), atol=0.02)
    assert (np.linalg.matrix_rank(drawn[:100, 0]) == 2).all()
    # A diagonal entry is a chi-squared variable times its variance.
    np.testing.assert_allclose(drawn[:, 0, 2, 2].var(), 2 * 2 * 0.7**2, rtol=0.05)


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
def test_with_unit_scales_prior_density(prior):
    """The density of ten times a parameter is that of the parameter, divided by ten."""

    def density(prior: Prior, at: float) -> float:
        return float(pm.logp(getattr(pm, prior.distribution).dist(**prior.parameters), at).eval(mode="FAST_COMPILE"))

    assert density(prior.with_unit(10), 7.0) == pytest.approx(density(prior, 0.7) - np.log(10))


@pytest.mark.slow
@pytest.mark.thorough
@PARETO
def test_pymc_model_posterior_matches_collapsed_fit(table):
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
        marginal_draws, full_draws = collapsed[name], drawn["posterior"][name]
        error = np.hypot(arviz_stats.mcse(marginal_draws), arviz_stats.mcse(full_draws))
        gap = np.abs(marginal_draws.mean(("chain", "draw")) - full_draws.mean(("chain", "draw")))
        assert bool((gap < 4 * error).all()), name
    assert arviz_stats.loo(drawn).n_data_points == table.values.size


@pytest.mark.slow
@PARETO
def test_loo_requires_posterior_predictive_for_collapsed_fit(table):
    posterior = fit(table, sampling=Sampling(draws=200, tune=200, chains=2))
    with pytest.raises(TypeError, match="several log likelihood arrays"):
        arviz_stats.loo(posterior)
    assert arviz_stats.loo(posterior_predictive(posterior)).n_data_points == table.values.size
