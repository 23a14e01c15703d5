"""Several lists as a sample of lists: what it gives, and what it refuses."""

import dataclasses
import json
import logging
from collections.abc import Sequence

import numpy as np
import pytest
import xarray as xr

import bayes_bias
from bayes_bias import AssociationTable, Metric, fit, pool, verdict
from bayes_bias.errors import BayesBiasError, ScopeError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.posterior.pooling import PooledLists, RandomEffects
from bayes_bias.table.association_table import assemble
from tests.helpers import SHORT, random_table, refused, says


def spelt(seed: int, bias: float) -> AssociationTable:
    """A table whose words no other table has."""
    table = random_table(seed, bias=bias)
    targets, attributes = (
        {f"{word} of {seed}": own for word, own in zip(words.to_numpy(), of.to_numpy(), strict=True)}
        for words, of in (
            (table.values.target, table.values.group),
            (table.values.attribute, table.values.attribute_class),
        )
    )
    return assemble(table.values.to_numpy(), targets, attributes, table.stereotypes, name=f"list {seed}")


@pytest.fixture(scope="module")
def fits(sampled: None) -> list[xr.DataTree]:
    return [fit(spelt(seed, bias), seed=1, sampling=SHORT) for seed, bias in ((11, 0.06), (12, 0.1), (13, 0.08))]


@pytest.fixture(scope="module")
def pooled(fits: list[xr.DataTree]) -> PooledLists:
    return pool(fits)


def called(posterior: xr.DataTree, name: str, **attrs: str) -> xr.DataTree:
    renamed = posterior.copy()
    renamed.attrs = posterior.attrs | {"name": name} | attrs
    return renamed


def test_pool_keeps_verdicts_and_shrinks_lists_together(fits, pooled):
    for posterior, (name, row) in zip(fits, pooled.lists.iterrows(), strict=True):
        alone = verdict(posterior)
        assert posterior.attrs["name"] == name
        expected = alone.mean, alone.lower, alone.upper
        assert (row["mean"], row.eti95_lb, row.eti95_ub) == pytest.approx(expected)
        assert row.pooled_eti95_ub - row.pooled_eti95_lb < row.eti95_ub - row.eti95_lb
        assert abs(row.pooled_mean - pooled.mu.mean) < abs(row["mean"] - pooled.mu.mean)
        assert row.pooled_prob_direction > 0.99


def test_pool_has_wider_interval_for_new_list(fits, pooled):
    widths = pooled.table.eti95_ub - pooled.table.eti95_lb
    assert widths["new list"] > widths["mu"]
    alike = pool(fits, tau_scale=1e-6)
    assert alike.mu.upper - alike.mu.lower < (pooled.lists.eti95_ub - pooled.lists.eti95_lb).min()
    assert alike.tau.upper < 1e-5
    assert 0 < pooled.tau.lower < pooled.tau.mean < pooled.tau.upper
    assert np.isnan(pooled.tau.prob_direction)


def test_pool_prior_scale_equals_half_median_sd(fits, pooled):
    sds = [posterior["constant_data"].within_sd.item() for posterior in fits]
    assert pooled.tau_scale == pytest.approx(np.median(sds) / 2)


def test_pool_text_names_number_holm_and_prior(pooled):
    text = str(pooled)
    assert says(text, f"three lists {pooled.mu.mean:+.3f} standard deviation")
    assert says(text, "Holm's")
    assert says(text, "depends prior")
    assert "list 11" not in text


def test_list_far_from_few_others_is_less_precise_when_pooled(pooled):
    """So no text may say that pooling makes every list more precise."""
    effects = RandomEffects(np.array([0.078, 0.014, 0.033]), np.array([[0.0166], [0.0133], [0.0265]]), 0.05)
    assert effects.theta(0).total_sd > 0.0166
    assert says(str(pooled), "towards mean")
    assert "more precise" not in str(pooled)


