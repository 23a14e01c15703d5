"""Draws of another sampler as a fit: checked against the table and the model, then like any fit.

A PyMC model of a table takes minutes to compile, so what needs nutpie's draws of it is a thorough test.
"""

from dataclasses import replace

import numpy as np
import nutpie
import pymc as pm
import pytest
import xarray as xr

from bayes_bias import as_fit, load_fit, load_spec, priors, pymc_model, save_fit, verdict
from bayes_bias.errors import SpecError
from tests.helpers import random_table, refused, sampled_bias


def sampled_by_nutpie(model: pm.Model, draws: int) -> xr.DataTree:
    compiled = nutpie.compile_pymc_model(model, freeze_model=True)  # half of the time
    return nutpie.sample(compiled, draws=draws, tune=500, chains=2, seed=1, progress_bar=False)


@pytest.fixture(scope="module")
def marginal(small_table, small_fit):
    """Draws of the marginal model as nutpie returns them. They are those of the fit, which has the same density."""
    model = pymc_model(small_table, marginal=True)
    posterior = small_fit["posterior"].to_dataset()[[variable.name for variable in model.deterministics]]
    units = model.compile_fn(model.deterministics, inputs=model.free_RVs, on_unused_input="ignore", point_fn=False)
    of_one = units(*(np.ones(posterior[rv.name.removesuffix("_z")].shape[2:]) for rv in model.free_RVs))
    for variable, unit in zip(model.deterministics, of_one, strict=True):
        posterior[f"{variable.name}_z"] = posterior[variable.name] / unit
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": small_fit["sample_stats"].to_dataset()})


def sceptical(table):
    with pymc_model(table) as model:
        pm.Normal("shift", 0, 1)
    return model


@pytest.fixture(scope="module")
def written_out(sampled, small_table):
    """A model of the user's own, so short that its draws only serve for checks."""
    return sampled_by_nutpie(sceptical(small_table), 50)


def test_as_fit_of_draws_of_a_fit_is_the_fit(marginal, small_table, small_fit, tmp_path):
    made = as_fit(small_table, marginal)
    for name, values in small_fit["posterior"].data_vars.items():
        np.testing.assert_allclose(made["posterior"][name], values, rtol=1e-9)
    assert verdict(load_fit(save_fit(made, tmp_path / "made.nc"))).label == verdict(small_fit).label
    assert priors(made).equals(priors(small_fit))
    assert set(made["sample_stats"]) >= {"lp", "tree_depth", "diverging"}
    assert list(made["log_likelihood"]) == list(small_fit["log_likelihood"])


@pytest.mark.thorough
def test_as_fit_of_marginal_draws_matches_fit(small_table, small_fit, tmp_path):
    made = as_fit(small_table, sampled_by_nutpie(pymc_model(small_table, marginal=True), 1000))
    rows = [sampled_bias(fit_draws) for fit_draws in (made, small_fit)]
    assert rows[0]["mean"] == pytest.approx(rows[1]["mean"], abs=0.05 * rows[1]["sd"])
    assert rows[0]["sd"] == pytest.approx(rows[1]["sd"], rel=0.05)
    assert verdict(load_fit(save_fit(made, tmp_path / "made.nc"))).label == verdict(small_fit).label
    assert priors(made).equals(priors(small_fit))
    assert set(made["sample_stats"]) >= {"lp", "tree_depth", "diverging"}
    assert list(made["log_likelihood"]) == list(small_fit["log_likelihood"])


@pytest.mark.thorough
def test_as_fit_keeps_custom_model(written_out, small_table):
    made = as_fit(small_table, written_out, sceptical)
    assert made.attrs["model"] == "sceptical"
    assert made["log_likelihood"].association.dims == ("chain", "draw", "pair")
    assert {"sd_residual_z", "shift", "block_mean"} <= set(made["log_prior"])
    assert priors(made).prior["shift", ""] == "Normal(0, 1)"
    drawn = written_out["posterior"]["mean"]
    np.testing.assert_array_equal(made["posterior"]["mean"].transpose(*drawn.dims), drawn)


@pytest.mark.thorough
def test_as_fit_rejects_draws_of_a_custom_model_without_it(written_out, small_table):
    with refused(SpecError, "shift not in the model model="):
        as_fit(small_table, written_out)
    with refused(SpecError, "labels target men boys"):
        as_fit(random_table(targets={"boys": 5, "women": 6}), written_out, sceptical)


def test_as_fit_rejects_draws_of_another_model(marginal, small_table):
    wide = load_spec("crossed").with_prior("sd_attribute", "HalfNormal", sigma=9.0)
    with refused(SpecError, "density priors model="):
        as_fit(small_table, marginal, wide)
    lacking = marginal.copy()
    lacking["posterior"] = marginal["posterior"].to_dataset().drop_vars("sd_target_control")
    with refused(SpecError, "sd_target_control draws table"):
        as_fit(small_table, lacking)


def test_as_fit_rejects_draws_of_another_table(marginal, small_table):
    with refused(SpecError, "sd_ derives data differ"):
        as_fit(replace(small_table, values=1.1 * small_table.values), marginal)


def test_as_fit_raises_without_sampler_statistics(marginal, small_table):
    without = marginal.copy()
    without["sample_stats"] = marginal["sample_stats"].to_dataset().drop_vars("diverging")
    with refused(SpecError, "diverging sample_stats"):
        as_fit(small_table, without)
    with refused(SpecError, "Dataset DataTree"):
        as_fit(small_table, marginal["posterior"].to_dataset())
