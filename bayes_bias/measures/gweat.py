"""gWEAT: WEAT for any number of groups, each with its own class (Swinger et al. 2019)."""

import numpy as np

from bayes_bias.arguments import check_count
from bayes_bias.errors import MeasureError
from bayes_bias.measures.designs import labels, require_complete
from bayes_bias.measures.permutation import permutation_test, regrouping_test
from bayes_bias.measures.registry import WordResult, measure
from bayes_bias.table.association_table import AssociationTable


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
    if len(table.associated_classes) != len(table.groups):
        raise MeasureError(
            f"gWEAT needs a class for each group, but {len(table.groups)} groups share"
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
