"""Sub-topics and pairs: what their words share is integrated out exactly, and counts once."""

from types import MappingProxyType

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from bayes_bias import AssociationTable, fit, pymc_model, summarize
from bayes_bias.errors import SpecError, TableError
from bayes_bias.models.crossed import data as model_data
from bayes_bias.models.patterns import Variances
from bayes_bias.models.spec import load_spec
from bayes_bias.models.structures import build_model
from bayes_bias.table.association_table import assemble
from bayes_bias.table.clusters import Clusters, clusters_of
from bayes_bias.table.labels import SIDES, Side
from tests.helpers import (
    SCALES,
    SHORT,
    attribute_covariance,
    integrated_density,
    random_point,
    refused,
    residual_variances,
    restricted_log_likelihood,
    says,
    summing_to_zero,
    target_covariance,
)

SHARED = (
    "sd_target_cluster",
    "sd_target_cluster_preference",
    "sd_attribute_cluster",
    "sd_attribute_cluster_preference",
)


def clustered_table(
    seed: int,
    *,
    topics: dict[str, str] | None = None,
    pairs: dict[str, str] | None = None,
    sizes: tuple[int, int] = (6, 6),
    controls: int = 0,
    shared: float = 0.0,
    bias: float = 0.05,
) -> AssociationTable:
    """Two groups of targets m0, m1 ... and w0 ..., two classes a0 ... and b0 ..., whose words in one topic, or pair,
    share preferences of standard deviation `shared`."""
    rng = np.random.default_rng(seed)
    topics, pairs = topics or {}, pairs or {}
    targets = {f"{g}{i}": {"m": "men", "w": "women"}[g] for g in "mw" for i in range(sizes[0])}
    attributes = {f"{c}{i}": {"a": "work", "b": "home"}[c] for c in "ab" for i in range(sizes[1])}
    attributes |= {f"z{i}": "neutral" for i in range(controls)}
    sign = np.array(
        [[1 if (g == "men") == (c == "work") else -1 for c in attributes.values()] for g in targets.values()]
    )
    sign = sign * np.array([c != "neutral" for c in attributes.values()])

    def preferences(words: dict[str, str], sd: float) -> np.ndarray:
        label = {word: topics.get(word) or pairs.get(word) or word for word in words}
        label_effect = {name: rng.normal() for name in label.values()}
        return np.array([shared * label_effect[label[word]] + sd * rng.normal() for word in words])

    class_signs = np.array([{"work": 1, "home": -1}.get(c, 0) for c in attributes.values()])
    group_signs = np.array([1 if g == "men" else -1 for g in targets.values()])
    y = 0.1 + bias / 2 * sign + 0.03 * rng.standard_normal(sign.shape)
    y = (
        y
        + preferences(targets, 0.02)[:, None] * class_signs
        + preferences(attributes, 0.03)[None, :] * group_signs[:, None]
    )
    return assemble(
        y,
        targets,
        attributes,
        {"men": "work", "women": "home"},
        topics=MappingProxyType(topics),
        pairs=MappingProxyType(pairs),
    )


TARGET_TOPICS = {"m0": "young", "m1": "young", "m2": "young", "m3": "old", "m4": "old", "w0": "young", "w1": "young"}
TARGET_PAIRS = {f"{g}{i}": f"m{i}/w{i}" for g in "mw" for i in range(4)}
ATTRIBUTE_TOPICS = {"a0": "pay", "a1": "pay", "a2": "pay", "b0": "kin", "b1": "kin", "b4": "house", "b5": "house"}
ATTRIBUTE_PAIRS = {f"{c}{i}": f"a{i}/b{i}" for c in "ab" for i in range(5)}


def membership(table: AssociationTable, side: Side) -> np.ndarray:
    index = clusters_of(table, side).index
    return (index[:, None] == np.arange(index.max(initial=-1) + 1)).astype(float)


