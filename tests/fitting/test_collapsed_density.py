"""The density in Numba is that of the PyMC model, with its gradient, on every design."""

import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
import xarray as xr
from packaging.requirements import Requirement
from packaging.version import Version

from bayes_bias import AssociationTable, load_spec
from bayes_bias.fitting import collapsed_density, nutpie_door, sampling
from bayes_bias.fitting.collapsed_density import CollapsedModel, log_density, parameters_at
from bayes_bias.fitting.power_scaling import log_prior
from bayes_bias.models.families import POSITIVE
from bayes_bias.models.priors import unnamed
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.models.structures import build_model, modelled, structure_of
from tests.helpers import PLAIN, random_table
from tests.models.test_clusters import ATTRIBUTE_PAIRS, ATTRIBUTE_TOPICS, TARGET_PAIRS, TARGET_TOPICS, clustered_table
from tests.models.test_covariates import covariates
from tests.models.test_related_words import RELATED
from tests.models.test_replicates import replicated_table

DESIGNS: dict[str, Callable[[], AssociationTable]] = {
    "controls": random_table,
    "three groups": lambda: random_table(targets=dict.fromkeys("abc", 2), attributes=dict.fromkeys("vwxyz", 2)),
    "one group": lambda: random_table(targets={"a": 4}, attributes={"v": 3, "w": 4}, opposites=("w",)),
    "sub-topics": lambda: clustered_table(1, controls=3, topics=TARGET_TOPICS | ATTRIBUTE_TOPICS),
    "pairs": lambda: clustered_table(1, pairs=TARGET_PAIRS, topics=ATTRIBUTE_TOPICS),
    "related words": lambda: random_table(3).with_related_words(RELATED),
    "covariates": lambda: covariates(random_table(3), ("target", "attribute")),
    "covariates of related words": lambda: covariates(random_table(3).with_related_words(RELATED), ("target",)),
    "replicates": lambda: replicated_table(1, [2, 3], [3, 2], 2, 3),
    "replicates, one group": lambda: replicated_table(1, [3], [3, 2], 0, 2),
}
PARAMETERS = {
    "HalfNormal": (1.3,),
    "HalfStudentT": (3.0, 0.7),
    "HalfCauchy": (0.6,),
    "Exponential": (2.5,),
    "Gamma": (2.0, 3.0),
    "InverseGamma": (3.0, 0.8),
    "LogNormal": (-0.5, 0.6),
    "Weibull": (1.7, 0.8),
}


def of_table(table: AssociationTable, spec: ModelSpec) -> tuple[CollapsedModel, pm.Model, xr.Dataset]:
    table, spec = modelled(table, spec)
    data = structure_of(spec).data(table)
    model = sampling.model_of_table(spec, data)
    assert isinstance(model, CollapsedModel)
    return model, build_model(spec, data), data


def at(point: np.ndarray, model: CollapsedModel) -> tuple[float, np.ndarray]:
    gradient = np.empty(len(point))
    return log_density(point, gradient, model.data), gradient


def agree(model: CollapsedModel, written: pm.Model, rng: np.random.Generator, *, slopes: bool = True) -> None:
    """Differences of the density to 1e-8 of its size, and each entry of the gradient to 1e-8 of the largest; without
    `slopes`, whose graph takes as long again, to what differences of the density say.

    Inflations by related words are variables of PyMC's model alone, on which its likelihood does not depend.
    """
    inflations = [rv for rv in written.free_RVs if rv.name.endswith("_inflation_factor")]
    compared = [rv for rv in (*written.free_RVs, *written.observed_RVs) if rv not in inflations]
    total = pt.concatenate([term.ravel() for term in written.logp(vars=compared, sum=False)]).sum()
    values = {rv.name: written.rvs_to_values[rv] for rv in written.free_RVs if rv not in inflations}
    of_each = pt.grad(total, list(values.values())) if slopes else []
    both = written.compile_fn([total, *of_each], mode=PLAIN, on_unused_input="ignore")
    names = [name for name in model.shapes if f"sd_{name.removesuffix('_variance')}" not in model.shapes]
    ours, theirs = [], []
    for _ in range(3):
        point, end = rng.uniform(0.3, 3, len(model.start)) * rng.choice([-1, 1], len(model.start)), 0
        point = np.where(model.arrays.scales["unit"] > 0, point, 0.3 * point)
        is_variance = model.arrays.scales["df"] > 0
        point[is_variance] = model.start[is_variance] + 0.5 * point[is_variance]
        given = {}
        for name in names:
            begin, end = end, end + int(np.prod(model.shapes[name]))
            sampled = name.removeprefix("sd_") + "_variance_relative"
            given[sampled if sampled in values else name] = slice(begin, end), model.shapes[name]
        point_of = {values[name].name: point[where].reshape(shape) for name, (where, shape) in given.items()}
        density, *gradients = both(point_of)
        value, gradient = at(point, model)
        if slopes:
            expected = np.empty(len(point))
            for name, each in zip(values, gradients, strict=True):
                expected[given[name][0]] = each.ravel()
            assert (abs(gradient - expected) <= 1e-8 * abs(expected).max()).all()
        else:
            assert_gradient_is_that_of_differences(model, point, gradient)
        ours.append(value)
        theirs.append(float(density))
    assert np.ptp(np.subtract(ours, theirs)) <= 1e-8 * max(1.0, *np.abs(theirs))


