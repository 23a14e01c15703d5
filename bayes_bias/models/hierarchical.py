"""The published model of Dobrzeniecka & Urbaniak (2024), on the scale of cosine distance."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import scipy
import xarray as xr

from bayes_bias.errors import TableError
from bayes_bias.models.priors import free
from bayes_bias.models.spec import ModelSpec
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.metric import COSINE
from bayes_bias.table.statistics import compared_classes, pair_labels, table_means

DIMS = ("connection",)
GENERALISES = False
COLLAPSED = False

# Order of magnitude of the scales of cosines, so that the sampler starts near plausible values.
_TYPICAL = 0.05


def data(table: AssociationTable) -> xr.Dataset:
    """Return three statistics of cosine distances: the number and the mean for each target in each connection, and the
    scatter around these means for each connection.

    Given a target and a connection, distances are independent and normal in the model, so these statistics are
    sufficient. If the source lists a pair twice, the pair is counted twice, as in the paper.
    """
    if table.metric != COSINE:
        raise TableError(
            f"`table` '{table.name}' contains {table.metric.plural}, but the published model is a model of"
            " cosine distances. Use model='crossed'."
        )
    labels = ["associated", "different", *table.controls]
    distance = 1 - table.values.to_numpy()
    weight = np.isfinite(distance).astype(float)
    if table.repeats is not None:
        weight = weight * table.repeats.to_numpy()
    distance = np.where(weight > 0, distance, 0.0)
    means = table_means(table)
    # One if the pair of target i and attribute j has the connection k, and otherwise zero, (i, j, k).
    in_connection = np.eye(len(labels))[_connection_of(means)]
    count = np.einsum("ij,ijk->ik", weight, in_connection)
    target, connection = np.nonzero(count == 0)
    if target.size:
        word = table.values.target.to_numpy()[target[0]]
        raise TableError(f"Target '{word}' has no cosine of connection '{labels[connection[0]]}'.")
    mean = np.einsum("ij,ijk->ik", weight * distance, in_connection) / count
    deviation = distance - np.einsum("ik,ijk->ij", mean, in_connection)
    scatter = np.einsum("ij,ijk->k", weight * deviation**2, in_connection)
    for label in np.array(labels)[scatter <= 0]:  # connections without variation, if there are any
        raise TableError(
            f"In `table` '{table.name}', the cosines of connection '{label}' do not differ within any"
            " target, so their variance cannot be estimated. Add words to that connection."
        )
    statistics = xr.Dataset(
        {
            "distance_count": (("target", "connection"), count),
            "distance_mean": (("target", "connection"), mean),
            "distance_scatter": ("connection", scatter),
        },
        coords={"connection": labels},
    )
    return means.merge(statistics)


def inputs(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Return the number, mean, and scatter of distances, which do not depend on the spec."""
    return {name: data[name].to_numpy() for name in ("distance_count", "distance_mean", "distance_scatter")}


inputs_as_measured = inputs  # priors are of distances


def build(spec: ModelSpec, inputs: Mapping[str, Any], coords: Mapping[str, list[str]]) -> None:
    """Add distances by connection to the PyMC model, with target effects and one residual sd for each connection.

    ``1 - y[i, j] ~ Normal(e[i, k], residual_sd[k])``, ``e[i, k] ~ Normal(connection_mean[k], connection_sd[k])``. The
    effects ``e`` are integrated out here and drawn later in `complete`. The likelihood depends on the mean distances of
    targets and the scatter within targets.
    """
    count, mean, scatter = inputs["distance_count"], inputs["distance_mean"], inputs["distance_scatter"]
    connection_mean = free(spec, "connection_mean", dims="connection")
    connection_sd = free(spec, "connection_sd", _TYPICAL, "connection")
    variance = free(spec, "residual_sd", _TYPICAL, "connection") ** 2
    pm.Normal("mean_distance", connection_mean, pt.sqrt(connection_sd**2 + variance / count), observed=mean)
    # Sums of squares around the means of targets are chi-squared variables times the variance.
    pm.Gamma("scatter", (count - 1).sum(axis=0) / 2, 1 / (2 * variance), observed=scatter, dims="connection")


