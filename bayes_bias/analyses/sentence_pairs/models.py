"""The two PyMC models of sentence pairs: how often the stereotypical sentence is ahead, and by how much."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from numpy.typing import NDArray
from pymc.model.transform.optimization import freeze_dims_and_data
from scipy.linalg import helmert

from bayes_bias.analyses.sentence_pairs.keeping import kept_posterior
from bayes_bias.analyses.sentence_pairs.scores import (
    CLUSTERS,
    TYPE,
    PairScores,
    cells,
    clusters_of,
    design,
    has_types,
    position_of,
    untied,
)
from bayes_bias.errors import SpecError
from bayes_bias.fitting.compiling import PyMCModel
from bayes_bias.fitting.fit_model import fit_model
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.models.normal_effects import normal_effects
from bayes_bias.models.patterns import zero_sum_sd
from bayes_bias.models.priors import free, observe_with_scale, unnamed
from bayes_bias.models.scales import draws_in_units, rounded
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.progress import within

type Inputs = dict[str, NDArray[Any]]
type Coords = dict[str, list[str]]

# Of what pairs share, in log odds and in units of the differences' spread.
_TYPICAL = 0.4

# Effects of types sum to zero: they are these contrasts of one fewer than there are types.
_CONTRAST, _LOADINGS = "contrast", "contrast_loadings"


def terms(spec: ModelSpec, data: xr.Dataset, prefix: str) -> tuple[str, ...]:
    """The dims that have effects: what the table has, and the spec gives a prior."""
    present = (*((TYPE,) if has_types(data) else ()), *clusters_of(data))
    return tuple(dim for dim in present if _sd(prefix, dim) in spec.priors)


def share_inputs(data: xr.Dataset, counted: NDArray[np.bool_], among: NDArray[np.bool_]) -> Inputs:
    """Numbers of pairs that share everything, and how many of them are counted."""
    frame = cells(data, counted, among)
    inputs = {name: frame[name].to_numpy().astype(np.int32) for name in frame}
    share = (frame.counted.sum() + 0.5) / (frame.among.sum() + 1)
    score, information = frame.counted - share * frame.among, share * (1 - share) * frame.among
    return inputs | _lengths(data) | _what_data_say(data, inputs, score.to_numpy(), information.to_numpy())


def share_model(spec: ModelSpec, data: xr.Dataset, inputs: Inputs, coords: Coords | None = None) -> pm.Model:
    """Binomial counts with effects on the log odds."""
    with pm.Model(coords=coords) as model:
        tensors = _tensors(data, inputs, coords)
        log_odds = _expected(spec, data, tensors, "logit", "logit_sd", tensors["among"])
        pm.Binomial("ahead", tensors["among"], logit_p=log_odds, observed=tensors["counted"])
    return model


def difference_inputs(data: xr.Dataset) -> Inputs:
    """Differences in units of the priors, in a fixed order, so that sums do not depend on the order of the rows."""
    positions = {position_of(dim): data[position_of(dim)].to_numpy() for dim in (TYPE, *clusters_of(data))}
    value = rounded(data.difference.to_numpy() / data.unit.item())
    order = np.lexsort((value, *positions.values()))
    inputs = {"value": value[order]} | {name: codes[order] for name, codes in positions.items()}
    variance = value.var()
    score, information = (inputs["value"] - value.mean()) / variance, np.full(len(value), 1 / variance)
    return inputs | _lengths(data) | _what_data_say(data, inputs, score, information)


def difference_model(spec: ModelSpec, data: xr.Dataset, inputs: Inputs, coords: Coords | None = None) -> pm.Model:
    """Differences with effects on the mean, and the residual of the spec."""
    with pm.Model(coords=coords) as model:
        tensors = _tensors(data, inputs, coords)
        expected = _expected(spec, data, tensors, "mean", "sd")
        observe_with_scale(spec, "difference", expected, free(spec, "scale_residual"), tensors["value"])
    return model


def _expected(
    spec: ModelSpec,
    data: xr.Dataset,
    inputs: Mapping[str, pt.TensorVariable],
    level: str,
    prefix: str,
    pairs: pt.TensorVariable | None = None,
) -> pt.TensorVariable:
    """The level and all effects, for each row, which stands for so many `pairs`, or for one.

    The level of all writers has the prior. What is sampled is its sum with the average effect of these writers, the
    average over these pairs, since the data determine that.
    """
    effects = _effects(spec, data, inputs, prefix)
    here = pt.mean(effects) if pairs is None else (pairs * effects).sum() / pairs.sum()
    average = pm.CustomDist(f"average_{level}", here, dist=lambda here, size: here + unnamed(spec.priors[level], size))
    pm.Deterministic(level, average - here)
    return average - here + effects


def _effects(
    spec: ModelSpec, data: xr.Dataset, inputs: Mapping[str, pt.TensorVariable], prefix: str
) -> pt.TensorVariable | float:
    """What the pairs share, for each row."""
    total: pt.TensorVariable | float = 0.0
    for dim in terms(spec, data, prefix):
        sd, evidence = free(spec, _sd(prefix, dim), _TYPICAL), inputs[_evidence(dim)]
        if dim == TYPE:  # these types are all there are, and the mean is theirs
            contrasts = normal_effects("type_contrast", 0.0, sd, evidence, _CONTRAST)
            effect = pm.Deterministic(effect_of(dim), contrasts @ inputs[_LOADINGS], dims=dim)
        else:
            effect = normal_effects(effect_of(dim), 0.0, sd, evidence, dim)
        total = total + effect[inputs[position_of(dim)]]
    return total


def effect_of(dim: str) -> str:
    """Name of the effects of a dim in a posterior."""
    return f"{dim.removeprefix('bias_')}_effect"


def _sd(prefix: str, dim: str) -> str:
    return f"{prefix}_{dim.removeprefix('bias_')}"


def _tensors(data: xr.Dataset, inputs: Inputs, coords: Coords | None) -> dict[str, pt.TensorVariable]:
    """The data as variables of the model at hand; its dims are as long as they.

    If labels give the lengths, what only the sampler reads has no name, so that no graph shows it.
    """
    dims = {_numbers(dim): (dim,) for dim in _dims(data)} | {_LOADINGS: (_CONTRAST, TYPE)}
    constants = set() if coords is None else {name(dim) for dim in _dims(data) for name in (_evidence, _numbers)}
    return {
        name: pt.constant(values) if name in constants else pm.Data(name, values, dims=dims.get(name))
        for name, values in inputs.items()
    }


def _lengths(data: xr.Dataset) -> Inputs:
    return {_numbers(dim): np.arange(data.sizes[dim], dtype=np.int32) for dim in _dims(data)}


def _what_data_say(data: xr.Dataset, inputs: Inputs, score: NDArray[Any], information: NDArray[Any]) -> Inputs:
    """Score and information of each effect at zero, with the average over all pairs held fixed: see
    `normal_effects`."""
    evidence: Inputs = {}
    for dim in (*((TYPE,) if has_types(data) else ()), *clusters_of(data)):
        at, length = inputs[position_of(dim)], data.sizes[dim]
        of_score = np.bincount(at, score, length)
        of_each = np.bincount(at, information, length)
        matrix = np.diag(of_each) - np.outer(of_each, of_each) / (of_each.sum() or 1)
        if dim == TYPE:
            loadings = helmert(length) * zero_sum_sd(length)
            evidence[_LOADINGS] = loadings
            of_score, matrix = loadings @ of_score, loadings @ matrix @ loadings.T
        evidence[_evidence(dim)] = np.array([of_score, np.diag(matrix).clip(0)])
    return evidence


def _evidence(dim: str) -> str:
    return f"{dim}_evidence"


def _numbers(dim: str) -> str:
    """What gives a dim its length: the numbers of its labels."""
    return f"{dim}_numbers"


def _dims(data: xr.Dataset) -> tuple[str, ...]:
    return (TYPE, *clusters_of(data))


# From scores and a spec to the posteriors of both models of sentence pairs.

SAMPLE = ("chain", "draw")


def pairs_spec(model: str | Path | ModelSpec) -> ModelSpec:
    """A model by its name, path or spec, refused if it is not one of sentence pairs.

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


