"""Every training and every answer of a scenario, resumable, on all cores or on a cluster.

One model reads one corpus: it is trained once and kept, and measured whenever there is something new.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.arguments import check_path
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.embeddings.saving import save_vectors
from bayes_bias.errors import EmbeddingError, OutputError
from bayes_bias.files import check_home
from bayes_bias.fitting.fit_model import versions
from bayes_bias.jobs import Job, open_store, run_jobs
from bayes_bias.language_models.opening import files_hash
from bayes_bias.measures.measure_table import discover
from bayes_bias.measures.registry import MEASURES, Registered
from studies.known_bias.asking import ask_model, ask_vectors, retest
from studies.known_bias.classifier import downstream
from studies.known_bias.corpora import Corpus, Truth, draw_truth, make_corpus, truth_table
from studies.known_bias.results import MODELS, KnownBias
from studies.known_bias.scenario import Reading, Scenario, load_scenario
from studies.known_bias.toml_values import ScenarioError
from studies.known_bias.training import check_trainable, train_contextual, train_static

ANSWERS = "answers"

# What the records hold; a change of it makes earlier answers void.
EDITION = 1


def run(scenario: Scenario | str | Path, folder: str | Path, *, jobs: Any = -1) -> KnownBias:
    """Train models on corpora whose bias is known, and compute every measure and the posterior.

    Parameters
    ----------
    scenario : Scenario, str or Path
        A shipped scenario ("majority", "skew", "null", "sentences", "robustness"), or a TOML file.
    folder : str or Path
        Where models and answers are kept; it is made. What is there is computed no second time, so that a run
        which was killed, or a scenario with more corpora, goes on.
    jobs : int or distributed.Client
        Processes; -1 for one on each core. Or a client of a Dask cluster that shares the folder.

    Returns
    -------
    KnownBias
        Tidy frames of truths and answers; `bayes_bias.write` answers the questions that they allow.

    Raises
    ------
    ScenarioError
        The scenario cannot be read, or asks for what no corpus can have; or no training gave an answer.
    LanguageModelError
        A contextual model is still to be trained, and torch is not installed, or a folder holds none to start from.
    OutputError
        The folder cannot be made or written to.

    Notes
    -----
    Every measure takes part that is registered when this is called: those of the package, your own (see
    `bayes_bias.measures.measure`), and those that installed packages name under the entry point
    ``bayes_bias.measures``.

    Examples
    --------
    >>> result = run("majority", "majority")                                      # doctest: +SKIP
    >>> result.words.groupby("measure").value.mean()                               # doctest: +SKIP
    """
    scenario, home = load_scenario(scenario), check_path("folder", folder, OutputError)
    discover()
    registered = {
        name: entry for name, entry in MEASURES.items() if not entry.function.__module__.startswith("bayes_bias.")
    }
    check_home(home, "out")
    try:
        (home / MODELS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"folder: cannot make '{home / MODELS}': {error.strerror or error}") from error
    readings = list(scenario.readings())
    todo = [
        Job(
            _name(scenario, reading),
            answers_of,
            (scenario, reading, str(home / MODELS), registered),
            depends_on=decided_by(scenario, reading),
        )
        for reading in readings
    ]
    store = open_store(home / ANSWERS)
    untrained = [reading.model for reading, job in zip(readings, todo, strict=True) if not store.has(job)]
    check_trainable(untrained)
    outcomes = run_jobs(todo, store, jobs=jobs)
    failed = {outcome.name: outcome.failed for outcome in outcomes if outcome.failed}
    if len(failed) == len(outcomes):
        name, why = next(iter(failed.items()))
        raise ScenarioError(f"{scenario.name}: no training gave an answer; of {name}: {why}")
    frames = {
        kind: pd.concat(
            [
                pd.DataFrame(outcome.result.get(kind, [])).assign(**_place(scenario, reading))
                for reading, outcome in zip(readings, outcomes, strict=True)
                if not outcome.failed
            ],
            ignore_index=True,
        )
        for kind in ("truths", "words", "models", "retests", "classes")
    }
    return KnownBias(scenario=scenario, folder=home, failed=failed, versions=json.loads(versions()), **frames)


def _name(scenario: Scenario, reading: Reading) -> str:
    half = f", {reading.half} half" if reading.half else ""
    return (
        f"{scenario.name}: truth {reading.truth + 1}, {reading.words} word(s), corpus {reading.corpus + 1}{half},"
        f" {reading.model.name}, seed {reading.seed + 1}"
    )


def _place(scenario: Scenario, reading: Reading) -> dict[str, Any]:
    """The columns that say which training a row is of."""
    return {
        "truth": reading.truth,
        **scenario.scheme.cells[reading.truth],
        "words_per_sentence": reading.words,
        "corpus": reading.corpus,
        "half": reading.half,
        "model": reading.model.name,
        "seed": reading.seed,
    }


def key_of(scenario: Scenario, reading: Reading) -> str:
    """Hash of all that decides the weights of a model."""
    return sha256(json.dumps(_determined_by(scenario, reading), sort_keys=True).encode()).hexdigest()[:20]


def decided_by(scenario: Scenario, reading: Reading) -> list[Any]:
    """All that decides the answers, as JSON."""
    measured = [scenario.posterior, scenario.group_size, sorted(MEASURES), EDITION]
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
        train_contextual(corpus.sentences, reading.model, scenario.attribute_words, home, reading.seed)
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
    vectors = train_static(corpus.tokens, reading.model, [*scenario.words, *scenario.attribute_words], reading.seed)
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
