"""The crossed model: its collapsed likelihood is exact, its posterior that of every published check."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import expon, halfnorm, multivariate_normal

from bayes_bias import AssociationTable, fit, summarize
from bayes_bias.errors import TableError
from bayes_bias.models.crossed import data as model_data
from bayes_bias.models.scales import levels_that_cancel
from bayes_bias.models.spec import load_spec
from bayes_bias.models.structures import build_model
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.statistics import table_means
from tests.helpers import (
    REFERENCE,
    SCALES,
    SHORT,
    attribute_covariance,
    dense_log_likelihood,
    integrated_density,
    numbered,
    random_point,
    random_table,
    refused,
    residual_variances,
    target_covariance,
)

# Columns of a table's own frame, by the name of their argument.
COLUMNS = {"target": "target", "group": "group", "attribute": "attribute", "attribute_class": "attribute_class"}
COLUMNS["value"] = "cosine"

OF_PREFERENCES = {"sd_target_preference": 2.5, "sd_attribute_preference": 2.5, "sd_target_control": 1.8}


def collapsed_log_density(table: AssociationTable) -> Callable[[dict[str, np.ndarray]], float]:
    """What the model adds up, in the units of the table, and the normal density of the block means: a likelihood of
    ``mean`` and the scales up to a constant."""
    spec, data = load_spec("crossed").with_option("unit", "as measured"), model_data(table)
    model = build_model(spec, data)
    scales = [name for name in SCALES if name in model.named_vars]
    density = integrated_density(model, scales)
    return lambda point: density(*(point[name] for name in scales)) + block_log_likelihood(table, point)


def block_log_likelihood(table: AssociationTable, point: dict[str, np.ndarray]) -> float:
    """Block means are jointly normal: those of a group share its targets, those of a class its attributes."""
    data = model_data(table)
    p, w = data.n_targets.to_numpy(), data.n_attributes.to_numpy()
    g, c = np.indices((len(p), len(w))).reshape(2, -1)
    target_cov, attribute_cov = target_covariance(table, point), attribute_covariance(table, point)
    covariance = (g[:, None] == g) * target_cov[g[:, None], c[:, None], c] / p[g]
    covariance += (c[:, None] == c) * attribute_cov[c[:, None], g[:, None], g] / w[c]
    covariance += np.diag(residual_variances(table, point)[c] / (p[g] * w[c]))
    return multivariate_normal(point["mean"].ravel(), covariance).logpdf(data.block_mean.to_numpy().ravel())


@pytest.mark.slow
@given(
    st.integers(0, 10_000),
    st.lists(st.integers(2, 5), min_size=1, max_size=3),
    st.lists(st.integers(2, 5), min_size=2, max_size=3),
    st.lists(st.integers(2, 5), min_size=0, max_size=2),
)
@settings(max_examples=10, deadline=None)
def test_collapsed_likelihood_matches_dense_normal(seed, targets, classes, controls):
    """One to three groups, two and three classes, of which some may have no group and be opposites, with controls and
    without, of unequal sizes."""
    names = numbered("class ", len(classes))
    table = random_table(
        seed,
        targets=dict(zip(numbered("group ", 3), targets[: len(classes)], strict=False)),
        attributes=dict(zip([*names, *numbered("control ", 2)], classes + controls, strict=False)),
        opposites=tuple(names[len(targets) :]),
    )
    rng, collapsed = np.random.default_rng(seed), collapsed_log_density(table)
    differences, size = [], 0.0
    for _ in range(3):
        point = random_point(table, rng)
        if not controls:  # the level in all classes and that in the associated ones are then the same
            point["sd_target"] = np.array(0.0)
        dense = dense_log_likelihood(table, point)
        differences.append(collapsed(point) - dense)
        size = max(size, abs(dense))
    assert np.ptp(differences) <= 1e-8 * size


@pytest.mark.slow
def test_density_equals_likelihood_times_priors(small_table):
    model = build_model(load_spec("crossed"), model_data(small_table))
    rng = np.random.default_rng(3)
    values_at = model.compile_fn(
        model.replace_rvs_by_values([model[name] for name in SCALES]), on_unused_input="ignore", mode="FAST_COMPILE"
    )
    likelihood = integrated_density(model, SCALES)
    for _ in range(3):
        point = {name: rng.normal(0.5, 0.3, np.shape(v)) for name, v in model.initial_point().items()}
        sampled = float(model.compile_logp(jacobian=False, mode="FAST_COMPILE")(point))
        values = values_at(point)
        density = likelihood(*values)
        for name, value in zip(SCALES, values, strict=True):
            rate = OF_PREFERENCES.get(name)
            prior = expon(scale=1 / rate) if rate else halfnorm(scale=1.65)
            density += prior.logpdf(value).sum()
        # PyMC takes the constant of the exponential priors in single precision.
        assert density == pytest.approx(sampled, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("targets", [{"men": 5, "women": 5}, {"men": 5}])
def test_levels_that_cancel_add_separately_to_log_likelihood(targets):
    """A sum means independence: scales that cancel in the bias, and scales of preferences, with one residual."""
    opposites = ("home",) if len(targets) == 1 else ()
    attributes = {"work": 6, "home": 6, "neutral": 8}
    table = random_table(targets=targets, attributes=attributes, opposites=opposites)
    spec, data = load_spec("crossed").with_option("unit", "as measured"), model_data(table)
    model = build_model(spec, data)
    scales = [name for name in SCALES if name in model.named_vars]
    cancelling = levels_that_cancel(spec, data) & {*scales}
    assert ("sd_attribute" in cancelling) == (len(targets) == 2)
    density, rng = integrated_density(model, scales), np.random.default_rng(5)
    point, second_point = random_point(table, rng), random_point(table, rng)

    def at(*moved: str) -> float:
        return density(*((second_point if name in moved else point)[name] for name in scales))

    relevant = [name for name in scales if name not in cancelling and "residual" not in name]
    together = at(*cancelling, *relevant) - at(*relevant)
    assert cancelling
    assert together == pytest.approx(at(*cancelling) - at(), rel=1e-8)


def test_posterior_scales_with_unit_of_values(small_table, small_fit):
    eightfold = fit(replace(small_table, values=8 * small_table.values), seed=1, sampling=SHORT)
    for scope in ("both", "targets"):
        few = summarize(small_fit, scope, ci_prob=0.95, words=scope == "both")
        many = summarize(eightfold, scope, ci_prob=0.95, words=scope == "both")
        rows = few.index.get_level_values("estimand") != "effect_size"
        for column in ("mean", "sd", "eti95_lb", "eti95_ub", "observed", "noise_sd"):
            np.testing.assert_allclose(many[column][rows], 8 * few[column][rows], rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(many.prob_direction, few.prob_direction, rtol=1e-6)


def test_arviz_summary_keeps_labels_of_block_means(small_table, small_fit):
    """Also in ArviZ's own summary, which mislabels variables whose dims disagree in order."""
    import arviz as az

    block_mean = small_fit["constant_data"].block_mean
    table = az.summary(small_fit, kind="stats", round_to="none")["mean"]
    for group in small_table.groups:
        for attribute_class in small_table.classes:
            expected = block_mean.sel(group=group, attribute_class=attribute_class).item()
            assert table[f"mean[{group}, {attribute_class}]"] == pytest.approx(expected, abs=0.02)


