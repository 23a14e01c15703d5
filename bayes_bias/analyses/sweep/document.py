"""A sweep as a document: the atlas of every list in every embedding, and files that any program can open."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.analyses.sweep.layouts import cells_layout, changes_layout, ranking_layout
from bayes_bias.analyses.sweep.plots import Side, plot_atlas, plot_changes, plot_cost, plot_ranking, plot_removal
from bayes_bias.analyses.sweep.results import Sweep, wide_of
from bayes_bias.documents.document import Document, PageSection, methods_section, priors_of
from bayes_bias.documents.methods import Methods, cited_spec, sources_of
from bayes_bias.embeddings.packaged import packaged_sources
from bayes_bias.files import slug
from bayes_bias.fitting.storage import netcdf
from bayes_bias.formatting import counted, level
from bayes_bias.plots import plot_over_time
from bayes_bias.table.columns import interval_columns

# More rows than that nobody reads on a page; all of them are in cells.csv.
_MOST_ROWS = 500
# Of probabilities that one is more biased than the other, shown side by side.
_MOST_BESIDE = 12


def sweep_document(sweep: Sweep) -> Document:
    """The document of a sweep."""
    ranks, measured, others = _rankings(sweep), _measured(sweep), sweep.settings.specs[1:]
    methods = _methods(sweep)
    # Of versions of one embedding the question is which of them leaves least.
    ranked = sweep.ranking if len(sweep.originals) == 1 else None
    return Document(
        title=f"Atlas: {counted(len(sweep.originals), sweep.noun)}, {counted(len(sweep.lists), 'list')}",
        kicker="Atlas",
        heading=_heading(sweep),
        opening={"answer": ranked.text, "lede": sweep.text} if ranked else {"answer": sweep.text},
        sections=(
            _versions_section(sweep) if ranked else None,
            PageSection("matrix", f"Every list in every {sweep.noun}", "atlas-matrix.html"),
            PageSection("ranking", "Who is more biased", "atlas-ranking.html", _ranking_facts(sweep))
            if ranks
            else None,
            PageSection("over-time", "Over time", "atlas-over-time.html", {"slugs": _slugs(sweep)})
            if sweep.series
            else None,
            _versions_section(sweep) if len(sweep.changes) and not ranked else None,
            PageSection("cells", "All cells", "atlas-cells.html", {"cells": cells_layout(sweep, _rows(sweep.cells))}),
            PageSection("models", "Other models", "atlas-models.html", {"others": _other_models(sweep)})
            if others
            else None,
            PageSection("measures", "Other measures", "atlas-measures.html", {"measured": measured})
            if len(measured)
            else None,
            PageSection("coverage", "Missing results", "atlas-coverage.html"),
            methods_section(methods),
            PageSection("provenance", "Provenance", "atlas-provenance.html"),
        ),
        facts={
            "sweep": sweep,
            "pooled": sweep.pooled,
            "cells": cells_layout(sweep, sweep.cells),
            "changes": changes_layout(sweep, sweep.changes) if len(sweep.changes) else None,
            "ranking_of": partial(ranking_layout, sweep),
            "level": level(sweep.settings.ci_prob),
            "alpha": level(1 - sweep.settings.ci_prob),
            "decimals": sweep.metric.decimals,
        },
        figures={
            "atlas": partial(plot_atlas, sweep),
            **{f"ranking-{side}s": partial(plot_ranking, sweep, side) for side in ranks},
            **{f"over-time-{slug(name)}": partial(plot_over_time, series) for name, series in sweep.series.items()},
            **({"changes": partial(plot_changes, sweep)} if len(sweep.changes) else {}),
            **({"removal": partial(plot_removal, sweep)} if sweep.ranking else {}),
            **({"cost": partial(plot_cost, sweep)} if _has_costs(sweep) else {}),
        },
        latex="atlas.tex",
        tables=_tables(sweep),
        data={"atlas.nc": partial(_save_arrays, sweep), "cells.parquet": partial(_save_cells, sweep)},
        methods=methods,
        provenance={
            "scope": sweep.settings.scope,
            "ci_prob": sweep.settings.ci_prob,
            "seed": sweep.settings.seed,
            **vars(sweep.settings.sampling),
            "models": {spec.name: {"sha256": spec.sha256, "priors": priors_of(spec)} for spec in sweep.settings.specs},
            "versions": [dict(versions) for versions in sweep.software],
            "sources": sweep.sources.to_dict("index"),
        },
        look="atlas",
        sortable=True,
    )


def _slugs(sweep: Sweep) -> dict[str, str]:
    return {name: slug(name) for name in sweep.series}


def _has_costs(sweep: Sweep) -> bool:
    return sweep.ranking is not None and set(sweep.ranking.table.index) <= set(sweep.damage)


def _heading(sweep: Sweep) -> str:
    if len(sweep.originals) == 1 and len(sweep.changes):
        return f"Changes from each version of {sweep.originals[0]}"
    return f"Which {sweep.noun}s are biased, on which lists, and how sure can you be?"


def _methods(sweep: Sweep) -> Methods:
    spec = sweep.settings.specs[0]
    facts = {
        "sweep": sweep,
        "pooled": sweep.pooled,
        "asked": sweep.settings,
        "packaged": packaged_sources(set(sweep.sources.source)),
        **cited_spec(spec),
    }
    return Methods("methods-of-sweep.txt", facts, sources_of(spec))


def _rankings(sweep: Sweep) -> dict[Side, pd.DataFrame]:
    """Embeddings and lists from the most biased down, if there are two or more of them."""
    if sweep.pooled is None:
        return {}
    frames: dict[Side, pd.DataFrame] = {"embedding": sweep.pooled.embeddings, "list": sweep.pooled.lists}
    return {side: frame.sort_values("mean", ascending=False) for side, frame in frames.items() if len(frame) > 1}


def _ranking_facts(sweep: Sweep) -> dict[str, Any]:
    """Rankings, and the probabilities of every two side by side unless there are too many."""
    assert sweep.pooled is not None
    ranks, more = _rankings(sweep), sweep.pooled.more_biased
    beside = {
        side: more[side].loc[frame.index, frame.index] for side, frame in ranks.items() if len(frame) <= _MOST_BESIDE
    }
    return {"ranks": ranks, "beside": beside, "called": {"embedding": sweep.noun, "list": "list"}}


def _versions_section(sweep: Sweep) -> PageSection:
    facts = {"changes": changes_layout(sweep, _rows(sweep.changes)), "ranking": sweep.ranking}
    return PageSection("versions", "Changes from each version", "atlas-versions.html", facts)


def _rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Those that the page shows, in the order of the figure."""
    rows = cells.sort_values("chance_holm", kind="stable").head(_MOST_ROWS)
    return cells[cells.index.isin(rows.index)]


