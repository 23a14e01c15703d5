"""WEAT for sentences (SEAT), and over all contexts of a word (CEAT)."""

from dataclasses import dataclass
from math import comb

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob, check_count, check_seed
from bayes_bias.errors import MeasureError
from bayes_bias.measures.designs import (
    ROUNDING,
    labels,
    require_one_space,
    require_replicates,
    shares_a_space,
    two_by_two,
    unit_sentences,
)
from bayes_bias.measures.permutation import MOST_PARTITIONS, Alternative, Separation, largest_effect, separated
from bayes_bias.measures.registry import Result, measure
from bayes_bias.table.association_table import AssociationTable

# Together with the observed partition, these are 100,000 partitions, as in the paper.
PERMUTATIONS = 99_999


@dataclass(frozen=True, eq=False, kw_only=True)
class Seat(Separation):
    """Result of SEAT for two groups and two classes. `value` is the effect size for sentences.

    The test regroups *sentences*. The `association` of a word is the mean score of the sentences with this word.

    Attributes
    ----------
    across : bool
        Whether a sentence was compared with the sentences of all templates, as in the paper. Otherwise, it was compared
        only with sentences of its own replicate, because replicates are not comparable or the table has no vectors.
    """

    measure: str = "SEAT"
    word_value: str = "association"

    across: bool

    @property
    def bias(self) -> float:
        """Half of the difference, which is comparable with the `bias` of the posterior."""
        return self.difference / 2


@measure("SEAT", rank=12)
def seat(
    table: AssociationTable, *, alternative: Alternative = "greater", permutations: int | None = None, seed: int = 0
) -> Seat:
    r"""Compute WEAT with sentences instead of words.

    Each target and each attribute is inserted into R templates, and each of the resulting sentences is treated as a
    word:

    .. math:: s(w, A, B) = \mathrm{mean}_{a \in A} \cos(w, a) - \mathrm{mean}_{b \in B} \cos(w, b), \qquad
              d = \frac{\mathrm{mean}_{x \in X} s(x, A, B) - \mathrm{mean}_{y \in Y} s(y, A, B)}
                       {\mathrm{sd}_{w \in X \cup Y} s(w, A, B)}

    where w, a, b, x, y are sentences. The p-value is WEAT's over partitions of sentences. If there are more than a
    million partitions, 99,999 random partitions are drawn.

    Parameters
    ----------
    table : AssociationTable
        Two groups and two associated classes with replicates. The table must be complete, without repeats. Without
        vectors, or with replicates that are not templates, only cosines within a replicate are used.
    alternative, permutations, seed
        See `weat`.

    Raises
    ------
    MeasureError
        If there are no replicates, or if `weat` raises an error.

    Notes
    -----
    SEAT misleads because it treats sentences as independent. Eight words in ten templates are eighty sentences, and the
    test permutes them like eighty words. If attributes are random words, so that there is no bias, SEAT finds a bias in
    at least three quarters of all cases (docs/evidence/replicates-and-embeddings.md). The package includes SEAT only
    for comparison. The caveats of WEAT also apply, and d depends on which vector represents a sentence. In five models
    (Delobelle et al. 2022) d is .90, .52, 1.15, .77 and .40 for [CLS], and .62, -.30, .05, .57 and .00 for the pooled
    word.

    References
    ----------
    May, C., Wang, A., Bordia, S., Bowman, S. R. & Rudinger, R. (2019). On measuring social biases in sentence encoders.
    NAACL, 622-628. https://doi.org/10.18653/v1/N19-1063

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = seat(cosines("weat7", "minilm-demo", controls=()))
    >>> round(result.effect_size, 2), round(result.p_value, 3), result.across
    (0.38, 0.008, True)
    """
    require_replicates(table, "SEAT")
    table = table.without_controls()
    two_by_two(table, "SEAT", least_words=2)
    across = table.vectors is not None and shares_a_space(table)
    if across:
        targets, attributes = unit_sentences(table, "SEAT")
        a = attributes[table.class_index == 0]
        b = attributes[table.class_index == 1]
        # The mean of cosines with unit vectors is the product with the mean of these vectors.
        scores = targets @ (a.mean(axis=(0, 1)) - b.mean(axis=(0, 1)))
    else:
        replicates = require_replicates(table, "SEAT").tables
        values = np.stack([values.to_numpy() for values in replicates.values()], axis=-1)
        scores = values[:, table.class_index == 0].mean(axis=1) - values[:, table.class_index == 1].mean(axis=1)
    first = scores[table.group_index == 0].ravel()
    second = scores[table.group_index == 1].ravel()
    if permutations is None and comb(len(first) + len(second), len(first)) > MOST_PARTITIONS:
        permutations = PERMUTATIONS
    no_spread = "SEAT is not defined, because all sentences have the same association score"
    order = np.argsort(table.group_index, kind="stable")
    return Seat(
        **separated(
            first, second, no_spread, rounding=ROUNDING, alternative=alternative, permutations=permutations, seed=seed
        ),
        words=labels(table).assign(association=scores.mean(axis=1)[order]),
        across=across,
    )


