"""Simulated atlases of known truth: `python -m benchmarks.atlases --draws 100`.

Biases of cells are drawn as the pooled model has them, or worse: with a few embeddings that are much more biased than
the others. What posteriors would say of them has errors of which part is common to all embeddings on a list: they are
made of what words add to the bias, and so much is known of these. What was judged is kept in `benchmarks/records`, and
a run goes on where an earlier one stopped.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta, rankdata

from bayes_bias.analyses.sweep.pooling import Crossed, pool_cells
from bayes_bias.posterior.shared_words import shared_errors
from bayes_bias.table.columns import interval_of
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write
from benchmarks.simulating import simulated

_INTERVAL = (0.025, 0.975)
# Of a list: as many as two groups and two classes of eight have.
WORDS = 32
TAUS: Mapping[str, float] = {"embedding": 0.02, "list": 0.03, "interaction": 0.015}


@dataclass(frozen=True)
class Kind:
    """What atlases are like."""

    name: str
    embeddings: int
    lists: int
    taus: Mapping[str, float]
    common: float
    outliers: int = 0
    # Of the errors' variance: what an embedding has in common with its other version alone.
    of_pair: float = 0.0


KINDS = (
    Kind("10 x 8", 10, 8, TAUS, 0.5),
    Kind("10 x 8, errors independent", 10, 8, TAUS, 0.0),
    Kind("10 x 8, errors nearly all common", 10, 8, TAUS, 0.9),
    Kind("10 x 8, embeddings alike", 10, 8, {**TAUS, "embedding": 0.0}, 0.5),
    Kind("10 x 8, two embeddings far from the others", 10, 8, TAUS, 0.5, outliers=2),
    Kind("10 x 8, five embeddings in two versions", 10, 8, TAUS, 0.6, of_pair=0.38),
    Kind("3 x 4", 3, 4, TAUS, 0.5),
)


def main() -> None:
    """Pool atlases of each kind, and count how often what is said holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100, help="atlases of each kind")
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    found = simulated(judged, KINDS, chosen.draws, "atlases", WORDS, jobs=chosen.jobs)
    records = pd.DataFrame([record for _, record in found], index=[kind.name for kind, _ in found])
    rows = [{"kind": kind.name, "atlases": chosen.draws, **dict(_rates(records.loc[[kind.name]]))} for kind in KINDS]
    print(pd.DataFrame(rows).T.to_string())
    write("atlases", provenance() | {"words": WORDS}, rows)


def truth(
    rng: np.random.Generator,
    embeddings: int,
    lists: int,
    taus: Mapping[str, float] = TAUS,
    mu: float = 0.03,
    outliers: int = 0,
) -> NDArray[np.float64]:
    """True biases of the cells, (embedding, list); outliers are eight standard deviations away."""
    of_embedding = taus["embedding"] * rng.standard_normal(embeddings)
    of_embedding[:outliers] += 8 * taus["embedding"]
    of_list = taus["list"] * rng.standard_normal(lists)
    return mu + of_embedding[:, None] + of_list + taus["interaction"] * rng.standard_normal((embeddings, lists))


def made_cells(
    rng: np.random.Generator, theta: NDArray[np.float64], common: float = 0.5, of_pair: float = 0.0, sd: float = 0.012
) -> tuple[pd.DataFrame, "pd.Series[float]"]:
    """What posteriors would say of such truths, with errors of which a share is common to all embeddings; and the
    share that is found in what words add to the bias."""
    embeddings, lists = theta.shape
    sds = sd * rng.uniform(0.6, 1.6, lists) * rng.uniform(0.9, 1.1, theta.shape)
    adds = np.zeros((WORDS, embeddings, lists))
    # What all have in common, each with its other version alone, and each by itself.
    for share, versions in ((common, embeddings), (of_pair, 2), (1 - common - of_pair, 1)):
        different = rng.standard_normal((WORDS, ceil(embeddings / versions), lists))
        adds += sds * np.sqrt(share / WORDS) * different.repeat(versions, axis=1)[:, :embeddings]
    index = pd.MultiIndex.from_product(
        [[f"embedding {k}" for k in range(embeddings)], [f"list {k}" for k in range(lists)]],
        names=["embedding", "list"],
    )
    bias = (theta + adds.sum(axis=0)).ravel()
    cells = pd.DataFrame({"bias": bias, "sd": sds.ravel(), "within_sd": 0.05}, index=index)
    deviations = (adds - adds.mean(axis=0)).reshape(WORDS, -1).T
    words = [f"word {k}" for k in range(WORDS)]
    return cells, shared_errors(
        {at: {"targets": dict(zip(words, own, strict=True))} for at, own in zip(index, deviations, strict=True)}
    )


