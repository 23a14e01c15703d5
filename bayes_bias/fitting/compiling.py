"""Compile PyMC models with nutpie, and choose the models of tables that need no PyMC."""

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import xarray as xr
from numpy.typing import NDArray

from bayes_bias.fitting.collapsed_density import CollapsedModel, knows
from bayes_bias.fitting.nutpie_door import nutpie
from bayes_bias.models import crossed
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import build_model, model_coords, resolved, structure_of

if TYPE_CHECKING:
    import pymc as pm

type Inputs = Mapping[str, NDArray[Any]]

type Dims = Mapping[str, tuple[str, ...]]
type _Compiled = tuple[Any, Dims]

_compiled: dict[Hashable, _Compiled] = {}


class ToSample(Protocol):
    """A model with its data."""

    @property
    def dims(self) -> Dims:
        """The dims of each variable whose draws are stored."""

    @property
    def coords(self) -> Mapping[str, list[Any]]:
        """Labels of dims."""

    @property
    def adaptation(self) -> str:
        """The method by which `nutpie.sample` adapts its mass matrix."""

    def compiled(self) -> Any:
        """Return the compiled model for `nutpie.sample`."""


@dataclass(frozen=True, eq=False)
class PyMCModel:
    """A PyMC model with its data, compiled by nutpie.

    Attributes
    ----------
    build : callable
        Function that creates the model.
    coords : mapping of str to list
        Labels of dims.
    key : hashable, optional
        Everything that the compiled code depends on, including shapes of parameters. Set a key if you sample the models
        of many tables, because models with equal keys are compiled once per process. Without a key, data are constants,
        which shortens the compilation.
    inputs : mapping of str to array
        The values of the model's ``pymc.Data``, for a model with a key.
    whole : bool
        Whether to store draws of the standard normal variables of effects, whose names end in ``_z``. PyMC needs these
        variables to draw from a posterior.
    adaptation : str
        Method by which `nutpie.sample` adapts its mass matrix.
    """

    build: "Callable[[], pm.Model]"
    coords: Mapping[str, list[Any]]
    key: Hashable = None
    inputs: Inputs = MappingProxyType({})
    whole: bool = False
    adaptation: str = "diag"

    @cached_property
    def _made(self) -> _Compiled:
        if self.key is None:
            return self._compile()
        if self.key not in _compiled:
            _compiled[self.key] = self._compile()
        return _compiled[self.key]

    @property
    def dims(self) -> Dims:
        """The dims of each variable whose draws are stored."""
        return self._made[1]

    def compiled(self) -> Any:
        """Return the compiled model for `nutpie.sample`."""
        compiled, _ = self._made
        names = {variable.name for variable in compiled.shared_var_keys}
        return compiled.with_data(**{name: values for name, values in self.inputs.items() if name in names})

    def _compile(self) -> _Compiled:
        model = self.build()
        dims: dict[str, tuple[str, ...]] = {}
        for variable in (*model.free_RVs, *model.deterministics):
            name = variable.name
            if self.whole or not name.endswith("_z"):
                # PyMC's names for dims without a name.
                unnamed = [f"{name}_dim_{axis}" for axis in range(variable.ndim)]
                dims[name] = tuple(model.named_vars_to_dims.get(name) or unnamed)
        with as_on_any_machine():
            return nutpie.compile_pymc_model(model, var_names=list(dims), freeze_model=self.key is None), dims


def as_on_any_machine() -> AbstractContextManager[None]:
    """Return a context in which PyTensor compiles sums in a fixed order, and keeps source files with the compiled code.

    With fast maths, the compiler may reorder sums, and newly compiled code may differ from code in PyTensor's cache, so
    the first fit on a machine would have other draws than later fits. By default, PyTensor 3.3.0 and earlier leave
    source files in the temporary folder.
    """
    import pytensor

    config = pytensor.config
    sources = {}
    if hasattr(config, "generated_src_dir"):
        sources["generated_src_dir"] = config.generated_src_dir or str(Path(config.base_compiledir) / "generated")
    flags: AbstractContextManager[None] = config.change_flags(numba__fastmath=False, **sources)
    return flags


def model_of_table(spec: ModelSpec, data: xr.Dataset) -> ToSample:
    """Return the model of a spec with the data of a table."""
    spec, structure = resolved(spec, data), structure_of(spec)
    if structure is crossed and knows(spec.priors.values()):
        return CollapsedModel.of(spec, data)
    coords = model_coords(spec, data)
    if structure.COLLAPSED or not structure.GENERALISES:  # cached, because hundreds of random lists are fitted
        inputs = structure.inputs(spec, data)
        lengths = tuple((dim, len(labels)) for dim, labels in coords.items())
        key = (spec.sha256, *((name, values.ndim) for name, values in inputs.items()), lengths)
        return PyMCModel(lambda: build_model(spec, data), coords, key, inputs)
    return PyMCModel(lambda: build_model(spec, data), coords, adaptation=adaptation_for(data))


def adaptation_for(data: xr.Dataset) -> str:
    """Return the adaptation method for a model with explicit word effects.

    Because block means and effects are correlated, the result is a low-rank mass matrix. The exception is a table with
    control classes, for which this matrix would take seven times as long and result in fewer effective draws.
    """
    return "diag" if data.sizes["control"] else "low_rank"
