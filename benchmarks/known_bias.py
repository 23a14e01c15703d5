"""Corpora whose bias is known, read by skip-gram: a share of what `python -m studies.known_bias run` answers.

`null`: every occupation is said with both genders alike, so that whatever is found is found by chance. `majority`:
every occupation has a majority; correlations of measures with the true log odds, and how many intervals contain the
value that the drawn shares imply, from one corpus and from five corpora as replicates.
"""

from dataclasses import replace
from tempfile import TemporaryDirectory

from benchmarks.harness import Result, Row
from studies.known_bias.questions import answers
from studies.known_bias.running import run
from studies.known_bias.scenario import Scenario, load_scenario

_ANSWERED = {"null": ("false-findings",), "majority": ("words", "replicates")}


def nulls(draws: int) -> list[Row]:
    """So many truths without bias."""
    return _answers(load_scenario("null"), draws)


def majority(draws: int) -> list[Row]:
    """So many truths, with five corpora each."""
    return _answers(load_scenario("majority"), draws)


def _answers(shipped: Scenario, truths: int) -> list[Row]:
    every = shipped.scheme.cells
    chosen = every[:: max(1, len(every) // truths)][:truths]
    skip_gram = tuple(model for model in shipped.models if model.name == "skip-gram")
    scenario = replace(shipped, scheme=replace(shipped.scheme, cells=chosen), models=skip_gram)
    rows: list[Row] = []
    with TemporaryDirectory() as folder:
        for answer in answers(run(scenario, folder, jobs=1)):
            if (question := answer.question.name) in _ANSWERED[shipped.name]:
                rows += [{"question": question, **row} for row in answer.table.to_dict("records")]
    return rows


RESULTS = (Result("known-bias-nulls", nulls, 15), Result("known-bias", majority, 6))
