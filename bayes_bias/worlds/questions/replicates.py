"""Do intervals cover the truth, and not only its corpus, when several corpora are given as replicates?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias.associations.combining import replicated
from bayes_bias.associations.cosine import cosines
from bayes_bias.worlds.asking import POSTERIOR, target_biases
from bayes_bias.worlds.found import GroundTruth
from bayes_bias.worlds.lists import of_all_targets
from bayes_bias.worlds.questions.calibration import covered
from bayes_bias.worlds.questions.clustered import for_each, mean_over_truths
from bayes_bias.worlds.reading import vectors_of

ONE, SEVERAL = "one corpus", "corpora as replicates"
_BY = ["attribute", "model", "words_per_sentence"]


def replicates(found: GroundTruth) -> pd.DataFrame:
    """Share of 95% intervals of `target_bias` that cover what the *drawn* shares imply.

    A corpus says a target with one group more often than its share by chance, and training adds chance of its own. An
    interval from one model knows of neither. Those from the corpora of a truth as replicates (`bayes_bias.replicated`,
    scope "all") speak of new corpora, too. What is implied is a line through the posterior means of other truths.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``asked`` ("one corpus" or "corpora as replicates"),
        ``value``, ``lower``, ``upper`` (over truths), ``truths``, ``trainings``, ``width`` (mean width of an interval).
    """
    words = found.words_with_truth
    single = words[(words.measure == POSTERIOR) & (words.seed == 0) & (words.half == "")]
    together = pd.concat([single.assign(asked=ONE), _of_corpora(found).assign(asked=SEVERAL)])
    together = together.assign(log_odds=np.log(together.p / (1 - together.p)))
    return for_each(together, [*_BY, "asked"], _coverage)


def _coverage(own: pd.DataFrame) -> Iterator[dict[str, float]]:
    held = covered(own).groupby([own.truth, own.corpus]).mean().reset_index(name="share")
    yield {**mean_over_truths(held.share, held.truth), "width": (own.upper - own.lower).mean()}


def _of_corpora(found: GroundTruth) -> pd.DataFrame:
    """Posteriors of each truth and model with its corpora as replicates."""
    return pd.concat(_posteriors(found), ignore_index=True)


def _posteriors(found: GroundTruth) -> Iterator[pd.DataFrame]:
    world = found.world
    drawn = found.truths.drop_duplicates(["truth", "attribute", "target"])[
        ["truth", "attribute", "target", "p"]
    ]
    first = [each for each in world.readings() if each.seed == 0 and not each.half]
    places = dict.fromkeys((each.truth, each.words, each.model.name) for each in first)
    for truth, words, model in places:
        own = [each for each in first if (each.truth, each.words, each.model.name) == (truth, words, model)]
        vectors = [vectors_of(world, each, found.models_folder) for each in own]
        for name, attribute in world.described.items():
            wordlist = of_all_targets(world, attribute, world.words)
            tables = {
                f"corpus {k}": cosines(each, wordlist, controls=()) for k, each in enumerate(vectors, start=1)
            }
            rows = pd.DataFrame(target_biases(replicated(tables, kind="corpus"), seed=world.seed))
            place = {
                "truth": truth,
                "words_per_sentence": words,
                "model": model,
                "attribute": name,
                "corpus": 0,
            }
            yield rows.assign(**place).merge(drawn, on=["truth", "attribute", "target"]).dropna(subset="p")
