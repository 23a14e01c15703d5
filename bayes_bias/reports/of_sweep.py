"""A sweep as an atlas: one page, and files that need nothing of this package to be opened."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.formatting import bounds, probability, signed
from bayes_bias.plots.atlas import plot_atlas
from bayes_bias.plots.ranking import Side, plot_ranking, rank_interval
from bayes_bias.reports import figures, provenance
from bayes_bias.reports.folder import PAGE, write_contents, write_folder
from bayes_bias.reports.html import MARKS, data_uri
from bayes_bias.reports.methods import Methods
from bayes_bias.reports.references import key_of
from bayes_bias.reports.templating import own_file, render_html, render_latex
from bayes_bias.results.spreadsheets import csv_text
from bayes_bias.results.summary import CHANCE
from bayes_bias.sweeps import Sweep
from bayes_bias.sweeps.found import FAILED, NOT_FITTED, wide_of

# More rows than that nobody reads on a page; all of them are in cells.csv.
_MOST_ROWS = 500
# Of probabilities that one is more biased than the other, shown side by side.
_MOST_BESIDE = 12

_MARKS: Mapping[str, str] = {
    **{str(label): mark for label, mark in MARKS.items()},
    NOT_FITTED: "◇",
    FAILED: "—",
}
_RANKED: Mapping[Side, str] = {"embedding": "embeddings", "list": "lists"}


def write_sweep(found: Sweep, out: Path, overwrite: bool, formats: Sequence[str]) -> Path:
    """Render it into a folder; see `write`."""
    return write_folder(out, lambda folder: _render(found, folder, formats), overwrite)


def _render(found: Sweep, folder: Path, formats: Sequence[str]) -> None:
    drawn = {"atlas": plot_atlas(found)}
    sides = [side for side in _RANKED if _is_ranked(found, side)]
    drawn |= {f"ranking-{_RANKED[side]}": plot_ranking(found, side) for side in sides}
    images = {
        name: data_uri(svg) for name, svg in figures.write_figures(drawn, folder / "figures", formats).items()
    }
    methods = _methods(found)
    texts = {
        PAGE: _page(found, images, methods),
        "tables.tex": _latex(found),
        **methods.files,
        **{
            f"{name}.csv": csv_text(frame, index=frame.index.names != [None])
            for name, frame in _frames(found).items()
        },
    }
    data(found).to_netcdf(folder / "atlas.nc", engine="h5netcdf")
    found.cells.reset_index().to_parquet(folder / "cells.parquet", engine="pyarrow", index=False)
    write_contents(folder, {}, texts, provenance.of_sweep(found))


def _frames(found: Sweep) -> dict[str, pd.DataFrame]:
    """Every table, as CSV has it."""
    frames = {
        "cells": found.cells,
        "posteriors": found.posteriors,
        "screening": found.screening,
        "measures": found.measures,
        "coverage": found.coverage,
        "failures": found.failures,
    }
    if (pooled := found.pooled) is None:
        return frames
    pairs = {side: _long(table) for side, table in pooled.more_biased.items()}
    return frames | {
        "embeddings": pooled.embeddings.rename_axis("embedding"),
        "lists": pooled.lists.rename_axis("list"),
        "effects": pd.concat(
            {"effect": pooled.effects, "share of variance": pooled.shares}, names=["what", "of"]
        ),
        "more-biased": pd.concat(pairs, names=["of"]).reset_index("of"),
    }


def _long(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each two."""
    long = table.rename_axis(index="more", columns="less").reset_index()
    return long.melt("more", value_name="probability").dropna()


def data(found: Sweep) -> xr.Dataset:
    """The cells and the pooled model as arrays, (embedding, list), for xarray and R."""
    cells = found.cells
    wide = {name: found.matrix(name) for name in cells}
    variables: dict[str, Any] = {
        name: (("embedding", "list"), frame.to_numpy().astype(_kind(cells[name])))
        for name, frame in wide.items()
    }
    if found.pooled is not None:
        for column in ("mean", "sd", "lower", "upper"):
            frame = wide_of(found.pooled.cells[column], found.embeddings, found.lists)
            variables[f"pooled_{column}"] = (("embedding", "list"), frame.to_numpy())
        for side, frame in (("embedding", found.pooled.embeddings), ("list", found.pooled.lists)):
            own = frame.reindex(found.embeddings if side == "embedding" else found.lists)
            variables |= {f"{side}_{column}": (side, own[column].to_numpy()) for column in own}
    made = xr.Dataset(variables, {"embedding": list(found.embeddings), "list": list(found.lists)})
    return made.assign_attrs(
        ci_prob=found.asked.ci_prob, scope=found.asked.scope, unit=found.association.unit
    )


