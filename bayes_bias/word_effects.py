"""Word-level effects, drawn exactly from what the collapsed model left out."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayes_bias.errors import ScopeError
from bayes_bias.scopes import require_crossed

Side = Literal["target", "attribute"]

SIDES: tuple[Side, ...] = get_args(Side)

# Draws x words x classes that the effects of one side may take: 400 MB, and five times as much on the way to them.
MOST_NUMBERS = 50_000_000


def word_effects(fit: xr.DataTree, sides: Sequence[Side] = SIDES) -> xr.Dataset:
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
        Units: cosine similarity.

    Raises
    ------
    ScopeError
        The fit is not of the crossed model, or a side has more words than memory holds the effects of.

    Examples
    --------
    >>> effects = word_effects(posterior)                                         # doctest: +SKIP
    >>> effects.target_effect.sel(target="nurse").mean(("chain", "draw"))         # doctest: +SKIP
    """
    require_crossed(fit, "word effects")
    posterior, data = fit["posterior"].to_dataset(), fit["constant_data"].to_dataset()
    if "target_effect" in posterior:
        return posterior[[f"{side}_effect" for side in sides]]
    for side, sentence in too_many_words(fit).items():
        if side in sides:
            raise ScopeError(f"fit: {sentence}")
    draws = _stacked(posterior)
    rng = np.random.default_rng(int(fit.attrs["seed"]))
    scales = _scales(draws, data)
    target_level, attribute_level = _block_effects(draws, data, scales, rng)
    effects = {}
    if "target" in sides:
        by_target = target_level[:, data.group_of.to_numpy(), :]
        deviations = _target_deviations(data, scales, rng)
        effects["target_effect"] = (("sample", "target", "attribute_class"), deviations + by_target)
    if "attribute" in sides:
        by_attribute = attribute_level.transpose(0, 2, 1)[:, data.class_of.to_numpy(), :]
        deviations = _attribute_deviations(data, scales, rng)
        effects["attribute_effect"] = (("sample", "attribute", "group"), deviations + by_attribute)
    labels = {dim: data[dim] for _, (dims, _) in effects.items() for dim in dims[1:]}
    drawn = xr.Dataset(effects, coords={"sample": draws.sample} | labels)
    return drawn.unstack("sample").transpose("chain", "draw", ...)


def too_many_words(fit: xr.DataTree) -> dict[Side, str]:
    """The sides whose words' effects would not fit in memory over all draws, each with a sentence that says so."""
    posterior, data = fit["posterior"].to_dataset(), fit["constant_data"].to_dataset()
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
        `word_effects` would draw, in cosine similarity.
    """
    draws = _stacked(posterior)
    if "target_effect" in posterior:
        return _averages(draws, data)
    return _block_effects(draws, data, _scales(draws, data), rng)


def _stacked(posterior: xr.Dataset) -> xr.Dataset:
    return posterior.stack(sample=("chain", "draw")).transpose("sample", ...)


def _averages(draws: xr.Dataset, data: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The same where the words' effects were sampled, from these."""
    in_group = np.eye(data.sizes["group"])[data.group_of.to_numpy()]
    in_class = np.eye(data.sizes["attribute_class"])[data.class_of.to_numpy()]
    of_target = draws.target_effect.transpose("sample", "target", "attribute_class").to_numpy()
    of_attribute = draws.attribute_effect.transpose("sample", "group", "attribute").to_numpy()
    return (in_group / in_group.sum(axis=0)).T @ of_target, of_attribute @ (in_class / in_class.sum(axis=0))


