"""Measures of masked language models: LPBS (Kurita et al. 2019), and unmasking bias (Schroeder et al. 2023)."""

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_bias.errors import OtherDataError
from bayes_bias.measures.designs import labels, require_complete, two_by_two
from bayes_bias.measures.permutation import Alternative, Separation, separated
from bayes_bias.measures.registry import WordResult, measure
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.metric import LOG_PROBABILITIES, LOG_PROBABILITY


@measure("LPBS", rank=14)
def lpbs(
    table: AssociationTable, *, alternative: Alternative = "two-sided", permutations: int | None = None, seed: int = 0
) -> Separation:
    r"""Compute whether a masked language model associates class A more strongly with group X than with group Y.

    With the log probability score of word w next to attribute a, averaged over templates,

    .. math:: y(w, a) = \log \frac{p(w \mid a)}{p(w)}, \qquad
              s(w) = \mathrm{mean}_{a \in A} y(w, a) - \mathrm{mean}_{b \in B} y(w, b)

    effect size and p-value are those of WEAT for the scores s(w).

    Parameters
    ----------
    table : AssociationTable
        Log probabilities of two groups and two associated classes, from `bayes_bias.log_probabilities`. The table must
        be complete. Log probabilities with and without correction by the prior :math:`p(w)` are accepted, because the
        prior cancels in a score.
    alternative, permutations, seed
        See `weat`. The paper's test is two-sided.

    Returns
    -------
    Separation
        Effect size, with `words` that contain the `group` and `score` of each target, in nats.

    Raises
    ------
    MeasureError
        If associations are not log probabilities, or if `weat` raises an error.

    Notes
    -----
    LPBS misleads like WEAT: d measures how clearly groups are separated instead of the size of the difference, and the
    test holds attributes and templates fixed. The result also depends on which word is predicted, because a model's
    :math:`p(w \mid a)` is not a pointwise mutual information. The released code sums the probabilities of a set of
    words and then takes the logarithm. In addition, it uses the prior of a token that does not belong to the word, but
    priors cancel in d. Published values of d and two-sided p for bert-base-uncased: flowers and insects 1.204 (.007),
    career and family 1.321 (.006), mathematics and arts -.048 (.936), science and arts .768 (.127), race -1.031 (.104).

    References
    ----------
    Kurita, K., Vyas, N., Pareek, A., Black, A. W. & Tsvetkov, Y. (2019). Measuring bias in contextualized word
    representations. First Workshop on Gender Bias in NLP, 166-172. https://doi.org/10.18653/v1/W19-3823

    Examples
    --------
    >>> table = bayes_bias.log_probabilities("weat6", "bert-base-uncased")        # doctest: +SKIP
    >>> lpbs(table).effect_size                                                  # doctest: +SKIP
    """
    check_table(table)
    if table.metric.name not in LOG_PROBABILITIES:
        raise OtherDataError(
            f"LPBS needs log probabilities, but this table contains {table.metric.plural}. Use WEAT or SEAT."
        )
    design = two_by_two(table, "LPBS", least_words=2)
    x, y = design.scores[: design.n_x], design.scores[design.n_x :]
    no_spread = "LPBS is not defined, because all targets have the same score"
    return Separation(
        measure="LPBS",
        word_value="score",
        **separated(
            x, y, no_spread, rounding=design.rounding, alternative=alternative, permutations=permutations, seed=seed
        ),
        words=design.words.assign(score=design.scores),
    )


@measure("unmasking", rank=16)
def unmasking(table: AssociationTable) -> WordResult:
    r"""Compute how far the probabilities of classes next to each target differ from equal probabilities.

    Let :math:`p(a \mid s, t)` be the probability that a model predicts for attribute a next to target s in template t.
    With words :math:`A_k` of class k,

    .. math:: q_k(s) = \mathrm{mean}_t \frac{\mathrm{mean}_{a \in A_k} p(a \mid s, t)}
                                           {\sum_l \mathrm{mean}_{a \in A_l} p(a \mid s, t)}

    and the bias of s is the Jensen-Shannon *distance* of q(s) from the uniform distribution (the square root of the
    divergence, with logarithms to base 2).

    Parameters
    ----------
    table : AssociationTable
        Uncorrected log probabilities of the attributes:
        ``log_probabilities(list, model, predict="attributes", corrected=False)``. The table must be complete.

    Returns
    -------
    WordResult
        `value` is the mean over targets, zero if all classes are equally probable. `words` contains the `group` of each
        target, the probability of each class, and the `distance`.

    Raises
    ------
    MeasureError
        If associations are not uncorrected log probabilities of attributes, or if pairs are missing.

    Notes
    -----
    Unmasking bias misleads if the words of some classes are more common than the words of other classes: the higher
    probability of common words counts as bias, even if it does not depend on the target. In addition, the measure is
    never negative, so noise alone makes it positive, and it ignores the stereotype.

    References
    ----------
    Schroeder, S., Schulz, A., Kenneweg, P. & Hammer, B. (2023). So can we use intrinsic bias measures or not? ICPRAM,
    403-410. https://doi.org/10.5220/0011693700003411

    Examples
    --------
    >>> table = bayes_bias.log_probabilities(                                     # doctest: +SKIP
    ...     "weat6", "bert-base-uncased", predict="attributes", corrected=False)
    >>> unmasking(table).words                                                   # doctest: +SKIP
    """
    check_table(table)
    table = table.without_controls()
    require_complete(table, "unmasking")
    if table.metric != LOG_PROBABILITY or table.provenance.get("predicted", "attributes") != "attributes":
        raise OtherDataError(
            "This measure needs probabilities of the attributes themselves: log_probabilities(list, model,"
            " predict='attributes', corrected=False)."
        )
    # `singles` are the tables of the templates. Without templates, there are none.
    log_p = [single.values.to_numpy() for single in table.singles().values()] or [table.values.to_numpy()]
    q = np.mean([_class_probabilities(values, table) for values in log_p], axis=0)  # (targets, classes)
    uniform = np.full(q.shape[1], 1 / q.shape[1])
    order = np.argsort(table.group_index, kind="stable")
    distance = np.array([scipy.spatial.distance.jensenshannon(row, uniform, base=2) for row in q[order]])
    q_of_class = dict(zip(table.associated_classes, q[order].T, strict=True))
    return WordResult(
        measure="unmasking",
        word_value="distance",
        value=float(distance.mean()),
        range=(0.0, float(scipy.spatial.distance.jensenshannon(np.eye(len(uniform))[0], uniform, base=2))),
        words=labels(table).assign(**q_of_class, distance=distance),
    )


def _class_probabilities(values: NDArray[np.float64], table: AssociationTable) -> NDArray[np.float64]:
    """Return the probability of each class next to each target, (targets, classes), in one template.

    `values` are log probabilities of attributes, (targets, attributes). The mean probability of the attributes of each
    class is computed on the log scale, and divided by its sum over classes.
    """
    log_means = []
    for k in range(len(table.associated_classes)):
        members = table.class_index == k
        log_means.append(scipy.special.logsumexp(values[:, members], axis=1) - np.log(members.sum()))
    return np.asarray(scipy.special.softmax(np.stack(log_means, axis=1), axis=1))
