"""The tables of a sweep as text, for terminal, page and LaTeX."""

from functools import partial

import pandas as pd

from bayes_bias.analyses.sweep.results import SCREENED, Sweep
from bayes_bias.formatting import Column, Layout, estimate, marked, probability, signed
from bayes_bias.table.columns import estimates, interval_of, rank_column


def ranking_layout(sweep: Sweep, side: str) -> Layout:
    """Lay out embeddings or lists, from the most biased down."""
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
    """Lay out cells. A bias of the quasi-F is in brackets."""
    number = partial(signed, decimals=sweep.metric.decimals)
    biases = list(zip(rows.bias, rows.source == SCREENED, strict=True))
    _, interval = estimates(rows.assign(mean=rows.bias), "bias", sweep.settings.ci_prob, sweep.metric.decimals)
    return Layout(
        [str(embedding) for embedding, _ in rows.index],
        [
            Column("list", list(rows.index.get_level_values("list")), words=True),
            Column("verdict", rows.verdict, marked, words=True),
            Column("bias", biases, lambda each: f"({number(each[0])})" if each[1] else number(each[0])),
            interval,
            Column("chance", rows.chance, probability),
            _adjusted(rows),
            *([] if sweep.pooled is None else [_pooled(sweep, sweep.pooled.cells.reindex(rows.index))]),
        ],
        heading=sweep.noun,
        caption=f"Bias in {sweep.metric.unit}",
        sortable=True,
    )


def changes_layout(sweep: Sweep, rows: pd.DataFrame) -> Layout:
    """Lay out changes. The name of a single embedding has no column of its own."""
    one, number = len(sweep.originals) == 1, partial(signed, decimals=sweep.metric.decimals)
    more = [Column("control moved", rows.control_moved, number, spare=True)] if "control" in rows else []
    if sweep.changes.taught.any():
        more.append(Column("words that\ntaught it", rows.taught))
    return Layout(
        [version if one else f"{embedding}, {version}" for embedding, version, _ in rows.index],
        [
            Column("list", list(rows.index.get_level_values("list")), words=True),
            Column("verdict", rows.verdict, marked, words=True, spare=True),
            Column("before", rows.before, number, spare=True),
            Column("after", rows.after, number, spare=True),
            *estimates(rows.assign(mean=rows.change), "change", sweep.settings.ci_prob, sweep.metric.decimals),
            _adjusted(rows),
            *more,
        ],
        heading="version",
        caption=f"Changes from versions{f' of {sweep.originals[0]}' if one else ''}, in {sweep.metric.unit}",
        sortable=True,
    )


def _adjusted(rows: pd.DataFrame) -> Column:
    chances = list(zip(rows.chance_holm, rows.survives, strict=True))
    return Column("after Holm", chances, lambda each: probability(each[0]) + (" ✓" if each[1] else ""))


def _pooled(sweep: Sweep, rows: pd.DataFrame) -> Column:
    def written(numbers: tuple[float, float, float]) -> str:
        return estimate(*numbers, decimals=sweep.metric.decimals)

    return Column("pooled", list(zip(rows["mean"], *interval_of(rows), strict=True)), written)
