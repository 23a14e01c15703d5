"""Posterior draws, observed values, and noise floors of the estimands under a scope, with the noise of texts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import xarray as xr

from bayes_bias.errors import BayesBiasError, ScopeError, did_you_mean
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.models.components import EFFECT_OF
from bayes_bias.models.slopes import SLOPES
from bayes_bias.posterior.covariate_estimates import CovariateEstimates, explained
from bayes_bias.posterior.estimate import SAMPLE, Estimate, Mixture, as_draws
from bayes_bias.posterior.quadrature import can_integrate, integrated_bias
from bayes_bias.posterior.replicate_estimates import ReplicateEstimates
from bayes_bias.posterior.text_variances import text_variances, word_text_variances
from bayes_bias.posterior.word_effects import block_averages, check_side, compared_effects, conditional, sides_left_out
from bayes_bias.table.bias_weights import (
    BLOCK,
    OVERALL,
    attribute_weights,
    bias_weights,
    block_weights,
    contrasted_classes,
    level_weights,
    score_weights,
    target_weights,
)
from bayes_bias.table.labels import SIDES, Side
from bayes_bias.table.scopes import (
    ATTRIBUTES,
    DEFAULT_SCOPE,
    FACETS,
    PARTS,
    SCOPES,
    TARGETS,
    WORDS,
    Facet,
    Part,
    Scope,
    ScopeName,
    check_design,
    is_effect_of,
    is_noise,
    sampling_scope,
    scope_of,
)
from bayes_bias.table.texts import has_texts

# Estimands with one label per word.
_BY_WORD = ("target_bias", "attribute_bias", "target_connection_mean")


def estimates(fit: Fit, scope: ScopeName = DEFAULT_SCOPE, *, words: bool = True) -> dict[str, Estimate]:
    r"""Compute the posterior draws, observed value, and noise floor of every estimand.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit from `bayes_bias.fit`.
    scope : {"all", "both", "targets", "attributes", "none", ...}
        Generalise to new targets, new attributes, and new replicates ("all"), to new targets and new attributes, to new
        targets with these attributes (the question of WEAT's permutation test), to new attributes with these targets,
        or not beyond these words (the raw contrast, which has no uncertainty).
    words : bool
        Whether to include the estimands of single words, which take most of the time.

    Returns
    -------
    dict of str to Estimate
        Crossed model: ``bias``, ``class_bias`` (groups of different classes), ``group_bias``, ``excess`` and
        ``repulsion`` (with control classes), ``effect_size`` (two groups of different classes, scopes "targets" and
        "none"), ``target_bias``, ``attribute_bias`` (groups of different classes). With replicates also
        ``replicate_bias``, ``replicate_sd``, ``same_sign`` and ``reliability``, with covariates of words
        ``unadjusted_bias``, ``explained_bias`` and ``slope``. Hierarchical model: ``bias``, ``excess``,
        ``connection_mean``, ``target_bias``, ``target_connection_mean``. The bias of single words is omitted if the
        word effects would not fit in memory (`sides_left_out`). Scope "none" includes the raw contrasts of any number
        of words.

    Raises
    ------
    ScopeError
        If the data do not support the scope.

    Notes
    -----
    In terms of the expected values ``mean[g, c]`` of a group's targets with a class's attributes:

    ``group_bias[g]``
        ``mean[g, assoc(g)]`` minus the average of ``mean[g, c]`` over the other associated classes.
    ``class_bias[c]``
        The average of ``mean[g, c]`` over the groups that are associated with the class, minus the average over the
        other groups. A class that is associated with all groups has no class bias.
    ``bias``
        The average of ``group_bias`` over groups: with two groups of different classes, this is half of the numerator
        of WEAT.
    ``excess[g, control]``
        ``mean[g, assoc(g)] - mean[g, control]``.
    ``repulsion[g, control]``
        ``mean[g, control]`` minus the average of ``mean[g, c]`` over the other associated classes.
    ``target_bias[i]``
        The contrast of ``group_bias`` for one target, including the effects of that target.
    ``attribute_bias[j]``
        One attribute's expected value with the group it is associated with, minus the average over other groups.
    ``effect_size``
        ``2 bias`` over the standard deviation of a target's association score in both groups together: WEAT's d for the
        population of targets, between -2 and 2. It is defined for fixed attributes only. For new attributes, the
        denominator would be the spread of the targets' preferences, which may be zero. Groups with the same class have
        no effect size, because an association score contrasts the classes of both groups.

    If words have covariates, ``mean[g, c]`` is the expected value at equal covariates, so all these estimands are
    adjusted, except ``observed``, scope "none", and the estimands of replicates. There are additional rows:

    ``unadjusted_bias``
        The bias with the covariates that words have.
    ``explained_bias``
        The part of the bias that covariates explain: ``unadjusted_bias - bias``.
    ``slope``
        How much closer a target is to a class, relative to the average over the associated classes, if the covariate of
        the target is one standard deviation higher. For attributes, groups replace the classes. Standard deviations are
        computed within groups (classes).

    Words that a scope does not sample keep their own effects. The average of the effects of these words is added to
    ``mean``, so that the result of scope "none" is exactly the raw contrast.
    """
    return {name: estimate() for name, estimate in _estimands(fit, scope).items() if words or name not in _BY_WORD}


def estimate_of(fit: Fit, estimand: str, scope: ScopeName = DEFAULT_SCOPE) -> Estimate:
    """Return a single result of `estimates` by its name, with the same draws, without computing the other estimands.

    The error for an estimand that the fit does not have includes the reason, if one is known. For models that
    generalise over words, there are reasons for words of a side, for the effect size, and for estimands of replicates.
    """
    functions = _estimands(fit, scope)
    if isinstance(estimand, str) and estimand in functions:
        return functions[estimand]()
    if Fitted.of(fit).structure.GENERALISES:
        blocks = _Blocks.of(fit, scope)
        reasons = {"effect_size": blocks.fitted.without_scales, **blocks.replicate_estimates.left_out}
        reasons |= {f"{side}_bias": sentence for side, sentence in blocks.left_out.items()}
        if reason := reasons.get(estimand, ""):
            raise BayesBiasError(f"estimand: '{estimand}' cannot be estimated: {reason}")
    raise BayesBiasError(f"`estimand` '{estimand}' does not exist in this fit. {did_you_mean(estimand, functions)}")


def _estimands(fit: Fit, scope: ScopeName) -> dict[str, Callable[[], Estimate]]:
    """Return the function that computes each estimand of a fit, by name.

    The hierarchical model, which does not generalise over attributes, has the estimands of its publication.
    """
    fitted = Fitted.of(fit)
    checked = check_scope(fit, scope)
    return _Blocks(fitted, checked).estimands if fitted.structure.GENERALISES else published_estimands(fitted)


def bias_estimate(fit: Fit, scope: ScopeName = DEFAULT_SCOPE) -> Estimate:
    """Return the bias of a fit without other estimands, with the same draws as `estimates`."""
    fitted = Fitted.of(fit)
    checked = check_scope(fit, scope)
    blocks = _Blocks(fitted, checked)
    return blocks.estimate(blocks.bias_weights) if fitted.structure.GENERALISES else published_bias(fitted)


def contrast_estimate(fit: Fit, weights: xr.DataArray, scope: ScopeName = DEFAULT_SCOPE) -> Estimate:
    """Return weighted sums of block means, one for each row of weights ``(contrast, group, attribute_class)``."""
    return _Blocks.of(fit, scope).estimate(weights)


def levels(fit: Fit, scope: ScopeName = DEFAULT_SCOPE) -> Estimate:
    """Return the expected value of each group with each class, ``mean[g, c]``, labelled ``"group, class"``. Requires
    the crossed model.
    """
    blocks = _Blocks.of(fit, scope)
    return blocks.estimate(level_weights(blocks.data))


def check_scope(fit: Fit, scope: str) -> Scope:
    """Return the scope with this name. Raise an error if the model or the design of the fit does not support it.

    The hierarchical model has only one scope. In a user-defined model, the effects of words that a scope fixes are
    added to the mean, so the model must contain them as variables. `EFFECT_OF` has the name of the variable for each
    source of variance, and `PARTS` the facets (targets, attributes, or replicates) among which its effects differ.
    """
    fitted = Fitted.of(fit)
    if not fitted.structure.GENERALISES:
        if scope_of(scope).samples_all:
            return SCOPES["both"]
        raise ScopeError(
            f"`scope` '{scope}' needs a fit of the crossed model, because the {fitted.spec.structure} model"
            " has no scopes."
        )
    checked = check_design(fitted.data, scope)
    if not checked.samples_nothing and not fitted.structure.COLLAPSED:
        facets = frozenset(FACETS if fitted.replicate_kind else WORDS)
        effects = {part: name for part, name in EFFECT_OF.items() if PARTS[part] <= facets}
        fixed_effects = [name for part, name in effects.items() if not is_noise(part, checked)]
        if missing := fitted.lacking(fixed_effects, f"scope '{checked.name}'"):
            raise ScopeError(f"scope: {missing}")
    return checked


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Block means and their contrasts under one scope."""

    fitted: Fitted
    scope: Scope

    @classmethod
    def of(cls, fit: Fit, scope: ScopeName) -> "_Blocks":
        return cls(Fitted.of(fit).generalising("a contrast of block means"), check_scope(fit, scope))

    @property
    def data(self) -> xr.Dataset:
        return self.fitted.data

    @cached_property
    def left_out(self) -> dict[Side, str]:
        """The sides without estimates for single words, each with the reason.

        Draws of word effects may not fit in memory, or a user-defined model may lack them. Attributes have no bias if
        all groups are associated with the same class.
        """
        left_out = {} if self.scope.samples_nothing else sides_left_out(self.fitted)
        if not contrasted_classes(self.data).size:
            left_out["attribute"] = (
                "an attribute's bias compares groups that are associated with its class with other groups, and here all"
                " groups have the same class"
            )
        return left_out

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The sides with estimates for single words."""
        return tuple(side for side in SIDES if side not in self.left_out)

    @cached_property
    def averages(self) -> dict[Part, xr.DataArray]:
        """Averages of word and replicate effects over each block."""
        return block_averages(self.fitted)

    @property
    def replicate_estimates(self) -> ReplicateEstimates:
        """Estimands of single replicates and of new replicates."""
        return ReplicateEstimates(self.fitted, self.scope)

    @property
    def fixes_replicates(self) -> bool:
        """Return True if there are replicates that the scope does not sample."""
        return bool(self.fitted.replicate_kind) and not self.scope.samples_replicates

    @property
    def adjusts(self) -> bool:
        """Return True if words have covariates and the scope samples anything. The raw contrast is never adjusted."""
        return not self.scope.samples_nothing and any(name in self.fitted.posterior for name in SLOPES)

    @property
    def estimands(self) -> dict[str, Callable[[], Estimate]]:
        """The function that computes each estimand that the table and the scope allow, by name.

        Contrasts of blocks are always possible. WEAT's effect size needs two groups and fixed attributes. Words have
        estimates of their own, unless a side is left out. With covariates, there are estimates of the adjustment, and
        with replicates, of replicates.
        """
        estimands: dict[str, Callable[[], Estimate]] = {}
        for name, weights in block_weights(self.data).items():
            estimands[name] = partial(self.estimate, weights)
        without_scales = self.fitted.without_scales and not self.scope.samples_nothing
        has_scores = self.data.sizes["group"] == 2 and bool(score_weights(self.data).any())
        if has_scores and not self.scope.samples_attributes and not without_scales:
            estimands["effect_size"] = self.effect_size
        if "target" in self.sides:
            estimands["target_bias"] = self.target_bias
        if "attribute" in self.sides:
            estimands["attribute_bias"] = self.attribute_bias
        if self.adjusts:
            estimands |= CovariateEstimates(self.fitted, self.scope, estimands["bias"]).estimands
        return estimands | self.replicate_estimates.estimands

    @property
    def bias_weights(self) -> xr.DataArray:
        """The weights of blocks in the bias. They do not depend on the scope, so they are computed once for a fit."""
        return self.fitted.once("bias weights", lambda: bias_weights(self.data))

    def estimate(self, weights: xr.DataArray) -> Estimate:
        """Return contrasts of block means, with the integrated posterior if there is a single one that is a multiple of
        the bias.

        An integral (see `can_integrate`) has no Monte Carlo error, so all functions of the package return the same
        numbers for a table and for each fit to this table. The draws are still the draws of the sampler.
        """
        sampled = self.sampled(weights)
        spec, data, scope = self.fitted.spec, self.data, self.scope.name
        factor = _multiple(weights, self.bias_weights)
        if not factor or self.scope.samples_nothing or not can_integrate(spec, data):
            return sampled
        bias = self.fitted.once(("integral", scope), lambda: integrated_bias(spec, data, scope))
        assert bias.noise_sd is not None
        noise_sd = abs(factor) * bias.noise_sd.assign_coords(contrast=sampled.observed.contrast)
        centre = xr.full_like(noise_sd, sampled.observed.item())
        return replace(sampled, noise_sd=noise_sd, mixture=Mixture(centre, noise_sd))

    def sampled(self, weights: xr.DataArray) -> Estimate:
        """Return contrasts of block means from the draws of the scales.

        Given the scale parameters, each contrast is normal. Its mean is the observed value minus the part that
        covariates explain. Its variance is the sum of three: of the noise (sampled words and replicates, and the
        residual), of texts, and of the part that covariates explain.

        The scope "none" samples no words, so the contrast varies over texts alone. A user-defined model without scales
        has draws of the contrast, but no noise.
        """
        observed = self._raw(weights)
        over_texts = self._per_draw(lambda points: text_variances(self.data, weights, self.scope, points))
        if self.scope.samples_nothing:
            return self._over_texts(observed, over_texts, weights)
        draws = self._by_draw(self._contrast_blocks(weights), weights) + self._text_noise(over_texts)
        if self.fitted.without_scales:
            return Estimate(draws, observed)
        variance = self._noise_variance(weights) + over_texts
        centre = np.broadcast_to(observed.to_numpy(), variance.shape)
        if self.adjusts:
            by_covariates = explained(self.fitted, weights)
            centre = centre - by_covariates.centre.to_numpy()
            variance = variance + by_covariates.sd.to_numpy() ** 2
        noise_sd = draws.copy(data=np.sqrt(variance))
        # If word effects were sampled, the posterior is not a mixture of normals.
        mixture = Mixture(draws.copy(data=centre), noise_sd) if self.fitted.structure.COLLAPSED else None
        return Estimate(draws, observed, noise_sd, mixture)

    def _over_texts(self, observed: xr.DataArray, variance: np.ndarray, weights: xr.DataArray) -> Estimate:
        """Return raw contrasts, which vary over texts alone, or not at all if the texts are fixed.

        `observed` is the raw contrast, (contrast,), and `variance` is its variance over texts, (chain, draw, contrast).
        """
        if not has_texts(self.data):
            return Estimate(observed, observed)
        centre = as_draws(self.fitted.posterior, np.broadcast_to(observed.to_numpy(), variance.shape), weights.contrast)
        noise_sd = centre.copy(data=np.sqrt(variance))
        return Estimate(centre + self._text_noise(variance), observed, noise_sd, Mixture(centre, noise_sd))

    def _per_draw(self, variances: Callable[[int], np.ndarray]) -> np.ndarray:
        """Return equally likely variances (chain, draw, contrast), one for each draw."""
        chains, draws = (self.fitted.posterior.sizes[dim] for dim in SAMPLE)
        return variances(chains * draws).reshape(chains, draws, -1)

    def _text_noise(self, variance: np.ndarray) -> np.ndarray:
        """Return normal draws around zero with these variances, (chain, draw, contrast), or zero if texts are fixed."""
        if not has_texts(self.data):
            return np.zeros(1)
        return np.sqrt(variance) * np.random.default_rng(self.fitted.seed).standard_normal(variance.shape)

    def target_bias(self) -> Estimate:
        """Return the bias of each target, a contrast of its means in the classes.

        The target is fixed, so only attributes and the residual are noise. `weights` (target, group, class) are zero
        except in the group of the target, so their sum over groups has the weight of each class.
        """
        weights = target_weights(self.data)
        by_target = weights.sum("group")
        raw = xr.dot(self.data.target_mean.rename(target="contrast"), by_target, dim=["attribute_class"])
        return self._estimate_words(TARGETS, weights, by_target, raw)

    def attribute_bias(self) -> Estimate:
        """Return the bias of each attribute, a contrast of its means in the groups.

        The attribute is fixed, so only targets and the residual are noise. `weights` (attribute, group, class) are zero
        except in the class of the attribute, so their sum over classes has the weight of each group. Attributes of
        classes without a bias are not among them.
        """
        weights = attribute_weights(self.data)
        by_attribute = weights.sum("attribute_class")
        mean = self.data.attribute_mean.sel(attribute=weights.contrast.to_numpy())
        raw = xr.dot(mean.rename(attribute="contrast"), by_attribute, dim=["group"])
        return self._estimate_words(ATTRIBUTES, weights, by_attribute, raw)

    def _estimate_words(
        self, facet: Facet, weights: xr.DataArray, by_word: xr.DataArray, observed: xr.DataArray
    ) -> Estimate:
        """Return the contrast of each word: the contrast of its block plus the word's deviation from this contrast.

        `weights` are the weights of blocks, (word, group, class), and `by_word` the weights of the word's means, (word,
        class) for targets and (word, group) for attributes. The estimate has draws, the observed contrast, and the
        standard deviation of the noise.

        In the collapsed model without covariates, it is also a mixture. Given the scales, the contrast is normal. Its
        mean is the sum of the observed contrast of the block and the expected deviation. Its variance is the sum of the
        variance of the deviation and the variance of the block due to the other facets, the residual, and texts.
        """
        side = check_side(facet.dim)
        over_texts = self._per_draw(lambda points: word_text_variances(self.data, side, by_word, points))
        if self.scope.samples_nothing:
            return self._over_texts(observed, over_texts, weights)
        # Draws of the contrast of each block, plus draws of the deviation of its word from this contrast.
        effects = compared_effects(self.fitted, self.sides, these_replicates=self.fixes_replicates)[f"{side}_effect"]
        word_effects = effects.sel({side: weights.contrast.to_numpy()}).rename({side: "contrast"})
        deviation_draws = xr.dot(word_effects.variable, by_word.variable, dim=[by_word.dims[-1]])
        draws = self._by_draw(self._contrast_blocks(weights, by_word=facet) + deviation_draws, weights)
        draws = draws + self._text_noise(over_texts)
        if self.fitted.without_scales:
            return Estimate(draws, observed)
        noise_variance = self._noise_variance(weights, by_word=facet) + over_texts
        noise_sd = draws.copy(data=np.sqrt(noise_variance))
        if not self.fitted.structure.COLLAPSED or self.adjusts:
            return Estimate(draws, observed, noise_sd)
        # Deviations do not depend on which words the scope samples, and computing them takes a third of the time.
        key = ("deviations", facet, self.fixes_replicates)
        deviation, deviation_variance = self.fitted.once(key, lambda: self._deviations(facet, by_word))
        block_variance = self._noise_variance(weights, by_word=facet, whole_block=True) + over_texts
        centre = draws.copy(data=deviation + self._raw(weights).to_numpy())
        sd = draws.copy(data=np.sqrt(deviation_variance + block_variance))
        return Estimate(draws, observed, noise_sd, Mixture(centre, sd))

    def _deviations(self, facet: Facet, by_word: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and variance ``(chain, draw, word)``, given the scales, of a contrast of each word's
        deviations from its block.

        `by_word` has the weights of each contrasted word, (word, k), for its means in the k classes or groups of the
        other side. Other words of the side have the weight zero, and are dropped from the result.
        """
        positions = self.data.indexes[facet.dim].get_indexer(by_word.contrast)
        all_words = conditional(self.fitted, check_side(facet.dim), these_replicates=self.fixes_replicates)
        deviations = all_words.only(positions)
        weights = np.zeros_like(deviations.observed)  # (words, k)
        weights[positions] = by_word
        mean = np.einsum("wi,...wi->...w", weights, deviations.mean())
        return mean[..., positions], deviations.variance(weights)[..., positions]

    def effect_size(self) -> Estimate:
        """Return WEAT's d for these attributes: twice the bias, divided by the standard deviation of the scores of
        targets in both groups.

        The score of a target is a weighted sum of its means in the classes, with weights w. With equally large groups,
        the variance of all scores is their variance V within groups plus the squared bias, so

            d = 2 bias / sqrt(V + bias**2).

        V has two parts: the variance of the effects of a target, ``w' C w`` with their covariance C between classes,
        and, because attributes are fixed, the variance of its residuals. The observed value uses the standard deviation
        of the observed scores instead.
        """
        weights = bias_weights(self.data)
        score_weight = score_weights(self.data)
        score = xr.dot(self.data.target_mean, score_weight, dim=["attribute_class"])
        observed = 2 * self._raw(weights) / score.std("target", ddof=1)
        if self.scope.samples_nothing:
            return Estimate(observed, observed)
        bias = self._by_draw(self._contrast_blocks(weights), weights)  # posterior draws
        w = score_weight.to_numpy()
        variances = self.fitted.variances
        # Effects of words in the replicates of the table, or in all possible replicates.
        effects = variances.table if self.fixes_replicates else variances.words
        # C of one target, with the effects that it shares with its cluster, (..., groups, classes, classes).
        covariance = effects.target + variances.of(variances.patterns.cluster["target"])[..., None, :, :]
        target_variance = np.einsum("c,...gcd,d->...g", w, covariance, w).mean(axis=-1)
        residual_variance = (effects.residual * w**2 / self.data.n_attributes.to_numpy()).sum(axis=-1)
        variance_within = bias.copy(data=(target_variance + residual_variance)[..., None])  # V
        return Estimate(2 * bias / (variance_within + bias**2) ** 0.5, observed)

    def _raw(self, weights: xr.DataArray) -> xr.DataArray:
        """Return the contrasts of the observed block means."""
        contrasts = xr.dot(self.data.block_mean.variable, weights.variable, dim=BLOCK)
        return xr.DataArray(contrasts, coords={"contrast": weights.contrast})

    def _contrast_blocks(self, weights: xr.DataArray, by_word: Facet | None = None) -> xr.Variable:
        """Return draws of contrasts of the expected values of blocks.

        The expected value of a block is its mean for new words. Words and replicates that the scope does not sample are
        those of the table, so the average of their effects is added. The exception is the facet whose effects are added
        `by_word`, for single words. Labels are dropped, because comparing them would take longer than the computation.
        """
        mean = self.fitted.posterior["mean"].variable
        for part, average in self.averages.items():
            if not is_noise(part, self.scope) and not is_effect_of(part, by_word):
                mean = mean + average.variable
        return xr.dot(mean, weights.variable, dim=BLOCK)

    def _by_draw(self, values: xr.Variable, weights: xr.DataArray) -> xr.DataArray:
        """Return values with the coordinates of the posterior and the labels of the weights."""
        ordered = values.transpose(*SAMPLE, "contrast").to_numpy()
        return as_draws(self.fitted.posterior, ordered, weights.contrast)

    def _noise_variance(
        self, weights: xr.DataArray, by_word: Facet | None = None, *, whole_block: bool = False
    ) -> np.ndarray:
        """Return the variance ``(chain, draw, contrast)`` that the sampled facets and the residual contribute.

        A facet is a population that words or replicates are drawn from: targets, attributes, or replicates. The
        variance of a contrast of block means has a part for each source of variance, and those that the scope treats as
        noise are added.

        For contrasts of single words of the facet `by_word`, blocks have one word of this facet. With `whole_block`,
        the result is the variance of the contrast of the block instead, with all its words, from the other facets.
        """
        n_words = {facet: self.data[f"n_{facet.name}"].to_numpy() for facet in WORDS}
        if by_word is not None and not whole_block:
            n_words[by_word] = np.ones_like(n_words[by_word])
        w = weights.transpose("contrast", *BLOCK).to_numpy()
        parts = self.fitted.variances.contrast_variances(w, n_words[TARGETS], n_words[ATTRIBUTES])
        return np.asarray(sum(values for part, values in parts.items() if is_noise(part, self.scope, by_word)))


