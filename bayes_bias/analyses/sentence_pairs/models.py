"""The two PyMC models of sentence pairs: a model of the share and a model of the mean difference."""

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
from bayes_bias.analyses.sentence_pairs.scoring import kept_posterior
from bayes_bias.errors import SpecError
from bayes_bias.fitting.fit_model import fit_model
from bayes_bias.fitting.sampling import PyMCModel, Sampling, key_of
from bayes_bias.models.normal_effects import normal_effects
from bayes_bias.models.patterns import zero_sum_sd
from bayes_bias.models.priors import free, observe_with_scale, unnamed
from bayes_bias.models.scales import draws_in_units, rounded
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.progress import within

type Inputs = dict[str, NDArray[Any]]
type Coords = dict[str, list[str]]

# Typical sizes of cluster effects, in log odds and in units of the spread of differences.
_TYPICAL = 0.4

# Effects of types sum to zero, so they are parametrised by contrasts, one fewer than the number of types.
_CONTRAST, _LOADINGS = "contrast", "contrast_loadings"


def terms(spec: ModelSpec, data: xr.Dataset, prefix: str) -> tuple[str, ...]:
    """Return the dimensions that have effects because they are in the table and have a prior in the spec."""
    return tuple(dim for dim in _dims_with_effects(data) if _sd(prefix, dim) in spec.priors)


def _dims_with_effects(data: xr.Dataset) -> tuple[str, ...]:
    """Return the dimensions of the table with several labels: types, if there are several, and clusters."""
    return _dims(data) if has_types(data) else clusters_of(data)


def share_inputs(data: xr.Dataset, counted: NDArray[np.bool_], among: NDArray[np.bool_]) -> Inputs:
    """Return the number of pairs, and of counted pairs, for each combination of type and clusters."""
    frame = cells(data, counted, among)
    inputs = {name: frame[name].to_numpy().astype(np.int32) for name in frame}
    # The score and the information of binomial counts for their log odds, if all have the same share.
    share = (frame.counted.sum() + 0.5) / (frame.among.sum() + 1)
    score = frame.counted - share * frame.among
    information = share * (1 - share) * frame.among
    return inputs | _lengths(data) | _evidence_of(data, inputs, score.to_numpy(), information.to_numpy())


def share_model(spec: ModelSpec, data: xr.Dataset, inputs: Inputs, coords: Coords | None = None) -> pm.Model:
    """Return the model of the share: binomial counts with effects on the log odds."""
    with pm.Model(coords=coords) as model:
        tensors = _tensors(data, inputs, coords)
        log_odds = _expected(spec, data, tensors, "logit", "logit_sd", tensors["among"])
        pm.Binomial("ahead", tensors["among"], logit_p=log_odds, observed=tensors["counted"])
    return model


def difference_inputs(data: xr.Dataset) -> Inputs:
    """Return differences in units of the priors. They are sorted so that sums do not depend on the order of rows."""
    positions = {position_of(dim): data[position_of(dim)].to_numpy() for dim in (TYPE, *clusters_of(data))}
    value = rounded(data.difference.to_numpy() / data.unit.item())
    order = np.lexsort((value, *positions.values()))
    inputs = {"value": value[order]} | {name: codes[order] for name, codes in positions.items()}
    # The score and the information of normal values for their mean.
    score = (inputs["value"] - value.mean()) / value.var()
    information = np.full(len(value), 1 / value.var())
    return inputs | _lengths(data) | _evidence_of(data, inputs, score, information)


def difference_model(spec: ModelSpec, data: xr.Dataset, inputs: Inputs, coords: Coords | None = None) -> pm.Model:
    """Return the model of differences with effects on the mean, and the residual distribution of the spec."""
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
    """Return the sum of the level and all effects for each row, which represents one pair or several (`pairs`).

    The prior refers to the level of the population of writers. The sampled variable, `average`, is the sum of this
    level and the average effect of these writers over these pairs, because this sum is determined by the data.
    """
    effects: pt.TensorVariable | float = 0.0
    for dim in terms(spec, data, prefix):
        sd = free(spec, _sd(prefix, dim), _TYPICAL)
        evidence = inputs[_evidence(dim)]
        if dim == TYPE:  # the mean is an average over these types
            contrasts = normal_effects("type_contrast", 0.0, sd, evidence, _CONTRAST)
            effect = pm.Deterministic(effect_of(dim), contrasts @ inputs[_LOADINGS], dims=dim)
        else:
            effect = normal_effects(effect_of(dim), 0.0, sd, evidence, dim)
        effects = effects + effect[inputs[position_of(dim)]]
    mean = pt.mean(effects) if pairs is None else (pairs * effects).sum() / pairs.sum()
    average = pm.CustomDist(f"average_{level}", mean, dist=lambda mean, size: mean + unnamed(spec.priors[level], size))
    pm.Deterministic(level, average - mean)
    return average - mean + effects


def effect_of(dim: str) -> str:
    """Return the name of the effects of a dimension in a posterior."""
    return f"{dim.removeprefix('bias_')}_effect"


def _sd(prefix: str, dim: str) -> str:
    """Return the name of the standard deviation of the effects of a dimension."""
    return f"{prefix}_{dim.removeprefix('bias_')}"