def covariance_of(table: AssociationTable, point: dict[str, np.ndarray]) -> np.ndarray:
    """Of all values at once, as the model is written."""
    g, c = table.group_index, table.class_index
    (i, j), k = (index.ravel() for index in np.indices(table.values.shape)), len(table.associated_classes)
    target, attribute = target_covariance(table, point), attribute_covariance(table, point)
    target_cov = np.zeros((len(table.classes),) * 2)
    target_cov[:k, :k] = point[SHARED[0]] ** 2 + point[SHARED[1]] ** 2 * summing_to_zero(k)
    attribute_variance = point[SHARED[2]] ** 2 + point[SHARED[3]] ** 2 * summing_to_zero(len(table.groups))
    same_target, same_attribute = (m @ m.T for m in (membership(table, side) for side in SIDES))
    v = (i[:, None] == i) * target[g[i][:, None], c[j][:, None], c[j]]
    v = v + same_target[np.ix_(i, i)] * target_cov[np.ix_(c[j], c[j])]
    v = v + (j[:, None] == j) * attribute[c[j][:, None], g[i][:, None], g[i]]
    v = v + same_attribute[np.ix_(j, j)] * attribute_variance[np.ix_(g[i], g[i])]
    return v + np.diag(residual_variances(table, point)[table.class_index[np.indices(table.values.shape)[1].ravel()]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "controls"),
    [
        ({"topics": TARGET_TOPICS}, 0),
        ({"topics": ATTRIBUTE_TOPICS}, 4),
        ({"topics": TARGET_TOPICS | ATTRIBUTE_TOPICS}, 3),
        ({"pairs": TARGET_PAIRS}, 3),
        ({"pairs": TARGET_PAIRS, "topics": ATTRIBUTE_TOPICS}, 0),
        ({"pairs": ATTRIBUTE_PAIRS, "topics": TARGET_TOPICS}, 3),
    ],
)
def test_clustered_likelihood_is_the_dense_one(labels, controls):
    table = clustered_table(1, controls=controls, **labels)
    spec = load_spec("crossed").with_option("unit", "as measured")
    if "pairs" in labels:
        spec = spec.with_option("scales", "common" if labels["pairs"] is ATTRIBUTE_PAIRS else "by class")
    data, rng = model_data(table), np.random.default_rng(2)
    model = build_model(spec, data)
    scales = [name for name in (*SCALES, *SHARED) if name in model.named_vars]
    density = integrated_density(model, scales)
    differences = []
    for _ in range(4):
        point = random_point(table, rng)
        point |= {name: rng.uniform(0.02, 0.2) if name in scales else 0.0 for name in SHARED}
        if not controls:
            point["sd_target"] = np.array(0.0)
        if spec.options["scales"] == "common":
            point |= {name: np.full_like(v, v[0]) for name, v in point.items() if np.ndim(v) == 1 and v.size}
        if "pairs" in labels:  # groups share their scales then
            point |= {name: point[name][0] for name in SCALES if name.startswith("sd_target") and point[name].ndim}
        values = [point[name][0] if model[name].ndim < np.ndim(point[name]) else point[name] for name in scales]
        differences.append(density(*values) - restricted_log_likelihood(table, covariance_of(table, point)))
    assert np.ptp(differences) <= 1e-8 * max(map(abs, differences))


