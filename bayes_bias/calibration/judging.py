"""What each method says of one table of cosines whose true bias is known: a few numbers for each."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import nutpie
import xarray as xr

from bayes_bias.baselines.permutation import MOST_PARTITIONS
from bayes_bias.baselines.sd_weat import sd_weat
from bayes_bias.baselines.weat import weat
from bayes_bias.compiling import compiled_model
from bayes_bias.cosines import Cosines
from bayes_bias.estimands import block_weights
from bayes_bias.pymc_models import model_data
from bayes_bias.specs import ModelSpec
from bayes_bias.word_effects import block_effects

type Record = dict[str, Any]

# Where they cannot be counted: p = .05 is then known to .002, which moves a share of findings by less than .001.
_PERMUTATIONS = 10_000
_INTERVAL = (0.025, 0.975)


@dataclass(frozen=True)
class Sampling:
    """How long to sample each null.

    Fewer draws than `bayes_bias.fit`: the ends of a 95% interval are then uncertain by about a tenth of the
    posterior's standard deviation (measured against 16,000 draws: .10 and .12), which moves the share of false
    findings from 5.0% to 5.1%, far below the Monte Carlo error of the number of nulls.
    """

    draws: int = 500
    tune: int = 400
    chains: int = 2
    target_accept: float = 0.9


def judge(
    cosines: Cosines, spec: ModelSpec, *, truth: float = 0.0, seed: int = 1, sampling: Sampling | None = None
) -> list[Record]:
    """Posterior bias under each scope of one fit, as records.

    Returns
    -------
    list of dict
        ``method`` (the model's name), ``scope``, ``mean``, ``sd``, ``lower`` and ``upper`` (ends of the 95%
        interval, cosine similarity), ``p_value`` (twice the posterior probability of the sign that is less likely:
        the interval excludes zero where this is below .05), ``rank`` (posterior probability of values below the
        truth), ``divergences`` of the fit.
    """
    data = model_data(spec, cosines)
    compiled, coords = compiled_model(spec, data)
    settings = vars(sampling or Sampling())
    trace = nutpie.sample(compiled, **settings, seed=seed, cores=1, save_warmup=False, progress_bar=False)
    posterior = trace["posterior"].to_dataset().assign_coords(coords)
    divergences = int(trace["sample_stats"].diverging.sum())
    return [
        {"method": spec.name, "scope": scope, **_describe(draws, truth), "divergences": divergences}
        for scope, draws in _bias(spec, posterior, data, seed)
    ]


def judge_by_weat(cosines: Cosines, *, seed: int = 1) -> Record:
    """WEAT's permutation test, two-sided; exact where the partitions can be counted."""
    n = np.bincount(cosines.group_index)
    permutations = None if comb(n.sum(), n[0]) <= MOST_PARTITIONS else _PERMUTATIONS
    result = weat(cosines.without_controls(), alternative="two-sided", permutations=permutations, seed=seed)
    return {"method": "WEAT", "scope": "targets", "mean": result.difference / 2, "p_value": result.p_value}


def judge_by_sd_weat(cosines: Cosines, vocabulary: str, *, seed: int = 1) -> Record:
    """SD-WEAT against the paper's negative control, which draws attributes from a control class: one-sided."""
    result = sd_weat(cosines, vocabulary=vocabulary, seed=seed)
    return {"method": "SD-WEAT", "scope": "attributes", "mean": result.value, "p_value": result.p_value}


def _bias(
    spec: ModelSpec, posterior: xr.Dataset, data: xr.Dataset, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Draws of `bias` under each scope that the model has, as flat arrays."""
    if spec.structure == "hierarchical":
        mean = posterior.connection_mean
        yield (
            "both",
            (mean.sel(connection="different") - mean.sel(connection="associated")).to_numpy().ravel(),
        )
        return
    weights = block_weights(data)["bias"].isel(contrast=0).to_numpy()
    mean = posterior["mean"].transpose("chain", "draw", "group", "attribute_class").to_numpy()
    of_targets, of_attributes = block_effects(posterior, data, np.random.default_rng(seed))
    mean = mean.reshape(of_targets.shape)
    # Words that stay as they are bring the average of their effects along: see `estimates`.
    for scope, table in (
        ("both", mean),
        ("targets", mean + of_attributes),
        ("attributes", mean + of_targets),
    ):
        yield scope, (table * weights).sum(axis=(1, 2))


def _describe(draws: np.ndarray, truth: float) -> Record:
    lower, upper = np.quantile(draws, _INTERVAL)
    positive = float((draws > 0).mean())
    return {
        "mean": float(draws.mean()),
        "sd": float(draws.std()),
        "lower": float(lower),
        "upper": float(upper),
        "p_value": 2 * min(positive, 1 - positive),
        "rank": float((draws < truth).mean()),
    }
