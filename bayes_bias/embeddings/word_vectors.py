"""Matrices of word vectors, and directions in them."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import check_count, check_kind, kind_of
from bayes_bias.embeddings.embedding import Vector
from bayes_bias.embeddings.in_memory import as_vector, not_an_array
from bayes_bias.errors import MeasureError
from bayes_bias.formatting import shortened
from bayes_bias.words.defining_sets import GivenSets, defining_sets_of

# Single precision can represent numbers between these limits, and can also represent the squares of these numbers.
_SMALLEST, _LARGEST = 1e-18, 1e18


class Vectors(Protocol):
    """Any object with a vector for each word, such as a dict or gensim's KeyedVectors."""

    def __contains__(self, word: object, /) -> bool: ...

    def __getitem__(self, word: str, /) -> np.ndarray: ...


def stack(vectors: Vectors, words: Sequence[str], measure: str, *, least: int = 1) -> np.ndarray:
    """Stack the vectors of words as (words, dimensions). Vectors of replicates are concatenated.

    Raise an error if there are fewer than `least` words, or if a word has no vector, or a vector that is zero or not
    finite. The message begins with the name of the `measure` that needs the vectors. The vector of a word is (d,), or
    (replicate, d) for R replicates, and then has R times d dimensions in the result.
    """
    _check_words(words, measure, least)
    mapping: object = vectors
    if isinstance(mapping, str) or not hasattr(mapping, "__getitem__"):
        raise MeasureError(
            f"`vectors` must be a mapping of words to vectors, but is {kind_of(vectors)}. Pass"
            " `open_embedding(...).find(words)`, for example, or gensim's KeyedVectors."
        )
    if missing := [word for word in words if word not in vectors]:
        raise MeasureError(
            f"{measure}: no vector for {shortened([*map(str, missing)], 5)}. Correct their spelling, or remove them."
        )
    arrays = []
    for word in words:
        vector: object = vectors[word]
        try:
            arrays.append(as_vector(vector).astype(float))
        except Exception as error:  # tensors raise many kinds of errors
            raise MeasureError(f"{measure}: the vector of '{word}' is {not_an_array(vector, error)}") from error
    rows = np.stack(arrays)
    # True for a word if all of its vectors are finite and not zero.
    usable = has_direction(rows).reshape(len(words), -1).all(axis=1)
    if not usable.all():
        raise MeasureError(
            f"{measure}: the vector of '{words[int(usable.argmin())]}' is zero or not finite. Remove the word."
        )
    return rows.reshape(len(words), -1)


def stack_unit(vectors: Vectors, words: Sequence[str], measure: str, *, least: int = 1) -> np.ndarray:
    """Stack the vectors of words, scaled to length one, so that their products are cosines."""
    return unit_rows(stack(vectors, words, measure, least=least))


def has_direction(vectors: np.ndarray) -> NDArray[np.bool_]:
    """Return True for each vector along the last axis that is finite and not zero."""
    return np.asarray(np.isfinite(vectors).all(axis=-1) & (vectors != 0).any(axis=-1))


def with_direction(vectors: Mapping[str, Vector], words: Iterable[str]) -> dict[str, Vector]:
    """Return the vectors of those words whose vector is known, finite, and not zero, in the order of the words."""
    known = [word for word in words if word in vectors]
    return {word: vectors[word] for word in known if has_direction(vectors[word]).all()}


def unit(vector: np.ndarray) -> NDArray[np.float64]:
    r"""Scale the vector of a word to length one, or its vectors from R replicates to length :math:`1 / \sqrt R`.

    The sum of products over both axes is then the mean cosine over replicates.
    """
    rows = unit_rows(vector) if vector.ndim == 2 else vector.astype(float)
    # Divide by the largest entry first, because the square of a very large or small number would overflow or underflow.
    scaled = rows / np.abs(rows).max()
    return np.asarray(scaled / np.linalg.norm(scaled))


def unit_rows(vectors: np.ndarray) -> NDArray[np.float64]:
    """Scale vectors along the last axis to length one, or to NaN if they have no direction."""
    rows, _ = _moderate(vectors)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))


def lengths(vectors: np.ndarray) -> NDArray[np.float64]:
    """Return the length of each vector along the last axis."""
    rows, exponents = _moderate(vectors)
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(np.linalg.norm(rows, axis=-1), exponents[..., 0]))


