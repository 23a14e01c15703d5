"""Do measures say what is true? Their values for words, for models and for a classifier's gaps, beside the truth."""

from collections.abc import Iterator
from itertools import chain, combinations

import numpy as np
import pandas as pd
from scipy import stats

from studies.known_bias.asking import SCORE, SPREAD
from studies.known_bias.corpora import Corpus, draw_truth, make_corpus
from studies.known_bias.results import (
    CORPUS,
    INTERVAL,
    MODEL,
    TRAINING,
    KnownBias,
    correlation,
    correlation_over_trainings,
    for_each,
    mean_over_truths,
)
from studies.known_bias.vocabulary import Attribute

FIRST, SECOND = "first order: one sentence", "second order: like sentences"

# Added to every count, so that words which never meet have a logarithm.
_SMOOTHING = 0.5

# What is true of a word: with a sign, for measures that have one; its size, for those that have none.
AGAINST = ("log odds", "absolute log odds")

# What a corpus's log odds do: lean to one side, spread to both, lie away from equal shares.
FOLLOWED = ("skew", "stereotype", "away")

# The posterior decides between two models where it is this sure; intervals resample truths.
_SURE = 0.95
_RESAMPLES = 1000

# Correlations of gaps over classes; the bias is the WEAT score in the same vectors.
_OF_GAPS = {"gap and log odds": "log_odds", "gap and bias": "bias"}


