"""Shares of findings as the pages of evidence, README, docs, and the paper quote them."""

import pandas as pd
from scipy.stats import binomtest

from benchmarks.designs import BALANCED
from benchmarks.methods import OURS
from benchmarks.provenance import read

# Least and largest share of false positives that is wanted of a test at the 5% level, in a cell of 400 draws.
WANTED = (0.02, 0.07)
GLOVE, GOOGLENEWS = ("words-glove",), ("words-googlenews", "words-wide")


def rows_of(name: str) -> pd.DataFrame:
    """The rows of a result."""
    return pd.DataFrame(read(name)["rows"])


def share_of(share: float, n: int) -> str:
    """Format a share with its exact interval."""
    interval = binomtest(round(share * n), int(n)).proportion_ci()
    return f"{share:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def from_to(shares: pd.Series) -> str:
    """Format the least and the largest share."""
    least, most = f"{100 * shares.min():.0f}", f"{100 * shares.max():.0f}"
    return f"{most}%" if least == most else f"{least} to {most}%"


def nulls_by_size() -> pd.DataFrame:
    """Share of findings with random attribute words, by method (and scope) and number of words in a class.

    Ten lists together, without control classes; SD-WEAT, which needs them, with.
    """
    rows = rows_of("nulls")
    rows = rows[(rows.method == "SD-WEAT") | ~rows.controls.astype(bool)]
    counts = rows.groupby(["method", "scope", "size"])[["findings", "draws"]].sum()
    shares = (counts.findings / counts.draws).rename("share").reset_index()
    return shares.pivot_table(index=["method", "scope"], columns="size", values="share")


def related(*names: str, method: str = OURS) -> pd.DataFrame:
    """The designs of sub-topics, nested ones, and chains, which groups and classes do not have in common."""
    rows = pd.concat([rows_of(name) for name in names or (*GLOVE, *GOOGLENEWS)])
    is_chain = rows.kind.str.startswith("chains")
    return rows[((rows["sub-topics"] > 0) | is_chain) & (rows.kind != BALANCED) & (rows.method == method)]


def worst(*names: str, method: str = OURS) -> pd.Series:
    """The design of related words with the largest share of findings."""
    rows = related(*names, method=method)
    return rows.loc[rows.found.idxmax()] if rows.index.is_unique else rows.sort_values("found").iloc[-1]
