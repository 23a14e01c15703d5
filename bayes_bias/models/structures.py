"""The interface through which other subpackages use a model, and its four implementations."""

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
from bayes_bias.table.labels import SIDES, Side, is_paired
from bayes_bias.table.statistics import controls_vary

if TYPE_CHECKING:
    import pymc as pm


class Structure(Protocol):
    """The interface of a model structure, which creates a PyMC model from a spec and a table, and interprets its fits.

    The arrays of `inputs` are ``pymc.Data`` of the model, so one compiled model can be used for all lists of the same
    shape.
    """

    @property
    def DIMS(self) -> tuple[str, ...]:  # noqa: N802 (constants of the modules that implement this)
        """Dims whose labels the model needs."""

    @property
    def GENERALISES(self) -> bool:  # noqa: N802
        """Return True if targets and attributes are random. Scopes, noise floors, and verdicts require this."""

    @property
    def COLLAPSED(self) -> bool:  # noqa: N802
        """Return True if word effects are integrated out. Power-scaling of the likelihood is meaningful only in this
        case.
        """

    def data(self, table: AssociationTable) -> xr.Dataset:
        """Return the table as a dataset with named dims."""

    def inputs(self, spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
        """Return the arrays that the likelihood reads, by name."""

    def inputs_as_measured(self, spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
        """Return the arrays of `inputs` in the units of the table, and the units of the priors."""

    def build(self, spec: ModelSpec, inputs: Mapping[str, Any], coords: Mapping[str, list[str]]) -> None:
        """Add the variables to the current PyMC model. `inputs` contains arrays or ``pymc.Data``."""

    def complete(
        self, spec: ModelSpec, posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator
    ) -> xr.Dataset:
        """Return the posterior in the units of the table, including integrated-out quantities that a fit stores."""

    def given_draws(
        self, posterior: xr.Dataset, data: xr.Dataset, target: xr.DataArray, attribute: xr.DataArray
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return SciPy's distribution of single values given draws, including word effects, and its parameters.

        `target` and `attribute` are positions along ``pair``.
        """


# The module of each structure. Most require PyMC, but the default does not.
_MODULES: Mapping[tuple[str, str | None], str] = MappingProxyType(
    {
        ("crossed", "collapsed"): "crossed",
        ("crossed", "long"): "crossed_long",
        ("hierarchical", None): "hierarchical",
        ("custom", None): "custom",
    }
)


def structure_of(spec: ModelSpec) -> Structure:
    """Return the implementation of the structure in a spec.

    Raises
    ------
    SpecError
        If the model is not a model of targets and attributes.
    """
    module = _MODULES.get((spec.structure, spec.options.get("likelihood")))
    if module is None:
        raise SpecError(
            f"`model` '{spec.name}' is a model of sentence pairs, not of targets and attributes. Use it with"
            " `bayes_bias.sentence_pairs.estimate`, and 'crossed' here."
        )
    structure: Structure = import_module(f"bayes_bias.models.{module}")
    return structure


def is_built_in_pymc(spec: ModelSpec) -> bool:
    """Return True if the sampler gets a PyMC model.

    The exception is the collapsed crossed model, whose density is a function that Numba compiles, unless a prior has a
    density that this function lacks.
    """
    module = _MODULES.get((spec.structure, spec.options.get("likelihood")))
    has_density = all(prior.terms is not None or prior.distribution == FROM_VECTORS for prior in spec.priors.values())
    return module != "crossed" or not has_density


def generalising_spec(model: str | Path | ModelSpec, what: str) -> ModelSpec:
    """Return a model by its name, path, or spec. Raise an error if its structure does not generalise over words.

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
    """Adapt a table and a model to each other, and log a notice of each change.

    Replicates are averaged if the spec has no priors for them, or if they are all equal. Fits support replicates only
    with the collapsed likelihood, and PyMC models `in_full` with both likelihoods. Groups share their scales if targets
    of two groups are paired, because the effect that two paired words share belongs to neither group. Preferences have
    an exponential prior if there is no prior from vectors.
    """
    if spec.options.get("scales") == BY_GROUP and "target_pair" in table.labels:
        spec = spec.with_option("scales", BY_CLASS)
        table = _noted(table, "targets of two groups are paired, and groups share their standard deviations")
    for side, parameter in PREFERENCE.items():
        if parameter in spec.priors and not _suits_prior_from_vectors(table, spec, side):
            spec = without_vectors(spec, parameter)
    replicates = table.replicates
    if replicates is not None:
        has_priors = set(REPLICATES) <= set(spec.priors)
        if not has_priors or not (structure_of(spec).COLLAPSED or in_full):
            reason = f"the model '{spec.name}' has no effects of replicates, and is fitted to their mean"
            table = mean_of_replicates(table, reason)
        elif replicates.are_equal:
            table = mean_of_replicates(table, "all replicates have the same values and are treated as one")
    return table, spec


def _suits_prior_from_vectors(table: AssociationTable, spec: ModelSpec, side: Side) -> bool:
    """Return True if preferences of a side can have a prior from vectors.

    Vectors must provide the expected standard deviation of preferences for each group (class), each group (class) must
    have its own scale in the model, and words must not be paired.
    """
    have_own_scales = spec.options.get("scales") in ((BY_GROUP,) if side == "target" else (BY_GROUP, BY_CLASS))
    expected = table.values.coords.get(f"{side}_preference_sd")
    is_known = expected is not None and bool(np.isfinite(expected).all())
    return have_own_scales and is_known and not is_paired(table.values, side)


def resolved(spec: ModelSpec, data: xr.Dataset) -> ModelSpec:
    """Return the spec as the data allow it.

    Preferences without information from vectors have an exponential prior. Control classes whose pairs do not vary have
    no separate residual.
    """
    if CONTROL_RESIDUAL in spec.priors and data.sizes.get("control") and not controls_vary(data):
        spec = spec.without_prior(CONTROL_RESIDUAL)
    from_vectors = sides_from_vectors(spec, data)
    for side in SIDES:
        if PREFERENCE[side] in spec.priors and side not in from_vectors:
            spec = without_vectors(spec, PREFERENCE[side])
    return spec


def without_vectors(spec: ModelSpec, parameter: str) -> ModelSpec:
    """Return the spec with an exponential prior of preferences instead of the prior from vectors."""
    prior = spec.priors[parameter]
    if prior.distribution != FROM_VECTORS:
        return spec
    return spec.with_prior(parameter, FALLBACK, lam=float(prior.parameters["lam"]))


def mean_of_replicates(table: AssociationTable, reason: str) -> AssociationTable:
    """Return the mean over the replicates of a table, with a notice that explains the reason."""
    return _noted(replace(table, replicates=None), reason)


def independent(table: AssociationTable, reason: str) -> AssociationTable:
    """Return the table with words treated as independent, with a notice that explains the reason."""
    consequence = "words are treated as independent, although the vectors show that some are related"
    return _noted(table.with_related_words({}), f"{reason}: {consequence}")


def _noted(table: AssociationTable, reason: str) -> AssociationTable:
    """Return the table with an additional notice."""
    return replace(table, notices=(*table.notices, *announce((f"{table.name}: {reason}",))))


def model_coords(spec: ModelSpec, data: xr.Dataset) -> dict[str, list[str]]:
    """Return the labels of the dims of the model."""
    return {dim: data[dim].to_numpy().tolist() for dim in structure_of(spec).DIMS if dim in data.coords}


def build_model(spec: ModelSpec, data: xr.Dataset) -> "pm.Model":
    """Return the PyMC model of this spec for data of this shape.

    The arrays of the table are ``pm.Data``, so that the compiled model can be used for other tables of this shape.
    """
    import pymc as pm

    spec = resolved(spec, data)
    structure = structure_of(spec)
    coords = model_coords(spec, data)
    with pm.Model(coords=coords) as model:
        inputs: dict[str, Any] = dict(structure.inputs(spec, data))
        for name, array in inputs.items():
            # Transforms are not part of the graph and store their constants as numbers.
            if not name.endswith(("_averaging", "_evidence")):
                inputs[name] = pm.Data(name, array)
        structure.build(spec, inputs, coords)
    return model
