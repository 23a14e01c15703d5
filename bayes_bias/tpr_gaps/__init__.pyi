"""True-positive-rate gaps of a classifier: how large, how sure one can be, and whether word bias goes with them."""

from .estimating import estimate as estimate
from .estimating import pymc_model as pymc_model
from .gap_correlation import correlation as correlation
from .gap_results import TprGaps as TprGaps
