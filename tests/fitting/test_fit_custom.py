"""A model of the user's own: what it must provide, what it is refused for, and what a fit of it can be asked."""

from dataclasses import replace
from importlib.util import find_spec

import arviz_stats
import numpy as np
import pymc as pm
import pytest
import xarray as xr

from bayes_bias import Sampling, fit, load_fit, load_spec, pymc_model, save_fit, summarize, verdict
from bayes_bias.errors import BayesBiasError, OutputError, ScopeError, SpecError
from bayes_bias.fitting.fit_model import fit_attributes
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import order_dims
from bayes_bias.models import crossed_long
from bayes_bias.models.components import scales_needed
from bayes_bias.models.custom import PROTOCOL, built, custom_spec, graph_sha256
from bayes_bias.models.patterns import Variances
from bayes_bias.models.pymc_model import write_graph
from bayes_bias.models.spec import BY_CLASS, BY_GROUP, OPTIONS
from bayes_bias.plots import plot_posterior
from bayes_bias.posterior.estimates import estimate_of
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.combine_tables import combine_replicates
from tests.helpers import random_table, refused, says
from tests.models.test_clusters import ATTRIBUTE_TOPICS, TARGET_TOPICS, clustered_table

SAMPLING = Sampling(draws=500, tune=500, chains=2)


@pytest.fixture(scope="module")
def table():
    return random_table(bias=0.02)


def blocks(table):
    """Means alone, with a residual: the least that can be fitted."""
    model = pymc_model(table)
    coords = {dim: model.coords[dim] for dim in ("group", "attribute_class", "pair")}
    values = table.values.to_numpy()
    group, class_codes = (index.ravel() for index in np.meshgrid(table.group_index, table.class_index, indexing="ij"))
    with pm.Model(coords=coords) as least:
        mean = pm.Normal("mean", 0, 1, dims=("group", "attribute_class"))
        sd = pm.HalfNormal("sd", 1)
        pm.Normal("association", mean[group, class_codes], sd, observed=values.ravel(), dims="pair")
    return least


def replicated(table, n=3):
    """The table in templates with shifts of their own."""
    rng = np.random.default_rng(2)
    moves = (0.02 * rng.standard_normal((len(table.groups), len(table.classes))) for _ in range(n))
    noise = (0.01 * rng.standard_normal(table.values.shape) for _ in range(n))
    tables = {
        f"template {r}": replace(table, values=table.values + move[np.ix_(table.group_index, table.class_index)] + own)
        for r, (move, own) in enumerate(zip(moves, noise, strict=True))
    }
    return combine_replicates(tables, "template")


@pytest.fixture(scope="module")
def drawn(table):
    """Of the default model of a table with replicates."""
    table = replicated(table)
    return drawn_from_prior(pymc_model(table), table)


def drawn_from_prior(model, table):
    """What a fit of it would be, with draws of its prior."""
    drawn = pm.sample_prior_predictive(3, model=model, random_seed=1, compile_kwargs={"mode": "FAST_COMPILE"})
    spec, data = custom_spec("mine", model), crossed_long.data(table)
    tree = xr.DataTree.from_dict({"posterior": drawn["prior"].to_dataset(), "constant_data": data})
    tree.attrs = fit_attributes(table, spec, seed=1)
    return Fitted(tree, spec)


def without_mean(table):
    with pm.Model() as model:
        pm.Normal("association", pm.Normal("level"), observed=table.values.to_numpy())
    return model


def other_dims(table):
    with pm.Model(coords={"group": table.groups}) as model:
        mean = pm.Normal("mean", dims="group")
        pm.Normal("association", mean.sum(), observed=table.values.to_numpy())
    return model


def scale_along_another_dim(table):
    with blocks(table) as model:
        pm.HalfNormal("sd_attribute", dims="group")
    return model


def other_length(table):
    return blocks(random_table(targets={"men": 5, "women": 5, "others": 5}))


def other_words(table):
    return pymc_model(random_table(targets={"boys": 5, "women": 6}))


