"""ArviZ checks a fit of any model, once it has the likelihood and the replicates of single values."""

from dataclasses import replace

import arviz as az
import numpy as np
import pymc as pm
import pytensor
import pytest
import xarray as xr
from scipy.stats import norm, t

from bayes_bias import (
    AssociationTable,
    Sampling,
    fit,
    load_spec,
    posterior_draws,
    posterior_predictive,
    prior_predictive,
    pymc_model,
)
from bayes_bias.checks.predictive import compare_models, predictive_coverage
from bayes_bias.errors import BayesBiasError
from bayes_bias.fitting.diagnostics import Diagnostics, diagnose
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.power_scaling import GivenDraws
from bayes_bias.models.structures import structure_of
from bayes_bias.posterior.word_effects import effects_of
from bayes_bias.table.labels import labelled
from bayes_bias.table.statistics import sufficient_statistics
from tests.helpers import random_table, refused

MODELS = ("crossed", "crossed-long", "robust", "hierarchical")

pytestmark = pytest.mark.filterwarnings("ignore:Estimated shape parameter")


@pytest.fixture(scope="module")
def fits(sampled: None, small_table, small_fit, hierarchical_fit) -> dict[str, xr.DataTree]:
    """The written-out models take long to compile. They have the draws of the collapsed one, whose posterior is theirs
    but for the shape of the residual, with the word effects among the parameters."""
    few = slice(None, None, 6)
    drawn = small_fit["posterior"].to_dataset().drop_vars("bias").assign(effects_of(Fitted.of(small_fit)).data_vars)
    drawn = drawn.isel(draw=few).transpose("chain", "draw", "group", "attribute_class", ...)
    stats = small_fit["sample_stats"].to_dataset().isel(draw=few)
    nu = 10 * drawn.sd_residual / drawn.sd_residual.mean()

    def with_draws(model: str, draws: xr.Dataset) -> xr.DataTree:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("bayes_bias.fitting.fit_model.sample_model", lambda *_: (draws, stats))
            patch.setattr("bayes_bias.fitting.fit.completed", lambda *_: draws)  # they are in the units of the table
            return fit(small_table, model, sampling=Sampling(draws=250, chains=2))

    long, robust = with_draws("crossed-long", drawn), with_draws("robust", drawn.assign(nu=nu))
    return dict(zip(MODELS, (small_fit, long, robust, hierarchical_fit), strict=True))


@pytest.mark.parametrize("model", MODELS)
def test_posterior_predictive_coverage_matches_predictive_coverage(fits, model):
    found = posterior_predictive(fits[model])
    observed, drawn = found["observed_data"].association, found["posterior_predictive"].association
    assert drawn.dims == found["log_likelihood"].association.dims == ("chain", "draw", "pair")
    assert drawn.sizes["chain"] * drawn.sizes["draw"] <= 1000
    low, high = drawn.quantile([0.055, 0.945], ("chain", "draw"))
    inside = float(((observed > low) & (observed < high)).mean())
    assert inside == pytest.approx(predictive_coverage(fits[model])[0.89], abs=0.03)


