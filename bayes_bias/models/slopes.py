"""Slopes of word covariates and the bias at equal covariates.

Given the scales, the distribution of the slopes is exact.

Let z be the covariates of targets and attributes, centred and in standard deviations within groups and classes::

    y[i, j] = mean[g, c] + target_slope[c] z[i] + attribute_slope[g] z[j] + covariate_product z[i] z[j] + ...

`mean` is the expectation at equal covariates. Without the product, the model would adjust twice for a similarity
between frequent words, once for each side. A slope is equal in all groups (classes), as in an analysis of covariance.
Its prior is flat.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayes_bias.models.patterns import Variances
from bayes_bias.models.table_parts import slope_patterns
from bayes_bias.shared_types import Numbers
from bayes_bias.table.bias_weights import BLOCK
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side
from bayes_bias.table.statistics import centre_covariates

SLOPES = TARGET_SLOPE, ATTRIBUTE_SLOPE, PRODUCT = ("target_slope", "attribute_slope", "covariate_product")
# Dims of the slopes in the posterior.
DIMS_OF: Mapping[str, tuple[str, str]] = {
    TARGET_SLOPE: ("attribute_class", "target_covariate"),
    ATTRIBUTE_SLOPE: ("group", "attribute_covariate"),
    PRODUCT: ("target_covariate", "attribute_covariate"),
}
_AVERAGE = ("target_covariate_mean", "attribute_covariate_mean")


def explained_blocks(slopes: xr.Dataset, data: xr.Dataset) -> xr.DataArray:
    """Return the part of block means that slopes explain. Slopes have the names in a posterior."""
    return _explained(slopes, *map(data.get, _AVERAGE))


def explained_pairs(
    slopes: xr.Dataset, data: xr.Dataset, target: xr.DataArray, attribute: xr.DataArray
) -> xr.DataArray | float:
    """Return the part of each pair's value that slopes explain, (..., pair), or 0 without covariates.

    `target` and `attribute` are the positions of the words of each pair. Slopes of targets' covariates differ between
    classes, and slopes of attributes' covariates between groups, so each pair has those of its class and group. Slopes
    of products of covariates are the same for all pairs.
    """
    group = xr.DataArray(data.group_of.to_numpy()[target], dims="pair")
    attribute_class = xr.DataArray(data.class_of.to_numpy()[attribute], dims="pair")
    cell_of_pair = {TARGET_SLOPE: {"attribute_class": attribute_class}, ATTRIBUTE_SLOPE: {"group": group}, PRODUCT: {}}
    slopes_at_pair = {name: slopes[name].isel(cell_of_pair[name]) for name in SLOPES if name in slopes}
    if not slopes_at_pair:
        return 0.0
    targets = data.get("target_covariate_value")
    attributes = data.get("attribute_covariate_value")
    return _explained(
        slopes_at_pair,
        None if targets is None else targets.isel(target=target),
        None if attributes is None else attributes.isel(attribute=attribute),
    )


def explained_words(slopes: xr.Dataset, data: xr.Dataset, side: Side) -> Numbers:
    """Return the part of word means, relative to their group (class), that slopes explain, (chain, draw, words, k).

    It is the product of the centred covariates, (words, covariates), and the slopes, (covariates, k), for the k classes
    (groups) of the other side.
    """
    by_covariate = _regression(slopes, data, side).transpose("chain", "draw", *reversed(DIMS_OF[f"{side}_slope"]))
    return np.asarray(centre_covariates(data, side) @ by_covariate.to_numpy())


def _explained(
    slopes: Mapping[str, xr.DataArray] | xr.Dataset, targets: xr.DataArray | None, attributes: xr.DataArray | None
) -> xr.DataArray:
    """Return the part that slopes explain, given the covariates of targets, of attributes, or of both.

    The part is a sum over covariates: of slopes times covariates of targets, of slopes times covariates of attributes,
    and of slopes of products times covariates of both.
    """
    parts = []
    if targets is not None:
        parts.append(xr.dot(slopes[TARGET_SLOPE], targets, dim="target_covariate"))
    if attributes is not None:
        parts.append(xr.dot(slopes[ATTRIBUTE_SLOPE], attributes, dim="attribute_covariate"))
    if targets is not None and attributes is not None:
        parts.append(xr.dot(slopes[PRODUCT], targets, attributes, dim=["target_covariate", "attribute_covariate"]))
    return sum(parts[1:], start=parts[0])


def _regression(slopes: xr.Dataset, data: xr.Dataset, side: Side) -> xr.DataArray:
    """Return the slopes of word means, that is, averaged over the words of the other side.

    Slopes are stored at the centre of the covariates of the other side. If there are slopes of products, the slope at
    the mean covariates of a group or class is the stored slope, plus the products times these means.
    """
    slope_at_centre = slopes[f"{side}_slope"]
    if PRODUCT not in slopes:
        return slope_at_centre
    opposite_mean = data[_AVERAGE[1 - SIDES.index(side)]]  # (groups or classes, covariates) of the other side
    return slope_at_centre + xr.dot(slopes[PRODUCT], opposite_mean, dim=[opposite_mean.dims[-1]])


@dataclass(frozen=True, eq=False)
class Slopes:
    """Slopes of the word means of one side, which are normal given the scales.

    `centre` has the shape (..., covariates, k), and `covariance` (..., covariates x k, covariates x k).
    """

    centre: Numbers
    covariance: Numbers

    @classmethod
    def of(cls, variances: Variances, data: xr.Dataset, side: Side) -> "Slopes":
        r"""Estimate slopes by generalised least squares, so that parts of the table in which words vary less get more
        weight.

        A part has words with the same variance. Let :math:`X_p` (rows, q) be the q covariates of the rows of part p,
        :math:`Y_p` (rows, k) their values in the k classes or groups of the other side, and :math:`P_p` (k, k) the
        inverse of the covariance of a row given the scales. The covariance of the slopes is the inverse of their
        information :math:`\sum_p X_p' X_p \otimes P_p`, and their mean is this covariance times their score
        :math:`\sum_p X_p' Y_p P_p`. Leading axes (...) of the results are draws of the scales.
        """
        x = data[f"{side}_slope_design"].to_numpy()
        y = data[f"{side}_slope_value"].to_numpy()
        _, first_row, part = np.unique(data[f"{side}_slope_part"].to_numpy(), return_index=True, return_inverse=True)
        patterns = slope_patterns(data, side, variances.patterns)[first_row]  # equal for all rows of a part
        precision = np.linalg.inv(variances.of(patterns.swapaxes(0, 1)))  # (..., parts, k, k)
        q, k = x.shape[-1], y.shape[-1]
        xx = np.empty((len(first_row), q, q))
        xy = np.empty((len(first_row), q, k))
        for p in range(len(first_row)):
            rows = x[part == p]
            xx[p] = rows.T @ rows
            xy[p] = rows.T @ y[part == p]
        # A slope has a covariate (l or m) and a class or group of the other side (i or j). Its two indices are joined.
        information = np.einsum("plm,...pij->...limj", xx, precision)
        covariance = np.linalg.inv(information.reshape(*information.shape[:-4], q * k, q * k))
        score = np.einsum("plj,...pij->...li", xy, precision)
        centre = (covariance @ score.reshape(*score.shape[:-2], q * k, 1))[..., 0]
        return cls(centre.reshape(score.shape), covariance)

    @classmethod
    def from_products(cls, variances: Variances, data: xr.Dataset) -> "Slopes":
        """Return the slopes of products of covariates, which only the interaction determines.

        Residuals of the interaction are independent, so the covariance of least squares is the residual variance times
        the Kronecker product of ``inv(x'x)`` and ``inv(z'z)`` for the covariates x of targets and z of attributes.
        """
        residual = variances.table.residual[..., 0, None, None]  # controls have no covariates
        x = centre_covariates(data, "target")
        z = centre_covariates(data, "attribute")
        covariance = residual * np.kron(np.linalg.inv(x.T @ x), np.linalg.inv(z.T @ z))
        centre = data[PRODUCT].to_numpy()  # least squares, which do not depend on the scales
        return cls(np.broadcast_to(centre, (*residual.shape[:-2], *centre.shape)), covariance)

    def contrast(self, weights: Numbers) -> tuple[Numbers, Numbers]:
        """Return the mean and variance (..., contrasts) of weighted sums of slopes, with weights (contrasts,
        covariates, k).

        With the weights w of a sum as a vector, the mean is ``w' centre``, and the variance is ``w' covariance w``.
        """
        w = weights.reshape(len(weights), -1)
        mean = self.centre.reshape(*self.centre.shape[:-2], -1) @ w.T
        return mean, np.einsum("ja,...ab,jb->...j", w, self.covariance, w)

    def draw(self, rng: np.random.Generator) -> Numbers:
        """Draw slopes (..., covariates, k) once for each set of scales: their centre plus normal noise."""
        normal = rng.standard_normal((*self.covariance.shape[:-1], 1))
        noise = (np.linalg.cholesky(self.covariance) @ normal)[..., 0]
        return np.asarray(self.centre + noise.reshape(self.centre.shape))


def sides_explained(data: xr.Dataset) -> tuple[Side, ...]:
    """Return the sides whose words have covariates."""
    return tuple(side for side in SIDES if f"{side}_covariate_value" in data)


def drawn_slopes(
    variances: Variances, data: xr.Dataset, sample: Mapping[str, xr.DataArray], rng: np.random.Generator
) -> xr.Dataset:
    """Draw all slopes given the scales: of the covariates of targets, of attributes, and of products of both.

    `Slopes` are slopes of word means, that is, averages over the words of the other side. If both sides have
    covariates, the stored slopes are at the centre of the covariates of the other side, so the slopes of products times
    the mean covariates of the other side are subtracted. `sample` has the sample dims of the draws with their labels.
    `Slopes.draw` returns (..., covariates, k), and the stored variables have the covariates last (`DIMS_OF`).
    """
    sides = sides_explained(data)
    slopes = {f"{side}_slope": Slopes.of(variances, data, side).draw(rng) for side in sides}
    if len(sides) == len(SIDES):
        slopes[PRODUCT] = product = Slopes.from_products(variances, data).draw(rng)
        target_means = data.target_covariate_mean.to_numpy()
        attribute_means = data.attribute_covariate_mean.to_numpy()
        slopes[TARGET_SLOPE] = slopes[TARGET_SLOPE] - product @ attribute_means.T
        slopes[ATTRIBUTE_SLOPE] = slopes[ATTRIBUTE_SLOPE] - np.swapaxes(product, -1, -2) @ target_means.T
    variables, coords = {}, dict(sample)
    for name, values in slopes.items():
        dims = DIMS_OF[name]
        variables[name] = ((*sample, *dims), values if name == PRODUCT else np.swapaxes(values, -1, -2))
        coords |= {dim: data[dim] for dim in dims}
    return xr.Dataset(variables, coords)


def explained_contrast(
    variances: Variances, data: xr.Dataset, weights: xr.DataArray
) -> dict[Side, tuple[Numbers, Numbers]]:
    """Return the mean and variance, given the scales, of the part of contrasts (..., contrasts) that the covariates of
    each side explain.

    The part that the covariates of targets explain is the sum over classes of slopes times a weighted mean of
    covariates, with the weights w of blocks, and likewise for attributes. Slopes of means already include the products
    at the mean covariates of the other side. The products are therefore counted twice, once for each side, and their
    part is subtracted once, from the targets.
    """
    sides = sides_explained(data)
    w = weights.transpose("contrast", *BLOCK).to_numpy()  # (contrasts j, groups g, classes c)
    contrasts: dict[Side, tuple[Numbers, Numbers]] = {}
    for side in sides:
        average = data[f"{side}_covariate_mean"].to_numpy()
        # The weights of slopes are contrasts of mean covariates (l of targets, m of attributes): for each contrast and
        # covariate, a weight of the slope in each class (group).
        slope_weights = np.einsum("jgc,gl->jlc" if side == "target" else "jgc,cm->jmg", w, average)
        contrasts[side] = Slopes.of(variances, data, side).contrast(slope_weights)
    if len(sides) == len(SIDES):
        target_means, attribute_means = (data[name].to_numpy() for name in _AVERAGE)
        product_weights = -np.einsum("jgc,gl,cm->jlm", w, target_means, attribute_means)
        product_mean, product_variance = Slopes.from_products(variances, data).contrast(product_weights)
        mean, variance = contrasts["target"]
        contrasts["target"] = (mean + product_mean, variance + product_variance)
    return contrasts


def spread_of_words(slopes: xr.Dataset, data: xr.Dataset, weights: xr.DataArray, side: Side) -> xr.DataArray:
    """Return the variance of contrasts of block means, (chain, draw, contrast), that is due to the covariates of new
    words of a side. The variance of the unadjusted bias includes this part, but the variance of the bias at equal
    covariates does not.

    A contrast with `weights` has slopes b, the weighted sum of the slopes of the classes (groups) of the other side. In
    a group (class) of n words, its mean varies by ``b' C b / n`` with the correlation C of covariates, which are in
    standard deviations. The variances of the groups (classes) are added.
    """
    z = centre_covariates(data, side)  # (words, covariates)
    covariate = f"{side}_covariate"
    # `corrcoef` returns a number, not a matrix, for a single covariate. "other" is the second covariate of a pair.
    correlation = xr.DataArray(np.corrcoef(z.T).reshape(z.shape[1], -1), dims=(covariate, "other"))
    b = xr.dot(_regression(slopes, data, side), weights, dim=[DIMS_OF[f"{side}_slope"][0]])
    b = b / np.sqrt(data[f"n_{side}s"])  # so that b' C b is divided by n
    return xr.dot(b, correlation, b.rename({covariate: "other"}), dim=[covariate, "other", CATEGORY_COORD[side]])
