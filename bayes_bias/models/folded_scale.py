"""A transform of PyMC's: a scale as the absolute value of an unconstrained variable."""

from typing import Any

import pytensor.tensor as pt
from pymc.logprob.transforms import Transform


class FoldedScale(Transform):  # type: ignore[misc]  # PyMC has no types
    """``scale = abs(typical * value)``, for a prior with a positive density at zero.

    A scale of effects enters the likelihood by its square alone. Near zero the logarithm, PyMC's own transform, has
    an endless tail; here nothing special happens. Both signs of the value mean the same scale, so its density is that
    of the prior at either, up to a constant. `typical` is of the order of the scales, which makes steps of one fit.
    """

    name = "folded"
    ndim_supp = 0

    def __init__(self, typical: float = 1.0) -> None:
        self.typical = typical

    def forward(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        return value / self.typical

    def backward(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        return abs(self.typical * value)

    def log_jac_det(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        return pt.zeros_like(value)
