"""Several lists as a sample of lists: what it gives, and what it refuses."""

import dataclasses
import json
import logging
from collections.abc import Sequence

import numpy as np
import pytest
import xarray as xr

from bayes_bias import Association, Associations, fit, pool, save_fit, verdict
from bayes_bias.associations.table import assemble
from bayes_bias.errors import BayesBiasError, ScopeError
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.results.pooled import Pooled
from tests.helpers import SHORT, random_table


def spelt(seed: int, bias: float) -> Associations:
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
    return [
        fit(spelt(seed, bias), seed=1, sampling=SHORT) for seed, bias in ((11, 0.06), (12, 0.1), (13, 0.08))
    ]


@pytest.fixture(scope="module")
def pooled(fits: list[xr.DataTree]) -> Pooled:
    return pool(fits)


def called(posterior: xr.DataTree, name: str, **attrs: str) -> xr.DataTree:
    other = posterior.copy()
    other.attrs = posterior.attrs | {"name": name} | attrs
    return other


def test_each_list_is_its_verdict_by_itself_and_narrower_in_the_light_of_the_others(fits, pooled):
    for posterior, (name, row) in zip(fits, pooled.lists.iterrows(), strict=True):
        alone = verdict(posterior)
        assert posterior.attrs["name"] == name
        assert (row.bias, row.lower, row.upper) == pytest.approx((alone.bias, alone.lower, alone.upper))
        assert row.pooled_upper - row.pooled_lower < row.upper - row.lower
        assert abs(row.pooled - pooled.mu.mean) < abs(row.bias - pooled.mu.mean)
        assert row.pooled_prob_direction > 0.99


def test_a_new_list_is_known_worse_than_the_mean_and_lists_that_do_not_differ_better_than_any_alone(
    fits, pooled
):
    widths = pooled.table.upper - pooled.table.lower
    assert widths["new list"] > widths["mu"]
    alike = pool(fits, tau_scale=1e-6)
    assert alike.mu.upper - alike.mu.lower < (pooled.lists.upper - pooled.lists.lower).min()
    assert alike.tau.upper < 1e-5
    assert 0 < pooled.tau.lower < pooled.tau.mean < pooled.tau.upper
    assert np.isnan(pooled.tau.prob_direction)


def test_the_prior_is_in_units_of_the_tables(fits, pooled):
    sds = [posterior["constant_data"].within_sd.item() for posterior in fits]
    assert pooled.tau_scale == pytest.approx(np.median(sds) / 2)


def test_the_sentence_says_what_pooling_is_not(pooled):
    text = str(pooled)
    assert text.startswith("Over three lists the mean bias is +0.")
    assert "does not control how many are found by chance, for which see Holm's adjustment" in text
    assert "Three lists say little of how much lists differ: the prior decides" in text
    assert "share words" not in text


def test_lists_that_share_words_are_said_to_be_dependent(fits, caplog):
    with caplog.at_level(logging.WARNING, logger="bayes_bias"):
        found = pool([fits[0], called(fits[0], "twin"), fits[1]])
    assert found.overlap.loc["list 11", "twin"] == 1
    assert found.overlap.loc["list 11", "list 12"] == 0
    said = "lists share words, list 11 and twin 100% of those of the shorter one, and are not independent"
    assert said in found.notices[1]
    assert said in caplog.text


def test_controls_are_no_words_that_lists_share(fits):
    others = [called(posterior, str(k)) for k, posterior in enumerate(fits)]
    for other in others:
        data = other["constant_data"].to_dataset()
        controls = ~np.isin(data.class_of.to_numpy(), data.associated.to_numpy())
        words = np.where(controls, np.arange(len(controls)).astype(str), data.attribute.to_numpy())
        other["constant_data"] = xr.DataTree(data.assign_coords(attribute=words))
    assert np.array_equal(pool(others).overlap, np.eye(3))


def test_one_fit_is_no_sample(small_fit):
    for fits in ([small_fit], small_fit, []):
        with pytest.raises(BayesBiasError, match=r"is too few to pool; give two fits or more, five to learn"):
            pool(fits)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "small"}, "'small' is there 2 times; pool different lists"),
        (
            {"embedding": "glove"},
            "'other' and 'small' are of 'glove' and 'a table of numbers'; pool lists of one",
        ),
        ({"priors": "{}"}, "were fitted by 'crossed' and 'crossed', whose priors or structure differ"),
        ({"association": Association("log odds", unit="logits").to_json()}, "hold log odds and cosines"),
    ],
)
def test_what_is_no_sample_of_one_population_is_refused(small_fit, changes, message):
    other = called(small_fit, **{"name": "other"} | changes)
    with pytest.raises(BayesBiasError, match=message):
        pool([small_fit, other])


def test_what_has_not_converged_is_refused(small_fit):
    failed = dataclasses.replace(Diagnostics.of(small_fit), r_hat=1.2).to_json()
    with pytest.raises(BayesBiasError, match=r"'failed' has not converged \(R-hat up to 1.200"):
        pool([small_fit, called(small_fit, "failed", diagnostics=failed)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ci_prob": 95}, "95 is no probability"),
        ({"tau_scale": -1.0}, "-1 is no scale; give a number above 0"),
    ],
)
def test_impossible_settings_are_refused(small_fit, options, message):
    with pytest.raises(BayesBiasError, match=message):
        pool([small_fit, called(small_fit, "other")], **options)


def refused(posterior: xr.DataTree, **attrs: str) -> Sequence[xr.DataTree]:
    return [posterior, called(posterior, "other", **attrs)]


def test_models_without_a_mixture_of_normals_are_refused(small_fit):
    with pytest.raises(ScopeError, match="pooling needs a fit of the crossed model, not of 'hierarchical'"):
        pool(refused(small_fit, model="hierarchical", structure="hierarchical", options="{}"))
    long = json.dumps(json.loads(small_fit.attrs["options"]) | {"likelihood": "long"})
    with pytest.raises(
        ScopeError, match="'other' is a fit of 'robust', whose posterior is no mixture of normals"
    ):
        pool(refused(small_fit, model="robust", options=long))


def test_the_command_prints_lists_overlap_and_sentences(run, fits, tmp_path):
    paths = [save_fit(each, tmp_path / f"{k}.nc") for k, each in enumerate(fits)]
    code, out, _ = run("pool", *paths)
    assert code == 0
    said = " ".join(out.split())
    assert "Bias of each list, in cosine similarity" in said
    assert "Words of the shorter list that are in the other one, too" in said
    assert "Over three lists the mean bias is" in said
