"""Unmasking bias, based on the class that a masked language model fills in (Schroeder et al. 2023)."""

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_bias.errors import OtherDataError
from bayes_bias.measures.designs import labels, require_complete
from bayes_bias.measures.registry import WordResult, measure
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.metric import LOG_PROBABILITY


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
    templates = [single.values.to_numpy() for single in table.singles().values()] or [table.values.to_numpy()]
    q = np.mean([_class_probabilities(values, table) for values in templates], axis=0)
    even = np.full(q.shape[1], 1 / q.shape[1])
    order = np.argsort(table.group_index, kind="stable")
    distance = np.array([scipy.spatial.distance.jensenshannon(row, even, base=2) for row in q[order]])
    classes = dict(zip(table.associated_classes, q[order].T, strict=True))
    return WordResult(
        measure="unmasking",
        word_value="distance",
        value=float(distance.mean()),
        range=(0.0, float(scipy.spatial.distance.jensenshannon(np.eye(len(even))[0], even, base=2))),
        words=labels(table).assign(**classes, distance=distance),
    )


def _class_probabilities(values: NDArray[np.float64], table: AssociationTable) -> NDArray[np.float64]:
    """Return the probability of each class next to each target, (targets, classes), in one template."""
    log_means = []
    for k in range(len(table.associated_classes)):
        members = table.class_index == k
        log_means.append(scipy.special.logsumexp(values[:, members], axis=1) - np.log(members.sum()))
    return np.asarray(scipy.special.softmax(np.stack(log_means, axis=1), axis=1))
