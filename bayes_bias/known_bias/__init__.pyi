"""Corpora whose bias is known, models trained on them, and what every measure says."""

from .corpora import Corpus as Corpus
from .corpora import Truth as Truth
from .corpora import draw_truth as draw_truth
from .corpora import make_corpus as make_corpus
from .corpora import truth_table as truth_table
from .known_bias_results import KnownBias as KnownBias
from .running_scenarios import run as run
from .scenario import ModelRecipe as ModelRecipe
from .scenario import Scenario as Scenario
from .scenario import load_scenario as load_scenario
from .static_vectors import train_static as train_static
