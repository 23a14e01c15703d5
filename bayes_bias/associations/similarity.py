"""How close two words are, given their vectors: each similarity is registered where it is defined."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import import_modules
from bayes_bias.embeddings.word_vectors import unit
from bayes_bias.errors import TableError, did_you_mean
from bayes_bias.table.lazy_products import Products, products
from bayes_bias.table.metric import Metric

# Installed packages name modules with similarities of their own under this group.
ENTRY_POINTS = "bayes_bias.similarities"

type Rows = NDArray[np.float64]
type Values = NDArray[np.float64] | Products


@dataclass(frozen=True)
class Similarity:
    """A number for each pair of words, from the vectors of both.

    Parameters
    ----------
    name : str
        What the argument ``similarity``, and ``--metric`` of ``bayes-bias table``, call it.
    metric : Metric
        What the numbers are called, and their units.
    between : callable
        From vectors of targets (P, d) and of attributes (W, d) to numbers (P, W).
    unit : bool
        Vectors are brought to length one first. By default they stay as the source has them.
    product : bool
        `between` is the matrix product of the two. Tables that would not fit in memory are then never formed.

    Examples
    --------
    >>> from bayes_bias import similarities
    >>> def near(targets, attributes):
    ...     return -np.linalg.norm(targets[:, None] - attributes, axis=2)
    >>> distance = Similarity("distance", Metric("distance", "distance", range=(-np.inf, 0.0)), near)
    >>> similarities("googlenews-demo", "weat6", (), similarity=distance).metric.plural
    'distances'
    """

    name: str
    metric: Metric
    between: Callable[[Rows, Rows], Rows]
    unit: bool = False
    product: bool = False

    def prepared(self, vector: np.ndarray) -> Rows:
        """A word's vector as `over_replicates` takes it; those of R replicates are divided by the root of R."""
        if self.unit:
            return unit(vector)
        rows = vector.astype(float)
        return np.asarray(rows / len(rows) ** 0.5) if rows.ndim == 2 else rows

    def over_replicates(self, targets: Rows, attributes: Rows, *, lazily: bool = False) -> tuple[Values, list[Values]]:
        """The mean over replicates, and the numbers of each.

        Parameters
        ----------
        targets, attributes : array (words, d) or (words, replicates, d)
            Prepared vectors.
        lazily : bool
            Round products to what single precision can tell, and leave a large table of them unformed.
        """
        between = products if lazily and self.product else self.between
        if targets.ndim == 2:
            return between(targets, attributes), []
        count = targets.shape[1]
        singles = [between(*(side[:, r] * count**0.5 for side in (targets, attributes))) for r in range(count)]
        if not self.product:
            return np.mean(singles, axis=0), singles
        # The sum of products over replicates and dimensions is their mean, since vectors are divided by root R.
        return between(*(side.reshape(len(side), -1) for side in (targets, attributes))), singles


SIMILARITIES: dict[str, Similarity] = {}


def register(similarity: Similarity) -> Similarity:
    """Make a similarity known by its name, to functions, sweep files and the command line.

    Raises
    ------
    TableError
        Another similarity has the name.
    """
    known = SIMILARITIES.get(similarity.name)
    if known is not None and known.between.__module__ != similarity.between.__module__:
        raise TableError(
            f"similarity: '{similarity.name}' is taken by {known.between.__module__}; give it another name"
        )
    SIMILARITIES[similarity.name] = similarity
    return similarity


def similarity_names() -> list[str]:
    """Names of all similarities: those of the files ``similarity_....py`` here, and of installed packages.

    A package adds its own by an entry point of the group ``bayes_bias.similarities``: a module that uses `register`.
    """
    import_modules("bayes_bias.associations", "similarity_", ENTRY_POINTS, TableError)
    return sorted(SIMILARITIES)


def similarity_of(given: str | Similarity) -> Similarity:
    """The similarity of a name; one that is given itself is returned.

    Raises
    ------
    TableError
        The name is unknown.
    """
    if isinstance(given, Similarity):
        return given
    names = similarity_names()
    if given not in names:
        raise TableError(f"similarity: '{given}' is not known; {did_you_mean(str(given), names)}")
    return SIMILARITIES[given]
