"""The one place where "bias" is defined.

Positive always means closer to what is stereotypical; everything is on the scale of cosine similarity. An
estimand is a contrast of block means ``mean[group, class]``: its weights ``(contrast, group, attribute_class)`` say
which blocks it compares, the scope says over which words a reader may generalise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from bayes_bias.scopes import Scope, check_scope, require_crossed
from bayes_bias.word_effects import SIDES, Side, block_effects, too_many_words, word_effects

OVERALL = "overall"

_BLOCK = ["group", "attribute_class"]
_BY_CLASS = ("sd_target_class", "sd_attribute", "sd_attribute_group")


@dataclass(frozen=True, eq=False)
class Estimate:
    """Posterior of one estimand under one scope; units: cosine similarity (``effect_size``: none).

    Attributes
    ----------
    draws : xarray.DataArray
        ``(chain, draw, contrast)``; without the sample dims under scope "none".
    observed : xarray.DataArray
        The raw contrast of the cosines at hand, ``(contrast)``.
    noise_sd : xarray.DataArray or None
        The noise floor ``(chain, draw, contrast)``: standard deviation of the contrast that the same design would
        show if the population value were zero.
    """

    draws: xr.DataArray
    observed: xr.DataArray
    noise_sd: xr.DataArray | None = None


def estimates(fit: xr.DataTree, scope: Scope = "both") -> dict[str, Estimate]:
    """Posterior draws, observed value and noise floor of every estimand.

    Parameters
    ----------
    fit : xarray.DataTree
        From `bayes_bias.fit`.
    scope : {"both", "targets", "attributes", "none"}
        Generalise to new targets and new attributes, to new targets with these attributes (what WEAT's
        permutation test answers), to new attributes with these targets, or to nothing beyond these words (the
        raw contrast, without uncertainty).

    Returns
    -------
    dict of str to Estimate
        Crossed model: ``bias``, ``group_bias``, ``excess`` and ``repulsion`` (with control classes),
        ``effect_size`` (two groups), ``target_bias``, ``attribute_bias``. Hierarchical model: ``bias``, ``excess``,
        ``connection_mean``, ``target_bias``, ``target_connection_mean``. Without the bias of each word of a side whose
        words' effects would not fit in memory (`too_many_words`), and without ``effect_size`` where it is that of such
        targets; scope "none" has the raw contrasts of any number of words.

    Raises
    ------
    ScopeError
        The design cannot carry the scope.

    Notes
    -----
    ``group_bias[g]``
        ``mean[g, assoc(g)]`` less the average of ``mean[g, c]`` over the other associated classes.
    ``bias``
        The average of ``group_bias`` over groups: with two groups and two classes half of WEAT's numerator.
    ``excess[g, control]``
        ``mean[g, assoc(g)] - mean[g, control]``.
    ``repulsion[g, control]``
        ``mean[g, control]`` less the average of ``mean[g, c]`` over the other associated classes.
    ``target_bias[i]``
        The contrast of ``group_bias`` for one target, its own effects added.
    ``attribute_bias[j]``
        One attribute's expected cosine with the group it is associated with less the average over others.
    ``effect_size``
        ``2 bias`` over the standard deviation of a target's association score in both groups together: WEAT's d
        for the population of words, inside (-2, 2).

    Words that stay as they are bring the average of their own effects into ``mean``, the level of their class or
    group included, so that scope "none" is the raw contrast exactly.
    """
    check_scope(fit, scope)
    if fit.attrs["structure"] == "hierarchical":
        return _hierarchical(fit)
    blocks = _Blocks.of(fit, scope)
    found = blocks.estimates()
    if blocks.data.sizes["group"] == 2 and (blocks.new_targets or "target" in blocks.sides):
        found["effect_size"] = blocks.effect_size()
    if "target" in blocks.sides:
        found["target_bias"] = blocks.target_estimate(target_weights(blocks.data))
    if "attribute" in blocks.sides:
        found["attribute_bias"] = blocks.attribute_estimate(attribute_weights(blocks.data))
    return found


def block_estimates(fit: xr.DataTree, scope: Scope = "both") -> dict[str, Estimate]:
    """Those of `estimates` that are contrasts of block means alone: as quick for long lists as for short ones.

    ``bias``, ``group_bias``, ``excess`` and ``repulsion``, by the same draws. Crossed model only.
    """
    require_crossed(fit, "a contrast of block means")
    check_scope(fit, scope)
    return _Blocks.of(fit, scope).estimates()


def levels(fit: xr.DataTree, scope: Scope = "both") -> Estimate:
    """Expected cosine of each group with each class, ``mean[g, c]``: no contrast, but what contrasts are made of.

    Labels are ``"group, class"``. Crossed model only.
    """
    check_scope(fit, scope)
    blocks = _Blocks.of(fit, scope)
    groups, classes = (blocks.data[dim].to_numpy() for dim in _BLOCK)
    each = np.eye(len(groups) * len(classes)).reshape(-1, len(groups), len(classes))
    return blocks.estimate(_weights(blocks.data, each, [f"{g}, {c}" for g in groups for c in classes]))


def block_weights(data: xr.Dataset) -> dict[str, xr.DataArray]:
    """Weights of ``bias``, ``group_bias``, ``excess`` and ``repulsion``."""
    groups, classes = data.group.to_numpy(), data.attribute_class.to_numpy()
    own, others = _own_and_others(data)
    in_group = np.eye(len(groups))
    group_bias = in_group[:, :, None] * (own - others)[:, None, :]
    weights = {
        "bias": _weights(data, group_bias.mean(axis=0, keepdims=True), [OVERALL]),
        "group_bias": _weights(data, group_bias, groups),
    }
    controls = np.setdiff1d(np.arange(len(classes)), data.associated)
    if controls.size:
        control = np.eye(len(classes))[controls]
        labels = [f"{g}, {classes[c]}" for g in groups for c in controls]
        for name, contrast in (("excess", own[:, None] - control), ("repulsion", control - others[:, None])):
            blocks = in_group[:, None, :, None] * contrast[:, :, None, :]
            weights[name] = _weights(data, blocks.reshape(-1, len(groups), len(classes)), labels)
    return weights


def target_weights(data: xr.Dataset) -> xr.DataArray:
    """Weights of ``target_bias``: those of its group's bias, for each target."""
    by_group = block_weights(data)["group_bias"].to_numpy()
    return _weights(data, by_group[data.group_of.to_numpy()], data.target.to_numpy())


