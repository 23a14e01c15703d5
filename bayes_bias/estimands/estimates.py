"""Posterior draws, observed values and noise floors of the estimands, under a scope."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import xarray as xr

from bayes_bias.associations.labels import SIDES, Side
from bayes_bias.errors import BayesBiasError, ScopeError, did_you_mean
from bayes_bias.estimands.asked import Weights, asked_weights
from bayes_bias.estimands.contrasts import (
    BLOCK,
    attribute_weights,
    bias_weights,
    block_weights,
    level_weights,
    score_weights,
    target_weights,
)
from bayes_bias.estimands.estimate import Estimate, Mixture
from bayes_bias.estimands.facets import (
    ATTRIBUTES,
    DEFAULT_SCOPE,
    SCOPES,
    TARGETS,
    WORDS,
    Facet,
    Scope,
    ScopeName,
    check_design,
    is_effect_of,
    is_noise,
    scope_of,
)
from bayes_bias.estimands.of_replicates import OfReplicates
from bayes_bias.estimands.published import published_bias, published_estimates
from bayes_bias.models.components import Part
from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.models.replication import Variances
from bayes_bias.models.word_effects import (
    block_averages,
    check_side,
    conditional,
    too_many_words,
    word_effects,
)

# Those that each word has one of.
OF_WORDS = ("target_bias", "attribute_bias", "target_connection_mean")


def estimates(fit: Fit, scope: ScopeName = DEFAULT_SCOPE, *, words: bool = True) -> dict[str, Estimate]:
    """Posterior draws, observed value and noise floor of every estimand.

    Parameters
    ----------
    fit : xarray.DataTree
        From `bayes_bias.fit`.
    scope : {"both", "targets", "attributes", "none"}
        Generalise to new targets and new attributes, to new targets with these attributes (what WEAT's
        permutation test answers), to new attributes with these targets, or to nothing beyond these words (the
        raw contrast, without uncertainty).
    words : bool
        Those of single words, too, which are most of the work.

    Returns
    -------
    dict of str to Estimate
        Crossed model: ``bias``, ``group_bias``, ``excess`` and ``repulsion`` (with control classes),
        ``effect_size`` (two groups; scopes "targets" and "none"), ``target_bias``, ``attribute_bias`` (two groups or
        more). Hierarchical
        model: ``bias``, ``excess``, ``connection_mean``, ``target_bias``, ``target_connection_mean``. Without the bias
        of each word of a side whose words' effects would not fit in memory (`too_many_words`); scope "none" has the
        raw contrasts of any number of words.

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
        One attribute's expected value with the group it is associated with less the average over others.
    ``effect_size``
        ``2 bias`` over the standard deviation of a target's association score in both groups together: WEAT's d
        for the population of targets, inside (-2, 2). Only with these attributes: for new ones it would divide by how
        much targets' preferences spread, which may be nothing.

    To words that stay as they are belongs the average of their own effects, which is added to ``mean``, the level of
    their class or group included, so that scope "none" is the raw contrast exactly.
    """
    fitted, found_scope = Fitted.of(fit), check_scope(fit, scope)
    if not fitted.structure.GENERALISES:
        found = published_estimates(fitted)
        return found if words else {name: each for name, each in found.items() if name not in OF_WORDS}
    named = _Blocks(fitted, found_scope).named
    return {name: estimate() for name, estimate in named.items() if words or name not in OF_WORDS}


def estimate_of(fit: Fit, estimand: str, scope: ScopeName = DEFAULT_SCOPE) -> Estimate:
    """One of `estimates` by its name, by the same draws and without the work for the others.

    Raises
    ------
    BayesBiasError
        The fit has no such estimand.
    ScopeError
        The design cannot carry the scope.
    """
    fitted, found_scope = Fitted.of(fit), check_scope(fit, scope)
    if not fitted.structure.GENERALISES:
        published = published_estimates(fitted)
        return published[_known(estimand, published)]
    blocks = _Blocks(fitted, found_scope)
    for side, sentence in blocks.left_out.items():
        if estimand == f"{side}_bias":
            raise BayesBiasError(f"estimand: '{estimand}' cannot be had: {sentence}")
    return blocks.named[_known(estimand, blocks.named)]()


def _known(estimand: str, valid: Mapping[str, object]) -> str:
    if not isinstance(estimand, str) or estimand not in valid:
        raise BayesBiasError(
            f"estimand: '{estimand}' is no estimand of this fit; {did_you_mean(estimand, valid)}"
        )
    return estimand


def block_estimates(fit: Fit, scope: ScopeName = DEFAULT_SCOPE) -> dict[str, Estimate]:
    """Those of `estimates` that are contrasts of block means alone: as quick for long lists as for short ones.

    ``bias``, ``group_bias``, ``excess`` and ``repulsion``, by the same draws. Crossed model only.
    """
    return _Blocks.of(fit, scope).estimates()


def bias_estimate(fit: Fit, scope: ScopeName = DEFAULT_SCOPE) -> Estimate:
    """``bias`` alone, by the same draws."""
    fitted, found_scope = Fitted.of(fit), check_scope(fit, scope)
    if not fitted.structure.GENERALISES:
        return published_bias(fitted)
    blocks = _Blocks(fitted, found_scope)
    return blocks.estimate(bias_weights(blocks.data))


def contrast_estimate(
    fit: Fit,
    weights: Weights,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    levels: bool = False,
    label: str = "contrast",
) -> Estimate:
    """A contrast of block means with weights of one's own, or with `levels` any sum of them. Crossed model only."""
    blocks = _Blocks.of(fit, scope)
    return blocks.estimate(asked_weights(blocks.data, weights, label, levels=levels))


