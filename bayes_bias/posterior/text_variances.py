"""The variance that texts add to contrasts of block means and to the means of single words."""

import numpy as np
import xarray as xr
from scipy.special import gammaincinv

from bayes_bias.shared_types import Numbers
from bayes_bias.table.bias_weights import BLOCK
from bayes_bias.table.labels import Side
from bayes_bias.table.scopes import Scope
from bayes_bias.table.texts import DF, covariance_under, has_texts

_SEED = 2
# Texts that do not vary at all, up to rounding, have a variance above zero, by which a contrast can be divided.
_SMALLEST = 1e-24


def text_variances(data: xr.Dataset, weights: xr.DataArray, scope: Scope, points: int) -> Numbers:
    """Return the variance that texts add to contrasts of block means under a scope, (points, contrasts).

    The values are equally likely: a variance :math:`V` that was estimated with f degrees of freedom is represented by
    quantiles of :math:`f V / \\chi^2_f`. They are zero for a table without texts. The variance of a contrast w is
    :math:`w' C w`, where C is the covariance of block means over texts. It is at least `_SMALLEST`, so that contrasts
    can be divided by it.
    """
    if not has_texts(data):
        return np.zeros((points, weights.sizes["contrast"]))
    w = weights.transpose("contrast", *BLOCK).to_numpy()  # (contrasts k, groups g, classes c)
    # C has the axes (groups g, classes c, groups h, classes d).
    variance = np.einsum("kgc,gchd,khd->k", w, covariance_under(data, scope), w)
    return _equally_likely(np.maximum(variance, _SMALLEST), data, points)


def word_text_variances(data: xr.Dataset, side: Side, weights: xr.DataArray, points: int) -> Numbers:
    """Return the variance that texts add to a contrast of each word's means, (points, words).

    The labels of the contrasts are the words. `weights` w are (contrast, class) for targets, and (contrast, group) for
    attributes. With the covariance C of the means of a word over texts, the variance is ``w' C w``. Its uncertainty is
    represented by equally likely values, as in `text_variances`.
    """
    if not has_texts(data):
        return np.zeros((points, weights.sizes["contrast"]))
    w = weights.to_numpy()  # (words k, classes or groups c)
    covariance = data[f"{side}_text_covariance"].sel({side: weights.contrast.to_numpy()}).to_numpy()
    return _equally_likely(np.einsum("kc,kcd,kd->k", w, covariance, w), data, points)


def _equally_likely(variance: Numbers, data: xr.Dataset, points: int) -> Numbers:
    r"""Return values (points, contrasts) that represent estimated variances (contrasts,), in a random order.

    A variance V that was estimated with f degrees of freedom has the distribution :math:`f V / \chi^2_f`, whose
    quantiles at equally spaced probabilities are equally likely. A chi-squared variable is twice a gamma variable of
    the shape f / 2. With infinite degrees of freedom, the variance is known.
    """
    df = float(data[DF])
    if np.isinf(df):
        return np.tile(variance, (points, 1))
    probs = (np.random.default_rng(_SEED).permutation(points) + 0.5) / points
    factors = df / 2 / gammaincinv(df / 2, probs)
    return np.asarray(variance * factors[:, None])
