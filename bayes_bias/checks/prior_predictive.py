"""What would a model expect to see, before it has seen anything?"""

from pathlib import Path

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.arguments import check_count, check_seed
from bayes_bias.associations.labels import SIDES
from bayes_bias.associations.table import Associations, check_table
from bayes_bias.checks.given_draws import GivenDraws
from bayes_bias.errors import AssociationsError
from bayes_bias.models.components import Components
from bayes_bias.models.crossed import draw_normal
from bayes_bias.models.spec import ModelSpec, Prior, load_spec
from bayes_bias.models.structures import build_model, structure_of
from bayes_bias.models.units import unit_of

_DRAWS = 500
# Parameters that are no scale in the units of the table, and have limits that their prior does not know of.
_ABOVE = {"nu": 2.0}


def prior_predictive(
    table: Associations, model: str | Path | ModelSpec = "crossed", *, draws: int = _DRAWS, seed: int = 1
) -> xr.DataTree:
    """Parameters and values drawn from the prior of a model, for the words of a table.

    Parameters
    ----------
    table : Associations
        From `bayes_bias.cosines` or `Associations.from_frame`; each of its pairs is drawn anew.
    model : str, Path or ModelSpec
        As for `fit`.
    draws : int
        How many.
    seed : int
        The same seed gives the same numbers.

    Returns
    -------
    xarray.DataTree
        ``prior``, the parameters, with the words' effects; ``prior_predictive``, ``association (chain, draw, pair)``;
        ``observed_data``, ``association (pair)``, in the units of the table.

    Raises
    ------
    SpecError
        The model is unknown, or seed or draws are no whole numbers.
    AssociationsError
        The table does not fit the model, or has too many values to be formed.

    Notes
    -----
    The means of the crossed models' blocks have a flat prior, from which nothing can be drawn. They stay what was
    observed: the values show how much the priors let words differ about them, and say nothing of where they lie. The
    published model has a prior for everything.

    Examples
    --------
    >>> import arviz as az                                                        # doctest: +SKIP
    >>> drawn = prior_predictive(cosines("googlenews-demo", "weat6"))             # doctest: +SKIP
    >>> az.plot_ppc_dist(drawn, group="prior_predictive")                         # doctest: +SKIP
    """
    check_seed(seed)
    check_count("draws", draws, "draws")
    check_table(table)
    if not table.is_formed:
        raise AssociationsError(
            f"table: has {table.values.size:,} values, too many to draw; shorten the list"
        )
    spec = load_spec(model)
    structure, rng = structure_of(spec), np.random.default_rng(seed)
    data = structure.data(table)
    prior = _parameters(spec, data, draws, rng)
    prior = (_with_effects if structure.GENERALISES else _with_distances)(prior, data, rng)
    given = GivenDraws.of(structure, prior, data, table.values)
    groups = {
        "prior": prior,
        "prior_predictive": given.replicated(rng).to_dataset(),
        "observed_data": given.observed.to_dataset(),
    }
    return xr.DataTree.from_dict(groups)


def _parameters(spec: ModelSpec, data: xr.Dataset, draws: int, rng: np.random.Generator) -> xr.Dataset:
    """What the model has a prior for, in the units of the table; the model itself knows the dims."""
    model, unit = build_model(spec, data), unit_of(spec, data)
    drawn = {}
    for name, prior in spec.priors.items():
        if name in model.named_vars:
            dims = model.named_vars_to_dims.get(name, ())
            shape = (1, draws, *(data.sizes[dim] for dim in dims))
            values = _drawn(name, prior, shape, rng) * (1 if name in _ABOVE else unit)
            drawn[name] = (("chain", "draw", *dims), values)
    dims = {dim for _, (each, _) in drawn.items() for dim in each if dim in data.coords}
    labels = {dim: data[dim] for dim in dims} | {"chain": [0], "draw": np.arange(draws)}
    return xr.Dataset(drawn, coords=labels)


def _drawn(name: str, prior: Prior, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    distribution, given = getattr(pm, prior.distribution), prior.parameters
    if name in _ABOVE:
        found = pm.Truncated.dist(distribution.dist(**given), lower=_ABOVE[name], shape=shape)
    else:
        found = distribution.dist(**given, shape=shape)
    # It is drawn once, and compiling would take longer.
    return np.asarray(pm.draw(found, random_seed=rng, mode="FAST_COMPILE"))


def _with_effects(prior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """Effects of words about the observed means of blocks."""
    components = Components.of_posterior(prior, data)
    of_attribute = components.attributes().matrix()[..., data.class_of.to_numpy(), :, :]
    of_cluster = {
        "target": components.of_target_cluster().matrix(),
        "attribute": components.of_attribute_cluster().matrix()[..., 0, :, :],
    }
    own = {
        "target": draw_normal(components.target().matrix(), (data.sizes["target"],), rng),
        "attribute": draw_normal(of_attribute, (), rng),
    }
    dims = {"target": ("target", "attribute_class"), "attribute": ("attribute", "group")}
    effects = {
        f"{side}_effect": (
            ("chain", "draw", *dims[side]),
            own[side] + _of_clusters(of_cluster[side], data[f"{side}_cluster"].to_numpy(), rng),
        )
        for side in SIDES
    }
    labels = {dim: data[dim] for dim in ("target", "attribute", "group", "attribute_class")}
    return prior.assign(effects).assign_coords(labels).assign(mean=data.block_mean)


def _of_clusters(
    covariance: NDArray[np.float64], cluster: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.float64]:
    """What each word shares with its sub-topic or pair, (chain, draw, words, k); zero for a word in none."""
    if (cluster < 0).all():
        return np.zeros(())
    shared = draw_normal(covariance, (int(cluster.max()) + 1,), rng)
    return np.where((cluster >= 0)[:, None], shared[..., cluster, :], 0.0)


def _with_distances(prior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """Each target's own distance in each connection, as the published model has them."""
    centre = prior.connection_mean.expand_dims(target=data.target.to_numpy())
    centre = centre.transpose("chain", "draw", "target", "connection")
    noise = centre.copy(data=rng.standard_normal(centre.shape))
    return prior.assign(target_connection_mean=centre + prior.connection_sd * noise)
