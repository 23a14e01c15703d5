"""Sweeps that nobody computed: cells of known truth, of any number."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import norm

from bayes_bias.analyses.sweep.ranking import rank_versions
from bayes_bias.analyses.sweep.results import Sweep
from bayes_bias.analyses.sweep.spec_file import SweepSettings
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.posterior.holm import holm
from benchmarks.atlases import made_cells, truth

# What becomes of a few cells, by their places.
_FAILED = {"bias": np.nan, "sd": np.nan, "ci95_lb": np.nan, "ci95_ub": np.nan, "verdict": "failed", "source": ""}
_UNCONVERGED = {"verdict": "not converged", "problems": "R-hat up to 1.030 (should be at most 1.01)"}
_SCREENED = {"verdict": "screened only", "source": "quasi-F"}
_ODD = {1: _FAILED, 5: _UNCONVERGED, 7: _SCREENED}


def made_sweep(embeddings: int = 3, lists: int = 4, seed: int = 1, versions: Sequence[str] = ()) -> Sweep:
    """A sweep with all that a page shows: what is missing, not converged, screened alone, versions."""
    rng = np.random.default_rng(seed)
    cells = _cells(made_cells(rng, truth(rng, embeddings, lists))[0]).assign(version_of="")
    names, words = cells.index.unique("embedding"), cells.index.unique("list")
    failed = cells.index[cells.source == ""].to_frame(index=False)
    changes = pd.concat([_changes(cells, version, rng) for version in versions]) if versions else _changes(cells[:0])
    after = [_after(cells, changes, version) for version in versions]
    columns = []
    for name in names:
        columns += [name, *(f"{name}, {version}" for version in versions)]
    every = pd.MultiIndex.from_product([columns, words], names=cells.index.names)
    origin = {"source": "vectors.txt (text)", "dimensions": 300, "replicates": 0}
    sources = pd.DataFrame(origin, index=pd.Index(columns, name="embedding"))
    parts = sources.index.to_series().str.partition(", ")
    return Sweep(
        settings=SweepSettings.checked(["crossed"], (), "all", "all", 0.95, 1, Sampling()),
        embeddings=tuple(columns),
        lists=tuple(words),
        sources=sources.assign(version_of=parts[0].where(parts[2] != "", ""), version=parts[2]),
        cells=pd.concat([cells, *after]).loc[every],
        changes=changes,
        posteriors=pd.concat({"crossed": cells}, names=["model"]),
        screening=cells[["bias", "sd", "chance"]],
        measures=pd.DataFrame(),
        words=pd.DataFrame(columns=["role", "name", "word"]),
        coverage=pd.DataFrame(
            [(names[0], words[-1], "math", 8, 7, "geometry", "Maths: maths", "")],
            columns=["embedding", "list", "name", "asked", "found", "lost", "respelt", "from_subwords"],
        ),
        failures=failed.assign(what="crossed", reason="half of the words have no vector"),
        software=({"bayes-bias": "0.1.0"},),
        ranking=rank_versions(cells, changes, {}, {}) if versions else None,
    )


def _changes(cells: pd.DataFrame, version: str = "", rng: np.random.Generator | None = None) -> pd.DataFrame:
    """A version that takes about half of each bias away."""
    share = 0.5 if rng is None else rng.uniform(0.3, 1.0)
    rows = cells.assign(
        version=version,
        before=cells.bias,
        after=(1 - share) * cells.bias,
        change=-share * cells.bias,
        sd=cells.sd / 3,
        control="men, neutral",
        control_moved=0.01,
        taught=0,
        control_eti95_lb=-0.01,
        control_eti95_ub=0.03,
        column=cells.index.get_level_values("embedding") + f", {version}",
    )
    rows["ci95_lb"], rows["ci95_ub"] = rows.change - 1.96 * rows.sd, rows.change + 1.96 * rows.sd
    return rows.drop(columns="bias").set_index("version", append=True).reorder_levels([0, 2, 1])


def _after(cells: pd.DataFrame, changes: pd.DataFrame, version: str) -> pd.DataFrame:
    """The cells of a version."""
    rows = changes.xs(version, level="version")
    of = cells.index.get_level_values("embedding")
    after = cells.assign(bias=rows.after, version_of=of, ci95_lb=rows.after - 0.02, ci95_ub=rows.after + 0.02)
    return after.rename(index={name: f"{name}, {version}" for name in of.unique()}, level="embedding")


def _cells(made: pd.DataFrame) -> pd.DataFrame:
    """Cells with the columns of a sweep, a few of which failed."""
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
        sampled=False,
        sampled_again=False,
    )
    for place, odd in _ODD.items():
        if place < len(cells):
            cells.loc[cells.index[place], [*odd, "chance"]] = [*odd.values(), np.nan]
    has_numbers = cells.source != ""
    cells["chance_holm"] = np.nan
    cells.loc[has_numbers, "chance_holm"] = holm(cells.chance[has_numbers].to_numpy())
    return cells.assign(survives=(cells.verdict == "distinguishable") & (cells.chance_holm < 0.05))
