"""Sweeps that nobody computed: cells of known truth, of any number."""

import numpy as np
import pandas as pd
from scipy.stats import norm

from bayes_bias.posterior.holm import holm
from bayes_bias.sweeps.sweep_results import Sweep
from bayes_bias.sweeps.sweep_settings import SAMPLING, SweepSettings
from benchmarks.atlases import made_cells, truth

# What becomes of a few cells, by their places.
_FAILED = {"bias": np.nan, "sd": np.nan, "ci95_lb": np.nan, "ci95_ub": np.nan, "verdict": "failed", "source": ""}
_UNCONVERGED = {"verdict": "not converged", "problems": "R-hat up to 1.030 (should be at most 1.01)"}
_SCREENED = {"verdict": "screened only", "source": "quasi-F"}
_ODD = {1: _FAILED, 5: _UNCONVERGED, 7: _SCREENED}


def made_sweep(embeddings: int = 3, lists: int = 4, seed: int = 1) -> Sweep:
    """A sweep with all that a page shows: what is missing, not converged, screened alone."""
    rng = np.random.default_rng(seed)
    cells = _cells(made_cells(rng, truth(rng, embeddings, lists))[0])
    names = [tuple(cells.index.unique(level)) for level in cells.index.names]
    failed = [(*at, "crossed", "half of the words have no vector") for at in cells.index[cells.source == ""]]
    origin = {"source": "vectors.txt (text)", "dimensions": 300, "replicates": 0}
    return Sweep(
        settings=SweepSettings.checked(["crossed"], (), "all", "all", 0.95, 1, SAMPLING),
        embeddings=names[0],
        lists=names[1],
        sources=pd.DataFrame(origin, index=pd.Index(names[0], name="embedding")),
        cells=cells,
        posteriors=pd.concat({"crossed": cells}, names=["model"]),
        screening=cells[["bias", "sd", "chance"]],
        measures=pd.DataFrame(),
        coverage=pd.DataFrame(
            [(names[0][0], names[1][-1], "math", 8, 7, "geometry")],
            columns=["embedding", "list", "name", "asked", "found", "lost"],
        ),
        failures=pd.DataFrame(failed, columns=["embedding", "list", "what", "reason"]),
        versions=({"bayes-bias": "0.1.0"},),
    )


def _cells(made: pd.DataFrame) -> pd.DataFrame:
    z, chance = norm.ppf(0.975), 2 * norm.sf((made.bias / made.sd).abs())
    labels = ["distinguishable", "borderline"]
    cells = made.assign(
        ci95_lb=made.bias - z * made.sd,
        ci95_ub=made.bias + z * made.sd,
        chance=chance,
        source="posterior",
        verdict=np.select([chance < 0.05, chance < 0.1], labels, "not distinguishable"),
        problems="",
        share_of_targets=0.3,
    )
    for place, odd in _ODD.items():
        if place < len(cells):
            cells.loc[cells.index[place], [*odd, "chance"]] = [*odd.values(), np.nan]
    there = cells.source != ""
    cells["chance_holm"] = np.nan
    cells.loc[there, "chance_holm"] = holm(cells.chance[there].to_numpy())
    return cells.assign(survives=(cells.verdict == "distinguishable") & (cells.chance_holm < 0.05))
