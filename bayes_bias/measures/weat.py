"""WEAT and its variants for single words, more than two groups, levels of a table, and random attribute sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy

from bayes_bias.arguments import as_tuple, check_count, check_seed
from bayes_bias.errors import MeasureError, did_you_mean
from bayes_bias.measures.designs import (
    TwoByTwo,
    labels,
    require_complete,
    require_own_classes,
    require_two_groups,
    require_words,
    rounding_of,
    two_by_two,
)
from bayes_bias.measures.permutation import (
    Alternative,
    Separation,
    check_ddof,
    largest_effect,
    permutation_test,
    permutation_tests,
    regrouping_test,
    separated,
)
from bayes_bias.measures.registry import Occasion, Result, WordResult, measure
from bayes_bias.table.association_table import AssociationTable


@dataclass(frozen=True, eq=False, kw_only=True)
class Weat(Separation):
    """Result of WEAT. `value` is the effect size, and the score of a word is its `association` s(w, A, B).

    Attributes
    ----------
    statistic : float
        Caliskan's test statistic: the sum of the scores of X minus the sum of the scores of Y, on the cosine scale.
    ddof : int
        See `weat`.
    """

    measure: str = "WEAT"
    word_value: str = "association"

    statistic: float
    ddof: int


@measure("WEAT", rank=10)
def weat(
    table: AssociationTable,
    *,
    ddof: int = 1,
    alternative: Alternative = "greater",
    permutations: int | None = None,
    seed: int = 0,
) -> Weat:
    r"""Compute WEAT, which measures whether group X is closer to class A than to class B, compared with group Y.

    X is the first group and A its class, Y the second group and B its class. A positive value is stereotypical. Control
    classes are ignored. The score of a target is

    .. math:: s(w, A, B) = \mathrm{mean}_{a \in A} \cos(w, a) - \mathrm{mean}_{b \in B} \cos(w, b)

    The statistic is :math:`\sum_{x \in X} s(x, A, B) - \sum_{y \in Y} s(y, A, B)`, and the effect size is

    .. math:: d = \frac{\mathrm{mean}_{x \in X} s(x, A, B) - \mathrm{mean}_{y \in Y} s(y, A, B)}
                       {\mathrm{sd}_{w \in X \cup Y} s(w, A, B)}

    The p-value is the share of partitions of X and Y into groups of the same sizes whose difference of means is at
    least as large, including ties and the observed partition. If there are at most a million partitions (11 + 11
    words), all are counted. Otherwise, random partitions are drawn, and p is (extreme + 1) / (draws + 1).

    If groups have unequal sizes, the null distribution of the statistic, which is a difference of *sums*, is not
    centred on zero: without any bias, the statistic is the common score times the difference in size. One-sided tests
    are not affected, because sums and means order all partitions of fixed sizes equally. Two-sided tests are affected,
    so the test always uses the difference of means.

    Parameters
    ----------
    table : AssociationTable
        Two groups (two or more targets in each) and two associated classes. The table must be complete, without
        repeats.
    ddof : {1, 0}
        Number that is subtracted from the number of targets in the denominator of the variance. The published value is
        1, but some re-implementations use 0.
    alternative : {"greater", "less", "two-sided"}
        The direction of the alternative hypothesis: stereotypical, anti-stereotypical, or either direction.
    permutations : int, optional
        Number of random partitions. By default, all partitions are counted, or 100,000 are drawn if there are too many.
    seed : int
        Seed of the draws. Exact tests do not use it.

    Raises
    ------
    MeasureError
        If there are not two groups, each with its own class, if a group has one word, if pairs are missing or
        repeated, or if all scores are equal.

    Notes
    -----
    WEAT misleads in three ways. First, d is in units of the spread between *these* targets and is bounded near 2. It
    measures how clearly the groups are separated instead of the size of the bias, so a tiny and a huge bias can have
    the same d. Second, the test permutes targets and holds the attributes fixed. If attributes are random words, so
    that there is no bias, the test finds a bias in a quarter to a half of all cases. Third, d is zero whenever both
    groups are equally close to A, even if every single word is biased.

    References
    ----------
    Caliskan, A., Bryson, J. J. & Narayanan, A. (2017). Semantics derived automatically from language corpora
    contain human-like biases. Science 356, 183-186. https://doi.org/10.1126/science.aal4230

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = weat(cosines("weat7", "googlenews-demo", controls=()))
    >>> round(result.effect_size, 3), round(result.statistic, 3), round(result.p_value, 3)
    (0.966, 0.225, 0.023)
    """
    check_ddof(ddof)
    design = two_by_two(table, "WEAT", least_words=2)
    scores = design.scores
    x, y = scores[: design.n_x], scores[design.n_x :]
    no_spread = "WEAT is not defined, because all targets have the same association score"
    return Weat(
        **separated(
            x,
            y,
            no_spread,
            rounding=design.rounding,
            alternative=alternative,
            permutations=permutations,
            seed=seed,
            ddof=ddof,
        ),
        words=design.words.assign(association=scores),
        statistic=float(x.sum() - y.sum()),
        ddof=ddof,
    )


@measure("WEFAT", rank=20)
def wefat(
    table: AssociationTable,
    targets: str | Sequence[str] | None = None,
    *,
    ddof: int = 1,
    alternative: Alternative = "greater",
    permutations: int | None = None,
    seed: int = 0,
) -> WordResult:
    r"""Compute how much closer each target is to the class that is stereotypical for its group than to the other class.

    Let A be the class associated with the group of target w, and B the other class. The effect size is

    .. math:: d(w) = \frac{\mathrm{mean}_{a \in A} \cos(w, a) - \mathrm{mean}_{b \in B} \cos(w, b)}
                          {\mathrm{sd}_{x \in A \cup B} \cos(w, x)}

    so that positive values are stereotypical for words of both groups. The p-value permutes attributes between A and B.

    Parameters
    ----------
    table : AssociationTable
        Two groups and two associated classes, or one group with its class and an opposite class. The table must be
        complete, without repeats. Control classes are ignored.
    targets : str or sequence of str, optional
        The word or words to measure. The default is all targets.
    ddof, alternative, permutations, seed
        See `weat`.

    Returns
    -------
    WordResult
        `value` is the mean effect size. `words` contains the `group`, `effect_size` (in standard deviations of the
        word's cosines), and `p_value` of each word. If only one word was measured, `p_value` is its p-value.

    Raises
    ------
    MeasureError
        If there are more than two groups or classes, if a class has one word, if a target is unknown, if pairs are
        missing or repeated, or if a word has the same cosine with all attributes.

    Notes
    -----
    WEFAT misleads like WEAT: d measures how clearly a word separates two classes instead of the size of the difference.
    With few attributes, ``|d|`` is large by chance, and testing every target increases the number of false positives.

    References
    ----------
    Caliskan et al. (2017) (see `weat`). https://doi.org/10.1126/science.aal4230

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> table = cosines("weat7", "googlenews-demo", controls=())
    >>> wefat(table, ["math", "poetry"]).words.effect_size.round(2).to_dict()
    {'math': -0.94, 'poetry': 1.18}
    """
    check_ddof(ddof)
    design = two_by_two(table, "WEFAT", least_groups=1)
    n_a, n_b = design.to_a.shape[1], design.to_b.shape[1]
    if min(n_a, n_b) < 2:
        raise MeasureError("WEFAT needs at least two words in each class, but a class has 1.")
    rows = _chosen_positions(design, targets)
    # Cosines with A, followed by those with B. The sign is reversed for the second group, whose class is B.
    sign = np.where(np.arange(len(design.words)) < design.n_x, 1, -1)
    scores = (np.hstack([design.to_a, design.to_b]) * sign[:, None])[rows]
    tests = permutation_tests(scores, n_a, alternative=alternative, permutations=permutations, seed=seed)
    words = design.words.iloc[rows]
    effect_sizes = _effect_sizes(scores, n_a, ddof, words.index, design.rounding)
    words = words.assign(effect_size=effect_sizes, p_value=[test.p_value for test in tests])
    bound = largest_effect(n_a, n_b, ddof)
    return WordResult(
        measure="WEFAT",
        word_value="effect_size",
        value=float(words.effect_size.mean()),
        range=(-bound, bound),
        p_value=tests[0].p_value if len(tests) == 1 else None,
        words=words,
    )


def _chosen_positions(design: TwoByTwo, targets: str | Sequence[str] | None) -> list[int]:
    """Return the positions of the chosen targets, or of all targets. Raise an error for an unknown target."""
    names = design.words.index.tolist()
    words = names if targets is None else as_tuple("targets", targets, str, f"['{names[0]}']", MeasureError)
    for word in words:
        if word not in names:
            raise MeasureError(
                f"`targets` contains '{word}', which is not a target of this table. {did_you_mean(word, names)}"
            )
    return [names.index(word) for word in words]


def _effect_sizes(scores: np.ndarray, n_a: int, ddof: int, words: pd.Index, rounding: float) -> np.ndarray:
    """Return the effect size of each word, given its values with all attributes, (words, attributes).

    It is the mean over the first `n_a` attributes minus the mean over the others, divided by the standard deviation of
    all values of the word. Raise an error that names a word whose spread is at most `rounding`.
    """
    spread = scores.std(axis=1, ddof=ddof)
    if (spread <= rounding).any():
        word = words[int(spread.argmin())]
        raise MeasureError(
            f"WEFAT is not defined, because '{word}' has the same cosine with all attributes,"
            " so there is no spread to measure d in."
        )
    return np.asarray((scores[:, :n_a].mean(axis=1) - scores[:, n_a:].mean(axis=1)) / spread)


@measure("gWEAT", rank=30)
def gweat(table: AssociationTable, *, permutations: int = 10_000, seed: int = 0) -> WordResult:
    r"""Compute how much closer the words of each group are to their own class than the words of other groups are.

    With group means :math:`\bar X_i` and class means :math:`\bar A_i` of unit vectors, and their averages
    :math:`\mu` and :math:`\bar A` over the n groups,

    .. math:: g = \sum_{i=1}^n (\bar X_i - \mu) \cdot (\bar A_i - \bar A)
                = \sum_{i=1}^n \mathrm{mean}_{x \in X_i} [s(x, A_i) - \mathrm{mean}_j s(x, A_j)]

    where s(x, A) is the mean cosine of x with A. For two groups of m words each, g is WEAT's statistic divided by 2m.

    Parameters
    ----------
    table : AssociationTable
        At least two groups, each with its own class. Control classes are ignored.
    permutations : int
        Number of random regroupings of the targets, for three groups or more.
    seed : int
        Seed of the draws.

    Returns
    -------
    WordResult
        `value` on the cosine scale, between -n and n, 0 without bias, positive if stereotypical. `words` contains the
        `group` of each target, and its `association` with the class of this group.

    Raises
    ------
    MeasureError
        If two groups share a class, or if pairs are missing or repeated.

    Notes
    -----
    The test of the paper uses random rotations of the group means, which requires the vectors. This implementation
    permutes the targets, as in WEAT, and for two groups `p_value` equals WEAT's p. gWEAT misleads like WEAT, because
    attributes are held fixed. In addition, gWEAT does not show which group is responsible for a bias, so compare
    `words` between groups.

    References
    ----------
    Swinger, N., De-Arteaga, M., Heffernan, N. T., Leiserson, M. D. M. & Kalai, A. T. (2019). What are the
    biases in my word embedding? AIES, 305-311. https://doi.org/10.1145/3306618.3314270

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> round(gweat(cosines("weat7", "googlenews-demo", controls=())).value, 3)
    0.014
    """
    require_complete(table, "gWEAT")
    require_own_classes(table, "gWEAT")
    if len(table.associated_classes) != len(table.groups):
        raise MeasureError(
            f"gWEAT needs a class for each group, but there are {len(table.groups)} groups and"
            f" {len(table.associated_classes)} classes."
        )
    # Mean cosine of each target with the class of each group, minus its mean over all classes, (targets, groups).
    means = []
    for group in table.groups:
        means_with_classes = [table.block(group, table.stereotypes[name]).mean(axis=1) for name in table.groups]
        means.append(np.column_stack(means_with_classes))
    closeness = np.vstack(means)
    closeness = closeness - closeness.mean(axis=1, keepdims=True)
    sizes = np.bincount(table.group_index)
    group_of = np.repeat(np.arange(len(sizes)), sizes)
    association = closeness[np.arange(len(group_of)), group_of]  # with the class of the target's own group
    # In g, a sum of group means, each target has the weight 1 / size of its group.
    permutations = check_count("permutations", permutations, "draws", refusal=MeasureError)
    if len(sizes) > 2:
        p_value = regrouping_test(closeness / sizes, group_of, permutations=permutations, seed=seed)
    else:  # identical to WEAT's test
        p_value = permutation_test(closeness[:, 0], int(sizes[0]), seed=seed).p_value
    return WordResult(
        measure="gWEAT",
        word_value="association",
        value=float((association / sizes[group_of]).sum()),
        range=(-float(len(sizes)), float(len(sizes))),
        p_value=p_value,
        words=labels(table).assign(association=association),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class MlEat(Result):
    """Result of ML-EAT. `value` and `p_value` belong to level 1, which is WEAT.

    Attributes
    ----------
    groups : pandas.DataFrame
        Level 2: the `effect_size` of each single group, its `p_value`, and its `largest` possible value. The effect
        size is positive if the group is closer to its own class.
    cells : pandas.DataFrame
        Level 3: the `mean` and `sd` of the cosines of each group with each class.
    """

    measure: str = "ML-EAT"

    groups: pd.DataFrame
    cells: pd.DataFrame


def ml_eat(table: AssociationTable, *, permutations: int | None = None, seed: int = 0) -> MlEat:
    r"""Compute which group and which class contribute to the effect size of WEAT.

    Level 1 is WEAT. Level 2 measures each group separately, with the mean cosine of each attribute with the targets of
    the group:

    .. math:: s(a, X) = \mathrm{mean}_{x \in X} \cos(x, a), \qquad
              d(X) = \frac{\mathrm{mean}_{a \in A} s(a, X) - \mathrm{mean}_{b \in B} s(b, X)}
                          {\mathrm{sd}_{c \in A \cup B} s(c, X)}

    where A is the class of the group, and B is the other class. In contrast, A is the first class for both groups in
    the paper, so d(Y) has the opposite sign there. Level 3 is the mean and standard deviation of the cosines in each
    cell.

    Parameters
    ----------
    table : AssociationTable
        Two groups and two associated classes, with two words or more in each. The table must be complete, without
        repeats.
    permutations, seed
        See `weat`.

    Raises
    ------
    MeasureError
        If `weat` raises an error, or if all attributes have equal scores.

    Notes
    -----
    p-values come from permutations, of the targets in level 1 and of the attributes in level 2. The authors' code uses
    a normal approximation instead, and reports the smaller tail. Level 2 misleads in the same way as WEAT, because d is
    in units of the spread between *these* attributes. The estimand `group_bias` of the posterior is the same contrast,
    with an interval.

    References
    ----------
    Wolfe, R., Hiniker, A. & Howe, B. (2024). ML-EAT: A multilevel embedding association test for interpretable and
    transparent social science. AIES. https://doi.org/10.48550/arXiv.2408.01966

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = ml_eat(cosines("weat7", "googlenews-demo", controls=()))
    >>> result.groups.effect_size.round(2).to_dict(), result.cells.shape
    ({'math': -0.48, 'arts': 1.22}, (4, 2))
    """
    level_1 = weat(table, permutations=permutations, seed=seed)
    table = table.without_controls()
    design = two_by_two(table, "ML-EAT", least_words=2)
    rows, cells = {}, {}
    for k, name in enumerate(table.groups):
        members = slice(design.n_x) if k == 0 else slice(design.n_x, None)
        to_class = [design.to_a[members], design.to_b[members]]
        level_2 = separated(
            to_class[k].mean(axis=0),
            to_class[1 - k].mean(axis=0),
            f"ML-EAT is not defined, because all attributes have the same mean cosine with {name}",
            rounding=design.rounding,
            alternative="greater",
            permutations=permutations,
            seed=seed,
        )
        rows[name] = {"effect_size": level_2["value"], "p_value": level_2["p_value"], "largest": level_2["range"][1]}
        for class_name, block in zip(table.associated_classes, to_class, strict=True):
            cells[name, class_name] = {"mean": float(block.mean()), "sd": float(np.std(block, ddof=1))}
    return MlEat(
        value=level_1.value,
        range=level_1.range,
        p_value=level_1.p_value,
        groups=pd.DataFrame.from_dict(rows, orient="index").rename_axis("group"),
        cells=pd.DataFrame.from_dict(cells, orient="index").rename_axis(["group", "attribute_class"]),
    )


@measure("ML-EAT", rank=18)
def _ml_eat_of(occasion: Occasion) -> pd.DataFrame:
    """Return a row of the table of measures for each group, which is level 2 of ML-EAT.

    A group has an effect size, a p-value, and the largest effect size that its number of words allows. Level 1, the
    comparison of both groups, is WEAT, which has a row of its own.
    """
    result = ml_eat(occasion.table, permutations=occasion.permutations, seed=occasion.seed)
    rows = []
    for group, effect_size, p_value, largest in result.groups.itertuples():
        level_2 = Result(measure=f"ML-EAT: {group}", value=effect_size, range=(-largest, largest), p_value=p_value)
        rows.append(level_2.to_frame(occasion.ci_prob))
    return pd.concat(rows)


_CONTROL_GROUPS = 100
_CONTROL_WORDS = 100


@dataclass(frozen=True, eq=False, kw_only=True)
class SdWeat(Result):
    """Result of SD-WEAT, the standard deviation of WEAT's effect size over random attribute sets.

    Attributes
    ----------
    b0 : float
        Mean SD-WEAT of the negative control. Without a control, it is NaN, because zero does not mean "no bias", and
        the paper defines no other value.
    effect_sizes : numpy.ndarray
        The effect size of each draw.
    z : float or None
        Distance of `value` from `b0`, in standard deviations of the negative control. `p_value` is one-sided, from a
        normal distribution.
    control : numpy.ndarray or None
        SD-WEAT of each control group.
    """

    measure: str = "SD-WEAT"

    effect_sizes: np.ndarray
    z: float | None = None
    control: np.ndarray | None = None


@measure("SD-WEAT", rank=40)
def sd_weat(
    table: AssociationTable, *, vocabulary: str | None = None, draws: int = 100, size: int = 2, seed: int = 0
) -> SdWeat:
    r"""Compute how much WEAT's effect size varies over attribute sets that are drawn at random from the attributes.

    The attributes of all associated classes form one pool. Each draw takes two disjoint sets A', B' of `size` words
    from it and computes WEAT's effect size of the two groups (sample standard deviation):

    .. math:: \mathrm{SD\text{-}WEAT} = \mathrm{sd}(d_1, ..., d_n)

    Parameters
    ----------
    table : AssociationTable
        Two groups of at least two targets, and any number of classes. The table must be complete, without repeats.
    vocabulary : str, optional
        A control class of at least 100 random words, for the negative control of the paper: SD-WEAT is computed for 100
        groups of 100 of these words. The negative control determines z and p.
    draws : int
        Number n of effect sizes.
    size : int
        Words in each attribute set.
    seed : int
        Seed of the draws.

    Raises
    ------
    MeasureError
        If there are not two groups, if a group has only one word, if there are fewer than twice `size` attributes, if
        the control class is unknown, or if pairs are missing or repeated.

    Notes
    -----
    SD-WEAT misleads in three ways. First, it ignores the stereotype: two groups that differ in any respect (such as
    frequency or topic) have large effect sizes for any two attribute sets. Second, it is random: with the defaults, two
    runs differ by about .04. Third, p assumes that SD-WEAT of the control is normal, although effect sizes are bounded,
    with a flat to bimodal distribution (excess kurtosis -.9 to -1.6). Do not trust small p-values.

    References
    ----------
    Gray, M., Milanova, M. & Wu, L. (2024). Enhancing bias assessment for complex term groups in language
    embedding models. JMIR Medical Informatics 12, e60272. https://doi.org/10.2196/60272

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> round(sd_weat(cosines("weat7", "googlenews-demo", controls=())).value, 3)
    0.794
    """
    draws = check_count("draws", draws, "draws", least=2, refusal=MeasureError)
    size = check_count("size", size, "words in a set", refusal=MeasureError)
    _check_pool(table, size)
    rng = np.random.default_rng(check_seed(seed))
    in_group = table.group_index == 0
    pool = table.without_controls().values.to_numpy()
    rounding = rounding_of(table)
    effects = _effect_sizes_of_sets(pool, in_group, draws, size, rng, rounding)
    value = float(effects.std(ddof=1))
    bound = largest_effect(int(in_group.sum()), int((~in_group).sum()), ddof=1)
    # The standard deviation is largest if half of the effect sizes are at each end of WEAT's range.
    most = float(bound * np.sqrt(draws / (draws - 1)))
    result = SdWeat(value=value, range=(0.0, most), b0=float("nan"), effect_sizes=effects)
    if vocabulary is None:
        return result
    control_words = _control_words(table, vocabulary)
    control = np.empty(_CONTROL_GROUPS)  # SD-WEAT of each group of control words
    for k in range(_CONTROL_GROUPS):
        positions = rng.choice(control_words.shape[1], _CONTROL_WORDS, replace=False)
        sets = control_words[:, positions]
        control[k] = _effect_sizes_of_sets(sets, in_group, draws, size, rng, rounding).std(ddof=1)
    z = float((value - control.mean()) / control.std(ddof=1))
    return replace(result, b0=float(control.mean()), p_value=float(scipy.stats.norm.sf(z)), z=z, control=control)


def _check_pool(table: AssociationTable, size: int) -> None:
    """Raise an error if SD-WEAT is not defined for the table or the size of sets.

    The table must be complete, and have two groups of two or more targets, and attributes for two sets of `size`.
    """
    require_complete(table, "SD-WEAT")
    require_two_groups(table, "SD-WEAT")
    require_words(table, "SD-WEAT", least=2)
    pool = table.without_controls().values.shape[1]
    if pool < 2 * size:
        raise MeasureError(f"SD-WEAT cannot draw two sets of {size} from {pool} attributes. Use a smaller size.")


def _effect_sizes_of_sets(
    similarity: np.ndarray, in_group: np.ndarray, draws: int, size: int, rng: np.random.Generator, rounding: float
) -> np.ndarray:
    """Return WEAT's effect size for random attribute sets, (draws,).

    `similarity` has the shape (targets, attributes). Each draw shuffles the attributes: the first `size` are one set,
    and the next `size` the other. The score of a target is its mean with one set minus its mean with the other, and the
    effect size compares the scores of targets in the first group (`in_group`) with others. Raise an error if the spread
    of scores is at most `rounding` in any draw.
    """
    order = rng.permuted(np.tile(np.arange(similarity.shape[1]), (draws, 1)), axis=1)
    first = similarity[:, order[:, :size]]  # (targets, draws, size)
    second = similarity[:, order[:, size : 2 * size]]
    scores = first.mean(axis=2) - second.mean(axis=2)
    spread = scores.std(axis=0, ddof=1)
    if (spread <= rounding).any():
        raise MeasureError(
            "SD-WEAT is not defined, because all targets have the same association score with some attribute sets"
        )
    return np.asarray((scores[in_group].mean(axis=0) - scores[~in_group].mean(axis=0)) / spread)


def _control_words(table: AssociationTable, vocabulary: str) -> np.ndarray:
    """Return the values of all targets with the words of a control class, (targets, words).

    The class is named by `vocabulary`, and must have enough words to draw control sets of `_CONTROL_WORDS` from it.
    """
    if vocabulary not in table.controls:
        hint = did_you_mean(vocabulary, table.controls) if table.controls else "There are no control classes."
        raise MeasureError(f"`vocabulary` '{vocabulary}' is not a control class of this table. {hint}")
    words = table.values.to_numpy()[:, table.values.attribute_class.to_numpy() == vocabulary]
    if words.shape[1] < _CONTROL_WORDS:
        raise MeasureError(f"vocabulary: '{vocabulary}' has {words.shape[1]} words and needs {_CONTROL_WORDS}")
    return words
