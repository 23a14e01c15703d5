"""Why the sign of a bias may depend on the sentences: what goes together is not always what is alike.

First order is what stands in one sentence: an occupation and "he". Second order is what stands in *like* sentences, and
that is what a cosine of two vectors tells. Where each sentence has a single word of a group, "he" never meets "he" or
"his", and a male occupation meets them all the time: the two are unlike each other. Where sentences have two such words
or more, both meet them.
"""

from itertools import chain

import numpy as np
import pandas as pd

from bayes_bias.known_bias.asking_measures import SCORE
from bayes_bias.known_bias.clustered_intervals import correlation, for_each, mean_over_truths
from bayes_bias.known_bias.corpora import Corpus, draw_truth, make_corpus
from bayes_bias.known_bias.known_bias_results import CORPUS, KnownBias
from bayes_bias.known_bias.scenario import Scenario
from bayes_bias.known_bias.vocabulary import Attribute

FIRST, SECOND = "first order: one sentence", "second order: like sentences"

# Added to every count, so that words which never meet have a logarithm.
_SMOOTHING = 0.5


def orders(found: KnownBias) -> pd.DataFrame:
    """Correlation with the true log odds of associations of first and second order, and of models' word scores.

    Without any training, from counts of sentences: see `first_and_second`. Beside them `WEAT score` of each model.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``words_per_sentence``, ``measure``, ``value``, ``ci95_lb``, ``ci95_ub`` (over truths),
        ``truths``, ``trainings``.
    """
    by = ["attribute", "words_per_sentence", "measure"]
    scores = found.words_with_truth[found.words_with_truth.measure == SCORE]
    trained = (
        scores.assign(measure=f"{SCORE}, " + scores.model)
        .groupby([*by, "truth", "corpus", "half", "seed"], sort=False)[["value", "log_odds"]]
        .apply(lambda own: correlation(own.to_numpy(float)))
        .reset_index(name="r")
    )
    together = pd.concat([_of_counts(found), trained])
    return for_each(together, by, lambda own: [mean_over_truths(own.r, own.truth, fisher=True)])


def first_and_second(corpus: Corpus, attribute: Attribute, targets: tuple[str, ...]) -> dict[str, np.ndarray]:
    r"""AssociationTable of targets with a group, from how often words stand in one sentence.

    With pointwise mutual information over sentences,

    .. math:: \mathrm{pmi}(v, w) = \log \frac{n_{vw}\, n}{n_v\, n_w},

    the first order is the mean PMI of a target with the words of the first group less that with all others; the second
    order is the same difference of cosines between rows of the matrix of PMI, which is what word2vec factorises [1]_.

    Parameters
    ----------
    corpus : Corpus
    attribute : Attribute
    targets : tuple of str

    Returns
    -------
    dict of str to array
        One value for each target.

    References
    ----------
    .. [1] Levy, O., & Goldberg, Y. (2014). Neural word embedding as implicit matrix factorization. NeurIPS 27.
       https://papers.nips.cc/paper/5477
    """
    words, pmi = _pmi(corpus)
    at = {word: k for k, word in enumerate(words)}
    rows = pmi / np.linalg.norm(pmi, axis=1, keepdims=True)
    own = [at[target] for target in targets]
    here = [at[word] for word in attribute.classes[attribute.asked] if word in at]
    there = [at[word] for word in attribute.others if word in at]

    def against(values: np.ndarray) -> np.ndarray:
        return np.asarray(values[:, here].mean(axis=1) - values[:, there].mean(axis=1))

    return {FIRST: against(pmi[own]), SECOND: against(rows[own] @ rows.T)}


def _of_counts(found: KnownBias) -> pd.DataFrame:
    rows = []
    scenario = found.scenario
    for place, own in found.truths.groupby(CORPUS, sort=False):
        truth, words, number, half = place
        corpus = make_corpus(scenario, draw_truth(scenario, int(truth)), int(number), int(words), str(half))
        rows += _of_corpus(scenario, corpus, own, {"truth": truth, "words_per_sentence": words})
    return pd.DataFrame(rows)


def _of_corpus(
    scenario: Scenario, corpus: Corpus, truths: pd.DataFrame, place: dict[str, object]
) -> list[dict[str, object]]:
    rows = []
    for name, attribute in scenario.described.items():
        odds = truths[truths.attribute == name].drop_duplicates("target").set_index("target").log_odds
        for measure, values in first_and_second(corpus, attribute, scenario.words).items():
            pairs = np.stack([values, odds.loc[list(scenario.words)].to_numpy(float)], axis=1)
            r = correlation(pairs[np.isfinite(pairs).all(axis=1)])
            rows.append({**place, "attribute": name, "measure": measure, "r": r})
    return rows


def _pmi(corpus: Corpus) -> tuple[list[str], np.ndarray]:
    """All words, and the PMI of each two over sentences."""
    sentences = corpus.tokens
    words = sorted(set(chain(*sentences)))
    at = {word: k for k, word in enumerate(words)}
    together = np.zeros((len(words), len(words)))
    for sentence in sentences:
        ids = np.array([at[word] for word in sentence])
        np.add.at(together, (ids[:, None], ids), 1 - np.eye(len(ids)))
    together += _SMOOTHING
    alone = together.sum(axis=1)
    return words, np.log(together * together.sum() / np.outer(alone, alone))
