"""`ground_truth`: every training and every answer of a scenario, resumable, on all cores or on a cluster."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_bias.arguments import check_path
from bayes_bias.errors import OutputError, ScenarioError
from bayes_bias.files import check_home
from bayes_bias.known_bias.contextual_models import check_contextual
from bayes_bias.known_bias.known_bias_results import MODELS, KnownBias
from bayes_bias.known_bias.scenario import Reading, Scenario, load_scenario
from bayes_bias.known_bias.static_vectors import check_static
from bayes_bias.known_bias.training_jobs import answers_of, decided_by
from bayes_bias.measures.measure_table import discover
from bayes_bias.measures.registry import MEASURES
from bayes_bias.models.fitting import versions
from bayes_bias.progress import Progress
from bayes_bias.sweeps.job import Job
from bayes_bias.sweeps.job_store import open_store
from bayes_bias.sweeps.running_jobs import run_jobs

ANSWERS = "answers"


def run(
    scenario: Scenario | str | Path,
    folder: str | Path,
    *,
    jobs: int = -1,
    client: Any = None,
    progress: Progress | None = None,
) -> KnownBias:
    """Train models on corpora whose bias is known, and compute every measure and the posterior.

    Parameters
    ----------
    scenario : Scenario, str or Path
        A shipped scenario ("majority", "skew", "null", "sentences", "robustness"), or a TOML file.
    folder : str or Path
        Where models and answers are kept; it is made. What is there is computed no second time, so that a run
        which was killed, or a scenario with more corpora, goes on.
    jobs : int
        Processes; -1 for one on each core.
    client : distributed.Client, optional
        Of a Dask cluster that shares the folder.
    progress : Progress, optional

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
    check_static(untrained)
    check_contextual(untrained)
    outcomes = run_jobs(todo, store, jobs=jobs, client=client, progress=progress)
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
