"""Similarity of two words, computed from their vectors."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.embeddings.word_vectors import unit
from bayes_bias.errors import TableError
from bayes_bias.table.metric import Metric
from bayes_bias.table.related_words import Products, products

type Rows = NDArray[np.float64]
type Values = NDArray[np.float64] | Products


@dataclass(frozen=True)
class Similarity:
    """A number for each pair of words, from the vectors of both.

    Parameters
    ----------
    name : str
        The name for the argument ``similarity`` and for ``--similarity``.
    metric : Metric
        The name of the numbers, and their units.
    between : callable
        Function from vectors of targets (P, d) and of attributes (W, d) to numbers (P, W).
    unit : bool
        If True, vectors are first brought to length one. By default, they keep their original lengths.
    product : bool
        If True, `between` is the matrix product of the two, and tables that do not fit in memory are never formed.

    Examples
    --------
    >>> from bayes_bias import similarities
    >>> def near(targets, attributes):
    ...     return -np.linalg.norm(targets[:, None] - attributes, axis=2)
    >>> nearness = Similarity("nearness", Metric("negative distance", "distance", range=(-np.inf, 0.0)), near)
    >>> similarities("weat6", "googlenews-demo", (), similarity=nearness).metric.plural
    'negative distances'
    """

    name: str
    metric: Metric
    between: Callable[[Rows, Rows], Rows]
    unit: bool = False
    product: bool = False

    def __post_init__(self) -> None:
        """Raise an error if larger numbers mean farther apart."""
        if self.metric.larger == "farther":
            raise TableError(
                f"The similarity '{self.name}' has the metric '{self.metric.name}', whose larger values mean farther"
                f" apart. Return minus the values, and call the metric 'negative {self.metric.name}'."
            )
        self.metric.check_direction()

    def prepared(self, vector: np.ndarray) -> Rows:
        r"""Prepare a word's vector, (d,) or (replicates, d), for `average_replicates`.

        The vector gets unit length if the similarity requires it. Vectors of R replicates are divided by
        :math:`\sqrt R`, so that the sum of their products is the mean over replicates.
        """
        if self.unit:
            return unit(vector)
        rows = vector.astype(float)
        return np.asarray(rows / len(rows) ** 0.5) if rows.ndim == 2 else rows

    def average_replicates(
        self, targets: Rows, attributes: Rows, *, lazily: bool = False
    ) -> tuple[Values, list[Values]]:
        """Return the similarities of targets and attributes: the mean over replicates, and a table of each replicate.

        Without replicates, there are no tables of replicates. Vectors of R replicates are stored divided by the square
        root of R, so that the sum of their products over all replicates and dimensions is the mean over replicates. If
        the similarity is a product of vectors (`product`), as the cosine is, the mean is computed in this way.

        Parameters
        ----------
        targets, attributes : array (words, d) or (words, replicates, d)
            Prepared vectors.
        lazily : bool
            Round products to single precision, and compute those of a large table on demand.
        """
        similarities = products if lazily and self.product else self.between
        if targets.ndim == 2:
            return similarities(targets, attributes), []
        n_replicates = targets.shape[1]
        root = n_replicates**0.5
        singles = [similarities(targets[:, r] * root, attributes[:, r] * root) for r in range(n_replicates)]
        if not self.product:
            return np.mean(singles, axis=0), singles
        # (words, replicates * d): the vectors of all replicates side by side.
        mean = similarities(targets.reshape(len(targets), -1), attributes.reshape(len(attributes), -1))
        return mean, singles