def test_fit_raises_for_repeated_or_missing_pairs(small_table):
    frame, stereotypes = small_table.to_frame(), small_table.stereotypes
    incomplete = AssociationTable.from_frame(frame.drop(index=0), stereotypes=stereotypes, **COLUMNS)
    with refused(TableError, "1 209 crossed-long"):
        fit(incomplete)
    twice = pd.concat([frame, frame.head(1)])
    repeated = AssociationTable.from_frame(twice, stereotypes=stereotypes, duplicates="keep", **COLUMNS)
    with refused(TableError, "model='hierarchical'"):
        fit(repeated)


def test_fit_raises_for_constant_values(small_table):
    flat = small_table.values.copy(data=np.full(small_table.values.shape, 0.2))
    frame = flat.rename("cosine").to_dataframe().reset_index()
    with refused(TableError, "by construction"):
        fit(AssociationTable.from_frame(frame, stereotypes=small_table.stereotypes, **COLUMNS))


@pytest.mark.slow
@pytest.mark.thorough
def test_crossed_long_posterior_matches_crossed(small_table, small_fit):
    long_fit = fit(small_table, "crossed-long", seed=2)
    short, long = summarize(small_fit, "targets", ci_prob=0.95), summarize(long_fit, "targets", ci_prob=0.95)
    z = ((short["mean"] - long["mean"]) / np.hypot(short.mcse_mean, long.mcse_mean)).dropna()
    assert abs(z).max() < 5  # 30 reported quantities
    assert abs(z).mean() < 1.2
    assert np.allclose(short.sd, long.sd, rtol=0.12, atol=1e-3)


@pytest.mark.parametrize(
    ("table", "dataset"),
    [
        ("gender_glove", "gender_group_glove_dataset"),
        ("gender_google", "gender_group_google_dataset"),
        ("gender_reddit", "gender_group_reddit_dataset"),
        ("race_glove", "race_group_glove_dataset"),
        ("race_google", "race_group_google_dataset"),
        ("religion_glove", "religion_group_glove_dataset"),
        ("religion_google", "religion_group_google_dataset"),
        ("gender_reddit_debiased", "debiased_gender_reddit"),
    ],
)
def test_raw_contrast_matches_lme4(published_cosines, table, dataset):
    """R 4.2.2, lme4 1.1.31: lmer(cosine_similarity ~ 0 + cell + (1|protected_word) +
    (1|protected_word:word_class) + (1|word_to_compare) + (1|word_to_compare:group), control =
    lmerControl("bobyqa")). In a complete table generalised least squares are the means of the cells, whatever the
    variances, and so is the centre of our posterior."""
    means = table_means(published_cosines(table))
    bias = float((means.block_mean * bias_weights(means)).sum())
    lme4 = pd.read_csv(REFERENCE / "lme4.csv").query("dataset == @dataset").set_index("quantity")
    assert bias == pytest.approx(lme4.estimate["bias"], abs=2e-6)
