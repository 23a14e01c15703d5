"""Calibration: what each method says where the true bias is known."""

# First, since other processes begin here: it asks for JAX through `lazy_loader`, which looks at all modules that there
# are at each level of the stack. With PyMC there, and as deep as that is imported, it takes a second.
import arviz_base  # noqa: F401

from bayes_bias.checks.calibration.beside import drawn_beside
from bayes_bias.checks.calibration.calibrating import Calibration, calibrate
from bayes_bias.checks.calibration.judging import NULL_SAMPLING, judge
from bayes_bias.checks.calibration.nulls import NullDesign, Random
from bayes_bias.checks.calibration.rates import rates
from bayes_bias.checks.calibration.running import Cell, run

__all__ = [
    "NULL_SAMPLING",
    "Calibration",
    "Cell",
    "NullDesign",
    "Random",
    "calibrate",
    "drawn_beside",
    "judge",
    "rates",
    "run",
]