def judged(kind: Kind, number: int) -> dict[str, float]:
    """What is said of one atlas, beside the truth."""
    rng = np.random.default_rng([1, number])
    theta = truth(rng, kind.embeddings, kind.lists, kind.taus, outliers=kind.outliers)
    pooled = pool_cells(*made_cells(rng, theta, kind.common, kind.of_pair), seed=number)
    assert pooled is not None
    return _held(pooled, theta)


def _held(pooled: Crossed, theta: NDArray[np.float64]) -> dict[str, float]:
    """In one atlas the share of intervals that hold the truth; for probabilities of an order, those it is as said."""
    held = {"cells": _covered(pooled.cells, theta.ravel())}
    for side, frame, axis in (("embedding", pooled.embeddings, 1), ("list", pooled.lists, 0)):
        means = theta.mean(axis=axis)
        ranks = rankdata(-means)
        held[f"means of {side}s"] = _covered(frame, means)
        held[f"ranks of {side}s"] = _covered(frame, ranks, "rank")
        above = pooled.more_biased[side].to_numpy()
        said, true = above > 0.9, means[:, None] > means
        held[f"orders of {side}s said with over .9: said"] = float(said.sum())
        held[f"orders of {side}s said with over .9: expected"] = float(above[said].sum())
        held[f"orders of {side}s said with over .9: true"] = float((said & true).sum())
    return held | {"not converged": float(not pooled.diagnostics.converged)}


def _covered(frame: pd.DataFrame, truths: NDArray[np.float64], of: str = "") -> float:
    lower, upper = (ends.to_numpy() for ends in interval_of(frame, of))
    return float(((lower <= truths) & (truths <= upper)).mean())


def _rates(found: pd.DataFrame) -> Iterator[tuple[str, object]]:
    """Shares over atlases with the standard error of their mean, since what is in one atlas goes together."""
    for name in found:
        if name == "not converged":
            yield name, int(found[name].sum())
        elif ": " not in name:
            yield name, round(float(found[name].mean()), 4)
            yield f"{name}, se", round(float(found[name].std() / np.sqrt(len(found))), 4)
    for side in ("embedding", "list"):
        orders = found.filter(regex=f"^orders of {side}s").sum()
        said, expected, true = orders.to_numpy()
        interval = beta.ppf(_INTERVAL, [true, true + 1], [said - true + 1, said - true]) if 0 < true < said else (0, 1)
        yield f"orders of {side}s said with over .9", int(said)
        yield f"orders of {side}s, probability said", round(expected / max(said, 1), 4)
        yield f"orders of {side}s, true", round(true / max(said, 1), 4)
        yield f"orders of {side}s, true, 95%", [round(float(end), 4) for end in interval]


_SIDES = ("embedding", "list")


def answer() -> str:
    """Say how many intervals of the pooled model hold the truth."""
    rows = pd.DataFrame(read("atlases")["rows"])
    means = pd.concat([rows["cells"], *(rows[f"means of {side}s"] for side in _SIDES)])
    cost = next(row for row in read("sweep")["rows"] if row["what"] == "260 posteriors")
    return f"""{100 * means.min():.1f} to {means.max():.1%} of the pooled model's 95% intervals hold the truth.
{cost["cells"]} posteriors take {cost["seconds"]:.0f} seconds on two cores, and neither a kill nor a cluster changes a
byte."""


def section() -> str:
    """Render simulated atlases of known truth."""
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
versions of an embedding, such as one before and after debiasing, have 98% of their errors in common; different
embeddings have 60%; the model takes all pairs for alike. Outside of 93% to 97%: {"; ".join(outside) or "none"}.

{markdown_table(shown)}

When the pooled model says that one is more biased than the other, with a probability above .9, how often is it?

{markdown_table(orders)}

{circumstances(result["about"])}
"""


def _shares(rows: pd.DataFrame, name: str) -> list[str]:
    return [f"{share:.1%} ± {se:.1%}" for share, se in zip(rows[name], rows[f"{name}, se"], strict=True)]


if __name__ == "__main__":
    main()