def attribute_weights(data: xr.Dataset) -> xr.DataArray:
    """Weights of ``attribute_bias``, for each attribute of an associated class."""
    own, _ = _own_and_others(data)
    towards = own.T / np.maximum(own.sum(axis=0), 1)[:, None]
    away = (1 - own.T) / np.maximum((1 - own).sum(axis=0), 1)[:, None]
    class_of = data.class_of.to_numpy()
    kept = np.isin(class_of, data.associated.to_numpy())
    in_class = np.eye(len(own.T))[class_of[kept]]
    blocks = (towards - away)[class_of[kept], :, None] * in_class[:, None, :]
    return _weights(data, blocks, data.attribute.to_numpy()[kept])


def noise_parts(
    posterior: xr.Dataset,
    weights: xr.DataArray,
    n_targets: xr.DataArray | float,
    n_attributes: xr.DataArray | float,
) -> dict[str, xr.DataArray]:
    """Sampling variance of a contrast that targets, attributes and residual contribute.

    ``sum of weight^2 v[g, c]`` and the terms of target and attribute levels where the weights do not cancel
    them, for a design with so many words; each part ``(chain, draw, contrast)``, in squared cosine similarity.
    """
    variance = {name: posterior[name] ** 2 for name in posterior.data_vars if str(name).startswith("sd_")}
    of_target, of_attribute = weights.sum("attribute_class") ** 2, weights.sum("group") ** 2
    of_associated = (weights * posterior.is_associated).sum("attribute_class") ** 2
    return {
        "targets": xr.dot(variance["sd_target_class"], weights**2 / n_targets, dim=_BLOCK)
        + variance["sd_target"] * (of_target / n_targets).sum("group")
        + variance["sd_target_associated"] * (of_associated / n_targets).sum("group"),
        "attributes": xr.dot(variance["sd_attribute_group"], weights**2 / n_attributes, dim=_BLOCK)
        + xr.dot(variance["sd_attribute"], of_attribute / n_attributes, dim=["attribute_class"]),
        "residual": variance["sd_residual"] * (weights**2 / n_targets / n_attributes).sum(_BLOCK),
    }


