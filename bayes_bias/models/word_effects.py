"""Word-level effects, drawn exactly from what the collapsed model left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args
from weakref import WeakKeyDictionary

import numpy as np
import xarray as xr

from bayes_bias.errors import ScopeError, did_you_mean
from bayes_bias.models.components import Components
from bayes_bias.models.crossed import root_of
from bayes_bias.models.fitted import Fit, Fitted

Side = Literal["target", "attribute"]

SIDES: tuple[Side, ...] = get_args(Side)

# Draws x words x classes that the effects of one side may take: 400 MB, and five times as much on the way to them.
MOST_NUMBERS = 50_000_000

# Whoever passes the same `Fitted` on has its effects drawn once.
_kept: WeakKeyDictionary[Fitted, dict[tuple[Side, ...], xr.Dataset]] = WeakKeyDictionary()


def word_effects(fit: Fit, sides: Sequence[Side] = SIDES) -> xr.Dataset:
    """How far each word lies from the mean of its block, given each posterior draw.

    The crossed model integrates the word effects out; given the parameters they are Gaussian, and this draws
    them. The draws depend on the fit and its seed alone.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    sides : sequence of {"target", "attribute"}
        Whose words: both sides, or the one that is short enough.

    Returns
    -------
    xarray.Dataset
        ``target_effect (chain, draw, target, attribute_class)``, ``a[i] + u[i] + x[i, c]``: how much closer to
        this class than its group is; ``attribute_effect (chain, draw, attribute, group)``, ``b[j] + w[j, g]``.
        Units: those of the table.

    Raises
    ------
    ScopeError
        The fit is not of the crossed model, or a side has more words than memory holds the effects of.

    Examples
    --------
    >>> effects = word_effects(posterior)                                         # doctest: +SKIP
    >>> effects.target_effect.sel(target="John").mean(("chain", "draw"))          # doctest: +SKIP
    """
    fitted = Fitted.of(fit).generalising("word effects")
    wanted = tuple(map(check_side, sides))
    if "target_effect" in fitted.posterior:
        return fitted.posterior[[f"{side}_effect" for side in wanted]]
    for side, sentence in too_many_words(fitted).items():
        if side in wanted:
            raise ScopeError(f"fit: {sentence}")
    kept = _kept.setdefault(fitted, {})
    if wanted not in kept:
        kept[wanted] = _drawn(fitted, wanted)
    return kept[wanted]


def check_side(side: str) -> Side:
    """Refuse a side that does not exist."""
    for known in SIDES:
        if side == known:
            return known
    raise ScopeError(f"side: '{side}' is no side of a table; {did_you_mean(str(side), SIDES)}")


def too_many_words(fit: Fit) -> dict[Side, str]:
    """The sides whose words' effects would not fit in memory over all draws, each with a sentence that says so."""
    posterior, data = Fitted.of(fit).posterior, Fitted.of(fit).data
    if "target_effect" in posterior:
        return {}
    n_draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    numbers = {side: n_draws * data[f"{side}_mean"].size for side in SIDES}
    return {
        side: f"the effects of {data.sizes[side]:,} {side}s in {n_draws:,} draws would take {n * 8e-9:.1f} GB;"
        " sample fewer draws, shorten the lists, or take the words' raw contrasts, scope='none'"
        for side, n in numbers.items()
        if n > MOST_NUMBERS
    }


def block_averages(fit: Fit) -> tuple[xr.DataArray, xr.DataArray]:
    """Averages over each block of the targets' and of the attributes' effects: quick where only those matter.

    Each ``(chain, draw, group, attribute_class)``, by the same draws as `word_effects`.
    """
    posterior, data = Fitted.of(fit).posterior, Fitted.of(fit).data
    if "target_effect" not in posterior:
        return posterior.target_average, posterior.attribute_average
    in_group = np.eye(data.sizes["group"])[data.group_of.to_numpy()]
    in_class = np.eye(data.sizes["attribute_class"])[data.class_of.to_numpy()]
    of_group = (("group", "target"), (in_group / in_group.sum(axis=0)).T)
    of_class = (("attribute", "attribute_class"), in_class / in_class.sum(axis=0))
    average = xr.Dataset({"of_group": of_group, "of_class": of_class}, coords={"group": data.group})
    return (
        xr.dot(posterior.target_effect, average.of_group, dim=["target"]),
        xr.dot(posterior.attribute_effect, average.of_class, dim=["attribute"]).assign_coords(
            attribute_class=data.attribute_class
        ),
    )