def other_table(table):
    return pymc_model(replicated(table))


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
        (scale_along_another_dim, "sd_attribute (group) (attribute_class)"),
        (other_length, "'group' 3 2"),
        (other_words, "'group' boys men"),
        (other_table, "'replicate'"),
        (nothing_observed, "observed"),
        (discrete, "discrete count"),
        (no_model, "list pymc.Model"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_fit_raises_for_unsuitable_custom_model(table, model, told):
    with refused(SpecError, f"{model.__name__} {told}"):
        fit(table, model)


def test_fit_raises_for_non_model(table):
    for no_kind_of_model, kind in ((3, "int"), (None, "None"), (["crossed"], "list")):
        with refused(SpecError, f"`model` {kind} 'crossed' TOML pymc.Model function"):
            fit(table, no_kind_of_model)


def test_graph_sha256_covers_graph_constants_and_data(table):
    def hashed(table, sigma=1.0):
        with blocks(table) as model:
            pm.Normal("more", 0, sigma)
        return graph_sha256(model)

    assert hashed(table) == hashed(table)
    assert len({hashed(table), hashed(table, 2.0), hashed(random_table(1, bias=0.02))}) == 3


@pytest.mark.slow
def test_fit_of_means_has_bias_but_no_word_effects(table, tmp_path):
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
    with refused(ScopeError, "sd_residual blocks"):
        plot_posterior(read)


@pytest.mark.slow
def test_fit_raises_and_names_variable_with_zero_density(table):
    def impossible(table):
        with blocks(table) as model:
            pm.Uniform("share", 0, 1, observed=np.array([2.0]))
        return model

    with refused(SpecError, "impossible share"):
        fit(table, impossible, sampling=SAMPLING)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("far_out", "told"), [(False, "custom free variable proper prior"), (True, "gradient zero proper prior")]
)
def test_fit_raises_for_improper_variable(table, far_out, told):
    with blocks(table) as model:
        free = pm.Flat("free")
        if far_out:
            pm.Potential("nothing_here", pm.math.switch(free > 1e9, -free, 0.0))
    with refused(SpecError, told):
        fit(table, model, sampling=Sampling(draws=50, tune=50, chains=2))


@pytest.mark.parametrize("scales", OPTIONS["crossed"]["scales"])
def test_built_accepts_every_option_of_scales(table, scales):
    spec = load_spec("crossed").with_option("scales", scales)
    assert built(pymc_model(table, spec), table).free_RVs


def test_from_posterior_spreads_shared_scales_over_groups(table):
    data, rng = crossed_long.data(table), np.random.default_rng(1)
    scales = {
        name: xr.DataArray(rng.uniform(1, 2, (1, 3, *(data.sizes[dim] for dim in dims))), dims=("chain", "draw", *dims))
        for name, dims in PROTOCOL.items()
        if name in scales_needed(data)
    }
    shared = scales["sd_target"].isel(group=0)
    scale_forms = {"shared": shared, "for each group": xr.concat([shared, shared], "group")}
    found = [
        Variances.from_posterior(xr.Dataset(scales | {"sd_target": scale}), data) for scale in scale_forms.values()
    ]
    np.testing.assert_allclose(*(variances.words.target for variances in found), rtol=1e-14)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("scales", [BY_CLASS, BY_GROUP])
def test_fit_of_pymc_model_matches_fit_of_spec(table, scales):
    """Bias and its noise floor, within four Monte Carlo standard errors."""
    spec = load_spec("crossed").with_option("scales", scales)
    sampling = Sampling(draws=4000, tune=1000, chains=4)  # the model handed back has few effective draws
    handed_back, default = (fit(table, model, sampling=sampling) for model in (pymc_model(table, spec), spec))
    rows = [summarize(tree, words=False).loc[("bias", "overall")] for tree in (handed_back, default)]
    assert rows[0]["mean"] == pytest.approx(rows[1]["mean"], abs=4 * rows[0].mcse_mean)
    assert rows[0]["sd"] == pytest.approx(rows[1]["sd"], abs=5 * rows[0].mcse_sd)
    assert rows[0].noise_sd == pytest.approx(rows[1].noise_sd, rel=0.1)
    assert verdict(handed_back).label == verdict(default).label
    assert set(summarize(handed_back, "targets").index.levels[0]) >= {"bias", "effect_size", "target_bias"}


# Of a table with replicates: the effects that belong to the bias of a scope.
FIXED = {
    "all": (),
    "both": ("replicate_effect",),
    "targets": ("attribute_effect", "replicate_effect", "attribute_effect_by_replicate"),
    "attributes": ("target_effect", "replicate_effect", "target_effect_by_replicate"),
    "replicates": ("target_effect", "attribute_effect", "pair_effect"),
    "targets+replicates": ("attribute_effect",),
    "attributes+replicates": ("target_effect",),
}


