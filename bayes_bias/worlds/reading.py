"""One model reads one corpus and is asked: trained once, its vectors kept, asked whenever there is something new."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np

from bayes_bias.embeddings.saving import save_vectors
from bayes_bias.language_models.opening import files_hash
from bayes_bias.measures.registry import MEASURES, Registered
from bayes_bias.worlds.asking import ask_vectors
from bayes_bias.worlds.contextual import ask_model, attribute_words, train_contextual
from bayes_bias.worlds.corpus import Corpus, Truth, draw_truth, make_corpus, truth_table
from bayes_bias.worlds.downstream import downstream
from bayes_bias.worlds.retest import retest
from bayes_bias.worlds.static import train_static
from bayes_bias.worlds.world import Reading, World

# What the records hold; a change of it makes earlier answers void.
EDITION = 1
CONTEXTUAL_EDITION = 1


def key_of(world: World, reading: Reading) -> str:
    """Hash of all that decides the weights of a model."""
    return sha256(dumps(_determined_by(world, reading), sort_keys=True).encode()).hexdigest()[:20]


def asked_of(world: World, reading: Reading) -> list[Any]:
    """All that decides the answers, as JSON."""
    asked = [world.posterior, world.group_size, sorted(MEASURES), EDITION]
    if reading.model.contextual:
        asked.append(CONTEXTUAL_EDITION)
    asked += [name for name in ("retest", "downstream") if getattr(world, name)]
    return [_determined_by(world, reading), asked]


def answers_of(
    world: World, reading: Reading, folder: str, own: Mapping[str, Registered]
) -> dict[str, list[dict[str, Any]]]:
    """Truth and answers of one reading, as records.

    Parameters
    ----------
    world : World
    reading : Reading
    folder : str
        Where its model is kept: one that is there is not trained again.
    own : mapping of str to Registered
        Measures that the user has registered, which another process does not know of.

    Returns
    -------
    dict of str to list of dict
        ``truths``, ``words``, ``models``; of static models also ``retests`` and ``classes``.
    """
    MEASURES.update(own)
    truth, corpus = corpus_of(world, reading)
    truths: list[dict[str, Any]] = truth_table(world, truth, corpus).to_dict("records")
    if reading.model.contextual:  # retests and classifiers are of fixed vectors
        found = ask_model(world, truth, model_of(world, reading, corpus, Path(folder)), seed=world.seed)
        return {"truths": truths, "words": found.words, "models": found.models}
    vectors = vectors_of(world, reading, Path(folder), corpus)
    answers = ask_vectors(world, truth, vectors, seed=world.seed)
    return {
        "truths": truths,
        "words": answers.words,
        "models": answers.models,
        "retests": retest(world, vectors, reading.seed) if world.retest else [],
        "classes": downstream(world, truth, vectors, reading.seed) if world.downstream else [],
    }


def corpus_of(world: World, reading: Reading) -> tuple[Truth, Corpus]:
    """What is true, and what is read."""
    truth = draw_truth(world, reading.truth)
    return truth, make_corpus(world, truth, reading.corpus, reading.words, reading.half)


def vectors_of(
    world: World, reading: Reading, folder: Path, corpus: Corpus | None = None
) -> dict[str, np.ndarray]:
    """The vectors of a reading: those that are kept, or trained on its corpus, made if need be, and kept now."""
    path = folder / f"{key_of(world, reading)}.npz"
    if path.is_file():
        with np.load(path, allow_pickle=False) as archive:
            return dict(zip(archive["words"].tolist(), archive["vectors"], strict=True))
    if corpus is None:
        _, corpus = corpus_of(world, reading)
    vectors = train_static(
        corpus.tokens, reading.model, [*world.words, *attribute_words(world)], reading.seed
    )
    save_vectors(vectors, path, overwrite=True)  # another run may have been faster; it wrote the same
    return vectors


def model_of(world: World, reading: Reading, corpus: Corpus, folder: Path) -> Path:
    """The folder of a contextual reading's model: the one that is kept, or trained and kept now."""
    home = folder / key_of(world, reading)
    return train_contextual(corpus.sentences, reading.model, attribute_words(world), home, reading.seed)


def _determined_by(world: World, reading: Reading) -> list[Any]:
    place = [reading.truth, reading.words, reading.corpus, reading.half, reading.seed]
    settings = dict(reading.model.settings)
    if "folder" in settings:
        settings["folder"] = _hash_of(settings["folder"])
    return [world.sha256, place, reading.model.kind, settings]


@cache
def _hash_of(folder: str) -> str:
    """Wherever the model that is tuned lies; hashed once, since every reading is named by it."""
    return files_hash(Path(folder))
