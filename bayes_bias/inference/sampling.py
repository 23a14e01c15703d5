"""Sample the posterior, check convergence, write down where the numbers come from."""

import json
import logging
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import nutpie
import pyarrow as pa
import xarray as xr
from threadpoolctl import threadpool_limits

from bayes_bias.arguments import check_count, check_seed, is_between
from bayes_bias.associations.association import Association
from bayes_bias.associations.table import Associations, check_table
from bayes_bias.errors import AssociationsError, SpecError
from bayes_bias.inference.diagnostics import Diagnostics, diagnose
from bayes_bias.inference.power_scaling import power_scaling_groups, sensitivity_of_bias
from bayes_bias.models.compiling import POINT, Compiled, Inputs, compiled_model
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.models.structures import modelled, structure_of
from bayes_bias.progress import Progress, Quiet

logger = logging.getLogger("bayes_bias")

_VERSIONED = ("bayes-bias", "pymc", "pytensor", "nutpie", "arviz", "numpy", "xarray")

# Cosines come from float32 vectors: residual variation below this is rounding, not data.
_ROUNDING_VARIANCE = 1e-12


@dataclass(frozen=True)
class Sampling:
    """How long to sample, and how carefully.

    Parameters
    ----------
    draws, tune : int
        Kept and warm-up draws in each chain.
    chains : int
        Number of chains.
    target_accept : float
        Target acceptance rate of the sampler; nearer to 1 means smaller steps.

    Raises
    ------
    SpecError
        A number of draws or chains below 1, an acceptance rate that is none.

    Examples
    --------
    >>> Sampling(draws=4000).draws
    4000
    """

    draws: int = 1500
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.95

    def __post_init__(self) -> None:
        for name, what in {"draws": "draws", "tune": "warm-up draws", "chains": "chains"}.items():
            check_count(name, getattr(self, name), what)
        if not is_between(self.target_accept, 0, 1) or self.target_accept in (0, 1):
            raise SpecError(
                f"target_accept: {self.target_accept!r} is no acceptance rate; give a number between 0 and 1"
            )


def fit(
    table: Associations,
    model: str | Path | ModelSpec = "crossed",
    *,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    progress: Progress | None = None,
) -> xr.DataTree:
    """Sample the posterior of a model given raw associations.

    Parameters
    ----------
    table : Associations
        From `bayes_bias.cosines` or `Associations.from_frame`.
    model : str, Path or ModelSpec
        A shipped model ("crossed", "crossed-long", "robust", "hierarchical"), the path of a TOML file, or a spec.
    seed : int
        The same seed gives the same numbers.
    sampling : Sampling
        Numbers of draws and chains.
    progress : Progress, optional
        Told of steps and draws as they are done.

    Returns
    -------
    xarray.DataTree
        ArviZ-readable groups ``posterior``, ``sample_stats``, ``observed_data`` (the values, if formed) and
        ``constant_data`` (design and sufficient statistics); provenance and diagnostics in ``attrs``. Where the
        likelihood is collapsed also ``log_prior`` and ``log_likelihood``, for power-scaling (`arviz_stats.psense`);
        the likelihood there is that of all values together, for PSIS-LOO see `bayes_bias.predictive`. The fit
        round-trips through `save_fit` and `load_fit`, and `summarize` needs nothing else.

    Raises
    ------
    SpecError
        The model is unknown or its file is wrong, or the seed is no whole number from 0 on.
    AssociationsError
        There are no data, the data do not fit the model, or the values do not vary.

    Examples
    --------
    >>> from bayes_bias import cosines, fit, summarize
    >>> posterior = fit(cosines("googlenews-demo", "weat6"), seed=1)    # doctest: +SKIP
    >>> summarize(posterior).loc["bias"]                                # doctest: +SKIP
    """
    check_seed(seed)
    check_sampling(sampling)
    check_table(table)
    spec = load_spec(model)
    structure = structure_of(spec)
    table = modelled(table, spec)
    data = structure.data(table)
    _refuse_degenerate(data)
    posterior, sample_stats = sample(spec, data, seed=seed, sampling=sampling, progress=progress)
    scaling = power_scaling_groups(posterior, data, spec)
    sensitivity = sensitivity_of_bias(posterior, data, scaling["log_prior"]) if scaling else None
    diagnostics = diagnose(posterior, sample_stats, sensitivity)
    tell(table.name, diagnostics)
    groups = {"posterior": posterior, "sample_stats": sample_stats, **_observed(table), "constant_data": data}
    tree = xr.DataTree.from_dict({**groups, **scaling})
    tree.attrs = described(table, spec, seed) | asdict(sampling) | {"diagnostics": diagnostics.to_json()}
    return tree


def check_sampling(sampling: Any) -> None:
    """Refuse what does not say how to sample, before anything is computed.

    Raises
    ------
    SpecError
    """
    if not isinstance(sampling, Sampling):
        raise SpecError(
            f"sampling: {sampling!r} says not how to sample; give a Sampling, such as Sampling(draws=4000)"
        )


def sample(
    spec: ModelSpec,
    data: xr.Dataset,
    *,
    seed: int,
    sampling: Sampling,
    progress: Progress | None = None,
) -> tuple[xr.Dataset, xr.Dataset]:
    """Draws of the parameters with their labels, in the units of the table, and the sampler's own account of them."""
    progress = progress or Quiet()
    progress.step("compiling the model")
    compiled, inputs, coords = compiled_model(spec, data)
    drawn, sample_stats = sample_compiled(compiled, inputs, coords, seed, sampling, progress)
    posterior = structure_of(spec).complete(spec, drawn, data, np.random.default_rng(seed))
    return posterior[sorted(posterior.data_vars, key=_summary_rank)], sample_stats


