"""The document of a sweep: the atlas of every list in every embedding, and files for other programs."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

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

# The maximum number of rows in a table of the page. All rows are in cells.csv.
_MOST_ROWS = 500
# The maximum number of embeddings or lists for which the page shows a matrix of pairwise probabilities.
_MOST_BESIDE = 12


_SIDES = ("embedding", "list")


def sweep_document(sweep: Sweep) -> Document:
    """Return the document of a sweep."""
    methods = _methods(sweep)
    heading = f"Which {sweep.noun}s are biased, on which lists, and how sure can you be?"
    if len(sweep.originals) == 1 and len(sweep.changes):
        heading = f"Changes from each version of {sweep.originals[0]}"
    opening = {"answer": sweep.text}
    if sweep.ranking is not None and _is_about_versions(sweep):
        opening = {"answer": sweep.ranking.text, "lede": sweep.text}
    return Document(
        title=f"Atlas: {counted(len(sweep.originals), sweep.noun)}, {counted(len(sweep.lists), 'list')}",
        kicker="Atlas",
        heading=heading,
        opening=opening,
        sections=_sections(sweep, methods),
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
        figures=_figures(sweep),
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
            "versions": list(map(dict, sweep.software)),
            "sources": sweep.sources.to_dict("index"),
        },
        look="atlas",
        sortable=True,
    )


def _is_about_versions(sweep: Sweep) -> bool:
    """Return True if the main result is the ranking of the versions of a single embedding."""
    return sweep.ranking is not None and len(sweep.originals) == 1


def _sections(sweep: Sweep, methods: Methods) -> tuple[PageSection | None, ...]:
    """Return the sections of the page."""
    sections, versions = [], []
    if len(sweep.changes):
        facts = {"changes": changes_layout(sweep, _rows(sweep.changes)), "ranking": sweep.ranking}
        versions.append(PageSection("versions", "Changes from each version", "atlas-versions.html", facts))
    if _is_about_versions(sweep):
        sections += versions
    sections.append(PageSection("matrix", f"Every list in every {sweep.noun}", "atlas-matrix.html"))
    if _rankings(sweep):
        sections.append(PageSection("ranking", "Who is more biased", "atlas-ranking.html", _ranking_facts(sweep)))
    if sweep.series:
        slugs = {name: slug(name) for name in sweep.series}
        sections.append(PageSection("over-time", "Over time", "atlas-over-time.html", {"slugs": slugs}))
    if not _is_about_versions(sweep):
        sections += versions
    cells = cells_layout(sweep, _rows(sweep.cells))
    sections.append(PageSection("cells", "All cells", "atlas-cells.html", {"cells": cells}))
    if len(sweep.settings.specs) > 1:
        others = _other_models(sweep)
        sections.append(PageSection("models", "Other models", "atlas-models.html", {"others": others}))
    if len(sweep.measures):
        measured = _measured(sweep)
        sections.append(PageSection("measures", "Other measures", "atlas-measures.html", {"measured": measured}))
    sections.append(PageSection("coverage", "Missing results", "atlas-coverage.html"))
    return (*sections, methods_section(methods), PageSection("provenance", "Provenance", "atlas-provenance.html"))


def _figures(sweep: Sweep) -> dict[str, Callable[[], Axes]]:
    """Return the figures of the page by name."""
    figures: dict[str, Callable[[], Axes]] = {"atlas": partial(plot_atlas, sweep)}
    for side in _rankings(sweep):
        figures[f"ranking-{side}s"] = partial(plot_ranking, sweep, side)
    for name, series in sweep.series.items():
        figures[f"over-time-{slug(name)}"] = partial(plot_over_time, series)
    if len(sweep.changes):
        figures["changes"] = partial(plot_changes, sweep)
    if sweep.ranking:
        figures["removal"] = partial(plot_removal, sweep)
        if set(sweep.ranking.table.index) <= set(sweep.damage):
            figures["cost"] = partial(plot_cost, sweep)
    return figures


def _methods(sweep: Sweep) -> Methods:
    """Return the methods text."""
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
    """Return the ranking of embeddings and the ranking of lists, by decreasing mean bias.

    A ranking with fewer than two rows is omitted.
    """
    rankings: dict[Side, pd.DataFrame] = {}
    if sweep.pooled is not None:
        if len(sweep.pooled.embeddings) > 1:
            rankings["embedding"] = sweep.pooled.embeddings.sort_values("mean", ascending=False)
        if len(sweep.pooled.lists) > 1:
            rankings["list"] = sweep.pooled.lists.sort_values("mean", ascending=False)
    return rankings


def _ranking_facts(sweep: Sweep) -> dict[str, Any]:
    """Return the rankings, and matrices of pairwise probabilities for rankings that are not too long."""
    assert sweep.pooled is not None
    ranks = _rankings(sweep)
    beside = {}
    for side, frame in ranks.items():
        if len(frame) <= _MOST_BESIDE:
            beside[side] = sweep.pooled.more_biased[side].loc[frame.index, frame.index]
    return {"ranks": ranks, "beside": beside, "called": {"embedding": sweep.noun, "list": "list"}}


def _rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that the page shows (smallest adjusted probabilities), in the order of the figure."""
    rows = cells.sort_values("chance_holm", kind="stable").head(_MOST_ROWS)
    return cells[cells.index.isin(rows.index)]


