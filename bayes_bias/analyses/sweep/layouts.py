"""The layouts of the tables of a sweep for terminal, page, and LaTeX."""

from functools import partial

import pandas as pd

from bayes_bias.analyses.sweep.results import SCREENED, Sweep
from bayes_bias.formatting import Column, Layout, estimate, marked, probability, signed
from bayes_bias.table.columns import estimates, interval_columns, rank_column


def ranking_layout(sweep: Sweep, side: str) -> Layout:
    """Lay out embeddings or lists, sorted by decreasing bias."""
    assert sweep.pooled is not None
    rows, heading, others = {
        "embedding": (sweep.pooled.embeddings, sweep.noun, "lists"),
        "list": (sweep.pooled.lists, "list", f"{sweep.noun}s"),
    }[side]
    rows = rows.sort_values("mean", ascending=False)
    return Layout(
        list(map(str, rows.index)),
        [
            *estimates(rows, "mean bias", sweep.settings.ci_prob, sweep.metric.decimals),
            Column("probability\nof direction", rows.prob_direction, probability),
            *rank_column(rows),
        ],
        heading=heading,
        caption=f"Mean bias over these {others}, in {sweep.metric.unit}, using information from all cells",
        sortable=True,
    )


def cells_layout(sweep: Sweep, rows: pd.DataFrame) -> Layout:
    """Lay out cells. Biases from the quasi-F are in brackets."""
    number = partial(signed, decimals=sweep.metric.decimals)
    biases = list(rows.assign(screened=rows.source == SCREENED)[["bias", "screened"]].itertuples(index=False))
    _, interval = estimates(rows.assign(mean=rows.bias), "bias", sweep.settings.ci_prob, sweep.metric.decimals)
    columns = [
        Column("list", list(rows.index.get_level_values("list")), words=True),
        Column("verdict", rows.verdict, marked, words=True),
        Column("bias", biases, lambda cell: f"({number(cell.bias)})" if cell.screened else number(cell.bias)),
        interval,
        Column("chance", rows.chance, probability),
        _adjusted(rows),
    ]
    if sweep.pooled is not None:
        pooled = sweep.pooled.cells.reindex(rows.index)
        means = list(pooled[["mean", *interval_columns(pooled)]].itertuples(index=False, name=None))
        columns.append(Column("pooled", means, lambda cell: estimate(cell[0], cell[1], cell[2], sweep.metric.decimals)))
    return Layout(
        list(map(str, rows.index.get_level_values("embedding"))),
        columns,
        heading=sweep.noun,
        caption=f"Bias in {sweep.metric.unit}",
        sortable=True,
    )


def changes_layout(sweep: Sweep, rows: pd.DataFrame) -> Layout:
    """Lay out changes. If there is only one embedding, its name is omitted."""
    single = len(sweep.originals) == 1
    number = partial(signed, decimals=sweep.metric.decimals)
    columns = [
        Column("list", list(rows.index.get_level_values("list")), words=True),
        Column("verdict", rows.verdict, marked, words=True, spare=True),
        Column("before", rows.before, number, spare=True),
        Column("after", rows.after, number, spare=True),
        *estimates(rows.assign(mean=rows.change), "change", sweep.settings.ci_prob, sweep.metric.decimals),
        _adjusted(rows),
    ]
    if "control" in rows:
        columns.append(Column("control moved", rows.control_moved, number, spare=True))
    if sweep.changes.taught.any():
        columns.append(Column("words that\ntaught it", rows.taught))
    return Layout(
        [version if single else f"{embedding}, {version}" for embedding, version, _ in rows.index],
        columns,
        heading="version",
        caption=f"Changes from versions{f' of {sweep.originals[0]}' if single else ''}, in {sweep.metric.unit}",
        sortable=True,
    )


def _adjusted(rows: pd.DataFrame) -> Column:
    """Return a column of adjusted probabilities, with a mark for verdicts that survive Holm's adjustment."""
    chances = list(rows[["chance_holm", "survives"]].itertuples(index=False))
    return Column("after Holm", chances, lambda row: probability(row.chance_holm) + (" ✓" if row.survives else ""))
