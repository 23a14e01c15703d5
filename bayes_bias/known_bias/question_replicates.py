"""Do intervals cover the truth, and not only its corpus, when several corpora are given as replicates?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias.known_bias.asking_measures import POSTERIOR, target_biases
from bayes_bias.known_bias.clustered_intervals import for_each, mean_over_truths
from bayes_bias.known_bias.known_bias_results import KnownBias
from bayes_bias.known_bias.question_calibration import covered
from bayes_bias.known_bias.scenario_lists import of_all_targets
from bayes_bias.known_bias.training_jobs import vectors_of
from bayes_bias.measuring.vector_tables import cosines
from bayes_bias.table.combining_replicates import combine_replicates

ONE, SEVERAL = "one corpus", "corpora as replicates"
_BY = ["attribute", "model", "words_per_sentence"]


def replicates(found: KnownBias) -> pd.DataFrame:
    """Share of 95% intervals of `target_bias` that cover what the *drawn* shares imply.

    A corpus says a target with one group more often than its share by chance, and training adds chance of its own. An
    interval from one model knows of neither. Those from the corpora of a truth as replicates (see
    `bayes_bias.combine_replicates`,
    scope "all") speak of new corpora, too. What is implied is a line through the posterior means of other truths.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``asked`` ("one corpus" or "corpora as replicates"),
        ``value``, ``ci95_lb``, ``ci95_ub`` (over truths), ``truths``, ``trainings``, ``width`` (mean width of an
        interval).
    """
    words = found.words_with_truth
    single = words[(words.measure == POSTERIOR) & (words.seed == 0) & (words.half == "")]
    together = pd.concat([single.assign(asked=ONE), _of_corpora(found).assign(asked=SEVERAL)])
    together = together.assign(log_odds=np.log(together.p / (1 - together.p)))
    return for_each(together, [*_BY, "asked"], _coverage)


def _coverage(own: pd.DataFrame) -> Iterator[dict[str, float]]:
    held = covered(own).groupby([own.truth, own.corpus]).mean().reset_index(name="share")
    yield {**mean_over_truths(held.share, held.truth), "width": (own.ci95_ub - own.ci95_lb).mean()}


def _of_corpora(found: KnownBias) -> pd.DataFrame:
    """Posteriors of each truth and model with its corpora as replicates."""
    return pd.concat(_posteriors(found), ignore_index=True)


def _posteriors(found: KnownBias) -> Iterator[pd.DataFrame]:
    scenario = found.scenario
    drawn = found.truths.drop_duplicates(["truth", "attribute", "target"])[["truth", "attribute", "target", "p"]]
    first = [each for each in scenario.readings() if each.seed == 0 and not each.half]
    places = dict.fromkeys((each.truth, each.words, each.model.name) for each in first)
    for truth, words, model in places:
        own = [each for each in first if (each.truth, each.words, each.model.name) == (truth, words, model)]
        vectors = [vectors_of(scenario, each, found.models_folder) for each in own]
        for name, attribute in scenario.described.items():
            wordlist = of_all_targets(scenario, attribute, scenario.words)
            tables = {f"corpus {k}": cosines(each, wordlist, controls=()) for k, each in enumerate(vectors, start=1)}
            rows = pd.DataFrame(target_biases(combine_replicates(tables, kind="corpus"), seed=scenario.seed))
            place = {"truth": truth, "words_per_sentence": words, "model": model, "attribute": name, "corpus": 0}
            yield rows.assign(**place).merge(drawn, on=["truth", "attribute", "target"]).dropna(subset="p")
