"""WEAT: the word embedding association test of Caliskan, Bryson & Narayanan (2017)."""

from dataclasses import dataclass
from typing import ClassVar

from bayes_bias.associations.table import Associations
from bayes_bias.measures.designs import require_words, two_by_two
from bayes_bias.measures.permutation import Alternative, check_ddof
from bayes_bias.measures.registry import Occasion, measure
from bayes_bias.measures.separation import Separation, separated


@dataclass(frozen=True, eq=False, kw_only=True)
class Weat(Separation):
    """WEAT of two groups and two classes; `value` is the effect size, and a word's score its `association` s(w, A, B).

    Attributes
    ----------
    statistic : float
        Sum of the scores of X minus sum of the scores of Y, Caliskan's test statistic.
    ddof : int
        Degrees of freedom taken off in the effect size's standard deviation.
    """

    measure: ClassVar[str] = "WEAT"
    word_value: ClassVar[str] = "association"

    statistic: float
    ddof: int


def weat(
    table: Associations,
    *,
    ddof: int = 1,
    alternative: Alternative = "greater",
    permutations: int | None = None,
    seed: int = 0,
) -> Weat:
    r"""Do the words of group X lie closer to class A than to B, more than those of group Y do?

    X is the first group, A the class associated with it, Y and B the second ones, so that a positive value
    is the stereotypical one. Control classes are ignored. With a target's score

    .. math:: s(w, A, B) = \mathrm{mean}_{a \in A} \cos(w, a) - \mathrm{mean}_{b \in B} \cos(w, b)

    the statistic is :math:`\sum_{x \in X} s(x, A, B) - \sum_{y \in Y} s(y, A, B)` and the effect size

    .. math:: d = \frac{\mathrm{mean}_{x \in X} s(x, A, B) - \mathrm{mean}_{y \in Y} s(y, A, B)}
                       {\mathrm{sd}_{w \in X \cup Y} s(w, A, B)}

    The p-value is the share of partitions of X and Y into groups of the same sizes whose difference of means
    is at least as large, ties and the observed partition included. All partitions are counted where there
    are at most a million (11 + 11 words); otherwise random ones are drawn, and p is
    (extreme + 1) / (draws + 1).

    For groups of unequal size the *sum* is not centred: with no bias at all it is the common score times the
    difference in size. One-sided tests do not notice, since at fixed sizes sums and means order all
    partitions alike; two-sided ones do, and therefore the test uses the difference of means throughout.

    Parameters
    ----------
    table : Associations
        Two groups (two or more targets in each) and two associated classes; complete, without repeats.
    ddof : {1, 0}
        The published numbers use the sample standard deviation, 1; some re-implementations use 0.
    alternative : {"greater", "less", "two-sided"}
        Stereotypical, anti-stereotypical, either.
    permutations : int, optional
        Draw this many partitions instead of deciding by their number (100,000 where they are too many).
    seed : int
        Seed of the draws; exact tests do not use it.

    Returns
    -------
    Weat
        `effect_size` (standard deviations, within `range`), `statistic` and `difference` (cosine scale),
        `p_value`, and each target's score in `words`.

    Raises
    ------
    MeasureError
        More than two groups or classes, a group with one word, missing or repeated pairs, or scores that are
        all equal, whose standard deviation is zero.

    Notes
    -----
    Misleads in three ways. d is in units of the spread between *these* targets and is bounded near 2, so it
    says how cleanly the groups are separated, not how large the bias is: a tiny and a huge one can have the
    same d. The test shuffles targets and holds the attributes fixed: with attribute words drawn at random,
    where no bias exists, it finds one in a quarter to a half of all cases. And d is zero whenever both groups
    are equally close to A, though every single word be biased.

    References
    ----------
    Caliskan, A., Bryson, J. J. & Narayanan, A. (2017). Semantics derived automatically from language corpora
    contain human-like biases. Science 356, 183-186. https://doi.org/10.1126/science.aal4230

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     [("he", "man", "boss", "work", 0.4), ("he", "man", "maid", "home", 0.1),
    ...      ("his", "man", "boss", "work", 0.3), ("his", "man", "maid", "home", 0.1),
    ...      ("she", "woman", "boss", "work", 0.2), ("she", "woman", "maid", "home", 0.3),
    ...      ("her", "woman", "boss", "work", 0.1), ("her", "woman", "maid", "home", 0.4)],
    ...     columns=["target", "group", "attribute", "attribute_class", "cosine"])
    >>> table = Associations.from_frame(
    ...     frame, target="target", group="group", attribute="attribute",
    ...     attribute_class="attribute_class", value="cosine", stereotypes={"man": "work", "woman": "home"})
    >>> result = weat(table)
    >>> round(result.effect_size, 3), round(result.statistic, 3), round(result.p_value, 3)
    (1.634, 0.9, 0.167)
    """
    check_ddof(ddof)
    design = two_by_two(table, "WEAT")
    require_words(table, "WEAT", least=2)
    scores, n_x = design.scores, design.n_x
    x, y = scores[:n_x], scores[n_x:]
    nothing = "WEAT: all targets have the same association score"
    return Weat(
        **separated(x, y, nothing, alternative=alternative, permutations=permutations, seed=seed, ddof=ddof),
        words=design.words.assign(association=scores),
        statistic=float(x.sum() - y.sum()),
        ddof=ddof,
    )


@measure("WEAT", rank=10)
def _on(occasion: Occasion) -> Weat:
    return weat(occasion.table.without_controls(), seed=occasion.seed)
