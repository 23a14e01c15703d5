"""The log density of the collapsed model and its gradient, compiled by Numba once for all tables.

    log p(x) = sum over parts of -(df log|M| + tr(M^-1 S)) / 2  +  sum over scales of log prior(s) + log|ds/dx|
    M = sum over scales of s^2 times a pattern

Parts are those of `bayes_bias.models.table_parts`; each scale s is sampled as a function of an unconstrained x. A scale
whose variance v vectors tell (`bayes_bias.models.preferences`) is sampled as x = log v, with s^2 = max(v - c, 0), where
c is a weighted sum of other squared scales.
``bayes_bias.pymc_model(table, marginal=True)`` is the same model in PyMC, and a test holds the two together.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Self

import numpy as np
import xarray as xr
from numba import carray, cfunc, njit, types
from numpy.typing import NDArray

from bayes_bias.fitting.nutpie_door import CompiledPyMCModel
from bayes_bias.models.crossed import parts_in_units
from bayes_bias.models.preferences import LEAST_SQUARE, PREFERENCE, explained_by, sides_from_vectors, variance_name
from bayes_bias.models.scales import FOLD, dims_of_scales, folds, typical_size, unit_of
from bayes_bias.models.spec import FROM_VECTORS, POSITIVE_DISTRIBUTIONS, ModelSpec, Prior
from bayes_bias.models.table_parts import Part

type Numbers = NDArray[np.float64]

_FAMILIES = tuple(POSITIVE_DISTRIBUTIONS)
_HALF_NORMAL, _HALF_STUDENT_T, _HALF_CAUCHY, _EXPONENTIAL, _GAMMA, _INVERSE_GAMMA, _LOG_NORMAL = range(len(_FAMILIES))
# Numbers before the priors; and of each its family, two parameters, and the unit in which its scale is folded, or 0.
_HEADER, _OF_PRIOR = 6, 4
# The family of a scale whose variance vectors tell; its parameters are degrees of freedom and expected variance.
_FROM_VECTORS = len(_FAMILIES)
# Of each scale from vectors: its position, and the positions and weights of up to five scales that explain a part.
_EXPLAINING = 5
_OF_VARIANCE = 1 + 2 * _EXPLAINING


def _kept(decorator: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Compile with what `decorator` makes, and keep the code on disk if any folder for it can be written to."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return decorator(cache=True)(function)
        except RuntimeError:  # Numba finds no such folder
            return decorator(cache=False)(function)

    return compiled


_compiled = _kept(partial(njit, error_model="numpy"))


@_compiled
def _log_prior(family, a, b, s):  # type: ignore[no-untyped-def]  # Numba's types
    """Log density of a scale, up to a constant, and its slope."""
    if family == _HALF_NORMAL:
        return -0.5 * (s / a) ** 2, -s / a**2
    if family == _HALF_STUDENT_T:
        return -0.5 * (a + 1) * np.log1p((s / b) ** 2 / a), -(a + 1) * s / (a * b**2 + s**2)
    if family == _HALF_CAUCHY:
        return -np.log1p((s / a) ** 2), -2 * s / (a**2 + s**2)
    if family == _EXPONENTIAL:
        return -a * s, -a
    if family == _GAMMA:
        return (a - 1) * np.log(s) - b * s, (a - 1) / s - b
    if family == _INVERSE_GAMMA:
        return -(a + 1) * np.log(s) - b / s, -(a + 1) / s + b / s**2
    if family == _LOG_NORMAL:
        z = (np.log(s) - a) / b
        return -0.5 * z**2 - np.log(s), -(z / b + 1) / s
    return np.nan, np.nan  # a family without a branch here: the sampler cannot start


@_compiled
def _scale(x, unit):  # type: ignore[no-untyped-def]
    """A scale, its slope ds/dx, and the log of that with its own slope; folded (see `FoldedScale`) or exponential."""
    if unit == 0:
        s = np.exp(x)
        return s, s, x, 1.0
    root = np.sqrt(1 + x * x)
    slope = 2 * root - 1 / root
    sign = 1.0 if x >= 0 else -1.0
    return unit * abs(x) * root, sign * unit * slope, np.log(slope), (2 + 1 / root**2) * x / root / slope


@_compiled
def _invert(matrix, n):  # type: ignore[no-untyped-def]
    """Invert the first n rows and columns in place, and return the log determinant: by Gauss and Jordan, without
    pivots since a covariance is positive definite."""
    log_det = 0.0
    for i in range(n):
        pivot = matrix[i, i]
        log_det += np.log(pivot)
        matrix[i, i] = 1.0
        inverse = 1 / pivot
        for j in range(n):
            matrix[i, j] *= inverse
        for k in range(n):
            if k != i:
                factor = matrix[k, i]
                matrix[k, i] = 0.0
                for j in range(n):
                    matrix[k, j] -= factor * matrix[i, j]
    return log_det


@_compiled
def _add_part(data, at, coefficients, slopes, work):  # type: ignore[no-untyped-def]
    """Add the slopes of a part's log density in coefficients; return that density, and where the next part begins."""
    n, n_patterns, df = int(data[at]), int(data[at + 1]), data[at + 2]
    inverse, product, of_entry = work[0], work[1], work[2]
    scatter, first, step = at + 3, at + 3 + n * n, 1 + n * (n + 1) // 2
    inverse[:n, :n] = 0.0
    for p in range(first, first + n_patterns * step, step):
        coefficient, entry = coefficients[int(data[p])], p + 1
        for i in range(n):
            for j in range(i + 1):
                inverse[i, j] += coefficient * data[entry]
                entry += 1
    for i in range(n):
        for j in range(i):
            inverse[j, i] = inverse[i, j]
    log_det = _invert(inverse, n)
    explained = 0.0
    for i in range(n):
        for j in range(n):
            product[i, j] = 0.0
            for k in range(n):
                product[i, j] += inverse[i, k] * data[scatter + k * n + j]
        explained += product[i, i]
    for i in range(n):
        for j in range(i + 1):
            of_entry[i, j] = -df * inverse[i, j]
            for k in range(n):
                of_entry[i, j] += product[i, k] * inverse[k, j]
            if i == j:
                of_entry[i, j] *= 0.5  # those beside the diagonal count twice
    for p in range(first, first + n_patterns * step, step):
        slope, entry = 0.0, p + 1
        for i in range(n):
            for j in range(i + 1):
                slope += of_entry[i, j] * data[entry]
                entry += 1
        slopes[int(data[p])] += slope
    return -0.5 * (df * log_det + explained), first + n_patterns * step


