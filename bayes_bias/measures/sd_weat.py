"""SD-WEAT: the spread of WEAT over random attribute sets (Gray, Milanova & Wu 2024)."""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from bayes_bias.arguments import check_count, check_seed
from bayes_bias.errors import MeasureError, did_you_mean
from bayes_bias.measures.designs import ROUNDING, require_complete, require_two_groups, require_words
from bayes_bias.measures.permutation import largest_effect
from bayes_bias.measures.registry import Result, measure
from bayes_bias.table.association_table import AssociationTable

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
    effects = _effect_sizes(pool, in_group, draws, size, rng)
    value = float(effects.std(ddof=1))
    bound = largest_effect(int(in_group.sum()), int((~in_group).sum()), ddof=1)
    # The standard deviation is largest if half of the effect sizes are at each end of WEAT's range.
    most = float(bound * np.sqrt(draws / (draws - 1)))
    result = SdWeat(value=value, range=(0.0, most), b0=float("nan"), effect_sizes=effects)
    if vocabulary is None:
        return result
    words = _control_words(table, vocabulary)
    control = np.empty(_CONTROL_GROUPS)
    for k in range(_CONTROL_GROUPS):
        chosen = rng.choice(words.shape[1], _CONTROL_WORDS, replace=False)
        control[k] = _effect_sizes(words[:, chosen], in_group, draws, size, rng).std(ddof=1)
    z = float((value - control.mean()) / control.std(ddof=1))
    return replace(result, b0=float(control.mean()), p_value=float(scipy.stats.norm.sf(z)), z=z, control=control)


def _check_pool(table: AssociationTable, size: int) -> None:
    """Raise an error if SD-WEAT is not defined for the table or the size of sets."""
    require_complete(table, "SD-WEAT")
    require_two_groups(table, "SD-WEAT")
    require_words(table, "SD-WEAT", least=2)
    pool = table.without_controls().values.shape[1]
    if pool < 2 * size:
        raise MeasureError(f"SD-WEAT cannot draw two sets of {size} from {pool} attributes. Use a smaller size.")


def _effect_sizes(
    similarity: np.ndarray, in_group: np.ndarray, draws: int, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Return WEAT's effect size for random attribute sets, (draws,).

    `similarity` has the shape (targets, attributes). Each draw shuffles the attributes: the first `size` are one set,
    and the next `size` the other.
    """
    order = rng.permuted(np.tile(np.arange(similarity.shape[1]), (draws, 1)), axis=1)
    first, second = similarity[:, order[:, :size]], similarity[:, order[:, size : 2 * size]]
    scores = first.mean(axis=2) - second.mean(axis=2)
    spread = scores.std(axis=0, ddof=1)
    if (spread < ROUNDING).any():
        raise MeasureError(
            "SD-WEAT is not defined, because all targets have the same association score with some attribute sets"
        )
    return np.asarray((scores[in_group].mean(axis=0) - scores[~in_group].mean(axis=0)) / spread)


def _control_words(table: AssociationTable, vocabulary: str) -> np.ndarray:
    """Return the values of all targets with the words of a control class."""
    if vocabulary not in table.controls:
        hint = did_you_mean(vocabulary, table.controls) if table.controls else "There are no control classes."
        raise MeasureError(f"`vocabulary` '{vocabulary}' is not a control class of this table. {hint}")
    words = table.values.to_numpy()[:, table.values.attribute_class.to_numpy() == vocabulary]
    if words.shape[1] < _CONTROL_WORDS:
        raise MeasureError(f"vocabulary: '{vocabulary}' has {words.shape[1]} words and needs {_CONTROL_WORDS}")
    return words