def assert_gradient_is_that_of_differences(model: CollapsedModel, point: np.ndarray, gradient: np.ndarray) -> None:
    for k, step in enumerate(1e-5 * np.eye(len(point))):
        slope = (at(point + step, model)[0] - at(point - step, model)[0]) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("scales", ["by group and class", "by class", "common"])
@pytest.mark.parametrize("design", DESIGNS)
def test_density_and_gradient_match_pymc_model(design, scales):
    model, written, _ = of_table(DESIGNS[design](), load_spec("crossed").with_option("scales", scales))
    agree(model, written, np.random.default_rng(1), slopes=scales == "by group and class")


def test_factor_multiplies_variances_of_groups_and_associated_classes_only():
    model = of_table(DESIGNS["related words"](), load_spec("crossed"))[0]
    ends = np.cumsum([int(np.prod(shape)) for shape in model.shapes.values()])
    end_of = dict(zip(model.shapes, ends.tolist(), strict=True))
    variances = []
    for log_factor in (0.0, 1.5):
        point, parameters = model.start.copy(), np.empty(ends[-1])
        for side in ("target", "attribute"):
            point[end_of[f"{side}_preference_factor"] - 1] = log_factor
        parameters_at(point, parameters, model.data)
        variances.append(parameters[len(point) :])
    ratio_of_groups, ratios_of_classes = 2 * [np.exp(1.5)], [np.exp(1.5), np.exp(1.5), 1.0]  # the last is a control
    np.testing.assert_allclose(variances[1] / variances[0], [*ratio_of_groups, *ratios_of_classes], rtol=1e-12)


@pytest.mark.parametrize("unit", ["own within-block sd", "within-block sd", "as measured"])
def test_density_in_each_prior_unit_matches_pymc_model(unit, small_table):
    model, written, _ = of_table(small_table, load_spec("crossed").with_option("unit", unit))
    agree(model, written, np.random.default_rng(2))


def test_density_of_paired_attributes_matches_pymc_model():
    spec = load_spec("crossed").with_option("scales", "common")
    model, written, _ = of_table(clustered_table(1, pairs=ATTRIBUTE_PAIRS, topics=TARGET_TOPICS), spec)
    agree(model, written, np.random.default_rng(3))


@pytest.mark.parametrize("family", POSITIVE)
def test_density_of_each_prior_family_matches_pymc(family, small_table):
    given = dict(zip(POSITIVE[family].parameters, PARAMETERS[family], strict=True))
    spec = load_spec("crossed").with_prior("sd_attribute_preference", family, **given)
    spec = spec.with_prior("sd_residual", family, **given)
    agree(*of_table(small_table, spec)[:2], np.random.default_rng(4))
    scales = np.array([[0.1, 0.5], [1.0, 4.0]])
    expected = pm.logp(unnamed(Prior(family, given)), scales).eval(mode="FAST_COMPILE")
    np.testing.assert_allclose(log_prior(Prior(family, given), scales), expected, atol=1e-12)


def test_model_of_table_returns_pymc_model_for_other_prior_family(small_table):
    spec = load_spec("crossed").with_prior("sd_residual", "Rice", nu=1.0, sigma=2.0)
    model = sampling.model_of_table(spec, structure_of(spec).data(modelled(small_table, spec)[0]))
    assert isinstance(model, sampling.PyMCModel)


