"""The change of a share, where the same pairs are scored twice."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from bayes_bias.sentence_pairs.pair_design import has_types, weights
from bayes_bias.sentence_pairs.pair_estimands import (
    NO_PREFERENCE,
    EstimandDraws,
    PairScope,
    averages,
    clustered_variance,
    labels_of,
    linear_predictor,
    shares,
    stacked,
)

# By how much a gain and a loss count: (draws, 1), or one number for all draws.
type Steps = tuple[NDArray[np.float64], NDArray[np.float64]]

WHOLE: Steps = (np.ones((1, 1)), np.ones((1, 1)))


def change_of_shares(
    changed: xr.Dataset, gained: xr.Dataset, data: xr.Dataset, scope: PairScope = "all", steps: Steps = WHOLE
) -> EstimandDraws:
    r"""Draws of the change, :math:`q (r s_+ - (1 - r) s_-)`, with its noise floor.

    :math:`q` is the share of pairs that change, :math:`r` the share of these in which the stereotypical sentence gains,
    and :math:`s_+`, :math:`s_-` are by how much a gain and a loss count on average: by one where nothing ties.
    Writers' effects on the two are independent, so that the average over new writers is a product of averages. The
    noise floor has the same :math:`q`, and both directions equally often.
    """
    gain, loss = steps
    if scope == "pairs":
        q, r = (expit(linear_predictor(stacked(posterior), data, "logit")) for posterior in (changed, gained))
        values = averages(q * ((gain + loss) * r - loss), data)
    else:
        q, r = (_by_type(shares(posterior, data, scope)) for posterior in (changed, gained))
        values = q * ((gain + loss) * r - loss)
        values = np.column_stack([values @ weights(data), values]) if has_types(data) else values
    share_changed = shares(changed, data, scope).values
    # A step is one or one half: its mean square is 3/2 of the mean, less 1/2.
    square = (3 * (gain + loss) / 2 - 1) / 2
    noise = clustered_variance(gained, data, (gain + loss) ** 2 * share_changed**2, square * share_changed, scope)
    return EstimandDraws(labels_of(data), values, np.sqrt(noise))


def steps_of(moved: NDArray[np.float64], draws: int, seed: int) -> Steps:
    """Draws of the average size of gains and of losses, in which a step from a tie, or to one, is one half.

    How many steps are whole has a uniform prior; where all of them are, nothing is uncertain.
    """
    rng = np.random.default_rng(seed)
    if np.isin(moved, (-1, 0, 1)).all():
        return WHOLE
    gain, loss = (
        (1 + rng.beta(1 + (moved == whole).sum(), 1 + (moved == whole / 2).sum(), size=(draws, 1))) / 2
        for whole in (1, -1)
    )
    return gain, loss


def shares_with_ties(
    untied: xr.Dataset, ahead: xr.Dataset, data: xr.Dataset, scope: PairScope = "all"
) -> EstimandDraws:
    r"""Draws of the share where a tie counts as half, :math:`1/2 + q (2 r - 1) / 2`.

    :math:`q` is the share of pairs that do not tie, :math:`r` that of these in which the stereotypical sentence is
    ahead. It exceeds one half exactly where :math:`r` does: a tie speaks for neither sentence.
    """
    towards = change_of_shares(untied, ahead, data, scope)
    return EstimandDraws(towards.labels, NO_PREFERENCE + towards.values / 2, towards.noise_sd / 2)


def _by_type(draws: EstimandDraws) -> np.ndarray:
    return draws.values[:, 1:] if len(draws.labels) > 1 else draws.values
