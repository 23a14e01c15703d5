"""CEAT: the contextualised embedding association test of Guo & Caliskan (2021)."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob, check_count, check_seed
from bayes_bias.errors import MeasureError
from bayes_bias.measures.designs import ROUNDING, require_one_space, two_by_two, unit_sentences
from bayes_bias.measures.permutation import largest_effect
from bayes_bias.measures.registry import Result, measure
from bayes_bias.table.association_table import AssociationTable

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
    """Return the mean by the method of DerSimonian and Laird, its standard error, and the variance between draws.

    See `ceat` for the formulas. The symbols there are W, Q, and v, and `between` is the square of tau.
    """
    w = 1 / variances
    fixed_mean = (w @ values) / w.sum()
    q = (w * (values - fixed_mean) ** 2).sum()
    between = max(0.0, float((q - (len(values) - 1)) / (w.sum() - (w**2).sum() / w.sum())))
    v = 1 / (variances + between)
    return float((v @ values) / v.sum()), float(v.sum() ** -0.5), between


def _scores(table: AssociationTable, draws: int, seed: int) -> NDArray[np.float64]:
    """Return association scores of the targets in each draw, shape (draws, targets)."""
    targets, attributes = unit_sentences(table, "CEAT")
    associated = table.class_index < 2
    attributes, classes = attributes[associated], table.class_index[associated]
    weights = np.where(classes == 0, 1 / (classes == 0).sum(), -1 / (classes == 1).sum())
    # Cosines of all sentences, (target, sentence, attribute, sentence).
    cosines = np.einsum("ird,jsd->irjs", targets, attributes)
    n_targets, n_sentences, n_attributes, _ = cosines.shape
    # The sentence of each word in each draw.
    rng = np.random.default_rng(seed)
    target_sentence = rng.integers(n_sentences, size=(draws, n_targets))
    attribute_sentence = rng.integers(n_sentences, size=(draws, n_attributes))
    target, attribute = np.arange(n_targets)[:, None], np.arange(n_attributes)
    scores = []
    for start in range(0, draws, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        drawn = cosines[target, target_sentence[chunk, :, None], attribute, attribute_sentence[chunk, None, :]]
        scores.append(drawn @ weights)  # (draws, targets, attributes) @ (attributes,)
    return np.concatenate(scores)