@_compiled
def _explained(parameters, data, at):  # type: ignore[no-untyped-def]
    """What other scales explain of a variance."""
    explained = 0.0
    for k in range(_EXPLAINING):
        explained += data[at + 2 + 2 * k] * parameters[int(data[at + 1 + 2 * k])] ** 2
    return explained


@_compiled
def parameters_at(point, parameters, data):  # type: ignore[no-untyped-def]
    """Write the scales at an unconstrained point, and then the variances that vectors tell."""
    n_scales, n_variances = int(data[1]), int(data[2])
    for k in range(n_scales):
        if data[_HEADER + _OF_PRIOR * k] != _FROM_VECTORS:
            parameters[k] = _scale(point[k], data[_HEADER + _OF_PRIOR * k + 3])[0]
    at = _HEADER + _OF_PRIOR * n_scales
    for k in range(n_variances):
        scale = int(data[at])
        variance = np.exp(point[scale])
        parameters[n_scales + k] = variance
        parameters[scale] = np.sqrt(max(variance - _explained(parameters, data, at), LEAST_SQUARE))
        at += _OF_VARIANCE


@_compiled
def log_density(point, gradient, data):  # type: ignore[no-untyped-def]
    """Return the log density at an unconstrained point, up to a constant, and write its gradient; data are `packed`."""
    n_scales, n_variances, n_parts, largest = int(data[1]), int(data[2]), int(data[3]), int(data[4])
    parameters, of_squares = np.empty(n_scales + n_variances), np.zeros(n_scales)
    squares, work = np.empty(n_scales), np.empty((3, largest, largest))
    parameters_at(point, parameters, data)
    for k in range(n_scales):
        squares[k] = parameters[k] ** 2
    variances = _HEADER + _OF_PRIOR * n_scales
    at, value = variances + _OF_VARIANCE * n_variances, 0.0
    for _ in range(n_parts):
        of_part, at = _add_part(data, at, squares, of_squares, work)
        value += of_part
    at = variances
    for _ in range(n_variances):
        scale = int(data[at])
        x, df, expected = point[scale], data[_HEADER + _OF_PRIOR * scale + 1], data[_HEADER + _OF_PRIOR * scale + 2]
        variance = np.exp(x)
        of_variance = of_squares[scale] if squares[scale] > 1.001 * LEAST_SQUARE else 0.0
        for k in range(_EXPLAINING):
            of_squares[int(data[at + 1 + 2 * k])] -= data[at + 2 + 2 * k] * of_variance
        value -= df / 2 * (x + expected / variance)
        gradient[scale] = of_variance * variance - df / 2 * (1 - expected / variance)
        at += _OF_VARIANCE
    for k in range(n_scales):
        family, a, b, unit = data[_HEADER + _OF_PRIOR * k : _HEADER + _OF_PRIOR * (k + 1)]
        if family == _FROM_VECTORS:
            continue
        s, of_point, log_of_point, slope = _scale(point[k], unit)
        of_prior, slope_of_prior = _log_prior(family, a, b, s)
        value += of_prior + log_of_point
        gradient[k] = (2 * s * of_squares[k] + slope_of_prior) * of_point + slope
    return value


