"""The log density of the collapsed model, and its gradient. Numba compiles them once for all tables.

    log p(x) = sum over parts of -(df log|M| + tr(M^-1 S)) / 2  +  sum over scales of log prior(s) + log|ds/dx|
    M = sum over scales of s^2 times a pattern

Parts are defined in `bayes_bias.models.table_parts`. Each scale s is sampled as a function of an unconstrained x. If
the prior of a scale comes from vectors (`bayes_bias.models.preferences`), a variance v is sampled instead, where x =
log(v / phi), and phi is the factor of its side, which is sampled like a scale but has no pattern. The scale is then
s^2 = max(v - c, 0), where c is a weighted sum of other squared scales.
``bayes_bias.pymc_model(table, marginal=True)`` is the same model in PyMC, and a test compares both implementations.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import prod
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr
from numba import carray, cfunc, njit, types
from numpy.typing import NDArray

from bayes_bias.fitting.nutpie_door import of_c_functions
from bayes_bias.models.crossed import parts_in_units
from bayes_bias.models.families import Terms
from bayes_bias.models.preferences import (
    LEAST_SQUARE,
    PREFERENCE,
    explained_by,
    factor_name,
    is_compared,
    prior_of_factor,
    sides_from_vectors,
    variance_name,
)
from bayes_bias.models.scales import FOLD, dims_of_scales, folds, typical_size, unit_of
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.table_parts import Part
from bayes_bias.shared_types import Numbers
from bayes_bias.table.labels import Side

# Maximal number of other scales that explain a part of a variance from vectors.
_EXPLAINING = 5
# The fields of each scale: the terms of the log prior (`bayes_bias.models.families`); the unit of the folded transform,
# or 0 for another transform; and the degrees of freedom and the expected value of the variance, which are 0 unless the
# prior comes from vectors.
SCALE = np.dtype([(name, float) for name in (*Terms._fields, "unit", "df", "expected")])
# The fields of each variance from vectors: the scale; the position of its factor, or -1 if there is none; and the
# scales that explain a part of it, with their weights.
VARIANCE = np.dtype(
    [("scale", float), ("factor", float), ("explaining", float, _EXPLAINING), ("weight", float, _EXPLAINING)]
)
# The fields of each part of the table: its rows, degrees of freedom, and number of patterns.
PART = np.dtype([("size", float), ("df", float), ("patterns", float)])


class Arrays(NamedTuple):
    """All inputs of the density.

    Attributes
    ----------
    scales : array of `SCALE` (scales,)
    variances : array of `VARIANCE` (variances,)
    parts : array of `PART` (parts,)
    scatter : array (parts, largest, largest)
    scale_of : array (parts, most)
        The scale of each pattern.
    pattern : array (parts, most, largest (largest + 1) / 2)
        Lower triangle of each pattern.
    """

    scales: Any
    variances: Any
    parts: Any
    scatter: Any
    scale_of: Any
    pattern: Any


# The functions that nutpie calls receive all data as one block of memory. The block begins with six numbers: its
# length; the numbers of scales, variances, and parts; the size of the largest part; and the maximal number of patterns
# in a part.
_SIZES = 6
_SCALE, _VARIANCE, _PART = (kind.itemsize // np.dtype(float).itemsize for kind in (SCALE, VARIANCE, PART))


def _cached_on_disk(decorator: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function with `decorator`, and caches the code on disk if possible.

    `decorator` is one of Numba's, with all its settings but `cache`.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return decorator(cache=True)(function)
        except RuntimeError:  # raised if Numba finds no folder for its cache
            return decorator(cache=False)(function)

    return compiled


_compiled = _cached_on_disk(partial(njit, error_model="numpy"))


@_compiled
def named(block):  # type: ignore[no-untyped-def]  # Numba's types
    """Return the `Arrays` in a block of memory created by `packed`, as views without a copy.

    The block begins with `_SIZES` numbers: its length; the numbers of scales, variances, and parts; the size of the
    largest part; and the maximal number of patterns in a part. The arrays follow in the order of the fields of
    `Arrays`. A scale, variance, or part takes `_SCALE`, `_VARIANCE`, or `_PART` numbers.
    """
    scales = int(block[1])
    variances = int(block[2])
    parts = int(block[3])
    largest = int(block[4])
    most_patterns = int(block[5])
    end_scales = _SIZES + scales * _SCALE
    end_variances = end_scales + variances * _VARIANCE
    end_parts = end_variances + parts * _PART
    end_scatter = end_parts + parts * largest * largest
    end_scale_of = end_scatter + parts * most_patterns
    return Arrays(
        block[_SIZES:end_scales].view(SCALE),
        block[end_scales:end_variances].view(VARIANCE),
        block[end_variances:end_parts].view(PART),
        block[end_parts:end_scatter].reshape(parts, largest, largest),
        block[end_scatter:end_scale_of].reshape(parts, most_patterns),
        block[end_scale_of:].reshape(parts, most_patterns, largest * (largest + 1) // 2),
    )


@_compiled
def _log_prior(prior, s):  # type: ignore[no-untyped-def]
    """Return the log density of a scale s under its prior, up to a constant, and its derivative with respect to s.

    The log density of any built-in family is a sum of the terms below (see `bayes_bias.models.families`), most of which
    are omitted by their coefficients. For example, an exponential prior has only a rate r and the term -r s, and a
    half-normal prior only a halfwidth h and the term -(s / h)**2 / 2.
    """
    value, slope = 0.0, 0.0
    if prior.rate != 0:
        value, slope = -prior.rate * s, -prior.rate
    if prior.halfwidth < np.inf:
        value -= 0.5 * (s / prior.halfwidth) ** 2
        slope -= s / prior.halfwidth**2
    if prior.power != 0:
        value += prior.power * np.log(s)
        slope += prior.power / s
    if prior.inverse != 0:
        value -= prior.inverse / s
        slope += prior.inverse / s**2
    if prior.exponent != 0:
        term = (s / prior.width) ** prior.exponent
        value -= term
        slope -= prior.exponent * term / s
    if prior.tail != 0:
        value -= prior.tail * np.log1p(s**2 / prior.knee)
        slope -= 2 * prior.tail * s / (prior.knee + s**2)
    if prior.spread < np.inf:
        z = (np.log(s) - prior.centre) / prior.spread
        value -= 0.5 * z**2
        slope -= z / prior.spread / s
    return value, slope


@_compiled
def _scale(x, unit):  # type: ignore[no-untyped-def]
    """Return the scale s at an unconstrained point x, and the Jacobian of the transform.

    The transform is ``s = exp(x)`` if `unit` is 0. Otherwise it is folded (see `FoldedScale`), ``s = unit * |x| *
    sqrt(1 + x**2)``. The result consists of s, its derivative ds/dx, the log Jacobian log|ds/dx| up to a constant, and
    the derivative of this log with respect to x.
    """
    if unit == 0:
        s = np.exp(x)  # its own derivative, whose log is x
        return s, s, x, 1.0
    root = np.sqrt(1 + x * x)
    slope = 2 * root - 1 / root
    sign = 1.0 if x >= 0 else -1.0
    scale = unit * abs(x) * root
    derivative = sign * unit * slope
    log_derivative = np.log(slope)
    derivative_of_log = (2 + 1 / root**2) * x / root / slope
    return scale, derivative, log_derivative, derivative_of_log


@_compiled
def _invert(matrix, n):  # type: ignore[no-untyped-def]
    """Invert the first n rows and columns in place by Gauss-Jordan elimination, and return the log determinant.

    Step i divides row i by its pivot, and subtracts multiples of row i from all other rows. The determinant is the
    product of the pivots. A covariance matrix is positive definite, so pivoting is not necessary.
    """
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
def _add_parts(arrays, coefficients, slopes):  # type: ignore[no-untyped-def]
    """Return the log density of the parts, and add its derivatives with respect to the coefficients to `slopes`.

    With the covariance M of a part, its scatter S, and its degrees of freedom f, the log density is
    -(f log|M| + tr(M^-1 S)) / 2. Its derivative with respect to an element of M is an element of
    (M^-1 S M^-1 - f M^-1) / 2.

    M is a sum of known patterns, each multiplied by one of the `coefficients`, which are squared scales. `scale_of` has
    the position of the coefficient of each pattern of each part. A pattern is stored as its lower triangle, row by row.
    """
    parts, scatter, scale_of, pattern = arrays.parts, arrays.scatter, arrays.scale_of, arrays.pattern
    largest, value = scatter.shape[1], 0.0
    work = np.empty((3, largest, largest))
    inverse, product, entry_slope = work[0], work[1], work[2]
    for part in range(len(parts)):
        n = int(parts[part].size)
        df = parts[part].df
        patterns = int(parts[part].patterns)
        # The lower triangle of M is a sum of patterns. Copy it to the upper triangle, and invert M in place.
        inverse[:n, :n] = 0.0
        for p in range(patterns):
            coefficient, triangle, entry = coefficients[int(scale_of[part, p])], pattern[part, p], 0
            for i in range(n):
                for j in range(i + 1):
                    inverse[i, j] += coefficient * triangle[entry]
                    entry += 1
        for i in range(n):
            for j in range(i):
                inverse[j, i] = inverse[i, j]
        log_det = _invert(inverse, n)
        trace = 0.0  # of M^-1 S, the product
        for i in range(n):
            for j in range(n):
                product[i, j] = 0.0
                for k in range(n):
                    product[i, j] += inverse[i, k] * scatter[part, k, j]
            trace += product[i, i]
        # The derivatives with respect to the lower triangle of M, and then with respect to each coefficient.
        for i in range(n):
            for j in range(i + 1):
                entry_slope[i, j] = -df * inverse[i, j]
                for k in range(n):
                    entry_slope[i, j] += product[i, k] * inverse[k, j]
                if i == j:
                    entry_slope[i, j] *= 0.5  # off-diagonal elements count twice
        for p in range(patterns):
            slope, triangle, entry = 0.0, pattern[part, p], 0
            for i in range(n):
                for j in range(i + 1):
                    slope += entry_slope[i, j] * triangle[entry]
                    entry += 1
            slopes[int(scale_of[part, p])] += slope
        value -= 0.5 * (df * log_det + trace)
    return value


@_compiled
def _write_scales(point, parameters, arrays):  # type: ignore[no-untyped-def]
    """Write the scales at an unconstrained point, followed by the variances with a prior from vectors, to `parameters`.

    Most scales are a function of their own element of the point. The others have a prior from vectors, and degrees of
    freedom (`df`) in this prior. For these, the point has x, the variance is ``v = phi exp(x)`` with a factor phi, and
    the scale is the square root of ``v - c``, where c is a weighted sum of the squares of other scales (`explaining`).
    The factor is one of the scales, at the position `factor`, or 1 if this position is negative. Numbers in `arrays`
    are floats, so positions are converted to integers.
    """
    scales, variances = arrays.scales, arrays.variances
    for k in range(len(scales)):
        if scales[k].df == 0:
            parameters[k] = _scale(point[k], scales[k].unit)[0]
    for i in range(len(variances)):
        fields, scale, c = variances[i], int(variances[i].scale), 0.0
        for k in range(_EXPLAINING):
            c += fields.weight[k] * parameters[int(fields.explaining[k])] ** 2
        v = np.exp(point[scale])
        if fields.factor >= 0:
            v *= parameters[int(fields.factor)]
        parameters[len(scales) + i] = v
        parameters[scale] = np.sqrt(max(v - c, LEAST_SQUARE))


@_compiled
def parameters_at(point, parameters, block):  # type: ignore[no-untyped-def]
    """Write the scales at an unconstrained point, followed by the variances with a prior from vectors."""
    _write_scales(point, parameters, named(block))


@_compiled
def log_density(point, gradient, block):  # type: ignore[no-untyped-def]
    """Return the log density at an unconstrained point, up to a constant, and write its gradient.

    The block of memory comes from `packed`. The density is the sum of three terms: of the parts of the table, of the
    variances with a prior from vectors, and of the other scales and the factors.

    The gradient follows the chain rule. A slope is a derivative of the log density: `square_slopes` with respect to the
    squares of the scales, and `factor_slopes` with respect to the logs of the factors of variances. For a variance
    ``v = phi exp(x)``, the inverse gamma prior has the log density ``-df / 2 * (x + expected / exp(x))`` at x. The
    square of its scale is v minus the squares of the scales that explain a part of it, each times its weight.
    """
    arrays = named(block)
    scales, variances = arrays.scales, arrays.variances
    parameters = np.empty(len(scales) + len(variances))
    square_slopes = np.zeros(len(scales))
    factor_slopes = np.zeros(len(scales))
    _write_scales(point, parameters, arrays)
    value = _add_parts(arrays, parameters**2, square_slopes)
    for i in range(len(variances)):
        scale = int(variances[i].scale)
        factor = int(variances[i].factor)
        x, df = point[scale], scales[scale].df
        v = parameters[len(scales) + i]  # variances follow the scales
        # v_slope is the derivative with respect to v. A scale of zero does not change with its variance.
        v_slope = square_slopes[scale] if parameters[scale] ** 2 > 1.001 * LEAST_SQUARE else 0.0
        for k in range(_EXPLAINING):
            square_slopes[int(variances[i].explaining[k])] -= variances[i].weight[k] * v_slope
        ratio = scales[scale].expected / np.exp(x)
        value -= df / 2 * (x + ratio)
        gradient[scale] = v_slope * v - df / 2 * (1 - ratio)
        if factor >= 0:
            factor_slopes[factor] += v_slope * v
    for k in range(len(scales)):
        if scales[k].df == 0:
            s, scale_slope, log_jacobian, jacobian_slope = _scale(point[k], scales[k].unit)
            prior, prior_slope = _log_prior(scales[k], s)
            value += prior + log_jacobian
            gradient[k] = (2 * s * square_slopes[k] + prior_slope) * scale_slope + jacobian_slope + factor_slopes[k]
    return value


# Arguments of the functions that nutpie calls: the size of a point, the point, memory for the result, and the data.
# After a positive return value, nutpie continues and counts a divergent transition.
_Pointer = types.CPointer(types.float64)


@_cached_on_disk(partial(cfunc, types.int64(types.uint64, _Pointer, _Pointer, _Pointer, _Pointer)))
def _density_for_nutpie(size, point, gradient, value, data):  # type: ignore[no-untyped-def]
    slopes = carray(gradient, (size,))
    value[0] = log_density(carray(point, (size,)), slopes, carray(data, (int(data[0]),)))
    return 0 if np.isfinite(value[0]) and np.all(np.isfinite(slopes)) else 1


@_cached_on_disk(partial(cfunc, types.int64(types.uint64, types.uint64, _Pointer, _Pointer, _Pointer)))
def _parameters_for_nutpie(size, n_parameters, point, parameters, data):  # type: ignore[no-untyped-def]
    parameters_at(carray(point, (size,)), carray(parameters, (n_parameters,)), carray(data, (int(data[0]),)))
    return 0


def packed(arrays: Arrays) -> Numbers:
    """Return all arrays as one block of memory, which `named` splits again, because nutpie passes only one array.

    The first six numbers are the length of the block, the numbers of scales, variances, and parts, the size of the
    largest part, and the maximal number of patterns in a part.
    """
    sizes = [len(arrays.scales), len(arrays.variances), *arrays.scatter.shape[:2], arrays.scale_of.shape[1]]
    numbers = np.concatenate([np.array(sizes, dtype=float), *(np.ravel(array).view(float) for array in arrays)])
    return np.concatenate([[len(numbers) + 1.0], numbers])


def _scales_of(spec: ModelSpec, data: xr.Dataset, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """Return the fields of all single scales and factors (`SCALE`), and of all variances with a prior from vectors
    (`VARIANCE`).

    `shapes` has the shape of each parameter in the order of the sampled points, so a parameter with three elements has
    three rows. The row of a scale is ``(*terms of its log prior density, unit, df, expected)``. `unit` is the unit of
    its transform if the scale is folded (`FoldedScale`), and 0 if its log is sampled. `df` and `expected` are the
    degrees of freedom and the expected variance of a prior from vectors, and 0 otherwise. A prior from vectors has no
    terms of its own (`Terms()`), because it is the prior of the variance from which the scale is computed.
    """
    names = [name for name, shape in shapes.items() for _ in range(prod(shape))]
    scales = np.zeros(len(names), SCALE)
    sides = sides_from_vectors(spec, data)
    from_vectors = {PREFERENCE[side] for side in sides}
    factors = {factor_name(side): prior_of_factor(spec, side) for side in sides}
    for k, name in enumerate(names):
        if name in from_vectors:
            scales[k] = (*Terms(), 0.0, 0.0, 0.0)
            continue
        prior = factors.get(name) or spec.priors[name]
        is_folded = name not in factors and folds(spec, name)
        unit = FOLD * typical_size(spec, name) if is_folded else 0.0
        scales[k] = (*(prior.terms or ()), unit, 0.0, 0.0)
    variances = [np.zeros(0, VARIANCE)]
    for side in sides:
        name = PREFERENCE[side]
        rows = slice(names.index(name), names.index(name) + prod(shapes[name]))
        scales["df"][rows] = spec.priors[name].parameters["nu"]
        scales["expected"][rows] = (data[f"{side}_preference_sd"] / unit_of(spec, data)) ** 2
        variances.append(_variances_of(spec, data, side, names))
    return {"scales": scales, "variances": np.concatenate(variances)}


def _variances_of(spec: ModelSpec, data: xr.Dataset, side: Side, names: list[str]) -> NDArray[Any]:
    """Return the fields of the variances of one side with a prior from vectors: one for each group, or for each class.

    `names` are the names of all single scales, so that the position of a name is the position of its first scale. Each
    variance has the position of its scale, the position of its factor (-1 for control classes, which have none), and
    the positions and weights of the scales that explain a part of it. These are a scale of the same group or class, or
    one scale for all of them.
    """
    variances = np.zeros(names.count(PREFERENCE[side]), VARIANCE)
    cells = np.arange(len(variances))
    variances["scale"] = names.index(PREFERENCE[side]) + cells
    variances["factor"] = np.where(is_compared(data, side), names.index(factor_name(side)), -1)
    for number, (scale, weights) in enumerate(explained_by(spec, data, side).items()):
        differs_by_cell = scale.startswith(PREFERENCE[side])
        variances["explaining"][:, number] = names.index(scale) + (cells if differs_by_cell else 0)
        variances["weight"][:, number] = weights
    return variances


class _SinglePart(NamedTuple):
    """A part of the table with one scatter matrix (n, n), its patterns that are not zero (patterns, n, n), and their
    scales.
    """

    scatter: Numbers
    df: float
    patterns: Numbers
    scales: NDArray[np.intp]


def _parts_of(parts: Iterable[Part]) -> dict[str, Any]:
    """Return the arrays of the parts of a table for the compiled density (see `Arrays`).

    The covariance of a part is a sum of patterns, each multiplied by the square of its scale. Parts differ in size and
    in their number of patterns, but the compiled density needs arrays of one shape. Arrays are therefore padded with
    zeros to the size of the largest part and to the largest number of patterns, and `PART` records the actual sizes.
    Patterns are symmetric, so only their lower triangles are stored. Patterns that are zero are omitted.
    """
    singles = []
    for part in parts:
        for scatter, df, patterns in zip(part.scatter, part.df, part.patterns, strict=True):
            scales = np.flatnonzero(patterns.any(axis=(1, 2)))
            singles.append(_SinglePart(scatter, df, patterns[scales], scales))
    largest = max(len(single.scatter) for single in singles)
    most_patterns = max(len(single.scales) for single in singles)
    sizes = np.zeros(len(singles), PART)
    scatter_of_part = np.zeros((len(singles), largest, largest))
    scale_of_pattern = np.zeros((len(singles), most_patterns))
    triangles = np.zeros((len(singles), most_patterns, largest * (largest + 1) // 2))
    for k, single in enumerate(singles):
        n = len(single.scatter)
        n_patterns = len(single.scales)
        sizes[k] = n, single.df, n_patterns
        scatter_of_part[k, :n, :n] = single.scatter
        scale_of_pattern[k, :n_patterns] = single.scales
        rows, columns = np.tril_indices(n)
        triangles[k, :n_patterns, : len(rows)] = single.patterns[:, rows, columns]
    return {"parts": sizes, "scatter": scatter_of_part, "scale_of": scale_of_pattern, "pattern": triangles}


@dataclass(frozen=True, eq=False)
class CollapsedModel:
    """The collapsed model of one table, in the form that nutpie samples.

    Attributes
    ----------
    dims, shapes : mapping
        Dims and shapes of each parameter, in the order of the sampled points.
    coords : mapping of str to list
        Labels of dims.
    arrays : Arrays
        Inputs of the density. `data` contains them in one block of memory.
    start : array (parameters,)
        Starting point of chains, before jitter is added.
    """

    dims: Mapping[str, tuple[str, ...]]
    shapes: Mapping[str, tuple[int, ...]]
    coords: Mapping[str, list[Any]]
    arrays: Arrays
    data: Numbers
    start: Numbers

    @classmethod
    def of(cls, spec: ModelSpec, data: xr.Dataset) -> Self:
        """Return the model of a spec with the data of a table. `knows` must return True for the priors of the spec.

        The parameters are the scales, then the factors of variances from vectors, and finally these variances, which
        are derived and not sampled. Chains start at the order of magnitude of each prior (its `size`), on the scale of
        the sampler: at its log, at the log of the expected variance for priors from vectors (which have `df`), or at 2
        for folded scales (which have a `unit`). `dims` and `shapes` have the dims of each parameter, and its number of
        entries along each of them.
        """
        dims = dims_of_scales(spec, data)
        shapes = {name: tuple(data.sizes[dim] for dim in along) for name, along in dims.items()}
        # The order of magnitude of each single scale, and 1 for each factor.
        sizes = np.concatenate([np.full(prod(shape), spec.priors[name].size) for name, shape in shapes.items()])
        sides = sides_from_vectors(spec, data)
        for side in sides:  # factors follow the scales, because only scales have patterns
            dims[factor_name(side)] = shapes[factor_name(side)] = ()
            sizes = np.append(sizes, 1.0)
        _, parts = parts_in_units(spec, data)
        arrays = Arrays(**_scales_of(spec, data, shapes), **_parts_of(parts.values()))
        scales = arrays.scales
        log_sizes = np.log(np.where(scales["df"] > 0, scales["expected"], sizes))
        start = np.where(scales["unit"] > 0, 2.0, log_sizes)
        for side in sides:
            dims[variance_name(side)] = dims[PREFERENCE[side]]
            shapes[variance_name(side)] = shapes[PREFERENCE[side]]
        coords = {dim: data[dim].to_numpy().tolist() for dim in dict.fromkeys(chain.from_iterable(dims.values()))}
        return cls(dims, shapes, coords, arrays, packed(arrays), start)

    @property
    def adaptation(self) -> str:
        """The method by which nutpie adapts its mass matrix: factors and the variances that share them correlate."""
        return "low_rank" if len(self.arrays.variances) else "diag"

    def compiled(self) -> Any:
        """Return the compiled model for nutpie.

        The density and the function that computes parameters from a point read all data from one array. A chain begins
        at `start` plus random jitter.
        """
        n = len(self.start)

        def start(seed: int | None) -> Numbers:
            return self.start + np.random.default_rng(seed).uniform(-0.5, 0.5, n)

        return of_c_functions(_density_for_nutpie, _parameters_for_nutpie, start, n, self.shapes, self.data)
