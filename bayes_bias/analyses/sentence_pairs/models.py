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
    """Return the dimensions of a table that have effects in the model, such as ``("bias_type", "writer")``.

    A dimension has effects if the table has several labels of it, and if the spec has a prior for the standard
    deviation of its effects. The `prefix` of the names of these priors is "logit_sd" for the share and "sd" for the
    difference, as in "sd_writer".
    """
    return tuple(dim for dim in _dims_with_effects(data) if _sd(prefix, dim) in spec.priors)


def _dims_with_effects(data: xr.Dataset) -> tuple[str, ...]:
    """Return the dimensions of which the table has several labels: types, and the kinds of its clusters.

    A table without bias types has the dimension of types as well, with the single label "all pairs", so it is excluded
    here. A kind of cluster (writer, template, or term) is a dimension only if it has several labels.
    """
    return _dims(data) if has_types(data) else clusters_of(data)


def share_inputs(data: xr.Dataset, counted: NDArray[np.bool_], among: NDArray[np.bool_]) -> Inputs:
    """Return the binomial data of the share, with a row for each combination of type and clusters.

    `counted` and `among` have a value for each pair. Row i has n_i pairs in the subset `among`, of which k_i are
    `counted`, and the number of its type and of each of its clusters, such as ``writer_of``.

    The data also include the evidence on the effects of types and clusters, from which the sampler chooses a
    parametrisation. It does not affect the posterior. The evidence is computed from the first derivative of the
    binomial log-likelihood for the log odds of each row (the score), and minus the second derivative (the information).
    If p is the share of all pairs, these are k_i - p n_i and p (1 - p) n_i. One half is added to the number of counted
    pairs, and one to the number of all pairs, which keeps p between 0 and 1.
    """
    frame = cells(data, counted, among)
    inputs = {name: frame[name].to_numpy().astype(np.int32) for name in frame}
    share = (frame.counted.sum() + 0.5) / (frame.among.sum() + 1)
    score = frame.counted - share * frame.among
    information = share * (1 - share) * frame.among
    return inputs | _inputs_of_effects(data, inputs, score.to_numpy(), information.to_numpy())


def share_model(spec: ModelSpec, data: xr.Dataset, inputs: Inputs, coords: Coords | None = None) -> pm.Model:
    """Return the model of the share, in which the number of counted pairs in each row is binomial.

    The log odds of a row are the sum of a level and of effects of its type and clusters. `inputs` are the data from
    `share_inputs`, and `coords` the labels of each dimension. A model without labels can be compiled once for all
    tables of the same kind.
    """
    with pm.Model(coords=coords) as model:
        tensors = _tensors(data, inputs, coords)
        log_odds = _expected(spec, data, tensors, "logit", "logit_sd", tensors["among"])
        pm.Binomial("ahead", tensors["among"], logit_p=log_odds, observed=tensors["counted"])
    return model


def difference_inputs(data: xr.Dataset) -> Inputs:
    """Return the data of the mean difference, with a row for each pair.

    A row has the difference (``value``) in units of the priors, and the number of its type and of each of its clusters,
    such as ``writer_of``, the number of its writer. Rows are sorted by these numbers and by value, so that the rounding
    errors of sums do not depend on the order of the table.

    The data also include the evidence on the effects of types and clusters, from which the sampler chooses a
    parametrisation. It does not affect the posterior. The evidence is computed from the first derivative of the
    log-likelihood for the expected value of each row (the score), and minus the second derivative (the information). If
    values are normal with mean m and variance s², these are (value - m) / s² and 1 / s².
    """
    unsorted_value = rounded(data.difference.to_numpy() / data.unit.item())
    columns = {position_of(dim): data[position_of(dim)].to_numpy() for dim in _dims(data)}
    order = np.lexsort((unsorted_value, *columns.values()))
    columns = {"value": unsorted_value, **columns}
    inputs = {name: column[order] for name, column in columns.items()}
    variance = unsorted_value.var()
    score = (inputs["value"] - unsorted_value.mean()) / variance
    information = np.full(len(order), 1 / variance)
    return inputs | _inputs_of_effects(data, inputs, score, information)


