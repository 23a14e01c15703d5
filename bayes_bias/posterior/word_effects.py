"""Sample word effects, which the collapsed model integrates out, exactly from their conditional distribution."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.arguments import as_tuple
from bayes_bias.errors import ScopeError, did_you_mean
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.models.components import BY_REPLICATE, EFFECT_OF
from bayes_bias.models.crossed import root_of
from bayes_bias.models.patterns import averaged_residual, side_covariances
from bayes_bias.models.slopes import explained_words
from bayes_bias.posterior.estimate import SAMPLE
from bayes_bias.table.bias_weights import BLOCK
from bayes_bias.table.clusters import Clusters
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side
from bayes_bias.table.scopes import Part
from bayes_bias.table.statistics import compared_attributes

type Positions = NDArray[np.intp]

# Maximal product of the numbers of draws, words, and classes of one side. The array then has 400 MB, and memory use
# peaks at five times as much.
MOST_NUMBERS = 50_000_000


def word_effects(fit: Fit, sides: Sequence[Side] = SIDES) -> xr.Dataset:
    """Sample the deviation of each word from the mean of its block, for each posterior draw.

    The crossed model integrates out the word effects. Given the parameters they are normally distributed, and this
    function samples them. The draws depend only on the fit and its seed.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    sides : sequence of {"target", "attribute"}
        The sides for which to sample effects. If the effects of one side do not fit in memory, pass only the other
        side.

    Returns
    -------
    xarray.Dataset
        ``target_effect (chain, draw, target, attribute_class)``, ``a[i] + u[i] + x[i, c]``: how much closer the target
        is to this class than its group is on average. ``attribute_effect (chain, draw, attribute, group)``, ``b[j] +
        w[j, g]``: the same for an attribute and this group. If words have covariates, the effects exclude the part that
        covariates explain. Effects are in the units of the table.

    Raises
    ------
    ScopeError
        If the fit is not of the crossed model, or if a side has so many words that their effects do not fit in memory.

    Examples
    --------
    >>> effects = word_effects(posterior)                                         # doctest: +SKIP
    >>> effects.target_effect.sel(target="John").mean(("chain", "draw"))          # doctest: +SKIP
    """
    fitted = Fitted.of(fit).generalising("word effects")
    return effects_of(fitted, tuple(map(check_side, as_tuple("sides", sides, str, "['target']", ScopeError))))


def effects_of(fitted: Fitted, sides: tuple[Side, ...] = SIDES, *, these_replicates: bool = False) -> xr.Dataset:
    """Return the effects of the words of some sides, in each draw.

    They are averages over all possible replicates or, with `these_replicates`, over the replicates of the table, whose
    average deviation is then added. Some models contain the effects as variables. Collapsed models integrate them out,
    so they are drawn for the words of each side, and the draws are kept with the fit (`once`).
    """
    for side, sentence in sides_left_out(fitted).items():
        if side in sides:
            raise ScopeError(f"fit: {sentence}")
    if not fitted.structure.COLLAPSED:
        effects = xr.Dataset()
        for side in sides:
            name = f"{side}_effect"
            effects[name] = fitted.posterior[name]
            if these_replicates:
                effects[name] = effects[name] + fitted.posterior[name + BY_REPLICATE].mean("replicate")
        return effects
    words = {side: np.arange(fitted.data.sizes[side]) for side in sides}
    key = ("word effects", sides, these_replicates)
    return fitted.once(key, lambda: _draw_effects(fitted, words, these_replicates))


def compared_effects(fitted: Fitted, sides: Sequence[Side], *, these_replicates: bool = False) -> xr.Dataset:
    """Return the effects of the words of some sides, in each draw (see `effects_of`).

    The words of control classes, which no estimand needs, are omitted, unless the model has word effects as variables.
    """
    if not (fitted.structure.COLLAPSED and fitted.data.sizes["control"]):
        return effects_of(fitted, tuple(sides), these_replicates=these_replicates)
    compared: dict[Side, Positions] = {
        "target": np.arange(fitted.data.sizes["target"]),
        "attribute": np.flatnonzero(compared_attributes(fitted.data)),
    }
    words = {side: compared[side] for side in sides}
    key = ("compared effects", tuple(sides), these_replicates)
    return fitted.once(key, lambda: _draw_effects(fitted, words, these_replicates))


def check_side(side: str) -> Side:
    """Return the side. Raise an error if it does not exist."""
    for name in SIDES:
        if side == name:
            return name
    raise ScopeError(f"`side` '{side}' is not a side of a table. {did_you_mean(side, SIDES)}")


def sides_left_out(fit: Fit) -> dict[Side, str]:
    """Return the sides without word effects, each with the reason in a sentence.

    In the collapsed model, effects of words are drawn later, and the draws may not fit in memory (`MOST_NUMBERS`). Each
    word has an effect for each class or group of the other side, and a number takes 8 bytes. A user's own model must
    contain the effects as variables, also by replicate if the table has replicates.
    """
    fitted = Fitted.of(fit)
    posterior, data = fitted.posterior, fitted.data
    n_draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    reasons: dict[Side, str] = {}
    for side in SIDES:
        if not fitted.structure.COLLAPSED:
            needed = [f"{side}_effect"]
            if "replicate" in data.dims:
                needed.append(f"{side}_effect{BY_REPLICATE}")
            if missing := fitted.lacking(needed, f"the bias of single {side}s"):
                reasons[side] = missing
        elif (n_numbers := n_draws * data[f"{side}_mean"].size) > MOST_NUMBERS:
            reasons[side] = (
                f"the effects of {data.sizes[side]:,} {side}s in {n_draws:,} draws would need {n_numbers * 8e-9:.1f}"
                " GB. Sample fewer draws, shorten the lists, or use the words' raw contrasts, scope='none'"
            )
    return reasons


def block_averages(fit: Fit) -> dict[Part, xr.DataArray]:
    """Return block averages of the effects of words, residuals, and replicates, by source of variance, without sampling
    single words.

    Each average has the dims ``(chain, draw, group, attribute_class)`` and is consistent with the draws of
    `word_effects`. The collapsed model stores averages, whose names are in `_AVERAGE_OF`, and in other models they are
    computed from effects.
    """
    fitted = Fitted.of(fit)
    if fitted.structure.COLLAPSED:
        return {part: fitted.posterior[name] for part, name in _AVERAGE_OF.items() if name in fitted.posterior}
    averages = effects_on_blocks(fitted)
    for part, effect in averages.items():
        if "replicate" in effect.dims:
            averages[part] = effect.mean("replicate")
    return averages


def effects_on_blocks(fitted: Fitted) -> dict[Part, xr.DataArray]:
    """Return block averages of the effects that a model has as variables, by source of variance.

    Effects of targets are averaged over each group, effects of attributes over each class, and effects of pairs over
    each block. Effects that differ between replicates are averaged in each replicate.
    """
    data = fitted.data
    # Indicators of the group of each target, the class of each attribute, and the block of each pair p.
    in_group = np.eye(data.sizes["group"])[data.group_of.to_numpy()]
    in_class = np.eye(data.sizes["attribute_class"])[data.class_of.to_numpy()]
    in_block = np.einsum("pg,pc->pgc", in_group[data.pair_target], in_class[data.pair_attribute])
    averaging = {
        "target": (("target", "group"), in_group / in_group.sum(axis=0)),
        "attribute": (("attribute", "attribute_class"), in_class / in_class.sum(axis=0)),
        "pair": (("pair", *BLOCK), in_block / in_block.sum(axis=0)),
    }
    average_over = xr.Dataset(averaging, coords={dim: data[dim] for dim in BLOCK})
    effects = {part: fitted.posterior[name] for part, name in EFFECT_OF.items() if name in fitted.posterior}
    for part, effect in effects.items():
        for dim in set(averaging) & set(effect.dims):
            effects[part] = xr.dot(effect, average_over[dim], dim=[dim])
    return effects


_AVERAGE_OF: Mapping[Part, str] = MappingProxyType(
    {
        "targets": "target_average",
        "attributes": "attribute_average",
        "residual": "residual_average",
        "replicates": "replicate_average",
        "targets by replicate": "target_average_by_replicate",
        "attributes by replicate": "attribute_average_by_replicate",
    }
)


def _draw_effects(fitted: Fitted, words: Mapping[Side, Positions], these_replicates: bool) -> xr.Dataset:
    """Sample the effects of the words at these positions of each side, (chain, draw, words, cells of the other side).

    An effect is the deviation of a word from the average of its group (class), which is sampled here, plus the sampled
    average, which the fit stores. With `these_replicates`, effects are averages over the replicates of the table, so
    the stored average by replicate is added. The draws of a word do not depend on which other words of its side are
    selected, because noise is drawn for all of them. `_ACROSS` is the dimension along which the effects of a word
    differ: classes for targets, groups for attributes.
    """
    data, posterior = fitted.data, fitted.posterior
    rng = np.random.default_rng(fitted.seed)
    effects = {}
    for side in SIDES:
        if side not in words:
            continue
        positions = words[side]
        distribution = conditional(fitted, side, these_replicates=these_replicates).only(positions)
        deviation = (distribution.mean() + distribution.noise(rng))[..., positions, :]
        average = posterior[f"{side}_average"]
        if these_replicates:
            average = average + posterior[f"{side}_average{BY_REPLICATE}"]
        cell_average = average.transpose(*SAMPLE, CATEGORY_COORD[side], _ACROSS[side]).to_numpy()
        effect = deviation + cell_average[..., distribution.cells[positions], :]
        effects[f"{side}_effect"] = ((*SAMPLE, side, _ACROSS[side]), effect)
    # The dims of effects: the other side's classes or groups, and the selected words.
    labels = {_ACROSS[side]: data[_ACROSS[side]] for side in words}
    labels |= {str(side): data[side][positions] for side, positions in words.items()}
    return xr.Dataset(effects, coords={dim: posterior[dim] for dim in SAMPLE} | labels)


# The coordinate with the group or class of each word, and the dimension along which its effects differ.
_CELL_OF: dict[Side, str] = {"target": "group_of", "attribute": "class_of"}
_ACROSS: dict[Side, str] = {"target": "attribute_class", "attribute": "group"}


@dataclass(frozen=True, eq=False)
class _Directions:
    """Directions among the words of a side, such as the contrast of two words, or of two sub-topics.

    They have a common distribution and are independent of all other directions.

    Attributes
    ----------
    positions : array (n,)
        Positions of the words that span the directions.
    bases : list of array (n, directions)
        Orthonormal bases: either a single basis of the directions, or the bases that are excluded if the directions are
        all others (see the next attribute).
    is_complement : bool
        True if the directions are all except the directions in `bases` and the means of groups or classes.
    gain, root : array (..., k, k)
        Given the scale parameters, effects in these directions are normal. Their mean is the observed deviation times
        `gain`, the matrix that shrinks observed deviations towards zero by the proportion of noise in them. Their
        covariance is ``root root'``. The k rows are cells of the other side: classes for targets, groups for
        attributes.
    """

    positions: Positions
    bases: list[NDArray[np.float64]]
    is_complement: bool
    gain: NDArray[np.float64]
    root: NDArray[np.float64]

    def projected(self, values: NDArray[np.float64], cells: Positions) -> NDArray[np.float64]:
        """Return the projection of values (..., n, k) of the n words of these directions on the directions.

        For directions that are the complement of the bases, the projections on the bases are subtracted from the
        values, and then the mean of each cell. `cells` has the cell of every word of the side: the position of its
        group or class.
        """
        projections = [basis @ (basis.T @ values) for basis in self.bases]
        if not self.is_complement:
            return np.asarray(projections[0])
        residual = values - sum(projections)
        for cell in np.unique(cells[self.positions]):
            in_cell = cells[self.positions] == cell
            residual[..., in_cell, :] -= residual[..., in_cell, :].mean(axis=-2, keepdims=True)
        return np.asarray(residual)

    def share(self, cells: Positions) -> NDArray[np.float64]:
        """Return the proportion of each word's variance that lies in these directions.

        The share of an orthonormal basis is the sum of the squares of a word's row. In a cell (group or class) of n
        words, the share of the mean is 1 / n. The complement of the bases and means has the remaining share. `cells`
        has the position of the cell of every word of the side.
        """
        share_of_bases = sum((basis**2).sum(axis=1) for basis in self.bases)
        if not self.is_complement:
            return np.asarray(share_of_bases)
        share_of_mean = 1 / np.bincount(cells)[cells[self.positions]]
        return np.asarray(1 - share_of_bases - share_of_mean)


@dataclass(frozen=True, eq=False)
class Conditional:
    """Conditional distribution of words around the average of their group or class, given the scale parameters.

    Attributes
    ----------
    observed : array (..., words, k)
        Observed deviations of the means of words from the mean of their group or class, in each of the k classes or
        groups of the other side. If there are covariates, the part that the slopes of each draw explain is subtracted.
    cells : array (words,)
        The position of each word's group, or class.
    directions : list
        All directions in which words may deviate, grouped by their distribution.
    """

    observed: NDArray[np.float64]
    cells: Positions
    directions: list[_Directions]

    @property
    def _sample(self) -> tuple[int, ...]:
        return self.directions[0].gain.shape[:-2]

    def only(self, words: Positions) -> "Conditional":
        """Return the distribution in the directions in which these words deviate. Words that do not deviate in any of
        these directions have mean and variance zero.
        """
        return replace(self, directions=[part for part in self.directions if np.isin(part.positions, words).any()])

    def mean(self) -> NDArray[np.float64]:
        """Return the expected deviation of each word from the average of its group or class, (..., words, k).

        The deviation is a sum of independent parts, one for each item of `directions`, such as the differences between
        sub-topics. For each part, the observed deviations of its words are projected on its directions, and multiplied
        by its gain, a (k, k) matrix that shrinks them towards zero because a proportion of them is noise.
        """
        total = np.zeros((*self._sample, *self.observed.shape[-2:]))
        for part in self.directions:
            projected = part.projected(self.observed[..., part.positions, :], self.cells)
            total[..., part.positions, :] += projected @ np.swapaxes(part.gain, -1, -2)
        return total

    def variance(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the variance (..., words) of a contrast of each word's deviations, with weights (words, k).

        In a direction whose covariance has the root R, the variance of a contrast with the weights w is ``w' R R' w``.
        It is multiplied by the share of the direction in a word's variance, and summed over directions. Many words have
        the same weights, so the variance is computed once for each.
        """
        total = np.zeros((*self._sample, len(self.cells)))
        for part in self.directions:
            w, index = np.unique(weights[part.positions], axis=0, return_inverse=True)
            w_root = np.einsum("wi,...ij->...wj", w, part.root)
            total[..., part.positions] += (w_root**2).sum(axis=-1)[..., index] * part.share(self.cells)
        return total

    def noise(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Sample deviations around their mean, (..., words, k).

        The deviations are a sum of independent parts, one for each item of `directions`. For each part, standard normal
        draws for its words are projected on its directions, and multiplied by the root R of its covariance ``R R'``.
        """
        normal = rng.standard_normal((*self._sample, *self.observed.shape[-2:]))
        total = np.zeros_like(normal)
        for part in self.directions:
            draws = part.projected(normal[..., part.positions, :], self.cells)
            total[..., part.positions, :] += draws @ np.swapaxes(part.root, -1, -2)
        return total


def conditional(fitted: Fitted, side: Side, *, these_replicates: bool = False) -> Conditional:
    """Return the distribution of the deviations of the words of a side, given the scale parameters.

    Let T be the covariance of effects (of single words and of clusters) and N the covariance of noise. The gain is
    ``T (T + N)^-1``, and the root is the square root of ``T - T (T + N)^-1 T``. Differences of a word between
    replicates are part of its effect with `these_replicates`, and noise otherwise.
    """
    return fitted.once(("given scales", side, these_replicates), lambda: _conditional(fitted, side, these_replicates))


def _conditional(fitted: Fitted, side: Side, these_replicates: bool) -> Conditional:
    """Return the distribution of the deviations of a side's words around the average of their group or class, given
    the scale parameters (see `conditional`, which caches it).

    `observed` are the deviations of word means from the mean of their group (class), for each of the k classes (groups)
    of the other side, without the part that covariates explain. Effects have a covariance T, (k, k), and noise a
    covariance N, for each group or class. In the directions that words of the same clusters (sub-topics or pairs)
    share, the covariance of the effects of a cluster is added to T, multiplied by `times`. In all other directions,
    which are the complement of these, only the effects of single words vary. T and N determine the gain, with which the
    observed deviations are multiplied, and the root of the covariance that remains (see `_Directions`).
    """
    data, variances = fitted.data, fitted.variances
    cells = data[_CELL_OF[side]].to_numpy()
    cell_means = data.block_mean.to_numpy() if side == "target" else data.block_mean.to_numpy().T
    observed = data[f"{side}_mean"].to_numpy() - cell_means[cells]  # (words, k)
    if f"{side}_slope" in fitted.posterior:
        observed = observed - explained_words(fitted.posterior, data, side)
    # Covariances for each group or class, (..., cells, k, k). Noise is the residual and, unless the effects are those
    # in these replicates, the difference between a word's mean in these replicates and its effect in all replicates.
    in_table = side_covariances(variances.table, side)
    effect_covariance = in_table if these_replicates else side_covariances(variances.words, side)
    noise_covariance = (
        in_table - effect_covariance + averaged_residual(variances.table.residual, side, variances.patterns.counts)
    )
    cluster_effects = variances.of(variances.patterns.cluster[side])
    directions = []
    # A set has the words of one cell, or of all cells with pairs. In its `shared` directions, clusters add variance.
    for word_set in Clusters.from_data(data, side).word_sets(cells):
        positions = word_set.positions
        cell = cells[positions[0]]
        t = effect_covariance[..., cell, :, :]
        n = noise_covariance[..., cell, :, :]
        for part in word_set.shared:
            gain, root = _gain_and_root(t + part.times * cluster_effects, n)
            directions.append(_Directions(positions, [part.basis], False, gain, root))
        bases = [part.basis for part in word_set.shared]
        gain, root = _gain_and_root(t, n)
        directions.append(_Directions(positions, bases, True, gain, root))
    return Conditional(observed, cells, directions)


def _gain_and_root(
    covariance: NDArray[np.float64], noise: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gain ``T (T + N)^-1`` for the covariances T of effects and N of noise, and a root of the remaining
    covariance ``T - T (T + N)^-1 T``.
    """
    transposed_gain = np.linalg.solve(covariance + noise, covariance)
    return np.swapaxes(transposed_gain, -1, -2), root_of(covariance - covariance @ transposed_gain)
