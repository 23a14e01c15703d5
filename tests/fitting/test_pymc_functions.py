"""C functions of PyMC models: the draws of nutpie's own compilation, for any data, from code that is kept on disk."""

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import nutpie
import pymc as pm
import pytensor
import pytest

from bayes_bias.errors import OutputError
from bayes_bias.fitting.pymc_functions import PyMCFunctions, compile_pymc_model
from bayes_bias.fitting.sampling import as_on_any_machine

pytestmark = pytest.mark.slow

DATA = {"score": np.array([0.3, 1.2, -0.4, 0.8]), "item_of_score": np.array([0, 1, 1, 2]), "unit": np.array(2.0)}
LONGER = {"score": np.linspace(-1, 2, 9), "item_of_score": np.arange(9) % 3, "unit": np.array(0.5)}


def model_of(data: dict[str, np.ndarray]) -> pm.Model:
    with pm.Model(coords={"item": range(3)}) as model:
        score, item, unit = (pm.Data(name, values) for name, values in data.items())
        sd = pm.HalfNormal("sd", 1)
        effect = pm.Normal("effect", 0, sd, dims="item")
        pm.Deterministic("scaled", effect * unit, dims="item")
        pm.Normal("observed", effect[item] * unit, 1, observed=score)
    return model


def compiled(model: pm.Model, *, freeze: bool = False) -> PyMCFunctions:
    with as_on_any_machine():
        return compile_pymc_model(model, ["sd", "scaled"], freeze=freeze)


def compiled_by_nutpie(model: pm.Model, *, freeze: bool = False) -> Any:
    with as_on_any_machine():
        return nutpie.compile_pymc_model(model, var_names=["sd", "scaled"], freeze_model=freeze)


@pytest.fixture(scope="module")
def functions() -> PyMCFunctions:
    return compiled(model_of(DATA))


def draws_of(model: Any) -> dict[str, np.ndarray]:
    settings = {"draws": 20, "tune": 100, "chains": 4, "seed": 1, "progress_bar": False, "save_warmup": False}
    posterior = nutpie.sample(model, **settings)["posterior"]
    return {name: posterior[name].to_numpy() for name in ("sd", "scaled")}


def test_draws_are_those_of_nutpies_own_compilation(functions):
    by_nutpie = compiled_by_nutpie(model_of(DATA))
    for data in (DATA, LONGER):
        expected = draws_of(by_nutpie.with_data(**data))
        draws = draws_of(functions.with_data(data))
        for name, values in expected.items():
            np.testing.assert_array_equal(draws[name], values)


def test_frozen_model_has_draws_of_nutpies_own_compilation():
    expected = draws_of(compiled_by_nutpie(model_of(DATA), freeze=True))
    frozen = compiled(model_of(DATA), freeze=True)
    assert frozen.data == {}
    for name, values in draws_of(frozen.with_data({})).items():
        np.testing.assert_array_equal(values, expected[name])


def test_equal_model_is_read_from_disk(functions):
    """A compilation of its own, as in another process, compiles neither function."""
    again = compiled(model_of(LONGER))
    assert again.density is not functions.density
    assert again.density.cache_hits == again.parameters.cache_hits == 1


def test_other_model_is_not_read_from_disk(functions):
    """The key depends on the graph of the model and on the types of its data."""
    with model_of(DATA) as wider:
        pm.Potential("wider", -wider["sd"])
    single = model_of({**DATA, "score": DATA["score"].astype(np.float32)})
    expected = draws_of(functions.with_data(DATA))["sd"]
    for model in (wider, single):
        other = compiled(model)
        assert not np.array_equal(draws_of(other.with_data({}))["sd"], expected)


def test_model_compiles_without_cache_of_pytensor(functions):
    with pytensor.config.change_flags(numba__cache=False), warnings.catch_warnings():
        warnings.simplefilter("error")
        uncached = compiled(model_of(DATA))
    assert uncached.density.cache_hits == 0
    expected = draws_of(functions.with_data(DATA))
    np.testing.assert_array_equal(draws_of(uncached.with_data({}))["sd"], expected["sd"])


def test_data_of_other_rank_are_refused(functions):
    with pytest.raises(ValueError, match="score has 2 dims, but is compiled for 1"):
        functions.with_data({"score": np.zeros((2, 2))})


def test_folder_of_compiled_code_that_cannot_be_written_to_is_named(monkeypatch):
    monkeypatch.setattr(pytensor, "config", SimpleNamespace(base_compiledir=Path(__file__) / "no-home"))
    with pytest.raises(OutputError, match=r"no-home.*PYTENSOR_FLAGS"):
        as_on_any_machine()
