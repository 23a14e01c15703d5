"""The independent parts of a table: scatter matrices whose covariances are sums of terms, see `patterns`."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import xarray as xr
from scipy.linalg import null_space

from bayes_bias.models.patterns import Patterns
from bayes_bias.shared_types import Numbers
from bayes_bias.table.labels import SIDES, Side

# What the words of a side are in a table, and how slopes of their covariates differ between its parts.
OF_SIDE: Mapping[Side, str] = MappingProxyType({"target": "rows", "attribute": "columns"})
SLOPES: Mapping[Side, str] = MappingProxyType({side: f"{side}_slopes" for side in SIDES})


@dataclass(frozen=True, eq=False)
class Part:
    """Scatter matrices of independent normal vectors about zero.

    Attributes
    ----------
    scatter : array (parts, n, n)
        Sums of cross-products.
    df : array (parts,)
        Of how many vectors.
    patterns : array (parts, terms, n, n)
        The patterns of their covariances.
    """

    scatter: Numbers
    df: Numbers
    patterns: Numbers

    def log_likelihood(self, coefficients: Numbers) -> Numbers:
        """``-(df log det M + tr(M^-1 S)) / 2``, summed over parts, where ``M`` is the sum of coefficients (..., terms)
        times patterns; (...), up to a constant."""
        covariance = np.tensordot(coefficients, self.patterns, ([-1], [1]))
        explained = (np.linalg.inv(covariance) * self.scatter).sum(axis=(-1, -2))
        return np.asarray(-0.5 * (self.df * np.linalg.slogdet(covariance).logabsdet + explained).sum(axis=-1))


def parts_of(data: xr.Dataset, patterns: Patterns) -> dict[str, Part]:
    r"""Split a table into parts that are independent given the scales, in its own units.

    ``interaction`` is what rows and columns of blocks leave, ``rows`` and ``columns`` are how words differ within their
    group or class.

    Orthonormal contrasts over R replicates turn their tables into independent ones: the mean table, times
    :math:`\sqrt R`, in which every variance is that of words plus 1/R of what differs between replicates; and R - 1
    tables in which variances are the latter alone. Of these only sums over tables enter, so that any number of
    replicates costs the same. Their block means have expectation zero and are the part ``blocks``: they vary by the
    replicates' own effects and by the averages of those of words.

    ``target_slopes`` and ``attribute_slopes`` are how slopes of covariates differ between parts by chance.
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
        scatter, df = (deviation.T @ deviation)[None], np.array([len(deviation) - 1.0])
        parts["blocks"] = Part(scatter, df, np.asarray(between)[None])
    return parts


def slope_patterns(data: xr.Dataset, side: Side, patterns: Patterns) -> Numbers:
    """Return the patterns of the covariance of each row that tells slopes, (rows, terms, k, k); see
    `bayes_bias.table.statistics.without_slopes`."""
    return _side_part(data, side, patterns).patterns[data[f"{side}_slope_part"].to_numpy()]


def _interaction(data: xr.Dataset, patterns: Patterns) -> Part:
    """Return the interaction of the associated classes and the controls, in the mean table and between replicates."""
    tables = {"": patterns.table.residual}
    if patterns.replicates:
        tables["replicate_"] = patterns.between.residual
    n_associated = data.sizes["attribute_class"] - data.sizes["control"]
    ss, df, part_patterns = [], [], []
    for prefix, residual in tables.items():
        for classes, position in (("", 0), ("control_", n_associated)):
            if f"{prefix}{classes}interaction_ss" in data:
                ss.append(float(data[f"{prefix}{classes}interaction_ss"]))
                df.append(float(data[f"{prefix}{classes}interaction_df"]))
                part_patterns.append(residual[:, position])
    return Part(np.array(ss)[:, None, None], np.array(df), np.stack(part_patterns)[..., None, None])


def _side_part(data: xr.Dataset, side: Side, patterns: Patterns) -> Part:
    """Return the parts of the mean table, and then the parts by which replicates differ."""
    scatter, df = data[f"{side}_scatter"].to_numpy(), data[f"{side}_df"].to_numpy()
    cell, shared = data[f"{side}_part_cell"].to_numpy(), data[f"{side}_shared"].to_numpy()
    part_patterns = [patterns.rows(side, cell[part], shared[part]) for part in range(len(df))]
    if patterns.replicates:
        replicate_df = data[f"replicate_{side}_df"].to_numpy()
        scatter = np.concatenate([scatter, data[f"replicate_{side}_scatter"].to_numpy()])
        df = np.concatenate([df, replicate_df])
        part_patterns += [patterns.rows_between(side, k) for k in range(len(replicate_df))]
    return Part(scatter, df, np.stack(part_patterns))


def _slopes(data: xr.Dataset, side: Side, patterns: Patterns) -> Part | None:
    """Return the part that tells how slopes differ, or None if all rows are needed to know the slopes.

    Each row of `without_slopes` is normal about ``R B`` with its part's covariance. The combinations of rows in which B
    cancels are one normal vector together, the rest of the restricted likelihood.
    """
    if f"{side}_slope_part" not in data:
        return None
    free = null_space(data[f"{side}_slope_design"].to_numpy().T).T
    if not free.size:
        return None
    vector = (free @ data[f"{side}_slope_value"].to_numpy()).ravel()
    spread = np.einsum("ar,br,rkij->kaibj", free, free, slope_patterns(data, side, patterns), optimize=True)
    return Part(np.outer(vector, vector)[None], np.ones(1), spread.reshape(1, -1, len(vector), len(vector)))
