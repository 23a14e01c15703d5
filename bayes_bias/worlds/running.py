"""`ground_truth`: every training and every answer of a world, resumable, on all cores or on a cluster."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_bias.arguments import check_path
from bayes_bias.errors import OutputError, WorldError
from bayes_bias.files import check_home
from bayes_bias.inference.sampling import versions
from bayes_bias.measures.registry import MEASURES
from bayes_bias.measures.table import discover
from bayes_bias.progress import Progress
from bayes_bias.tasks import Task, open_store, run_tasks
from bayes_bias.worlds.contextual import check_contextual
from bayes_bias.worlds.found import MODELS, GroundTruth
from bayes_bias.worlds.reading import answers_of, asked_of
from bayes_bias.worlds.world import Reading, World, load_world

ANSWERS = "answers"


def ground_truth(
    world: World | str | Path,
    folder: str | Path,
    *,
    jobs: int = -1,
    client: Any = None,
    progress: Progress | None = None,
) -> GroundTruth:
    """Train models on corpora whose bias is known, and ask every measure and the posterior.

    Parameters
    ----------
    world : World, str or Path
        A shipped world ("majority", "skew", "null", "sentences", "robustness"), or a TOML file.
    folder : str or Path
        Where models and answers are kept; it is made. What is there is neither trained nor asked again, so that a run
        which was killed, or a world with more corpora, goes on.
    jobs : int
        Processes; -1 for one on each core.
    client : distributed.Client, optional
        Of a Dask cluster that shares the folder.
    progress : Progress, optional

    Returns
    -------
    GroundTruth
        Tidy frames of truths and answers; `bayes_bias.write` answers the questions that they allow.

    Raises
    ------
    WorldError
        The world cannot be read, or asks for what no corpus can have; or no training gave an answer.
    LanguageModelError
        A contextual model is still to be asked, and torch is not installed, or a folder holds none to start from.
    OutputError
        The folder cannot be made or written to.

    Notes
    -----
    Every measure takes part that is registered when this is called: those of the package, your own (see
    `bayes_bias.measures.measure`), and those that installed packages name under the entry point
    ``bayes_bias.measures``.

    Examples
    --------
    >>> found = ground_truth("majority", "majority")                              # doctest: +SKIP
    >>> found.words.groupby("measure").value.mean()                               # doctest: +SKIP
    """
    world, home = load_world(world), check_path("folder", folder, OutputError)
    discover()
    own = {name: each for name, each in MEASURES.items() if not each.run.__module__.startswith("bayes_bias.")}
    check_home(home, "out")
    try:
        (home / MODELS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"folder: cannot make '{home / MODELS}': {error.strerror or error}") from error
    readings = list(world.readings())
    tasks = [
        Task(
            _name(world, each),
            answers_of,
            (world, each, str(home / MODELS), own),
            depends_on=asked_of(world, each),
        )
        for each in readings
    ]
    store = open_store(home / ANSWERS)
    check_contextual(each.model for each, task in zip(readings, tasks, strict=True) if not store.has(task))
    outcomes = run_tasks(tasks, store, jobs=jobs, client=client, progress=progress)
    failed = {outcome.name: outcome.failed for outcome in outcomes if outcome.failed}
    if len(failed) == len(outcomes):
        name, why = next(iter(failed.items()))
        raise WorldError(f"{world.name}: no training gave an answer; of {name}: {why}")
    frames = {
        kind: pd.concat(
            [
                pd.DataFrame(outcome.result.get(kind, [])).assign(**_place(world, each))
                for each, outcome in zip(readings, outcomes, strict=True)
                if not outcome.failed
            ],
            ignore_index=True,
        )
        for kind in ("truths", "words", "models", "retests", "classes")
    }
    return GroundTruth(world=world, folder=home, failed=failed, versions=json.loads(versions()), **frames)


def _name(world: World, reading: Reading) -> str:
    half = f", {reading.half} half" if reading.half else ""
    return (
        f"{world.name}: truth {reading.truth + 1}, {reading.words} word(s), corpus {reading.corpus + 1}{half},"
        f" {reading.model.name}, seed {reading.seed + 1}"
    )


def _place(world: World, reading: Reading) -> dict[str, Any]:
    """The columns that say which training a row is of."""
    return {
        "truth": reading.truth,
        **world.scheme.cells[reading.truth],
        "words_per_sentence": reading.words,
        "corpus": reading.corpus,
        "half": reading.half,
        "model": reading.model.name,
        "seed": reading.seed,
    }
