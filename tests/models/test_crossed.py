"""The crossed model: its collapsed likelihood is exact, its posterior that of every published check."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import expon, halfnorm, multivariate_normal, norm

from bayes_bias import Associations, fit, summarize
from bayes_bias.associations.frames import WORDS
from bayes_bias.errors import AssociationsError
from bayes_bias.models.crossed import data as model_data
from bayes_bias.models.spec import load_spec
from bayes_bias.models.structures import build_model
from tests.helpers import REFERENCE, SCALES, dense_log_likelihood, random_table

OF_A_CLASS = ("sd_target_class", "sd_attribute_group")


def collapsed_log_density(table: Associations, seed: int) -> tuple[float, dict[str, np.ndarray]]:
    """Model log density at a random point, integrated over levels, less the priors: a likelihood of
    ``mean`` and the scales up to a constant."""
    rng = np.random.default_rng(seed)
    spec = load_spec("crossed")
    n_groups, n_classes = len(table.groups), len(table.classes)
    by_class = ("sd_target_class", "sd_attribute", "sd_attribute_group")
    sizes = dict.fromkeys(SCALES, ()) | dict.fromkeys(by_class, (n_classes,))
    point = {name: rng.uniform(0.02, 0.2, size=sizes[name]) for name in SCALES}
    point["mean"] = rng.normal(0.1, 0.1, size=(n_groups, n_classes))
    model = build_model(spec, model_data(table))
    parts = model.compile_fn(
        [model[name] for name in ("interaction", "rows", "columns")],
        inputs=[model[name] for name in SCALES],
        on_unused_input="ignore",
        point_fn=False,
    )(*(point[name] for name in SCALES))
    return sum(float(part) for part in parts) + block_log_likelihood(table, point), point


def block_log_likelihood(table: Associations, point: dict[str, np.ndarray]) -> float:
    """Part 4 of the likelihood, target and attribute levels integrated out: block means are jointly normal."""
    statistics = model_data(table)
    p, w = statistics.n_targets.to_numpy(), statistics.n_attributes.to_numpy()
    n_groups, n_classes = len(p), len(w)
    g, c = (index.ravel() for index in np.indices((n_groups, n_classes)))
    own = (
        point["sd_target_class"][c] ** 2 / p[g]
        + point["sd_attribute_group"][c] ** 2 / w[c]
        + point["sd_residual"] ** 2 / (p[g] * w[c])
    )
    associated = c < len(table.associated_classes)
    shared = point["sd_target"] ** 2 + point["sd_target_associated"] ** 2 * (associated[:, None] & associated)
    covariance = np.diag(own) + (g[:, None] == g) * shared / p[g]
    covariance += (c[:, None] == c) * (point["sd_attribute"] ** 2 / w)[c]
    mean = statistics.block_mean.to_numpy().ravel()
    return multivariate_normal(point["mean"].ravel(), covariance).logpdf(mean)


@pytest.mark.slow
@given(
    st.integers(0, 10_000),
    st.tuples(st.integers(2, 5), st.integers(2, 6)),
    st.tuples(st.integers(2, 6), st.integers(2, 4), st.integers(2, 5)),
)
@settings(max_examples=8, deadline=None)
def test_the_collapsed_likelihood_is_the_dense_one_up_to_a_constant(seed, targets, attributes):
    table = random_table(
        seed,
        targets=dict(zip(("men", "women"), targets, strict=True)),
        attributes=dict(zip(("work", "home", "neutral"), attributes, strict=True)),
    )
    differences, size = [], 0.0
    for k in range(3):
        collapsed, point = collapsed_log_density(table, seed + k)
        dense = dense_log_likelihood(table, point)
        differences.append(collapsed - dense)
        size = max(size, abs(dense))
    assert np.ptp(differences) <= 1e-8 * size


@pytest.mark.slow
def test_the_sampled_density_of_the_block_means_is_their_normal_one(small_table):
    """`mean` is written as observed less standardised deviations: the Jacobian must cancel exactly."""
    spec = load_spec("crossed")
    model = build_model(spec, model_data(small_table))
    rng = np.random.default_rng(3)
    for _ in range(3):
        point = {
            name: rng.normal(-2 if name.endswith("log__") else 0, 0.3, np.shape(value))
            for name, value in model.initial_point().items()
        }
        sampled = float(model.compile_logp(jacobian=False)(point))
        # PyMC takes the constant of the exponential priors in single precision.
        assert natural_log_density(model, small_table, point) == pytest.approx(sampled, abs=1e-6)


def natural_log_density(model, table: Associations, point: dict[str, np.ndarray]) -> float:
    """The same joint density written in `mean` and the levels themselves, per unit of the sampled variables."""
    names = [
        *SCALES,
        "mean",
        "target_level",
        "target_level_z",
        "attribute_level",
        "interaction",
        "rows",
        "columns",
    ]
    inputs = model.value_vars
    values = model.compile_fn(
        model.replace_rvs_by_values([model[n] for n in names]),
        inputs=inputs,
        point_fn=False,
        on_unused_input="ignore",
    )(*(point[v.name] for v in inputs))
    v = dict(zip(names, values, strict=True))
    s = model_data(table)
    p, w = s.n_targets.to_numpy(), s.n_attributes.to_numpy()
    sd_block = np.sqrt(
        v["sd_target_class"] ** 2 / p[:, None]
        + v["sd_attribute_group"] ** 2 / w
        + v["sd_residual"] ** 2 / (p[:, None] * w)
    )
    sd_attribute_level = v["sd_attribute"] / np.sqrt(w)
    common, associated = v["target_level_z"] / np.sqrt(p)
    level = common[:, None] * v["sd_target"] + associated[:, None] * v["sd_target_associated"] * [1, 1, 0]
    assert np.allclose(level, v["target_level"])
    log_density = norm.logpdf(s.block_mean, v["mean"] + level + v["attribute_level"], sd_block).sum()
    log_density += norm.logpdf(v["target_level_z"]).sum()
    log_density += norm.logpdf(v["attribute_level"], 0, sd_attribute_level).sum()
    log_density += norm.logpdf(v["mean"], 0, 0.3).sum()
    log_density += sum(float(v[part]) for part in ("interaction", "rows", "columns"))
    priors = {name: expon(scale=1 / 30) if name in OF_A_CLASS else halfnorm(scale=0.1) for name in SCALES}
    log_density += sum(prior.logpdf(v[name]).sum() for name, prior in priors.items())
    # Change of variables from mean and attribute levels to the standard normals that are sampled.
    jacobian = np.log(sd_block).sum() + np.log(sd_attribute_level).sum()
    return log_density + jacobian


def test_labels_stay_with_their_numbers(small_table, small_fit):
    """Also in ArviZ's own summary, which mislabels variables whose dims disagree in order."""
    import arviz as az

    block_mean = small_fit["constant_data"].block_mean
    table = az.summary(small_fit, kind="stats", round_to="none")["mean"]
    for group in small_table.groups:
        for attribute_class in small_table.classes:
            expected = block_mean.sel(group=group, attribute_class=attribute_class).item()
            assert table[f"mean[{group}, {attribute_class}]"] == pytest.approx(expected, abs=0.02)