def _other_models(sweep: Sweep) -> list[dict[str, Any]]:
    by_model = dict(list(sweep.posteriors.groupby("model"))) if len(sweep.posteriors) else {}
    first, *others = (spec.name for spec in sweep.settings.specs)
    return [_difference(name, by_model.get(first), by_model.get(name)) for name in others]


def _difference(name: str, first: pd.DataFrame | None, other: pd.DataFrame | None) -> dict[str, Any]:
    if first is None or other is None:
        return {"name": name, "cells": 0}
    ours, theirs = first.droplevel("model").align(other.droplevel("model"), join="inner", axis=0)
    return {
        "name": name,
        "cells": len(ours),
        "changed": int((ours.verdict != theirs.verdict).sum()),
        "moved": float(((theirs.bias - ours.bias).abs() / ours.sd).max()),
        "wider": float((theirs.sd / ours.sd).median()),
    }


def _measured(sweep: Sweep) -> pd.DataFrame:
    if sweep.measures.empty:
        return pd.DataFrame()
    by_measure = sweep.measures.groupby("measure", sort=False)
    return pd.DataFrame(
        {
            "cells": by_measure.value.count(),
            "mean": by_measure.value.mean(),
            "tested": by_measure.p_value.count(),
            "significant": by_measure.p_value.agg(lambda p: int((p < 1 - sweep.settings.ci_prob).sum())),
        }
    )


