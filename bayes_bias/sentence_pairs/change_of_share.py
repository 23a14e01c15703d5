"""The change of a share, where the same pairs are scored twice."""

import numpy as np
import xarray as xr
from scipy.special import expit

from bayes_bias.sentence_pairs.pair_design import has_types, weights
from bayes_bias.sentence_pairs.pair_estimands import (
    EstimandDraws,
    PairScope,
    averages,
    clustered_variance,
    labels_of,
    linear_predictor,
    shares,
    stacked,
)


def change_of_shares(
    changed: xr.Dataset, gained: xr.Dataset, data: xr.Dataset, scope: PairScope = "all"
) -> EstimandDraws:
    r"""Draws of the change, :math:`q (2 r - 1)`, with its noise floor.

    :math:`q` is the share of pairs that change, :math:`r` the share of these in which the stereotypical sentence gains.
    Writers' effects on the two are independent, so that the average over new writers is a product of averages. The
    noise floor has the same :math:`q`, and both directions equally often.
    """
    if scope == "pairs":
        q, r = (expit(linear_predictor(stacked(posterior), data, "logit")) for posterior in (changed, gained))
        values = averages(q * (2 * r - 1), data)
    else:
        q, r = (_by_type(shares(posterior, data, scope)) for posterior in (changed, gained))
        values = q * (2 * r - 1)
        values = np.column_stack([values @ weights(data), values]) if has_types(data) else values
    share_changed = shares(changed, data, scope).values
    noise = clustered_variance(gained, data, 4 * share_changed**2, share_changed, scope)
    return EstimandDraws(labels_of(data), values, np.sqrt(noise))


def _by_type(draws: EstimandDraws) -> np.ndarray:
    return draws.values[:, 1:] if len(draws.labels) > 1 else draws.values