# What nutpie calls: the size of a point, the point, memory for what is found, and at last the data. It goes on after a
# positive number, with a divergent transition.
_Pointer = types.CPointer(types.float64)


@_kept(partial(cfunc, types.int64(types.uint64, _Pointer, _Pointer, _Pointer, _Pointer)))
def _density_for_nutpie(size, point, gradient, value, data):  # type: ignore[no-untyped-def]
    slopes = carray(gradient, (size,))
    value[0] = log_density(carray(point, (size,)), slopes, carray(data, (int(data[0]),)))
    return 0 if np.isfinite(value[0]) and np.all(np.isfinite(slopes)) else 1


@_kept(partial(cfunc, types.int64(types.uint64, types.uint64, _Pointer, _Pointer, _Pointer)))
def _parameters_for_nutpie(size, n_parameters, point, parameters, data):  # type: ignore[no-untyped-def]
    parameters_at(carray(point, (size,)), carray(parameters, (n_parameters,)), carray(data, (int(data[0]),)))
    return 0


def knows(priors: Iterable[Prior]) -> bool:
    """Return whether all priors are of families whose densities are written here."""
    return all(prior.distribution in (*_FAMILIES, FROM_VECTORS) for prior in priors)


def _numbers_of(prior: Prior) -> tuple[float, float, float]:
    """Family and parameters."""
    first, *second = (float(prior.parameters[name]) for name in POSITIVE_DISTRIBUTIONS[prior.distribution])
    return float(_FAMILIES.index(prior.distribution)), first, *(second or [0.0])  # type: ignore[return-value]


def packed(priors: Numbers, variances: Numbers, parts: Iterable[Part]) -> Numbers:
    """Return all that `log_density` reads as one vector.

    Its length, the numbers of scales, variances from vectors and parts, and the size of the largest part; the priors
    (scales, 4); of each variance its scale and what explains a part of it (variances, 11); then of each part its size,
    how many patterns it has, its degrees of freedom, its scatter, and of each pattern that is not zero the position of
    its scale and the lower triangle of the pattern.
    """
    body, sizes = [priors.ravel(), variances.ravel()], []
    for part in parts:
        for scatter, df, of_part in zip(part.scatter, part.df, part.patterns, strict=True):
            scales = np.flatnonzero(of_part.any(axis=(1, 2)))
            rows, columns = np.tril_indices(len(scatter))
            body += [np.array([len(scatter), len(scales), df]), scatter.ravel()]
            body.append(np.column_stack([scales, of_part[scales][:, rows, columns]]).ravel())
            sizes.append(len(scatter))
    joined = np.concatenate(body)
    counts = [len(joined) + _HEADER, len(priors), len(variances), len(sizes), max(sizes), 0]
    return np.concatenate([counts, joined])


