"""One model reads one corpus: it is trained once and kept, and measured whenever there is something new."""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np

from bayes_bias.embeddings.opening_embeddings import open_embedding
from bayes_bias.embeddings.saving_vectors import save_vectors
from bayes_bias.errors import EmbeddingError
from bayes_bias.known_bias.asking_measures import ask_vectors
from bayes_bias.known_bias.contextual_models import ask_model, attribute_words, train_contextual
from bayes_bias.known_bias.corpora import Corpus, Truth, draw_truth, make_corpus, truth_table
from bayes_bias.known_bias.downstream_classifier import downstream
from bayes_bias.known_bias.retest import retest
from bayes_bias.known_bias.scenario import Reading, Scenario
from bayes_bias.known_bias.static_vectors import train_static
from bayes_bias.language_models.opening_models import files_hash
from bayes_bias.measures.registry import MEASURES, Registered

# What the records hold; a change of it makes earlier answers void.
EDITION = 1
CONTEXTUAL_EDITION = 1


def key_of(scenario: Scenario, reading: Reading) -> str:
    """Hash of all that decides the weights of a model."""
    return sha256(dumps(_determined_by(scenario, reading), sort_keys=True).encode()).hexdigest()[:20]


def decided_by(scenario: Scenario, reading: Reading) -> list[Any]:
    """All that decides the answers, as JSON."""
    measured = [scenario.posterior, scenario.group_size, sorted(MEASURES), EDITION]
    if reading.model.contextual:
        measured.append(CONTEXTUAL_EDITION)
    measured += [name for name in ("retest", "downstream") if getattr(scenario, name)]
    return [_determined_by(scenario, reading), measured]


def answers_of(
    scenario: Scenario, reading: Reading, folder: str, registered: Mapping[str, Registered]
) -> dict[str, list[dict[str, Any]]]:
    """Truth and answers of one reading, as records.

    A model that its folder has is not trained again. `registered` are measures of the user's, which another process
    does not know of. Returns ``truths``, ``words``, ``models``; of static models also ``retests`` and ``classes``.
    """
    MEASURES.update(registered)
    truth, corpus = corpus_of(scenario, reading)
    truths: list[dict[str, Any]] = truth_table(scenario, truth, corpus).to_dict("records")
    if reading.model.contextual:  # retests and classifiers are of fixed vectors
        home = Path(folder) / key_of(scenario, reading)
        train_contextual(corpus.sentences, reading.model, attribute_words(scenario), home, reading.seed)
        answers = ask_model(scenario, truth, home, seed=scenario.seed)
        return {"truths": truths, "words": answers.words, "models": answers.models}
    vectors = vectors_of(scenario, reading, Path(folder), corpus)
    answers = ask_vectors(scenario, truth, vectors, seed=scenario.seed)
    return {
        "truths": truths,
        "words": answers.words,
        "models": answers.models,
        "retests": retest(scenario, vectors, reading.seed) if scenario.retest else [],
        "classes": downstream(scenario, truth, vectors, reading.seed) if scenario.downstream else [],
    }


def corpus_of(scenario: Scenario, reading: Reading) -> tuple[Truth, Corpus]:
    """What is true, and what is read."""
    truth = draw_truth(scenario, reading.truth)
    return truth, make_corpus(scenario, truth, reading.corpus, reading.words, reading.half)


def vectors_of(
    scenario: Scenario, reading: Reading, folder: Path, corpus: Corpus | None = None
) -> dict[str, np.ndarray]:
    """The vectors of a reading: those that are kept, or trained on its corpus, made if need be, and kept now."""
    path = folder / f"{key_of(scenario, reading)}.npz"
    if path.is_file():
        with suppress(EmbeddingError):  # damaged vectors are trained again
            return open_embedding(path).all()
    if corpus is None:
        _, corpus = corpus_of(scenario, reading)
    vectors = train_static(corpus.tokens, reading.model, [*scenario.words, *attribute_words(scenario)], reading.seed)
    save_vectors(vectors, path, overwrite=True)  # another run may have been faster; it wrote the same
    return vectors


def _determined_by(scenario: Scenario, reading: Reading) -> list[Any]:
    place = [reading.truth, reading.words, reading.corpus, reading.half, reading.seed]
    settings = dict(reading.model.settings)
    if "folder" in settings:
        settings["folder"] = _hash_of(settings["folder"])
    return [scenario.sha256, place, reading.model.kind, settings]


@cache
def _hash_of(folder: str) -> str:
    # Hashed once: every reading is named by it.
    return files_hash(Path(folder))
