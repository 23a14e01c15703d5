"""The robust model: a Student-t residual, whose standard deviation is what everything downstream reads."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from bayes_bias import AssociationTable, Sampling, fit, summarize
from bayes_bias.models.spec import load_spec
from bayes_bias.models.structures import build_model, structure_of
from tests.helpers import SHORT


@pytest.fixture(scope="module")
def spoilt(small_table: AssociationTable) -> AssociationTable:
    """One odd cosine: the first man's with the first word of work."""
    values = small_table.values.copy()
    values[0, 0] = 0.95
    return replace(small_table, values=values)


@pytest.mark.parametrize("nu", [2.5, 8.0, 1e6])
def test_robust_residual_matches_student_t(small_table, nu):
    data = structure_of(load_spec("robust")).data(small_table)
    model = build_model(load_spec("robust"), data)
    read = (model["mean"], model["target_effect"], model["attribute_effect"])
    sds = (model["sd_residual"], model["sd_residual_control"])
    values = model.compile_fn(
        model.replace_rvs_by_values([*model.logp([model["association"]], sum=False), *read, *sds]),
        inputs=model.value_vars,
        on_unused_input="ignore",
        mode="FAST_COMPILE",
    )
    rng = np.random.default_rng(1)
    point = {name: rng.normal(0, 0.3, np.shape(value)) for name, value in model.initial_point().items()}
    density, mean, target_part, attribute_part, *sds = values(point | {"nu_interval__": np.log(nu - 2)})
    i, j = data.pair_target.to_numpy(), data.pair_attribute.to_numpy()
    g, c = small_table.group_index[i], small_table.class_index[j]
    sd = np.where(c < 2, *sds)
    residual = t(nu, scale=sd / t(nu).std())
    value = structure_of(load_spec("robust")).inputs(load_spec("robust"), data)["values"]
    missed = value - mean[g, c] - target_part[c, i] - attribute_part[g, j]
    assert residual.std() == pytest.approx(sd)
    assert density == pytest.approx(residual.logpdf(missed))


@pytest.mark.slow
@pytest.mark.thorough
def test_robust_model_reduces_effect_of_outlier(small_fit, spoilt):
    word = ("target_bias", "men 0")
    few = Sampling(draws=250, tune=400, chains=2)
    clean = summarize(small_fit).loc[word, "mean"]
    normal = summarize(fit(spoilt, seed=1, sampling=SHORT)).loc[word, "mean"]
    robust = summarize(fit(spoilt, "robust", seed=1, sampling=few)).loc[word, "mean"]
    assert abs(robust - clean) < abs(normal - clean) / 3
