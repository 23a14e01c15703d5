"""A model of the user's own: what it must provide, what it is refused for, and what a fit of it can be asked."""

from importlib.util import find_spec

import arviz_stats
import numpy as np
import pymc as pm
import pytest

from bayes_bias import Sampling, fit, load_fit, pymc_model, save_fit, summarize, verdict
from bayes_bias.errors import BayesBiasError, OutputError, ScopeError, SpecError
from bayes_bias.models.custom_model import graph_sha256
from bayes_bias.models.model_graph import write_graph
from bayes_bias.posterior.estimates import estimate_of
from tests.helpers import random_table, refused

SAMPLING = Sampling(draws=500, tune=500, chains=2)


@pytest.fixture(scope="module")
def table():
    return random_table(bias=0.02)


def blocks(table):
    """Means alone, with a residual: the least that can be fitted."""
    model = pymc_model(table)
    coords = {dim: model.coords[dim] for dim in ("group", "attribute_class", "pair")}
    values = table.values.to_numpy()
    group, of_class = (index.ravel() for index in np.meshgrid(table.group_index, table.class_index, indexing="ij"))
    with pm.Model(coords=coords) as least:
        mean = pm.Normal("mean", 0, 1, dims=("group", "attribute_class"))
        sd = pm.HalfNormal("sd", 1)
        pm.Normal("association", mean[group, of_class], sd, observed=values.ravel(), dims="pair")
    return least


def without_mean(table):
    with pm.Model() as model:
        pm.Normal("association", pm.Normal("level"), observed=table.values.to_numpy())
    return model


def other_dims(table):
    with pm.Model(coords={"group": table.groups}) as model:
        mean = pm.Normal("mean", dims="group")
        pm.Normal("association", mean.sum(), observed=table.values.to_numpy())
    return model


def other_length(table):
    return blocks(random_table(targets={"men": 5, "women": 5, "others": 5}))


def other_words(table):
    return pymc_model(random_table(targets={"boys": 5, "women": 6}))


def nothing_observed(table):
    with pm.Model() as model:
        pm.Normal("mean")
    return model


def discrete(table):
    with blocks(table) as model:
        pm.Poisson("count", 3)
    return model


def no_model(table):
    return [table]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (without_mean, "mean group attribute_class"),
        (other_dims, "mean (group) (group, attribute_class)"),
        (other_length, "'group' 3 2"),
        (other_words, "'group' boys men"),
        (nothing_observed, "observed"),
        (discrete, "discrete count"),
        (no_model, "list pymc.Model"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_cannot_be_fitted_is_refused_before_it_is_sampled(table, model, told):
    with refused(SpecError, f"{model.__name__} {told}"):
        fit(table, model)


def test_the_hash_is_that_of_the_graph_its_constants_and_its_data(table):
    def hashed(table, sigma=1.0):
        with blocks(table) as model:
            pm.Normal("more", 0, sigma)
        return graph_sha256(model)

    assert hashed(table) == hashed(table)
    assert len({hashed(table), hashed(table, 2.0), hashed(random_table(1, bias=0.02))}) == 3


@pytest.mark.slow
def test_a_model_of_means_alone_answers_what_rests_on_means_and_names_the_rest(table, tmp_path):
    posterior = fit(table, blocks, sampling=SAMPLING)
    assert posterior.attrs["model"] == "blocks"
    assert "HalfNormal" in posterior.attrs["formula"]
    assert arviz_stats.loo(posterior).n_data_points == table.values.size
    read = load_fit(save_fit(posterior, tmp_path / "fit.nc"))
    assert verdict(read).text == verdict(posterior).text
    summary = summarize(read, words=False)
    means = posterior["posterior"]["mean"].mean(("chain", "draw")).to_numpy()
    assert summary.loc[("bias", "overall"), "mean"] == pytest.approx(
        (means[0, 0] - means[0, 1] + means[1, 1] - means[1, 0]) / 2
    )
    assert np.isnan(summary.loc[("bias", "overall"), "noise_sd"])
    with refused(ScopeError, "targets attribute_effect blocks"):
        summarize(read, "targets")
    with refused(BayesBiasError, "target_bias target_effect"):
        estimate_of(read, "target_bias")
    with refused(BayesBiasError, "effect_size sd_residual"):
        estimate_of(read, "effect_size")


@pytest.mark.slow
def test_zero_density_at_the_start_is_told_by_the_variable(table):
    def impossible(table):
        with blocks(table) as model:
            pm.Uniform("share", 0, 1, observed=np.array([2.0]))
        return model

    with refused(SpecError, "impossible share"):
        fit(table, impossible, sampling=SAMPLING)


@pytest.mark.slow
@pytest.mark.thorough
def test_the_written_out_model_handed_back_has_the_posterior_of_the_default(table):
    """Bias and its noise floor, within four Monte Carlo standard errors."""
    sampling = Sampling(draws=1500, tune=1000, chains=2)
    handed_back, default = (fit(table, model, sampling=sampling) for model in (pymc_model(table), "crossed"))
    rows = [summarize(each, words=False).loc[("bias", "overall")] for each in (handed_back, default)]
    assert rows[0]["mean"] == pytest.approx(rows[1]["mean"], abs=4 * rows[0].mcse_mean)
    assert rows[0]["sd"] == pytest.approx(rows[1]["sd"], abs=5 * rows[0].mcse_sd)
    assert rows[0].noise_sd == pytest.approx(rows[1].noise_sd, rel=0.1)
    assert set(summarize(handed_back, "targets").index.levels[0]) >= {"bias", "effect_size", "target_bias"}


def test_a_graph_is_text_that_needs_nothing_and_a_picture_needs_graphviz(table, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    written = write_graph(blocks(table), tmp_path / "model.mmd").read_text()
    assert all(name in written for name in ("mean", "association", "attribute_class"))
    with refused(
        OutputError, "model.svg Graphviz model.mmd" if find_spec("graphviz") else "model.svg graphviz model.mmd"
    ):
        write_graph(blocks(table), tmp_path / "model.svg")
    with refused(OutputError, "model.txt .mmd .svg"):
        write_graph(blocks(table), tmp_path / "model.txt")