# Estimands of the published model. The model describes distances, so a bias is the distance of the connection
# "different" minus the distance of the connection "associated".


def _multiple(weights: xr.DataArray, bias: xr.DataArray) -> float:
    """Return the factor that turns the weights of the bias into the weights of a single contrast, or 0 without one."""
    w, b = (array.transpose("contrast", *BLOCK).to_numpy() for array in (weights, bias))
    factor = float((w * b).sum() / (b**2).sum())
    return factor if len(w) == 1 and np.allclose(w, factor * b) else 0.0


def published_estimands(fitted: Fitted) -> dict[str, Callable[[], Estimate]]:
    """Return the function that computes each estimand of the hierarchical model, by name.

    A connection is the relation of a target's group to an attribute's class, such as "associated". Each estimand has
    draws and a raw value: over all targets, or of each target.
    """
    overall = fitted.posterior.connection_mean
    by_target = fitted.posterior.target_connection_mean
    raw_overall = _pooled(fitted.data)
    raw_by_target = fitted.data.distance_mean
    of_connection = {"connection": "contrast"}
    of_target = {"target": "contrast"}
    return {
        "bias": lambda: published_bias(fitted),
        "excess": lambda: Estimate(_excess(overall), _excess(raw_overall)),
        "connection_mean": lambda: Estimate(overall.rename(of_connection), raw_overall.rename(of_connection)),
        "target_bias": lambda: Estimate(_bias(by_target).rename(of_target), _bias(raw_by_target).rename(of_target)),
        "target_connection_mean": lambda: Estimate(_flat(by_target), _flat(raw_by_target)),
    }