def test_gradient_equals_finite_differences_near_zero(small_table):
    model = of_table(small_table, load_spec("crossed"))[0]
    point = np.random.default_rng(5).normal(0, 0.3, len(model.start))
    assert_gradient_is_that_of_differences(model, point, at(point, model)[1])


def test_compiled_functions_match_density_and_reject_impossible_points(small_table):
    model = of_table(small_table, load_spec("crossed"))[0]
    compiled = model.compiled()
    density, expand = compiled.compiled_logp_func.ctypes, compiled.compiled_expand_func.ctypes
    point, gradient, value, scales = compiled.initial_point_func(1), *(np.empty(len(model.start)) for _ in range(3))

    def memory(function, **arrays):
        return [array.ctypes.data_as(function.argtypes[int(k[1:])]) for k, array in arrays.items()]

    given = memory(density, _1=point, _2=gradient, _3=value, _4=model.data)
    assert density(len(point), *given) == 0
    expected, slopes = at(point, model)
    assert value[0] == expected
    assert (gradient == slopes).all()
    assert expand(len(point), len(point), *memory(expand, _2=point, _3=scales, _4=model.data)) == 0
    found = np.empty(len(point))
    parameters_at(point, found, model.data)
    assert (scales == found).all()
    for impossible in (np.nan, 1e200, -1e200):
        point[:] = impossible
        assert density(len(point), *given) > 0


def test_log_density_is_compiled_once_for_all_tables(small_table):
    """Data are read from memory: what was compiled for one table serves all."""
    model, second = (
        of_table(table, load_spec("crossed"))[0] for table in (small_table, replicated_table(1, [3], [3, 2], 0, 2))
    )
    at(model.start, model)
    before = len(log_density.signatures)
    at(second.start, second)
    assert len(log_density.signatures) == before


def test_nutpie_has_undocumented_fields():
    fields = nutpie_door.CompiledPyMCModel.__dataclass_fields__
    assert {"compiled_logp_func", "compiled_expand_func", "initial_point_func", "user_data"} <= set(fields), (
        "nutpie's class for compiled PyMC models has other fields: `nutpie_door.of_c_functions` must follow"
    )


def test_requirements_exclude_next_series_of_nutpie():
    """Its own requirements, and how it imports ArviZ, may be others."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sampling = project["optional-dependencies"]["sampling"]
    (allowed,) = [Requirement(requirement) for requirement in sampling if requirement.startswith("nutpie")]
    installed = Version(version("nutpie"))
    assert installed in allowed.specifier
    assert Version(f"{installed.major}.{installed.minor + 1}") not in allowed.specifier


NUTPIE_THAT_USES_ARVIZ = """
import importlib.abc, importlib.util, sys

class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self, is_package=True) if name.startswith("nutpie") else None

    def exec_module(self, module):
        exec(code, vars(module))

code = "{use}; class CompiledPyMCModel: pass".replace("; ", chr(10))
sys.meta_path.insert(0, Finder())
import bayes_bias.fitting.nutpie_door
import arviz
assert arviz.__file__, "a real module"
"""


@pytest.mark.parametrize("use", ["import arviz; arviz.summary", "from arviz import summary", "import arviz"])
def test_nutpie_imports_arviz_without_recursion(use, tmp_path):
    """A release of nutpie that takes something of ArviZ at once gets the real one, and no RecursionError.

    The folder has a module of this name, because ArviZ itself takes seconds to import.
    """
    (tmp_path / "arviz.py").write_text("summary = 1")
    program = NUTPIE_THAT_USES_ARVIZ.format(use=use)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


ARVIZ_WITHOUT_STACK = """
import inspect, sys
inspect.stack = lambda: sys.exit("the stack is inspected")
import bayes_bias.fitting.nutpie_door
assert "arviz_base" in sys.modules
later = bayes_bias.fitting.nutpie_door._Later
assert not any(isinstance(sys.modules.get(name), later) for name in ("jax", "numpyro"))
"""


def test_arviz_is_imported_without_inspecting_the_stack():
    ran = subprocess.run([sys.executable, "-c", ARVIZ_WITHOUT_STACK], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_cached_on_disk_compiles_without_cache_folder():
    def decorator(*, cache):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    assert collapsed_density._cached_on_disk(decorator)(len) is len


def test_collapsed_model_data_are_equal_in_other_units(small_table):
    spec = load_spec("crossed")
    first, second = (
        of_table(table, spec)[0] for table in (small_table, replace(small_table, values=8 * small_table.values))
    )
    np.testing.assert_array_equal(first.data, second.data)
