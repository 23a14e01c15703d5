"""The models of gaps, sentence pairs and cosine distances have the densities that SciPy gives their formulas."""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytest
import xarray as xr
from pytensor.graph.traversal import ancestors
from scipy.special import expit
from scipy.stats import binom, expon, halfnorm, logistic, multivariate_normal, norm

import bayes_bias as bb
from bayes_bias.analyses.tpr_gaps.counts import PeopleCounts
from bayes_bias.analyses.tpr_gaps.estimation import labelled_rates_model
from bayes_bias.errors import SentencePairsError
from bayes_bias.models import hierarchical
from bayes_bias.models.normal_effects import normal_effects
from tests.analyses.sentence_pairs.tables import simulated
from tests.helpers import random_table, refused, untransformed_density

HITS, PEOPLE = np.array([[2, 5, 1], [7, 4, 2]]), np.array([[3, 6, 5], [8, 9, 2]])
COUNTS = PeopleCounts(*(pd.DataFrame(n, ["nurse", "judge"], list("ABC")) for n in (HITS, PEOPLE)))


def densities(model: pm.Model, points: list[dict[str, np.ndarray]]) -> np.ndarray:
    """Log densities of the variables themselves, whatever the sampler moves in."""
    log_density = untransformed_density(model)
    found = []
    for point in points:
        found.append(log_density({name: np.asarray(value) for name, value in point.items()}))
    return np.array(found)


