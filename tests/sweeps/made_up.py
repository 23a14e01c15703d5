"""Sweeps that nobody computed: cells of known truth, of any number."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias import Sampling
from bayes_bias.results.many_lists import holm
from bayes_bias.sweeps.asked import Asked
from bayes_bias.sweeps.found import Sweep

TAUS = {"embedding": 0.02, "list": 0.03, "interaction": 0.015}


def truth(
    rng: np.random.Generator, embeddings: int, lists: int, taus: dict[str, float] = TAUS, mu: float = 0.03
) -> NDArray[np.float64]:
    """True biases of the cells, (embedding, list)."""
    effects = {name: taus[name] * rng.standard_normal(size) for name, size in (("embedding", embeddings), ("list", lists))}
    interaction = taus["interaction"] * rng.standard_normal((embeddings, lists))
    return mu + effects["embedding"][:, None] + effects["list"] + interaction


def made_cells(
    rng: np.random.Generator, theta: NDArray[np.float64], common: float = 0.5, sd: float = 0.012
) -> pd.DataFrame:
    """What posteriors would say of such truths, with errors of which a share is common to all embeddings."""
    sds = sd * rng.uniform(0.6, 1.6, theta.shape[1]) * rng.uniform(0.9, 1.1, theta.shape)
    error = np.sqrt(common) * rng.standard_normal(theta.shape[1]) + np.sqrt(1 - common) * rng.standard_normal(theta.shape)
    names = [f"embedding {k}" for k in range(theta.shape[0])], [f"list {k}" for k in range(theta.shape[1])]
    index = pd.MultiIndex.from_product(names, names=["embedding", "list"])
    bias, sds = (theta + sds * error).ravel(), sds.ravel()
    return pd.DataFrame({"bias": bias, "sd": sds, "within_sd": 0.05}, index=index)


def made_sweep(embeddings: int = 3, lists: int = 4, seed: int = 1, **changed: Any) -> Sweep:
    """A sweep with all that a page shows: what is missing, not converged, screened alone."""
    from scipy.stats import norm

    rng = np.random.default_rng(seed)
    cells = made_cells(rng, truth(rng, embeddings, lists))
    z = norm.ppf(0.975)
    chance = 2 * norm.sf((cells.bias / cells.sd).abs())
    verdict = np.select([chance < 0.05, chance < 0.1], ["distinguishable", "borderline"], "not distinguishable")
    cells = cells.assign(
        lower=cells.bias - z * cells.sd, upper=cells.bias + z * cells.sd, chance=chance, verdict=verdict,
        source="posterior", observed=cells.bias, noise_sd=cells.sd, r_hat=1.001, ess_bulk=2000.0, ess_tail=1500.0,
        divergences=0.0, prior_sensitivity=0.01, problems="", chance_screened=chance,
        share_of_targets=0.3, share_of_attributes=0.5, share_of_residual=0.2,
    )
    at = [name for name, where in zip(("failed", "unconverged", "screened"), (1, 5, 7), strict=True) if where < len(cells)]
    for name, where in zip(at, (1, 5, 7), strict=False):
        row = cells.index[where]
        if name == "failed":
            cells.loc[row, ["bias", "sd", "lower", "upper", "chance"]] = np.nan
            cells.loc[row, ["verdict", "source"]] = ["failed", ""]
        elif name == "unconverged":
            cells.loc[row, ["verdict", "problems", "chance"]] = ["not converged", "R-hat up to 1.030 (should be at most 1.01)", np.nan]
        else:
            cells.loc[row, ["verdict", "source", "chance"]] = ["screened only", "quasi-F", np.nan]
    there = cells.source != ""
    cells["chance_holm"] = np.nan
    cells.loc[there, "chance_holm"] = holm(cells.chance[there].to_numpy())
    cells["survives"] = (cells.verdict == "distinguishable") & (cells.chance_holm < 0.05)
    names = [tuple(cells.index.unique(level)) for level in (0, 1)]
    lost = [(names[0][0], names[1][-1], "math", 8, 7, "geometry")]
    failed = [(*cells.index[1], "crossed", "group 'math': 4 of 8 words have no usable vector in embedding 0")] if "failed" in at else []
    return Sweep(
        asked=Asked.checked(["crossed"], (), "all", "all", 0.95, 1, Sampling(draws=1000, tune=500, target_accept=0.9)),
        embeddings=names[0],
        lists=names[1],
        sources=pd.DataFrame({"source": "vectors.txt (text)", "dimensions": 300, "replicates": 0}, pd.Index(names[0], name="embedding")),
        cells=cells,
        posteriors=pd.concat({"crossed": cells}, names=["model"]),
        screening=cells[["bias", "sd", "chance"]],
        measures=pd.DataFrame(index=pd.MultiIndex.from_arrays([[], [], []], names=["embedding", "list", "measure"])),
        coverage=pd.DataFrame(lost, columns=["embedding", "list", "name", "asked", "found", "lost"]),
        failures=pd.DataFrame(failed, columns=["embedding", "list", "what", "reason"]),
        versions=({"bayes-bias": "0.1.0"},),
    )
