r"""Posteriors of variances of word effects on grids, given the residual variance.

A variance with a prior of its own is integrated alone (`VarianceOnGrid`). The variances of measured preferences of all
groups, or classes, share a factor :math:`\phi` if their prior comes from vectors (`bayes_bias.models.preferences`).
They are integrated together (`PreferencesOnGrid`).

Several lists of the same design are computed together. Arrays have the shape (variances, lists, residuals, nodes), or
the first of these dimensions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayes_bias.errors import optional
from bayes_bias.models.families import log_density
from bayes_bias.models.spec import FROM_VECTORS, Prior
from bayes_bias.shared_types import Numbers

# Density values are ignored if the log density is below its maximum by more than this number.
_NEGLIGIBLE = 20.0
# A variance of effects below `_SMALL` times the contribution of the residuals is treated as zero. A variance above
# `_LARGE` times both the observed variance and the square of the prior's scale is treated as impossible.
_SMALL, _LARGE = 1e-4, 1e4
# Range of the log of the factor, far beyond the factors of pools of real words, and range of a log variance below its
# expected value, where the density of the scaled inverse chi-squared distribution falls faster than exponentially.
_LOG_FACTOR, _BELOW_EXPECTED = (-8.0, 12.0), 5.0
_TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class WordVariance:
    r"""Information about the variance of word effects, from tables of the same design and a prior.

    The effects belong to one group or class, or to several groups or classes that share a scale.

    Attributes
    ----------
    squares, noise : array (lists, contrasts)
        For each contrast: the sum of squares of the words' means along it, and its variance if the residual variance is
        one.
    df : array (contrasts,)
        Degrees of freedom of the sum of squares.
    loading : float
        Variance of a contrast if the effects have variance one.
    weights : mapping of int to float
        For the index of each group or class, the variance of the bias if the effects of its words are independent and
        have variance one.
    prior : Prior
        Prior of the standard deviation.
    unit : array (lists,)
        Unit of the prior, in the units of the table.
    expected : array (lists,), optional
        If the prior is ``FromVectors``: the expected variance of measured preferences.
    explained : float
        If the prior is ``FromVectors``: the share of the residual variance that this variance includes.
    """

    squares: Numbers
    noise: Numbers
    df: Numbers
    loading: float
    weights: Mapping[int, float]
    prior: Prior
    unit: Numbers
    expected: Numbers | None = None
    explained: float = 0.0

    @property
    def has_factor(self) -> bool:
        """Return True if the prior comes from vectors, with a factor that all groups or classes share."""
        return self.prior.distribution == FROM_VECTORS

    def effects(self, variance: Numbers, residual: Numbers) -> Numbers:
        """Return the variance of the effects, given the variance on the grid and the residual variance."""
        return np.maximum(variance - self.explained * residual, 0.0) if self.has_factor else variance


@dataclass(frozen=True)
class Grid:
    """Numbers of grid nodes: for residual variances, for factors, for the first and second grid of each variance, and
    for the hypercube.
    """

    residuals: int = 16
    factors: int = 48
    coarse: int = 64
    fine: int = 128
    points: int = 1024


FULL_GRID = Grid()


@dataclass(frozen=True, eq=False)
class _Stack:
    """Several variances, which are computed together in each array operation.

    The arrays of `WordVariance` get an additional first axis. Variances with fewer contrasts are padded with empty
    contrasts.
    """

    squares: Numbers
    noise: Numbers
    df: Numbers
    loading: Numbers

    @classmethod
    def of(cls, variances: Sequence[WordVariance]) -> Self:
        """Stack the statistics of several variances, (variances, lists, contrasts).

        Variances with fewer contrasts than others are padded with contrasts that have zero degrees of freedom, sums of
        squares of zero, and a noise of one, so they do not contribute to the likelihood.
        """
        most_contrasts = max(len(variance.df) for variance in variances)
        squares = np.zeros((len(variances), len(variances[0].squares), most_contrasts))
        noise = np.ones_like(squares)
        df = np.zeros((len(variances), most_contrasts))
        for row, variance in enumerate(variances):
            filled = slice(len(variance.df))
            squares[row, :, filled] = variance.squares
            noise[row, :, filled] = variance.noise
            df[row, filled] = variance.df
        loading = np.array([variance.loading for variance in variances])
        return cls(squares, noise, df, loading[:, None, None, None])

    def log_likelihood(self, effects: Numbers, residual: Numbers) -> Numbers:
        """Return the log likelihood of the words' means for variances of effects (variances, lists, residuals, nodes)
        and residual variances (lists, residuals).

        It is the sum of -(f log v + S / v) / 2 over contrasts, where S is the sum of squares, f its degrees of freedom,
        and v = loading * effects + noise * residual.
        """
        contribution = self.loading * effects
        log_likelihood = np.zeros(1)
        for contrast in range(self.df.shape[1]):
            squares = self.squares[:, :, contrast, None, None]
            df = self.df[:, contrast, None, None, None]
            variance = contribution + self.noise[:, :, contrast, None, None] * residual[..., None]
            log_likelihood = log_likelihood - 0.5 * (df * np.log(variance) + squares / variance)
        return log_likelihood

    def bounds(self, sizes: Numbers, residual: Numbers) -> tuple[Numbers, Numbers]:
        r"""Return the largest variance that is treated as zero, and an upper bound of the variance given the words and
        the size of the prior, both (variances, lists, residuals).

        A contrast k of words has the variance :math:`l x + n_k r`, where :math:`x` is the variance in question,
        :math:`l` its `loading`, :math:`r` the `residual` variance (lists, residuals), and :math:`n_k` the `noise`. With
        the sum of squares S of all contrasts, their degrees of freedom :math:`\nu`, and the size a of the prior
        (variances, lists), the bounds are

        .. math:: \text{lower} = \text{SMALL}\, \min_k n_k\, r / l, \qquad
                  \text{upper} = \text{LARGE}\, \max(S / (\nu\, l),\, a^2,\, \text{lower})

        Padded contrasts have zero degrees of freedom and do not count, and others count at least one.
        """
        loading = self.loading[..., 0]
        smallest_noise = np.where(self.df[:, None] > 0, self.noise, np.inf).min(axis=-1)[..., None]
        lower = _SMALL * smallest_noise / loading * residual
        total_df = np.where(self.df > 0, np.maximum(self.df, 1.0), 0.0).sum(axis=1)[:, None, None]
        observed = self.squares.sum(axis=-1)[..., None] / (loading * total_df)
        upper = _LARGE * np.maximum(np.maximum(observed, sizes[..., None] ** 2), lower)
        return lower, upper


@dataclass(frozen=True, eq=False)
class VarianceOnGrid:
    """The posterior of a variance under several conditions, for example given each residual variance of each list.

    Attributes
    ----------
    log_variance, cumulative : array (conditions, nodes)
        The grid, and the integral of the density up to each node, including the part below the grid.
    log_evidence : array (conditions,)
        Log of the marginal likelihood.
    """

    log_variance: Numbers
    cumulative: Numbers
    log_evidence: Numbers

    @classmethod
    def integrate(cls, log_variance: Numbers, log_density: Numbers, log_below: Numbers | float) -> Self:
        """Integrate a density (..., conditions, nodes) on its grid by the trapezoidal rule.

        `log_below` is the log of the probability below the grid, in the units of the density. The density need not be
        normalised: the evidence is its integral. The largest value is factored out, so that exponentials are finite.
        """
        largest = np.maximum(log_density.max(axis=-1), log_below)
        density = np.exp(log_density - largest[..., None])
        steps = 0.5 * (density[..., 1:] + density[..., :-1]) * np.diff(log_variance, axis=-1)
        below = np.exp(log_below - largest)[..., None]
        cumulative = np.cumsum(np.concatenate([below, steps], axis=-1), axis=-1)
        evidence = cumulative[..., -1:]
        return cls(log_variance, cumulative / evidence, largest + np.log(evidence[..., 0]))

    def quantiles(self, condition: NDArray[np.intp], probs: Numbers) -> Numbers:
        """Return a quantile of the variance for each probability, under the condition with this index.

        Quantiles are zero where there are no effects.
        """
        # Place the integrals under all conditions on one axis, shifted so that they do not overlap.
        offsets = 2.0 * np.arange(len(self.cumulative))
        integrals = (self.cumulative + offsets[:, None]).ravel()
        quantiles = np.exp(np.interp(probs + offsets[condition], integrals, self.log_variance.ravel()))
        return np.where(probs > self.cumulative[condition, 0], quantiles, 0.0)


def posteriors(variances: Sequence[WordVariance], residual: Numbers, grid: Grid) -> list[VarianceOnGrid]:
    """Return the posterior of each variance with a prior of its own, given each residual variance (lists, residuals).

    The logs of the variances are computed on equally spaced grids: a coarse grid of all possible values, and then a
    fine grid. The prior density p(sd) of a standard deviation becomes the density p(sd) sd / 2 of its log variance. The
    conditions of the result are the residual variances, list by list.
    """
    if not variances:
        return []
    stack = _Stack.of(variances)
    sizes = np.stack([float(variance.prior.size) * variance.unit for variance in variances])
    smallest, largest = stack.bounds(sizes, residual)
    low = np.log(smallest)
    high = np.log(largest)
    for nodes in (grid.coarse, grid.fine):  # the second grid covers the values whose density is not negligible
        log_variance = _spaced(low, high, nodes)
        log_prior = _log_densities(variances, np.exp(log_variance / 2)) + log_variance / 2 - np.log(2)
        log_density = log_prior + stack.log_likelihood(np.exp(log_variance), residual)
        low, high = _narrowed(log_variance, log_density)
    # Probability below the grid: the density of a standard deviation is flat near zero, so multiply it by the smallest
    # standard deviation, and by the likelihood of a variance of zero.
    log_below = _log_densities(variances, np.sqrt(smallest)[..., None])[..., 0] + 0.5 * np.log(smallest)
    log_below = log_below + stack.log_likelihood(np.zeros(1), residual)[..., 0]
    all_on_grid = VarianceOnGrid.integrate(log_variance, log_density, log_below)
    shape = (residual.size, grid.fine)  # (conditions, nodes)
    on_grids = []
    for k in range(len(variances)):
        cumulative = all_on_grid.cumulative[k].reshape(shape)
        log_evidence = all_on_grid.log_evidence[k].ravel()
        on_grids.append(VarianceOnGrid(log_variance[k].reshape(shape), cumulative, log_evidence))
    return on_grids


@dataclass(frozen=True, eq=False)
class PreferencesOnGrid:
    r"""The posterior of the factor :math:`\phi` of one side, and of the variances of measured preferences given it.

    Let :math:`L_k(v \mid e)` be the likelihood of the words of group or class k. Then

    .. math:: p(\phi, y \mid e) \propto p(\phi) \prod_k \int L_k(v \mid e)\, p(v \mid \phi)\, dv.

    Attributes
    ----------
    log_variance : array (cells, lists, nodes)
    log_likelihood : array (cells, lists, residuals, nodes)
    log_prior : array (cells, lists, factors, nodes)
        Log density of the log variance given the factor.
    log_factor : array (lists, residuals, factors)
        Log of :math:`p(\phi, y \mid e)`.
    """

    log_variance: Numbers
    log_likelihood: Numbers
    log_prior: Numbers
    log_factor: Numbers

    @classmethod
    def of(cls, variances: Sequence[WordVariance], residual: Numbers, grid: Grid) -> Self:
        """Integrate over the variances of one side, for each factor and residual variance (lists, residuals).

        The log of the factor phi and the logs of the variances are computed on equally spaced grids. A first grid
        covers all possible values, and a second grid the values whose density is not negligible. Given phi, a measured
        variance divided by its expected value and by phi is scaled inverse chi-squared with `nu` degrees of freedom.
        Phi is scaled inverse chi-squared with `nu_factor`. A measured variance includes the share `explained` of the
        residual variance, which is subtracted to obtain the variance of effects.
        """
        stack = _Stack.of(variances)
        nu, nu_factor = (float(variances[0].prior.parameters[name]) for name in ("nu", "nu_factor"))
        log_expected = np.log(np.stack([np.asarray(variance.expected) for variance in variances]))  # (cells, lists)
        # (cells, lists, residuals, 1)
        explained = np.stack([variance.explained * residual for variance in variances])[..., None]
        sd_log_factor = min(np.sqrt(2 / nu_factor), 1.0)  # if the factor has many degrees of freedom
        low_factor, high_factor = (np.full(len(residual), end * sd_log_factor) for end in _LOG_FACTOR)
        # Bounds of the log variances, (cells, lists).
        low = log_expected + low_factor - _BELOW_EXPECTED
        high = log_expected + high_factor + 2 * _NEGLIGIBLE / nu  # the density falls by nu / 2 for each step of one
        for nodes in (grid.coarse, grid.fine):
            log_phi = _spaced(low_factor, high_factor, grid.factors)  # (lists, factors)
            log_variance = _spaced(low, high, nodes)
            effects = np.maximum(np.exp(log_variance)[:, :, None] - explained, 0.0)
            log_likelihood = stack.log_likelihood(effects, residual)
            log_ratio = (log_variance - log_expected[..., None])[:, :, None] - log_phi[:, :, None]
            log_prior = _log_scaled_inverse_chi2(log_ratio, nu)
            # The integrals over the variance of each cell are matrix products, (cells, lists, residuals, factors).
            largest = log_likelihood.max(axis=-1, keepdims=True)
            likelihood = np.exp(log_likelihood - largest)
            prior = np.exp(log_prior)
            integral = np.maximum(likelihood @ prior.swapaxes(-1, -2), _TINY)
            step = ((high - low) / (nodes - 1))[..., None, None]
            log_factor = np.sum(np.log(integral) + largest + np.log(step), axis=0)
            log_factor = log_factor + _log_scaled_inverse_chi2(log_phi[:, None], nu_factor)
            # Up to a constant, this is the largest density of each variance given any residual variance.
            weight = np.exp(log_factor - log_factor.max(axis=-1, keepdims=True)) / integral
            density = (likelihood * (weight @ prior)).max(axis=-2)
            low, high = _narrowed(log_variance, np.log(np.maximum(density, _TINY)))
            low_factor, high_factor = _narrowed(log_phi, log_factor.max(axis=-2))
        log_step = np.log(log_phi[:, 1] - log_phi[:, 0])
        return cls(log_variance, log_likelihood, log_prior, log_factor + log_step[:, None, None])

    @property
    def log_evidence(self) -> Numbers:
        """Log of the marginal likelihood given each residual variance, (lists, residuals)."""
        largest = self.log_factor.max(axis=-1)
        return np.asarray(largest + np.log(np.exp(self.log_factor - largest[..., None]).sum(axis=-1)))

    def quantiles(self, residual: NDArray[np.intp], probs: Numbers) -> Numbers:
        """Return a quantile of each variance (cells, lists, points) given the residual variance with this index (lists,
        points).

        The first row of `probs` (1 + cells, points) chooses the factor: the first on the grid whose cumulative
        probability reaches it. The other rows are the probabilities below the variances of the cells.
        """
        lists = np.arange(len(residual))[:, None]
        density = np.exp(self.log_factor - self.log_factor.max(axis=-1, keepdims=True))
        cumulative = np.cumsum(density, axis=-1)
        cumulative /= cumulative[..., -1:]
        is_below = cumulative[lists, residual] < probs[0][:, None]
        factor = np.minimum(is_below.sum(axis=-1), cumulative.shape[-1] - 1)
        # Points with the same list, residual variance, and factor have the same posterior, which is integrated once.
        # An index stands for such a combination, and `condition` is the position of a point's index in `conditions`.
        indices = np.ravel_multi_index((np.broadcast_to(lists, residual.shape), residual, factor), cumulative.shape)
        conditions, condition = np.unique(indices, return_inverse=True)
        k, e, phi = np.unravel_index(conditions, cumulative.shape)  # indices of list, residual variance, and factor
        quantiles = []
        for cell, log_variance in enumerate(self.log_variance):
            log_density = self.log_likelihood[cell, k, e] + self.log_prior[cell, k, phi]
            posterior = VarianceOnGrid.integrate(log_variance[k], log_density, -np.inf)
            cell_probs = np.broadcast_to(probs[1 + cell], residual.shape)
            quantiles.append(posterior.quantiles(condition.reshape(residual.shape), cell_probs))
        return np.stack(quantiles)


def _spaced(low: Numbers, high: Numbers, nodes: int) -> Numbers:
    """Return equally spaced nodes between bounds (...), as an array (..., nodes)."""
    return np.asarray(low[..., None] + (high - low)[..., None] * np.linspace(0, 1, nodes))


def _narrowed(nodes: Numbers, log_density: Numbers) -> tuple[Numbers, Numbers]:
    """Return the first and last node (last axis) between which a density is not negligible.

    These are the neighbours of the outermost nodes whose log density is less than `_NEGLIGIBLE` below its maximum.
    """
    matters = log_density > log_density.max(axis=-1, keepdims=True) - _NEGLIGIBLE
    last_index = matters.shape[-1] - 1
    # argmax is the index of the first True, here from the start and from the end of the axis.
    first = np.maximum(matters.argmax(axis=-1) - 1, 0)
    last = np.minimum(last_index - matters[..., ::-1].argmax(axis=-1) + 1, last_index)
    bounds = np.take_along_axis(nodes, np.stack([first, last], axis=-1), axis=-1)
    return bounds[..., 0], bounds[..., 1]


def _log_scaled_inverse_chi2(log_ratio: Numbers, nu: float) -> Numbers:
    """Return the log density of the log of a variance ``expected * nu / ChiSquared(nu)``, from the log of its ratio to
    the expected variance.
    """
    half = nu / 2
    return np.asarray(half * np.log(half) - gammaln(half) - half * (log_ratio + np.exp(-log_ratio)))


def _log_densities(variances: Sequence[WordVariance], sd: Numbers) -> Numbers:
    """Return the log density of standard deviations (variances, lists, residuals, nodes) under their priors."""
    density = np.empty_like(sd)
    for row, variance in enumerate(variances):
        density[row] = log_density_in_unit(variance.prior, variance.unit[:, None, None], sd[row])
    return density


def log_density_in_unit(prior: Prior, unit: Numbers, sd: Numbers) -> Numbers:
    """Return the log density of a standard deviation whose ratio to a unit has this prior."""
    if prior.terms is not None:
        return log_density(prior.terms, sd / unit) - np.log(unit)
    with optional():
        from bayes_bias.fitting.power_scaling import log_prior  # importing this takes a second

    return log_prior(prior, sd / unit) - np.log(unit)