def differ_by_a_constant(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return bool(np.ptp(ours - theirs) < 1e-8)


def test_normal_effects_have_normal_density_for_any_evidence():
    """The density of what is sampled is that of the effects times the slope of the map between them."""
    evidence, value = np.array([[0.0, 3.0, 400.0], [0.0, 2.0, 500.0]]), np.array([0.3, -1.2, 0.7])
    with pm.Model() as model:
        effects = normal_effects("effect", 0.4, 0.9, evidence, None)
    transform, given = model.rvs_to_transforms[effects], effects.owner.inputs
    on_effects = transform.backward(value, *given).eval(mode="FAST_COMPILE")
    step = 1e-6
    above = transform.backward(value + step, *given).eval(mode="FAST_COMPILE")
    below = transform.backward(value - step, *given).eval(mode="FAST_COMPILE")
    expected = norm.logpdf(on_effects, 0.4, 0.9) + np.log((above - below) / (2 * step))
    sampled = model.compile_logp(sum=False, mode="FAST_COMPILE")({"effect_centred__": value})[0]
    np.testing.assert_allclose(sampled, expected, atol=1e-7)
    np.testing.assert_allclose(transform.forward(on_effects, *given).eval(mode="FAST_COMPILE"), value)


def test_labelled_rates_model_matches_scipy_density():
    model, rng = labelled_rates_model(COUNTS), np.random.default_rng(1)
    contrasts = model["contrasts"].eval(mode="FAST_COMPILE")
    points, expected = [], []
    for _ in range(4):
        point = {
            "level_mean": rng.normal(),
            "mean_contrast": rng.normal(size=2),
            "sd_level": rng.uniform(0.1, 2),
            "sd_gap": rng.uniform(0.1, 2),
            "level": rng.normal(size=2),
            "gap_contrast": rng.normal(size=(2, 2)),
        }
        log_odds = point["level"][:, None] + point["gap_contrast"] @ contrasts
        terms = (
            norm.logpdf(point["level_mean"], scale=1.5),
            norm.logpdf(point["mean_contrast"]),
            halfnorm.logpdf(point["sd_level"], scale=1.5),
            expon.logpdf(point["sd_gap"], scale=0.4),
            norm.logpdf(point["level"], point["level_mean"], point["sd_level"]),
            norm.logpdf(point["gap_contrast"], point["mean_contrast"], point["sd_gap"]),
            binom.logpmf(HITS, PEOPLE, expit(log_odds)),
        )
        points.append(point)
        expected.append(sum(map(np.sum, terms)))
    assert differ_by_a_constant(densities(model, points), np.array(expected))


def test_mean_gap_has_unit_prior_sd_and_sums_to_zero():
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        prior = pm.sample_prior_predictive(draws=4000, model=labelled_rates_model(COUNTS), random_seed=1)
    mean_gap = prior["prior"].mean_gap
    assert float(mean_gap.std()) == pytest.approx(1, rel=0.03)
    np.testing.assert_allclose(mean_gap.sum("group"), 0, atol=1e-12)
    assert prior["prior_predictive"].recognised.dims == ("chain", "draw", "class", "group")


def test_share_model_with_writers_matches_scipy_density():
    table = simulated().drop(columns="bias_type")
    model, rng = bb.sentence_pairs.pymc_model(table), np.random.default_rng(1)
    ahead = (table.score_more > table.score_less).groupby(table.writer).agg(["sum", "size"])
    points, expected = [], []
    for _ in range(4):
        logit, sd, effect = rng.normal(), rng.uniform(0.1, 2), rng.normal(size=len(ahead))
        average = np.average(effect, weights=ahead["size"])
        points.append({"average_logit": logit + average, "logit_sd_writer": sd, "writer_effect": effect})
        terms = (
            logistic.logpdf(logit),
            expon.logpdf(sd, scale=0.4),
            norm.logpdf(effect, scale=sd),
            binom.logpmf(ahead["sum"], ahead["size"], expit(logit + effect)),
        )
        expected.append(sum(map(np.sum, terms)))
    assert differ_by_a_constant(densities(model, points), np.array(expected))


def test_priors_are_independent_of_observed_values():
    gaps = bb.tpr_gaps.pymc_model(y=list("aabb"), prediction=list("abbb"), group=list("FMFM"))
    shares = bb.sentence_pairs.pymc_model(simulated(), "share")
    differences = bb.sentence_pairs.pymc_model(simulated(), "difference")
    for model in (gaps, shares, differences):
        observed = {model.rvs_to_values[variable] for variable in model.observed_RVs}
        assert not observed & set(ancestors([*model.free_RVs, *model.deterministics]))
        assert not [name for name in model.named_vars if name.endswith(("_evidence", "_numbers"))]


def test_sentence_pairs_pymc_model_raises_for_unknown_estimand():
    with refused(SentencePairsError, "estimand 'share' 'difference' 'both'"):
        bb.sentence_pairs.pymc_model(simulated(), "both")


def test_hierarchical_density_matches_integrated_published_model():
    """Of each target and connection they are jointly normal with the variance of the target's effect in common."""
    table, rng = random_table(3), np.random.default_rng(1)
    spec, known = bb.load_spec("hierarchical"), hierarchical.data(table)
    with pm.Model(coords={"connection": known.connection.to_numpy()}) as model:
        hierarchical.build(spec, hierarchical.inputs(spec, known), {"connection": known.connection.to_numpy().tolist()})
    points, expected = [], []
    for _ in range(4):
        point = {"connection_mean": rng.normal(0.9, 0.1, known.sizes["connection"])}
        point["connection_sd"], point["residual_sd"] = rng.uniform(0.02, 0.2, (2, known.sizes["connection"]))
        points.append(point)
        expected.append(density_of_priors(spec, point) + density_of_distances(table, known, point))
    assert differ_by_a_constant(densities(model, points), np.array(expected))


def density_of_priors(spec: bb.ModelSpec, point: dict[str, np.ndarray]) -> float:
    total = 0.0
    for name, value in point.items():
        prior = spec.priors[name]
        density = pm.logp(getattr(pm, prior.distribution).dist(**prior.parameters), value)
        total += density.sum().eval(mode="FAST_COMPILE")
    return float(total)


def density_of_distances(table: bb.AssociationTable, known: xr.Dataset, point: dict[str, np.ndarray]) -> float:
    distance, connection = 1 - table.values.to_numpy(), hierarchical._connection_of(known)
    total = 0.0
    for row, row_connection in zip(distance, connection, strict=True):
        for k in np.unique(row_connection):
            values = row[row_connection == k]
            common = point["connection_sd"][k] ** 2 + point["residual_sd"][k] ** 2 * np.eye(len(values))
            total += multivariate_normal.logpdf(values, np.full(len(values), point["connection_mean"][k]), common)
    return total