def by_class(posterior: xr.Dataset, data: xr.Dataset) -> xr.Dataset:
    """The posterior in the form of its fullest model: class-specific scales spread over the classes where the
    model shares one, a scale that it leaves out zero, and which classes are associated."""
    ones = xr.ones_like(data.n_attributes)
    is_associated = np.isin(np.arange(data.sizes["attribute_class"]), data.associated)
    full = posterior.assign({name: posterior[name] * ones for name in _BY_CLASS})
    if "sd_target_associated" not in full:
        full = full.assign(sd_target_associated=xr.zeros_like(full.sd_target))
    return full.assign(is_associated=ones.copy(data=is_associated.astype(float)))


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Block means under one scope, and contrasts of them."""

    fit: xr.DataTree
    scope: Scope
    data: xr.Dataset
    posterior: xr.Dataset

    @classmethod
    def of(cls, fit: xr.DataTree, scope: Scope) -> "_Blocks":
        data = fit["constant_data"].to_dataset()
        return cls(fit, scope, data, by_class(fit["posterior"].to_dataset(), data))

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """Whose words have estimates of their own: where they are raw, everybody's."""
        left_out = {} if self.scope == "none" else too_many_words(self.fit)
        return tuple(side for side in SIDES if side not in left_out)

    @cached_property
    def effects(self) -> xr.Dataset:
        """Effects of single words, drawn when a word or the spread of words is asked for."""
        return word_effects(self.fit, self.sides)

    @cached_property
    def averages(self) -> tuple[xr.DataArray, xr.DataArray]:
        """Averages over each block of the targets' and of the attributes' effects."""
        rng = np.random.default_rng(int(self.fit.attrs["seed"]))
        posterior = self.fit["posterior"].to_dataset()
        mean = posterior["mean"].transpose("chain", "draw", *_BLOCK)
        of_targets, of_attributes = (
            mean.copy(data=each.reshape(mean.shape)) for each in block_effects(posterior, self.data, rng)
        )
        return of_targets, of_attributes

    @property
    def new_targets(self) -> bool:
        return self.scope in ("both", "targets")

    @property
    def new_attributes(self) -> bool:
        return self.scope in ("both", "attributes")

    def estimates(self) -> dict[str, Estimate]:
        """The contrasts of block means."""
        return {name: self.estimate(weights) for name, weights in block_weights(self.data).items()}

    def estimate(self, weights: xr.DataArray) -> Estimate:
        """A contrast of block means."""
        observed = xr.dot(self.data.block_mean, weights, dim=_BLOCK)
        if self.scope == "none":
            return Estimate(observed, observed)
        mean = self._mean(these_targets=not self.new_targets, these_attributes=not self.new_attributes)
        parts = noise_parts(self.posterior, weights, self.data.n_targets, self.data.n_attributes)
        return Estimate(xr.dot(mean, weights, dim=_BLOCK), observed, self._noise_sd(parts))

    def target_estimate(self, weights: xr.DataArray) -> Estimate:
        """A contrast for each target; only attributes and residual are noise."""
        by_target = weights.sum("group")
        observed = xr.dot(self.data.target_mean.rename(target="contrast"), by_target, dim=["attribute_class"])
        if self.scope == "none":
            return Estimate(observed, observed)
        mean = self._mean(these_targets=False, these_attributes=not self.new_attributes)
        own = self.effects.target_effect.rename(target="contrast")
        draws = xr.dot(mean, weights, dim=_BLOCK) + xr.dot(own, by_target, dim=["attribute_class"])
        parts = noise_parts(self.posterior, weights, 1, self.data.n_attributes) | {"targets": 0.0}
        return Estimate(draws, observed, self._noise_sd(parts))

    def attribute_estimate(self, weights: xr.DataArray) -> Estimate:
        """A contrast for each attribute; only targets and residual are noise."""
        by_attribute = weights.sum("attribute_class")
        of_attributes = {"attribute": weights.contrast.to_numpy()}
        attribute_mean = self.data.attribute_mean.sel(of_attributes).rename(attribute="contrast")
        observed = xr.dot(attribute_mean, by_attribute, dim=["group"])
        if self.scope == "none":
            return Estimate(observed, observed)
        mean = self._mean(these_targets=not self.new_targets, these_attributes=False)
        own = self.effects.attribute_effect.sel(of_attributes).rename(attribute="contrast")
        draws = xr.dot(mean, weights, dim=_BLOCK) + xr.dot(own, by_attribute, dim=["group"])
        parts = noise_parts(self.posterior, weights, self.data.n_targets, 1) | {"attributes": 0.0}
        return Estimate(draws, observed, self._noise_sd(parts))

    def effect_size(self) -> Estimate:
        """WEAT's d, for the words that the scope speaks of."""
        difference = 2 * self.estimate(block_weights(self.data)["bias"]).draws
        score = xr.dot(self.data.target_mean, self._score_weights(), dim=["attribute_class"])
        observed = self._raw_difference() / score.std("target", ddof=1)
        if self.scope == "none":
            return Estimate(observed, observed)
        return Estimate(difference / self._score_sd(difference), observed)

    def _score_weights(self) -> xr.DataArray:
        """A target's association score: its mean cosine with the first group's class less the second's."""
        own, _ = _own_and_others(self.data)
        return xr.DataArray(
            own[0] - own[1], dims="attribute_class", coords={"attribute_class": self.data.attribute_class}
        )

    def _raw_difference(self) -> xr.DataArray:
        return 2 * xr.dot(self.data.block_mean, block_weights(self.data)["bias"], dim=_BLOCK)

    def _score_sd(self, difference: xr.DataArray) -> xr.DataArray:
        """Standard deviation of the score over targets of both groups together, in equal shares."""
        weights = self._score_weights()
        if not self.new_targets:
            mean = self._mean(these_targets=False, these_attributes=not self.new_attributes)
            own = xr.dot(self.effects.target_effect, weights, dim=["attribute_class"])
            group = xr.dot(mean, weights, dim=["attribute_class"]).isel(group=self.data.group_of)
            return (group.drop_vars("group") + own).std("target", ddof=1)
        within = xr.dot(self.posterior.sd_target_class**2, weights**2, dim=["attribute_class"])
        if not self.new_attributes:
            # With these attributes a target's own residuals belong to its score.
            within = within + self.posterior.sd_residual**2 * (weights**2 / self.data.n_attributes).sum()
        return (within + (difference / 2) ** 2) ** 0.5

    def _mean(self, *, these_targets: bool, these_attributes: bool) -> xr.DataArray:
        """Expected cosine of each block; words that stay bring the average of their effects along."""
        mean = self.posterior["mean"]
        if these_targets:
            mean = mean + self.averages[0]
        if these_attributes:
            mean = mean + self.averages[1]
        return mean

    def _noise_sd(self, parts: Mapping[str, xr.DataArray | float]) -> xr.DataArray:
        variance: Any = parts["residual"]
        if self.new_targets:
            variance = variance + parts["targets"]
        if self.new_attributes:
            variance = variance + parts["attributes"]
        return variance**0.5