def published_bias(fitted: Fitted) -> Estimate:
    """Return the bias of the hierarchical model, with its observed value: how much farther words are from the classes
    of other groups than from the class of their own group.
    """
    draws = _bias(fitted.posterior.connection_mean)
    raw = _bias(_pooled(fitted.data))
    return Estimate(draws.expand_dims(contrast=[OVERALL]), raw.expand_dims(contrast=[OVERALL]))


def _pooled(data: xr.Dataset) -> xr.DataArray:
    """Return the mean distance of each connection over all targets."""
    count = data.distance_count
    return (count * data.distance_mean).sum("target") / count.sum("target")


def _bias(distance: xr.DataArray) -> xr.DataArray:
    """Return the distance from other groups' classes minus the distance from the associated class."""
    far = distance.sel(connection="different")
    near = distance.sel(connection="associated")
    return far.drop_vars("connection") - near.drop_vars("connection")


def _excess(distance: xr.DataArray) -> xr.DataArray:
    """Return the distance from each control class minus the distance from the associated class."""
    near = distance.sel(connection="associated").drop_vars("connection")
    return (distance.isel(connection=slice(2, None)) - near).rename(connection="contrast")


def _flat(values: xr.DataArray) -> xr.DataArray:
    """Return values of targets and connections along one dimension, labelled "target, connection"."""
    stacked = values.stack(contrast=("target", "connection"))
    labels = [f"{target}, {connection}" for target, connection in stacked.contrast.to_numpy()]
    return stacked.drop_vars(["contrast", "target", "connection"]).assign_coords(contrast=labels)


