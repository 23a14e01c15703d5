"""Estimands of a table with replicates: the bias in each replicate, the spread between them, and a new replicate."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import ndtr

from bayes_bias.fitting.fitted import Fitted
from bayes_bias.models.components import EFFECT_OF
from bayes_bias.posterior.estimate import SAMPLE, Estimate, Mixture, as_draws
from bayes_bias.posterior.word_effects import effects_on_blocks
from bayes_bias.shared_types import Numbers
from bayes_bias.table.bias_weights import BLOCK, OVERALL, bias_weights
from bayes_bias.table.scopes import PARTS, REPLICATES, Part, Scope, is_noise


@dataclass(frozen=True, eq=False)
class ReplicateEstimates:
    """Estimands of a fit with replicates, under a scope."""

    fitted: Fitted
    scope: Scope

    @property
    def estimands(self) -> dict[str, Callable[[], Estimate]]:
        """The function that computes each estimand. Empty without replicates."""
        return {name: estimate for name, estimate in self._functions.items() if not self.left_out[name]}

    @property
    def left_out(self) -> dict[str, str]:
        """Return the reason why a user's own model lacks each estimand, or "" if it has the estimand.

        All estimands need the standard deviations of effects, except for the bias in a replicate. This bias needs draws
        of all effects that the scope fixes, because they are added to the mean. The collapsed model can draw them, but
        a user's own model must have them as variables (`EFFECT_OF` has their names). If the scope samples no words, the
        bias in a replicate is its raw value, and needs no such draws.
        """
        without_scales = "" if self.scope.samples_nothing else self.fitted.without_scales
        reasons = dict.fromkeys(self._functions, without_scales)
        if reasons:  # the table has replicates
            needed = [name for part, name in EFFECT_OF.items() if not is_noise(part, self.scope, REPLICATES)]
            needs_effects = not self._is_raw and not self.fitted.structure.COLLAPSED
            reasons["replicate_bias"] = self.fitted.lacking(needed, "it") if needs_effects else ""
        return reasons

    @property
    def _functions(self) -> dict[str, Callable[[], Estimate]]:
        """The function that computes each estimand of replicates, by name. Scope "none" has only their raw bias."""
        if not self.fitted.replicate_kind:
            return {}
        raw: dict[str, Callable[[], Estimate]] = {"replicate_bias": self.replicate_bias}
        if self.scope.samples_nothing:
            return raw
        return raw | {"replicate_sd": self.replicate_sd, "same_sign": self.same_sign, "reliability": self.reliability}

    @property
    def _is_raw(self) -> bool:
        """Return True if the scope samples no words.

        In this case, the bias in a replicate equals the measured value.
        """
        return not self.scope.facets - {REPLICATES}

    @property
    def observed(self) -> xr.DataArray:
        """The raw bias of each replicate."""
        return xr.dot(self._data.replicate_block_mean, self._bias_weights, dim=BLOCK).rename(replicate="contrast")

    def replicate_bias(self) -> Estimate:
        """Return the bias in each replicate for new words on the sides that the scope samples.

        Biases are shrunk towards their mean. A bias is the sum of the average over replicates, which varies with the
        sampled words, and of a deviation of the replicate. Given the scales, both are normal. If the scope samples no
        words, the bias is the measured value. In a model with word effects as variables, they are added to the mean.
        """
        observed = self.observed
        if self._is_raw:
            return Estimate(observed, observed)
        if not self.fitted.structure.COLLAPSED:
            draws = self._by_effects()
            return Estimate(draws, observed, None if self.fitted.without_scales else self._noise_sd_like(draws))
        average_variance = self._noise(self._data.sizes["replicate"])
        deviation, deviation_variance = self._deviations()
        centre = as_draws(self.fitted.posterior, deviation + observed.mean().item(), observed.contrast)
        variance = average_variance + deviation_variance[..., None]
        sd = centre.copy(data=np.broadcast_to(np.sqrt(variance), centre.shape))
        draws = self._draws(centre, average_variance[..., 0], deviation_variance)
        return Estimate(draws, observed, self._noise_sd_like(draws), Mixture(centre, sd))

    def _by_effects(self) -> xr.DataArray:
        """Return draws of the bias in each replicate, from the mean and all effects that the scope fixes.

        Effects of words or residuals that the scope samples are noise and are not added. This requires a model with
        word effects as variables.
        """
        mean = self.fitted.posterior["mean"]
        for part, effect in effects_on_blocks(self.fitted).items():
            if not is_noise(part, self.scope, REPLICATES):
                mean = mean + effect
        draws = xr.dot(mean, self._bias_weights, dim=BLOCK)
        return draws.rename(replicate="contrast").transpose(*SAMPLE, "contrast")

    def _noise_sd_like(self, draws: xr.DataArray) -> xr.DataArray:
        """Return the standard deviation that sampled words add to the bias in one replicate, which is equal in all
        replicates.
        """
        return draws.copy(data=np.broadcast_to(np.sqrt(self._noise(1)), draws.shape))

    def replicate_sd(self) -> Estimate:
        """Return the standard deviation of the bias between replicates, for all words that could be sampled."""
        return Estimate(self._sd(), self.observed.std(ddof=1).expand_dims(contrast=[OVERALL]))

    def same_sign(self) -> Estimate:
        """Return the probability that the bias in a new replicate has the sign of the raw bias.

        The bias in a new replicate is normal around the overall bias, so the probability is the normal distribution
        function at the bias in the direction of the raw bias, divided by the standard deviation between replicates. It
        is below one half in draws in which the bias has the opposite sign, so an unknown direction does not appear
        stable. The observed value is the share of replicates of the table with the sign of the mean table.
        """
        weights = bias_weights(self._data)
        bias = xr.dot(self.fitted.posterior["mean"], weights, dim=BLOCK)
        sign = np.sign(xr.dot(self._data.block_mean, weights, dim=BLOCK).item())
        observed = (np.sign(self.observed) == sign).mean().expand_dims(contrast=[OVERALL])
        return Estimate(xr.apply_ufunc(ndtr, sign * bias / self._sd()), observed)

    def reliability(self) -> Estimate:
        """Return the share of the variance of a measured bias that differences between word lists explain, for one and
        for all replicates. Generalisability theory calls this share the index of dependability.

        With the variance W between word lists and the variance R between replicates, the share for n replicates is
        ``W / (W + R / n)``.
        """
        n_replicates = len(self.observed)
        word_variance: Any = 0
        replicate_variance: Any = 0
        for part, variance in self._variances(1).items():
            if REPLICATES in PARTS[part]:
                replicate_variance = replicate_variance + variance
            else:
                word_variance = word_variance + variance
        shares = [word_variance / (word_variance + replicate_variance / n) for n in (1, n_replicates)]
        draws = as_draws(self.fitted.posterior, np.concatenate(shares, axis=-1), ["1", str(n_replicates)])
        unknown = xr.full_like(draws.isel(dict.fromkeys(SAMPLE, 0), drop=True), np.nan)  # the raw value
        return Estimate(draws, unknown)

    @property
    def _data(self) -> xr.Dataset:
        return self.fitted.data

    @property
    def _bias_weights(self) -> xr.DataArray:
        return bias_weights(self._data).isel(contrast=0, drop=True)

    @property
    def _weights(self) -> Numbers:
        return bias_weights(self._data).transpose("contrast", *BLOCK).to_numpy()

    def _noise(self, n_replicates: int) -> Numbers:
        """Return the variance ``(chain, draw, 1)`` that sampled words add to the mean bias over `n_replicates`
        replicates.
        """
        parts = self._variances(n_replicates)
        return np.asarray(sum(values for part, values in parts.items() if is_noise(part, self.scope, REPLICATES)))

    def _deviations(self) -> tuple[Numbers, Numbers]:
        """Return the expected deviation of each replicate from the average, (chain, draw, replicate), and the variance
        of these deviations, (chain, draw).

        The signal is the part of the differences between replicates that would be the same with other words of the
        sampled sides. Residuals of single values are noise, and so are the effects of words that the scope samples.

        Let S and T be the covariances (blocks, blocks) of the signal and of all differences, and w the weights of the
        bias. The signal of the bias is regressed on the observed block means d of a replicate. The coefficients are
        ``b = T^-1 S w``, the expected deviation is ``b' d``, and the remaining variance is ``w' S w - b' S w``.
        """
        data, variances = self._data, self.fitted.variances
        all_patterns: Any = 0
        signal_patterns: Any = 0
        for part, patterns in variances.patterns.block_covariances().items():
            if REPLICATES in PARTS[part]:
                all_patterns = all_patterns + patterns
                if part == "replicates" or not is_noise(part, self.scope, REPLICATES):
                    signal_patterns = signal_patterns + patterns
        total = variances.of(all_patterns)  # T
        signal = variances.of(signal_patterns)  # S
        w = self._weights.ravel()
        signal_w = signal @ w
        b = np.linalg.solve(total, signal_w[..., None])[..., 0]
        d = (data.replicate_block_mean - data.block_mean).to_numpy().reshape(len(self.observed), -1)
        remainder = signal_w @ w - (b * signal_w).sum(axis=-1)
        return b @ d.T, np.maximum(remainder, 0) * (1 - 1 / len(self.observed))

    def _draws(self, centre: xr.DataArray, average_variance: Numbers, deviation_variance: Numbers) -> xr.DataArray:
        """Draw the biases of replicates around their `centre`, (chain, draw, replicate).

        Each bias has an error that all replicates share, with the variance of their average, and an individual error.
        The individual errors sum to zero, so their mean is subtracted, and the variance that this removes is restored.
        """
        rng = np.random.default_rng(self.fitted.seed)
        shared = np.sqrt(average_variance) * rng.standard_normal(average_variance.shape)
        individual = rng.standard_normal(centre.shape)
        individual = individual - individual.mean(axis=-1, keepdims=True)
        variance_left = 1 - 1 / centre.sizes["contrast"]  # after the mean is subtracted
        return centre + shared[..., None] + individual * np.sqrt(deviation_variance / variance_left)[..., None]

    def _sd(self) -> xr.DataArray:
        return as_draws(self.fitted.posterior, np.sqrt(self._variances(1)["replicates"]), [OVERALL])

    def _variances(self, n_replicates: int) -> dict[Part, Numbers]:
        return self.fitted.variances.contrast_variances(self._weights, n_replicates=n_replicates)
