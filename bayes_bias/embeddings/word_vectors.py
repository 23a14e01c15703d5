"""Vectors of words as matrices, checked once and in one place."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import check_kind, described
from bayes_bias.errors import MeasureError


class Vectors(Protocol):
    """Anything that knows words and gives a vector for each: a dict, gensim's KeyedVectors."""

    def __contains__(self, word: object, /) -> bool: ...

    def __getitem__(self, word: str, /) -> np.ndarray: ...


def stack(vectors: Vectors, words: Sequence[str], measure: str, *, least: int = 1) -> np.ndarray:
    """Vectors of the words as they are, shape (words, dimensions); those of replicates end to end."""
    _check_words(words, measure, least)
    given: object = vectors
    if isinstance(given, str) or not hasattr(given, "__getitem__"):
        raise MeasureError(
            f"vectors: {described(vectors)} given; give a mapping of words to vectors, such as "
            "open_embedding(...).find(words), or gensim's KeyedVectors"
        )
    if missing := [word for word in words if word not in vectors]:
        raise MeasureError(
            f"{measure}: {len(missing)} word(s) have no vector: {', '.join(map(str, missing[:5]))}; leave them out"
        )
    rows = np.stack([np.asarray(vectors[word], dtype=float) for word in words])
    usable = has_direction(rows).reshape(len(words), -1).all(axis=1)
    if not usable.all():
        raise MeasureError(f"{measure}: '{words[int(usable.argmin())]}' has a zero or non-finite vector")
    return rows.reshape(len(words), -1)


def stack_unit(vectors: Vectors, words: Sequence[str], measure: str, *, least: int = 1) -> np.ndarray:
    """Vectors of the words at length one, so that their products are cosines."""
    rows = stack(vectors, words, measure, least=least)
    unit: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def has_direction(vectors: np.ndarray) -> NDArray[np.bool_]:
    """Whether each vector, along the last axis, is finite and not zero."""
    return np.asarray(np.isfinite(vectors).all(axis=-1) & (vectors != 0).any(axis=-1))


def unit(vector: np.ndarray) -> NDArray[np.float64]:
    r"""A word's vector at length one, or its vectors from R replicates at length :math:`1 / \sqrt R` each.

    The sum of products over both axes is then the mean cosine over replicates.
    """
    rows = unit_rows(vector) if vector.ndim == 2 else vector.astype(float)
    # Scaled by the largest entry first: the square of a very large or small number would overflow.
    scaled = rows / np.abs(rows).max()
    return np.asarray(scaled / np.linalg.norm(scaled))


def unit_rows(vectors: np.ndarray) -> NDArray[np.float64]:
    """A word's vectors (replicate, dimension), each at length one; NaN where it has no direction."""
    rows = vectors.astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def class_means(vectors: Vectors, classes: Mapping[str, Sequence[str]], measure: str) -> np.ndarray:
    """Mean unit vector of each class, shape (classes, dimensions).

    A unit vector's product with it is the mean cosine with the words of the class.
    """
    check_named_words("classes", classes)
    if len(classes) < 2:
        raise MeasureError(f"{measure}: bias is a contrast and needs two classes or more, {len(classes)} given")
    return np.stack([stack_unit(vectors, words, measure).mean(axis=0) for words in classes.values()])


def check_named_words(argument: str, given: Mapping[str, Sequence[str]]) -> None:
    """Refuse anything but a mapping of names to words."""
    needed = "not a mapping of names to words; give {'man': [...], 'woman': [...]}"
    check_kind(argument, given, Mapping, needed, MeasureError)


def sha256_of_vectors(vectors: Mapping[str, np.ndarray]) -> str:
    """Hash of words and vectors (as float32), whatever their order."""
    digest = hashlib.sha256()
    for word in sorted(vectors):
        digest.update(word.encode() + b"\0")
        digest.update(np.ascontiguousarray(vectors[word], dtype="<f4").tobytes())
    return digest.hexdigest()


def _check_words(words: Sequence[str], measure: str, least: int) -> None:
    if isinstance(words, str):
        raise MeasureError(f"{measure}: '{words}' is one word where a list is needed; write ['{words}']")
    check_kind("words", words, Collection, "not a list of words; give one", MeasureError)
    if len(words) < least:
        raise MeasureError(f"{measure}: {len(words)} word(s) given, {least} or more are needed")
    if len(set(words)) < len(words):
        twice = next(word for i, word in enumerate(words) if word in words[:i])
        raise MeasureError(f"{measure}: '{twice}' is listed twice; remove one")