def _tables(sweep: Sweep) -> dict[str, pd.DataFrame]:
    frames = {
        "cells": cells_with_pooled(sweep),
        "posteriors": sweep.posteriors,
        "screening": sweep.screening,
        "measures": sweep.measures,
        "coverage": sweep.coverage,
        "failures": sweep.failures,
    }
    if sweep.series:
        rows = {name: series.table for name, series in sweep.series.items()}
        frames["over-time"] = pd.concat(rows, names=["list"])
    if sweep.alike is not None:
        frames["alike"] = sweep.alike.table
    if len(sweep.changes):
        frames["changes"] = sweep.changes
    if sweep.ranking is not None:
        frames |= {
            "removal": sweep.ranking.table,
            "better": _long(sweep.ranking.better),
            "paired": sweep.ranking.paired,
        }
    if sweep.damage:
        frames["damage"] = pd.DataFrame.from_dict({name: each.numbers for name, each in sweep.damage.items()}, "index")
    if (pooled := sweep.pooled) is None:
        return frames
    pairs = {side: _long(table) for side, table in pooled.more_biased.items()}
    effects = {"effect": pooled.effects, "share of variance": pooled.shares}
    return frames | {
        "embeddings": pooled.embeddings.rename_axis("embedding"),
        "lists": pooled.lists.rename_axis("list"),
        "effects": pd.concat(effects, names=["what", "of"]),
        "more-biased": pd.concat(pairs, names=["of"]).reset_index("of"),
    }


def cells_with_pooled(sweep: Sweep) -> pd.DataFrame:
    """The cells as the page shows them: each with its estimate from all cells, which versions do not have."""
    return sweep.cells if sweep.pooled is None else sweep.cells.join(sweep.pooled.cells.add_prefix("pooled_"))


def _long(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each two. `melt` would refuse an embedding that is called "more"."""
    rows = [(more, less, share) for less, column in table.items() for more, share in column.items()]
    return pd.DataFrame(rows, columns=["more", "less", "probability"]).dropna()


def _save_cells(sweep: Sweep, path: Path) -> None:
    cells_with_pooled(sweep).reset_index().to_parquet(path, engine="pyarrow", index=False)


def _save_arrays(sweep: Sweep, path: Path) -> None:
    path.write_bytes(netcdf(xr.DataTree(arrays(sweep))))


def arrays(sweep: Sweep) -> xr.Dataset:
    """The cells and the pooled model as arrays, (embedding, list), for xarray and R."""
    cells, both = sweep.cells, ("embedding", "list")
    variables: dict[str, Any] = {
        name: (both, sweep.matrix(name).to_numpy().astype(_kind(cells[name]))) for name in cells
    }
    if (pooled := sweep.pooled) is not None:
        for column in ("mean", "sd", *interval_columns(pooled.cells)):
            frame = wide_of(pooled.cells[column], sweep.embeddings, sweep.lists)
            variables[f"pooled_{column}"] = (both, frame.to_numpy())
        for side, table in (
            ("embedding", pooled.embeddings.reindex(sweep.embeddings)),
            ("list", pooled.lists.reindex(sweep.lists)),
        ):
            variables |= {f"{side}_{column}": (side, table[column].to_numpy()) for column in table}
    dataset = xr.Dataset(variables, {"embedding": list(sweep.embeddings), "list": list(sweep.lists)})
    return dataset.assign_attrs(ci_prob=sweep.settings.ci_prob, scope=sweep.settings.scope, unit=sweep.metric.unit)


def _kind(column: "pd.Series[Any]") -> Any:
    if column.dtype == bool:
        return np.int8
    return float if pd.api.types.is_numeric_dtype(column) else str
