"""Simulated atlases of known truth.

Biases of cells are drawn as the pooled model has them, or worse: with a few embeddings that are much more biased than
the others. What posteriors would say of them has errors of which part is common to all embeddings on a list: they are
made of what words add to the bias, and so much is known of these.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from bayes_bias.analyses.sweep.pooling import pool_cells
from bayes_bias.posterior.pooling import shared_errors
from bayes_bias.table.columns import interval_of
from benchmarks.harness import Numbers, Result, Row

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
    shared_by_pair: float = 0.0


KINDS = (
    Kind("10 x 8", 10, 8, TAUS, 0.5),
    Kind("10 x 8, errors independent", 10, 8, TAUS, 0.0),
    Kind("10 x 8, errors nearly all common", 10, 8, TAUS, 0.9),
    Kind("10 x 8, embeddings alike", 10, 8, {**TAUS, "embedding": 0.0}, 0.5),
    Kind("10 x 8, two embeddings far from the others", 10, 8, TAUS, 0.5, outliers=2),
    Kind("10 x 8, five embeddings in two versions", 10, 8, TAUS, 0.6, shared_by_pair=0.38),
    Kind("3 x 4", 3, 4, TAUS, 0.5),
)


def truth(
    rng: np.random.Generator,
    embeddings: int,
    lists: int,
    taus: Mapping[str, float] = TAUS,
    mu: float = 0.03,
    outliers: int = 0,
) -> Numbers:
    """True biases of the cells, (embedding, list); outliers are eight standard deviations away."""
    embedding_effect = taus["embedding"] * rng.standard_normal(embeddings)
    embedding_effect[:outliers] += 8 * taus["embedding"]
    list_effect = taus["list"] * rng.standard_normal(lists)
    return mu + embedding_effect[:, None] + list_effect + taus["interaction"] * rng.standard_normal((embeddings, lists))


def made_cells(
    rng: np.random.Generator, theta: Numbers, common: float = 0.5, shared_by_pair: float = 0.0, sd: float = 0.012
) -> tuple[pd.DataFrame, "pd.Series[float]"]:
    """What posteriors would say of such truths, with errors of which a share is common to all embeddings; and the
    share that is found in what words add to the bias."""
    embeddings, lists = theta.shape
    sds = sd * rng.uniform(0.6, 1.6, lists) * rng.uniform(0.9, 1.1, theta.shape)
    adds = np.zeros((WORDS, embeddings, lists))
    # What all have in common, each with its other version alone, and each by itself.
    for share, versions in ((common, embeddings), (shared_by_pair, 2), (1 - common - shared_by_pair, 1)):
        different = rng.standard_normal((WORDS, ceil(embeddings / versions), lists))
        adds += sds * np.sqrt(share / WORDS) * different.repeat(versions, axis=1)[:, :embeddings]
    names = [f"embedding {k}" for k in range(embeddings)], [f"list {k}" for k in range(lists)]
    index = pd.MultiIndex.from_product(names, names=["embedding", "list"])
    bias = (theta + adds.sum(axis=0)).ravel()
    cells = pd.DataFrame({"bias": bias, "sd": sds.ravel(), "within_sd": 0.05}, index=index)
    deviations = (adds - adds.mean(axis=0)).reshape(WORDS, -1).T
    by_word = pd.DataFrame(deviations, index, [f"word {k}" for k in range(WORDS)])
    return cells, shared_errors({cell: {"targets": row.to_dict()} for cell, row in by_word.iterrows()})


def simulated(draws: int) -> list[Row]:
    """Coverage for each kind, with the standard error over atlases, since what is in one atlas goes together."""
    rows: list[Row] = []
    for kind in KINDS:
        found = pd.DataFrame([_judged(kind, number) for number in range(draws)])
        errors = {f"{name}, se": float(found[name].std() / np.sqrt(draws)) for name in found}
        rows.append({"kind": kind.name, "atlases": draws, **found.mean(), **errors})
    return rows


def _judged(kind: Kind, number: int) -> dict[str, float]:
    """In one atlas the share of intervals that hold the truth."""
    rng = np.random.default_rng([1, number])
    theta = truth(rng, kind.embeddings, kind.lists, kind.taus, outliers=kind.outliers)
    pooled = pool_cells(*made_cells(rng, theta, kind.common, kind.shared_by_pair), seed=number)
    assert pooled is not None
    held = {"cells": _covered(pooled.cells, theta.ravel())}
    for side, frame, axis in (("embedding", pooled.embeddings, 1), ("list", pooled.lists, 0)):
        means = theta.mean(axis=axis)
        held[f"means of {side}s"] = _covered(frame, means)
        held[f"ranks of {side}s"] = _covered(frame, rankdata(-means), "rank")
    return held


def _covered(frame: pd.DataFrame, truths: Numbers, of: str = "") -> float:
    lower, upper = interval_of(frame, of)
    return float(((lower <= truths) & (truths <= upper)).mean())


RESULTS = (Result("atlases", simulated, 100, model=None),)
