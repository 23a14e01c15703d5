"""Nothing, targets or both sides adjusted for frequency, where nothing is biased.

``python -m benchmarks.equal_frequency --folder FOLDER``, after ``python -m benchmarks.known_bias frequency`` has
trained models in the same folder: those of corpora without bias are asked, and fastText vectors of the same corpora.
"""

import argparse
import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from bayes_bias.associations.cosines import cosines
from bayes_bias.checks.null_jobs import describe, posterior_of
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.table.association_table import AssociationTable
from benchmarks.provenance import provenance, rows_of, write
from studies.known_bias.corpora import lists_of
from studies.known_bias.results import MODELS
from studies.known_bias.running import corpus_of, vectors_of
from studies.known_bias.scenario import KINDS, ModelRecipe, Reading, Scenario, load_scenario


def asked(scenario: Scenario, reading: Reading, folder: Path) -> Iterator[dict[str, object]]:
    """The bias as it is and at equal frequency of one side or both, and how alike counterparts are in preferences."""
    truth, corpus = corpus_of(scenario, reading)
    (attribute,) = scenario.described.values()
    wordlist = lists_of(scenario, truth, attribute)["two groups 1"]
    table = cosines(wordlist, vectors_of(scenario, reading, folder, corpus), controls=())
    times = Counter(word for sentence in corpus.tokens for word in sentence)
    counterparts = _alike(table, attribute.defining_sets)
    both = (*wordlist.targets, *wordlist.attributes)
    for sides, words in (("nothing", ()), ("targets", wordlist.targets), ("both", both)):
        logs = {word: float(np.log(times[word])) for word in words}
        adjusted = table.with_covariates(logs) if logs else table
        fitted, _ = posterior_of(adjusted, load_spec("crossed"), seed=scenario.seed)
        bias = describe(bias_estimate(fitted), truth=0.0)
        yield {
            "model": reading.model.name,
            "frequency": truth.cell["frequency"],
            "adjusted": sides,
            "bias": bias["mean"],
            "width": bias["ci95_ub"] - bias["ci95_lb"],
            "found": float(bias["p_value"] < 0.05),
            "found, negative": float(bias["p_value"] < 0.05 and bias["mean"] < 0),
            "counterparts": counterparts,
        }


def _alike(table: AssociationTable, sets: list[tuple[str, ...]]) -> float:
    """How closely matched words (he and she) agree in which group of targets they prefer, as a correlation."""
    means = table.values.groupby("group").mean().to_pandas()
    preferences = means.iloc[0] - means.iloc[1]
    return float(np.corrcoef(*(preferences[list(words)] for words in zip(*sets, strict=True)))[0, 1])


def main() -> None:
    """Fit all tables without bias and write the means over their cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    folder = parser.parse_args().folder / "frequency" / MODELS
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)  # a notice where groups hardly overlap
    shipped = load_scenario("frequency")
    scenario = replace(shipped, models=(*shipped.models, ModelRecipe("fasttext", "fasttext", KINDS["fasttext"])))
    unbiased = [each for each in scenario.readings() if scenario.scheme.cells[each.truth]["sigma"] == 0]
    answers = pd.DataFrame([row for each in unbiased for row in asked(scenario, each, folder)])
    by_cell = answers.groupby(["model", "frequency", "adjusted"], sort=False)
    rows = by_cell.mean().assign(worlds=by_cell.size()).reset_index()
    print(rows.round(3).to_string(index=False))
    write("equal-frequency", provenance(), rows_of(rows))


if __name__ == "__main__":
    main()
