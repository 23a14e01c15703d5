"""LPBS: the log probability bias score's effect size (Kurita et al. 2019)."""

from bayes_bias.errors import OtherDataError
from bayes_bias.measures.designs import two_by_two
from bayes_bias.measures.permutation import Alternative, Separation, separated
from bayes_bias.measures.registry import measure
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.metric import LOG_PROBABILITIES


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
        **separated(x, y, no_spread, alternative=alternative, permutations=permutations, seed=seed),
        words=design.words.assign(score=design.scores),
    )
