"""Small scenarios."""

from typing import Any

from studies.known_bias.scenario import Scenario, scenario_from

SHORT: dict[str, Any] = {
    "attributes": ["gender"],
    "targets": 40,
    "words_per_sentence": [3],
    "corpora": 1,
    "truth": {"scheme": "majority", "min_p": [0.05], "max_p": [0.8]},
    "models": {"skip-gram": {"dimensions": 20, "epochs": 25}},
}


def short_scenario(**changed: Any) -> Scenario:
    """One truth of gender for forty targets, read by a small word2vec."""
    return scenario_from({**SHORT, **changed}, "short")