def difference_model(spec: ModelSpec, data: xr.Dataset, inputs: Inputs, coords: Coords | None = None) -> pm.Model:
    """Return the model of differences with effects on the mean, and the residual distribution of the spec.

    The expected difference of a pair is the sum of a level and of effects of its type and clusters. `inputs` are the
    data from `difference_inputs`, and `coords` the labels of each dimension, which may be omitted.
    """
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
    n_pairs: pt.TensorVariable | None = None,
) -> pt.TensorVariable:
    """Add the level and all effects to the current model, and return their sum (expected value) for each row of data.

    `level` is the name of the level ("logit" or "mean"), and `prefix` begins the names of the standard deviations of
    effects. A row represents one pair or, if `n_pairs` is passed, several pairs. `inputs` has, for each kind of effect,
    the number of the label of each row (such as ``writer_of``) and the evidence for the sampler.

    The prior refers to the level of the population of writers. The sampled variable, `average`, is the sum of this
    level and the average effect of these writers over these pairs, because this sum is determined by the data. Its
    prior is that of the level, moved by the average effect, and the level is the difference between both.
    """
    effects: pt.TensorVariable | float = 0.0
    for dim in terms(spec, data, prefix):
        sd = free(spec, _sd(prefix, dim), _TYPICAL)
        evidence = inputs[_evidence(dim)]
        if dim == TYPE:  # effects of types have the mean zero, because results are averages over these types
            contrasts = normal_effects("type_contrast", 0.0, sd, evidence, _CONTRAST)
            # A sum of products, because a matrix product takes half a minute to compile.
            of_types = (contrasts[:, None] * inputs[_LOADINGS]).sum(axis=0)
            effect = pm.Deterministic(effect_of(dim), of_types, dims=dim)
        else:
            effect = normal_effects(effect_of(dim), 0.0, sd, evidence, dim)
        effects = effects + effect[inputs[position_of(dim)]]
    mean = pt.mean(effects) if n_pairs is None else (n_pairs * effects).sum() / n_pairs.sum()
    average = pm.CustomDist(f"average_{level}", mean, dist=lambda mean, size: mean + unnamed(spec.priors[level], size))
    pm.Deterministic(level, average - mean)
    return average - mean + effects


def effect_of(dim: str) -> str:
    """Return the name of the effects of a dimension in a posterior, such as "writer_effect"."""
    return f"{dim.removeprefix('bias_')}_effect"


def _sd(prefix: str, dim: str) -> str:
    """Return the name of the standard deviation of the effects of a dimension, such as "logit_sd_writer"."""
    return f"{prefix}_{dim.removeprefix('bias_')}"