def _variances_from_vectors(spec: ModelSpec, data: xr.Dataset, priors: Numbers, first: Mapping[str, int]) -> Numbers:
    """Write the priors of the scales that vectors tell, and return what explains a part of each, (variances, 11)."""
    rows = []
    for side in sides_from_vectors(spec, data):
        position = first[PREFERENCE[side]]
        expected = (data[f"{side}_preference_sd"].to_numpy() / unit_of(spec, data)) ** 2
        explained = explained_by(spec, data, side)
        for k, (variance, df) in enumerate(zip(expected, data[f"{side}_directions"].to_numpy(), strict=True)):
            priors[position + k] = _FROM_VECTORS, df, variance, 0.0
            row = np.zeros(_OF_VARIANCE)
            row[0] = position + k
            for number, (scale, weights) in enumerate(explained.items()):
                own = first[scale] + (k if scale.startswith(PREFERENCE[side]) else 0)
                row[1 + 2 * number : 3 + 2 * number] = own, weights[k]
            rows.append(row)
    return np.array(rows).reshape(-1, _OF_VARIANCE)


@dataclass(frozen=True, eq=False)
class CollapsedModel:
    """The collapsed model of one table, as nutpie samples it.

    Attributes
    ----------
    dims, shapes : mapping
        Of each parameter, in the order of the sampled points.
    coords : mapping of str to list
        Labels of dims.
    priors : array (scales, 4)
        Of each single scale: the family of its prior, two parameters, and the unit in which it is folded, or 0.
    data : array
        See `packed`.
    start : array (parameters,)
        Where chains begin, but for a jitter.
    """

    dims: Mapping[str, tuple[str, ...]]
    shapes: Mapping[str, tuple[int, ...]]
    coords: Mapping[str, list[Any]]
    priors: Numbers
    data: Numbers
    start: Numbers

    @classmethod
    def of(cls, spec: ModelSpec, data: xr.Dataset) -> Self:
        """The model of a spec, all of whose priors it `knows`, with the data of a table."""
        dims = dims_of_scales(spec, data)
        shapes = {name: tuple(data.sizes[dim] for dim in along) for name, along in dims.items()}
        single = [name for name, shape in shapes.items() for _ in range(prod(shape))]
        unit = {name: FOLD * typical_size(spec, name) if folds(spec, name) else 0.0 for name in dims}
        from_vectors = {PREFERENCE[side] for side in sides_from_vectors(spec, data)}
        numbers = {name: (0.0, 0.0, 0.0) if name in from_vectors else _numbers_of(spec.priors[name]) for name in dims}
        priors = np.array([[*numbers[name], unit[name]] for name in single])
        variances = _variances_from_vectors(spec, data, priors, {name: single.index(name) for name in dims})
        start = np.array([2.0 if unit[name] else np.log(spec.priors[name].size) for name in single])
        told = priors[:, 0] == _FROM_VECTORS
        start[told] = np.log(priors[told, 2])
        for side in sides_from_vectors(spec, data):
            dims[variance_name(side)], shapes[variance_name(side)] = dims[PREFERENCE[side]], shapes[PREFERENCE[side]]
        coords = {dim: data[dim].to_numpy().tolist() for along in dims.values() for dim in along}
        parts = parts_in_units(spec, data)[1]
        return cls(dims, shapes, coords, priors, packed(priors, variances, parts.values()), start)

    @property
    def adaptation(self) -> str:
        """How nutpie adapts its mass matrix."""
        return "diag"

    def compiled(self) -> Any:
        """The compiled model that nutpie samples."""
        n = len(self.start)
        return CompiledPyMCModel(
            dims={},
            compiled_logp_func=_density_for_nutpie,
            compiled_expand_func=_parameters_for_nutpie,
            initial_point_func=lambda seed: self.start + np.random.default_rng(seed).uniform(-0.5, 0.5, n),
            shared_data={"data": self.data},
            shared_var_keys={},
            user_data=self.data,
            n_expanded=sum(map(prod, self.shapes.values())),
            shape_info=(list(self.shapes), None, list(self.shapes.values())),
            logp_func=None,
            expand_func=None,
            _n_dim=n,
            _shapes=dict(self.shapes),
            _coords={},
        )
