"""What a regression on covariates of words takes from the sufficient statistics of a table."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.table.word_clusters import Clusters
from bayes_bias.table.word_labels import SIDES, Side

type Numbers = NDArray[np.float64]

# Relative to the covariates' own size, what rounding leaves of zero.
_ROUNDING = 1e-8


def within_cells(data: xr.Dataset, side: Side) -> Numbers:
    """A side's covariates about the means of groups or classes, (words, covariates); no column where there are none."""
    if f"{side}_covariate_value" not in data:
        return np.zeros((data.sizes[side], 0))
    cells = data[{"target": "group_of", "attribute": "class_of"}[side]].to_numpy()
    return np.asarray(data[f"{side}_covariate_value"].to_numpy() - data[f"{side}_covariate_mean"].to_numpy()[cells])


def without_slopes(
    statistics: Mapping[str, Any], side: Side, deviations: Numbers, cells: NDArray[np.intp], means: xr.Dataset
) -> dict[str, Any]:
    """The statistics of a side's parts without what covariates explain of each, and beside them what they explain.

    In each part the deviations (directions, k) have the expectation Z B, for covariates Z (directions, covariates) in
    an orthonormal basis. With ``Z = U R`` the scatter that is left is that of the deviations without ``U U'``, and
    ``U'`` of them, (rows, k), has the expectation R B: ``slope_design`` and ``slope_value``, row by row.
    """
    z = within_cells(means, side)
    if not z.shape[1]:
        return dict(statistics)
    part, designs, values, number = [], [], [], 0
    for words, _, bases in Clusters.of_data(means, side).directions(cells):
        along = [basis @ (basis.T @ z[words]) for _, basis in bases]
        for projected in (*along, z[words] - sum(along)):
            basis, size, right = np.linalg.svd(projected, full_matrices=False)
            kept = size > _ROUNDING * np.sqrt(len(z))
            designs.append(size[kept, None] * right[kept])
            values.append(basis[:, kept].T @ deviations[words])
            part += [number] * int(kept.sum())
            number += 1
    rows, value = np.array(part, dtype=np.intp), np.concatenate(values)
    (parts, *across), scatter = statistics[f"{side}_scatter"]
    explained = np.zeros_like(scatter)
    np.add.at(explained, rows, value[:, :, None] * value[:, None, :])
    return {
        **statistics,
        f"{side}_scatter": ((parts, *across), scatter - explained),
        f"{side}_df": ((parts,), statistics[f"{side}_df"][1] - np.bincount(rows, minlength=number)),
        f"{side}_slope_part": (f"{side}_slope_row", rows),
        f"{side}_slope_design": ((f"{side}_slope_row", f"{side}_covariate"), np.concatenate(designs)),
        f"{side}_slope_value": ((f"{side}_slope_row", across[0]), value),
    }


def product_of_slopes(y: Any, means: xr.Dataset) -> tuple[dict[str, Any], float, float]:
    """What products of both sides' covariates explain of the interaction: their coefficients, a sum of squares and its
    degrees of freedom."""
    target, attribute = (within_cells(means, side) for side in SIDES)
    if not (target.shape[1] and attribute.shape[1]):
        return {}, 0.0, 0.0
    together = target.T @ (y @ attribute)
    slopes = np.linalg.solve(target.T @ target, together) @ np.linalg.inv(attribute.T @ attribute)
    variables = {"covariate_product": (("target_covariate", "attribute_covariate"), slopes)}
    return variables, float((slopes * together).sum()), float(slopes.size)
