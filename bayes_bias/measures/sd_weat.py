"""SD-WEAT: the spread of WEAT over random attribute sets (Gray, Milanova & Wu 2024)."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy

from bayes_bias.arguments import check_count, check_seed
from bayes_bias.associations.table import Associations
from bayes_bias.errors import MeasureError, did_you_mean
from bayes_bias.measures.designs import ROUNDING, require_complete, require_two_groups, require_words
from bayes_bias.measures.registry import Occasion, measure
from bayes_bias.measures.result import Result
from bayes_bias.measures.separation import largest_effect

_CONTROL_GROUPS = 100
_CONTROL_WORDS = 100


@dataclass(frozen=True, eq=False, kw_only=True)
class SdWeat(Result):
    """Standard deviation of WEAT's effect size over random attribute sets.

    Attributes
    ----------
    b0 : float
        Mean SD-WEAT of the negative control; NaN where none was asked for: without one the paper names no
        value that means "no bias", and zero does not.
    effect_sizes : numpy.ndarray
        The effect sizes whose standard deviation `value` is.
    z : float or None
        `value` in standard deviations of the negative control, from `b0`.
    control : numpy.ndarray or None
        SD-WEAT of each control group.
    """

    measure: ClassVar[str] = "SD-WEAT"

    effect_sizes: np.ndarray
    z: float | None = None
    control: np.ndarray | None = None


def sd_weat(
    table: Associations, *, vocabulary: str | None = None, draws: int = 100, size: int = 2, seed: int = 0
) -> SdWeat:
    r"""How much does WEAT's effect size vary when attribute sets are drawn at random from the attributes?

    All attributes of the associated classes form one pool. Each draw takes two disjoint sets A', B' of
    `size` words from it and computes WEAT's effect size of the two groups of targets (sample standard
    deviation);

    .. math:: \mathrm{SD\text{-}WEAT} = \mathrm{sd}(d_1, ..., d_n)

    Which attribute belongs to which class plays no role, so any number of classes will do.

    Parameters
    ----------
    table : Associations
        Two groups of two or more targets, any number of classes; complete, without repeats.
    vocabulary : str, optional
        A control class of random words (100 or more). It gives the paper's negative control: SD-WEAT of 100
        groups of 100 of them, from which z and p follow.
    draws : int
        Effect sizes to draw, n.
    size : int
        Words in each drawn attribute set.
    seed : int
        Seed of the draws.

    Returns
    -------
    SdWeat
        `value` in standard deviations of association scores; `b0`, `z` and a one-sided normal `p_value` with
        a vocabulary.

    Raises
    ------
    MeasureError
        More than two groups, a group with one word, a pool with fewer than twice `size` words, no such
        control class, missing or repeated pairs.

    Notes
    -----
    Misleads in three ways. It does not know what the stereotype is: two groups that differ in anything
    (frequency, topic) have large effect sizes for any two attributes. It is itself random: with the
    defaults two runs differ by about .04. And p takes the control's SD-WEAT for normal; the effect sizes
    beneath are far from normal (bounded, flat to two-peaked, excess kurtosis -.9 to -1.6), so that small
    p-values are not to be trusted.

    References
    ----------
    Gray, M., Milanova, M. & Wu, L. (2024). Enhancing bias assessment for complex term groups in language
    embedding models. JMIR Medical Informatics 12, e60272. https://doi.org/10.2196/60272

    Examples
    --------
    >>> import numpy as np
    >>> from bayes_bias.associations.table import assemble
    >>> similarity = np.random.default_rng(0).uniform(0, 0.5, (4, 8))
    >>> table = assemble(
    ...     similarity, {"he": "man", "his": "man", "she": "woman", "her": "woman"},
    ...     {f"w{i}": "work" if i < 4 else "home" for i in range(8)}, {"man": "work", "woman": "home"})
    >>> result = sd_weat(table)
    >>> len(result.effect_sizes), 0 < result.value < result.range[1]
    (100, True)
    """
    _check(table, draws, size)
    rng = np.random.default_rng(check_seed(seed))
    in_group = table.group_index == 0
    pool = table.without_controls().values.to_numpy()
    effects = _effects(pool, in_group, draws, size, rng)
    value = float(effects.std(ddof=1))
    bound = largest_effect(int(in_group.sum()), int((~in_group).sum()), ddof=1)
    # Half of the effect sizes at either end of WEAT's range have the largest standard deviation.
    most = float(bound * np.sqrt(draws / (draws - 1)))
    found = SdWeat(value=value, range=(0.0, most), b0=float("nan"), effect_sizes=effects)
    if vocabulary is None:
        return found
    control = _control(table, vocabulary, in_group, draws, size, rng)
    z = float((value - control.mean()) / control.std(ddof=1))
    return replace(
        found, b0=float(control.mean()), p_value=float(scipy.stats.norm.sf(z)), z=z, control=control
    )


@measure("SD-WEAT", rank=40)
def _on(occasion: Occasion) -> SdWeat:
    return sd_weat(occasion.table, vocabulary=occasion.vocabulary, seed=occasion.seed)


def _check(table: Associations, draws: int, size: int) -> None:
    require_complete(table, "SD-WEAT")
    require_two_groups(table, "SD-WEAT")
    require_words(table, "SD-WEAT", least=2)
    check_count("draws", draws, "draws", least=2, refusal=MeasureError)
    check_count("size", size, "words in a set", refusal=MeasureError)
    pool = table.without_controls().values.shape[1]
    if pool < 2 * size:
        raise MeasureError(f"SD-WEAT: {pool} attributes do not give two sets of {size}; take a smaller size")


def _effects(
    similarity: np.ndarray, in_group: np.ndarray, draws: int, size: int, rng: np.random.Generator
) -> np.ndarray:
    """WEAT's effect size for each of so many random pairs of disjoint attribute sets."""
    order = rng.permuted(np.tile(np.arange(similarity.shape[1]), (draws, 1)), axis=1)
    first, second = similarity[:, order[:, :size]], similarity[:, order[:, size : 2 * size]]
    scores = first.mean(axis=2) - second.mean(axis=2)
    spread = scores.std(axis=0, ddof=1)
    if (spread < ROUNDING).any():
        raise MeasureError("SD-WEAT: all targets have the same association score with some attribute sets")
    effects: np.ndarray = (scores[in_group].mean(axis=0) - scores[~in_group].mean(axis=0)) / spread
    return effects


def _control(
    table: Associations,
    vocabulary: str,
    in_group: np.ndarray,
    draws: int,
    size: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """SD-WEAT of random groups of words."""
    if vocabulary not in table.controls:
        hint = did_you_mean(vocabulary, table.controls) if table.controls else "there is none"
        raise MeasureError(f"vocabulary: '{vocabulary}' is no control class of this table; {hint}")
    words = table.values.to_numpy()[:, table.values.attribute_class.to_numpy() == vocabulary]
    if words.shape[1] < _CONTROL_WORDS:
        raise MeasureError(
            f"vocabulary: '{vocabulary}' has {words.shape[1]} words and needs {_CONTROL_WORDS}"
        )
    groups = (rng.choice(words.shape[1], _CONTROL_WORDS, replace=False) for _ in range(_CONTROL_GROUPS))
    return np.array([_effects(words[:, g], in_group, draws, size, rng).std(ddof=1) for g in groups])
