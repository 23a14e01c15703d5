"""The posterior of the default model on a grid, for two groups and two classes of words without controls: a stand-in
for the sampler where thousands of tables are judged. `benchmarks.sub_topics` shows that the two agree."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, roots_jacobi
from scipy.stats import chi2, norm, qmc

from bayes_bias.models.spec import ModelSpec
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import SIDES
from bayes_bias.table.statistics import sufficient_statistics

type Numbers = NDArray[np.float64]

_RESIDUALS, _SCALES, _NODES, _DRAWS = 7, 64, 12, 512


@dataclass(frozen=True, eq=False)
class Home:
    """What a group or class says: of each of its parts how often words' own effects count if they correlate by one, the
    degrees of freedom, and sums of squares of preferences and levels; and what a bias has of it.

    Attributes
    ----------
    n : int
        Words.
    unit : float
        Of its priors.
    noise : float
        How often the variance of the residual is in that of a preference.
    expected : float
        The expected correlation.
    inflation : float
        See `bayes_bias.models.patterns.Patterns`.
    """

    n: int
    unit: float
    noise: float
    expected: float
    inflation: float
    own: Numbers
    df: Numbers
    preference: Numbers
    level: Numbers


def variances_of_bias(table: AssociationTable, spec: ModelSpec, *, levels: bool = True) -> Numbers:
    """Posterior draws of the variance of the bias, of groups of one size and classes of one size.

    `levels` tell how words correlate, too.
    """
    homes, data = _homes(table)
    units = float(data.within_sd)
    share = (np.arange(_RESIDUALS) + 0.5) / _RESIDUALS
    residual = float(data.interaction_ss) / chi2.ppf(1 - share, float(data.interaction_df))  # squared
    scale_of_residual = spec.priors["sd_residual"].parameters["sigma"]
    log = 0.5 * np.log(residual) - 0.5 * residual / (scale_of_residual * units) ** 2
    quantile, of_prior = (np.arange(_SCALES) + 0.5) / _SCALES, []
    lam = spec.priors["sd_target_preference"].parameters["lam"]
    sigma = spec.priors["sd_target_associated"].parameters["sigma"]
    of_homes = []
    for home in homes:
        node, weight = _nodes(home.expected, spec.priors["correlation"].parameters["nu"])
        counts = 1 + node * (home.own[:, None] - 1)  # (parts, nodes)
        preference = -np.log1p(-quantile) / lam * home.unit
        density = _log_density(counts, preference, home.noise * residual, home.df, home.preference)
        if levels:
            level = norm.ppf((1 + quantile) / 2) * sigma * home.unit
            of_level = _log_density(counts, level, home.noise * residual, home.df, home.level)
            density = density + _log_mean(of_level)[..., None]
        density = density + np.log(weight)[:, None]
        of_homes.append((home, node, density))
        log = log + _log_mean(density.reshape(_RESIDUALS, -1))
    return _drawn(residual, log, of_homes, lam, residual / (homes[0].n * homes[2].n))


def chance(variances: Numbers, bias: float) -> float:
    """Twice the posterior probability of the other sign."""
    return float(2 * ndtr(-abs(bias) / np.sqrt(variances)).mean())


def half_width(variances: Numbers, prob: float = 0.95) -> float:
    """Half the width of the central interval."""
    sd = np.sqrt(variances)
    low, high = sd.min(), 4 * sd.max()
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if 2 * ndtr(-middle / sd).mean() > 1 - prob else (low, middle)
    return float((low + high) / 2)


def _homes(table: AssociationTable) -> tuple[list[Home], object]:
    data = sufficient_statistics(table)
    homes = []
    for side in SIDES:
        other = "attribute" if side == "target" else "target"
        counts = data[f"n_{side}s"].to_numpy().astype(int)
        of_other = data[f"n_{other}s"].to_numpy()
        units = data["group_within_sd" if side == "target" else "class_within_sd"].to_numpy()
        cell, own, df, scatter = (data[f"{side}_{what}"].to_numpy() for what in ("part_cell", "own", "df", "scatter"))
        shares = data[f"{side}_share"].to_numpy() if f"{side}_share" in data else np.zeros(data.sizes[side])
        of_word = data["group_of" if side == "target" else "class_of"].to_numpy()
        inflation = data[f"{side}_inflation"].to_numpy() if f"{side}_inflation" in data else np.ones(2)
        for k in range(2):
            rows = cell == k
            preference = np.einsum("i,pij,j->p", [0.5, -0.5], scatter[rows], [0.5, -0.5])
            level = np.einsum("i,pij,j->p", [0.5, 0.5], scatter[rows], [0.5, 0.5])
            expected = float(shares[of_word == k][0])
            numbers = (int(counts[k]), float(units[k]), 0.5 / of_other[0], expected, float(inflation[k]))
            homes.append(Home(*numbers, own[rows] if expected else np.ones(rows.sum()), df[rows], preference, level))
    return homes, data


@cache
def _nodes(expected: float, nu: float) -> tuple[Numbers, Numbers]:
    if not expected:
        return np.zeros(1), np.ones(1)
    node, weight = roots_jacobi(_NODES, nu * (1 - expected) - 1, nu * expected - 1)
    return (node + 1) / 2, weight / weight.sum()


def _log_density(counts: Numbers, scales: Numbers, noise: Numbers, df: Numbers, squares: Numbers) -> Numbers:
    """Of sums of squares given residual, correlation and scale, (residuals, nodes, scales)."""
    total = np.zeros((len(noise), counts.shape[1], len(scales)))
    for count, degrees, square in zip(counts, df, squares, strict=True):
        variance = np.multiply.outer(count, scales**2) + noise[:, None, None]
        total -= 0.5 * (degrees * np.log(variance) + square / variance)
    return total


def _log_mean(density: Numbers) -> Numbers:
    largest = density.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(density - largest).sum(axis=-1)) + largest[..., 0])


@cache
def _quasi_random() -> Numbers:
    return np.asarray(qmc.Sobol(5, seed=3).random(_DRAWS))


def _drawn(residual: Numbers, log: Numbers, of_homes: list, lam: float, of_residual: Numbers) -> Numbers:
    """Draws of the variance of the bias: residual first, then node and scale of each home given it."""
    u, weight = _quasi_random(), np.exp(log - log.max())
    chosen = np.searchsorted(np.cumsum(weight) / weight.sum(), u[:, 0]).clip(max=len(residual) - 1)
    variances = of_residual[chosen]
    for number, (home, node, density) in enumerate(of_homes, 1):
        flat = density.reshape(len(residual), -1)
        cumulative = np.cumsum(np.exp(flat - flat.max(axis=1, keepdims=True)), axis=1)
        cumulative /= cumulative[:, -1:]
        of_draw = cumulative[chosen]
        at = (of_draw < u[:, number, None]).sum(axis=1).clip(max=flat.shape[1] - 1)
        before = np.where(at > 0, np.take_along_axis(of_draw, np.maximum(at - 1, 0)[:, None], 1)[:, 0], 0.0)
        here = np.take_along_axis(of_draw, at[:, None], 1)[:, 0]
        within = ((u[:, number] - before) / np.maximum(here - before, 1e-12)).clip(1e-3, 1 - 1e-3)
        scale = -np.log1p(-(at % _SCALES + within) / _SCALES) / lam * home.unit
        rho = node[at // _SCALES]
        variances = variances + scale**2 / home.n * (1 + rho * (home.inflation - 1))
    return np.asarray(variances)
