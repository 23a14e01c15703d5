r"""Preferences and related words of the crossed model, with information from word vectors.

*Preferences.* The measured preference of a word of group or class k, for the opposite words of the list, has the
variance

.. math:: \tau_k^2 = \sigma_k^2 + c_k,

where :math:`\sigma_k^2` is the variance of true preferences, and :math:`c_k` is the contribution of residuals, averaged
over the opposite words. Vectors provide the variance :math:`\hat\tau_k^2` that general words with the variability of k
would have (`bayes_bias.associations.related`). Words of a list are not general words: they are often chosen because
they differ in their preferences. All groups, or all associated classes, of the list therefore share an unknown factor
:math:`\phi`,

.. math:: \phi \sim \nu_\phi / \chi^2_{\nu_\phi}, \qquad \tau_k^2 \sim \nu\, \phi\, \hat\tau_k^2 / \chi^2_\nu,
          \qquad \sigma_k^2 = \max(\tau_k^2 - c_k, 0),

so that the words of one group are informative about the other group, and about the factor. The default numbers
:math:`\nu_\phi = 1` and :math:`\nu = 8` were learned from pools of real words (docs/related-words.md): with a single
degree of freedom of the factor, the words of a list overrule the expected variance. For control classes, which consist
of general words, :math:`\phi` is 1. If :math:`\tau_k^2` is below the contribution of residuals,
words have no true preferences, as in lists of random words.

*Related words.* The words of k share a part of each effect, so that the variance of their mean is :math:`I_k` times as
large as for independent words. Its estimate :math:`\hat I_k` is based on the D directions in which general words vary,
so

.. math:: I_k = 1 + (\hat I_k - 1) \frac{D / 2}{\chi^2_{D/2}}.

The differences between words do not depend on the shared part, so the table contains no information about this part.
"""

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.models.components import BY_REPLICATE, CONTROL_RESIDUAL, RESIDUAL
from bayes_bias.models.scales import unit_of
from bayes_bias.models.spec import FROM_VECTORS, ModelSpec, Prior
from bayes_bias.shared_types import Numbers
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side
from bayes_bias.table.statistics import compared_classes

# The square of a scale that is treated as zero, in units of the priors, because the square root has no derivative at
# zero.
LEAST_SQUARE = 1e-12
# Smallest and largest ratio of the variance of preferences to its expected value, in 44 pools of real words and 14
# pairs of classes in two embeddings (docs/related-words.md).
RATIOS_OF_POOLS = (0.2, 30.0)
# Suffix of the names of inflations from vectors, among the inputs.
EXPECTED = "_expected"
# Degrees of freedom of an inflation that is treated as known.
CERTAIN = 1e6
PREFERENCE: Mapping[Side, str] = MappingProxyType({side: f"sd_{side}_preference" for side in SIDES})


def variance_name(side: Side) -> str:
    """Return the name of the variable for the variance of measured preferences."""
    return f"{side}_preference_variance"


def factor_name(side: Side) -> str:
    """Return the name of the variable for the factor that multiplies the expected variances of a side."""
    return f"{side}_preference_factor"


def prior_of_factor(spec: ModelSpec, side: Side) -> Prior:
    """Return the prior of the factor of a side whose preferences have a prior from vectors."""
    half = float(spec.priors[PREFERENCE[side]].parameters["nu_factor"]) / 2
    return Prior("InverseGamma", MappingProxyType({"alpha": half, "beta": half}))


def inflation_name(side: Side) -> str:
    """Return the name of the variable for the ratio of the variance of a mean to the variance for independent words."""
    return f"{side}_inflation"


def sides_from_vectors(spec: ModelSpec, known: Container[Any]) -> tuple[Side, ...]:
    """Return the sides whose preferences have a prior from vectors.

    The model must have this prior, and the data or inputs in `known` must have the expected standard deviation.
    """
    sides: list[Side] = []
    for side in SIDES:
        prior = spec.priors.get(PREFERENCE[side])
        if prior is not None and prior.distribution == FROM_VECTORS and f"{side}_preference_sd" in known:
            sides.append(side)
    return tuple(sides)


def related_sides(data: xr.Dataset) -> tuple[Side, ...]:
    """Return the sides on which some words are related."""
    return tuple(side for side in SIDES if inflation_name(side) in data and (data[inflation_name(side)] > 1).any())


def variables_needed(data: xr.Dataset) -> set[str]:
    """Return the variables that are required for the uncertainty of means of related words."""
    return {inflation_name(side) for side in related_sides(data)}


def residual_shares(data: xr.Dataset, side: Side) -> Numbers:
    """Return the share of the residual variance that the variance of measured preferences includes, for each group or
    class.

    The preference of a target for one of C classes is its mean in this class minus the average over classes. The share
    is therefore the average of :math:`(1 - 1 / C) / n_c`, and likewise for attributes.
    """
    counts = data.n_attributes.to_numpy()[compared_classes(data)] if side == "target" else data.n_targets.to_numpy()
    return np.full(data.sizes[CATEGORY_COORD[side]], residual_share(counts))


