"""Corpora whose bias is known, models trained on them, and what every measure says."""

from .known_bias_results import KnownBias as KnownBias
from .running_scenarios import run as run
from .scenario import Scenario as Scenario
from .scenario import load_scenario as load_scenario
