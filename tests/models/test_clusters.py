"""Sub-topics and pairs: what their words share is integrated out exactly, and counts once."""

from types import MappingProxyType

import numpy as np
import pandas as pd
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
from bayes_bias.table.labels import Side
from tests.helpers import (
    SCALES,
    SHORT,
    attribute_covariance,
    integrated_density,
    numbered,
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
    targets = dict.fromkeys(numbered("m", sizes[0]), "men") | dict.fromkeys(numbered("w", sizes[0]), "women")
    attributes = dict.fromkeys(numbered("a", sizes[1]), "work") | dict.fromkeys(numbered("b", sizes[1]), "home")
    attributes |= dict.fromkeys(numbered("z", controls), "neutral")

    def preferences(words: dict[str, str], sd: float) -> np.ndarray:
        labels = [(pairs | topics).get(word, word) for word in words]
        label_effect = pd.Series(rng.normal(size=len(labels)), labels).groupby(level=0).transform("last")
        return shared * label_effect.to_numpy() + sd * rng.normal(size=len(labels))

    group_signs = np.repeat([1, -1], sizes[0])
    class_signs = np.repeat([1, -1, 0], [sizes[1], sizes[1], controls])
    sign = np.outer(group_signs, class_signs)
    y = 0.1 + bias / 2 * sign + 0.03 * rng.standard_normal(sign.shape)
    y = y + np.outer(preferences(targets, 0.02), class_signs) + np.outer(group_signs, preferences(attributes, 0.03))
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
    i, j = np.indices(table.values.shape).reshape(2, -1)
    k = len(table.associated_classes)
    target, attribute = target_covariance(table, point), attribute_covariance(table, point)
    target_cov = np.zeros((len(table.classes),) * 2)
    target_cov[:k, :k] = point[SHARED[0]] ** 2 + point[SHARED[1]] ** 2 * summing_to_zero(k)
    attribute_variance = point[SHARED[2]] ** 2 + point[SHARED[3]] ** 2 * summing_to_zero(len(table.groups))
    target_member, attribute_member = membership(table, "target"), membership(table, "attribute")
    same_target, same_attribute = target_member @ target_member.T, attribute_member @ attribute_member.T
    v = (i[:, None] == i) * target[g[i][:, None], c[j][:, None], c[j]]
    v = v + same_target[np.ix_(i, i)] * target_cov[np.ix_(c[j], c[j])]
    v = v + (j[:, None] == j) * attribute[c[j][:, None], g[i][:, None], g[i]]
    v = v + same_attribute[np.ix_(j, j)] * attribute_variance[np.ix_(g[i], g[i])]
    return v + np.diag(residual_variances(table, point)[c[j]])


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
def test_clustered_likelihood_matches_dense_normal(labels, controls):
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
        for name in SHARED:
            point[name] = rng.uniform(0.02, 0.2) if name in scales else 0.0
        if not controls:
            point["sd_target"] = np.array(0.0)
        for name, value in point.items():
            if spec.options["scales"] == "common" and np.ndim(value) == 1 and value.size:
                point[name] = np.full_like(value, value[0])
            if "pairs" in labels and name.startswith("sd_target") and name in SCALES and value.ndim:
                point[name] = point[name][0]  # groups share their scales then
        values = [point[name][0] if model[name].ndim < np.ndim(point[name]) else point[name] for name in scales]
        differences.append(density(*values) - restricted_log_likelihood(table, covariance_of(table, point)))
    assert np.ptp(differences) <= 1e-8 * max(map(abs, differences))


@pytest.mark.parametrize(
    "labels", [{"topics": TARGET_TOPICS | ATTRIBUTE_TOPICS}, {"pairs": TARGET_PAIRS}, {"pairs": ATTRIBUTE_PAIRS}]
)
def test_contrast_variance_with_clusters_matches_dense_covariance(labels):
    """Against the average of all values with the contrast's weights, whose covariance is written out."""
    table = clustered_table(3, **labels)
    data = model_data(table)
    point = random_point(table, np.random.default_rng(4)) | {"sd_target": np.array(0.0)}
    for k, name in enumerate(SHARED):
        point[name] = 0.05 + 0.02 * k
    scales = {}
    for name in (*SCALES, *SHARED):
        if np.size(point[name]):  # all groups and classes have the largest scale
            point[name] = np.full_like(point[name], np.max(point[name]))
            scales[name] = ("chain", "draw"), [[float(np.max(point[name]))]]
    del scales["sd_target"], scales["sd_residual_control"]
    weights = np.array([[[0.5, -0.5], [-0.5, 0.5]]])
    parts = Variances.from_posterior(xr.Dataset(scales), data).contrast_variances(weights)
    found = sum(parts.values()).item()
    g, c = table.group_index, table.class_index
    value_weights = weights[0][np.ix_(g, c)] / np.outer(np.bincount(g)[g], np.bincount(c)[c])
    assert found == pytest.approx(value_weights.ravel() @ covariance_of(table, point) @ value_weights.ravel())


@pytest.mark.slow
@pytest.mark.thorough
def test_crossed_long_matches_crossed_with_clusters():
    """Where sub-topics are of one size, and all words are paired, the raw contrast is the best estimate in both."""
    topics = {f"a{i}": f"{i // 3}" for i in range(6)}
    table = clustered_table(5, shared=0.03, sizes=(4, 6), topics=topics, pairs=TARGET_PAIRS)
    short_fit = fit(table, seed=1)
    long_fit = fit(table, "crossed-long", seed=1, sampling=SHORT)
    short, long = summarize(short_fit).loc[("bias", "overall")], summarize(long_fit).loc[("bias", "overall")]
    assert short["mean"] == pytest.approx(long["mean"], abs=0.1 * short["sd"])
    assert short["sd"] == pytest.approx(long["sd"], rel=0.1)
    short_scale = short_fit["posterior"]["sd_target_preference"].mean()
    assert float(short_scale / long_fit["posterior"]["sd_target_preference"].mean()) == pytest.approx(1, abs=0.1)


def test_paired_targets_share_scales_and_log_notice(caplog):
    paired = pymc_model(clustered_table(1, pairs=TARGET_PAIRS), marginal=True)
    independent = pymc_model(clustered_table(1), marginal=True)
    assert paired["sd_target_preference"].ndim == 0
    assert independent["sd_target_preference"].ndim == 1
    assert says(caplog.text, "targets paired share")


def test_model_data_raises_for_topics_and_pairs_together():
    with refused(TableError, "targets sub-topics pairs"):
        model_data(clustered_table(1, topics={"m0": "young", "m1": "young"}, pairs=TARGET_PAIRS))


def test_fit_raises_for_paired_attributes_without_common_scales():
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
    everywhere = np.eye(len(index))
    basis = np.zeros((len(index), 0))
    for word_set in clusters.word_sets(cells):
        for shared in word_set.shared:
            basis = np.column_stack([basis, everywhere[:, word_set.positions] @ shared.basis])
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-9)
    for cell in (0, 1):
        np.testing.assert_allclose(basis[cells == cell].sum(axis=0), 0, atol=1e-9)
    member = (np.array(index)[:, None] == np.arange(max(index, default=-1) + 1)).astype(float)
    for cell in (0, 1):
        member[cells == cell] -= member[cells == cell].mean(axis=0)
    np.testing.assert_allclose(member - basis @ (basis.T @ member), 0, atol=1e-6)
