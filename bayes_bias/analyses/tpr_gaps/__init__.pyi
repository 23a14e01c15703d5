"""True-positive-rate gaps of a classifier: how large, how sure one can be, and whether word bias goes with them."""

from .correlation import correlation as correlation
from .estimation import estimate as estimate
from .estimation import pymc_model as pymc_model
from .results import TprGaps as TprGaps