def levels(fit: Fit, scope: ScopeName = DEFAULT_SCOPE) -> Estimate:
    """Expected value of each group with each class, ``mean[g, c]``: no contrast, but what contrasts are made of.

    Labels are ``"group, class"``. Crossed model only.
    """
    blocks = _Blocks.of(fit, scope)
    return blocks.estimate(level_weights(blocks.data))


def check_scope(fit: Fit, scope: str) -> Scope:
    """The scope of a name, refused where the model or the design of a fit cannot carry it.

    Raises
    ------
    ScopeError
        The message names the group or class of one word and the scopes that remain.
    """
    fitted, found = Fitted.of(fit), scope_of(scope)
    if fitted.structure.GENERALISES:
        return check_design(fitted.data, scope)
    if not found.samples_all:
        raise ScopeError(
            f"scope: '{scope}' needs a fit of the crossed model; the {fitted.spec.structure} model knows no scopes"
        )
    return SCOPES["both"]


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Block means under one scope, and contrasts of them."""

    fitted: Fitted
    scope: Scope

    @classmethod
    def of(cls, fit: Fit, scope: ScopeName) -> "_Blocks":
        return cls(Fitted.of(fit).generalising("a contrast of block means"), check_scope(fit, scope))

    @property
    def data(self) -> xr.Dataset:
        return self.fitted.data

    @property
    def variances(self) -> Variances:
        return self.fitted.variances

    @cached_property
    def left_out(self) -> dict[Side, str]:
        """Whose words have no estimates of their own, and why."""
        left_out = {} if self.scope.samples_nothing else too_many_words(self.fitted)
        if self.data.sizes["group"] == 1:
            left_out["attribute"] = "an attribute's bias is between groups, and this fit has one"
        return left_out

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """Whose words have estimates of their own."""
        return tuple(side for side in SIDES if side not in self.left_out)

    @cached_property
    def averages(self) -> dict[Part, xr.DataArray]:
        """Averages over each block of the effects that vary by some facets."""
        return block_averages(self.fitted)

    @property
    def fixes_replicates(self) -> bool:
        """Whether there are replicates, and exactly these matter."""
        return self.variances.replication is not None and not self.scope.samples_replicates

    @property
    def named(self) -> dict[str, Callable[[], Estimate]]:
        """How each estimand is had."""
        found: dict[str, Callable[[], Estimate]] = {
            name: partial(self.estimate, weights) for name, weights in block_weights(self.data).items()
        }
        if self.data.sizes["group"] == 2 and not self.scope.samples_attributes:
            found["effect_size"] = self.effect_size
        if "target" in self.sides:
            found["target_bias"] = lambda: self.target_estimate(target_weights(self.data))
        if "attribute" in self.sides:
            found["attribute_bias"] = lambda: self.attribute_estimate(attribute_weights(self.data))
        if self.variances.replication is not None:
            found |= OfReplicates(self.fitted, self.scope, self.variances).named
        return found

    def estimates(self) -> dict[str, Estimate]:
        """The contrasts of block means."""
        return {name: self.estimate(weights) for name, weights in block_weights(self.data).items()}

    def estimate(self, weights: xr.DataArray) -> Estimate:
        """A contrast of block means: given the scales normal about the observed one, as uncertain as it is noisy."""
        observed = xr.dot(self.data.block_mean, weights, dim=BLOCK)
        if self.scope.samples_nothing:
            return Estimate(observed, observed)
        draws = xr.dot(self._mean(), weights, dim=BLOCK)
        noise_sd = self._noise_sd(weights)
        return Estimate(
            draws, observed, noise_sd, self._mixture(xr.zeros_like(noise_sd) + observed, noise_sd)
        )

    def target_estimate(self, weights: xr.DataArray) -> Estimate:
        """A contrast for each target; only attributes and residual are noise."""
        by_target = weights.sum("group")
        raw = xr.dot(self.data.target_mean.rename(target="contrast"), by_target, dim=["attribute_class"])
        return self._of_words(TARGETS, weights, by_target, raw)

    def attribute_estimate(self, weights: xr.DataArray) -> Estimate:
        """A contrast for each attribute; only targets and residual are noise."""
        by_attribute = weights.sum("attribute_class")
        mean = self.data.attribute_mean.sel(attribute=weights.contrast.to_numpy())
        raw = xr.dot(mean.rename(attribute="contrast"), by_attribute, dim=["group"])
        return self._of_words(ATTRIBUTES, weights, by_attribute, raw)

    def _of_words(
        self, facet: Facet, weights: xr.DataArray, by_word: xr.DataArray, observed: xr.DataArray
    ) -> Estimate:
        if self.scope.samples_nothing:
            return Estimate(observed, observed)
        words, across = weights.contrast.to_numpy(), by_word.dims[-1]
        effects = word_effects(self.fitted, self.sides, these_replicates=self.fixes_replicates)[
            f"{facet.dim}_effect"
        ]
        own = effects.sel({facet.dim: words}).rename({facet.dim: "contrast"})
        draws = xr.dot(self._mean(own=facet), weights, dim=BLOCK) + xr.dot(own, by_word, dim=[across])
        noise_sd = self._noise_sd(weights, own=facet)
        if not self.fitted.structure.COLLAPSED:
            return Estimate(draws, observed, noise_sd)
        block = xr.dot(self.data.block_mean, weights, dim=BLOCK)
        # The same whichever words the scope samples, and a third of the work.
        centre, variance = self.fitted.once(
            ("deviations", facet, self.fixes_replicates), lambda: self._deviations(facet, by_word)
        )
        # About the word's deviation its block is as uncertain as the other facets and the residual make it.
        sd = (noise_sd.copy(data=variance) + self._noise_variance(weights, own=facet, whole=True)) ** 0.5
        return Estimate(draws, observed, noise_sd, self._mixture(noise_sd.copy(data=centre) + block, sd))

    def _deviations(self, facet: Facet, by_word: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the contrasts of words' deviations from their cell, given the scales; (chain, draw,
        word)."""
        given = conditional(self.fitted, check_side(facet.dim), these_replicates=self.fixes_replicates)
        chosen = self.data.indexes[facet.dim].get_indexer(by_word.contrast)
        weights = np.zeros_like(given.words)
        weights[chosen] = by_word
        centre = np.einsum("wi,...wi->...w", weights, given.mean())
        return centre[..., chosen], given.variance(weights)[..., chosen]

    def effect_size(self) -> Estimate:
        """WEAT's d with these attributes."""
        weights, of_score = bias_weights(self.data), score_weights(self.data)
        score = xr.dot(self.data.target_mean, of_score, dim=["attribute_class"])
        observed = 2 * xr.dot(self.data.block_mean, weights, dim=BLOCK) / score.std("target", ddof=1)
        if self.scope.samples_nothing:
            return Estimate(observed, observed)
        difference = 2 * xr.dot(self._mean(), weights, dim=BLOCK)
        # Within a group a target's score varies by its effects, and with these attributes by its residuals.
        weight, n_replicates = of_score.to_numpy(), self.data.sizes.get("replicate", 1)
        words = self.variances.table(n_replicates) if self.fixes_replicates else self.variances.words
        of_target = np.einsum("c,...cd,d->...", weight, words.single_target().matrix(), weight)
        of_residuals = words.residual[..., 0] * (weight**2 / self.data.n_attributes.to_numpy()).sum()
        within = difference.copy(data=(of_target + of_residuals)[..., None])
        # Over both groups in equal shares.
        return Estimate(difference / (within + (difference / 2) ** 2) ** 0.5, observed)

    def _mean(self, own: Facet | None = None) -> xr.DataArray:
        """Expected value of each block; words and replicates that stay add the average of their effects, unless an
        estimate adds each word's `own`."""
        mean = self.fitted.posterior["mean"]
        for part, average in self.averages.items():
            if not is_noise(part, self.scope) and not is_effect_of(part, own):
                mean = mean + average
        return mean

    def _noise_sd(self, weights: xr.DataArray, own: Facet | None = None) -> xr.DataArray:
        return self._noise_variance(weights, own) ** 0.5

    def _noise_variance(
        self, weights: xr.DataArray, own: Facet | None = None, *, whole: bool = False
    ) -> xr.DataArray:
        """What the facets that the scope samples, and the residual, contribute; the residual of single words of `own`,
        or of the `whole` group or class that they are in."""
        counts = {facet: self.data[f"n_{facet.name}"].to_numpy() for facet in WORDS}
        if own is not None and not whole:
            counts[own] = np.ones_like(counts[own])
        ordered = weights.transpose("contrast", *BLOCK).to_numpy()
        parts = self.variances.of_contrast(
            ordered, counts[TARGETS], counts[ATTRIBUTES], self.data.sizes.get("replicate", 1)
        )
        variance = sum(each for part, each in parts.items() if is_noise(part, self.scope, own))
        sample = {dim: self.fitted.posterior[dim] for dim in ("chain", "draw")}
        return xr.DataArray(
            variance, dims=("chain", "draw", "contrast"), coords={**sample, "contrast": weights.contrast}
        )

    def _mixture(self, centre: xr.DataArray, sd: xr.DataArray) -> Mixture | None:
        return Mixture(centre, sd) if self.fitted.structure.COLLAPSED else None
