"""Simulation-based calibration with tables that the model draws, so that their true bias is known."""

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.checks.null_jobs import Record, judge
from bayes_bias.errors import ScopeError, SpecError
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import structure_of
from bayes_bias.progress import Quiet, advance, shown, step
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.replicates import Replicates
from bayes_bias.table.scopes import possible_scopes, widest_scope
from bayes_bias.table.statistics import table_means

# Number of prior draws that are held in memory at a time.
_BATCH = 100


def judge_simulations(
    table: AssociationTable, spec: ModelSpec, *, truth: float, draws: int, seed: int, sampling: Sampling
) -> pd.DataFrame:
    """Return the records of `judge` for tables that a model simulates for the words of a table.

    The true bias of each table is `truth`. The posterior is judged under the widest scope, so that it generalises to
    new words on all sides. Each table has its own seed.

    Raises
    ------
    SpecError
        If the model samples an effect for each word.
    ScopeError
        If a group or class has a single word, so that the posterior cannot generalise to new words on both sides.
    """
    if not structure_of(spec).COLLAPSED:
        raise SpecError(
            f"models: '{spec.name}' samples an effect of every word, which takes half a minute for each simulated"
            " table. Use 'crossed' instead."
        )
    means = table_means(table)
    scope = widest_scope(means)
    if scope not in possible_scopes(means):
        raise ScopeError("`by` is 'simulation', which requires two or more words in each group and class. Add words.")
    records: list[Record] = []
    step(f"{table.name}: simulating")
    for number, simulated in enumerate(simulated_tables(table, spec, truth=truth, draws=draws, seed=seed)):
        with shown(Quiet()):
            judged = judge(simulated, spec, truth=truth, seed=seed + number, sampling=sampling, scopes=(scope,))
        records += [{"draw": number, **record} for record in judged]
        advance(number + 1, draws)
    return pd.DataFrame(records)


def simulated_tables(
    table: AssociationTable, spec: ModelSpec, *, truth: float, draws: int, seed: int
) -> Iterator[AssociationTable]:
    """Yield tables of the words of a table, with standard deviations from the prior and a known bias.

    PyMC draws the tables from `bayes_bias.pymc_model`. Expected block means are replaced, because they have a flat
    prior in `fit`. The posterior of the bias shifts accordingly. With the weights k of the blocks, block means of
    ``truth k / sum(k^2)`` have the bias ``sum(k truth k / sum(k^2)) = truth``.
    """
    from bayes_bias.checks.prior_predictive import prior_predictive

    weights = bias_weights(table_means(table)).isel(contrast=0).transpose("group", "attribute_class").to_numpy()
    planted_means = np.asarray(truth * weights / (weights**2).sum())  # block means with this bias
    for batch, first in enumerate(range(0, draws, _BATCH)):
        drawn = prior_predictive(table, spec, draws=min(_BATCH, draws - first), seed=seed + batch)
        values = drawn["prior_predictive"].association.isel(chain=0)
        drawn_means = drawn["prior"]["mean"].isel(chain=0).transpose("draw", "group", "attribute_class").to_numpy()
        for pair_values, block_means in zip(values, drawn_means, strict=True):
            yield _with_values(table, pair_values, planted_means - block_means)


def _with_values(table: AssociationTable, pair_values: xr.DataArray, shift: Numbers) -> AssociationTable:
    """Return the table with other values, to which the shift of their block (group, class) is added.

    `pair_values` has a value for each pair of words whose value in the table is not missing, (pair) or (replicate,
    pair). With replicates, each replicate becomes a table, and the values are their mean.
    """
    position_of_pair = np.nonzero(table.values.notnull().to_numpy())
    shift_of_cell = shift[np.ix_(table.group_index, table.class_index)]  # (target, attribute)

    def as_matrix(values: xr.DataArray) -> xr.DataArray:
        """Return values of pairs as a matrix (target, attribute) with the shift. Other cells are missing."""
        matrix = np.full(table.values.shape, np.nan)
        matrix[position_of_pair] = values.to_numpy()
        return table.values.copy(data=matrix + shift_of_cell)

    if "replicate" not in pair_values.dims or table.replicates is None:
        return replace(table, values=as_matrix(pair_values), replicates=None, origin=None, texts=None)
    labels = table.replicates.labels
    tables = {label: as_matrix(pair_values.isel(replicate=k)) for k, label in enumerate(labels)}
    replicates = Replicates(table.replicates.kind, MappingProxyType(tables))
    return replace(table, values=replicates.mean(), replicates=replicates, origin=None, texts=None)
