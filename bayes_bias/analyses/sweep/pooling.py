"""The pooled model of all cells, in which embeddings and lists are crossed samples.

The bias of embedding e on list l is modelled as

    theta[e, l] = mu + a[e] + b[l] + c[e, l]

with normal effects with the standard deviations ``sd_embedding``, ``sd_list`` and ``sd_interaction``. The posterior of
a cell is used as an observation ``y[e, l] ~ Normal(theta[e, l], s[e, l])``, where ``s`` is the posterior standard
deviation, which represents the uncertainty from the choice of words. Because a list has the same words in all
embeddings, part of this error is common to all embeddings: ``common[l]`` is the share of the error variance that is
common to the cells of a list. The biases of the cells contain no information about this share, so it is estimated from
the words of the cells (`shared_words`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, product
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import softmax

from bayes_bias.formatting import in_words
from bayes_bias.jobs import one_blas_thread
from bayes_bias.models.scales import rounded
from bayes_bias.posterior.estimate import tails
from bayes_bias.posterior.pooling import FEW_LISTS, TAU_SCALE, Compared, notices_of_overlap, overlap_of
from bayes_bias.posterior.ranks import ranked
from bayes_bias.shared_types import Numbers
from bayes_bias.table.columns import interval_names
from bayes_bias.words.wordlist import WordList

_SIDES = ("embedding", "list")
_DRAWS = 4_000
# Grid cells of each standard deviation: while the region of the posterior is narrowed down, and in the final grid.
_COARSE, _FINE = 10, 24
# The largest standard deviation on a grid, in units of the prior's scale, unless biases differ by more.
_LARGEST_SD = 6.0
# Grid cells are ignored if their log density is below the maximum by more than this number.
_NEGLIGIBLE = 12.0
# The maximum number of cells of a sweep, times points, that are computed at once: their arrays fit into the caches.
_AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class Crossed:
    """The result of the pooled model, in which embeddings and lists are crossed samples (see the module).

    Attributes
    ----------
    ci_prob : float
        Probability of the equal-tailed intervals.
    scale : float
        Scale of the half-normal priors of the three standard deviations, in the units of the bias.
    effects : pandas.DataFrame
        Rows: ``mu``, the mean bias in the population of lists and embeddings, ``sd_embedding``, ``sd_list``, and
        ``sd_interaction``. Columns: ``mean``, ``sd`` and interval.
    shares : pandas.DataFrame
        The share of each effect in the variance of the true biases of cells.
    cells : pandas.DataFrame
        The true bias of each ``(embedding, list)``, partially pooled across cells. If a cell has no numbers, its bias
        is predicted from all other cells. If an embedding or list has no numbers at all, it is omitted from all frames.
    embeddings, lists : pandas.DataFrame
        The mean bias of each embedding over these lists, and of each list over these embeddings, with
        ``prob_direction``, the mean ``rank`` (1 is the most stereotypical), and the interval of the rank. For a list,
        ``shared_error`` is the share of error variance that is common to its cells.
    more_biased : mapping of str to pandas.DataFrame
        For "embedding" and "list": a matrix of probabilities that the row is more biased than the column.
    notices : tuple of str
        Notices that readers should consider before they rely on the result.
    """

    ci_prob: float
    scale: float
    effects: pd.DataFrame
    shares: pd.DataFrame
    cells: pd.DataFrame
    embeddings: pd.DataFrame
    lists: pd.DataFrame
    more_biased: Mapping[str, pd.DataFrame]
    notices: tuple[str, ...]


def pool_cells(
    cells: pd.DataFrame,
    shared: "pd.Series[float]",
    *,
    ci_prob: float = 0.95,
    seed: int = 1,
    noun: str = "embedding",
    lists: Sequence[WordList] = (),
) -> Crossed | None:
    """Estimate the biases of embeddings and lists from all cells of a sweep.

    Parameters
    ----------
    cells : pandas.DataFrame
        `Sweep.cells`, or a frame by ``(embedding, list)`` with ``bias``, ``sd`` and ``within_sd``. Cells that have no
        numbers or the verdict "not converged" are treated as missing. Cells with a ``version_of`` are omitted, because
        versions of an embedding are not independent draws from a population of embeddings.
    shared : pandas.Series
        For each list, the share of error variance that is common to its cells (see `shared_errors`). If a share is
        missing, the mean over all other lists is used. If all are missing, errors are treated as independent.
    ci_prob, seed
        As in `fit`.
    noun : str
        The noun for an embedding in notices.
    lists : sequence of WordList
        The word lists. Cells of a list that compares the same as an earlier list are omitted, with a notice, because
        they would count the same data twice (see `bayes_bias.pool`, which rejects such lists). If other lists share
        words, a notice says so.

    Returns
    -------
    Crossed or None
        Result, or None if there are fewer than two embeddings and fewer than two lists, or no numbers.

    Notes
    -----
    The posterior of the three standard deviations is computed on a grid, and all other numbers from draws given them.
    Posteriors of cells are approximated by normals, although posteriors of short lists have heavier tails. The function
    `bayes_bias.pool` avoids this approximation, but only supports one embedding. The correlation of errors is assumed
    to be equal for all pairs of embeddings. Lists that share words are treated as independent.

    References
    ----------
    Gelman, A. (2005). Analysis of variance: why it is more important than ever. The Annals of Statistics, 33(1), 1-53.
    https://doi.org/10.1214/009053604000001048
    """
    if "version_of" in cells:
        cells = cells[cells.version_of == ""]
    measured = cells.index[cells.bias.notna()].unique("list")
    compared, repeated = _without_repeated([words for words in lists if words.name in measured])
    cells = cells.drop(index=list(repeated), level="list", errors="ignore")
    grid = _grid(cells, shared)
    if grid.sizes["embedding"] * grid.sizes["list"] < 2:
        return None
    effects = [side for side in _SIDES if grid.sizes[side] > 1]
    if len(effects) == len(_SIDES):
        # With only one list, embedding effects and interactions are confounded.
        effects.append("interaction")
    scale = TAU_SCALE * float(cells.within_sd.median())
    inputs = _inputs(grid, scale)
    rng = np.random.default_rng(seed)
    with one_blas_thread():
        draws = _draw_biases(_draw_sds(inputs, effects, rng), inputs, rng)
    notices = [f"{name} compares the same as {first}, and is not pooled" for name, first in repeated.items()]
    notices += notices_of_overlap(overlap_of({name: kept.words for name, kept in compared.items()}))
    return _result(draws, grid, scale, ci_prob, (*notices, *_notices(cells, grid, noun)))


def _without_repeated(lists: Sequence[WordList]) -> tuple[dict[str, Compared], dict[str, str]]:
    """Return what each list compares, and the names of lists that compare the same as an earlier list, with its name.

    The first result omits lists of the second.
    """
    kept: dict[str, Compared] = {}
    repeated: dict[str, str] = {}
    for words in lists:
        targets, attributes = (set(chain.from_iterable(named.values())) for named in (words.groups, words.classes))
        compared = Compared(set(words.groups), targets, attributes)
        first = next((name for name, other in kept.items() if compared.is_same_list(other)), "")
        if first:
            repeated[words.name] = first
        else:
            kept[words.name] = compared
    return kept, repeated


def _grid(cells: pd.DataFrame, shared: "pd.Series[float]") -> xr.Dataset:
    """Return a data set (embedding, list) in the order of `cells`, without embeddings and lists that have no numbers.

    A cell without numbers has ``is_observed`` False, and placeholders for ``bias`` and ``sd``. The variable ``common``
    has for each list the share of error variance that is common to its cells, from `shared`.
    """
    usable = cells.bias.notna() & (cells.sd > 0)
    if "verdict" in cells:
        usable &= cells.verdict != "not converged"
    columns = {"bias": cells.bias.where(usable, 0.0), "sd": cells.sd.where(usable, 1.0), "is_observed": usable}
    order = {side: cells.index.unique(side).to_list() for side in _SIDES}
    grid = xr.Dataset.from_dataframe(pd.DataFrame(columns)).reindex(order)
    common_of_list = shared.reindex(order["list"]).fillna(shared.mean()).fillna(0.0)
    grid["common"] = "list", common_of_list.to_numpy(dtype=float)
    embeddings_with_numbers = np.flatnonzero(grid.is_observed.any("list"))
    lists_with_numbers = np.flatnonzero(grid.is_observed.any("embedding"))
    return grid.isel(embedding=embeddings_with_numbers, list=lists_with_numbers)


def _inputs(grid: xr.Dataset, scale: float) -> dict[str, Numbers]:
    """Return the data of the model: biases and their standard deviations, divided by the scale of the prior.

    All arrays are (embedding, list), except ``common`` (list), the share of error variance that the cells of a list
    have in common. Numbers are rounded, so that results do not depend on the processor.
    """
    cells = grid.transpose(*_SIDES)
    is_observed = cells.is_observed.to_numpy().astype(float)
    sd = np.where(is_observed > 0, cells.sd.to_numpy() / scale, 1.0)
    return {
        "bias": rounded(cells.bias.to_numpy() / scale),
        "sd": rounded(sd),
        "is_observed": is_observed,
        "common": rounded(grid.common),
    }


def _draw_sds(inputs: Mapping[str, Numbers], effects: Sequence[str], rng: np.random.Generator) -> dict[str, Numbers]:
    """Draw the standard deviations of `effects` from their posterior, in units of the scale of their prior.

    The posterior density, half-normal prior times likelihood, is evaluated at the centres of the cells of a grid with
    an axis for each standard deviation. A cell is drawn with a probability proportional to its density times its
    volume, and the standard deviations are drawn uniformly within the cell, which widens their posterior by 1 to 2%.
    """

    def log_posterior(points: Numbers) -> Numbers:
        """Return the log posterior density (point) of standard deviations (point, effect), up to a constant."""
        log_prior = -0.5 * (points**2).sum(axis=1)  # half-normal
        batches = _in_batches(dict(zip(effects, points.T, strict=True)), inputs)
        return log_prior + np.concatenate([cells.log_likelihood() for _, cells in batches])

    observed = inputs["bias"][inputs["is_observed"] > 0]
    edges, log_density = _final_grid(log_posterior, len(effects), max(_LARGEST_SD, np.ptp(observed)))
    # The volume of a cell is the product of its widths on all axes.
    volume = reduce(np.multiply.outer, [np.diff(edges_of_sd) for edges_of_sd in edges])
    weight = softmax(log_density + np.log(volume))
    drawn_cells = rng.choice(weight.size, size=_DRAWS, p=weight.ravel())
    indices = np.unravel_index(drawn_cells, weight.shape)  # for each axis, the index of each drawn cell
    sds = {}
    for effect, edges_of_sd, index in zip(effects, edges, indices, strict=True):
        sds[effect] = rng.uniform(edges_of_sd[index], edges_of_sd[index + 1])
    return sds


type _LogDensity = Callable[[Numbers], Numbers]


def _final_grid(log_density: _LogDensity, sds: int, largest: float) -> tuple[list[Numbers], Numbers]:
    """Return the edges of the grid cells of each standard deviation, and the log density at the centres of all cells.

    `log_density` takes points (point, sd) of the `sds` standard deviations, from zero to the `largest`. The grid is
    first coarse, and its ranges are narrowed to the cells whose density is not negligible, until no range shrinks by
    more than a fifth. A fine grid covers the final ranges. Ranges are on the scale of the square root, where cells have
    equal widths, so cells are narrower near zero.
    """
    ranges = np.tile([0.0, np.sqrt(largest)], (sds, 1))  # (sd, end)
    width = np.full(sds, np.inf)
    while (np.ptp(ranges, axis=1) < 0.8 * width).any():
        width = np.ptp(ranges, axis=1)
        _, values = _evaluate_on_grid(log_density, ranges, _COARSE)
        ranges = _narrow_ranges(ranges, values)
    return _evaluate_on_grid(log_density, ranges, _FINE)


def _evaluate_on_grid(log_density: _LogDensity, ranges: Numbers, cells: int) -> tuple[list[Numbers], Numbers]:
    """Return the edges of the grid cells of each standard deviation, and the log density at their centres.

    `ranges` is an array (sd, end) with the square roots of the smallest and the largest value of each standard
    deviation. Each axis of the grid is divided into `cells`, which have equal widths on the scale of the square root.
    The log density is returned as an array with an axis for each standard deviation.
    """
    edges = [np.linspace(lower, upper, cells + 1) ** 2 for lower, upper in ranges]
    centres = [(edges_of_sd[1:] + edges_of_sd[:-1]) / 2 for edges_of_sd in edges]
    points = np.array([*product(*centres)])
    return edges, log_density(points).reshape([cells] * len(ranges))


def _narrow_ranges(ranges: Numbers, log_density: Numbers) -> Numbers:
    """Return the ranges of the grid cells whose density is not negligible, with one more cell at either end.

    `ranges` is an array (sd, end) of square roots, and `log_density` has an axis for each standard deviation. A cell is
    negligible if its log density is lower than the highest by _NEGLIGIBLE. On its axis, cell k is between the edges k
    and k + 1.
    """
    matters = log_density > log_density.max() - _NEGLIGIBLE
    narrowed = np.empty_like(ranges)
    for axis, (lower, upper) in enumerate(ranges):
        other_axes = tuple(other for other in range(matters.ndim) if other != axis)
        cells = np.flatnonzero(matters.any(axis=other_axes))
        edges = np.linspace(lower, upper, matters.shape[axis] + 1)
        narrowed[axis] = edges[max(cells[0] - 1, 0)], edges[min(cells[-1] + 2, len(edges) - 1)]
    return narrowed


@dataclass(frozen=True, eq=False)
class _ListPrecision:
    """The posterior precision matrix of the effect and the common error of each list, both standardised.

    The matrix of a list is ``((effect, cross), (cross, error))``. Each element is an array (..., 1, list).
    """

    effect: Numbers
    cross: Numbers
    error: Numbers

    @cached_property
    def determinant(self) -> Numbers:
        """Return the determinant of the matrix of each list."""
        return self.effect * self.error - self.cross**2

    def solve(self, effect: Numbers, error: Numbers) -> tuple[Numbers, Numbers]:
        """Return the inverse of the matrix K of each list times a vector, whose elements are `effect` and `error`.

        For ``K = ((a, b), (b, d))``, the inverse is ``((d, -b), (-b, a)) / (a d - b^2)``. All elements are arrays
        with the axes (..., list).
        """
        return (
            (self.error * effect - self.cross * error) / self.determinant,
            (self.effect * error - self.cross * effect) / self.determinant,
        )


@dataclass(frozen=True, eq=False)
class _Noise:
    """Standard normal noise for draws of the mean, the effects of embeddings and lists, errors, and interactions.

    Arrays are (draw) for the mean, (draw, embedding), (draw, 1, list) twice, and (draw, embedding, list).
    """

    mean: Numbers
    embedding: Numbers
    list_effect: Numbers
    list_error: Numbers
    interaction: Numbers

    @classmethod
    def drawn(cls, rng: np.random.Generator, draws: int, shape: tuple[int, int], *, interactions: bool) -> Self:
        """Draw noise for cells of the shape (embedding, list). Without interactions, their noise is zero."""
        n_embeddings, n_lists = shape
        sizes = [1, n_embeddings, n_lists, n_lists, n_embeddings * n_lists * interactions]
        noise = rng.standard_normal((draws, sum(sizes)))
        mean, embedding, list_effect, list_error, interaction = np.split(noise, np.cumsum(sizes[:-1]), axis=1)
        return cls(
            mean=mean[:, 0],
            embedding=embedding,
            list_effect=list_effect[:, None],
            list_error=list_error[:, None],
            interaction=interaction.reshape(draws, *shape) if interactions else np.zeros((1, 1, 1)),
        )


@dataclass(frozen=True, eq=False)
class _Cells:
    """The likelihood of the observed biases y given the standard deviations, and draws of the true biases.

    The effects of embeddings and lists and the common errors are multiples of standard normal variables ``z[e]``,
    ``g[l]`` and ``h[l]``, so that

        y[e, l] = mu + sd_embedding z[e] + effect_loading[e, l] g[l] + error_loading[e, l] h[l] + r[e, l]

    with ``effect_loading = sd_list``, ``error_loading = sqrt(common) s``, and the remainder ``r ~ Normal(0, variance)``
    with ``variance = (1 - common) s^2 + sd_interaction^2``. All variables are integrated out, first g and h of each
    list, then z (see `_Embeddings`).

    Arrays are (..., embedding, list). With arrays of standard deviations, there is one axis in place of the dots, else
    none. `precision` is the inverse of `variance`, or zero if a cell has no numbers.
    """

    bias: Numbers
    is_observed: Numbers
    variance: Numbers
    precision: Numbers
    effect_loading: Numbers
    error_loading: Numbers
    list_precision: _ListPrecision
    sd_embedding: Numbers
    interaction_variance: Numbers

    @classmethod
    def given(cls, values: Mapping[str, Any]) -> Self:
        """Return the cells for given standard deviations (by the name of the effect) and data, see `_inputs`.

        Standard deviations are numbers, or arrays of equal length. An absent effect is zero. The symbols are those of
        `_Cells`. After the remainders r are integrated out, the effect and common error of a list have the precision
        matrix K, the identity (their prior) plus the weighted squares and products of their loadings.
        """
        sd, common = values["sd"], values["common"]
        # Each has the axes (..., 1, 1).
        sd_embedding, sd_list, sd_interaction = (
            np.asarray(values.get(effect, 0.0))[..., None, None] for effect in (*_SIDES, "interaction")
        )
        interaction_variance = sd_interaction**2
        variance = (1 - common) * sd**2 + interaction_variance
        precision = values["is_observed"] / variance
        effect_loading = sd_list * np.ones_like(sd)
        error_loading = np.sqrt(common) * sd
        list_precision = _ListPrecision(
            effect=1 + (effect_loading**2 * precision).sum(axis=-2, keepdims=True),
            cross=(effect_loading * error_loading * precision).sum(axis=-2, keepdims=True),
            error=1 + (error_loading**2 * precision).sum(axis=-2, keepdims=True),
        )
        return cls(
            bias=values["bias"],
            is_observed=values["is_observed"],
            variance=variance,
            precision=precision,
            effect_loading=effect_loading,
            error_loading=error_loading,
            list_precision=list_precision,
            sd_embedding=sd_embedding,
            interaction_variance=interaction_variance,
        )

    def sums_by_list(self, deviation: Numbers) -> tuple[Numbers, Numbers]:
        """Return sums (..., 1, list) of deviations, weighted by the precision and by each of the loadings."""
        weighted = self.precision * deviation
        effect_sum = (self.effect_loading * weighted).sum(axis=-2, keepdims=True)
        error_sum = (self.error_loading * weighted).sum(axis=-2, keepdims=True)
        return effect_sum, error_sum

    def likelihood_of_means(self) -> tuple[Numbers, Numbers]:
        """Return the precision matrix P of the means of embeddings, ``mu + sd_embedding z``, and P times their mode.

        The cells of a list have the precision matrix ``p - p W inverse(K) W' p`` if the effect and common error of the
        list are integrated out. p is a diagonal matrix with the precisions of its cells, W has their loadings
        (embedding, 2), and K is the matrix of `list_precision`. P is the sum of these matrices over lists.
        """
        effect = self.effect_loading * self.precision  # p W, first column
        error = self.error_loading * self.precision  # p W, second column
        solved_effect, solved_error = self.list_precision.solve(effect, error)
        diagonal = self.precision.sum(axis=-1, keepdims=True) * np.eye(len(self.bias))
        precision = diagonal - effect @ solved_effect.swapaxes(-1, -2) - error @ solved_error.swapaxes(-1, -2)
        list_effect, list_error = self.list_precision.solve(*self.sums_by_list(self.bias))
        score = (self.precision * self.bias - effect * list_effect - error * list_error).sum(axis=-1)
        return precision, score

    def embeddings(self) -> "_Embeddings":
        """Return the likelihood of the mean mu and of the effects z of embeddings (see `_Embeddings`).

        With the precision matrix P of the means ``mu + sd z``, the precision matrix of z given mu is ``I + sd^2 P``,
        and L is its Cholesky root. If z is integrated out, mu has the precision ``1' P 1 - m' m`` with ``m = inverse(L)
        sd P 1``.
        """
        sd = self.sd_embedding
        precision, score = self.likelihood_of_means()
        row_sums = precision.sum(axis=-1)  # P 1
        root = np.linalg.cholesky(np.eye(len(self.bias)) + sd**2 * precision)  # L
        loading_and_score = np.linalg.solve(root, sd * np.stack([row_sums, score], axis=-1))
        mean_loading, effect_score = np.moveaxis(loading_and_score, -1, 0)  # m, and inverse(L) sd score
        return _Embeddings(
            root=root,
            mean_loading=mean_loading,
            effect_score=effect_score,
            mean_precision=(row_sums - mean_loading**2).sum(axis=-1),
            mean_score=(score - mean_loading * effect_score).sum(axis=-1),
        )

    def log_likelihood(self) -> Numbers:
        """Return the log likelihood (...) of all cells up to a constant, with a flat prior for mu.

        The deviance (minus twice the log likelihood) is a sum of three parts. The first treats cells as independent,
        the second accounts for the effects and common errors of lists, and the third for the mean and the effects of
        embeddings.
        """
        effect_sum, error_sum = self.sums_by_list(self.bias)
        effect_mode, error_mode = self.list_precision.solve(effect_sum, error_sum)
        explained = effect_sum * effect_mode + error_sum * error_mode
        deviance_of_cell = self.is_observed * np.log(self.variance) + self.precision * self.bias**2
        deviance_of_list = np.log(self.list_precision.determinant) - explained
        cells_and_lists = deviance_of_cell.sum(axis=(-1, -2)) + deviance_of_list.sum(axis=(-1, -2))
        return np.asarray(-0.5 * (cells_and_lists + self.embeddings().deviance()))

    def draw(self, noise: "_Noise") -> tuple[Numbers, Numbers]:
        """Return draws of mu (draw) and of the true biases theta (draw, embedding, list), given standard deviations.

        The effects of embeddings are drawn first, then the effects and common errors of lists. With an interaction, the
        remainder of a cell is its interaction plus independent error, and the observed bias shows their sum. The
        interaction is therefore drawn around `weight` times this sum, where `weight` is its share of the variance.
        """
        mu, effects = self.embeddings().draw(noise)
        means = mu[:, None, None] + self.sd_embedding * effects[..., None]  # (draw, embedding, 1)
        list_effect, list_error = self.draw_lists(means, noise)
        theta = means + self.effect_loading * list_effect
        weight = self.interaction_variance * self.precision
        sd = np.sqrt(self.interaction_variance * (1 - weight))
        without_error = self.bias - self.error_loading * list_error
        theta += weight * (without_error - theta) + sd * noise.interaction
        return mu, theta

    def draw_lists(self, means: Numbers, noise: "_Noise") -> tuple[Numbers, Numbers]:
        """Draw the effect g and the common error h (draw, 1, list) of each list, given the means of embeddings.

        Their precision matrix is ``((a, b), (b, d))``. The effect is drawn from its marginal distribution, whose
        variance is ``d / (a d - b^2)``, and the error from its distribution given the effect, whose variance is ``1 /
        d``.
        """
        cross, error = self.list_precision.cross, self.list_precision.error
        effect_mean, error_mean = self.list_precision.solve(*self.sums_by_list(self.bias - means))
        effect_noise = np.sqrt(error / self.list_precision.determinant) * noise.list_effect
        error_noise = noise.list_error / np.sqrt(error)
        return effect_mean + effect_noise, error_mean - cross / error * effect_noise + error_noise


@dataclass(frozen=True, eq=False)
class _Embeddings:
    """The normal likelihood of the mean mu and of the standardised effects z of embeddings.

    With the precision matrix P of the means of embeddings, the score P times their mode, and a vector of ones 1, where
    the dots stand for the axis of the standard deviations, if there is one:

    Attributes
    ----------
    root : array (..., embedding, embedding)
        Cholesky root L of the posterior precision of z given mu, ``L L' = I + sd_embedding^2 P``.
    mean_loading, effect_score : array (..., embedding)
        ``inverse(L) sd_embedding P 1`` and ``inverse(L) sd_embedding score``. Given mu, the mean of ``L' z`` is
        ``effect_score - mu mean_loading``.
    mean_precision, mean_score : array (...)
        Precision of mu after z is integrated out, and this precision times the mode of mu.
    """

    root: Numbers
    mean_loading: Numbers
    effect_score: Numbers
    mean_precision: Numbers
    mean_score: Numbers

    def deviance(self) -> Numbers:
        """Return the part (...) of the deviance that remains after mu and z are integrated out."""
        diagonal = np.diagonal(self.root, axis1=-2, axis2=-1)
        log_determinant = 2 * np.log(diagonal).sum(axis=-1) + np.log(self.mean_precision)
        explained = (self.effect_score**2).sum(axis=-1) + self.mean_score**2 / self.mean_precision
        return np.asarray(log_determinant - explained)

    def draw(self, noise: _Noise) -> tuple[Numbers, Numbers]:
        """Return draws of mu (draw) and, given mu, of the effects z (draw, embedding).

        The precision matrix of z given mu is ``L L'`` with the root L, so z solves ``L' z = mean + noise`` with
        standard normal noise.
        """
        mu = self.mean_score / self.mean_precision + noise.mean / np.sqrt(self.mean_precision)
        mean = self.effect_score - mu[:, None] * self.mean_loading
        effects = np.linalg.solve(self.root.swapaxes(-1, -2), (mean + noise.embedding)[..., None])
        return mu, effects[..., 0]


@dataclass(frozen=True, eq=False)
class _Draws:
    """Draws in units of the prior's scale: mu (draw), standard deviations (draw), and theta (embedding, list, draw)."""

    mu: Numbers
    sds: dict[str, Numbers]
    theta: Numbers


