r"""Compute the posterior of a bias by numerical integration, without a sampler.

A bias compares classes, so the levels of words cancel. Given the residual variance :math:`\sigma_e^2`, the noise of the
bias depends on one variance :math:`\sigma_k^2` for each group and each associated class. The words of group or class k
inform :math:`\sigma_k^2` through the sums of squares :math:`S_{ki}` of their preferences, along orthonormal contrasts i
of the opposite classes or groups, with :math:`f_k` degrees of freedom each:

.. math::

    p(\sigma_e, \phi, \sigma \mid y) \propto p(\sigma_e \mid y) \, p(\phi) \prod_k p(\sigma_k \mid \phi)
        \prod_i v_{ki}^{-f_k / 2} \exp\left(-\frac{S_{ki}}{2 v_{ki}}\right),
    \qquad v_{ki} = a_k \sigma_k^2 + \eta_{ki} \sigma_e^2,

where :math:`p(\sigma_e \mid y)` is the posterior from the interaction of words, and :math:`\phi` is the factor that the
expected variances of one side share (`bayes_bias.models.preferences`). Groups, or classes, with a common scale share
one variance, which is estimated from all of their words. Given :math:`\sigma_e` and :math:`\phi`, the variances are
independent, and each is integrated on a grid. The variances of the bias are taken at the points of a Latin hypercube.
Given all variances, the bias is normal with variance :math:`\sum_k w_k I_k \sigma_k^2 + w_e \sigma_e^2`, where
:math:`I_k` is the inflation by related words. If the texts behind the table are a sample, the variance that they add
(`bayes_bias.table.texts`) is independent.

Levels contain some information about the residual variance. They are integrated in the same way, but have a weight of
zero in the variance of the bias. This is the posterior of `bayes_bias.models.crossed` if all classes, and all groups,
have equally many words. Otherwise residuals induce a correlation between the level and the preferences of a word. The
preferences are then taken given the levels, whose variance and the residual variance are replaced by their estimates
for this purpose. See `_MOST_UNEVEN`, and docs/evidence/speed.md for the resulting differences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Self

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import gammaincinv, ndtr, ndtri

from bayes_bias.errors import TableError
from bayes_bias.models.families import FloatOrArray
from bayes_bias.models.patterns import zero_sum_covariance
from bayes_bias.models.preferences import PREFERENCE, residual_shares, sides_from_vectors
from bayes_bias.models.residuals import shape_parameters
from bayes_bias.models.scales import clusters_in, dims_of_scale, has_replicates, units_of_priors
from bayes_bias.models.spec import COMMON, ModelSpec, Prior
from bayes_bias.models.structures import modelled, resolved
from bayes_bias.posterior.estimate import SAMPLE, Estimate, Mixture
from bayes_bias.posterior.text_variances import text_variances
from bayes_bias.posterior.variance_grids import (
    FULL_GRID,
    Grid,
    PreferencesOnGrid,
    WordVariance,
    log_density_in_unit,
    posteriors,
)
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import OVERALL, bias_weights
from bayes_bias.table.columns import interval_names
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side
from bayes_bias.table.scopes import PART_OF_SIDE, Part, Scope, ScopeName, check_design
from bayes_bias.table.statistics import compared_classes, refuse_degenerate, sufficient_statistics
from bayes_bias.table.texts import has_texts

# Range of the log residual variance on the grid around its estimate, in standard deviations.
_RANGE = (-4.0, 5.0)
_SEED = 1
# Scales of levels. A bias depends on them if the weights of a class do not sum to zero.
LEVEL: Mapping[Side, str] = MappingProxyType({"target": "sd_target_associated", "attribute": "sd_attribute"})
# A level whose weight in the bias is below this number cancels.
_NO_LEVEL = 1e-4
# Maximum relative error of half the width of an interval, computed from a mixture of normals.
_TOLERANCE = 1e-10
# Up to this ratio of lengths, p differs by at most .003 from the value that the sampler computes
# (docs/evidence/speed.md). With a ratio of three, it may differ by .07.
_MOST_UNEVEN = 1.5
# Properties of tables whose posterior is sampled.
NEED_SAMPLER = "replicates, covariates, pairs, sub-topics, or lists of very different lengths"


@dataclass(frozen=True, eq=False)
class SideOfTable:
    """Statistics of the words of one side of some tables, with one entry for each group or associated class.

    The tables have the same design. Arrays with a dimension `lists` have one entry for each table.

    Attributes
    ----------
    side : {"target", "attribute"}
        The side.
    scatter : array (lists, cells, k, k)
        Cross-products of words' means with the k groups, or classes, of the other side, around the mean of their cell.
    words, opposite : array (cells,), (k,)
        Numbers of words.
    weights : array (cells, k)
        Weights of blocks in the bias.
    preference, level : Prior
        Priors of the standard deviations of preferences and of levels.
    preference_unit, level_unit : array (lists, cells)
        Units of the priors, in the units of the tables.
    inflation : array (lists, cells)
        Ratio of the variance of the mean of a cell to the variance for independent words.
    inflation_df : array (cells,)
        Degrees of freedom of this ratio. They are infinite if the ratio is known.
    expected : array (lists, cells), optional
        If `preference` is ``FromVectors``: the expected variance of measured preferences.
    explained : array (cells,), optional
        If `preference` is ``FromVectors``: the share of the residual variance that this variance includes.
    has_common_scales : bool
        Whether all cells have the same standard deviations.
    """

    side: Side
    scatter: Numbers
    words: Numbers
    opposite: Numbers
    weights: Numbers
    preference: Prior
    level: Prior
    preference_unit: Numbers
    level_unit: Numbers
    inflation: Numbers
    inflation_df: Numbers
    expected: Numbers | None = None
    explained: Numbers | None = None
    has_common_scales: bool = False

    @classmethod
    def of(
        cls, side: Side, spec: ModelSpec, data: xr.Dataset, weights: Numbers, units: Mapping[str, FloatOrArray]
    ) -> Self:
        """Return the statistics of one side of a single table, from its sufficient statistics, the weights of blocks
        (groups, classes) in the bias, and the units of priors by the name of the scale.

        The cells of a side are the groups of targets, or the associated classes of attributes, and opposite cells are
        those of the other side. Some sides have an expected variance of preferences, which comes from vectors, and some
        an inflation of variances by related words. Otherwise, words are independent, so the inflation is 1.
        """
        compared = compared_classes(data)
        n_targets = data.n_targets.to_numpy()
        n_attributes = data.n_attributes.to_numpy()[compared]
        block_weights = weights[:, compared]  # (groups, associated classes)
        scatter = data[f"{side}_scatter"].to_numpy()
        if side == "target":
            words, opposite, cell_weights = n_targets, n_attributes, block_weights
            scatter = scatter[:, compared][:, :, compared]
        else:
            words, opposite, cell_weights = n_attributes, n_targets, block_weights.T
        cells = len(words)  # arrays of all classes end with the control classes, which are omitted
        expected = explained = None
        if side in sides_from_vectors(spec, data):
            expected = data[f"{side}_preference_sd"].to_numpy()[None, :cells] ** 2
            explained = residual_shares(data, side)[:cells]
        inflation = np.ones(cells)
        directions = np.full(cells, np.inf)
        if f"{side}_inflation" in data:
            inflation = data[f"{side}_inflation"].to_numpy()
            directions = data[f"{side}_directions"].to_numpy()
        return cls(
            side=side,
            scatter=scatter[None, :cells],
            words=words,
            opposite=opposite,
            weights=cell_weights,
            preference=spec.priors[PREFERENCE[side]],
            level=spec.priors[LEVEL[side]],
            preference_unit=_by_cell(units[PREFERENCE[side]], cells),
            level_unit=_by_cell(units[LEVEL[side]], cells),
            inflation=inflation[None, :cells],
            inflation_df=np.where(np.isnan(directions), np.inf, directions / 2)[:cells],
            expected=expected,
            explained=explained,
            has_common_scales=not dims_of_scale(spec, (CATEGORY_COORD[side],)),
        )

    def variances(self, residual: Numbers | float = 0.0) -> Iterator[WordVariance]:
        """Yield the variances of preferences, followed by the variances of levels.

        There is one variance for each cell, that is, for each group or class of this side, or a single variance if all
        cells have a common scale. Preferences are compared between opposite cells, so there must be two or more.

        The estimate of the residual variance (lists,) matters only if the lengths of opposite cells differ.
        """
        cells = list(range(len(self.words)))
        cells_with_scale = [cells] if self.has_common_scales else [[cell] for cell in cells]
        if len(self.opposite) > 1:
            yield from self._preference_variances(cells_with_scale, np.broadcast_to(residual, len(self.scatter)))
        yield from self._level_variances(cells_with_scale)

    def _preference_variances(self, cells_with_scale: list[list[int]], residual: Numbers) -> Iterator[WordVariance]:
        r"""Yield the variance of preferences for each scale, given the cells that have the scale.

        The k preferences of a word sum to zero. If their variance is one, their covariance is the matrix Z from
        `zero_sum_covariance`. Let :math:`w` be the weights of a cell's blocks in the bias, and n its number of words.
        The cell then contributes :math:`w' Z w / n` to the variance of the bias.

        The words inform the variance through the sums of squares :math:`c' S c` of the scatter S (k, k) of a cell along
        k - 1 contrasts c of the opposite cells, with n - 1 degrees of freedom each.
        """
        lists = len(self.scatter)
        k = len(self.opposite)
        # For each list and cell: k - 1 contrasts c as rows, the variances of their noise, and the squares c' S c.
        contrasts, noise = _contrasts(self.opposite, self._level_weights(residual))
        squares = np.einsum("lcij,lcjk,lcik->lci", contrasts, self.scatter, contrasts)
        z = zero_sum_covariance(k)
        for cells in cells_with_scale:
            contributions = {}
            for cell in cells:
                w = self.weights[cell]
                contributions[cell] = float(w @ z @ w) / self.words[cell]
            first = cells[0]  # cells with a common scale have the same prior
            yield WordVariance(
                squares=squares[:, cells].reshape(lists, -1),
                noise=noise[:, cells].reshape(lists, -1),
                df=np.repeat(self.words[cells] - 1.0, k - 1),
                loading=k / (k - 1),
                weights=contributions,
                prior=self.preference,
                unit=self.preference_unit[:, first],
                expected=None if self.expected is None else self.expected[:, first],
                explained=0.0 if self.explained is None else float(self.explained[first]),
            )

    def _level_variances(self, cells_with_scale: list[list[int]]) -> Iterator[WordVariance]:
        r"""Yield the variance of levels for each scale, given the cells that have the scale.

        The level of a word is its sum over the k opposite cells, divided by :math:`\sqrt k`. A cell with n words and
        the weights :math:`w` contributes :math:`(\sum w)^2 / n` to the variance of the bias, unless its weights cancel.
        """
        lists = len(self.scatter)
        k = len(self.opposite)
        weight_sums = self.weights.sum(axis=1)
        for cells in cells_with_scale:
            relevant = [cell for cell in cells if abs(weight_sums[cell]) > _NO_LEVEL]
            yield WordVariance(
                squares=self.scatter[:, cells].sum(axis=(2, 3)) / k,
                noise=np.full((lists, len(cells)), (1 / self.opposite).mean()),
                df=self.words[cells] - 1.0,
                loading=float(k),
                weights={cell: weight_sums[cell] ** 2 / self.words[cell] for cell in relevant},
                prior=self.level,
                unit=self.level_unit[:, cells[0]],
            )

    def _level_weights(self, residual: Numbers) -> Numbers:
        """Return the ratio of the residual variance to the variance of the words' observed levels, (lists, cells).

        `_contrasts` subtracts the level of a word with this weight. The weights are 0 if the opposite cells are equally
        long, because the level is then independent of the preferences.
        """
        ratios = np.zeros(self.scatter.shape[:2])
        if np.ptp(self.opposite) == 0:
            return ratios
        observed = self.scatter.sum(axis=(2, 3)) / len(self.opposite) / np.maximum(self.words - 1, 1)
        # The variance of observed levels includes residuals, so it is at least as large as their contribution.
        level_variance = np.maximum(observed, residual[:, None] * (1 / self.opposite).mean())
        return np.divide(residual[:, None], level_variance, out=ratios, where=level_variance > 0)

    def inflations(self, cell: int, dims: int, number: int, points: int) -> Numbers | float:
        """Return the inflation of one cell, (lists, points), at the points of dimension `number` of a hypercube.

        The inflation is ``1 + (I - 1) * factor``, where I is its estimate and the factor has the expected value one.
        """
        excess = self.inflation[:, cell, None] - 1
        if not excess.any():
            return 1.0
        return np.asarray(1 + excess * _inflation_factors(float(self.inflation_df[cell]), dims, number, points))


@dataclass(frozen=True, eq=False)
class Integrand:
    """All quantities that determine the posterior of the bias of some tables with the same design.

    Attributes
    ----------
    observed : array (lists,)
        The raw contrast of each table.
    sides : sequence of SideOfTable
        Sides that the scope samples.
    residual_squares : array (lists,)
        Sum of squares of the interaction.
    residual_df : float
        Degrees of freedom of the interaction.
    residual_prior : Prior
        Prior of the residual standard deviation.
    residual_unit : array (lists,)
        Unit of this prior, in the units of the tables.
    residual_weight : float
        Variance of the bias for a residual variance of one.
    """

    observed: Numbers
    sides: Sequence[SideOfTable]
    residual_squares: Numbers
    residual_df: float
    residual_prior: Prior
    residual_unit: Numbers
    residual_weight: float

    @classmethod
    def of(cls, spec: ModelSpec, data: xr.Dataset, scope: Scope) -> Self:
        """Return the integrand of a single table from its sufficient statistics."""
        spec = resolved(spec, data)
        weights = bias_weights(data).to_numpy()[0]  # (groups, classes)
        units = units_of_priors(spec, data)
        values_in_block = np.outer(data.n_targets.to_numpy(), data.n_attributes.to_numpy())
        sampled = {facet.dim for facet in scope.facets}
        return cls(
            observed=np.array([(weights * data.block_mean.to_numpy()).sum()]),
            sides=[SideOfTable.of(side, spec, data, weights, units) for side in SIDES if side in sampled],
            residual_squares=np.array([data.interaction_ss.item()]),
            residual_df=float(data.interaction_df),
            residual_prior=spec.priors["sd_residual"],
            residual_unit=np.atleast_1d(units["sd_residual"]),
            residual_weight=float((weights**2 / values_in_block).sum()),
        )

    def with_independent_words(self) -> Self:
        """Return the integrand under the assumption that words are independent."""
        sides = [replace(side, inflation=np.ones_like(side.inflation)) for side in self.sides]
        return replace(self, sides=sides)

    def variances(self, grid: Grid = FULL_GRID) -> Numbers:
        """Return variances of the bias at points that represent its posterior, (lists, points)."""
        return np.sum([*self.parts(grid).values()], axis=0)

    def parts(self, grid: Grid = FULL_GRID) -> dict[Part, Numbers]:
        """Return the variances of the bias by source: residual, and targets and attributes if they are sampled."""
        return _OnResiduals.of(self, grid.residuals).at_points(grid)


@dataclass(frozen=True, eq=False)
class _OnResiduals:
    """Residual variances of each table, and the word variances to integrate given each of them.

    Attributes
    ----------
    variances, log_weight : array (lists, residuals)
        Residual variances, and the logs of their weights given the interaction alone.
    with_own_prior : sequence of (SideOfTable, WordVariance)
        Variances with a prior of their own.
    with_factor : sequence of (SideOfTable, list of WordVariance)
        For each side whose preferences have a prior from vectors, the variances that share a factor.
    """

    integrand: Integrand
    variances: Numbers
    log_weight: Numbers
    with_own_prior: Sequence[tuple[SideOfTable, WordVariance]]
    with_factor: Sequence[tuple[SideOfTable, list[WordVariance]]]

    @classmethod
    def of(cls, integrand: Integrand, number: int) -> Self:
        """Space a `number` of residual variances v equally on the log scale, and divide the word variances by their
        kind of prior.

        The interaction of words has the sum of squares S with f degrees of freedom, so the estimate of v is S / f, and
        its log has a standard deviation of about sqrt(2 / f). The grid covers `_RANGE` such deviations. The log weight
        is the log posterior density of log v, up to a constant:

            -(f log v + S / v) / 2 + log p(sqrt(v)) + (log v) / 2

        where p is the prior density of the standard deviation, and the last term transforms it to log v.
        """
        squares, df = integrand.residual_squares[:, None], integrand.residual_df
        residual = squares / df * np.exp(np.sqrt(2 / df) * np.linspace(*_RANGE, number))  # (lists, number)
        log_likelihood = -0.5 * (df * np.log(residual) + squares / residual)
        log_prior = log_density_in_unit(integrand.residual_prior, integrand.residual_unit[:, None], np.sqrt(residual))
        log_weight = log_likelihood + log_prior + 0.5 * np.log(residual)
        with_own_prior, with_factor = [], []
        for side in integrand.sides:
            word_variances = list(side.variances(squares[:, 0] / df))
            with_own_prior += [(side, variance) for variance in word_variances if not variance.has_factor]
            variances_with_factor = [variance for variance in word_variances if variance.has_factor]
            if variances_with_factor:
                with_factor.append((side, variances_with_factor))
        return cls(integrand, residual, log_weight, with_own_prior, with_factor)

    def at_points(self, grid: Grid) -> dict[Part, Numbers]:
        """Return the variance of the bias by source, such as "targets", at the points of a hypercube, (lists, points).

        The points represent the joint posterior of all unknown numbers. The hypercube has one dimension for each of
        them, in this order: the residual variance, each variance with a prior of its own, the factor and the variances
        of each side with a factor, and the inflation of each cell (group or class). A coordinate is the probability
        below the value of the number at this point.

        The word variances of each cell are multiplied by their inflation and by the weight of the cell in the variance
        of the bias, and added for each side.
        """
        own_posteriors = posteriors([variance for _, variance in self.with_own_prior], self.variances, grid)
        preferences = [PreferencesOnGrid.of(variances, self.variances, grid) for _, variances in self.with_factor]
        # The weight of a residual variance given the interaction, times the evidence of the words given this variance.
        log_weight = self.log_weight
        for posterior in own_posteriors:
            log_weight = log_weight + posterior.log_evidence.reshape(log_weight.shape)
        for on_grid in preferences:
            log_weight = log_weight + on_grid.log_evidence
        # The positions of the first factor and the first inflation among the dimensions of the hypercube.
        first_factor = 1 + len(own_posteriors)
        first_inflation = first_factor + sum(1 + len(variances) for _, variances in self.with_factor)
        cells = [(side, cell) for side in self.integrand.sides for cell in range(len(side.words))]
        dims = first_inflation + len(cells)
        uniform = _hypercube(dims, grid.points)
        # The index of the residual variance at each point, (lists, points): the first whose cumulative weight reaches
        # the coordinate.
        cumulative = np.cumsum(np.exp(log_weight - log_weight.max(axis=1, keepdims=True)), axis=1)
        below = cumulative[:, :, None] < uniform[0] * cumulative[:, -1:, None]
        node = below.sum(axis=1).clip(max=grid.residuals - 1)
        lists = np.arange(len(node))[:, None]
        drawn = []  # (side, words, values of the variance of their effects at the points)
        for dim, ((side, words), posterior) in enumerate(zip(self.with_own_prior, own_posteriors, strict=True), 1):
            if words.weights:  # levels that cancel in the bias have none
                probs = np.broadcast_to(uniform[dim], node.shape)
                # The conditions of the posterior are the residual variances of all lists, list by list.
                drawn.append((side, words, posterior.quantiles(lists * grid.residuals + node, probs)))
        for (side, variances), on_grid in zip(self.with_factor, preferences, strict=True):
            end = first_factor + 1 + len(variances)
            quantiles = on_grid.quantiles(node, uniform[first_factor:end])
            drawn += [(side, words, quantiles[cell]) for cell, words in enumerate(variances)]
            first_factor = end
        residual = self.variances[lists, node]
        parts: dict[Part, Numbers] = {"residual": self.integrand.residual_weight * residual}
        for side, words, variance in drawn:
            effects = words.effects(variance, residual)  # without the residuals in measured preferences
            part = PART_OF_SIDE[side.side]
            for cell, cell_weight in words.weights.items():
                inflation_dim = first_inflation + cells.index((side, cell))
                inflation = side.inflations(cell, dims, inflation_dim, grid.points)
                parts[part] = np.asarray(parts.get(part, 0.0) + cell_weight * inflation * effects)
        return parts


def is_integrated(spec: ModelSpec) -> bool:
    """Return True if the model allows computing the bias of some tables without sampling. See `can_integrate`."""
    return (
        spec.structure == "crossed"
        and spec.options["likelihood"] == "collapsed"
        and spec.priors.keys().isdisjoint(shape_parameters())
    )


def suits_design(spec: ModelSpec, data: xr.Dataset) -> bool:
    """Return True if groups, and associated classes, have similar lengths and share no scales with control classes."""
    controls_share_scales = spec.options["scales"] == COMMON and data.sizes["control"] > 0
    n_targets = data.n_targets.to_numpy()
    n_attributes = data.n_attributes.to_numpy()[compared_classes(data)]
    have_similar_lengths = all(n.max() <= _MOST_UNEVEN * n.min() for n in (n_targets, n_attributes))
    return have_similar_lengths and not controls_share_scales


def can_integrate(spec: ModelSpec, data: xr.Dataset) -> bool:
    """Return True if the posterior of a table's bias can be computed without sampling.

    This requires the collapsed crossed model and a table without replicates, covariates, pairs, and named sub-topics.
    The longest group or class may be at most 1.5 times as long as the shortest. If all classes have a common scale,
    there must be no control classes.
    """
    return (
        is_integrated(spec)
        and suits_design(spec, data)
        and not has_replicates(spec, data)
        and not any(clusters_in(spec, data, side) or f"{side}_slope_part" in data for side in SIDES)
    )


def integrated(table: AssociationTable, spec: ModelSpec) -> tuple[ModelSpec, xr.Dataset] | None:
    """Return the resolved model and the statistics of the table, or None if the posterior requires a sampler."""
    table, spec = modelled(table, spec)
    if not is_integrated(spec):
        return None
    data = sufficient_statistics(table)
    refuse_degenerate(data)
    return (spec, data) if can_integrate(spec, data) else None


def integral_of(table: AssociationTable, spec: ModelSpec) -> tuple[ModelSpec, xr.Dataset]:
    """Return the result of `integrated`. Raise an error if the posterior requires a sampler.

    Raises
    ------
    TableError
    """
    if spec_and_statistics := integrated(table, spec):
        return spec_and_statistics
    raise TableError(
        f"The posterior of `table` '{table.name}' needs a sampler, because it has {NEED_SAMPLER}, or because the model"
        " is not the default one. Use `bayes_bias.fit(table)` (`bayes-bias fit`) instead."
    )


def integrated_bias(spec: ModelSpec, data: xr.Dataset, scope: ScopeName, grid: Grid = FULL_GRID) -> Estimate:
    """Return the posterior of the bias under a scope, from the sufficient statistics of a table."""
    checked = check_design(data, scope)
    integrand = Integrand.of(spec, data, checked)
    labels = {"contrast": [OVERALL]}
    observed = xr.DataArray(integrand.observed, labels, ("contrast",))
    over_words = 0.0 if checked.samples_nothing else integrand.variances(grid)
    # (1, points), which take the place of chains and draws
    variances = over_words + text_variances(data, bias_weights(data), checked, grid.points).T
    sd = xr.DataArray(np.sqrt(variances)[:, :, None], labels, (*SAMPLE, "contrast"))
    centre = xr.full_like(sd, integrand.observed.item())
    # Each point is paired with its own normal quantile, in an order that does not depend on the variances.
    normal = ndtri(np.random.default_rng(_SEED).permutation((np.arange(grid.points) + 0.5) / grid.points))
    draws = centre + sd * normal[None, :, None]
    return Estimate(draws, observed, sd, Mixture(centre, sd))


def integrated_row(
    spec: ModelSpec, data: xr.Dataset, scope: ScopeName, ci_prob: float, rope: float | None = None
) -> "pd.Series[float]":
    """Return the mean, interval, and probabilities of the bias under a scope, with the column names of `summarize`, and
    the shares of its variance over words, with the column names of `variance_shares`.

    The posterior of the bias is a mixture of normals with the same mean and many equally likely variances, so its
    standard deviation is the root of the mean variance. With a `rope`, the probability of values between ``-rope`` and
    ``rope`` is averaged over the normals. A scope that samples nothing, with fixed texts, leaves no variance.
    """
    checked = check_design(data, scope)
    integrand = Integrand.of(spec, data, checked)
    mean = integrand.observed.item()
    lower, upper = interval_names(ci_prob)
    row = {"mean": mean, "sd": 0.0, lower: mean, upper: mean, "prob_direction": np.nan, "observed": mean}
    if checked.samples_nothing and not has_texts(data):
        undefined = ["noise_sd"] if rope is None else ["noise_sd", "prob_negligible"]
        return pd.Series(row | dict.fromkeys(undefined, np.nan))
    parts = {} if checked.samples_nothing else integrand.parts()
    over_words = np.sum([*parts.values()], axis=0)
    variances = over_words + text_variances(data, bias_weights(data), checked, FULL_GRID.points).T
    half = half_width(variances, ci_prob).item()
    sd = np.sqrt(variances)
    row |= {"sd": float(np.sqrt(variances.mean())), lower: mean - half, upper: mean + half, "noise_sd": sd.mean()}
    row["prob_direction"] = 1 - chance(variances, integrand.observed).item() / 2
    row |= {part: float((variance / over_words).mean()) for part, variance in parts.items()}
    if rope is not None:
        row["prob_negligible"] = float((ndtr((rope - mean) / sd) - ndtr((-rope - mean) / sd)).mean())
    return pd.Series(row)


def variance_ratios(spec: ModelSpec, data: xr.Dataset) -> dict[Side, float]:
    """Return the observed variance of preferences relative to its expected value from vectors, pooled over the groups,
    or classes, of each side with such a value.

    Pooling adds the sums of squares of all groups, each divided by the variance that is expected for one degree of
    freedom, and divides the result by the sum of degrees of freedom.
    """
    spec = resolved(spec, data)
    weights = bias_weights(data).to_numpy()[0]
    ratios: dict[Side, float] = {}
    for side in sides_from_vectors(spec, data):
        squares, df = 0.0, 0.0
        for variance in SideOfTable.of(side, spec, data, weights, units_of_priors(spec, data)).variances():
            if variance.has_factor:
                assert variance.expected is not None
                squares += float(variance.squares.sum()) / (variance.loading * variance.expected.item())
                df += float(variance.df.sum())
        if df:
            ratios[side] = squares / df
    return ratios


def chance(variances: Numbers, observed: Numbers) -> Numbers:
    """Return twice the posterior probability of the less probable sign, (lists,), from variances (lists, points)."""
    return np.asarray(2 * ndtr(-np.abs(observed)[..., None] / np.sqrt(variances)).mean(axis=-1))


def half_width(variances: Numbers, ci_prob: float = 0.95) -> Numbers:
    """Return half the width of the central interval, (lists,), from variances (lists, points).

    The width solves P(|bias - mean| > half) = 1 - ci_prob, where the probability is averaged over the points.
    """
    sd = np.sqrt(variances)
    half = -ndtri((1 - ci_prob) / 2) * sd.min(axis=-1, keepdims=True)
    # The tail probability is convex in the width, so Newton's steps from the left never pass the root.
    step = half  # above the tolerance, so that there is a first step
    while (step > _TOLERANCE * half).any():
        z = half / sd
        outside = 2 * ndtr(-z).mean(axis=-1, keepdims=True)
        density = (2 / np.sqrt(2 * np.pi)) * (np.exp(-(z**2) / 2) / sd).mean(axis=-1, keepdims=True)
        step = (outside - (1 - ci_prob)) / density
        half = half + step
    return np.asarray(half[..., 0])


def _by_cell(unit: FloatOrArray, cells: int) -> Numbers:
    """Return the unit of a prior for each cell of a single table, (1, cells)."""
    units = np.full(cells, unit) if np.ndim(unit) == 0 else np.asarray(unit)[:cells]
    return units[None]


def _contrasts(opposite: Numbers, level_weight: Numbers) -> tuple[Numbers, Numbers]:
    r"""Return contrasts of the k opposite cells along which residuals are independent given the level of a word.

    The means of a word have independent residuals, whose covariance is R = diag(1 / n) for n opposite words per cell,
    if the residual variance is one. Let B (k - 1, k) be an orthonormal basis of contrasts, :math:`\ell` the level
    (a vector of length one), and :math:`s = B R \ell` the covariance of the residuals of contrasts and of the level.
    Given the level, whose weight is h, the contrasts are :math:`B - h s \ell'`, and the covariance of their residuals
    is :math:`B R B' - h s s'`. The eigenvectors of this matrix make the contrasts independent.

    `opposite` has the k numbers n, and `level_weight` (...) the weights h.

    Returns
    -------
    contrasts : array (..., k - 1, k)
        They are orthonormal, up to a multiple of the level.
    noise : array (..., k - 1)
        The variances of their residuals.
    """
    k = len(opposite)
    basis = np.linalg.svd(np.eye(k) - 1 / k)[0][:, : k - 1].T  # B
    level = np.full(k, k**-0.5)
    r = np.diag(1 / opposite)
    s = basis @ r @ level
    h = level_weight[..., None, None]
    noise, eigenvectors = np.linalg.eigh(basis @ r @ basis.T - h * np.outer(s, s))
    contrasts = eigenvectors.swapaxes(-1, -2) @ (basis - h * np.outer(s, level))
    return contrasts, noise


@cache
def _hypercube(dims: int, points: int) -> Numbers:
    """Return the points of a Latin hypercube (dims, points), sorted by the first coordinate."""
    strata = np.random.default_rng(_SEED).permuted(np.tile(np.arange(points), (dims, 1)), axis=1)
    return np.asarray((strata[:, strata[0].argsort()] + 0.5) / points)


@lru_cache(maxsize=64)
def _inflation_factors(df: float, dims: int, number: int, points: int) -> Numbers | float:
    r"""Return quantiles of :math:`f / \chi^2_f` with `df` degrees of freedom f, at the points of one dimension of a
    hypercube. An inflation minus one is multiplied by these factors.
    """
    if np.isinf(df):
        return 1.0
    return np.asarray(df / 2 / gammaincinv(df / 2, _hypercube(dims, points)[number]))