DRAWS = 10_000
_CHUNK = 1_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Ceat(Result):
    """Result of CEAT for two groups and two classes. `value` is the combined effect size.

    Attributes
    ----------
    effect_sizes : numpy.ndarray
        WEAT's d in each draw of contexts.
    between : float
        Variance of true effect sizes between draws, estimated by the method of DerSimonian and Laird.
    standard_error : float
        Standard error of the combined effect size by the published formula, which decreases with the number of draws.
    """

    measure: str = "CEAT"

    effect_sizes: NDArray[np.float64]
    between: float
    standard_error: float


@measure("CEAT", rank=13)
def ceat(table: AssociationTable, *, draws: int = DRAWS, ci_prob: float = 0.95, seed: int = 0) -> Ceat:
    r"""Compute the random-effects mean of WEAT's effect size over random contexts of the words.

    In each of N draws, every word is represented by one of its sentences. From these sentences, WEAT's effect size
    :math:`d_k` (with the sample standard deviation) and the variance :math:`V_k` of the association scores are
    computed. The combined effect size is

    .. math:: \mathrm{CES} = \frac{\sum_k v_k d_k}{\sum_k v_k}, \quad v_k = \frac{1}{V_k + \tau^2}, \quad
              \tau^2 = \max\left(0, \frac{Q - (N - 1)}{\sum_k W_k - \sum_k W_k^2 / \sum_k W_k}\right)

    where :math:`W_k = 1 / V_k` and :math:`Q = \sum_k W_k d_k^2 - (\sum_k W_k d_k)^2 / \sum_k W_k`. The standard error
    is :math:`1 / \sqrt{\sum_k v_k}`. Interval and p-value (two-sided, as in the paper) are normal.

    Parameters
    ----------
    table : AssociationTable
        Two groups of two or more targets and two associated classes, with templates as replicates, and with vectors.
    draws : int
        Number N of draws; 10,000 as published.
    ci_prob, seed
        See `measure_all`.

    Raises
    ------
    MeasureError
        If there are no replicates, if vectors of different replicates are not comparable, or if `weat` raises an error.

    Notes
    -----
    CEAT misleads mainly because of its p-value. Although every draw uses the same words and sentences, the standard
    error is approximately the spread of d over draws, divided by the square root of N. Therefore, p decreases with N,
    and every combined effect size except zero becomes "significant" if N is large enough. If attributes are random
    words, so that there is no bias, CEAT with 1,000 draws finds a bias in more than nine of ten cases
    (docs/evidence/replicates-and-embeddings.md). The variation between words is ignored. Two other problems are less
    important. First, the variance of the association (in cosines) is used as the sampling variance of d (which has no
    unit), so that nearly all of the spread is attributed to :math:`\tau^2`. Second, the released code halves the
    two-sided p of the paper. In this implementation, contexts are templates. The paper uses many sentences from a
    corpus for each word.

    References
    ----------
    Guo, W. & Caliskan, A. (2021). Detecting emergent intersectional biases: contextualized word embeddings contain a
    distribution of human-like biases. AIES, 122-133. https://doi.org/10.1145/3461702.3462536

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> table = cosines("weat7", "minilm-demo", controls=())
    >>> few, many = (ceat(table, draws=n) for n in (10, 10_000))
    >>> abs(few.value - many.value) < 0.2, few.p_value > many.p_value
    (True, True)
    """
    seed = check_seed(seed)
    draws = check_count("draws", draws, "draws", least=2)
    check_ci_prob(ci_prob)
    require_one_space(table, "CEAT")
    table = table.without_controls()
    design = two_by_two(table, "CEAT", least_words=2)
    scores = _scores(table, draws, seed)
    spread = scores.std(axis=1, ddof=1)
    if (spread < ROUNDING).any():
        raise MeasureError(
            "CEAT is not defined, because in one of the draws all targets have the same association score"
        )
    first = table.group_index == 0
    effects = (scores[:, first].mean(axis=1) - scores[:, ~first].mean(axis=1)) / spread
    value, standard_error, between = random_effects_mean(effects, spread**2)
    half = float(scipy.stats.norm.ppf(0.5 + ci_prob / 2)) * standard_error
    bound = largest_effect(design.n_x, len(first) - design.n_x, ddof=1)
    return Ceat(
        value=value,
        range=(-bound, bound),
        p_value=float(2 * scipy.stats.norm.sf(abs(value) / standard_error)),
        interval=(value - half, value + half),
        effect_sizes=effects,
        between=between,
        standard_error=standard_error,
    )


