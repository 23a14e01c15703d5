"""By how much a share changed, where the same pairs are scored twice."""

import numpy as np
import xarray as xr
from scipy.special import expit

from bayes_bias.sentence_pairs.design import has_types, weights
from bayes_bias.sentence_pairs.estimands import (
    Draws,
    PairScope,
    averages,
    concentrated,
    labels_of,
    shares,
    stacked_predictor,
)


def change_of_shares(
    changed: xr.Dataset, gained: xr.Dataset, data: xr.Dataset, scope: PairScope = "all"
) -> Draws:
    r"""Draws of the change, :math:`q (2 r - 1)`: how often a pair changes, and how often it is
    then the stereotypical sentence that comes to the front.

    Writers' effects on the one and on the other are independent, so that the average over new writers is a product of
    averages. Noise is what would be seen if pairs changed as often, in either direction alike.
    """
    if scope == "pairs":
        q, r = (expit(stacked_predictor(each, data, "logit")) for each in (changed, gained))
        values = averages(q * (2 * r - 1), data)
    else:
        q, r = (_by_type(shares(each, data, scope)) for each in (changed, gained))
        values = q * (2 * r - 1)
        values = np.column_stack([values @ weights(data), values]) if has_types(data) else values
    often = shares(changed, data, scope).values
    noise = concentrated(gained, data, 4 * often**2, often, scope)
    return Draws(labels_of(data), values, np.sqrt(noise))


def _by_type(draws: Draws) -> np.ndarray:
    return draws.values[:, 1:] if len(draws.labels) > 1 else draws.values
