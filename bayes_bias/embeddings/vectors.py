"""Vectors of words as matrices, checked once and in one place."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np

from bayes_bias.arguments import check_kind, described
from bayes_bias.errors import MeasureError


class Vectors(Protocol):
    """Anything that knows words and gives a vector for each: a dict, gensim's KeyedVectors, an embedding."""

    def __contains__(self, word: object, /) -> bool: ...

    def __getitem__(self, word: str, /) -> np.ndarray: ...


def stack(vectors: Vectors, words: Sequence[str], measure: str, *, least: int = 1) -> np.ndarray:
    """Vectors of the words as they are, shape (words, dimensions)."""
    _check_words(words, measure, least)
    if not hasattr(vectors, "__getitem__"):
        raise MeasureError(
            f"vectors: {described(vectors)} holds no vectors; give a mapping, an embedding or gensim's KeyedVectors"
        )
    if missing := [word for word in words if word not in vectors]:
        raise MeasureError(
            f"{measure}: {len(missing)} word(s) have no vector: {', '.join(map(str, missing[:5]))}"
        )
    rows = np.stack([np.asarray(vectors[word], dtype=float) for word in words])
    usable = np.isfinite(rows).all(axis=1) & (rows != 0).any(axis=1)
    if not usable.all():
        raise MeasureError(f"{measure}: '{words[int(usable.argmin())]}' has a zero or non-finite vector")
    return rows


def stack_unit(vectors: Vectors, words: Sequence[str], measure: str, *, least: int = 1) -> np.ndarray:
    """Vectors of the words at length one, so that their products are cosines."""
    rows = stack(vectors, words, measure, least=least)
    unit: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def class_means(vectors: Vectors, classes: Mapping[str, Sequence[str]], measure: str) -> np.ndarray:
    """Mean unit vector of each class, shape (classes, dimensions).

    A unit vector's product with it is the mean cosine with the words of the class.
    """
    check_named_words("classes", classes)
    if len(classes) < 2:
        raise MeasureError(
            f"{measure}: bias is a contrast and needs two classes or more, {len(classes)} given"
        )
    return np.stack([stack_unit(vectors, words, measure).mean(axis=0) for words in classes.values()])


def check_named_words(argument: str, given: Mapping[str, Sequence[str]]) -> None:
    """Refuse what does not say which words each name has.

    Raises
    ------
    MeasureError
    """
    needed = "no mapping of names to words; give {'man': [...], 'woman': [...]}"
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
    check_kind("words", words, Collection, "no list of words; give one", MeasureError)
    if len(words) < least:
        raise MeasureError(f"{measure}: {len(words)} word(s) given, {least} or more are needed")
    if len(set(words)) < len(words):
        twice = next(word for i, word in enumerate(words) if word in words[:i])
        raise MeasureError(f"{measure}: '{twice}' is listed twice")
