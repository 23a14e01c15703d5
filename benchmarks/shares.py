"""Shares of findings as the pages of evidence show them: pooled over cells, with Monte Carlo intervals."""

import pandas as pd
from scipy.stats import binomtest

from bayes_bias.checks.null_jobs import COMPETITORS, ONE_SIDED_WEAT
from bayes_bias.measures import QuasiF
from benchmarks.provenance import read

# Least and largest share of false findings that is wanted of a test at the 5% level, in a cell of 400 draws.
WANTED = (0.02, 0.07)

# The bootstrap of both lists of the R package cbn, which `benchmarks.cbn` draws.
CBN = "cbn, bootstrap of both lists"

_METHODS = ("WEAT", ONE_SIDED_WEAT, "SD-WEAT", "hierarchical", QuasiF.measure, *COMPETITORS, CBN, "crossed")
_ORDER = {method: place for place, method in enumerate(_METHODS)}


def share_of(share: float, n: int) -> str:
    """Format a share with its exact interval."""
    interval = binomtest(round(share * n), n).proportion_ci()
    return f"{share:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def from_to(shares: pd.Series) -> str:
    """Format the least and the largest share."""
    least, most = f"{100 * shares.min():.0f}", f"{100 * shares.max():.0f}"
    return f"{most}%" if least == most else f"{least} to {most}%"


def of_default_model() -> pd.Series:
    """Return the share of ten lists with random attribute words in which the default model finds a bias.

    By the number of words in a class. README, the first page of the docs, the evidence, and the paper quote it.
    """
    return pd.DataFrame(read("topical-lists")["rows"]).set_index("words")["from vectors"].sort_index()


def shares_by(name: str, by: list[str]) -> pd.Series:
    """Pool the findings of a result over its lists, as one share for each of `by`."""
    counts = pd.DataFrame(read(name)["rows"]).groupby(by)[["findings", "draws"]].sum()
    return counts.findings / counts.draws


def pooled_findings(rows: pd.DataFrame, by: list[str] | None = None) -> pd.DataFrame:
    """Share of findings over cells, with its interval."""
    by = by or ["method", "scope", "controls", "size"]
    last = ["size"] if "size" in rows else []
    rows = rows.sort_values([b for b in by if b != "size"] + last, key=_in_order)
    counts = rows.groupby(by, as_index=False, sort=False)[["findings", "draws"]].sum()
    intervals = [binomtest(int(f), int(d)).proportion_ci() for f, d in zip(counts.findings, counts.draws, strict=True)]
    shares = counts.findings / counts.draws
    shown = [f"{s:.1%} [{i.low:.1%}, {i.high:.1%}]" for s, i in zip(shares, intervals, strict=True)]
    return counts.assign(share=shown).drop(columns="findings").astype({"draws": int})


def covering_findings(rows: pd.DataFrame, by: list[str], *, sort: bool = True) -> pd.DataFrame:
    """Share of findings with its interval, coverage and width, over cells that are alike."""
    rows = rows.assign(findings=(rows["share"] * rows.draws).round())
    pooled = pooled_findings(rows, by) if sort else pooled_findings(rows.assign(order=range(len(rows))), ["order", *by])
    means = rows.groupby(by, as_index=False, sort=False)[["coverage_95", "width"]].mean()
    means = means.assign(coverage=means.pop("coverage_95").map("{:.1%}".format))
    return pooled.merge(means, on=by).drop(columns="order", errors="ignore")


def outside_wanted(rows: pd.DataFrame) -> str:
    """How many cells lie outside what is wanted, and what they say together."""
    below, above = (rows["share"] < WANTED[0]).sum(), (rows["share"] > WANTED[1]).sum()
    together = pooled_findings(rows, ["method"])["share"].iloc[0]
    return f"{below} are below and {above} above, {_beyond_chance(rows)}; together {together}"


def _beyond_chance(rows: pd.DataFrame) -> str:
    sure = ((rows.share_ci95_ub < WANTED[0]) | (rows.share_ci95_lb > WANTED[1])).sum()
    return f"{sure} of them beyond the Monte Carlo interval"


def marked(share: float) -> str:
    """Format a share, in bold if it lies outside what is wanted."""
    return f"{share:.1%}" if WANTED[0] <= share <= WANTED[1] else f"**{share:.1%}**"


def number_of_draws(rows: pd.DataFrame) -> str:
    """Say how many draws a cell has, or from how many to how many."""
    least, most = int(rows.draws.min()), int(rows.draws.max())
    return f"{least}" if least == most else f"{least} to {most}"


def _in_order(column: pd.Series) -> pd.Series:
    """Measures of the literature, classical tests, ours; everything else as it sorts."""
    return column.map(_ORDER) if column.name == "method" else column
