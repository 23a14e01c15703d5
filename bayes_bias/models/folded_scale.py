"""A transform of PyMC's: a scale as a smooth, even function of an unconstrained variable."""

from typing import Any

import numpy as np
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.logprob.transforms import Transform

from bayes_bias.models.scales import FOLD


class FoldedScale(Transform):  # type: ignore[misc]  # PyMC has no types
    r"""A scale :math:`\sigma = c\,|x| \sqrt{1 + x^2}` of a variable x, for a prior with a positive density at zero.

    A scale of effects enters the likelihood by its square alone. Near zero the logarithm, PyMC's own transform, has
    an endless tail; here the scale is c times the variable, and nothing special happens. Both signs of the variable
    mean the same scale, so its density is that of the prior at either, times the derivative, up to a constant. Large
    scales are as the square of the variable: three words leave a scale a long tail, and steps that fit where it is
    small would walk along that for ever. `typical` is of the order of the scales, and c a tenth of it.
    """

    name = "folded"
    ndim_supp = 0

    def __init__(self, typical: float | NDArray[np.float64] = 1.0) -> None:
        self.typical = typical

    @property
    def unit(self) -> float | NDArray[np.float64]:
        """From where on a scale counts as large."""
        return FOLD * self.typical

    def forward(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        square = (value / self.unit) ** 2
        return pt.sqrt(2 * square / (1 + pt.sqrt(1 + 4 * square)))

    def backward(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        return self.unit * abs(value) * pt.sqrt(1 + value**2)

    def log_jac_det(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        root = pt.sqrt(1 + value**2)
        return pt.log(2 * root - 1 / root)
