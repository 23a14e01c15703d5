"""Replicates: their likelihood is the dense normal's, and they change what intervals are about."""

import itertools

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from bayes_bias import Associations, load_spec
from bayes_bias.associations.combining import replicated
from bayes_bias.associations.table import assemble
from bayes_bias.models.components import BY_REPLICATE, Components
from bayes_bias.models.crossed import data as model_data
from bayes_bias.models.crossed import log_likelihoods, statistics
from bayes_bias.models.replication import Replication, Variances, sizes_of
from bayes_bias.models.spec import REPLICATES

WORDS = (
    "sd_target",
    "sd_target_associated",
    "sd_target_preference",
    "sd_target_control",
    "sd_attribute",
    "sd_attribute_preference",
    "sd_residual",
)


def replicated_table(
    seed: int, targets: list[int], attributes: list[int], controls: int, replicates: int
) -> Associations:
    """Random values: so many targets in each group, attributes in each associated class, words in one control."""
    rng = np.random.default_rng(seed)
    of_target = {f"t{g}{i}": f"g{g}" for g, n in enumerate(targets) for i in range(n)}
    of_attribute = {f"a{c}{j}": f"c{c}" for c, n in enumerate(attributes) for j in range(n)}
    of_attribute |= {f"z{j}": "neutral" for j in range(controls)}
    stereotypes = {f"g{g}": f"c{g % len(attributes)}" for g in range(len(targets))}
    shape = (len(of_target), len(of_attribute))
    tables = {
        f"r{r}": assemble(rng.normal(size=shape), of_target, of_attribute, stereotypes)
        for r in range(replicates)
    }
    return replicated(tables, "template")


