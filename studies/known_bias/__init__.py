"""Known bias: corpora whose bias is chosen, models trained on them, and what every measure says.

    python -m studies.known_bias run SCENARIO --out FOLDER

answers what the scenario can: which measures follow the truth, and how sure one can be. It is a study, and no part of
the package: run it from a checkout.
"""

from studies.known_bias.corpora import Corpus, Truth, draw_truth, make_corpus, truth_table
from studies.known_bias.results import KnownBias
from studies.known_bias.running import run
from studies.known_bias.scenario import ModelRecipe, Scenario, load_scenario
from studies.known_bias.training import train_static

__all__ = [
    "Corpus",
    "KnownBias",
    "ModelRecipe",
    "Scenario",
    "Truth",
    "draw_truth",
    "load_scenario",
    "make_corpus",
    "run",
    "train_static",
    "truth_table",
]
