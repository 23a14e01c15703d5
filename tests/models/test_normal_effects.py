"""Coordinates in which effects are sampled: that they are the same effects, with the density that belongs to them."""

import numpy as np
import pytensor
import pytensor.tensor as pt

from bayes_bias.models.normal_effects import PartlyCentredWithin

SIGMA, SCORE = np.array([0.5, 0.5, 0.5, 2.0, 2.0]), np.array([1.0, -3.0, 2.0, 4.0, -4.0])
INFORMATION = np.array([6.0, 6.0, 6.0, 9.0, 9.0])
AVERAGING = np.zeros((5, 5))
AVERAGING[:3, :3], AVERAGING[3:, 3:] = 1 / 3, 1 / 2


def test_partly_centred_within_inverts_and_matches_numerical_jacobian():
    transform, value = PartlyCentredWithin(np.array([SCORE, INFORMATION]), AVERAGING), pt.dvector("value")
    inputs = (None, None, 0.0, pt.as_tensor(SIGMA))
    effects = transform.backward(value, *inputs)
    outputs = [effects, transform.forward(effects, *inputs), transform.log_jac_det(value, *inputs).sum()]
    at = pytensor.function([value], outputs, mode="FAST_COMPILE")
    point = np.random.default_rng(1).standard_normal(5)
    _, back, log_det = at(point)
    np.testing.assert_allclose(back, point)
    origin, steps = at(np.zeros(5))[0], np.eye(5)
    jacobian = np.array([at(step)[0] - origin for step in steps])
    np.testing.assert_allclose(log_det, np.linalg.slogdet(jacobian).logabsdet)
    # An average of standard normal variables has its own scale, whatever data say of deviations.
    np.testing.assert_allclose(AVERAGING @ (at(np.ones(5))[0] - origin), SIGMA)