def orders(known: KnownBias) -> pd.DataFrame:
    """Correlation with the true log odds of associations of first and second order, and of models' WEAT scores.

    They show why the sign of a bias may depend on the sentences: what goes together is not always what is alike. First
    order is what stands in one sentence: an occupation and "he". Second order is what stands in *like* sentences, and
    that is what a cosine of two vectors tells. Where each sentence has a single word of a group, "he" never meets "he"
    or "his", and a male occupation meets them all the time: the two are unlike each other. Where sentences have two
    such words or more, both meet them.

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


def of_words(known: KnownBias) -> pd.DataFrame:
    """Correlation over targets of a measure's values with the true log odds, averaged over trainings as Fisher's z.

    ``against`` is what they are correlated with, ``kind`` "pearson" or "spearman".
    """
    by = [*MODEL, "measure"]
    trainings = for_each(known.words_with_truth, dict.fromkeys([*by, *TRAINING]), _of_one_training)
    return for_each(
        trainings, [*by, "against", "kind"], lambda rows: [mean_over_truths(rows.r, rows.truth, fisher=True)]
    )


def _of_one_training(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    odds = rows.log_odds.to_numpy(float)
    for against, true in zip(AGAINST, (odds, np.abs(odds)), strict=True):
        pairs = np.stack([rows.value.to_numpy(float), true], axis=1)
        for kind, values in (("pearson", pairs), ("spearman", stats.rankdata(pairs, axis=0))):
            yield {"against": against, "kind": kind, "r": correlation(values)}


def of_models(known: KnownBias) -> pd.DataFrame:
    """Pearson's correlation over trainings of a measure's value with the mean absolute log odds of its corpus.

    ``with_divergence`` is that with the mean Jensen-Shannon distance from equal shares.
    """

    def correlations(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
        divergence = correlation_over_trainings(rows, "value", "divergence").value
        yield {**correlation_over_trainings(rows, "value", "size"), "with_divergence": divergence}

    return for_each(known.models_with_truth, [*MODEL, "list", "measure"], correlations)


def following(known: KnownBias) -> pd.DataFrame:
    """Pearson's correlation over trainings of each measure's value with what is `FOLLOWED`.

    ``skew`` is the mean of a corpus's log odds, ``stereotype`` their standard deviation, ``away`` the mean distance of
    its shares from one half.
    """

    def correlations(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
        for followed in FOLLOWED:
            yield {"followed": followed, **correlation_over_trainings(rows, "value", followed)}

    return for_each(known.models_with_truth, [*MODEL, "list", "measure"], correlations)


def ranking(known: KnownBias) -> pd.DataFrame:
    """Share of pairs of trainings, of different truths, that a measure puts in the right order.

    The order that is right is that of the mean absolute log odds of their corpora. The posterior of the spread of
    targets' biases says besides how probable an order is: ``decided`` is the share of pairs with a probability of .95
    or more, ``right_if_decided`` how often that is right, and ``undecided_if_wrong`` how often it says "cannot tell"
    where its more probable order is wrong.
    """
    return for_each(known.models_with_truth, [*MODEL, "list", "measure"], _ranked)


def _ranked(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
    pairs = _pairs(rows)
    shares = {**_share(pairs), "pairs": len(pairs)}
    if rows.measure.iloc[0] == SPREAD and len(pairs):
        wrong = ~pairs.right.astype(bool)
        shares |= {
            "decided": pairs.sure.mean(),
            "right_if_decided": pairs[pairs.sure].right.mean(),
            "undecided_if_wrong": (~pairs[wrong].sure).mean(),
        }
    yield shares


def _pairs(rows: pd.DataFrame) -> pd.DataFrame:
    first, second = np.array(list(combinations(range(len(rows)), 2)), dtype=int).reshape(-1, 2).T
    truth, value, size = (rows[name].to_numpy() for name in ("truth", "value", "size"))
    sd = ((rows.ci95_ub - rows.ci95_lb) / (2 * stats.norm.ppf(0.975))).to_numpy(float)
    apart = truth[first] != truth[second]
    first, second = first[apart], second[apart]
    difference = value[first] - value[second]
    with np.errstate(invalid="ignore"):
        probability = stats.norm.cdf(np.abs(difference) / np.hypot(sd[first], sd[second]))
    return pd.DataFrame(
        {
            "first": truth[first],
            "second": truth[second],
            "right": (np.sign(difference) == np.sign(size[first] - size[second])).astype(float),
            "sure": probability >= _SURE,
        }
    )


def _share(pairs: pd.DataFrame) -> dict[str, float]:
    """The share that is right; a pair counts as often as both of its truths are drawn."""
    if pairs.empty:
        return {"value": np.nan, **dict.fromkeys(INTERVAL, np.nan)}
    cells = pairs.groupby(["first", "second"]).right.agg(["sum", "size"]).reset_index()
    truths = np.unique(pairs[["first", "second"]])
    places = np.searchsorted(truths, cells[["first", "second"]])
    rng = np.random.default_rng(1)
    times = rng.multinomial(len(truths), np.full(len(truths), 1 / len(truths)), size=_RESAMPLES)
    weights = times[:, places[:, 0]] * times[:, places[:, 1]]
    known = weights.sum(axis=1) > 0
    shares = (weights @ cells["sum"])[known] / (weights @ cells["size"])[known]
    lower, upper = np.quantile(shares, (0.025, 0.975))
    return {"value": float(pairs.right.mean()), "ci95_lb": float(lower), "ci95_ub": float(upper)}


def classifiers(known: KnownBias) -> pd.DataFrame:
    """Correlations of a classifier's gaps, their size, and its accuracy (``what``), by dimensions taken out."""
    of_target = [*TRAINING, "attribute", "target"]
    classes = known.classes.merge(known.truths[[*of_target, "log_odds"]], on=of_target)
    by = [*MODEL, "classifier", "components"]
    return for_each(
        for_each(classes, dict.fromkeys([*by, *TRAINING]), _of_one_classifier),
        [*by, "what"],
        lambda rows: [mean_over_truths(rows.r, rows.truth, fisher=rows.what.iloc[0] in _OF_GAPS)],
    )


def _of_one_classifier(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    for what, truth in _OF_GAPS.items():
        yield {"what": what, "r": correlation(rows[["gap", truth]].to_numpy(float))}
    yield {"what": "root mean square gap", "r": float(np.sqrt(max(rows.mean_square.iloc[0], 0.0)))}
    yield {"what": "accuracy", "r": rows.accuracy.iloc[0]}