def test_bias_contains_fixed_effects_of_scope(drawn):
    """Draws of the prior serve as well. Each effect is laid out over replicates and pairs, and averaged there."""
    data, posterior = drawn.data, drawn.posterior
    i, j = (data[f"pair_{side}"].to_numpy() for side in ("target", "attribute"))
    at = {
        "target": i,
        "attribute": j,
        "group": data.group_of.to_numpy()[i],
        "attribute_class": data.class_of.to_numpy()[j],
    }

    def of_pairs(name, replicate):
        effect = posterior[name].isel(replicate=replicate, missing_dims="ignore")
        return effect.isel({dim: xr.DataArray(at[dim], dims="pair") for dim in set(at) & set(effect.dims)}).to_numpy()

    weights = bias_weights(data).isel(contrast=0).to_numpy()[at["group"], at["attribute_class"]]
    weights = weights / (data.n_targets.to_numpy()[at["group"]] * data.n_attributes.to_numpy()[at["attribute_class"]])
    for scope, effects in FIXED.items():
        biases = np.stack([sum(of_pairs(name, r) for name in ("mean", *effects)) @ weights for r in range(3)], axis=-1)
        found = estimate_of(drawn, "bias", scope).draws.to_numpy()
        np.testing.assert_allclose(found[..., 0], biases.mean(axis=-1))
        if scope in ("both", "targets", "attributes"):
            np.testing.assert_allclose(estimate_of(drawn, "replicate_bias", scope).draws, biases)


@pytest.mark.parametrize("design", ["replicates", "sub-topics", "three groups"])
def test_arviz_summary_has_labels_in_place(design, drawn):
    """A fit keeps its variables in an order that ArviZ labels rightly; in that of the model it would not."""
    if design == "sub-topics":
        table = clustered_table(1, topics=TARGET_TOPICS | ATTRIBUTE_TOPICS)
        drawn = drawn_from_prior(pymc_model(table), table)
    if design == "three groups":
        table = random_table(targets={"men": 3, "women": 3, "others": 3})
        drawn = drawn_from_prior(pymc_model(table), table)
    posterior = order_dims(drawn.posterior)
    means = arviz_stats.summary(posterior, kind="stats", round_to="none")["mean"]
    for name, values in posterior.data_vars.items():
        expected = values.mean(("chain", "draw")).to_series() if values.ndim > 2 else [values.mean().item()]
        labels = [name]
        if values.ndim > 2:
            labels = [f"{name}[{', '.join(map(str, np.atleast_1d(at)))}]" for at in expected.index]
        np.testing.assert_allclose(means[labels], expected)


def test_estimate_of_raises_without_effects_or_scales_of_replicates(drawn):
    """Without the effects of replicates nothing can be said of these alone; without scales, of no new one."""
    tree = drawn.tree.copy()
    tree["posterior"] = drawn.posterior.drop_vars(["replicate_effect", "sd_replicate"])
    lacking = Fitted.of(tree)
    assert estimate_of(lacking, "bias", "all").draws.size
    with refused(ScopeError, "both replicate_effect mine"):
        estimate_of(lacking, "bias", "both")
    with refused(BayesBiasError, "replicate_bias replicate_effect"):
        estimate_of(lacking, "replicate_bias", "all")
    with refused(BayesBiasError, "reliability sd_replicate"):
        estimate_of(lacking, "reliability", "all")


def test_custom_model_without_replicates_uses_mean(table, from_priors):
    posterior = fit(replicated(table), blocks, sampling=SAMPLING)
    assert says(Fitted.of(posterior).stored("notices"), "blocks mean replicates")
    assert estimate_of(posterior, "bias", "both").draws.size


def test_write_graph_without_graphviz_writes_only_text(table, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    written = write_graph(blocks(table), tmp_path / "model.mmd").read_text()
    assert all(name in written for name in ("mean", "association", "attribute_class"))
    with refused(
        OutputError, "model.svg Graphviz model.mmd" if find_spec("graphviz") else "model.svg graphviz model.mmd"
    ):
        write_graph(blocks(table), tmp_path / "model.svg")
    with refused(OutputError, "model.txt .mmd .svg"):
        write_graph(blocks(table), tmp_path / "model.txt")