@pytest.mark.parametrize(
    "labels", [{"topics": TARGET_TOPICS | ATTRIBUTE_TOPICS}, {"pairs": TARGET_PAIRS}, {"pairs": ATTRIBUTE_PAIRS}]
)
def test_contrast_variance_is_that_of_values(labels):
    """Against the average of all values with the contrast's weights, whose covariance is written out."""
    table = clustered_table(3, **labels)
    data = model_data(table)
    point = random_point(table, np.random.default_rng(4))
    point |= {
        name: np.full_like(value, np.max(value)) for name, value in point.items() if np.ndim(value) == 1 and value.size
    }
    point |= {name: 0.05 + 0.02 * k for k, name in enumerate(SHARED)} | {"sd_target": np.array(0.0)}
    scales = {
        name: (("chain", "draw"), [[float(np.max(point[name]))]]) for name in (*SCALES, *SHARED) if np.size(point[name])
    }
    del scales["sd_target"], scales["sd_residual_control"]
    weights = np.array([[[0.5, -0.5], [-0.5, 0.5]]])
    parts = Variances.from_posterior(xr.Dataset(scales), data).contrast_variances(weights)
    found = sum(part.item() for part in parts.values())
    g, c = table.group_index, table.class_index
    value_weights = weights[0][np.ix_(g, c)] / np.outer(np.bincount(g)[g], np.bincount(c)[c])
    assert found == pytest.approx(value_weights.ravel() @ covariance_of(table, point) @ value_weights.ravel())


@pytest.mark.slow
@pytest.mark.thorough
def test_the_long_form_has_the_same_posterior():
    """Where sub-topics are of one size, and all words are paired, the raw contrast is the best estimate in both."""
    topics = {f"a{i}": f"{i // 3}" for i in range(6)}
    table = clustered_table(5, shared=0.03, sizes=(4, 6), topics=topics, pairs=TARGET_PAIRS)
    short_fit = fit(table, seed=1)
    long_fit = fit(table, "crossed-long", seed=1, sampling=SHORT)
    short, long = (summarize(fitted).loc[("bias", "overall")] for fitted in (short_fit, long_fit))
    assert short["mean"] == pytest.approx(long["mean"], abs=0.1 * short["sd"])
    assert short["sd"] == pytest.approx(long["sd"], rel=0.1)
    scales = (fitted["posterior"]["sd_target_preference"].mean() for fitted in (short_fit, long_fit))
    assert float(next(scales) / next(scales)) == pytest.approx(1, abs=0.1)


def test_paired_targets_share_their_scales(caplog):
    paired, independent = (
        pymc_model(clustered_table(1, pairs=pairs), marginal=True)["sd_target_preference"]
        for pairs in (TARGET_PAIRS, None)
    )
    assert (paired.ndim, independent.ndim) == (0, 1)
    assert says(caplog.text, "targets paired share")


def test_a_side_has_topics_or_pairs_not_both():
    with refused(TableError, "targets sub-topics pairs"):
        model_data(clustered_table(1, topics={"m0": "young", "m1": "young"}, pairs=TARGET_PAIRS))


def test_paired_attributes_need_a_scale_in_common():
    table = clustered_table(1, pairs=ATTRIBUTE_PAIRS)
    with refused(SpecError, 'scales = "common"'):
        fit(table)
    no_clusters = load_spec("crossed").without_prior("sd_attribute_cluster")
    assert build_model(no_clusters, model_data(table))


@given(st.integers(0, 1000), st.lists(st.integers(-1, 3), min_size=4, max_size=9))
@settings(max_examples=20)
def test_cluster_directions_are_orthonormal(seed, index):
    """All directions together are all deviations from the averages of cells, each once."""
    cells = np.arange(len(index)) % 2
    clusters = Clusters(("topic",), np.array(index))
    found = [(word_set.positions, own.basis) for word_set in clusters.word_sets(cells) for own in word_set.shared]
    everywhere = np.eye(len(index))
    basis = np.concatenate([np.zeros((len(index), 0)), *(everywhere[:, words] @ own for words, own in found)], axis=1)
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-9)
    for cell in (0, 1):
        np.testing.assert_allclose(basis[cells == cell].sum(axis=0), 0, atol=1e-9)
    member = (np.array(index)[:, None] == np.arange(max(index, default=-1) + 1)).astype(float)
    for cell in (0, 1):
        member[cells == cell] -= member[cells == cell].mean(axis=0)
    np.testing.assert_allclose(member - basis @ (basis.T @ member), 0, atol=1e-6)