def test_repeated_or_missing_pairs_are_refused(small_table):
    frame = small_table.to_frame()
    columns = {name: name for name in WORDS} | {"value": "cosine"}
    incomplete = Associations.from_frame(frame.drop(index=0), stereotypes=small_table.stereotypes, **columns)
    with pytest.raises(AssociationsError, match=r"1 of 209 pairs are missing.*crossed-long"):
        fit(incomplete)
    repeated = Associations.from_frame(
        pd.concat([frame, frame.head(1)]),
        stereotypes=small_table.stereotypes,
        duplicates="keep",
        **columns,
    )
    with pytest.raises(AssociationsError, match="only model='hierarchical' can use"):
        fit(repeated)


def test_identical_words_are_said_to_be_zero_by_construction(small_table):
    flat = small_table.values.copy(data=np.full(small_table.values.shape, 0.2))
    frame = flat.rename("cosine").to_dataframe().reset_index()
    columns = {name: name for name in WORDS} | {"value": "cosine"}
    with pytest.raises(AssociationsError, match="zero by construction"):
        fit(Associations.from_frame(frame, stereotypes=small_table.stereotypes, **columns))


@pytest.mark.slow
def test_the_long_form_has_the_same_posterior(published_cosines):
    table = published_cosines("religion_google")
    stereotypes = table.class_index < len(table.associated_classes)
    kept = stereotypes | (np.arange(len(stereotypes)) % 8 == 0)  # every control word would take a minute
    table = replace(table, values=table.values[:, kept])
    collapsed, long = fit(table, seed=1), fit(table, "crossed-long", seed=2)
    tables = [summarize(f, "targets", ci_prob=0.95) for f in (collapsed, long)]
    mcse = np.hypot(*(table.mcse_mean for table in tables))
    z = ((tables[0]["mean"] - tables[1]["mean"]) / mcse).dropna()
    assert abs(z).max() < 5  # some 80 reported quantities
    assert abs(z).mean() < 1.2
    assert np.allclose(tables[0].sd, tables[1].sd, rtol=0.12, atol=1e-3)


LME4 = {
    "sd_target": "sd(protected_word)",
    "sd_target_class": "sd(protected_word:word_class)",
    "sd_attribute": "sd(word_to_compare)",
    "sd_attribute_group": "sd(word_to_compare:grp)",
    "sd_residual": "sd(Residual)",
}


@pytest.mark.slow
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
def test_with_common_scales_and_flat_priors_it_is_lme4(published_cosines, table, dataset):
    """R 4.2.2, lme4 1.1.31: lmer(cosine_similarity ~ 0 + cell + (1|protected_word) +
    (1|protected_word:word_class) + (1|word_to_compare) + (1|word_to_compare:group), control =
    lmerControl("bobyqa"))."""
    spec = load_spec("crossed").with_option("scales", "common").without_prior("sd_target_associated")
    spec = spec.with_prior("mean", "Normal", mu=0, sigma=10)
    for scale in LME4:
        spec = spec.with_prior(scale, "HalfNormal", sigma=10)
    posterior = fit(published_cosines(table), spec, seed=1)
    lme4 = pd.read_csv(REFERENCE / "lme4.csv").query("dataset == @dataset").set_index("quantity")
    bias = summarize(posterior).loc[("bias", "overall")]
    assert bias["mean"] == pytest.approx(lme4.estimate["bias"], abs=0.0015)
    assert bias["sd"] == pytest.approx(
        lme4.se["bias"], rel=0.1
    )  # with flat priors the scales are uncertain too
    for ours, theirs in LME4.items():
        low, high = posterior["posterior"][ours].quantile([0.005, 0.995]).to_numpy()
        estimate = lme4.estimate[theirs]
        assert low <= estimate <= high or (estimate < 1e-6 and low < 1e-3)
