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
from bayes_bias.posterior.text_noise import text_variances
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
        """Return the statistics of one side of a single table, from its sufficient statistics, the weights of blocks in
        the bias, and the units of priors.
        """
        compared = compared_classes(data)
        weights = weights[:, compared]
        n_targets, n_attributes = data.n_targets.to_numpy(), data.n_attributes.to_numpy()[compared]
        scatter = data[f"{side}_scatter"].to_numpy()
        if side == "target":
            words, opposite = n_targets, n_attributes
            scatter = scatter[:, compared][:, :, compared]
        else:
            words, opposite, weights = n_attributes, n_targets, weights.T
        cells = len(words)
        expected = explained = None
        if side in sides_from_vectors(spec, data):
            expected = data[f"{side}_preference_sd"].to_numpy()[None, :cells] ** 2
            explained = residual_shares(data, side)[:cells]
        inflation, directions = np.ones(cells), np.full(cells, np.inf)
        if f"{side}_inflation" in data:
            inflation, directions = data[f"{side}_inflation"].to_numpy(), data[f"{side}_directions"].to_numpy()
        return cls(
            side=side,
            scatter=scatter[None, :cells],
            words=words,
            opposite=opposite,
            weights=weights,
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
        """Return the variances of preferences, followed by the variances of levels.

        The estimate of the residual variance (lists,) matters only if the lengths of opposite cells differ.
        """
        k, cells = len(self.opposite), np.arange(len(self.words))
        lists = len(self.scatter)
        cells_by_scale = (cells[None, :] if self.has_common_scales else cells[:, None]).tolist()
        if k > 1:
            contrasts, noise = _contrasts(self.opposite, self._level_weights(np.broadcast_to(residual, lists)))
            squares = np.einsum("lcij,lcjk,lcik->lci", contrasts, self.scatter, contrasts)
            weight = [float(weights @ zero_sum_covariance(k) @ weights) for weights in self.weights]
            for several in cells_by_scale:
                first = several[0]
                yield WordVariance(
                    squares=squares[:, several].reshape(lists, -1),
                    noise=noise[:, several].reshape(lists, -1),
                    df=np.repeat(self.words[several] - 1.0, k - 1),
                    loading=k / (k - 1),
                    weights={cell: weight[cell] / self.words[cell] for cell in several},
                    prior=self.preference,
                    unit=self.preference_unit[:, first],
                    expected=None if self.expected is None else self.expected[:, first],
                    explained=0.0 if self.explained is None else float(self.explained[first]),
                )
        level = self.weights.sum(axis=1)
        for several in cells_by_scale:
            yield WordVariance(
                squares=self.scatter[:, several].sum(axis=(2, 3)) / k,
                noise=np.full((lists, len(several)), (1 / self.opposite).mean()),
                df=self.words[several] - 1.0,
                loading=float(k),
                weights={cell: level[cell] ** 2 / self.words[cell] for cell in several if abs(level[cell]) > _NO_LEVEL},
                prior=self.level,
                unit=self.level_unit[:, several[0]],
            )

    def _level_weights(self, residual: Numbers) -> Numbers:
        """Return the residual variance over the variance of the words' observed levels, (lists, cells). The weights are
        0 if lengths are equal.
        """
        weights = np.zeros(self.scatter.shape[:2])
        if np.ptp(self.opposite) == 0:
            return weights
        observed = self.scatter.sum(axis=(2, 3)) / len(self.opposite) / np.maximum(self.words - 1, 1)
        level_variance = np.maximum(observed, residual[:, None] * (1 / self.opposite).mean())
        return np.divide(residual[:, None], level_variance, out=weights, where=level_variance > 0)

    def inflations(self, cell: int, dims: int, number: int, points: int) -> Numbers | float:
        """Return the inflation for one cell at the points of a dimension, (lists, points)."""
        excess = self.inflation[:, cell, None] - 1
        if not excess.any():
            return 1.0
        return np.asarray(1 + excess * _factors(float(self.inflation_df[cell]), dims, number, points))


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
        weights, units = bias_weights(data).to_numpy()[0], units_of_priors(spec, data)
        counts = np.outer(data.n_targets.to_numpy(), data.n_attributes.to_numpy())
        sampled = {facet.dim for facet in scope.facets}
        return cls(
            observed=np.array([(weights * data.block_mean.to_numpy()).sum()]),
            sides=[SideOfTable.of(side, spec, data, weights, units) for side in SIDES if side in sampled],
            residual_squares=np.array([data.interaction_ss.item()]),
            residual_df=float(data.interaction_df),
            residual_prior=spec.priors["sd_residual"],
            residual_unit=np.atleast_1d(units["sd_residual"]),
            residual_weight=float((weights**2 / counts).sum()),
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
    alone : sequence of (SideOfTable, WordVariance)
        Variances with a prior of their own.
    with_factor : sequence of (SideOfTable, list of WordVariance)
        For each side whose preferences have a prior from vectors, the variances that share a factor.
    """

    integrand: Integrand
    variances: Numbers
    log_weight: Numbers
    alone: Sequence[tuple[SideOfTable, WordVariance]]
    with_factor: Sequence[tuple[SideOfTable, list[WordVariance]]]

    @classmethod
    def of(cls, integrand: Integrand, number: int) -> Self:
        """Space residual variances equally on the log scale. Weight them by the likelihood of the interaction and the
        prior.
        """
        squares, df = integrand.residual_squares[:, None], integrand.residual_df
        residual = squares / df * np.exp(np.sqrt(2 / df) * np.linspace(*_RANGE, number))
        likelihood = -0.5 * (df * np.log(residual) + squares / residual)
        prior = log_density_in_unit(integrand.residual_prior, integrand.residual_unit[:, None], np.sqrt(residual))
        log_weight = likelihood + prior + 0.5 * np.log(residual)
        alone, with_factor = [], []
        for side in integrand.sides:
            sharing = []
            for variance in side.variances(squares[:, 0] / df):
                if variance.has_factor:
                    sharing.append(variance)
                else:
                    alone.append((side, variance))
            if sharing:
                with_factor.append((side, sharing))
        return cls(integrand, residual, log_weight, alone, with_factor)

    def at_points(self, grid: Grid) -> dict[Part, Numbers]:
        """Return variances of the bias by source at the points of the hypercube, (lists, points)."""
        alone = posteriors([variance for _, variance in self.alone], self.variances, grid)
        preferences = [PreferencesOnGrid.of(sharing, self.variances, grid) for _, sharing in self.with_factor]
        log_weight = self.log_weight
        for posterior in alone:
            log_weight = log_weight + posterior.log_evidence.reshape(log_weight.shape)
        for on_grid in preferences:
            log_weight = log_weight + on_grid.log_evidence
        # Dimensions of the hypercube: the residual variance, each variance with a prior of its own, the factor and the
        # variances of each side, and the inflation of each cell.
        n_sharing = sum(1 + len(sharing) for _, sharing in self.with_factor)
        inflation_dim: dict[tuple[SideOfTable, int], int] = {}
        for side in self.integrand.sides:
            for cell in range(len(side.words)):
                inflation_dim[side, cell] = 1 + len(alone) + n_sharing + len(inflation_dim)
        dims = 1 + len(alone) + n_sharing + len(inflation_dim)
        uniform = _hypercube(dims, grid.points)
        weight = np.cumsum(np.exp(log_weight - log_weight.max(axis=1, keepdims=True)), axis=1)
        below = weight[:, :, None] < uniform[0] * weight[:, -1:, None]
        chosen = below.sum(axis=1).clip(max=grid.residuals - 1)
        lists = np.arange(len(chosen))[:, None]
        drawn = []
        for dim, ((side, words), posterior) in enumerate(zip(self.alone, alone, strict=True), start=1):
            if words.weights:  # levels that cancel in the bias have none
                points = np.broadcast_to(uniform[dim], chosen.shape)
                drawn.append((side, words, posterior.quantiles(lists * grid.residuals + chosen, points)))
        dim = 1 + len(alone)
        for (side, sharing), on_grid in zip(self.with_factor, preferences, strict=True):
            quantiles = on_grid.quantiles(chosen, uniform[dim : dim + 1 + len(sharing)])
            drawn += [(side, words, quantiles[cell]) for cell, words in enumerate(sharing)]
            dim += 1 + len(sharing)
        residual = self.variances[lists, chosen]
        parts: dict[Part, Numbers] = {"residual": self.integrand.residual_weight * residual}
        for side, words, variance in drawn:
            effects = words.effects(variance, residual)
            part = PART_OF_SIDE[side.side]
            for cell, cell_weight in words.weights.items():
                inflation = side.inflations(cell, dims, inflation_dim[side, cell], grid.points)
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
    lengths = data.n_targets.to_numpy(), data.n_attributes.to_numpy()[compared_classes(data)]
    return not controls_share_scales and all(counts.max() <= _MOST_UNEVEN * counts.min() for counts in lengths)


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
    """Return what `integrated` does, or raise an error if the posterior requires a sampler.

    Raises
    ------
    TableError
    """
    if known := integrated(table, spec):
        return known
    raise TableError(
        f"The posterior of `table` '{table.name}' needs a sampler, because it has {NEED_SAMPLER}, or because the model"
        " is not the default one. Use `bayes_bias.fit(table)` (`bayes-bias fit`) instead."
    )


def integrated_bias(spec: ModelSpec, data: xr.Dataset, scope: ScopeName, grid: Grid = FULL_GRID) -> Estimate:
    """Return the posterior of the bias under a scope, from the sufficient statistics of a table."""
    checked = check_design(data, scope)
    integrand = Integrand.of(spec, data, checked)
    over_words = 0.0 if checked.samples_nothing else integrand.variances(grid)
    sd = np.sqrt(over_words + text_variances(data, bias_weights(data), checked, grid.points).T)[:, :, None]
    labels = {"contrast": [OVERALL]}
    dims = (*SAMPLE, "contrast")
    mixture = Mixture(
        xr.DataArray(np.full_like(sd, integrand.observed.item()), labels, dims), xr.DataArray(sd, labels, dims)
    )
    # Each point is paired with its own normal quantile, in an order that does not depend on the variances.
    normal = ndtri(np.random.default_rng(_SEED).permutation((np.arange(grid.points) + 0.5) / grid.points))
    draws = mixture.centre + mixture.sd * normal[None, :, None]
    return Estimate(draws, xr.DataArray(integrand.observed, labels, ("contrast",)), mixture.sd, mixture)


def integrated_row(
    spec: ModelSpec, data: xr.Dataset, scope: ScopeName, ci_prob: float, rope: float | None = None
) -> "pd.Series[float]":
    """Return the mean, interval, and probabilities of the bias under a scope, with the column names of `summarize`, and
    the shares of its variance over words, with the column names of `variance_shares`.
    """
    checked = check_design(data, scope)
    integrand = Integrand.of(spec, data, checked)
    mean = integrand.observed.item()
    lower, upper = interval_names(ci_prob)
    row = {"mean": mean, "sd": 0.0, lower: mean, upper: mean, "prob_direction": np.nan, "observed": mean}
    if checked.samples_nothing and not has_texts(data):
        return pd.Series(row | {"noise_sd": np.nan} | ({} if rope is None else {"prob_negligible": np.nan}))
    parts = {} if checked.samples_nothing else integrand.parts()
    over_words = np.sum([*parts.values()], axis=0)
    variances = over_words + text_variances(data, bias_weights(data), checked, FULL_GRID.points).T
    half, sd = half_width(variances, ci_prob).item(), np.sqrt(variances)
    row |= {"sd": float(np.sqrt(variances.mean())), lower: mean - half, upper: mean + half, "noise_sd": sd.mean()}
    row |= {"prob_direction": 1 - chance(variances, integrand.observed).item() / 2}
    row |= {part: float((variance / over_words).mean()) for part, variance in parts.items()}
    if rope is not None:
        row["prob_negligible"] = float((ndtr((rope - mean) / sd) - ndtr((-rope - mean) / sd)).mean())
    return pd.Series(row)


def variance_ratios(spec: ModelSpec, data: xr.Dataset) -> dict[Side, float]:
    """Return the observed variance of preferences relative to its expected value from vectors, pooled over the groups,
    or classes, of each side with such a value.
    """
    spec, weights = resolved(spec, data), bias_weights(data).to_numpy()[0]
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
    """Return half the width of the central interval, (lists,), from variances (lists, points)."""
    sd = np.sqrt(variances)
    half = -ndtri((1 - ci_prob) / 2) * sd.min(axis=-1, keepdims=True)
    # The tail probability is convex in the width, so Newton's steps from the left never pass the root.
    step = half
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
    """Return contrasts of the opposite cells along which residuals are independent given the level of a word, (..., k -
    1, k), and their variances. They are orthonormal, up to a multiple of the level.
    """
    k = len(opposite)
    basis, level = np.linalg.svd(np.eye(k) - 1 / k)[0][:, : k - 1].T, np.full(k, k**-0.5)
    residuals = np.diag(1 / opposite)
    shared = basis @ residuals @ level  # the covariance of the residuals of contrasts and of levels
    weight = level_weight[..., None, None]
    noise, directions = np.linalg.eigh(basis @ residuals @ basis.T - weight * np.outer(shared, shared))
    return directions.swapaxes(-1, -2) @ (basis - weight * np.outer(shared, level)), noise


@cache
def _hypercube(dims: int, points: int) -> Numbers:
    """Return the points of a Latin hypercube (dims, points), sorted by the first coordinate."""
    cells = np.random.default_rng(_SEED).permuted(np.tile(np.arange(points), (dims, 1)), axis=1)
    return np.asarray((cells[:, cells[0].argsort()] + 0.5) / points)


@lru_cache(maxsize=64)
def _factors(df: float, dims: int, number: int, points: int) -> Numbers | float:
    """Return a factor for each point of a dimension. An inflation minus one is multiplied by this factor."""
    if np.isinf(df):
        return 1.0
    return np.asarray(df / 2 / gammaincinv(df / 2, _hypercube(dims, points)[number]))
