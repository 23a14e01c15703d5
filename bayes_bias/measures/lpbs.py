"""LPBS: the log probability bias score's effect size (Kurita et al. 2019)."""

from dataclasses import dataclass
from typing import ClassVar

from bayes_bias.associations.association import LOG_PROBABILITIES
from bayes_bias.associations.table import Associations, check_table
from bayes_bias.errors import OtherDataError
from bayes_bias.measures.designs import require_words, two_by_two
from bayes_bias.measures.permutation import Alternative
from bayes_bias.measures.registry import Occasion, measure
from bayes_bias.measures.separation import Separation, separated


@dataclass(frozen=True, eq=False, kw_only=True)
class Lpbs(Separation):
    """LPBS of two groups and two classes; `value` is the effect size, and a word has a `score` in nats."""

    measure: ClassVar[str] = "LPBS"
    word_value: ClassVar[str] = "score"


def lpbs(
    table: Associations,
    *,
    alternative: Alternative = "two-sided",
    permutations: int | None = None,
    seed: int = 0,
) -> Lpbs:
    r"""Does a masked language model expect the words of X beside those of A, more than those of Y?

    With the log probability score of word w beside attribute a, averaged over templates,

    .. math:: y(w, a) = \log \frac{p(w \mid a)}{p(w)}, \qquad
              s(w) = \mathrm{mean}_{a \in A} y(w, a) - \mathrm{mean}_{b \in B} y(w, b)

    the effect size is WEAT's on these scores,

    .. math:: d = \frac{\mathrm{mean}_{x \in X} s(x) - \mathrm{mean}_{y \in Y} s(y)}
                       {\mathrm{sd}_{w \in X \cup Y} s(w)}

    and p the share of partitions of the targets whose difference of means is at least as extreme.

    Parameters
    ----------
    table : Associations
        Log probabilities of two groups and two associated classes, from `bayes_bias.log_probabilities`; complete. The
        prior :math:`p(w)` cancels in a score, so that those without it do as well.
    alternative : {"two-sided", "greater", "less"}
        Either (as published), stereotypical, anti-stereotypical.
    permutations : int, optional
        Draw this many partitions instead of deciding by their number.
    seed : int
        Seed of the draws; exact tests do not use it.

    Returns
    -------
    Lpbs

    Raises
    ------
    MeasureError
        Other associations than log probabilities; more than two groups or classes; a group with one word; missing
        pairs; scores that are all equal.

    Notes
    -----
    Misleads as WEAT does: d says how cleanly groups are separated and not by how much, and the test holds attributes
    and templates fixed. CALIBRATION.md tells how often it finds a bias in models of a text without any. It also depends
    on which word is predicted, since a model's :math:`p(w \mid a)` is no pointwise mutual information. The released
    code adds the probabilities of a set of words before the logarithm, and reads the prior at another token than that
    of the word, which cancels in d. Published for bert-base-uncased, d and two-sided p: flowers and insects 1.204
    (.007), career and family 1.321 (.006), mathematics and arts -.048 (.936), science and arts .768 (.127), race -1.031
    (.104).

    References
    ----------
    Kurita, K., Vyas, N., Pareek, A., Black, A. W. & Tsvetkov, Y. (2019). Measuring bias in contextualized word
    representations. First Workshop on Gender Bias in NLP, 166-172. https://doi.org/10.18653/v1/W19-3823

    Examples
    --------
    >>> table = bayes_bias.log_probabilities("bert-base-uncased", "weat6")        # doctest: +SKIP
    >>> lpbs(table).effect_size                                                  # doctest: +SKIP
    """
    check_table(table)
    if table.association.name not in LOG_PROBABILITIES:
        raise OtherDataError(
            f"LPBS: is for log probabilities, and this table holds {table.association.plural}; take WEAT or SEAT"
        )
    design = two_by_two(table, "LPBS")
    require_words(table, "LPBS", least=2)
    scores, n_x = design.scores, design.n_x
    nothing = "LPBS: all targets have the same score"
    return Lpbs(
        **separated(
            scores[:n_x],
            scores[n_x:],
            nothing,
            alternative=alternative,
            permutations=permutations,
            seed=seed,
        ),
        words=design.words.assign(score=scores),
    )


@measure("LPBS", rank=14)
def _on(occasion: Occasion) -> Lpbs:
    return lpbs(occasion.table.without_controls(), seed=occasion.seed)