def random_effects_mean(values: NDArray[np.float64], variances: NDArray[np.float64]) -> tuple[float, float, float]:
    r"""Return the mean by the method of DerSimonian and Laird, its standard error, and the variance between draws.

    For n values d with the variances V, let :math:`w = 1 / V`, and Q the weighted sum of squares around the mean with
    these weights. The variance between draws is

    .. math:: \tau^2 = \max\Big(0, \frac{Q - (n - 1)}{\sum w - \sum w^2 / \sum w}\Big)

    and the mean has the weights :math:`v = 1 / (V + \tau^2)` and the standard error :math:`1 / \sqrt{\sum v}`.
    """
    w = 1 / variances
    fixed_mean = (w @ values) / w.sum()
    q = (w * (values - fixed_mean) ** 2).sum()
    tau_squared = max(0.0, float((q - (len(values) - 1)) / (w.sum() - (w**2).sum() / w.sum())))
    v = 1 / (variances + tau_squared)
    return float((v @ values) / v.sum()), float(v.sum() ** -0.5), tau_squared


def _scores(table: AssociationTable, draws: int, seed: int) -> NDArray[np.float64]:
    """Return association scores of the targets in each draw, (draws, targets).

    In a draw, each word is represented by one of its sentences, at random. The score of a target is its mean cosine
    with the attributes of the first class minus the mean with the second class, that is, a weighted sum of cosines. The
    cosines of all sentences are computed once, (target, sentence, attribute, sentence), and those of each draw are
    selected, in chunks that fit in memory.
    """
    targets, attributes = unit_sentences(table, "CEAT")
    is_associated = table.class_index < 2
    attributes = attributes[is_associated]
    classes = table.class_index[is_associated]
    weights = np.where(classes == 0, 1 / (classes == 0).sum(), -1 / (classes == 1).sum())
    cosines = np.einsum("ird,jsd->irjs", targets, attributes)
    n_targets, n_sentences, n_attributes, _ = cosines.shape
    rng = np.random.default_rng(seed)
    target_sentence = rng.integers(n_sentences, size=(draws, n_targets))
    attribute_sentence = rng.integers(n_sentences, size=(draws, n_attributes))
    target = np.arange(n_targets)[:, None]
    attribute = np.arange(n_attributes)
    scores = []
    for start in range(0, draws, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        drawn = cosines[target, target_sentence[chunk, :, None], attribute, attribute_sentence[chunk, None, :]]
        scores.append(drawn @ weights)  # (draws, targets, attributes) @ (attributes,)
    return np.concatenate(scores)
