"""What CALIBRATION.md says of many embeddings at once: whether what is pooled holds, and what a sweep costs."""

from collections.abc import Mapping

import pandas as pd

from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import read

_SIDES = ("embedding", "list")


def atlases() -> str:
    """Simulated atlases with known truth."""
    result = read("atlases")
    words = result["about"]["words"]
    rows = pd.DataFrame(result["rows"])
    intervals = ["cells", *(f"means of {side}s" for side in _SIDES)]
    ranks = [f"ranks of {side}s" for side in _SIDES]
    shown = rows[["kind"]].assign(**{name: _shares(rows, name) for name in [*intervals, *ranks]})
    orders = pd.concat(
        [
            pd.DataFrame(
                {
                    "kind": rows.kind,
                    "of": f"{side}s",
                    "said": rows[f"orders of {side}s said with over .9"],
                    "on average with": rows[f"orders of {side}s, probability said"].map("{:.1%}".format),
                    "true": rows[f"orders of {side}s, true"].map("{:.1%}".format),
                }
            )
            for side in _SIDES
        ]
    )
    outside = [
        f'{name} of "{kind}"'
        for name in intervals
        for kind, share in zip(rows.kind, rows[name], strict=True)
        if not 0.93 <= share <= 0.97
    ]
    return f"""## Atlases

Simulated atlases, {rows.atlases.iloc[0]} of each kind: true biases of embeddings x lists, and what posteriors would say
of them. The words of a list are the same in all embeddings, and so is part of the error: half of its variance, if
nothing else is said; the pooled model learns how much from what each of {words} words adds to the bias. How many 95%
intervals of the pooled model hold the truth, with the standard error over atlases: of each cell, of the mean of each
embedding and of each list; and of their ranks, which are whole numbers, so that intervals hold more than they say. Two
versions of an embedding, such as one before and after debiasing, have 98% of their errors in common where different
embeddings have 60%; the model takes all pairs for alike. Outside of 93% to 97%: {"; ".join(outside) or "none"}.

{markdown_table(shown)}

When the pooled model says that one is more biased than the other, with a probability above .9, how often is it?

{markdown_table(orders)}

{circumstances(result["about"])}
"""


def shared_errors() -> str:
    """What words tell of the errors that embeddings have in common, against random draws of words."""
    result = read("shared-errors")
    about = result["about"]
    rows = pd.DataFrame(result["rows"])
    sizes = " or ".join(map(str, rows.words.unique()))
    farthest = (rows["said, on average"] - rows["correlation of biases"]).abs().max()
    return f"""## Errors that embeddings have in common

Two groups and two classes of {sizes} random words each, drawn {about["draws"]} times from the {about["words"]} words
that all of these embeddings have: how the biases of two embeddings correlate over draws, which is what their errors
have in common, and what is said of it from the words of one draw (mean and standard deviation over draws). The two
differ by {farthest:.3f} at most; the standard error of these correlations is {1 / about["draws"] ** 0.5:.2g} or less.

{markdown_table(rows)}

{circumstances(about)}
"""


def sweeps() -> str:
    """What cells cost, and that neither a kill nor a cluster changes a number."""
    result = read("sweep")
    rows = {str(row["what"]): row for row in result["rows"]}
    costs = [row for row in rows.values() if "seconds" in row]
    killed, together, cluster, survived = (
        rows[name] for name in ("killed three times", "two at a time", "cluster", "cluster, a worker killed")
    )
    kept = ", ".join(map(str, killed["files kept after each kill"]))
    return f"""## Many embeddings at once

Twenty embeddings, the shipped vectors and random projections of them to 50, 100 and 200 dimensions with noise, half of
them debiased, and the 13 shipped lists (for the quasi-F 770 embeddings, which take most of the memory). Seconds from
the call to the pooled result, on all cores (360 were wanted on two, nothing compiled before); memory is that of all
processes if each were at its largest when the others are.

{markdown_table(pd.DataFrame(costs)[["what", "cells", "seconds", "CPU seconds", "peak GB, at most", "not converged"]])}

Killed (SIGKILL to all processes) three times in mid-flight, with {kept} of {killed["files"]} results there, and run
again: {_same(killed)} as an uninterrupted run; of results that were there {killed["written again"]} were written again.
Two at a time in one folder: {_same(together)} as one alone.
A Dask cluster of two processes: {_same(cluster)} as joblib on the cores; with a worker killed in the middle:
{_same(survived)}.

{circumstances(result["about"])}
"""


def _shares(rows: pd.DataFrame, name: str) -> list[str]:
    return [f"{share:.1%} ± {se:.1%}" for share, se in zip(rows[name], rows[f"{name}, se"], strict=True)]


def _same(row: Mapping[str, object]) -> str:
    return "the same bytes" if row["same bytes"] else "other bytes"
