"""A fit is reproducible, keeps its provenance, and says when it has not converged."""

import dataclasses
import json
from importlib.metadata import version

import numpy as np
import pytest
import xarray as xr

from bayes_bias import Sampling, fit, load_spec, summarize, verdict
from bayes_bias.documents.methods import Methods, cited_spec
from bayes_bias.fitting.diagnostics import Diagnostics, diagnose
from bayes_bias.fitting.sampling import PyMCModel, model_of_table
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import modelled, structure_of
from tests.helpers import SHORT, says


def test_fit_is_equal_for_same_seed(small_table, small_fit):
    again = fit(small_table, seed=1, sampling=SHORT)
    xr.testing.assert_equal(again["posterior"].to_dataset(), small_fit["posterior"].to_dataset())
    other_seed = fit(small_table, seed=2, sampling=SHORT)
    assert not np.array_equal(other_seed["posterior"].sd_residual, small_fit["posterior"].sd_residual)


def test_diagnostics_converge_and_report_prior_dependence(small_fit):
    sensitive = dataclasses.replace(Diagnostics.of(small_fit), prior_sensitivity=0.083)
    assert sensitive.converged
    assert says(sensitive.concern, "prior moves the bias 0.083 0.05")


def test_fit_attributes_contain_versions_seed_and_hashes(small_table, small_fit):
    attrs = small_fit.attrs
    assert attrs["seed"] == 1
    assert attrs["table_sha256"] == small_table.sha256
    assert attrs["spec_sha256"] == modelled(small_table, load_spec("crossed"))[1].sha256
    versions = json.loads(attrs["versions"])
    assert {"pymc", "nutpie", "arviz", "bayes-bias"} <= set(versions)
    assert versions == {package: version(package) for package in versions}


@pytest.mark.parametrize(
    ("spec", "in_pymc"),
    [
        (load_spec("crossed"), False),
        (load_spec("crossed").with_prior("sd_residual", "Exponential", lam=2.0), False),
        (load_spec("crossed").with_prior("sd_residual", "Uniform", lower=0.0, upper=9.0), True),
        (load_spec("crossed-long"), True),
        (load_spec("robust"), True),
        (load_spec("hierarchical"), True),
        (load_spec("pairs"), True),
    ],
    ids=lambda value: value.name if isinstance(value, ModelSpec) else "",
)
def test_methods_name_pymc_only_if_it_builds_the_sampled_model(small_table, spec, in_pymc):
    if spec.name != "pairs":  # not a model of tables
        table, adapted = modelled(small_table, spec)
        sampled = model_of_table(adapted, structure_of(adapted).data(table))
        assert isinstance(sampled, PyMCModel) == in_pymc
    diagnostics = {"r_hat": 1.0, "ess_bulk": 1000, "ess_tail": 1000, "divergences": 0}
    convergence = diagnostics | dict.fromkeys(("integrated", "failed", "partly"), ())
    settings = {**dataclasses.asdict(SHORT), "seed": 1}
    facts = {"settings": settings, "versions": {"nutpie": "1", "pymc": "2"}, **cited_spec(spec)}
    text = Methods("methods-sampling.txt", {**facts, "convergence": convergence}).paragraphs[0]
    assert ("model built in PyMC 2" in text) == in_pymc
    assert ("density of the model compiled by Numba" in text) != in_pymc


@pytest.mark.slow
def test_summary_and_verdict_mark_unconverged_fit(small_table, caplog):
    short = fit(small_table, seed=1, sampling=Sampling(draws=50, tune=20))
    problems = Diagnostics.of(short).problems
    assert any("ESS" in problem for problem in problems)
    assert says(caplog.text, "converged")
    assert not summarize(short).converged.any()
    assert verdict(short).label == "not converged"
    assert says(verdict(short).text, "not converged")
    assert not any(mark in verdict(short).text for mark in ("distinguishable", "chance"))


def test_diagnostics_problems_suggest_settings():
    diverged = Diagnostics(r_hat=1.2, ess_bulk=500, ess_tail=500, divergences=1)
    r_hat, divergences = diverged.problems
    assert says(r_hat, "R-hat 1.200 1.01")
    assert says(divergences, "1 divergent target_accept=0.99")
    (short,) = Diagnostics(r_hat=1.0, ess_bulk=300, ess_tail=500, divergences=0).problems
    assert says(short, "300 400 draws=6000")


def test_convergence_of_bias_ignores_cancelling_levels(small_fit):
    posterior = small_fit["posterior"].to_dataset()
    mode_of_chain = xr.DataArray(1.0 + np.arange(posterior.sizes["chain"]), dims="chain")
    stuck = posterior.assign(sd_attribute=posterior.sd_attribute * mode_of_chain)
    sampler = small_fit["sample_stats"].to_dataset()
    assert not diagnose(stuck, sampler).for_bias.converged
    diagnostics = diagnose(stuck, sampler, cancelling={"sd_attribute"})
    assert not diagnostics.converged
    assert diagnostics.for_bias.converged
    assert says(diagnostics.text, "bias has converged levels R-hat Do not interpret other estimates")


@pytest.mark.slow
@pytest.mark.parametrize("draws", [2, 24])
def test_fit_with_few_draws_is_not_converged(small_table, draws, caplog):
    few = fit(small_table, sampling=Sampling(draws=draws, tune=2, chains=1))
    assert says(caplog.text, "not converged R-hat chains= ESS")
    assert Diagnostics.of(few).prior_sensitivity is None
    assert verdict(few).label == "not converged"
