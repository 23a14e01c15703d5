"""Small worlds."""

from typing import Any

from bayes_bias.worlds.world import World, world_from

SHORT: dict[str, Any] = {
    "attributes": ["gender"],
    "targets": 40,
    "words_per_sentence": [3],
    "corpora": 1,
    "truth": {"scheme": "majority", "min_p": [0.05], "max_p": [0.8]},
    "models": {"skip-gram": {"dimensions": 20, "epochs": 25}},
}


def short_world(**changed: Any) -> World:
    """One truth of gender for forty targets, read by a small word2vec."""
    return world_from({**SHORT, **changed}, "short")