def residual_share(opposite: Numbers) -> float:
    """Return the average of :math:`(1 - 1 / C) / n_c` over the C opposite classes (or groups), which have
    :math:`n_c` words: the share of the residual variance in the variance of a word's preferences.
    """
    return (1 - 1 / len(opposite)) * float((1 / opposite).mean())


def is_compared(data: xr.Dataset, side: Side) -> NDArray[np.bool_]:
    """Return True for each group or associated class, and False for control classes, which come last."""
    cells = data.sizes[CATEGORY_COORD[side]]
    controls = data.sizes["control"] if side == "attribute" else 0
    return np.arange(cells) < cells - controls


def explained_by(spec: ModelSpec, data: xr.Dataset, side: Side) -> dict[str, Numbers]:
    r"""Return the weights of the squared scales whose sum is :math:`c_k`, by the name of the scale, for each group or
    class k of a side.

    The variance of measured preferences is :math:`\tau_k^2 = \sigma_k^2 + c_k`, where :math:`\sigma_k^2` is the
    variance of true preferences, and :math:`c_k` the contribution of the residual. The weight of the residual is the
    share of its variance in the variance of measured preferences (`residual_shares`). If control classes have a
    residual of their own, each of the two residuals has the weight zero in the classes of the other. In the mean of n
    replicates, 1 / n of the variances between replicates is added, of the residual and of preferences. The names of
    these scales end in `BY_REPLICATE`.
    """
    shares = residual_shares(data, side)
    weights = {RESIDUAL: shares}
    compared = is_compared(data, side)
    if not compared.all() and CONTROL_RESIDUAL in spec.priors:
        weights = {RESIDUAL: np.where(compared, shares, 0.0), CONTROL_RESIDUAL: np.where(compared, 0.0, shares)}
    has_replicates = "replicate" in data.dims and bool(data.sizes["replication"])
    if has_replicates and f"{RESIDUAL}{BY_REPLICATE}" in spec.priors:
        n = data.sizes["replicate"]
        weights |= {scale + BY_REPLICATE: weight / n for scale, weight in weights.items()}
        weights[PREFERENCE[side] + BY_REPLICATE] = np.full_like(shares, 1 / n)
    return weights


def drawn_inflation(data: xr.Dataset, side: Side, shape: tuple[int, ...], rng: np.random.Generator) -> Numbers:
    r"""Draw the inflation :math:`I_k` of each group or class from its prior, (*shape, groups or classes),

    .. math:: I_k = 1 + (\hat I_k - 1) \frac{D / 2}{\chi^2_{D/2}}

    with the expected inflation :math:`\hat I_k` and the number of directions D. A chi-squared variable with D / 2
    degrees of freedom is twice a gamma variable of the shape D / 4. If D is unknown (NaN), the inflation is the
    expected one.
    """
    expected = data[f"{side}_inflation"].to_numpy()
    gamma_shape = data[f"{side}_directions"].to_numpy() / 4
    factor = np.ones((*shape, len(expected)))
    for k in np.flatnonzero((expected > 1) & np.isfinite(gamma_shape)):
        factor[..., k] = gamma_shape[k] / rng.gamma(gamma_shape[k], size=shape)
    return np.asarray(1 + (expected - 1) * factor)


def inputs_from_vectors(spec: ModelSpec, data: xr.Dataset) -> dict[str, Numbers]:
    """Return the inputs of a PyMC model for preferences and related words, in units of the priors.

    Each array has a number for each group or class of a side ("target" or "attribute"). If the preferences of the side
    have a prior from vectors, the arrays are

    - ``{side}_preference_sd``, the expected standard deviation of preferences;
    - ``{side}_is_compared``, 1 for groups and associated classes, and 0 for control classes;
    - ``{side}_share_of_{scale}``, the weight of the squared scale in c, the part of the variance of measured
      preferences that is not due to true preferences (see `explained_by`).

    If some words of the side are related, the arrays are

    - ``{side}_inflation_expected``, the expected ratio of the variance of a mean to the variance for independent words;
    - ``{side}_directions``, the number of directions in which general words vary. If it is unknown, the expected ratio
      is treated as known, so the number is very large (`CERTAIN`).
    """
    unit = unit_of(spec, data)
    arrays: dict[str, Numbers] = {}
    for side in sides_from_vectors(spec, data):
        arrays[f"{side}_preference_sd"] = data[f"{side}_preference_sd"].to_numpy() / unit
        arrays[f"{side}_is_compared"] = is_compared(data, side).astype(float)
        for scale, weights in explained_by(spec, data, side).items():
            arrays[f"{side}_share_of_{scale}"] = weights
    for side in related_sides(data):
        arrays[inflation_name(side) + EXPECTED] = data[inflation_name(side)].to_numpy()
        directions = data[f"{side}_directions"].to_numpy()
        arrays[f"{side}_directions"] = np.where(np.isnan(directions), CERTAIN, directions)
    return arrays
