"""What would a model expect to see, and how large a bias, before it has seen anything?"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pymc as pm
import xarray as xr

from bayes_bias.arguments import check_count, check_seed
from bayes_bias.errors import TableError
from bayes_bias.models.bias_draws import with_bias
from bayes_bias.models.custom_model import CustomModel, built
from bayes_bias.models.model_spec import ModelSpec, Prior, load_spec
from bayes_bias.models.open_model import pymc_model
from bayes_bias.models.residuals import shape_parameters
from bayes_bias.models.structures import build_model, structure_of
from bayes_bias.models.units import unit_of
from bayes_bias.models.values_given_draws import GivenDraws
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.sufficient_statistics import table_means

_DRAWS = 500


def prior_predictive(
    table: AssociationTable,
    model: str | Path | ModelSpec | CustomModel = "crossed",
    *,
    draws: int = _DRAWS,
    seed: int = 1,
) -> xr.DataTree:
    """Parameters, the bias and values drawn from the prior of a model, for the words of a table.

    Parameters
    ----------
    table : AssociationTable
        From `bayes_bias.cosines` or `AssociationTable.from_frame`; each of its pairs is drawn anew.
    model : str, Path, ModelSpec, pymc.Model or callable
        As for `fit`.
    draws : int
        How many.
    seed : int
        The same seed gives the same numbers.

    Returns
    -------
    xarray.DataTree
        ``prior``, the parameters with the words' effects, and ``bias``; ``prior_predictive``, ``association (chain,
        draw, pair)``; ``observed_data``, ``association (pair)``, in the units of the table.

    Raises
    ------
    SpecError
        The model is unknown, or seed or draws are no whole numbers.
    TableError
        The table does not fit the model, or has too many values to be formed.

    Notes
    -----
    They are drawn by PyMC from `bayes_bias.pymc_model`. Nothing can be drawn from the flat prior that `fit` has for the
    means of blocks, so these are normal, as it says there, and so wide that the data decide: so is the prior of the
    bias. To narrow it, write the model yourself.

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
        raise TableError(f"table: has {table.values.size:,} values, too many to draw; shorten the list")
    if isinstance(model, pm.Model) or callable(model):
        return _by_pymc(built(model, table), table, draws, seed)
    spec = load_spec(model)
    if structure_of(spec).GENERALISES:
        return _by_pymc(pymc_model(table, spec), table, draws, seed)
    return _of_published(spec, table, draws, seed)


def _by_pymc(model: pm.Model, table: AssociationTable, draws: int, seed: int) -> xr.DataTree:
    with _without_announcement():
        drawn = pm.sample_prior_predictive(
            # Each is drawn a few hundred times, and compiling would take longer.
            draws,
            model=model,
            random_seed=seed,
            compile_kwargs={"mode": "FAST_COMPILE"},
        )
    prior = drawn["prior"].to_dataset()
    kept = prior.drop_vars([name for name in prior.data_vars if str(name).endswith("_z")])
    used = kept.drop_vars([dim for dim in kept.coords if all(dim not in each.dims for each in kept.values())])
    groups = {name: drawn[name].to_dataset() for name in ("prior_predictive", "observed_data")}
    return xr.DataTree.from_dict({"prior": with_bias(used, table_means(table)), **groups})


def _of_published(spec: ModelSpec, table: AssociationTable, draws: int, seed: int) -> xr.DataTree:
    """Of the published model, whose long form `pymc_model` does not have."""
    structure, rng = structure_of(spec), np.random.default_rng(seed)
    data = structure.data(table)
    prior = structure.with_prior_effects(_parameters(spec, data, draws, rng), data, rng)
    given = GivenDraws.of(structure, prior, data, table.values)
    groups = {
        "prior": with_bias(prior, data),
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
            values = _drawn(name, prior, shape, rng) * (1 if name in shape_parameters() else unit)
            drawn[name] = (("chain", "draw", *dims), values)
    labels = {dim: data[dim] for dims, _ in drawn.values() for dim in dims if dim in data.coords}
    labels |= {"chain": [0], "draw": np.arange(draws)}
    return xr.Dataset(drawn, coords=labels)


def _drawn(name: str, prior: Prior, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    distribution = getattr(pm, prior.distribution)
    if name in shape_parameters() and (least := shape_parameters()[name].least_for_sd) is not None:
        variable = pm.Truncated.dist(distribution.dist(**prior.parameters), lower=float(least), shape=shape)
    else:
        variable = distribution.dist(**prior.parameters, shape=shape)
    # It is drawn once, and compiling would take longer.
    return np.asarray(pm.draw(variable, random_seed=rng, mode="FAST_COMPILE"))


@contextmanager
def _without_announcement() -> Iterator[None]:
    """PyMC names what it draws, at the level of notices."""
    logger = logging.getLogger("pymc.sampling.forward")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