def random_scales(data: xr.Dataset, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Scales of words, of words by replicate, and of replicates."""
    shapes = {
        "sd_attribute": data.sizes["attribute_class"],
        "sd_attribute_preference": data.sizes["attribute_class"],
        "sd_target_control": data.sizes["control"],
    }
    names = [name + suffix for name in WORDS for suffix in ("", BY_REPLICATE)]
    if not data.sizes["control"]:
        names = [n for n in names if not n.startswith(("sd_target_control", "sd_target_by", "sd_target"))]
        names += [n + s for n in ("sd_target_associated", "sd_target_preference") for s in ("", BY_REPLICATE)]
    own = REPLICATES if data.sizes["control"] else REPLICATES[:4]
    return {
        name: rng.uniform(0.2, 1.0, shapes.get(name.removesuffix(BY_REPLICATE), ()))
        for name in (*names, *own)
    }


def effect_covariances(
    scales: dict[str, np.ndarray], suffix: str, data: xr.Dataset
) -> tuple[np.ndarray, np.ndarray]:
    """Of a target over classes, and of an attribute of each class over groups, as the model is written."""
    n_classes, k = data.sizes["attribute_class"], data.sizes["attribute_class"] - data.sizes["control"]
    associated = (np.arange(n_classes) < k).astype(float)
    of_target = scales["sd_target_associated" + suffix] ** 2 * np.outer(associated, associated)
    of_target[:k, :k] += scales["sd_target_preference" + suffix] ** 2 * summing_to_zero(k)
    if data.sizes["control"]:
        of_target = of_target + scales["sd_target" + suffix] ** 2
        of_target[k:, k:] += np.diag(scales["sd_target_control" + suffix] ** 2)
    g = data.sizes["group"]
    of_attribute = [
        b**2 + w**2 * summing_to_zero(g)
        for b, w in zip(
            scales["sd_attribute" + suffix], scales["sd_attribute_preference" + suffix], strict=True
        )
    ]
    return of_target, np.array(of_attribute)


def summing_to_zero(n: int) -> np.ndarray:
    return (np.eye(n) - 1 / n) * n / (n - 1)


def dense_covariance(table: Associations, scales: dict[str, np.ndarray], data: xr.Dataset) -> np.ndarray:
    """Of all values of all replicates at once."""
    n_replicates, k = (
        data.sizes["replicate"],
        data.sizes["attribute_class"] - data.sizes["control"],
    )
    index = np.indices((n_replicates, *table.values.shape)).reshape(3, -1)
    r, i, j = index
    g, c = table.group_index[i], table.class_index[j]
    same_r, same_i, same_j = (each[:, None] == each for each in (r, i, j))
    found = np.zeros((len(r),) * 2)
    for suffix, alike in (("", np.ones_like(same_r)), (BY_REPLICATE, same_r)):
        of_target, of_attribute = effect_covariances(scales, suffix, data)
        found += alike * same_i * of_target[np.ix_(c, c)]
        found += alike * same_j * of_attribute[c[:, None], g[:, None], g]
        found += alike * same_i * same_j * scales["sd_residual" + suffix] ** 2
    sums_g, sums_c = summing_to_zero(data.sizes["group"]), np.zeros((data.sizes["attribute_class"],) * 2)
    sums_c[:k, :k] = summing_to_zero(k)
    own = scales["sd_replicate"] ** 2 + scales["sd_replicate_group"] ** 2 * sums_g[np.ix_(g, g)]
    own = own + scales["sd_replicate_class"] ** 2 * sums_c[np.ix_(c, c)]
    own = own + scales["sd_replicate_preference"] ** 2 * sums_g[np.ix_(g, g)] * sums_c[np.ix_(c, c)]
    if data.sizes["control"]:
        same_control = (c[:, None] == c) & (c >= k)
        own = own + scales["sd_replicate_control"] ** 2 * same_control
        own = own + scales["sd_replicate_control_group"] ** 2 * same_control * sums_g[np.ix_(g, g)]
    return found + same_r * own


def restricted_log_likelihood(table: Associations, covariance: np.ndarray) -> float:
    """The textbook's: what no block mean explains (Patterson and Thompson 1971)."""
    y = table.replicates.stacked().to_numpy().ravel()
    block = table.group_index[:, None] * len(table.classes) + table.class_index
    x = np.eye(len(table.groups) * len(table.classes))[np.tile(block.ravel(), len(table.replicates.tables))]
    weighed = np.linalg.solve(covariance, np.column_stack([x, y]))
    information, explained = x.T @ weighed[:, :-1], x.T @ weighed[:, -1]
    left = y @ weighed[:, -1] - explained @ np.linalg.solve(information, explained)
    return -0.5 * (np.linalg.slogdet(covariance).logabsdet + np.linalg.slogdet(information).logabsdet + left)


designs = st.tuples(
    st.integers(0, 10_000),
    st.lists(st.integers(2, 3), min_size=2, max_size=3),
    st.lists(st.integers(2, 3), min_size=2, max_size=3),
    st.sampled_from([0, 2, 3]),
    st.integers(2, 4),
).filter(lambda design: len(design[1]) >= len(design[2]))


@given(designs)
@settings(max_examples=12)
def test_the_collapsed_likelihood_is_the_dense_one_up_to_a_constant(design):
    table = replicated_table(*design)
    data, rng = model_data(table), np.random.default_rng(design[0])
    known, sizes = statistics(data), sizes_of(data)
    differences, size = [], 0.0
    for _ in range(3):
        scales = random_scales(data, rng)
        parts = log_likelihoods(Components.of(scales, **sizes), Replication.of(scales, **sizes), known)
        dense = restricted_log_likelihood(table, dense_covariance(table, scales, data))
        differences.append(sum(map(float, parts.values())) - dense)
        size = max(size, abs(dense))
    assert np.ptp(differences) <= 1e-8 * size


@given(designs)
@settings(max_examples=12)
def test_the_variance_of_a_contrast_is_that_of_all_values(design):
    table = replicated_table(*design)
    data, rng = model_data(table), np.random.default_rng(design[0])
    scales = random_scales(data, rng)
    weights = rng.normal(size=(1, data.sizes["group"], data.sizes["attribute_class"]))
    sizes = sizes_of(data)
    variances = Variances(Components.of(scales, **sizes), Replication.of(scales, **sizes))
    parts = variances.of_contrast(
        weights, data.n_targets.to_numpy(), data.n_attributes.to_numpy(), data.sizes["replicate"]
    )
    g, c = table.group_index, table.class_index
    of_value = weights[0][np.ix_(g, c)] / np.outer(np.bincount(g)[g], np.bincount(c)[c])
    of_value = np.tile(of_value.ravel(), data.sizes["replicate"]) / data.sizes["replicate"]
    dense = of_value @ dense_covariance(table, scales, data) @ of_value
    assert sum(part.item() for part in parts.values()) == pytest.approx(dense)


def test_order_and_labels_of_replicates_do_not_matter():
    table = replicated_table(1, [3, 4], [3, 3], 2, 4)
    tables = {label.upper(): single for label, single in table.singles().items()}
    for order in itertools.islice(itertools.permutations(tables), 1, 6, 2):
        other = replicated({label: tables[label] for label in order}, "seed")
        for name, values in statistics(model_data(table)).items():
            np.testing.assert_allclose(statistics(model_data(other))[name], values, rtol=1e-9, atol=1e-12)


def test_the_shipped_model_has_priors_for_all_of_it():
    assert set(REPLICATES) <= set(load_spec("crossed").priors)
    assert {name + BY_REPLICATE for name in WORDS} <= set(load_spec("crossed").priors)