def test_pool_warns_about_shared_words(fits, caplog):
    with caplog.at_level(logging.WARNING, logger="bayes_bias"):
        found = pool([fits[0], about_others(fits[0], "twin"), fits[1]])
    assert 0 < found.overlap.loc["list 11", "twin"] < 1
    assert found.overlap.loc["list 11", "list 12"] == 0
    said = "share words list 11 twin independent"
    assert says(found.notices[1], said)
    assert says(caplog.text, said)


def about_others(fit: xr.DataTree, name: str) -> xr.DataTree:
    """The same attributes, and targets of other groups."""
    moved = called(fit, name)
    data = moved["constant_data"].to_dataset()
    renamed = {dim: [f"other {label}" for label in data[dim].to_numpy()] for dim in ("target", "group")}
    moved["constant_data"] = xr.DataTree(data.assign_coords(renamed))
    return moved


def test_pool_raises_for_lists_with_same_words(fits):
    with refused(BayesBiasError, "'list 11' 'twin' one list join"):
        pool([fits[0], called(fits[0], "twin"), fits[1]])


def test_pool_overlap_ignores_controls(fits):
    others = [called(posterior, str(k)) for k, posterior in enumerate(fits)]
    for copied in others:
        data = copied["constant_data"].to_dataset()
        controls = ~np.isin(data.class_of.to_numpy(), data.associated.to_numpy())
        words = np.where(controls, np.arange(len(controls)).astype(str), data.attribute.to_numpy())
        copied["constant_data"] = xr.DataTree(data.assign_coords(attribute=words))
    assert np.array_equal(pool(others).overlap, np.eye(3))


def test_pool_raises_for_fewer_than_two_fits(small_fit):
    for fits in ([small_fit], small_fit, []):
        with refused(BayesBiasError, "two fits five"):
            pool(fits)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "small"}, "'small' 2"),
        ({"embedding": "glove"}, "'other' 'small' 'glove' 'a table of numbers'"),
        ({"priors": "{}"}, "'crossed' priors structure"),
        ({"metric": Metric("log odds", unit="logits").to_json()}, "log odds cosines"),
    ],
)
def test_pool_raises_for_incompatible_fits(small_fit, changes, message):
    changed_fit = called(small_fit, **{"name": "other"} | changes)
    with refused(BayesBiasError, message):
        pool([small_fit, changed_fit])


def test_pool_raises_for_unconverged_fit(small_fit):
    failed = dataclasses.replace(Diagnostics.of(small_fit), r_hat=1.2, of_bias=None).to_json()
    with refused(BayesBiasError, "'failed' converged 1.200"):
        pool([small_fit, called(small_fit, "failed", diagnostics=failed)])


@pytest.mark.parametrize(("options", "message"), [({"ci_prob": 95}, "95"), ({"tau_scale": -1.0}, "tau_scale -1")])
def test_pool_raises_for_invalid_settings(small_fit, options, message):
    with refused(BayesBiasError, message):
        pool([small_fit, called(small_fit, "other")], **options)


def beside(posterior: xr.DataTree, **attrs: str) -> Sequence[xr.DataTree]:
    return [posterior, called(posterior, "other", **attrs)]


def test_pool_raises_for_models_without_normal_mixture(small_fit):
    with refused(ScopeError, "crossed 'hierarchical'"):
        pool(beside(small_fit, model="hierarchical", structure="hierarchical", options="{}"))
    long = json.dumps(json.loads(small_fit.attrs["options"]) | {"likelihood": "long"})
    with refused(ScopeError, "'other' 'robust' mixture"):
        pool(beside(small_fit, model="robust", options=long))


def test_pool_command_prints_lists_overlap_and_text(run, fits, monkeypatch):
    files = {f"{k}.nc": posterior for k, posterior in enumerate(fits)}
    monkeypatch.setattr(bayes_bias, "load_fit", lambda path: files[str(path)])
    code, out, _ = run("pool", *files)
    assert code == 0
    said = " ".join(out.split())
    assert says(said, "Bias list cosine similarity")
    assert says(said, "Words shorter")
    assert says(said, "three lists mean bias")
