"""From scores and a spec to posteriors that ArviZ reads, with their provenance."""

from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.inference.diagnostics import diagnose
from bayes_bias.inference.sampling import Sampling, described, sample_compiled, tell
from bayes_bias.models.compiling import compiled_once
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.units import draws_in_units
from bayes_bias.progress import Prefixed, Progress
from bayes_bias.sentence_pairs.design import has_types
from bayes_bias.sentence_pairs.models import (
    Inputs,
    difference_inputs,
    difference_model,
    share_inputs,
    share_model,
)
from bayes_bias.sentence_pairs.scores import CLUSTERS, TYPE, PairScores

SAMPLE = ("chain", "draw")


def fit_share(
    scores: PairScores,
    spec: ModelSpec,
    data: xr.Dataset,
    *,
    seed: int,
    sampling: Sampling,
    progress: Progress,
    counted: NDArray[np.bool_] | None = None,
    among: NDArray[np.bool_] | None = None,
) -> xr.DataTree:
    """The posterior of how often the stereotypical sentence is ahead; or of how often anything else is `counted`,
    `among` some of the pairs."""
    counted = data.ahead.to_numpy() if counted is None else counted
    among = np.ones_like(counted) if among is None else among
    inputs = share_inputs(data, counted, among)
    drawn, stats = _drawn("share", share_model, spec, data, inputs, seed, sampling, progress)
    return _tree(scores, spec, data, drawn, stats, seed, sampling)


def fit_difference(
    scores: PairScores,
    spec: ModelSpec,
    data: xr.Dataset,
    *,
    seed: int,
    sampling: Sampling,
    progress: Progress,
) -> xr.DataTree:
    """The posterior of by how much the stereotypical sentence is ahead."""
    inputs = difference_inputs(data)
    drawn, stats = _drawn("difference", difference_model, spec, data, inputs, seed, sampling, progress)
    return _tree(scores, spec, data, draws_in_units(drawn, data.unit.item()), stats, seed, sampling)


type _Model = Callable[[ModelSpec, xr.Dataset, Inputs], pm.Model]


def _drawn(
    what: str,
    build: _Model,
    spec: ModelSpec,
    data: xr.Dataset,
    inputs: Inputs,
    seed: int,
    sampling: Sampling,
    progress: Progress,
) -> tuple[xr.Dataset, xr.Dataset]:
    coords = {dim: data[dim].to_numpy().tolist() for dim in (TYPE, *CLUSTERS) if dim in data.dims}
    told = Prefixed(what, progress)
    told.step("compiling the model")
    key = (what, spec.sha256, has_types(data), *inputs)
    model = compiled_once(key, lambda: build(spec, data, inputs), inputs)
    return sample_compiled(model, inputs, coords, seed, sampling, told)


def _tree(
    scores: PairScores,
    spec: ModelSpec,
    data: xr.Dataset,
    posterior: xr.Dataset,
    stats: xr.Dataset,
    seed: int,
    sampling: Sampling,
) -> xr.DataTree:
    diagnostics = diagnose(posterior, stats)
    tell(scores.name, diagnostics)
    tree = xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats, "constant_data": data})
    tree.attrs = described(scores, spec, seed) | asdict(sampling) | {"diagnostics": diagnostics.to_json()}
    return tree
