"""From scores and a spec to the posteriors of both models of sentence pairs."""

from pathlib import Path

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray
from pymc.model.transform.optimization import freeze_dims_and_data

from bayes_bias.errors import SpecError
from bayes_bias.models.compiling import PyMCModel
from bayes_bias.models.fitting import fit_model
from bayes_bias.models.model_spec import ModelSpec, load_spec
from bayes_bias.models.sampling import Sampling
from bayes_bias.models.scales import draws_in_units
from bayes_bias.progress import Prefixed, Progress
from bayes_bias.sentence_pairs.pair_design import design, untied
from bayes_bias.sentence_pairs.pair_models import difference_inputs, difference_model, share_inputs, share_model
from bayes_bias.sentence_pairs.pair_scores import CLUSTERS, TYPE, PairScores

SAMPLE = ("chain", "draw")


def pairs_spec(model: str | Path | ModelSpec) -> ModelSpec:
    """A model by its name, path or spec, refused where it is not one of sentence pairs.

    Raises
    ------
    SpecError
    """
    spec = load_spec(model)
    if spec.structure != "pairs":
        raise SpecError(
            f"model: '{spec.name}' is {spec.structure}, a model of targets and attributes; give 'pairs' or a copy of it"
        )
    return spec


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
    """The posterior of the share of pairs whose stereotypical sentence is ahead, among those that do not tie; or of
    those `counted` among some, or all."""
    if counted is None:
        counted, among = data.ahead.to_numpy(), untied(data)
    among = np.ones_like(counted) if among is None else among
    inputs = share_inputs(data, counted, among)
    model = PyMCModel(lambda: share_model(spec, data, inputs), _coords(data))
    step = Prefixed("share", progress)
    return fit_model(scores, spec, model, data, seed=seed, sampling=sampling, progress=step).tree


def fit_difference(
    scores: PairScores, spec: ModelSpec, data: xr.Dataset, *, seed: int, sampling: Sampling, progress: Progress
) -> xr.DataTree:
    """The posterior of how far the stereotypical sentence is ahead."""
    return fit_model(
        scores,
        spec,
        PyMCModel(lambda: difference_model(spec, data, difference_inputs(data)), _coords(data)),
        data,
        seed=seed,
        sampling=sampling,
        progress=Prefixed("difference", progress),
        complete=lambda drawn: draws_in_units(drawn, data.unit.item()),
    ).tree


def labelled_model(scores: PairScores, spec: ModelSpec, estimand: str) -> pm.Model:
    """The model of the share or of the difference with labels, and its data as constants."""
    data, _ = design(scores)
    if estimand == "difference":
        return freeze_dims_and_data(difference_model(spec, data, difference_inputs(data), _coords(data)))
    inputs = share_inputs(data, data.ahead.to_numpy(), untied(data))
    return freeze_dims_and_data(share_model(spec, data, inputs, _coords(data)))


def _coords(data: xr.Dataset) -> dict[str, list[str]]:
    return {dim: data[dim].to_numpy().tolist() for dim in (TYPE, *CLUSTERS) if dim in data.dims}
