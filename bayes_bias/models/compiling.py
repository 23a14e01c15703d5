"""Compile a model once, and use it for every list of the same shape."""

from typing import Any

import nutpie
import pytensor
import xarray as xr

from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import build_model, model_coords, structure_of

# Compiling takes many times longer than sampling. The data are arguments of the compiled model, so a list with
# the same number of groups and classes needs no new one: only the lengths of the model's dims are fixed, and where a
# model fixes the shape of an array, it follows from them.
_compiled: dict[tuple[Any, ...], Any] = {}


def compiled_model(spec: ModelSpec, data: xr.Dataset) -> tuple[Any, dict[str, Any]]:
    """A nutpie model of this spec that holds these data, and the labels of its dims."""
    inputs, coords = structure_of(spec).inputs(spec, data), model_coords(spec, data)
    key = (
        spec.sha256,
        tuple((name, values.ndim) for name, values in inputs.items()),
        tuple((dim, len(labels)) for dim, labels in coords.items()),
    )
    if key not in _compiled:
        # Fast maths lets sums be reordered, and code that is fresh from the compiler is, differently from code that
        # comes from PyTensor's cache: the first fit on a machine would have other draws than all later ones.
        with pytensor.config.change_flags(numba__fastmath=False):
            _compiled[key] = nutpie.compile_pymc_model(build_model(spec, data))
    return _compiled[key].with_data(**inputs), coords