def _drawn(fitted: Fitted, sides: Sequence[Side]) -> xr.Dataset:
    data, posterior = fitted.data, fitted.posterior
    rng = np.random.default_rng(fitted.seed)
    effects = {}
    for each in (side for side in SIDES if side in sides):
        given = conditional(fitted, each)
        words, of_cell = given.words, given.cells
        noise = np.moveaxis(rng.standard_normal((*given.sample, *words.shape)), -2, 0)
        deviation = np.empty((*given.sample, *words.shape))
        for cell in range(given.n_cells):
            rows = of_cell == cell
            drawn = np.einsum("...ij,w...j->w...i", given.root[cell], noise[rows])
            centred = np.moveaxis(drawn - drawn.mean(axis=0), 0, -2)
            deviation[..., rows, :] = words[rows] @ np.swapaxes(given.gain[cell], -1, -2) + centred
        average = posterior[f"{each}_average"].transpose("chain", "draw", *_AVERAGED[each]).to_numpy()
        effects[f"{each}_effect"] = (
            ("chain", "draw", each, _ACROSS[each]),
            deviation + average[..., of_cell, :],
        )
    labels = {dim: data[dim] for side in sides for dim in (side, _ACROSS[side])}
    return xr.Dataset(effects, coords={dim: posterior[dim] for dim in ("chain", "draw")} | labels)


# The cells that the words of a side fall into, and the dimension along which their effects differ.
_CELL_OF: dict[Side, str] = {"target": "group_of", "attribute": "class_of"}
_ACROSS: dict[Side, str] = {"target": "attribute_class", "attribute": "group"}
_AVERAGED: dict[Side, tuple[str, str]] = {
    "target": ("group", "attribute_class"),
    "attribute": ("attribute_class", "group"),
}


@dataclass(frozen=True, eq=False)
class Conditional:
    """What is known of a side's words about the average of their cell (group or class), given the scales.

    A word's deviation is normal with mean ``gain @ words`` and covariance ``root root'``, less the average over the
    words of its cell, since deviations sum to zero.

    Attributes
    ----------
    words : array (words, k)
        Observed deviations of the words' means.
    cells : array (words,)
        The position of each word's group, or class.
    gain, root : list of array (..., k, k)
        One for each cell.
    """

    words: np.ndarray
    cells: np.ndarray
    gain: list[np.ndarray]
    root: list[np.ndarray]

    @property
    def n_cells(self) -> int:
        """How many groups, or classes."""
        return len(self.gain)

    @property
    def sample(self) -> tuple[int, ...]:
        """Shape of the posterior draws."""
        return self.gain[0].shape[:-2]


def conditional(fitted: Fitted, side: Side) -> Conditional:
    """Deviations of the words of a side given the scales.

    With the effects' covariance T and the noise's N, the gain is ``T (T + N)^-1``, and the root that of
    ``T - T (T + N)^-1 T``.
    """
    data, components = fitted.data, Components.of_posterior(fitted.posterior, fitted.data)
    of_cell, block = data[_CELL_OF[side]].to_numpy(), data.block_mean.to_numpy()
    mean = data[f"{side}_mean"].to_numpy() - (block if side == "target" else block.T)[of_cell]
    if side == "target":
        prior = [components.target().matrix()] * data.sizes["group"]
        noise = components.residual / data.n_attributes.to_numpy()
    else:
        prior = list(np.moveaxis(components.attributes().matrix(), -3, 0))
        noise = components.residual / data.n_targets.to_numpy()
    gain, root = [], []
    for covariance in prior:
        shrunk = np.linalg.solve(covariance + noise[..., None] * np.eye(mean.shape[1]), covariance)
        gain.append(np.swapaxes(shrunk, -1, -2))
        root.append(root_of(covariance - covariance @ shrunk))
    return Conditional(mean, of_cell, gain, root)
