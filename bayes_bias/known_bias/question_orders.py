"""Why the sign of a bias may depend on the sentences: what goes together is not always what is alike.

First order is what stands in one sentence: an occupation and "he". Second order is what stands in *like* sentences, and
that is what a cosine of two vectors tells. Where each sentence has a single word of a group, "he" never meets "he" or
"his", and a male occupation meets them all the time: the two are unlike each other. Where sentences have two such words
or more, both meet them.
"""

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pandas as pd

from bayes_bias.known_bias.asking_measures import SCORE
from bayes_bias.known_bias.clustered_intervals import correlation, for_each, mean_over_truths
from bayes_bias.known_bias.corpora import Corpus, draw_truth, make_corpus
from bayes_bias.known_bias.known_bias_results import CORPUS, KnownBias
from bayes_bias.known_bias.vocabulary import Attribute

FIRST, SECOND = "first order: one sentence", "second order: like sentences"

# Added to every count, so that words which never meet have a logarithm.
_SMOOTHING = 0.5


def orders(known: KnownBias) -> pd.DataFrame:
    """Correlation with the true log odds of associations of first and second order, and of models' WEAT scores.

    Associations need no training: they are counts of sentences, see `first_and_second`.
    """
    by = ["attribute", "words_per_sentence", "measure"]
    scores = known.words_with_truth[known.words_with_truth.measure == SCORE]
    trained = for_each(
        scores.assign(measure=f"{SCORE}, " + scores.model),
        [*by, "truth", "corpus", "half", "seed"],
        lambda rows: [{"r": correlation(rows[["value", "log_odds"]].to_numpy(float))}],
    )
    together = pd.concat([pd.DataFrame(_of_counts(known)), trained])
    return for_each(together, by, lambda rows: [mean_over_truths(rows.r, rows.truth, fisher=True)])


def first_and_second(corpus: Corpus, attribute: Attribute, targets: tuple[str, ...]) -> dict[str, np.ndarray]:
    r"""Association of each target with the first group, from how often words stand in one sentence.

    With pointwise mutual information over sentences,

    .. math:: \mathrm{pmi}(v, w) = \log \frac{n_{vw}\, n}{n_v\, n_w},

    the first order is the mean PMI of a target with the words of the first group minus that with all others; the second
    order is the same difference of cosines between rows of the matrix of PMI, which is what word2vec factorises [1]_.

    References
    ----------
    .. [1] Levy, O., & Goldberg, Y. (2014). Neural word embedding as implicit matrix factorization. NeurIPS 27.
       https://papers.nips.cc/paper/5477
    """
    words, pmi = _pmi(corpus)
    at = {word: k for k, word in enumerate(words)}
    rows = pmi / np.linalg.norm(pmi, axis=1, keepdims=True)
    of_targets = [at[target] for target in targets]
    first = [at[word] for word in attribute.classes[attribute.first_group] if word in at]
    others = [at[word] for word in attribute.others if word in at]

    def difference(values: np.ndarray) -> np.ndarray:
        return np.asarray(values[:, first].mean(axis=1) - values[:, others].mean(axis=1))

    return {FIRST: difference(pmi[of_targets]), SECOND: difference(rows[of_targets] @ rows.T)}


def _of_counts(known: KnownBias) -> Iterator[dict[str, object]]:
    scenario = known.scenario
    for (truth, words, number, half), truths in known.truths.groupby(CORPUS, sort=False):
        corpus = make_corpus(scenario, draw_truth(scenario, int(truth)), int(number), int(words), str(half))
        for name, attribute in scenario.described.items():
            odds = truths[truths.attribute == name].drop_duplicates("target").set_index("target").log_odds
            for measure, values in first_and_second(corpus, attribute, scenario.words).items():
                pairs = np.stack([values, odds.loc[list(scenario.words)].to_numpy(float)], axis=1)
                r = correlation(pairs[np.isfinite(pairs).all(axis=1)])
                yield {"truth": truth, "words_per_sentence": words, "attribute": name, "measure": measure, "r": r}


def _pmi(corpus: Corpus) -> tuple[list[str], np.ndarray]:
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