@within("share")
def fit_share(
    scores: PairScores,
    spec: ModelSpec,
    data: xr.Dataset,
    *,
    seed: int,
    sampling: Sampling,
    folder: Path | None = None,
    counted: NDArray[np.bool_] | None = None,
    among: NDArray[np.bool_] | None = None,
) -> xr.DataTree:
    """The posterior of the share of pairs whose stereotypical sentence is ahead, among those that do not tie; or of
    those `counted` among some, or all."""
    if counted is None:
        counted, among = data.ahead.to_numpy(), untied(data)
    among = np.ones_like(counted) if among is None else among
    inputs = share_inputs(data, counted, among)
    coords = _coords(data)
    model = PyMCModel(lambda: share_model(spec, data, inputs), coords)

    def sample() -> xr.DataTree:
        return fit_model(scores, spec, model, data, seed=seed, sampling=sampling).tree

    return kept_posterior(folder, sample, scores, spec, {"of": "share", **inputs, **coords}, seed, sampling)


@within("difference")
def fit_difference(
    scores: PairScores, spec: ModelSpec, data: xr.Dataset, *, seed: int, sampling: Sampling, folder: Path | None = None
) -> xr.DataTree:
    """The posterior of how far the stereotypical sentence is ahead."""
    inputs, coords, unit = difference_inputs(data), _coords(data), data.unit.item()
    model = PyMCModel(lambda: difference_model(spec, data, inputs), coords)

    def sample() -> xr.DataTree:
        in_units = partial(draws_in_units, unit=unit)
        return fit_model(scores, spec, model, data, seed=seed, sampling=sampling, complete=in_units).tree

    of_model = {"of": "difference", "unit": unit, **inputs, **coords}
    return kept_posterior(folder, sample, scores, spec, of_model, seed, sampling)


def labelled_model(scores: PairScores, spec: ModelSpec, estimand: str) -> pm.Model:
    """The model of the share or of the difference with labels, and its data as constants."""
    data, _ = design(scores)
    if estimand == "difference":
        return freeze_dims_and_data(difference_model(spec, data, difference_inputs(data), _coords(data)))
    inputs = share_inputs(data, data.ahead.to_numpy(), untied(data))
    return freeze_dims_and_data(share_model(spec, data, inputs, _coords(data)))


def _coords(data: xr.Dataset) -> dict[str, list[str]]:
    return {dim: data[dim].to_numpy().tolist() for dim in (TYPE, *CLUSTERS) if dim in data.dims}
