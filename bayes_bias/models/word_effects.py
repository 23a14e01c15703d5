"""Word-level effects, drawn exactly from what the collapsed model left out."""

from collections.abc import Sequence
from typing import Literal, get_args
from weakref import WeakKeyDictionary

import numpy as np
import xarray as xr

from bayes_bias.errors import ScopeError, did_you_mean
from bayes_bias.models.components import Components, Covariance
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
    them (by Matheron's rule: simulate effect and noise, then correct by what was observed). The draws depend
    on the fit and its seed alone.

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


def block_effects(
    posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Averages of the words' effects over each block, without the words: quick where only those matter.

    Returns
    -------
    of_targets, of_attributes : array (chains x draws, groups, classes)
        The averages over targets of ``target_effect`` and over attributes of ``attribute_effect`` that
        `word_effects` would draw, in the units of the table.
    """
    draws = _stacked(posterior)
    if "target_effect" in posterior:
        return _averages(draws, data)
    return _block_effects(draws, data, _components(draws, data), rng)


def _drawn(fitted: Fitted, sides: Sequence[Side]) -> xr.Dataset:
    data, draws = fitted.data, _stacked(fitted.posterior)
    rng = np.random.default_rng(fitted.seed)
    components = _components(draws, data)
    target_level, attribute_level = _block_effects(draws, data, components, rng)
    effects = {}
    if "target" in sides:
        by_target = target_level[:, data.group_of.to_numpy(), :]
        deviations = _target_deviations(data, components, rng)
        effects["target_effect"] = (("sample", "target", "attribute_class"), deviations + by_target)
    if "attribute" in sides:
        by_attribute = attribute_level.transpose(0, 2, 1)[:, data.class_of.to_numpy(), :]
        deviations = _attribute_deviations(data, components, rng)
        effects["attribute_effect"] = (("sample", "attribute", "group"), deviations + by_attribute)
    labels = {dim: data[dim] for _, (dims, _) in effects.items() for dim in dims[1:]}
    drawn = xr.Dataset(effects, coords={"sample": draws.sample} | labels)
    return drawn.unstack("sample").transpose("chain", "draw", ...)


def _stacked(posterior: xr.Dataset) -> xr.Dataset:
    return posterior.stack(sample=("chain", "draw")).transpose("sample", ...)


def _components(draws: xr.Dataset, data: xr.Dataset) -> Components:
    return Components.of(draws, data).arrays("sample")


def _averages(draws: xr.Dataset, data: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The same where the words' effects were sampled, from these."""
    in_group = np.eye(data.sizes["group"])[data.group_of.to_numpy()]
    in_class = np.eye(data.sizes["attribute_class"])[data.class_of.to_numpy()]
    of_target = draws.target_effect.transpose("sample", "target", "attribute_class").to_numpy()
    of_attribute = draws.attribute_effect.transpose("sample", "group", "attribute").to_numpy()
    return (in_group / in_group.sum(axis=0)).T @ of_target, of_attribute @ (in_class / in_class.sum(axis=0))


def _block_effects(
    draws: xr.Dataset, data: xr.Dataset, components: Components, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Means of the targets' and of the attributes' effects over each block, shape (draws, groups, classes).

    Beyond the sampled levels, the block's residual is shared out by the variances of its three parts.
    """
    per_target, per_attribute = 1 / data.n_targets.to_numpy()[:, None], 1 / data.n_attributes.to_numpy()
    levels = draws.target_level + draws.attribute_level
    residual = (
        (data.block_mean - draws["mean"] - levels).transpose("sample", "group", "attribute_class").to_numpy()
    )
    variances = list(components.by_draw().blocks(per_target, per_attribute).values())
    simulated = [np.sqrt(variance) * rng.standard_normal(residual.shape) for variance in variances]
    missed = (residual - sum(simulated)) / sum(variances)
    of_targets, of_attributes = (simulated[k] + variances[k] * missed for k in (0, 1))
    target_level = draws.target_level.transpose("sample", "group", "attribute_class").to_numpy()
    attribute_level = draws.attribute_level.transpose("sample", "attribute_class").to_numpy()[:, None, :]
    return target_level + of_targets, attribute_level + of_attributes


def _target_deviations(data: xr.Dataset, components: Components, rng: np.random.Generator) -> np.ndarray:
    """Targets about the mean of their group, shape (draws, targets, classes)."""
    group_of = data.group_of.to_numpy()
    mean = data.target_mean.to_numpy() - data.block_mean.to_numpy()[group_of]
    effect = Covariance(components.target_class**2, components.target_levels)
    noise = components.residual_variance / data.n_attributes.to_numpy()
    out = np.empty((len(noise), *mean.shape))
    for g in range(data.sizes["group"]):
        rows = group_of == g
        out[:, rows] = deviations(mean[rows], effect, noise, rng)
    return out


def _attribute_deviations(data: xr.Dataset, components: Components, rng: np.random.Generator) -> np.ndarray:
    """Attributes about the mean of their class, shape (draws, attributes, groups)."""
    class_of = data.class_of.to_numpy()
    mean = data.attribute_mean.to_numpy() - data.block_mean.to_numpy().T[class_of]
    noise = components.residual_variance / data.n_targets.to_numpy()
    out = np.empty((len(noise), *mean.shape))
    for c in range(data.sizes["attribute_class"]):
        rows = class_of == c
        preference, level = (
            np.broadcast_to(sd[:, [c]], noise.shape)
            for sd in (components.attribute_group, components.attribute)
        )
        out[:, rows] = deviations(mean[rows], Covariance(preference**2, [level]), noise, rng)
    return out


def deviations(
    observed: np.ndarray, effect: Covariance, noise: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draws of words' effects about their mean, given observed deviations.

    Shapes: observed (words, k); the effect's covariance and the noise's variance (draws, k); returned (draws, words,
    k).
    """
    n_draws, (n_words, k) = len(noise), observed.shape
    drawn = np.sqrt(effect.diagonal)[:, None] * rng.standard_normal((n_draws, n_words, k))
    for loading in effect.loadings:
        drawn += loading[:, None] * rng.standard_normal((n_draws, n_words, 1))
    error = np.sqrt(noise)[:, None] * rng.standard_normal((n_draws, n_words, k))
    drawn -= drawn.mean(axis=1, keepdims=True)
    error -= error.mean(axis=1, keepdims=True)
    covariance = effect.matrix()
    gain = np.linalg.solve(covariance + noise[:, :, None] * np.eye(k), covariance)
    return drawn + (observed - drawn - error) @ gain
