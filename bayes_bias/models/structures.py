"""The protocol of a model structure, for all other subpackages, and its four implementations."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import xarray as xr

from bayes_bias.errors import SpecError
from bayes_bias.models.components import CONTROL_RESIDUAL, REPLICATES
from bayes_bias.models.preferences import PREFERENCE, sides_from_vectors
from bayes_bias.models.spec import BY_CLASS, BY_GROUP, FALLBACK, FROM_VECTORS, ModelSpec, load_spec
from bayes_bias.table.association_table import AssociationTable, announce
from bayes_bias.table.labels import SIDES, is_paired
from bayes_bias.table.statistics import controls_vary

if TYPE_CHECKING:
    import pymc as pm


class Structure(Protocol):
    """From a spec and a table to a PyMC model with named coords, and what can be asked of its fits.

    The arrays of `inputs` are ``pymc.Data`` of the model, so that one compiled model serves every list of the same
    shape.
    """

    @property
    def DIMS(self) -> tuple[str, ...]:  # noqa: N802 (constants of the modules that implement this)
        """Dims whose labels the model needs."""

    @property
    def GENERALISES(self) -> bool:  # noqa: N802
        """Return True if targets and attributes are random: only then are there scopes, a noise floor, a verdict."""

    @property
    def COLLAPSED(self) -> bool:  # noqa: N802
        """Whether word effects are integrated out: only then does scaling the likelihood by a power mean much."""

    def data(self, table: AssociationTable) -> xr.Dataset:
        """The table as a dataset, with named dims."""

    def inputs(self, spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
        """Which arrays of that the likelihood reads, by name."""

    def inputs_as_measured(self, spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
        """The same arrays in the units of the table, and the units of the priors."""

    def build(self, spec: ModelSpec, inputs: Mapping[str, Any], coords: Mapping[str, list[str]]) -> None:
        """Adds its variables to the PyMC model at hand, of `inputs` as arrays or as ``pymc.Data``."""

    def complete(
        self, spec: ModelSpec, posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator
    ) -> xr.Dataset:
        """The posterior in the units of the table, with what the model integrated out and a fit is to keep."""

    def given_draws(
        self, posterior: xr.Dataset, data: xr.Dataset, target: xr.DataArray, attribute: xr.DataArray
    ) -> tuple[Any, tuple[Any, ...]]:
        """SciPy's distribution of single values given draws, word effects included, and its parameters.

        `target` and `attribute` are positions along ``pair``.
        """


# The module of each: most need PyMC, and the default does not.
_MODULES: Mapping[tuple[str, str | None], str] = MappingProxyType(
    {
        ("crossed", "collapsed"): "crossed",
        ("crossed", "long"): "crossed_long",
        ("hierarchical", None): "hierarchical",
        ("custom", None): "custom",
    }
)


def structure_of(spec: ModelSpec) -> Structure:
    """The implementation that a spec names.

    Raises
    ------
    SpecError
        If the model is not one of targets and attributes.
    """
    module = _MODULES.get((spec.structure, spec.options.get("likelihood")))
    if module is None:
        raise SpecError(
            f"`model` '{spec.name}' is a model of sentence pairs, not of targets and attributes. Use it with"
            " `bayes_bias.sentence_pairs.estimate`, and 'crossed' here."
        )
    structure: Structure = import_module(f"bayes_bias.models.{module}")
    return structure


def generalising_spec(model: str | Path | ModelSpec, what: str) -> ModelSpec:
    """Return a model by its name, path or spec. Refuse it if its structure does not generalise over words.

    Raises
    ------
    SpecError
    """
    spec = load_spec(model)
    if not structure_of(spec).GENERALISES:
        raise SpecError(
            f"`model` '{spec.name}' is {spec.structure} and has neither scopes nor a noise floor, which"
            f" {what} requires. Use a crossed model here, or `fit` and `summarize` for this model."
        )
    return spec


def modelled(table: AssociationTable, spec: ModelSpec, *, in_full: bool = False) -> tuple[AssociationTable, ModelSpec]:
    """The table as a model sees it, and the model as the table allows it, each with a notice if it differs.

    Replicates are averaged if the spec says nothing of them, or they are all the same. Fits know replicates in the
    collapsed likelihood alone, PyMC models `in_full` in both. Groups share their scales if targets of two groups are
    paired, because what the two words of a pair share belongs to neither group. Preferences have an exponential prior
    if no vectors tell another one.
    """
    if spec.options.get("scales") == BY_GROUP and "target_pair" in table.labels:
        spec = spec.with_option("scales", BY_CLASS)
        table = _noted(table, "targets of two groups are paired, and groups share their standard deviations")
    for side, parameter in PREFERENCE.items():
        # Vectors must tell how much the preferences of each group (class) vary, and the model keep them apart.
        apart = (BY_GROUP,) if side == "target" else (BY_GROUP, BY_CLASS)
        expected = table.values.coords.get(f"{side}_preference_sd")
        tells = expected is not None and np.isfinite(expected).all() and not is_paired(table.values, side)
        if parameter in spec.priors and not (tells and spec.options.get("scales") in apart):
            spec = without_vectors(spec, parameter)
    replicates = table.replicates
    if replicates is not None:
        if not set(REPLICATES) <= set(spec.priors) or not (structure_of(spec).COLLAPSED or in_full):
            reason = f"the model '{spec.name}' has no effects of replicates, and is fitted to their mean"
            table = mean_of_replicates(table, reason)
        elif replicates.are_equal:
            table = mean_of_replicates(table, "all replicates have the same values and are treated as one")
    return table, spec


def resolved(spec: ModelSpec, data: xr.Dataset) -> ModelSpec:
    """Return the spec as the data allow it.

    Preferences of which the data do not know what vectors tell have an exponential prior. Control classes whose pairs
    do not vary have no residual of their own.
    """
    if CONTROL_RESIDUAL in spec.priors and data.sizes.get("control") and not controls_vary(data):
        spec = spec.without_prior(CONTROL_RESIDUAL)
    from_vectors = sides_from_vectors(spec, data)
    for side in SIDES:
        if PREFERENCE[side] in spec.priors and side not in from_vectors:
            spec = without_vectors(spec, PREFERENCE[side])
    return spec


def without_vectors(spec: ModelSpec, parameter: str) -> ModelSpec:
    """Return the spec with the exponential prior of a preference in place of the prior from vectors."""
    prior = spec.priors[parameter]
    if prior.distribution != FROM_VECTORS:
        return spec
    return spec.with_prior(parameter, FALLBACK, **{name: float(value) for name, value in prior.parameters.items()})


def mean_of_replicates(table: AssociationTable, reason: str) -> AssociationTable:
    """The mean of a table's replicates, with a notice that says why."""
    return _noted(replace(table, replicates=None), reason)