def _scales(draws: xr.Dataset, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Standard deviations as arrays (draws, classes), or (draws, 1) where they have no class."""
    by_class = ("sd_target_class", "sd_attribute", "sd_attribute_group")
    n_classes = data.sizes["attribute_class"]
    scales = {
        str(name): draws[name].to_numpy().reshape(draws.sizes["sample"], -1) for name in draws.data_vars
    }
    return {
        name: np.broadcast_to(scale, (len(scale), n_classes)) if name in by_class else scale
        for name, scale in scales.items()
        if name.startswith("sd_")
    }


def _block_effects(
    draws: xr.Dataset, data: xr.Dataset, scales: dict[str, np.ndarray], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Means of the targets' and of the attributes' effects over each block, shape (draws, groups, classes).

    Beyond the sampled levels, the block's residual is shared out by the variances of its three parts.
    """
    n_targets, n_attributes = data.n_targets.to_numpy()[:, None], data.n_attributes.to_numpy()
    levels = draws.target_level + draws.attribute_level
    residual = (
        (data.block_mean - draws["mean"] - levels).transpose("sample", "group", "attribute_class").to_numpy()
    )
    sds = (
        scales["sd_target_class"][:, None] / np.sqrt(n_targets),
        scales["sd_attribute_group"][:, None] / np.sqrt(n_attributes),
        scales["sd_residual"][:, None] / np.sqrt(n_targets * n_attributes),
    )
    simulated = [sd * rng.standard_normal(residual.shape) for sd in sds]
    missed = (residual - sum(simulated)) / sum(sd**2 for sd in sds)
    of_targets, of_attributes = (simulated[k] + sds[k] ** 2 * missed for k in (0, 1))
    target_level = draws.target_level.transpose("sample", "group", "attribute_class").to_numpy()
    attribute_level = draws.attribute_level.transpose("sample", "attribute_class").to_numpy()[:, None, :]
    return target_level + of_targets, attribute_level + of_attributes


def _target_deviations(
    data: xr.Dataset, scales: dict[str, np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Targets about the mean of their group, shape (draws, targets, classes)."""
    group_of = data.group_of.to_numpy()
    mean = data.target_mean.to_numpy() - data.block_mean.to_numpy()[group_of]
    noise = scales["sd_residual"] / np.sqrt(data.n_attributes.to_numpy())
    loadings = [np.broadcast_to(scales["sd_target"], noise.shape)]
    if "sd_target_associated" in scales:
        is_associated = np.isin(np.arange(data.sizes["attribute_class"]), data.associated)
        loadings.append(scales["sd_target_associated"] * is_associated)
    out = np.empty((len(noise), *mean.shape))
    for g in range(data.sizes["group"]):
        rows = group_of == g
        out[:, rows] = _deviations(mean[rows], scales["sd_target_class"], loadings, noise, rng)
    return out


def _attribute_deviations(
    data: xr.Dataset, scales: dict[str, np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Attributes about the mean of their class, shape (draws, attributes, groups)."""
    class_of = data.class_of.to_numpy()
    mean = data.attribute_mean.to_numpy() - data.block_mean.to_numpy().T[class_of]
    noise = scales["sd_residual"] / np.sqrt(data.n_targets.to_numpy())
    out = np.empty((len(noise), *mean.shape))
    for c in range(data.sizes["attribute_class"]):
        rows = class_of == c
        specific, loading = (
            np.broadcast_to(scales[name][:, [c]], noise.shape)
            for name in ("sd_attribute_group", "sd_attribute")
        )
        out[:, rows] = _deviations(mean[rows], specific, [loading], noise, rng)
    return out


def _deviations(
    observed: np.ndarray,
    specific: np.ndarray,
    loadings: Sequence[np.ndarray],
    noise: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draws of words' effects about their mean, given observed deviations.

    A word's effect is ``specific z`` and for each loading ``loading z0``, with one standard normal ``z0`` for all
    its columns. Shapes: observed (words, k); specific, each loading and the noise's standard deviation (draws, k);
    returned (draws, words, k).
    """
    n_draws, (n_words, k) = len(noise), observed.shape
    effect = specific[:, None] * rng.standard_normal((n_draws, n_words, k))
    for loading in loadings:
        effect += loading[:, None] * rng.standard_normal((n_draws, n_words, 1))
    error = noise[:, None] * rng.standard_normal((n_draws, n_words, k))
    effect -= effect.mean(axis=1, keepdims=True)
    error -= error.mean(axis=1, keepdims=True)
    diagonal = np.eye(k)
    covariance = specific[:, :, None] ** 2 * diagonal
    covariance += sum(loading[:, :, None] * loading[:, None, :] for loading in loadings)
    gain = np.linalg.solve(covariance + noise[:, :, None] ** 2 * diagonal, covariance)
    return effect + (observed - effect - error) @ gain