def _draw_biases(sds: dict[str, Numbers], inputs: Mapping[str, Numbers], rng: np.random.Generator) -> _Draws:
    """Draw the mean mu and the true biases theta (embedding, list) for each draw of the standard deviations.

    `sds` has an array (draw) for each effect, and `inputs` the observed biases and their errors (see `_inputs`).
    """
    shape = inputs["bias"].shape
    mu, theta = np.empty(_DRAWS), np.empty((*shape, _DRAWS))
    for batch, cells in _in_batches(sds, inputs):
        noise = _Noise.drawn(rng, len(mu[batch]), shape, interactions="interaction" in sds)
        mu[batch], biases = cells.draw(noise)
        theta[..., batch] = np.moveaxis(biases, 0, -1)
    return _Draws(mu, sds, theta)


def _in_batches(sds: Mapping[str, Numbers], inputs: Mapping[str, Numbers]) -> Iterator[tuple[slice, _Cells]]:
    """Yield batches of points, and the cells given the standard deviations (point) of each effect in the batch.

    A batch has as many points as arrays (point, embedding, list) of _AT_ONCE numbers can hold, but at least one.
    """
    n_points = len(next(iter(sds.values())))
    n_at_once = max(1, _AT_ONCE // inputs["bias"].size)
    for first in range(0, n_points, n_at_once):
        batch = slice(first, first + n_at_once)
        sd_of_effect = {effect: sd[batch] for effect, sd in sds.items()}
        yield batch, _Cells.given({**sd_of_effect, **inputs})


def _result(draws: _Draws, grid: xr.Dataset, scale: float, ci_prob: float, notices: tuple[str, ...]) -> Crossed:
    """Return the tables of the pooled model in the units of the bias, which are the units of the draws times `scale`.

    The mean bias of an embedding is the mean of theta over lists, and the mean bias of a list the mean over embeddings.
    """
    total_variance = sum(sd**2 for sd in draws.sds.values())
    effects = {"mu": scale * draws.mu, **{f"sd_{effect}": scale * sd for effect, sd in draws.sds.items()}}
    shares = {effect: sd**2 / total_variance for effect, sd in draws.sds.items()}
    theta = scale * draws.theta  # (embedding, list, draw)
    embedding_names, list_names = (grid[side].to_numpy().tolist() for side in _SIDES)
    by_cell = pd.MultiIndex.from_product([embedding_names, list_names], names=_SIDES)
    embeddings, more_biased_embedding = _ranked_means(theta.mean(axis=1), embedding_names, ci_prob)
    lists, more_biased_list = _ranked_means(theta.mean(axis=0), list_names, ci_prob)
    return Crossed(
        ci_prob=ci_prob,
        scale=scale,
        effects=describe_draws(effects, ci_prob),
        shares=describe_draws(shares, ci_prob),
        cells=describe_draws(theta.reshape(-1, theta.shape[-1]), ci_prob, by_cell),
        embeddings=embeddings,
        lists=lists.assign(shared_error=grid.common.to_numpy()),
        more_biased={"embedding": more_biased_embedding, "list": more_biased_list},
        notices=notices,
    )


def describe_draws(draws: Mapping[str, Numbers] | Numbers, ci_prob: float, index: Any = None) -> pd.DataFrame:
    """Return the mean, standard deviation, interval, and probability of direction of each quantity.

    `draws` is an array (quantity, draw), whose quantities have the names `index`, or a mapping of names to draws.
    """
    if isinstance(draws, Mapping):
        index, draws = list(draws), np.array(list(draws.values()))
    lower, upper = np.quantile(draws, tails(ci_prob), axis=-1)
    positive = (draws > 0).mean(axis=-1)
    direction = np.maximum(positive, 1 - positive)
    numbers = np.column_stack([draws.mean(axis=-1), draws.std(axis=-1), lower, upper, direction])
    columns = ["mean", "sd", *interval_names(ci_prob), "prob_direction"]
    # Digits after the eighth depend on the processor, because BLAS is used to compute the density.
    return pd.DataFrame(rounded(numbers, 8), index=index, columns=columns)


def _ranked_means(draws: Numbers, names: Sequence[str], ci_prob: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table of means with their ranks, and a matrix of probabilities that the row's mean exceeds the column's.

    `draws` is an array (name, draw).
    """
    ranking = ranked(draws, names, ci_prob)
    return describe_draws(draws, ci_prob, names).join(ranking.table), ranking.above


def _notices(cells: pd.DataFrame, grid: xr.Dataset, noun: str) -> tuple[str, ...]:
    """Return notices of missing or repeated numbers, and of standard deviations that depend on the prior.

    `noun` is the noun for an embedding, such as "model". With few embeddings or lists, their standard deviation depends
    on the prior.
    """
    notices = []
    for side, column_noun in (("embedding", noun), ("list", "list")):
        if excluded := [name for name in cells.index.unique(side) if name not in grid.indexes[side]]:
            notices.append(f"{column_noun}s without any numbers, which are excluded: {'; '.join(excluded)}")
        if 1 < grid.sizes[side] < FEW_LISTS:
            notices.append(
                f"with only {in_words(grid.sizes[side])} {column_noun}s, their spread depends mainly on the"
                f" prior. Use {in_words(FEW_LISTS)} or more"
            )
    if missing := int((~grid.is_observed).sum()):
        notices.append(
            f"cells without numbers are predicted from the other cells ({missing:,} of {grid.is_observed.size:,})"
        )
    biases = grid.bias.where(grid.is_observed).transpose(*_SIDES).to_pandas()
    if repeated := biases.index[biases.duplicated(keep=False)].to_list():
        notices.append(f"{noun}s with the same biases, although each counts as another {noun}: {'; '.join(repeated)}")
    return tuple(notices)