def _moderate(vectors: np.ndarray) -> tuple[NDArray[np.float64], NDArray[np.intc]]:
    """Divide vectors by powers of two so that their largest entry is near 1, and also return the exponents.

    Each vector along the last axis has its own exponent, which is returned with a last axis of length one. The square
    of a very large or small number would overflow or underflow, and division by a power of two is exact.
    """
    rows = np.asarray(vectors, dtype=float)
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    _, exponents = np.frexp(np.where(np.isfinite(largest), largest, 1.0))
    return np.ldexp(rows, -exponents), exponents


def unit_means(vectors: Sequence[NDArray[np.floating]]) -> NDArray[np.float64]:
    """Return the vectors of words as rows of length one.

    The vector of a word is ``(d,)``, or ``(replicate, d)`` if it has replicates, which are averaged first. Before that,
    all vectors of a word are divided by one power of two, so that very large or small numbers do not overflow. The
    exponent of this power makes the largest entry near 1 (`_moderate`).
    """
    rows = np.stack(vectors).astype(float)
    if rows.ndim == 3:  # (word, replicate, d)
        # One exponent for each word, (word, 1)
        _, exponents = _moderate(rows.reshape(len(rows), -1))
        rows = np.ldexp(rows, -exponents[..., None]).mean(axis=1)
    return unit_rows(rows)


@dataclass(frozen=True, eq=False)
class OriginalVectors:
    """Unit vectors of words or of their replicates, which are rescaled to their original lengths when they are read."""

    vectors: Vectors
    lengths: Mapping[str, NDArray[np.float64]]

    def __contains__(self, word: object) -> bool:
        return word in self.vectors and word in self.lengths

    def __getitem__(self, word: str) -> np.ndarray:
        return np.asarray(np.asarray(self.vectors[word]) * np.expand_dims(self.lengths[word], -1))


def class_means(vectors: Vectors, classes: Mapping[str, Sequence[str]], measure: str) -> np.ndarray:
    """Compute the mean unit vector of each class, shape (classes, dimensions).

    `classes` has the words of each class. The product of a unit vector with this mean is the mean cosine with the words
    of the class. Error messages begin with the name of the `measure`.
    """
    check_named_words("classes", classes)
    if len(classes) < 2:
        raise MeasureError(
            f"{measure}: bias is a contrast, so `classes` must contain at least two classes, but contains"
            f" {len(classes)}. Add another class."
        )
    return np.stack([stack_unit(vectors, words, measure).mean(axis=0) for words in classes.values()])


def check_named_words(argument: str, groups: Mapping[str, Sequence[str]]) -> None:
    """Raise an error if a value is not a mapping from names to words."""
    problem = "not a mapping of names to words. Pass {'man': [...], 'woman': [...]}."
    check_kind(argument, groups, Mapping, problem, MeasureError)


def sha256_of_vectors(vectors: Mapping[str, np.ndarray]) -> str:
    """Hash words and vectors, independently of their order.

    Vectors are hashed as float32 if it can represent them, that is, if the largest entry is between `_SMALLEST` and
    `_LARGEST`, and otherwise as float64.
    """
    digest = hashlib.sha256()
    for word in sorted(vectors):
        rows = np.asarray(vectors[word])
        precision = "<f4" if _SMALLEST < float(np.abs(rows).max()) < _LARGEST else "<f8"
        digest.update(word.encode() + b"\0")
        digest.update(np.ascontiguousarray(rows, dtype=precision).tobytes())
    return digest.hexdigest()


def _check_words(words: Sequence[str], measure: str, least: int) -> None:
    """Raise an error if `words` is not a list of `least` or more different words. The message begins with `measure`."""
    if isinstance(words, str):
        raise MeasureError(
            f"{measure}: expected a list of words, but found the single word '{words}'. Write ['{words}']."
        )
    check_kind("words", words, Collection, "not a list of words. Pass one.", MeasureError)
    if len(words) < least:
        raise MeasureError(f"{measure}: expected {least} or more words, but found {len(words)}. Add words.")
    if len(set(words)) < len(words):
        twice = next(word for i, word in enumerate(words) if word in words[:i])
        raise MeasureError(f"{measure}: the word '{twice}' is listed more than once. Keep it once.")


# Directions and subspaces of a bias, as orthonormal rows (components, dimensions).

# Differences of approximately unit vectors that are shorter than this are rounding errors without a direction.
_NO_DIRECTION = 1e-6


def pair_direction(vectors: Vectors, first: str, second: str, *, normalize: bool = True) -> np.ndarray:
    """Return the direction from the word `second` to the word `first`, as a row of length one, (1, dimensions).

    Bolukbasi et al. (2016) use the difference of unit vectors, and RIPA uses the original vectors
    (``normalize=False``), which are only divided by a common factor.
    """
    rows = stack(vectors, [first, second], "pair direction")
    towards, away = unit_rows(rows) if normalize else _moderate_together(rows)
    return orthonormal(towards - away, f"'{first}' and '{second}' have the same vector")