def _other_models(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the differences between the cells of each further model and of the first model."""
    first, *others = (spec.name for spec in sweep.settings.specs)
    fitted = set(sweep.posteriors.index.get_level_values("model"))
    differences: list[dict[str, Any]] = []
    for name in others:
        if not {first, name} <= fitted:
            differences.append({"name": name, "cells": 0})
            continue
        ours, theirs = sweep.posteriors.xs(first).align(sweep.posteriors.xs(name), join="inner", axis=0)
        differences.append(
            {
                "name": name,
                "cells": len(ours),
                "changed": int((ours.verdict != theirs.verdict).sum()),
                "moved": float(((theirs.bias - ours.bias).abs() / ours.sd).max()),
                "wider": float((theirs.sd / ours.sd).median()),
            }
        )
    return differences


def _measured(sweep: Sweep) -> pd.DataFrame:
    """Return the mean of each measure over cells, and the number of its significant tests."""
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
    """Return the tables that are saved as CSV files next to the page, by name."""
    frames = {
        "cells": cells_with_pooled(sweep),
        "posteriors": sweep.posteriors,
        "screening": sweep.screening,
        "measures": sweep.measures,
        "coverage": sweep.coverage,
        "failures": sweep.failures,
    }
    if sweep.series:
        frames["over-time"] = pd.concat({name: s.table for name, s in sweep.series.items()}, names=["list"])
    if sweep.alike is not None:
        frames["alike"] = sweep.alike.table
    if len(sweep.changes):
        frames["changes"] = sweep.changes
    if sweep.ranking is not None:
        frames["removal"] = sweep.ranking.table
        frames["better"] = _long(sweep.ranking.better)
        frames["paired"] = sweep.ranking.paired
    if sweep.damage:
        frames["damage"] = pd.DataFrame.from_dict({name: cost.numbers for name, cost in sweep.damage.items()}, "index")
    if sweep.pooled is not None:
        pairs = {side: _long(table) for side, table in sweep.pooled.more_biased.items()}
        effects = {"effect": sweep.pooled.effects, "share of variance": sweep.pooled.shares}
        frames["embeddings"] = sweep.pooled.embeddings.rename_axis("embedding")
        frames["lists"] = sweep.pooled.lists.rename_axis("list")
        frames["effects"] = pd.concat(effects, names=["what", "of"])
        frames["more-biased"] = pd.concat(pairs, names=["of"]).reset_index("of")
    return frames


def cells_with_pooled(sweep: Sweep) -> pd.DataFrame:
    """Return the cells with their pooled estimates, which are missing for versions."""
    return sweep.cells if sweep.pooled is None else sweep.cells.join(sweep.pooled.cells.add_prefix("pooled_"))


def _long(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each pair. (`melt` raises an error for an embedding with the name "more".)"""
    rows = [(more, less, share) for less, column in table.items() for more, share in column.items()]
    return pd.DataFrame(rows, columns=["more", "less", "probability"]).dropna()


def _save_cells(sweep: Sweep, path: Path) -> None:
    """Write the cells as Parquet."""
    cells_with_pooled(sweep).reset_index().to_parquet(path, engine="pyarrow", index=False)


def _save_arrays(sweep: Sweep, path: Path) -> None:
    """Write the arrays as NetCDF."""
    path.write_bytes(netcdf(xr.DataTree(arrays(sweep))))


def arrays(sweep: Sweep) -> xr.Dataset:
    """Return the cells and the pooled model as arrays (embedding, list), for xarray and R."""
    variables: dict[str, Any] = {}
    for name, column in sweep.cells.items():
        kind: Any = float if pd.api.types.is_numeric_dtype(column) else str
        if column.dtype == bool:
            kind = np.int8
        variables[str(name)] = (_SIDES, sweep.matrix(str(name)).to_numpy().astype(kind))
    if (pooled := sweep.pooled) is not None:
        for name in ("mean", "sd", *interval_columns(pooled.cells)):
            frame = wide_of(pooled.cells[name], sweep.embeddings, sweep.lists)
            variables[f"pooled_{name}"] = (_SIDES, frame.to_numpy())
        for name, column in pooled.embeddings.reindex(sweep.embeddings).items():
            variables[f"embedding_{name}"] = ("embedding", column.to_numpy())
        for name, column in pooled.lists.reindex(sweep.lists).items():
            variables[f"list_{name}"] = ("list", column.to_numpy())
    dataset = xr.Dataset(variables, {"embedding": list(sweep.embeddings), "list": list(sweep.lists)})
    return dataset.assign_attrs(ci_prob=sweep.settings.ci_prob, scope=sweep.settings.scope, unit=sweep.metric.unit)