def posterior_draws(fit: Fit, estimand: str = "bias", scope: ScopeName = DEFAULT_SCOPE) -> xr.DataArray:
    """Return posterior draws of one estimand.

    Parameters
    ----------
    fit : xarray.DataTree
        From `fit` or `load_fit`.
    estimand : str
        A name in the first level of `summarize`: "bias", "group_bias", "excess", "repulsion", "effect_size",
        "target_bias", "attribute_bias". `bayes_bias.posterior.estimates.estimates` has their formulas.
    scope : {"all", "both", "targets", "attributes", ...}
        The words that the draws generalise to. Scope "none" is the raw contrast, which has no draws.

    Returns
    -------
    xarray.DataArray
        ``(chain, draw, contrast)``, with the name of the estimand and the labels of `summarize`. Draws are in the units
        of the table (``effect_size`` has no unit).

    Raises
    ------
    BayesBiasError
        If the fit has no such estimand.
    ScopeError
        If the data do not support the scope, or the scope leaves no uncertainty.

    Notes
    -----
    `summarize` averages normal distributions over the draws of the scale parameters. Means and intervals of the draws
    therefore differ from the results of `summarize` by Monte Carlo error.

    Examples
    --------
    >>> import arviz as az                                                        # doctest: +SKIP
    >>> az.plot_dist(posterior_draws(posterior, "group_bias", "targets").to_dataset())      # doctest: +SKIP
    """
    sampling_scope(scope)  # raises an error if the scope samples nothing
    draws = estimate_of(fit, estimand, scope).draws
    return draws.transpose("chain", "draw", "contrast").rename(estimand)
