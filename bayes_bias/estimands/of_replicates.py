"""What replicates say: the bias in each of them, by how much it differs, and what a new one would say."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtr

from bayes_bias.estimands.contrasts import BLOCK, bias_weights
from bayes_bias.estimands.estimate import Estimate, Mixture
from bayes_bias.estimands.facets import PARTS, REPLICATES, Scope, is_noise
from bayes_bias.models.components import Part
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.replication import Variances

type Numbers = NDArray[np.float64]

_SAMPLE = ("chain", "draw")


@dataclass(frozen=True, eq=False)
class OfReplicates:
    """Estimands of a fit with replicates, under a scope."""

    fitted: Fitted
    scope: Scope
    variances: Variances

    @property
    def named(self) -> dict[str, Callable[[], Estimate]]:
        """How each estimand is had; where nothing is sampled there is the raw bias of each replicate alone."""
        raw: dict[str, Callable[[], Estimate]] = {"replicate_bias": self.replicate_bias}
        if self.scope.samples_nothing:
            return raw
        return raw | {
            "replicate_sd": self.replicate_sd,
            "same_sign": self.same_sign,
            "reliability": self.reliability,
        }

    @property
    def _data(self) -> xr.Dataset:
        return self.fitted.data

    @property
    def _weights(self) -> Numbers:
        return bias_weights(self._data).transpose("contrast", *BLOCK).to_numpy()

    @property
    def observed(self) -> xr.DataArray:
        """The raw bias of each replicate."""
        weights = bias_weights(self._data).isel(contrast=0, drop=True)
        return xr.dot(self._data.replicate_block_mean, weights, dim=BLOCK).rename(replicate="contrast")

    def replicate_bias(self) -> Estimate:
        """The bias in each replicate over the words that the scope samples, drawn towards that of all replicates."""
        observed = self.observed
        if not self.scope.facets - {REPLICATES}:
            return Estimate(observed, observed)
        between = self._noise(self._data.sizes["replicate"])
        shift, spread = self._deviations()
        sample = {dim: self.fitted.posterior[dim] for dim in _SAMPLE}
        centre = xr.DataArray(
            shift + observed.mean().item(),
            dims=(*_SAMPLE, "contrast"),
            coords={**sample, "contrast": observed.contrast},
        )
        sd = centre.copy(data=np.broadcast_to(np.sqrt(between + spread[..., None]), centre.shape))
        noise_sd = centre.copy(data=np.broadcast_to(np.sqrt(self._noise(1)), centre.shape))
        return Estimate(self._draws(centre, between[..., 0], spread), observed, noise_sd, Mixture(centre, sd))

    def _noise(self, n_replicates: int) -> Numbers:
        """What the words that the scope samples contribute to the bias in the mean of so many replicates, each of which
        is of interest itself; (chain, draw, 1)."""
        parts = self._of_contrast(n_replicates)
        return np.asarray(sum(each for part, each in parts.items() if is_noise(part, self.scope, REPLICATES)))

    def _deviations(self) -> tuple[Numbers, Numbers]:
        """Means of the replicates' deviations from their average, (chain, draw, replicate), and their variance."""
        assert self.variances.replication is not None
        data, replication = self._data, self.variances.replication
        words = replication.words
        n_targets, n_attributes = data.n_targets.to_numpy(), data.n_attributes.to_numpy()
        stays = words.only(
            targets=not is_noise("targets by replicate", self.scope, REPLICATES),
            attributes=not is_noise("attributes by replicate", self.scope, REPLICATES),
        )
        total, signal = (
            each.of_blocks(1 / n_targets, 1 / n_attributes) + replication.of_blocks()
            for each in (words, stays)
        )
        weights = self._weights.ravel()
        # The contrast of the signal's covariance with all blocks, and what the noise in these takes of it.
        with_blocks = signal @ weights
        gain = np.linalg.solve(total, with_blocks[..., None])[..., 0]
        deviation = (data.replicate_block_mean - data.block_mean).to_numpy().reshape(len(self.observed), -1)
        left = with_blocks @ weights - (gain * with_blocks).sum(axis=-1)
        return gain @ deviation.T, np.maximum(left, 0) * (1 - 1 / len(self.observed))

    def _draws(self, centre: xr.DataArray, between: Numbers, spread: Numbers) -> xr.DataArray:
        """All replicates have one uncertainty in common, and one each; the latter sum to zero."""
        rng = np.random.default_rng(self.fitted.seed)
        common = np.sqrt(between) * rng.standard_normal(between.shape)
        own = rng.standard_normal(centre.shape)
        own = own - own.mean(axis=-1, keepdims=True)
        share = 1 - 1 / centre.sizes["contrast"]
        return centre + common[..., None] + own * np.sqrt(spread / share)[..., None]

    def replicate_sd(self) -> Estimate:
        """Standard deviation of the bias between replicates, for all words that could be."""
        observed = self.observed.std(ddof=1).expand_dims(contrast=["overall"])
        return Estimate(self._sd(), observed)

    def same_sign(self) -> Estimate:
        """Probability that the bias in a new replicate has the sign of the bias."""
        weights, blocks = bias_weights(self._data), self._data.block_mean
        bias = xr.dot(self.fitted.posterior["mean"], weights, dim=BLOCK)
        sign = np.sign(xr.dot(blocks, weights, dim=BLOCK).item())
        observed = (np.sign(self.observed) == sign).mean().expand_dims(contrast=["overall"])
        return Estimate(xr.apply_ufunc(ndtr, abs(bias) / self._sd()), observed)

    def reliability(self) -> Estimate:
        """How much of the variance of a measured bias is that of word lists, were they measured in one replicate, or in
        as many as there are: the index of dependability of generalisability theory."""
        parts, n = self._of_contrast(1), len(self.observed)
        of_words = sum(each for part, each in parts.items() if REPLICATES not in PARTS[part])
        of_replicates = sum(each for part, each in parts.items() if REPLICATES in PARTS[part])
        shares = [of_words / (of_words + of_replicates / times) for times in (1, n)]
        labels = ["1", str(n)]
        sample = {dim: self.fitted.posterior[dim] for dim in _SAMPLE}
        draws = xr.DataArray(
            np.concatenate(shares, axis=-1),
            dims=(*_SAMPLE, "contrast"),
            coords={**sample, "contrast": labels},
        )
        return Estimate(draws, xr.DataArray(np.full(2, np.nan), dims="contrast", coords={"contrast": labels}))

    def _sd(self) -> xr.DataArray:
        assert self.variances.replication is not None
        sample = {dim: self.fitted.posterior[dim] for dim in _SAMPLE}
        return xr.DataArray(
            np.sqrt(self.variances.replication.of_contrast(self._weights)),
            dims=(*_SAMPLE, "contrast"),
            coords={**sample, "contrast": ["overall"]},
        )

    def _of_contrast(self, n_replicates: int) -> dict[Part, Numbers]:
        data = self._data
        return self.variances.of_contrast(
            self._weights, data.n_targets.to_numpy(), data.n_attributes.to_numpy(), n_replicates
        )
