"""What the errors of a list's cells have in common, since its words are the same in all embeddings."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from bayes_bias.estimands.facets import WORDS, ScopeName, sampling_scope
from bayes_bias.measures.quasi_f import QuasiF

# Errors that are exactly the same would leave nothing of a cell by itself.
_LARGEST = 0.99

type Influence = Mapping[str, Mapping[str, float]]


def influence_of(found: QuasiF) -> Influence:
    """What each word adds to the bias, by "targets" and "attributes", as JSON holds it."""
    return {side.name: found.influence[side.name].to_dict() for side in WORDS}


def shared_errors(
    influence: Mapping[tuple[str, str], Influence], scope: ScopeName = "both"
) -> "pd.Series[float]":
    r"""Of the variance of errors on each list, the share that all embeddings have in common.

    Had other words been drawn, the bias would have moved by what they add to it: by much the same in two embeddings
    where words do the same in both. With :math:`z_{ew}` for what word w adds to the bias in embedding e, see
    `QuasiF.influence`, errors of two embeddings have the covariance :math:`\sum_w z_{ew} z_{e'w}`, and the share is

    .. math:: \frac{\sum_{e \ne e'} \sum_w z_{ew} z_{e'w}}{\sum_{e \ne e'} \sqrt{\sum_w z_{ew}^2 \sum_w z_{e'w}^2}}.

    Parameters
    ----------
    influence : mapping
        By embedding and list: what each word adds, see `influence_of`. A word that an embedding lacks adds nothing
        there.
    scope : {"all", "both", "targets", "attributes", ...}
        Words of which side are samples, and so make errors.

    Returns
    -------
    pandas.Series
        By list, from 0 to .99; missing where fewer than two embeddings have the list.
    """
    sampled: list[str] = [facet.name for facet in sampling_scope(scope).facets]
    by_list: dict[str, list[dict[tuple[str, str], float]]] = {}
    for (_, name), adds in influence.items():
        own = {(side, word): z for side in sampled for word, z in adds.get(side, {}).items()}
        by_list.setdefault(name, []).append(own)
    return pd.Series({name: _shared(adds) for name, adds in by_list.items()}, dtype=float)


def _shared(influence: list[dict[tuple[str, str], float]]) -> float:
    adds = pd.DataFrame(influence).fillna(0.0).to_numpy()
    covariance = adds @ adds.T
    sd = np.sqrt(np.diag(covariance))
    together, largest = (each.sum() - np.trace(each) for each in (covariance, np.outer(sd, sd)))
    return float(np.clip(together / largest, 0.0, _LARGEST)) if largest > 0 else np.nan