def _kind(column: "pd.Series[Any]") -> Any:
    if column.dtype == bool:
        return np.int8
    return float if pd.api.types.is_numeric_dtype(column) else str


def _is_ranked(found: Sweep, side: Side) -> bool:
    return found.pooled is not None and len(getattr(found.pooled, _RANKED[side])) > 1


def _page(found: Sweep, images: Mapping[str, str], methods: Methods) -> str:
    shown = found.cells.sort_values("chance_holm", kind="stable").head(_MOST_ROWS)
    return render_html(
        "atlas.html",
        found=found,
        pooled=found.pooled,
        images=images,
        methods=methods,
        rows=_in_order(found, shown),
        pairs={side: _pairs(found, side) for side in _RANKED if _is_ranked(found, side)},
        ranks={
            side: frame.sort_values("mean", ascending=False)
            for side, frame in _rankings(found).items()
            if _is_ranked(found, side)
        },
        other_models=[_other_model(found, spec.name) for spec in found.asked.specs[1:]],
        measured=_measured(found),
        css=own_file("style.css"),
        script=own_file("sort.js"),
        marks=_MARKS,
        bounds=bounds,
        rank_interval=rank_interval,
        decimals=found.association.decimals,
        chance_name=CHANCE,
        provenance=provenance.of_sweep(found),
    )


def _in_order(found: Sweep, shown: pd.DataFrame) -> pd.DataFrame:
    """As the figure has them."""
    return found.cells[found.cells.index.isin(shown.index)]


def _rankings(found: Sweep) -> dict[Side, pd.DataFrame]:
    return {} if found.pooled is None else {"embedding": found.pooled.embeddings, "list": found.pooled.lists}


def _pairs(found: Sweep, side: Side) -> pd.DataFrame | None:
    """Probabilities side by side, from the most biased down; None where there are too many."""
    assert found.pooled is not None
    order = _rankings(found)[side].sort_values("mean", ascending=False).index
    return None if len(order) > _MOST_BESIDE else found.pooled.more_biased[side].loc[order, order]


def _other_model(found: Sweep, model: str) -> dict[str, Any]:
    """How far another model's verdicts and biases differ from those of the first."""
    ours, theirs = (
        found.posteriors.xs(name, level="model") if name in found.posteriors.index.unique("model") else None
        for name in (found.asked.specs[0].name, model)
    )
    if ours is None or theirs is None:
        return {"name": model, "cells": 0}
    both = ours.index.intersection(theirs.index)
    moved = (theirs.bias - ours.bias).reindex(both).abs() / ours.sd.reindex(both)
    return {
        "name": model,
        "cells": len(both),
        "changed": int((ours.verdict.reindex(both) != theirs.verdict.reindex(both)).sum()),
        "moved": float(moved.max()),
        "wider": float((theirs.sd / ours.sd).reindex(both).median()),
    }


def _measured(found: Sweep) -> pd.DataFrame:
    """For each measure how many cells it is defined on, and in how many it finds something."""
    if found.measures.empty:
        return pd.DataFrame()
    by_measure = found.measures.groupby("measure", sort=False)
    return pd.DataFrame(
        {
            "cells": by_measure.value.count(),
            "mean": by_measure.value.mean(),
            "tested": by_measure.p_value.count(),
            "found": by_measure.p_value.agg(lambda p: int((p < 1 - found.asked.ci_prob).sum())),
        }
    )


def _latex(found: Sweep) -> str:
    decimals = found.association.decimals
    rows = [
        {
            "embedding": embedding if k == 0 else "",
            "list": name,
            "verdict": row.verdict,
            "bias": signed(row.bias, decimals),
            "interval": bounds(row.lower, row.upper, decimals),
            "chance": probability(row.chance),
            "holm": probability(row.chance_holm),
        }
        for embedding in found.embeddings
        for k, (name, row) in enumerate(found.cells.loc[embedding].iterrows())
    ]
    written = {"rank_interval": rank_interval, "bounds": bounds, "decimals": decimals}
    return render_latex("atlas.tex", found=found, rows=rows, **written)


def _methods(found: Sweep) -> Methods:
    spec = found.asked.specs[0]
    sources = () if spec.reference is None else (spec.reference,)
    facts = {
        "found": found,
        "pooled": found.pooled,
        "asked": found.asked,
        "spec": spec,
        "model_key": key_of(spec.reference) if spec.reference else None,
        "chance_name": CHANCE,
    }
    return Methods("methods-of-sweep.txt", facts, {}, sources)
