"""Many lists in many embeddings: each cell computed once, and what all of them say together."""

from bayes_bias.sweeps.found import Sweep
from bayes_bias.sweeps.recipes import Recipe
from bayes_bias.sweeps.scored import Scored
from bayes_bias.sweeps.sweeping import sweep

__all__ = ["Recipe", "Scored", "Sweep", "sweep"]