def test_compare_models_matches_loo_of_arviz(fits):
    reported = compare_models(fits)
    for name in MODELS:
        assert az.loo(posterior_predictive(fits[name])).elpd == pytest.approx(reported.elpd[name])
    by_arviz = az.compare({name: posterior_predictive(posterior) for name, posterior in fits.items()}, round_to="none")
    np.testing.assert_allclose(by_arviz.elpd_diff, reported.elpd_diff, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_arviz_loo_raises_for_collapsed_fit_only(fits, small_table, model):
    """Leaving out all values at once means nothing; ArviZ must not take that for one observation."""
    if model == "crossed":
        with pytest.raises(TypeError, match="several log likelihood arrays"):
            az.loo(fits[model])
    else:
        assert az.loo(fits[model]).n_data_points == small_table.values.size


@pytest.mark.parametrize("model", MODELS)
def test_fit_matches_schema_of_arviz(fits, model, small_table):
    tree = fits[model]
    statistics = {"lp", "acceptance_rate", "tree_depth", "reached_max_treedepth", "n_steps", "diverging"}
    assert statistics <= set(tree["sample_stats"].data_vars)
    assert tree["posterior"].attrs["inference_library"] == "nutpie"
    assert tree["posterior"].attrs["seed"] == 1
    assert all(tree["constant_data"].sizes.values())
    observed = tree["observed_data"].association
    assert observed.dims == ("pair",)
    assert observed.sel(pair="men 0, work 1") == small_table.values.sel(target="men 0", attribute="work 1")
    if model != "crossed":
        assert tree["log_likelihood"].association.indexes["pair"].equals(observed.indexes["pair"])


@pytest.mark.parametrize("model", MODELS)
def test_arviz_psense_is_finite_for_every_model(fits, model):
    found = az.psense_summary(fits[model], var_names=["bias"], round_to=12)
    assert np.isfinite(found[["prior", "likelihood"]]).all(axis=None)
    if model == "crossed":
        assert found.prior.item() == pytest.approx(Diagnostics.of(fits[model]).prior_sensitivity)


@pytest.mark.parametrize("model", MODELS)
def test_arviz_summary_contains_bias_and_diagnostics_omit_bias(fits, model):
    drawn = fits[model]["posterior"].to_dataset()
    by_arviz = az.summary(fits[model], var_names=["bias"], round_to="none")["mean"].item()
    mean_of_draws = float(posterior_draws(fits[model]).mean())
    assert by_arviz == pytest.approx(mean_of_draws, abs=1e-12)
    sampler = fits[model]["sample_stats"].to_dataset()
    sampled = [name for name in drawn if str(name).startswith("sd_") or (model != "crossed" and name != "bias")]
    assert diagnose(drawn[sampled], sampler).r_hat == Diagnostics.of(fits[model]).r_hat


@pytest.mark.parametrize("model", ["crossed-long", "robust"])
def test_log_likelihood_matches_scipy_and_pymc(fits, small_table, model):
    """PyMC's of the written-out model, with means, effects, and scales of a draw in the place of its own."""
    kept, drawn = fits[model]["log_likelihood"].association, fits[model]["posterior"].to_dataset()
    np.testing.assert_allclose(kept, scipy_log_likelihood(small_table, drawn), rtol=1e-8)
    single_draw, written_out = drawn.isel(chain=1, draw=7), pymc_model(small_table, model)
    values = {
        name: single_draw[name].to_numpy() for name in single_draw if name in written_out.named_vars and name != "bias"
    }
    given = pm.do(written_out, values, prune_vars=True)
    (observed,) = given.observed_RVs
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        found = pm.logp(observed, given.rvs_to_values[observed]).eval()
    np.testing.assert_allclose(kept[1, 7], found, rtol=1e-8)


def scipy_log_likelihood(table: AssociationTable, drawn: xr.Dataset) -> np.ndarray:
    """Of each value that is there, (chain, draw, pair)."""
    values = table.values.to_numpy()
    i, j = np.nonzero(~np.isnan(values))
    g, c = table.group_index[i], table.class_index[j]
    target_effect, attribute_effect = drawn.target_effect.to_numpy(), drawn.attribute_effect.to_numpy()
    expected = drawn["mean"].to_numpy()[..., g, c] + target_effect[..., c, i] + attribute_effect[..., g, j]
    is_control = c >= len(table.associated_classes)
    control_sd, sd = drawn.sd_residual_control.to_numpy()[..., None], drawn.sd_residual.to_numpy()[..., None]
    sd = np.where(is_control, control_sd, sd)
    if "nu" not in drawn:
        return norm.logpdf(values[i, j], expected, sd)
    nu = drawn.nu.to_numpy()[..., None]
    return t.logpdf(values[i, j], nu, expected, sd / t(nu).std())


@pytest.mark.parametrize("model", ["crossed", "hierarchical"])
def test_arviz_plots_posterior_predictive_and_loo_pit(fits, model):
    found = posterior_predictive(fits[model])
    observed = found["observed_data"].association
    drawn = az.plot_ppc_dist(found, backend="none", num_samples=20).viz
    assert drawn["predictive_dist"].association.sizes == {"sample": 20}
    line, ends = drawn["observed_dist"].association.item()["x"], (observed.min().item(), observed.max().item())
    assert (line[0], line[-1]) == pytest.approx(ends, abs=0.01 * np.ptp(ends))
    ecdf = az.plot_loo_pit(found, backend="none").viz["ecdf_lines"].association.item()
    assert len(ecdf["x"]) == observed.size


def test_log_likelihood_omits_missing_pairs():
    incomplete = random_table()
    incomplete.values[0, 0] = np.nan
    drawn, structure = prior_predictive(incomplete, "crossed-long", draws=10), structure_of(load_spec("crossed-long"))
    assert drawn["prior_predictive"].association.shape == (1, 10, incomplete.values.size - 1)
    prior = drawn["prior"].to_dataset()
    given = GivenDraws.of(structure, prior, structure.data(incomplete), incomplete.values)
    np.testing.assert_allclose(given.log_likelihood, scipy_log_likelihood(incomplete, prior), rtol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_prior_predictive_is_finite_and_reproducible(small_table, model):
    drawn = prior_predictive(small_table, model, draws=100, seed=2)
    assert az.plot_ppc_dist(drawn, group="prior_predictive", backend="none") is not None
    values = drawn["prior_predictive"].association
    same = prior_predictive(small_table, model, draws=100, seed=2)["prior_predictive"].association
    assert values.identical(same)
    assert np.isfinite(values).all()


def test_prior_predictive_effects_match_scale_of_priors(small_table):
    spec = load_spec("crossed")
    narrow = spec
    for name, prior in spec.priors.items():
        # Of a table without vectors the preferences have an exponential prior.
        rates = {"Exponential": "lam", "FromVectors": "lam"}
        parameter = {**rates, "HalfCauchy": "beta", "HalfNormal": "sigma"}[prior.distribution]
        by = 10 if parameter == "lam" else 0.1
        changed = {parameter: prior.parameters[parameter] * by}
        narrow = narrow.with_prior(name, prior.distribution, **{**prior.parameters, **changed})
    wide_effect = prior_predictive(small_table, spec, draws=200)["prior"].target_effect
    narrow_effect = prior_predictive(small_table, narrow, draws=200)["prior"].target_effect
    assert float(wide_effect.std() / narrow_effect.std()) == pytest.approx(10, rel=0.05)


@pytest.fixture(scope="module")
def prior(small_table) -> xr.DataTree:
    return prior_predictive(small_table, draws=1000)["prior"]


def test_prior_bias_matches_contrast_of_normal_means(prior, small_table):
    """Half the contrast of four independent means, each normal with ten within-block standard deviations."""
    sd = 10 * float(sufficient_statistics(small_table).within_sd)
    assert float(prior.bias.std()) == pytest.approx(sd, rel=0.06)
    assert float(prior.bias.mean()) == pytest.approx(0, abs=4 * sd / 1000**0.5)


def test_prior_attribute_effects_match_scales_of_model(prior):
    """What an attribute prefers in one group it lacks in the other, about a level with a scale of its own."""
    preference = prior.attribute_effect.diff("group").squeeze("group") / 2
    scale = prior.sd_attribute_preference.isel(attribute_class=0)
    assert float((preference.isel(attribute=0) / scale).std()) == pytest.approx(1, abs=0.05)
    level = prior.attribute_effect.mean("group") / prior.sd_attribute.isel(attribute_class=0)
    assert float(level.isel(attribute=0).std()) == pytest.approx(1, abs=0.05)


def test_prior_correlation_of_sub_topics_matches_spec(small_table):
    """Two words of one sub-topic correlate by its share of their variance."""
    words = small_table.values.attribute.to_numpy()[:2].tolist()
    named = replace(small_table, values=labelled(small_table.values, dict.fromkeys(words, "pay"), {}))
    prior = prior_predictive(named, draws=2000)["prior"]
    own, shared = prior.sd_attribute.isel(attribute_class=0), prior.sd_attribute_cluster
    levels = prior.attribute_effect.mean("group").isel(attribute=[0, 1, 2]) / (own**2 + shared**2) ** 0.5
    first, second, alone = levels.transpose("attribute", ...).to_numpy().reshape(3, -1)
    expected = float((shared**2 / (own**2 + shared**2)).mean())
    assert np.mean(first * second) == pytest.approx(expected, abs=0.05)
    assert np.mean(first * alone) == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda table: prior_predictive(table, draws=0), "draws 0"),
        (lambda table: prior_predictive(table, seed=-1), "seed -1"),
        (lambda table: prior_predictive("weat6"), "table str"),
        (lambda table: prior_predictive(table, "crosed"), "'crossed'"),
        (lambda table: posterior_predictive(table), "fit AssociationTable"),
    ],
)
def test_predictive_functions_raise_for_invalid_arguments(small_table, ask, message):
    with refused(BayesBiasError, message):
        ask(small_table)
