"""Do intervals cover the truth, and not only its corpus, when several corpora are given as replicates?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias.known_bias.asking_measures import POSTERIOR, target_biases
from bayes_bias.known_bias.clustered_intervals import for_each, mean_over_truths
from bayes_bias.known_bias.known_bias_results import MODEL, KnownBias
from bayes_bias.known_bias.question_calibration import covered
from bayes_bias.known_bias.scenario import Reading
from bayes_bias.known_bias.scenario_lists import of_all_targets
from bayes_bias.known_bias.training_jobs import vectors_of
from bayes_bias.measuring.vector_tables import cosines
from bayes_bias.table.combining_replicates import combine_replicates

ONE, SEVERAL = "one corpus", "corpora as replicates"


def replicates(known: KnownBias) -> pd.DataFrame:
    """Share of 95% intervals of `target_bias` that cover what the *drawn* shares imply.

    A corpus says a target with one group more often than its share by chance, and training adds chance of its own. An
    interval from one model knows of neither. Those from the corpora of a truth as replicates (see
    `bayes_bias.combine_replicates`, scope "all") speak of new corpora, too. What is implied is a line through the
    posterior means of other truths.

    ``asked`` is `ONE` or `SEVERAL`, ``width`` the mean width of an interval.
    """
    words = known.words_with_truth
    single = words[(words.measure == POSTERIOR) & (words.seed == 0) & (words.half == "")]
    together = pd.concat([single.assign(asked=ONE), _of_corpora(known).assign(asked=SEVERAL)])
    together = together.assign(log_odds=np.log(together.p / (1 - together.p)))
    return for_each(together, [*MODEL, "asked"], _coverage)


def _coverage(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
    shares = covered(rows).groupby([rows.truth, rows.corpus]).mean().reset_index(name="share")
    yield {**mean_over_truths(shares.share, shares.truth), "width": (rows.ci95_ub - rows.ci95_lb).mean()}


def _of_corpora(known: KnownBias) -> pd.DataFrame:
    return pd.concat(_posteriors(known), ignore_index=True)


def _posteriors(known: KnownBias) -> Iterator[pd.DataFrame]:
    """Posteriors of each truth and model with its corpora as replicates."""
    scenario = known.scenario
    drawn = known.truths.drop_duplicates(["truth", "attribute", "target"])[["truth", "attribute", "target", "p"]]
    corpora: dict[tuple[int, int, str], list[Reading]] = {}
    for reading in scenario.readings():
        if reading.seed == 0 and not reading.half:
            corpora.setdefault((reading.truth, reading.words, reading.model.name), []).append(reading)
    for (truth, words, model), readings in corpora.items():
        embeddings = [vectors_of(scenario, reading, known.models_folder) for reading in readings]
        for name, attribute in scenario.described.items():
            wordlist = of_all_targets(scenario, attribute, scenario.words)
            tables = {
                f"corpus {k}": cosines(vectors, wordlist, controls=()) for k, vectors in enumerate(embeddings, start=1)
            }
            rows = pd.DataFrame(target_biases(combine_replicates(tables, kind="corpus"), seed=scenario.seed))
            place = {"truth": truth, "words_per_sentence": words, "model": model, "attribute": name, "corpus": 0}
            yield rows.assign(**place).merge(drawn, on=["truth", "attribute", "target"]).dropna(subset="p")