def _own_and_others(data: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """For each group its own class, and equal weights on the other associated classes; (groups, classes)."""
    classes = np.eye(data.sizes["attribute_class"])
    own = classes[data.associated.to_numpy()]
    others = np.minimum(own.sum(axis=0), 1) - own
    return own, others / others.sum(axis=1, keepdims=True)


def _weights(data: xr.Dataset, blocks: np.ndarray, labels: np.ndarray | list[str]) -> xr.DataArray:
    return xr.DataArray(
        blocks,
        dims=("contrast", *_BLOCK),
        coords={"contrast": list(labels), "group": data.group, "attribute_class": data.attribute_class},
    )


def _hierarchical(fit: xr.DataTree) -> dict[str, Estimate]:
    """The published model's estimands: on distances, hence different less associated."""
    posterior, data = fit["posterior"].to_dataset(), fit["constant_data"].to_dataset()
    overall, of_target = posterior.connection_mean, posterior.target_connection_mean
    count, raw = data.distance_count, data.distance_mean
    pooled = (count * raw).sum("target") / count.sum("target")
    return {
        "bias": Estimate(
            _bias(overall).expand_dims(contrast=[OVERALL]), _bias(pooled).expand_dims(contrast=[OVERALL])
        ),
        "excess": Estimate(_excess(overall), _excess(pooled)),
        "connection_mean": Estimate(
            overall.rename(connection="contrast"), pooled.rename(connection="contrast")
        ),
        "target_bias": Estimate(
            _bias(of_target).rename(target="contrast"), _bias(raw).rename(target="contrast")
        ),
        "target_connection_mean": Estimate(_flat(of_target), _flat(raw)),
    }


def _bias(distance: xr.DataArray) -> xr.DataArray:
    far, near = distance.sel(connection="different"), distance.sel(connection="associated")
    return far.drop_vars("connection") - near.drop_vars("connection")


def _excess(distance: xr.DataArray) -> xr.DataArray:
    near = distance.sel(connection="associated").drop_vars("connection")
    return (distance.isel(connection=slice(2, None)) - near).rename(connection="contrast")


def _flat(values: xr.DataArray) -> xr.DataArray:
    stacked = values.stack(contrast=("target", "connection"))
    labels = [f"{target}, {connection}" for target, connection in stacked.contrast.to_numpy()]
    return stacked.drop_vars(["contrast", "target", "connection"]).assign_coords(contrast=labels)
