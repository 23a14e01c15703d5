"""The independent parts of a table: scatter matrices whose covariances are sums of terms (see `patterns`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import xarray as xr
from scipy.linalg import null_space

from bayes_bias.models.patterns import Patterns
from bayes_bias.shared_types import Numbers
from bayes_bias.table.labels import SIDES, Side

# The part of a table that contains the words of each side, and the part for the slopes of their covariates.
OF_SIDE: Mapping[Side, str] = MappingProxyType({"target": "rows", "attribute": "columns"})
SLOPES: Mapping[Side, str] = MappingProxyType({side: f"{side}_slopes" for side in SIDES})


@dataclass(frozen=True, eq=False)
class Part:
    """Scatter matrices of independent normal vectors with mean zero.

    Attributes
    ----------
    scatter : array (parts, n, n)
        Sums of cross-products.
    df : array (parts,)
        Number of vectors.
    patterns : array (parts, terms, n, n)
        The patterns of their covariances.
    """

    scatter: Numbers
    df: Numbers
    patterns: Numbers

    def log_likelihood(self, coefficients: Numbers) -> Numbers:
        """Return the log likelihood of the scatter matrices S, summed over parts, up to a constant.

        The log likelihood of a part is ``-(df log det M + tr(M^-1 S)) / 2``, where the covariance M is the sum of
        coefficients (..., terms) times patterns. The result has the shape (...).
        """
        covariance = np.tensordot(coefficients, self.patterns, ([-1], [1]))  # M of each part, (..., parts, k, k)
        trace = (np.linalg.inv(covariance) * self.scatter).sum(axis=(-1, -2))
        log_det = np.linalg.slogdet(covariance).logabsdet
        return np.asarray(-0.5 * (self.df * log_det + trace).sum(axis=-1))


def parts_of(data: xr.Dataset, patterns: Patterns) -> dict[str, Part]:
    r"""Split a table into parts that are independent given the scales, in its own units.

    ``interaction`` contains the residuals after removing the row and column means of blocks. ``rows`` and ``columns``
    contain the differences between words within their group or class.

    Orthonormal contrasts over R replicates transform their tables into independent tables. The first is the mean table
    times :math:`\sqrt R`. In the mean table, each variance is the variance between words plus 1/R of the variance
    between replicates. The other R - 1 tables contain only the variance between replicates. Only sums over these tables
    are used, so the cost does not depend on the number of replicates. Their block means have expectation zero and are
    the part ``blocks``. They vary with the effects of replicates and with the averages of word effects by replicate.

    ``target_slopes`` and ``attribute_slopes`` contain the random differences in slopes of covariates between parts.
    """
    parts = {"interaction": _interaction(data, patterns)}
    for side, name in OF_SIDE.items():
        parts[name] = _side_part(data, side, patterns)
    for side, name in SLOPES.items():
        if part := _slopes(data, side, patterns):
            parts[name] = part
    if patterns.replicates:
        deviation = (data.replicate_block_mean - data.block_mean).to_numpy().reshape(data.sizes["replicate"], -1)
        covariances = patterns.block_covariances()
        between = sum(covariance for part, covariance in covariances.items() if "replicate" in part)
        scatter = (deviation.T @ deviation)[None]
        df = np.array([len(deviation) - 1.0])
        parts["blocks"] = Part(scatter, df, np.asarray(between)[None])
    return parts


def slope_patterns(data: xr.Dataset, side: Side, patterns: Patterns) -> Numbers:
    """Return the patterns of the covariance of each row that informs slopes, (rows, terms, k, k). See
    `bayes_bias.table.statistics.without_slopes`.
    """
    return _side_part(data, side, patterns).patterns[data[f"{side}_slope_part"].to_numpy()]


def _interaction(data: xr.Dataset, patterns: Patterns) -> Part:
    """Return the parts with the interaction, that is, residuals after removing the means of rows and columns.

    There are up to four: for the associated classes and for the control classes, each in the mean table and between
    replicates. Each has a sum of squares, degrees of freedom, and the pattern of its residual variance.
    """
    residual_patterns = {"": patterns.table.residual}
    if patterns.replicates:
        residual_patterns["replicate_"] = patterns.between.residual
    first_control = data.sizes["attribute_class"] - data.sizes["control"]
    squares, df, part_patterns = [], [], []
    # The prefixes of names, such as "replicate_control_interaction_ss", and the first class of each kind. All classes
    # of a kind have the same pattern.
    for table, residual in residual_patterns.items():
        for kind, attribute_class in (("", 0), ("control_", first_control)):
            if f"{table}{kind}interaction_ss" in data:
                squares.append(float(data[f"{table}{kind}interaction_ss"]))
                df.append(float(data[f"{table}{kind}interaction_df"]))
                part_patterns.append(residual[:, attribute_class])
    return Part(np.array(squares)[:, None, None], np.array(df), np.stack(part_patterns)[..., None, None])


def _side_part(data: xr.Dataset, side: Side, patterns: Patterns) -> Part:
    """Return the parts with the differences between the words of one side within their group or class.

    The parts of the mean table come first, followed by the parts for differences between replicates, if there are any.
    A part of the mean table has words of one group or class (`cell_of_part`) with the same weight of effects that
    clusters share (`shared`).
    """
    scatter = data[f"{side}_scatter"].to_numpy()
    df = data[f"{side}_df"].to_numpy()
    cell_of_part = data[f"{side}_part_cell"].to_numpy()
    shared = data[f"{side}_shared"].to_numpy()
    part_patterns = [patterns.rows(side, cell_of_part[part], shared[part]) for part in range(len(df))]
    if patterns.replicates:
        replicate_df = data[f"replicate_{side}_df"].to_numpy()
        scatter = np.concatenate([scatter, data[f"replicate_{side}_scatter"].to_numpy()])
        df = np.concatenate([df, replicate_df])
        part_patterns += [patterns.rows_between(side, k) for k in range(len(replicate_df))]
    return Part(scatter, df, np.stack(part_patterns))


def _slopes(data: xr.Dataset, side: Side, patterns: Patterns) -> Part | None:
    """Return the part with differences between slopes.

    Return None if there are no covariates, or if all rows are needed to estimate the slopes.

    Each row of `without_slopes` is normal with mean ``R B`` and the covariance of its part. The combinations of rows in
    which B cancels form one normal vector, which contributes the remaining factor of the restricted likelihood.
    """
    if f"{side}_slope_part" not in data:
        return None
    combinations = null_space(data[f"{side}_slope_design"].to_numpy().T).T  # (combinations, rows)
    if not combinations.size:
        return None
    vector = (combinations @ data[f"{side}_slope_value"].to_numpy()).ravel()
    # For each term k, the covariance of elements i and j of the combinations a and b, from independent rows r.
    row_patterns = slope_patterns(data, side, patterns)
    covariance = np.einsum("ar,br,rkij->kaibj", combinations, combinations, row_patterns, optimize=True)
    return Part(np.outer(vector, vector)[None], np.ones(1), covariance.reshape(1, -1, len(vector), len(vector)))
