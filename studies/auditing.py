"""Every list in every embedding, next to WEAT and the quasi-F, and under other priors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

import bayes_bias as bb

SEED = 1
# The scales of words' preferences decide how wide an interval is; their prior means are halved and doubled.
_PREFERENCES = ("sd_target_preference", "sd_attribute_preference")
_RATES = {"half": 5.0, "double": 1.25}
# Verdicts that have to hold under these priors, too.
_CLAIMS = ("distinguishable", "borderline")

type Tables = Mapping[tuple[str, str], bb.AssociationTable]


def _priors() -> list[bb.ModelSpec]:
    """The default model with preferences of words expected to be half, and twice, as large."""
    default = bb.load_spec("crossed")
    return [_with_rate(default, name, rate) for name, rate in _RATES.items()]


def _with_rate(spec: bb.ModelSpec, name: str, rate: float) -> bb.ModelSpec:
    for scale in _PREFERENCES:
        spec = spec.with_prior(scale, "Exponential", lam=rate)
    return replace(spec, name=name)


def audit(
    embeddings: Mapping[str, Any], lists: Sequence[Any], kept: Path, jobs: int, similarity: str = "cosine"
) -> tuple[bb.Sweep, pd.DataFrame]:
    """Every list in every embedding, its cells beside WEAT and the quasi-F, and what is found under other priors."""
    found = swept(embeddings, lists, kept, jobs, similarity, measures=["WEAT"])
    by_name = {bb.load_wordlist(words).name: words for words in lists}
    tables = {
        (name, words): bb.similarities(by_name[words], embeddings[name], (), similarity=similarity, allow_loss=True)
        for name, words in found.screening.index
    }
    cells = cells_of(found, tables)
    claims = [*cells.index[cells.verdict.isin(_CLAIMS)]]
    if claims:
        other = swept(embeddings, lists, kept, jobs, similarity, models=_priors(), posteriors=claims).posteriors
        for name in _RATES:
            columns = other.loc[name][["eti95_lb", "eti95_ub", "verdict"]].set_axis(["lb", "ub", "verdict"], axis=1)
            cells = cells.join(columns.add_prefix(f"{name}_"))
    return found, cells


def swept(
    embeddings: Mapping[str, Any], lists: Sequence[Any], kept: Path, jobs: int, similarity: str = "cosine", **more: Any
) -> bb.Sweep:
    """`bb.sweep` without control classes, resumed from the folder `kept`."""
    grid = bb.Grid(lists, embeddings, controls=(), similarity=similarity, allow_loss=True)
    return bb.sweep(grid, seed=SEED, folder=kept, jobs=jobs, **more)


def cells_of(found: bb.Sweep, tables: Tables) -> pd.DataFrame:
    """The cells of a sweep beside WEAT and the quasi-F; a row for each.

    ``variance_ratio`` is how much larger the sampling variance of the bias is with attributes as samples beside
    targets than with targets alone, as in WEAT's test; both by the quasi-F.
    """
    columns = ["bias", "sd", "ci95_lb", "ci95_ub", "chance", "chance_holm", "verdict", "survives", "within_sd"]
    diagnostics = ["prior_sensitivity", "r_hat", "ess_bulk", "divergences", "sampled_again"]
    shares = [column for column in found.cells if column.startswith("share_of_")]
    cells = found.cells[columns + shares + diagnostics].copy()
    weat = found.measures.xs("WEAT", level="measure")
    cells["weat_d"], cells["weat_p"] = weat["value"], weat["p_value"]
    beside = pd.DataFrame.from_dict({at: _beside(table) for at, table in tables.items()}, orient="index")
    beside.index = pd.MultiIndex.from_tuples(beside.index, names=cells.index.names)
    return cells.join(beside)[cells.verdict != "failed"]


def _beside(table: bb.AssociationTable) -> dict[str, float]:
    both, targets = bb.measures.quasi_f(table), bb.measures.quasi_f(table, "targets")
    counts = pd.concat([table.values[side].to_series().value_counts() for side in ("group", "attribute_class")])
    return {f"n_{name}".replace(" ", "_"): int(count) for name, count in counts.sort_index().items()} | {
        "quasi_f_p": both.p_value,
        "quasi_f_se": both.se,
        "quasi_f_df": both.df,
        "quasi_f_se_targets": targets.se,
        "variance_ratio": (both.se / targets.se) ** 2,
    }