def _tensors(data: xr.Dataset, inputs: Inputs, coords: Coords | None) -> dict[str, pt.TensorVariable]:
    """Return the data as variables of the current model, which determine the lengths of its dimensions.

    If the model is labelled, inputs that only the sampler uses have no name and are not shown in a graph.
    """
    dims_of_input: dict[str, tuple[str, ...]] = {_LOADINGS: (_CONTRAST, TYPE)}
    only_for_sampler: set[str] = set()
    for dim in _dims(data):
        dims_of_input[_numbers(dim)] = (dim,)
        only_for_sampler |= {_evidence(dim), _numbers(dim)}
    tensors = {}
    for name, values in inputs.items():
        is_unnamed = coords is not None and name in only_for_sampler
        tensors[name] = pt.constant(values) if is_unnamed else pm.Data(name, values, dims=dims_of_input.get(name))
    return tensors


def _lengths(data: xr.Dataset) -> Inputs:
    """Return the label numbers of each dimension, which determine its length."""
    return {_numbers(dim): np.arange(data.sizes[dim], dtype=np.int32) for dim in _dims(data)}


def _evidence_of(data: xr.Dataset, inputs: Inputs, score: NDArray[Any], information: NDArray[Any]) -> Inputs:
    """Return score and information of each effect at zero for a fixed average over pairs. See `normal_effects`.

    With w the sums of the information of the pairs of each label, the information of the effects given their average
    is the diagonal of diag(w) - w w' / sum(w). Effects of types are combined to contrasts.
    """
    evidence: Inputs = {}
    for dim in _dims_with_effects(data):
        codes, length = inputs[position_of(dim)], data.sizes[dim]
        score_of_label = np.bincount(codes, score, length)
        w = np.bincount(codes, information, length)
        matrix = np.diag(w) - np.outer(w, w) / (w.sum() or 1)
        if dim == TYPE:
            loadings = helmert(length) * zero_sum_sd(length)
            evidence[_LOADINGS] = loadings
            score_of_label = loadings @ score_of_label
            matrix = loadings @ matrix @ loadings.T
        evidence[_evidence(dim)] = np.array([score_of_label, np.diag(matrix).clip(0)])
    return evidence


def _evidence(dim: str) -> str:
    """Return the name of the score and information of the effects of a dimension."""
    return f"{dim}_evidence"


def _numbers(dim: str) -> str:
    """Return the name of the label numbers of a dimension."""
    return f"{dim}_numbers"


def _dims(data: xr.Dataset) -> tuple[str, ...]:
    """Return the dimensions of a table: types and clusters."""
    return (TYPE, *clusters_of(data))


# Fitting both models of sentence pairs, given scores and a spec.


def pairs_spec(model: str | Path | ModelSpec) -> ModelSpec:
    """Return the spec of a model, and raise an error if it is not a model of sentence pairs.

    Raises
    ------
    SpecError
    """
    spec = load_spec(model)
    if spec.structure != "pairs":
        raise SpecError(
            f"`model` '{spec.name}' is {spec.structure}, a model of targets and attributes. Pass 'pairs' or a copy."
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
    """Return the posterior of the share of `counted` pairs in the pairs selected by `among`.

    By default, it is the share of untied pairs whose stereotypical sentence is ahead.
    """
    if counted is None:
        counted = data.ahead.to_numpy()
        among = untied(data)
    among = np.ones_like(counted) if among is None else among
    inputs = share_inputs(data, counted, among)
    coords = _coords(data)
    key = key_of(spec, inputs, coords, "share")
    model = PyMCModel(lambda: share_model(spec, data, inputs), coords, key, inputs)

    def sample() -> xr.DataTree:
        return fit_model(scores, spec, model, data, seed=seed, sampling=sampling).tree

    return kept_posterior(folder, sample, scores, spec, {"of": "share", **inputs, **coords}, seed, sampling)


@within("difference")
def fit_difference(
    scores: PairScores, spec: ModelSpec, data: xr.Dataset, *, seed: int, sampling: Sampling, folder: Path | None = None
) -> xr.DataTree:
    """Return the posterior of the mean difference in favour of the stereotypical sentence."""
    inputs = difference_inputs(data)
    coords = _coords(data)
    unit = data.unit.item()
    key = key_of(spec, inputs, coords, "difference")
    model = PyMCModel(lambda: difference_model(spec, data, inputs), coords, key, inputs)

    def sample() -> xr.DataTree:
        in_units = partial(draws_in_units, unit=unit)
        return fit_model(scores, spec, model, data, seed=seed, sampling=sampling, complete=in_units).tree

    identity = {"of": "difference", "unit": unit, **inputs, **coords}
    return kept_posterior(folder, sample, scores, spec, identity, seed, sampling)


def labelled_model(scores: PairScores, spec: ModelSpec, estimand: str) -> pm.Model:
    """Return the model of the share or of the difference with labels, and its data as constants."""
    data, _ = design(scores)
    if estimand == "difference":
        return freeze_dims_and_data(difference_model(spec, data, difference_inputs(data), _coords(data)))
    inputs = share_inputs(data, data.ahead.to_numpy(), untied(data))
    return freeze_dims_and_data(share_model(spec, data, inputs, _coords(data)))


def _coords(data: xr.Dataset) -> dict[str, list[str]]:
    """Return the labels of each dimension."""
    return {dim: data[dim].to_numpy().tolist() for dim in (TYPE, *CLUSTERS) if dim in data.dims}