def written_out(spec: ModelSpec, table: AssociationTable) -> pm.Model:
    """Return the PyMC model with explicit effects and values. A pair appears as often as in the source.

    The distance ``1 - y`` of a pair is normal around the mean of its target in the connection of the pair, and these
    means are normal around the mean of the connection. `target`, `attribute`, and `connection` are positions of each
    observed pair.
    """
    inputs = data(table)
    values = table.values.to_numpy()
    repeats = np.isfinite(values).astype(int)  # how often each pair was observed, (targets, attributes)
    if table.repeats is not None:
        repeats *= table.repeats.to_numpy()
    # The positions of all pairs, (2, pairs), each repeated as often as it was observed.
    target, attribute = np.indices(values.shape).reshape(2, -1).repeat(repeats.ravel(), axis=1)
    connection = _connection_of(inputs)[target, attribute]
    coords = {dim: inputs[dim].to_numpy().tolist() for dim in ("connection", "target")}
    with pm.Model(coords=coords | {"pair": pair_labels(inputs, target, attribute)}) as model:
        mean = free(spec, "connection_mean", dims="connection")
        standard_normal = pm.Normal("target_connection_z", dims=("target", "connection"))
        target_mean = mean + standard_normal * free(spec, "connection_sd", _TYPICAL, "connection")
        pm.Deterministic("target_connection_mean", target_mean.T, dims=("connection", "target"))
        pm.Deterministic("bias", mean[1] - mean[0])
        residual = free(spec, "residual_sd", _TYPICAL, "connection")[connection]
        expected = 1 - target_mean[target, connection]
        pm.Normal("association", expected, residual, observed=values[target, attribute], dims="pair")
    return model


def complete(spec: ModelSpec, posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """Return the posterior with draws of ``target_connection_mean (target, connection)``, the expected distance of each
    target.

    Let m and s be the mean and standard deviation of a connection, and v the residual variance of the mean distance d
    of a target. Given these, the expected distance is normal with mean ``m + w (d - m)`` and variance ``w v``, where
    ``w = s**2 / (s**2 + v)``.
    """
    variance = posterior.residual_sd**2 / data.distance_count
    weight = posterior.connection_sd**2 / (posterior.connection_sd**2 + variance)
    centre = posterior.connection_mean + weight * (data.distance_mean - posterior.connection_mean)
    noise = xr.zeros_like(centre) + rng.standard_normal(centre.shape)
    return posterior.assign(target_connection_mean=centre + np.sqrt(weight * variance) * noise)


def given_draws(
    posterior: xr.Dataset, data: xr.Dataset, target: xr.DataArray, attribute: xr.DataArray
) -> tuple[Any, tuple[Any, ...]]:
    """Return SciPy's distribution of the value of each pair, given draws of the parameters, and its mean and standard
    deviation in each draw.

    A value is one minus a distance, which is normal around the mean of the target in the connection of the pair.
    `target` and `attribute` are the positions of the words of each pair.
    """
    connection = xr.DataArray(_connection_of(data)[target, attribute], dims="pair")
    expected = 1 - posterior.target_connection_mean.isel(target=target, connection=connection)
    return scipy.stats.norm, (expected, posterior.residual_sd.isel(connection=connection))


def _connection_of(data: xr.Dataset) -> np.ndarray:
    """Return the number of each pair's connection, (targets, attributes): 0 if the attribute is of the class that is
    associated with the target's group, 1 if it is of another associated class, and then one for each control class.
    """
    class_of = data.class_of.to_numpy()
    n_classes = data.sizes["attribute_class"]
    controls = np.setdiff1d(np.arange(n_classes), compared_classes(data))
    connection_of_class = np.ones(n_classes, dtype=int)
    connection_of_class[controls] = 2 + np.arange(len(controls))
    associated_class = data.associated.to_numpy()[data.group_of.to_numpy()]
    is_associated = associated_class[:, None] == class_of
    return np.where(is_associated, 0, connection_of_class[class_of])
