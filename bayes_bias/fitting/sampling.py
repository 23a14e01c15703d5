"""Compile models of tables for nutpie, and sample their posteriors."""

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.arguments import is_between, keep_whole
from bayes_bias.errors import OutputError, SpecError
from bayes_bias.fitting.collapsed_density import CollapsedModel
from bayes_bias.fitting.nutpie_door import make_attrs, nutpie, pyarrow
from bayes_bias.jobs import one_blas_thread
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import build_model, is_built_in_pymc, model_coords, resolved, structure_of
from bayes_bias.progress import current, step

if TYPE_CHECKING:
    import pymc as pm


type Inputs = Mapping[str, NDArray[Any]]
type Dims = Mapping[str, tuple[str, ...]]
type _Compiled = tuple[Any, Dims]

_compiled: dict[Hashable, _Compiled] = {}

SAMPLE = ("chain", "draw")
_DIMS = (*SAMPLE, "group", "attribute_class", "control", "connection", "replicate", "target", "attribute")
_LAST = ("preferred_group", "associated_class")
# ArviZ's names for nutpie's statistics.
STATISTICS = {
    "logp": "lp",
    "depth": "tree_depth",
    "maxdepth_reached": "reached_max_treedepth",
    "mean_tree_accept": "acceptance_rate",
}


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
    """A PyMC model with its data, compiled for nutpie.

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
    def _compiled_with_dims(self) -> _Compiled:
        """The compiled model, from the cache of this process if the model has a key, and the dims of its variables."""
        if self.key is None:
            return self._compile()
        if self.key not in _compiled:
            _compiled[self.key] = self._compile()
        return _compiled[self.key]

    @property
    def dims(self) -> Dims:
        """The dims of each variable whose draws are stored."""
        return self._compiled_with_dims[1]

    def compiled(self) -> Any:
        """Return the compiled model for `nutpie.sample`."""
        functions, _ = self._compiled_with_dims
        return functions.with_data(self.inputs)

    def _compile(self) -> _Compiled:
        """Compile the model, and return it with the dims of the variables whose draws are stored.

        Standardised variables, whose names end in ``_z``, are stored only if the `whole` model is. Dims without a name
        have the names that PyMC would use.
        """
        model = self.build()
        dims: dict[str, tuple[str, ...]] = {}
        for variable in (*model.free_RVs, *model.deterministics):
            name = variable.name
            if self.whole or not name.endswith("_z"):
                unnamed = [f"{name}_dim_{axis}" for axis in range(variable.ndim)]
                dims[name] = tuple(model.named_vars_to_dims.get(name) or unnamed)
        with as_on_any_machine():
            # PyMC takes a second to import, and PyTensor creates its folder of compiled code when it is imported.
            from bayes_bias.fitting.pymc_functions import compile_pymc_model

            return compile_pymc_model(model, list(dims), freeze=self.key is None), dims


def key_of(spec: ModelSpec, inputs: Inputs, coords: Mapping[str, Sequence[Any]], *others: Hashable) -> Hashable:
    """Return the key of a `PyMCModel` whose compiled code is for any data of these types and lengths of dims.

    Parameters
    ----------
    spec : ModelSpec
        The priors and options of the model.
    inputs : mapping of str to array
        The values of the model's ``pymc.Data``. Their lengths do not matter unless they are among the `others`, which a
        model with a Cholesky decomposition needs.
    coords : mapping of str to list
        Labels of the dims of parameters, of which only the number matters.
    *others : hashable
        Everything else that the code depends on.
    """
    types = [(name, values.ndim, str(values.dtype)) for name, values in inputs.items()]
    lengths = [(dim, len(labels)) for dim, labels in coords.items()]
    return (spec.sha256, *types, *lengths, *others)


def as_on_any_machine() -> AbstractContextManager[None]:
    """Return a context in which PyTensor compiles sums in a fixed order, and keeps source files with the compiled code.

    With fast maths, the compiler may reorder sums, and newly compiled code may differ from code in PyTensor's cache, so
    the first fit on a machine would have other draws than later fits. By default, PyTensor 3.3.0 and earlier leave
    source files in the temporary folder.

    Raise OutputError if the folder in which PyTensor keeps compiled code cannot be written to.
    """
    import pytensor

    config = pytensor.config
    folder = Path(config.base_compiledir)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise OutputError(
            f"PyTensor cannot write compiled models to the folder '{folder}'. Set the environment variable"
            " PYTENSOR_FLAGS to base_compiledir=FOLDER, with a folder that can be written to."
        )
    sources = {}
    if hasattr(config, "generated_src_dir"):
        sources["generated_src_dir"] = config.generated_src_dir or str(folder / "generated")
    flags: AbstractContextManager[None] = config.change_flags(numba__fastmath=False, **sources)
    return flags


def model_of_table(spec: ModelSpec, data: xr.Dataset) -> ToSample:
    """Return the model of a spec with the data of a table, in the form that `sample_model` needs.

    The collapsed crossed model with built-in priors is compiled by Numba, without PyMC. Other models are PyMC models.
    Their compiled code is cached, because hundreds of random lists are fitted, unless they have an effect of each word.
    """
    spec = resolved(spec, data)
    structure = structure_of(spec)
    if not is_built_in_pymc(spec):
        return CollapsedModel.of(spec, data)
    coords = model_coords(spec, data)
    has_word_effects = structure.GENERALISES and not structure.COLLAPSED
    if has_word_effects:
        return PyMCModel(lambda: build_model(spec, data), coords, adaptation=adaptation_for(data))
    inputs = structure.inputs(spec, data)
    return PyMCModel(lambda: build_model(spec, data), coords, key_of(spec, inputs, coords), inputs)


def adaptation_for(data: xr.Dataset) -> str:
    """Return the adaptation method for a model with explicit word effects.

    Because block means and effects are correlated, the result is a low-rank mass matrix. The exception is a table with
    control classes, for which this matrix would take seven times as long and result in fewer effective draws.
    """
    return "diag" if data.sizes["control"] else "low_rank"


@dataclass(frozen=True)
class Sampling:
    """Settings of the sampler.

    Parameters
    ----------
    draws, tune : int
        Numbers of stored draws and warm-up draws per chain.
    chains : int
        Number of chains.
    target_accept : float
        Target acceptance rate of the sampler. Values closer to 1 mean smaller steps.

    Raises
    ------
    SpecError
        If a number of draws or chains is below 1, or if the acceptance rate is impossible.

    Examples
    --------
    >>> Sampling(draws=4000).draws
    4000
    """

    draws: int = 1000
    tune: int = 500
    chains: int = 4
    target_accept: float = 0.95

    def __post_init__(self) -> None:
        """Raise an error if a setting is impossible."""
        for name, what in {"draws": "draws", "tune": "warm-up draws", "chains": "chains"}.items():
            keep_whole(self, name, what)
        if not is_between(self.target_accept, 0, 1) or self.target_accept in (0, 1):
            raise SpecError(
                f"`target_accept` must be an acceptance rate between 0 and 1, but is {self.target_accept!r}."
            )


def check_sampling(sampling: Any) -> None:
    """Raise an error unless the settings are a `Sampling`, before any computation starts.

    Raises
    ------
    SpecError
    """
    if not isinstance(sampling, Sampling):
        raise SpecError(f"`sampling` must be a Sampling, such as Sampling(draws=4000), but is {sampling!r}.")


def sample(spec: ModelSpec, data: xr.Dataset, *, seed: int, sampling: Sampling) -> tuple[xr.Dataset, xr.Dataset]:
    """Return draws of the parameters of a table in its units, and the sampler statistics."""
    draws, stats = sample_model(model_of_table(spec, data), seed, sampling)
    return completed(spec, draws, data, seed), stats


def sample_model(model: ToSample, seed: int, sampling: Sampling) -> tuple[xr.Dataset, xr.Dataset]:
    """Return draws of the named parameters of any model, and the sampler statistics.

    nutpie returns two Arrow tables for each chain, with a column for each parameter or statistic. The columns of all
    chains are joined, warm-up is omitted, and the parameters get their dims and labels.
    """
    step("compiling the model")
    with one_blas_thread():
        compiled = model.compiled()
        step("sampling")
        trace = _run_nutpie(compiled, model.adaptation, seed, sampling)
    # nutpie returns the draws and the statistics separately, with one batch for each chain, which includes warm-up.
    draws, statistics = ([pyarrow.record_batch(batch) for batch in batches] for batches in trace.get_arrow_trace())
    sample_coords: dict[str, Any] = {"chain": np.arange(sampling.chains), "draw": np.arange(sampling.draws)}
    used_dims = set().union(*model.dims.values())
    coords = sample_coords | {dim: labels for dim, labels in model.coords.items() if dim in used_dims}
    variables = {}
    for name, dims in model.dims.items():
        shape = (sampling.chains, sampling.draws, *compiled.shapes[name])
        variables[name] = ((*SAMPLE, *dims), np.reshape(_values_after_warmup(draws, name, sampling), shape))
    stats = {}
    for field in statistics[0].schema:
        if field.name not in SAMPLE and not pyarrow.types.is_nested(field.type):
            values = _values_after_warmup(statistics, field.name, sampling)
            stats[STATISTICS.get(field.name, field.name)] = (SAMPLE, values)
    sampler = {"inference_library": "nutpie", "inference_library_version": nutpie.__version__}
    return xr.Dataset(variables, coords), xr.Dataset(stats, sample_coords, make_attrs(sampler))


def completed(spec: ModelSpec, draws: xr.Dataset, data: xr.Dataset, seed: int) -> xr.Dataset:
    """Return the draws in the units of the table, including quantities that the model integrated out."""
    return order_dims(structure_of(spec).complete(spec, draws, data, np.random.default_rng(seed)))


def order_dims(posterior: xr.Dataset) -> xr.Dataset:
    """Return the dataset with variables reordered, such that the order of dims is consistent.

    The summary in ArviZ 1.3 mislabels values if the dims of a variable are in a different order than in the dataset.
    A dataset has its dims in the order in which they first appear in its variables. Variables are therefore sorted by
    their last dim in a fixed order of all dims and, among these, those with more dims come first.
    """
    other_dims = [dim for dim in posterior.dims if dim not in (*_DIMS, *_LAST)]
    order = [*_DIMS, *other_dims, *_LAST]

    def last_dim_and_length(name: Hashable) -> tuple[int, int]:
        dims = posterior[name].dims
        return max(map(order.index, dims)), -len(dims)

    return posterior[sorted(posterior, key=last_dim_and_length)]


def _run_nutpie(compiled: Any, adaptation: str, seed: int, sampling: Sampling) -> Any:
    """Sample a compiled model, report the progress, and return nutpie's raw trace.

    Raises
    ------
    SpecError
        If the gradient of the density is zero or not a number.
    """
    listener = current()

    def report(states: list[Any]) -> None:
        finished = sum(state.finished_draws for state in states)
        listener.advance(finished, sum(state.total_draws for state in states))

    try:
        return nutpie.sample(
            compiled,
            **asdict(sampling),
            adaptation=adaptation,
            seed=seed,
            save_warmup=False,
            progress_bar=False,
            progress_callback=report,
            return_raw_trace=True,
        )
    except BaseException as error:
        # a panic of nutpie's Rust code, whose exception class cannot be imported
        if not isinstance(error, RuntimeError) and type(error).__name__ != "PanicException":
            raise
        raise SpecError(
            "The gradient of the density of `model` is zero, or not a number, at a point that the sampler reached."
            " Check that each of its variables has a proper prior, and that the data vary."
        ) from error


def _values_after_warmup(chains: Sequence[pyarrow.RecordBatch], name: str, sampling: Sampling) -> NDArray[Any]:
    """Return a variable or statistic for the draws after warm-up, (chain, ...).

    `chains` has an Arrow table for each chain. The entries of an array are in one nested column, which is flattened.
    """
    arrays = []
    for batch in chains:
        column = batch.column(name).slice(sampling.tune)
        if pyarrow.types.is_nested(column.type):
            column = column.flatten()
        arrays.append(column.to_numpy(zero_copy_only=False))
    return np.stack(arrays)
