"""From a spec and the data to a PyMC model with named coords; nothing else.

Each structure and likelihood offers three functions: `data` says what the package needs to know of the cosines
(an `xarray.Dataset` with named dims), `inputs` which arrays of that the likelihood reads, and `build` makes the
`pymc.Model` in which these are `pymc.Data`, so that one compiled model serves every list of the same shape.
"""

from types import ModuleType

import numpy as np
import pymc as pm
import xarray as xr

from bayes_bias.cosines import Cosines
from bayes_bias.pymc_models import crossed, crossed_long, hierarchical
from bayes_bias.specs import ModelSpec


def _of(spec: ModelSpec) -> ModuleType:
    if spec.structure == "hierarchical":
        return hierarchical
    return crossed_long if spec.options["likelihood"] == "long" else crossed


def model_data(spec: ModelSpec, cosines: Cosines) -> xr.Dataset:
    """What the model of this spec needs to know of the cosines."""
    return _of(spec).data(cosines)


def model_inputs(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """The arrays that the model of this spec reads, by name."""
    return _of(spec).inputs(spec, data)


def model_coords(spec: ModelSpec, data: xr.Dataset) -> dict[str, list[str]]:
    """The labels of the model's dims."""
    return {dim: data[dim].to_numpy().tolist() for dim in _of(spec).DIMS}


def build_model(spec: ModelSpec, data: xr.Dataset) -> pm.Model:
    """The PyMC model of this spec for data of this shape."""
    return _of(spec).build(spec, model_inputs(spec, data), model_coords(spec, data))


__all__ = ["build_model", "model_coords", "model_data", "model_inputs"]