def _tensors(data: xr.Dataset, inputs: Inputs, coords: Coords | None) -> dict[str, pt.TensorVariable]:
    """Add the inputs of a model to the current model, and return them as variables, by name.

    Inputs are added as data whose values can be replaced, so that a compiled model fits other tables. The label numbers
    of a dimension ("writer_numbers", from 0 to its number of labels) have this dimension, and so determine its length.
    They and the evidence on effects are not part of the model itself. A labelled model (with `coords`) is made to be
    read, so there they become constants without a name, which are not shown in a graph.
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


def _inputs_of_effects(data: xr.Dataset, inputs: Inputs, score: NDArray[Any], information: NDArray[Any]) -> Inputs:
    """Return the label numbers of each dimension, and the evidence of the data on the effect of each label.

    The evidence is an array (2, effects) with the score and the information on each effect: the first derivative and
    minus the second derivative of the log-likelihood at zero, if the average effect over all pairs is fixed.
    `normal_effects` uses it to choose a parametrisation. `score` and `information` contain the derivatives for each
    row of `inputs`.

    Let w be the vector of the sums of the information over the rows of each label. Given their average, the effects of
    a dimension have the information matrix diag(w) - w w' / sum(w), of which only the diagonal is used. Effects of
    types sum to zero, so their evidence is on the contrasts from which they are computed.
    """
    evidence: Inputs = {_numbers(dim): np.arange(data.sizes[dim], dtype=np.int32) for dim in _dims(data)}
    for dim in _dims_with_effects(data):
        label_of_row = inputs[position_of(dim)]
        n_labels = data.sizes[dim]
        score_of_effects = np.bincount(label_of_row, score, n_labels)
        w = np.bincount(label_of_row, information, n_labels)
        matrix = np.diag(w) - np.outer(w, w) / (w.sum() or 1)
        if dim == TYPE:
            loadings = helmert(n_labels) * zero_sum_sd(n_labels)  # (contrast, type)
            evidence[_LOADINGS] = loadings
            score_of_effects = loadings @ score_of_effects
            matrix = loadings @ matrix @ loadings.T
        evidence[_evidence(dim)] = np.array([score_of_effects, np.diag(matrix).clip(0)])
    return evidence


def _evidence(dim: str) -> str:
    """Return the name of the evidence on the effects of a dimension, such as "writer_evidence"."""
    return f"{dim}_evidence"


def _numbers(dim: str) -> str:
    """Return the name of the label numbers of a dimension, such as "writer_numbers"."""
    return f"{dim}_numbers"


def _dims(data: xr.Dataset) -> tuple[str, ...]:
    """Return the dimensions of a table: types, and the kinds of clusters that it has, such as writers."""
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
    """Return the posterior of the share of `counted` pairs among the pairs that `among` selects.

    Both arrays have a value for each pair. By default, these are the untied pairs whose stereotypical sentence is
    ahead. If only `counted` is passed, the share is of all pairs. The compiled model is kept under a `key`, for other
    data of the same form. With a `folder`, the posterior is kept there, and is sampled only if the folder has none of
    the same data and model, which its `identity` describes.
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

    identity = {"of": "share", **inputs, **coords}
    return kept_posterior(folder, sample, scores, spec, identity, seed, sampling)


@within("difference")
def fit_difference(
    scores: PairScores, spec: ModelSpec, data: xr.Dataset, *, seed: int, sampling: Sampling, folder: Path | None = None
) -> xr.DataTree:
    """Return the posterior of the mean difference in favour of the stereotypical sentence.

    The model is fitted in units of the priors, and draws are converted to the units of the scores. With a `folder`, the
    posterior is kept there, as in `fit_share`.
    """
    inputs = difference_inputs(data)
    coords = _coords(data)
    unit = data.unit.item()
    key = key_of(spec, inputs, coords, "difference")
    model = PyMCModel(lambda: difference_model(spec, data, inputs), coords, key, inputs)

    def sample() -> xr.DataTree:
        in_units_of_scores = partial(draws_in_units, unit=unit)
        return fit_model(scores, spec, model, data, seed=seed, sampling=sampling, complete=in_units_of_scores).tree

    identity = {"of": "difference", "unit": unit, **inputs, **coords}
    return kept_posterior(folder, sample, scores, spec, identity, seed, sampling)


def labelled_model(scores: PairScores, spec: ModelSpec, estimand: str) -> pm.Model:
    """Return the model of an estimand ("share" or "difference") for these scores, for users who read or extend it.

    Its dimensions have the labels of the table as coordinates, and its data are constants.
    """
    data, _ = design(scores)
    if estimand == "difference":
        model = difference_model(spec, data, difference_inputs(data), _coords(data))
    else:
        inputs = share_inputs(data, data.ahead.to_numpy(), untied(data))
        model = share_model(spec, data, inputs, _coords(data))
    return freeze_dims_and_data(model)


def _coords(data: xr.Dataset) -> dict[str, list[str]]:
    """Return the labels of each dimension of a table, such as the names of the types and of the writers."""
    return {dim: data[dim].to_numpy().tolist() for dim in _dims(data)}
