"""MAC, the mean average cosine distance (Manzini et al. 2019), and the paired t-test of its change."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from bayes_bias.errors import MeasureError
from bayes_bias.measures.designs import ROUNDING, require_complete, require_cosines
from bayes_bias.measures.registry import Result, WordResult, measure
from bayes_bias.table.association_table import AssociationTable


@dataclass(frozen=True, eq=False, kw_only=True)
class MacChange(Result):
    """The change in MAC (after minus before), with the paired t-test of the paper.

    Attributes
    ----------
    before, after : float
        MAC in the two embeddings.
    t : float
        Paired t statistic over targets and classes, with `df` degrees of freedom.
    """

    measure: str = "MAC change"

    p_value: float
    before: float
    after: float
    t: float
    df: int


@measure("MAC", rank=50)
def mac(table: AssociationTable) -> WordResult:
    r"""Compute the mean distance of targets from the associated classes, regardless of their group.

    .. math:: MAC(T, A) = \frac{1}{|T|\,|A|} \sum_{t \in T} \sum_{A_j \in A} S(t, A_j), \qquad
              S(t, A_j) = \frac{1}{|A_j|} \sum_{a \in A_j} 1 - \cos(t, a)

    Each class has equal weight, regardless of its number of words. Control classes are ignored.

    Parameters
    ----------
    table : AssociationTable
        Any number of groups and classes. The table must be complete, without repeats.

    Returns
    -------
    WordResult
        `value` in [0, 2], a cosine *distance*. The paper interprets 1 as "no bias". `words` contains the distances of
        each target and their mean `distance`.

    Raises
    ------
    MeasureError
        If pairs are missing or repeated.

    Notes
    -----
    MAC misleads because it ignores the association of groups with classes, so it only measures the mean distance
    between two lists. If classes point in opposite directions, MAC is 1 for *any* targets, even for strongly biased
    targets. If targets and attributes are on the same topic, MAC is below 1. Therefore, a single MAC has no
    interpretation, although a change of MAC may have one.

    References
    ----------
    Manzini, T., Lim, Y. C., Tsvetkov, Y. & Black, A. W. (2019). Black is to criminal as Caucasian is to
    police: detecting and removing multiclass bias in word embeddings. NAACL, 615-621.
    https://doi.org/10.18653/v1/N19-1062

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> round(mac(cosines("weat7", "googlenews-demo", controls=())).value, 3)
    0.933
    """
    distances = _distances(table)
    return WordResult(
        measure="MAC",
        word_value="distance",
        value=float(distances.to_numpy().mean()),
        range=(0.0, 2.0),
        b0=1.0,
        words=distances.assign(distance=distances.mean(axis=1)),
    )


def mac_change(before: AssociationTable, after: AssociationTable) -> MacChange:
    r"""Compute the change in MAC between two embeddings, with the paper's paired t-test over S(t, A_j).

    Parameters
    ----------
    before, after : AssociationTable
        The same targets and associated classes in two embeddings.

    Returns
    -------
    MacChange
        `value` is MAC after minus MAC before, and is positive if distances increased. `p_value` is two-sided.

    Raises
    ------
    MeasureError
        If targets or classes differ, or if all changes are equal, so that t is undefined.

    Notes
    -----
    This test misleads because the pairs (t, A_j) are not independent: every target is paired with every class, and the
    spread of words within each S is ignored. The p-values are therefore far too small.

    References
    ----------
    Manzini et al. (2019), Table 2. https://doi.org/10.18653/v1/N19-1062

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> before, after = (cosines("weat7", name, controls=()) for name in ("googlenews-demo", "minilm-demo"))
    >>> change = mac_change(before, after)
    >>> round(change.value, 3), change.df
    (-0.253, 31)
    """
    earlier = _distances(before)
    later = _distances(after)
    if set(earlier.index) != set(later.index) or set(earlier.columns) != set(later.columns):
        raise MeasureError("MAC change needs the same targets and classes in both tables. Measure the same words.")
    later = later.loc[earlier.index, earlier.columns]
    difference = (later - earlier).to_numpy().ravel()
    if len(difference) < 2 or difference.std() < ROUNDING:
        raise MeasureError(
            "MAC change is not defined, because all targets and classes changed alike, so there is no t-test."
        )
    test = scipy.stats.ttest_1samp(difference, 0.0)
    return MacChange(
        value=float(difference.mean()),
        range=(-2.0, 2.0),
        p_value=float(test.pvalue),
        before=float(earlier.to_numpy().mean()),
        after=float(later.to_numpy().mean()),
        t=float(test.statistic),
        df=len(difference) - 1,
    )


def _distances(table: AssociationTable) -> pd.DataFrame:
    """Return S(t, A_j), the mean cosine distance of each target (rows) from each associated class (columns)."""
    require_complete(table, "MAC")
    require_cosines(table, "MAC")
    classes = table.associated_classes
    in_class = table.values.attribute_class.to_numpy()[:, None] == np.array(classes)  # (attributes, classes)
    mean_cosines = table.values.to_numpy() @ in_class / in_class.sum(axis=0)
    index = pd.Index(table.values.target.to_numpy(), name="target")
    return pd.DataFrame(1 - mean_cosines, index=index, columns=pd.Index(classes))
