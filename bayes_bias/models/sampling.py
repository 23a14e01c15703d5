"""Sample the posterior of a compiled model with nutpie."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import xarray as xr
from arviz_base import make_attrs
from numpy.typing import NDArray

from bayes_bias.arguments import check_count, is_between
from bayes_bias.errors import SpecError
from bayes_bias.models.compiling import POINT, ModelOfData, model_of_table
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.nutpie_alone import nutpie
from bayes_bias.models.one_thread import one_blas_thread
from bayes_bias.models.structures import structure_of
from bayes_bias.progress import Progress, Quiet


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

    draws: int = 1000
    tune: int = 500
    chains: int = 4
    target_accept: float = 0.95

    def __post_init__(self) -> None:
        for name, what in {"draws": "draws", "tune": "warm-up draws", "chains": "chains"}.items():
            check_count(name, getattr(self, name), what)
        if not is_between(self.target_accept, 0, 1) or self.target_accept in (0, 1):
            raise SpecError(
                f"target_accept: {self.target_accept!r} is no acceptance rate; give a number between 0 and 1"
            )


def check_sampling(sampling: Any) -> None:
    """Refuse anything but a `Sampling`, before anything is computed.

    Raises
    ------
    SpecError
    """
    if not isinstance(sampling, Sampling):
        raise SpecError(f"sampling: must be a Sampling, got {sampling!r}; give one such as Sampling(draws=4000)")


def sample(
    spec: ModelSpec, data: xr.Dataset, *, seed: int, sampling: Sampling, progress: Progress | None = None
) -> tuple[xr.Dataset, xr.Dataset]:
    """Draws of a table's parameters in its units, and the sampler's statistics."""
    drawn, stats = sample_model(model_of_table(spec, data), seed, sampling, progress or Quiet())
    return completed(spec, drawn, data, seed), stats


def sample_model(
    model: ModelOfData, seed: int, sampling: Sampling, progress: Progress
) -> tuple[xr.Dataset, xr.Dataset]:
    """Draws of the named parameters of any model, and the sampler's statistics."""
    drawn, chains = _traced(model, seed, sampling, progress)
    names = [field.name for field in chains[0].schema if not pa.types.is_nested(field.type)]
    sample = ("chain", "draw")
    kept = {name: (sample, _kept(chains, name, sampling)) for name in names if name not in sample}
    about = {"inference_library": "nutpie", "inference_library_version": nutpie.__version__}
    return drawn, xr.Dataset(kept, coords={dim: drawn[dim] for dim in sample}, attrs=make_attrs(about))


def sample_bare(spec: ModelSpec, data: xr.Dataset, *, seed: int, sampling: Sampling) -> tuple[xr.Dataset, int]:
    """The draws of `sample` and the number of divergent transitions.

    Random nulls need nothing else, and the sampler's statistics take as long to put together as a null's draws.
    """
    drawn, chains = _traced(model_of_table(spec, data), seed, sampling, Quiet())
    return completed(spec, drawn, data, seed), int(_kept(chains, "diverging", sampling).sum())


def completed(spec: ModelSpec, drawn: xr.Dataset, data: xr.Dataset, seed: int) -> xr.Dataset:
    """Draws in the units of the table, with what the model integrated out."""
    posterior = structure_of(spec).complete(spec, drawn, data, np.random.default_rng(seed))
    return ordered_for_arviz(posterior)


def ordered_for_arviz(posterior: xr.Dataset) -> xr.Dataset:
    """ArviZ 1.3's summary puts labels to the wrong numbers where a variable's dims stand in another order than those of
    its dataset, which are in the order in which variables bring them along. With those of several dims first, in this
    order, no two of our variables disagree."""
    return posterior[sorted(posterior.data_vars, key=_summary_rank)]


def _traced(
    model: ModelOfData, seed: int, sampling: Sampling, progress: Progress
) -> tuple[xr.Dataset, Sequence[pa.RecordBatch]]:
    """Draws of the named parameters, and nutpie's statistics of each chain, warm-up included."""
    progress.step("compiling the model")
    compiled = model.compiled()
    with one_blas_thread():
        sampler = compiled.sampler(model.inputs)
        progress.step("sampling")
        trace = nutpie.sample(
            sampler,
            **asdict(sampling),
            seed=seed,
            save_warmup=False,
            progress_bar=False,
            progress_callback=lambda states: _report_draws(progress, states),
            return_raw_trace=True,
        )
    points, stats = trace.get_arrow_trace()
    flat = [pa.array(chain.column(POINT)).slice(sampling.tune).flatten() for chain in points]
    drawn = model.parameters(np.reshape(flat, (sampling.chains, sampling.draws, -1)))
    return drawn, [pa.record_batch(chain) for chain in stats]


def _kept(chains: Sequence[pa.RecordBatch], name: str, sampling: Sampling) -> NDArray[Any]:
    """A statistic of the draws that are kept, (chain, draw)."""
    return np.stack([chain.column(name).slice(sampling.tune).to_numpy(zero_copy_only=False) for chain in chains])


def _report_draws(progress: Progress, states: list[Any]) -> None:
    progress.advance(sum(s.finished_draws for s in states), sum(s.total_draws for s in states))


def _summary_rank(name: Hashable) -> int:
    tables = (
        "target_connection_mean",
        *(f"{side}_cluster_z" for side in ("attribute", "target")),
        *(f"{effect}_by_replicate" for effect in ("attribute_effect", "target_effect")),
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