def sample_compiled(
    compiled: Compiled,
    inputs: Inputs,
    coords: Mapping[str, list[str]],
    seed: int,
    sampling: Sampling,
    progress: Progress,
) -> tuple[xr.Dataset, xr.Dataset]:
    """Draws of the parameters of any compiled model, and the sampler's own account of them."""
    trace = _traced(compiled, inputs, seed, sampling, progress)
    points = trace["posterior"][POINT].transpose("chain", "draw", ...).to_numpy()
    return compiled.parameters(points, inputs, coords), trace["sample_stats"].to_dataset()


def sample_bare(
    spec: ModelSpec, data: xr.Dataset, *, seed: int, sampling: Sampling
) -> tuple[xr.Dataset, int]:
    """The draws of `sample`, and how many transitions diverged: the sampler's whole account of a random null takes as
    long to put together as its draws."""
    compiled, inputs, coords = compiled_model(spec, data)
    trace = _traced(compiled, inputs, seed, sampling, Quiet(), return_raw_trace=True)
    draws, stats = trace.get_arrow_trace()
    points = [pa.array(each.column(POINT)).slice(sampling.tune).flatten() for each in draws]
    drawn = compiled.parameters(np.reshape(points, (sampling.chains, sampling.draws, -1)), inputs, coords)
    diverging = [pa.array(each.column("diverging")).slice(sampling.tune).to_numpy(False) for each in stats]
    return structure_of(spec).complete(spec, drawn, data, np.random.default_rng(seed)), int(np.sum(diverging))


def _traced(
    compiled: Compiled, inputs: Inputs, seed: int, sampling: Sampling, progress: Progress, **options: Any
) -> Any:
    """What nutpie draws."""
    # Matrices are small: threads would cost more than they save, and numbers would depend on how many cores there are.
    with threadpool_limits(1, "blas"):
        sampler = compiled.sampler(inputs)
        progress.step("sampling")
        return nutpie.sample(
            sampler,
            **asdict(sampling),
            cores=1,  # the density is called through Python, where threads would wait for each other
            seed=seed,
            save_warmup=False,
            progress_bar=False,
            progress_callback=lambda states: _report_draws(progress, states),
            **options,
        )


class Source(Protocol):
    """What the attributes of a fit say of the numbers that were fitted."""

    @property
    def name(self) -> str:
        """What they are called."""

    @property
    def association(self) -> Association:
        """What they are, and in which units."""

    @property
    def sha256(self) -> str:
        """Hash of them all."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What was left out of them."""

    @property
    def provenance(self) -> Mapping[str, str]:
        """Where they come from."""


def described(table: Source, spec: ModelSpec, seed: int) -> dict[str, Any]:
    """Everything needed to say what was fitted to what, as netCDF attributes; `Fitted` reads them."""
    return {
        "name": table.name,
        "association": table.association.to_json(),
        "model": spec.name,
        "structure": spec.structure,
        "options": json.dumps(dict(spec.options)),
        "priors": json.dumps({name: str(prior) for name, prior in spec.priors.items()}),
        "spec_sha256": spec.sha256,
        "table_sha256": table.sha256,
        "notices": json.dumps(table.notices),
        "versions": versions(),
        **{key: str(value) for key, value in table.provenance.items()},
        "seed": seed,
    }


@cache
def versions() -> str:
    """Asked of the installation once, since random nulls are described by the hundred."""
    return json.dumps({package: version(package) for package in _VERSIONED})


def _refuse_degenerate(data: xr.Dataset) -> None:
    """Without residual variation there is nothing to estimate the model's scales from."""
    if "interaction_ss" not in data:
        return
    if data.interaction_ss <= _ROUNDING_VARIANCE * data.interaction_df:
        raise AssociationsError(
            "table: no variation is left within blocks after word effects, as if words had identical vectors"
            " (equalised by debiasing?); contrasts between them are zero by construction, not by estimate"
        )


def tell(name: str, diagnostics: Diagnostics) -> None:
    """Say what is wrong with a fit, at once."""
    for problem in diagnostics.problems:
        logger.warning(f"{name}: the fit has not converged: {problem}")
    if diagnostics.converged and diagnostics.concern:
        logger.warning(f"{name}: {diagnostics.concern}")


def _observed(table: Associations) -> Mapping[str, xr.Dataset]:
    """The values, unless there are too many of them to be formed."""
    return {"observed_data": xr.Dataset({"association": table.values})} if table.is_formed else {}


def _report_draws(progress: Progress, states: list[Any]) -> None:
    progress.advance(sum(s.finished_draws for s in states), sum(s.total_draws for s in states))


def _summary_rank(name: Hashable) -> int:
    """ArviZ 1.3's summary puts labels to the wrong numbers where a variable's dims stand in another order than
    those of its dataset; with the tables in this order first, no two of our variables disagree."""
    tables = (
        "target_connection_mean",
        "attribute_effect",
        "target_effect",
        "mean",
        "target_average",
        "attribute_average",
        "residual_average",
        "replicate_average",
        *(f"{side}_average_by_replicate" for side in ("target", "attribute", "residual")),
    )
    return tables.index(str(name)) if name in tables else len(tables)