def defining_subspace(
    vectors: Vectors, defining_sets: GivenSets, *, components: int = 1, normalize: bool = True
) -> np.ndarray:
    """Compute principal components of defining sets, each centred on its own mean.

    A set contains words that differ only in the protected attribute: ("she", "he"), or for several groups
    ("church", "mosque", "synagogue"). The first word of the first set points to the positive side.

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors of all words in the sets.
    defining_sets : str, path or sequence of sequences of str
        Sets of two or more words, such as "she:he,woman:man" or [("she", "he")].
    components : int
        Number of components that span the subspace: 1 for two groups, or more for several groups.
    normalize : bool
        Scale vectors to unit length first, as Bolukbasi et al. do. RIPA uses their original lengths.

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
        raise MeasureError("`defining_sets` is empty. Pass at least one pair of words, such as [('she', 'he')].")
    sets = [stack(vectors, words, "defining set", least=2) for words in word_sets]
    components = check_count("components", components, "components", refusal=MeasureError)
    stacked = np.vstack(sets)  # (words of all sets, dimensions)
    scaled = unit_rows(stacked) if normalize else _moderate_together(stacked)
    ends = np.cumsum([len(rows) for rows in sets])[:-1]  # rows of `scaled` where all sets but the last end
    deviations = np.vstack([rows - rows.mean(axis=0) for rows in np.split(scaled, ends)])
    _, singular_values, axes = np.linalg.svd(deviations, full_matrices=False)
    dimensions = int((singular_values > _NO_DIRECTION).sum())
    if components > dimensions:
        raise MeasureError(
            f"`components` must be at most {dimensions}, the number of dimensions that these sets span, but is"
            f" {components}. Use fewer components, or add sets."
        )
    # The sign of a principal component is arbitrary, so the first word of the first set is put on the positive side.
    towards_first = axes[:components] @ deviations[0]
    return np.asarray(np.where(towards_first < 0, -1.0, 1.0)[:, None] * axes[:components])


def _moderate_together(rows: np.ndarray) -> NDArray[np.float64]:
    """Divide all vectors by one power of two, so that the largest entry is near 1."""
    flat, _ = _moderate(rows.reshape(-1))
    return flat.reshape(rows.shape)


def orthonormal(directions: np.ndarray, otherwise: str) -> np.ndarray:
    """Compute orthonormal rows that span the same subspace, by Gram-Schmidt. The rows keep the signs of the directions.

    This is a QR decomposition: the transposed directions are Q times R, where the columns of Q are orthonormal, and R
    is an upper triangle. `otherwise` is the reason that the error message gives if the directions are linearly
    dependent.
    """
    rows = _rows_of(directions)
    q, r = np.linalg.qr(rows.T)
    along = np.diag(r)  # the length of the part of each row that is orthogonal to the previous rows, or minus it
    if rows.shape[0] > rows.shape[1] or (np.abs(along) < _NO_DIRECTION).any():
        raise MeasureError(f"The subspace has no direction, because {otherwise}. Use other words or vectors.")
    return np.asarray((q * np.sign(along)).T)


def _rows_of(directions: np.ndarray) -> NDArray[np.float64]:
    """Return the directions of a subspace as finite numbers (components, dimensions), or raise an error.

    A single direction (dimensions,) becomes the only row.
    """
    try:
        rows = np.atleast_2d(np.asarray(directions, dtype=float))
    except (TypeError, ValueError) as error:
        raise MeasureError(
            f"`subspace` must be an array of numbers, but is {directions!r}. Pass the result of"
            " `defining_subspace(vectors, sets)`."
        ) from error
    if not np.isfinite(rows).all():
        raise MeasureError("`subspace` contains values that are not finite. Remove or replace them.")
    return rows


def project(rows: np.ndarray, subspace: np.ndarray) -> np.ndarray:
    """Compute the coordinates (words, components) of vectors in the subspace that the rows of `subspace` span.

    The rows of `subspace` need not be orthonormal. They are first divided by powers of two (`_moderate`), so that
    squares of very large or small numbers do not overflow.
    """
    directions, _ = _moderate(_rows_of(subspace))
    basis = orthonormal(directions, "its rows are zero or linearly dependent")
    if basis.shape[1] != rows.shape[1]:
        raise MeasureError(
            f"`subspace` has {basis.shape[1]} dimensions, but the vectors have {rows.shape[1]}. Use the same embedding"
            " for both."
        )
    return np.asarray(rows @ basis.T)
