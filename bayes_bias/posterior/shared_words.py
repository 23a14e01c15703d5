"""Estimate how much error the cells of one list share because they use the same words in all embeddings."""

from collections.abc import Iterable, Mapping, Set
from math import fsum, nan, sqrt

import pandas as pd

from bayes_bias.measures.quasi_f import QuasiF
from bayes_bias.table.scopes import WORDS, ScopeName, sampling_scope

# If errors were identical, a cell would add no information.
_LARGEST = 0.99

type Influence = Mapping[str, Mapping[str, float]]


def influence_of(result: QuasiF) -> Influence:
    """Return the contribution of each word to the bias, by "targets" and "attributes", as values that JSON supports."""
    return split_sides(result.influence)


def split_sides(influence: "pd.Series[float]") -> Influence:
    """Split contributions by side. See `influence_of`."""
    return {side.name: influence[side.name].to_dict() for side in WORDS}


def shared_errors(influence: Mapping[tuple[str, str], Influence], scope: ScopeName = "both") -> "pd.Series[float]":
    r"""Return the proportion of the error variance of each list that all embeddings share, from 0 to .99.

    Other words would have changed the bias in all embeddings, and in the same direction if words behave similarly in
    all embeddings. Let :math:`z_{ew}` be the contribution of word w to the bias in embedding e (see `influence_of`).
    Errors of two embeddings have the covariance :math:`\sum_w z_{ew} z_{e'w}`, and the share is

    .. math:: \frac{\sum_{e \ne e'} \sum_w z_{ew} z_{e'w}}{\sum_{e \ne e'} \sqrt{\sum_w z_{ew}^2 \sum_w z_{e'w}^2}}.

    A word that an embedding lacks contributes nothing in that embedding. Words of a side that the scope does not sample
    contribute no error. The share is missing if fewer than two embeddings have the list.
    """
    facets: list[str] = [facet.name for facet in sampling_scope(scope).facets]
    by_list: dict[str, list[dict[tuple[str, str], float]]] = {}
    for (_, name), sides in influence.items():
        sampled: dict[tuple[str, str], float] = {}
        for facet in facets:
            sampled |= {(facet, word): z for word, z in sides.get(facet, {}).items()}
        by_list.setdefault(name, []).append(sampled)
    return pd.Series({name: _shared(cells) for name, cells in by_list.items()}, dtype=float)


def share_in_common(words: Set[str], others: Set[str]) -> float:
    """Return the proportion of the shorter list's words that the other list also contains."""
    return len(words & others) / min(len(words), len(others))


def _shared(influence: list[dict[tuple[str, str], float]]) -> float:
    """Return the proportion of the error variance that embeddings share, given the contribution of each word in each
    embedding.
    """
    words = set().union(*influence)
    covariance = fsum(_sum_pairs(embedding.get(word, 0.0) for embedding in influence) for word in words)
    largest = _sum_pairs(sqrt(fsum(z * z for z in embedding.values())) for embedding in influence)
    return min(max(covariance / largest, 0.0), _LARGEST) if largest > 0 else nan


def _sum_pairs(values: Iterable[float]) -> float:
    """Return the sum of the products of all ordered pairs.

    It is computed exactly, because rounding would depend on the order of additions.
    """
    numbers = tuple(values)
    return fsum(numbers) ** 2 - fsum(number * number for number in numbers)