def independent(table: AssociationTable, reason: str) -> AssociationTable:
    """The table with words as independent draws, with a notice that says why."""
    consequence = "words are treated as independent, although the vectors show that some are related"
    return _noted(table.with_related_words({}), f"{reason}: {consequence}")


def _noted(table: AssociationTable, reason: str) -> AssociationTable:
    """The table with a notice."""
    return replace(table, notices=(*table.notices, *announce((f"{table.name}: {reason}",))))


def model_coords(spec: ModelSpec, data: xr.Dataset) -> dict[str, list[str]]:
    """The labels of the model's dims."""
    return {dim: data[dim].to_numpy().tolist() for dim in structure_of(spec).DIMS if dim in data.coords}


def build_model(spec: ModelSpec, data: xr.Dataset) -> "pm.Model":
    """The PyMC model of this spec for any data of this shape."""
    import pymc as pm

    spec = resolved(spec, data)
    structure, coords = structure_of(spec), model_coords(spec, data)
    with pm.Model(coords=coords) as model:
        inputs: dict[str, Any] = dict(structure.inputs(spec, data))
        for name, array in inputs.items():
            # Transforms are no part of the graph, and keep theirs as numbers.
            if not name.endswith(("_averaging", "_evidence")):
                inputs[name] = pm.Data(name, array)
        structure.build(spec, inputs, coords)
    return model
