"""Directions and subspaces of a bias: orthonormal rows (components, dimensions)."""

import numpy as np

from bayes_bias.arguments import check_count
from bayes_bias.embeddings.word_vectors import Vectors, stack, stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.words.defining_sets import GivenSets, defining_sets_of

# Differences of unit vectors shorter than this are rounding: no direction can be read off them.
_NO_DIRECTION = 1e-6


def pair_direction(vectors: Vectors, first: str, second: str, *, normalize: bool = True) -> np.ndarray:
    """The direction from `second` to `first`, shape (1, dimensions).

    Bolukbasi et al. (2016) take the difference of unit vectors; RIPA takes the vectors as they are
    (``normalize=False``).
    """
    look_up = stack_unit if normalize else stack
    one, other = look_up(vectors, [first, second], "pair direction")
    return orthonormal(one - other, f"'{first}' and '{second}' have the same vector")


def defining_subspace(vectors: Vectors, defining_sets: GivenSets, *, components: int = 1) -> np.ndarray:
    """Principal components of defining sets, each centred on its own mean.

    A set holds words that differ in the protected attribute alone: ("she", "he"), or for several groups
    ("church", "mosque", "synagogue"). The first word of the first set points to the positive side.

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors of all words in the sets; they are brought to unit length.
    defining_sets : str, path or sequence of sequences of str
        Two words or more each, such as "she:he,woman:man" or [("she", "he")].
    components : int
        How many components span the subspace: 1 for two groups, more for several.

    Returns
    -------
    numpy.ndarray of shape (components, dimensions), with orthonormal rows

    References
    ----------
    Bolukbasi, T. et al. (2016). Man is to computer programmer as woman is to homemaker? NeurIPS 29.
    https://doi.org/10.48550/arXiv.1607.06520 (the sets are centred as in the authors' code).

    Manzini, T. et al. (2019). Black is to criminal as Caucasian is to police (several groups). NAACL.
    https://doi.org/10.18653/v1/N19-1062

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"she": np.array([1.0, 0.2]), "he": np.array([-1.0, 0.2])}
    >>> defining_subspace(vectors, [("she", "he")]).round(3) + 0.0
    array([[1., 0.]])
    """
    word_sets = defining_sets_of(defining_sets)
    if not word_sets:
        raise MeasureError("defining sets: none given; a subspace needs at least one pair of words")
    sets = [stack_unit(vectors, words, "defining set", least=2) for words in word_sets]
    check_count("components", components, "components", refusal=MeasureError)
    deviations = np.vstack([rows - rows.mean(axis=0) for rows in sets])
    _, sizes, axes = np.linalg.svd(deviations, full_matrices=False)
    dimensions = int((sizes > _NO_DIRECTION).sum())
    if components > dimensions:
        raise MeasureError(f"components: {components} are more than the {dimensions} that these sets span; give fewer")
    towards_first = axes[:components] @ deviations[0]
    signed: np.ndarray = np.where(towards_first < 0, -1.0, 1.0)[:, None] * axes[:components]
    return signed


def orthonormal(directions: np.ndarray, otherwise: str) -> np.ndarray:
    """Orthonormal rows of the same subspace by Gram-Schmidt, with the signs of the directions.

    `otherwise` is the reason that an error gives where the directions are linearly dependent.
    """
    try:
        rows = np.atleast_2d(np.asarray(directions, dtype=float))
    except (TypeError, ValueError) as error:
        raise MeasureError(
            f"subspace: {directions!r} is not an array of numbers; give what defining_subspace(vectors, sets) returned"
        ) from error
    if not np.isfinite(rows).all():
        raise MeasureError("subspace: holds values that are not finite")
    basis, lengths = np.linalg.qr(rows.T)
    along = np.diag(lengths)
    if rows.shape[0] > rows.shape[1] or (np.abs(along) < _NO_DIRECTION).any():
        raise MeasureError(f"subspace: {otherwise}, which gives no direction; give others")
    signed: np.ndarray = (basis * np.sign(along)).T
    return signed


def project(rows: np.ndarray, subspace: np.ndarray) -> np.ndarray:
    """Coordinates of vectors in the subspace that these rows span, shape (words, components)."""
    basis = orthonormal(subspace, "its rows are zero or linearly dependent")
    if basis.shape[1] != rows.shape[1]:
        raise MeasureError(f"subspace: has {basis.shape[1]} dimensions, the vectors have {rows.shape[1]}")
    coordinates: np.ndarray = rows @ basis.T
    return coordinates
