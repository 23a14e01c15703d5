"""General words of an embedding, with which the words of a list are compared."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayes_bias.associations.copies import equal_vectors, without_copies
from bayes_bias.associations.coverage import random_words
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.word_vectors import has_direction, sha256_of_vectors, unit_rows
from bayes_bias.errors import EmbeddingError
from bayes_bias.formatting import counted
from bayes_bias.shared_types import Numbers
from bayes_bias.words.wordlist import WordList

# With fewer general words, the variation of words cannot be estimated.
_FEWEST = 500
_SEED = 1
# Number of random lists of each length, and the greatest length, because longer lists vary similarly.
_RANDOM_LISTS, _LONGEST = 200, 60
SMALLEST = 1e-15


@dataclass(frozen=True)
class RandomLists:
    """Prominence of the leading direction in lists of general words.

    The ratio is the largest eigenvalue of a list, centred at its mean, relative to the mean of all its eigenvalues.

    Attributes
    ----------
    cosine_ratio, cosine_ratio_sd : float
        Mean and standard deviation of the ratio for the cosines of words with one another.
    profile_ratio : float
        Mean of the ratio for profiles, that is, for the cosines of words with all general words.
    """

    cosine_ratio: float
    cosine_ratio_sd: float
    profile_ratio: float


@dataclass(frozen=True)
class GeneralWords:
    r"""General words of an embedding.

    Let :math:`Y` be the centred cosines of N general words with one another, N by N. The *profile* of a word is its N
    cosines with the general words, centred at their mean and divided by :math:`\sqrt N`. Because only products of
    profiles are used, profiles are stored in at most as many dimensions as vectors have.

    Attributes
    ----------
    name : str
        Name of the embedding.
    sha256 : str
        Hash of words and vectors.
    words : tuple of str
    vectors : array (words, d)
        Vectors of length one. Several replicates are concatenated, so that products are means over replicates.
    in_first : bool
        True if the general words come from a single replicate. Words are then compared in the first replicate.
    """

    name: str = field(compare=False)
    sha256: str
    words: tuple[str, ...] = field(compare=False)
    vectors: Numbers = field(compare=False)
    in_first: bool = False

    @classmethod
    def of(cls, vectors: Mapping[str, NDArray[np.floating]], *, name: str = "", in_first: bool = False) -> Self:
        """Make general words from vectors ``(d,)``, or ``(replicate, d)``."""
        rows = side_by_side(list(vectors.values())) if vectors else np.zeros((0, 0))
        return cls(name, sha256_of_vectors(vectors), tuple(vectors), rows, in_first)

    def without(self, wordlist: WordList) -> "GeneralWords":
        """Return the words that are not in a list.

        Raises
        ------
        EmbeddingError
            If there are too few general words, or if they have too few different vectors.
        """
        listed = frozenset(map(str.casefold, wordlist.words))
        return _without_words(self, listed & self._casefolded)

    def rows(self, vectors: Sequence[NDArray[np.floating]]) -> Numbers:
        """Return vectors of a list in the same form as the general words."""
        return side_by_side([vector[0] for vector in vectors] if self.in_first and vectors[0].ndim == 2 else vectors)

    def profiles(self, rows: Numbers) -> Numbers:
        """Return coordinates of profiles, (words, dimensions), with the same products as profiles."""
        return np.asarray(rows @ self._spectrum[1])

    @property
    def variance(self) -> float:
        r"""Variance of the cosine of two general words: the mean square of centred cosines, minus its expectation for N
        words by chance, :math:`\sum_{ij} Y_{ij}^2 / N^2 - (\sum_i Y_{ii} / N)^2 / N`."""
        values = self._spectrum[0]
        return float((values**2).sum() - values.sum() ** 2 / len(self.words))

    @property
    def directions(self) -> float:
        r"""Effective number of directions in which preferences of general words vary,
        :math:`(\sum_k s_k^2)^2 / \sum_k s_k^4` with the eigenvalues s of Y."""
        values = self._spectrum[0]
        return float((values**2).sum() ** 2 / (values**4).sum())

    def random_lists(self, words: int) -> RandomLists:
        """Return the prominence of the leading direction in random lists of the same length."""
        return _random_lists(self, min(words, _LONGEST))

    @cached_property
    def _casefolded(self) -> frozenset[str]:
        return frozenset(map(str.casefold, self.words))

    @cached_property
    def has_copies(self) -> bool:
        """Return True if two words have the same vector. Computed once, although each list excludes other words."""
        return bool(equal_vectors(dict(zip(self.words, self.vectors, strict=True))))

    @cached_property
    def centred(self) -> Numbers:
        """Vectors after their mean is subtracted."""
        return np.asarray(self.vectors - self.vectors.mean(axis=0))

    @cached_property
    def _spectrum(self) -> tuple[Numbers, Numbers]:
        r"""Eigenvalues of Y / N, and the map from vectors to coordinates of profiles, (d, dimensions).

        With :math:`X` for the centred vectors divided by :math:`\sqrt N`, :math:`Y / N = X X^\top`. This matrix has
        the eigenvalues s of :math:`X^\top X = D s D^\top`, and the map is :math:`D \sqrt s`.
        """
        rows = self.centred / np.sqrt(len(self.words))
        if len(rows) < rows.shape[1]:  # of several replicates side by side: the smaller matrix has the same eigenvalues
            values, directions = np.linalg.eigh(rows @ rows.T)
            return np.maximum(values, 0.0), np.asarray(rows.T @ directions)
        values, directions = np.linalg.eigh(rows.T @ rows)
        values = np.maximum(values, 0.0)
        return values, np.asarray(directions * np.sqrt(values))


def side_by_side(vectors: Sequence[NDArray[np.floating]]) -> Numbers:
    """Scale vectors ``(d,)``, or concatenated vectors ``(replicate, d)``, to rows of length one."""
    rows = unit_rows(np.stack([np.asarray(vector, dtype=float) for vector in vectors]))
    return np.asarray(rows.reshape(len(rows), -1) / np.sqrt(rows.shape[1] if rows.ndim == 3 else 1))


def eigenvalues(products: Numbers) -> Numbers:
    """Return eigenvalues (..., n - 1) of lists centred at their mean, from products of their words (..., n, n)."""
    centred = products - products.mean(axis=-1, keepdims=True) - products.mean(axis=-2, keepdims=True)
    centred = centred + products.mean(axis=(-2, -1), keepdims=True)
    return np.asarray(np.maximum(np.linalg.eigvalsh(centred)[..., :0:-1], SMALLEST))


def leading_ratio(values: Numbers) -> Numbers:
    """Return the largest eigenvalue relative to their mean."""
    return np.asarray(values[..., 0] / values.mean(axis=-1))


def general_words_of(embedding: Embedding) -> GeneralWords:
    """Return general words of an embedding whose pool can be read."""
    general = embedding.reader.general()
    stored = embedding.find(random_words(embedding, _SEED)) if general is None else general
    have_direction = has_direction(np.stack([*stored.values()])) if stored else np.zeros(0, dtype=bool)
    usable = {word: vector for (word, vector), has in zip(stored.items(), have_direction, strict=True) if has.all()}
    have_replicates = any(vector.ndim == 2 for vector in usable.values())
    return GeneralWords.of(usable, name=embedding.name, in_first=bool(embedding.replicates) and not have_replicates)


@lru_cache(maxsize=32)
def _without_words(general: GeneralWords, listed: frozenset[str]) -> GeneralWords:
    """Return the general words that are not among case-folded words of a list (see `GeneralWords.without`).

    The result is cached, because its spectrum takes half a second.
    """
    others = dict[str, Numbers]()
    for word, vector in zip(general.words, general.vectors, strict=True):
        if word.casefold() not in listed:
            others[word] = vector
    if len(others) < _FEWEST:
        raise EmbeddingError(
            f"{general.name} has {len(others)} general words besides the words of the list, but {_FEWEST} are required"
            " to find related words. Use the vectors of all words of a language, with frequent words first, or set"
            " sub_topics='independent'."
        )
    distinct = without_copies(others) if general.has_copies else others
    if len(distinct) < _FEWEST:
        raise EmbeddingError(
            f"{general.name} has only {counted(len(distinct), 'different vector')} of {len(others)} general words."
            " Check the file, or set sub_topics='independent'."
        )
    sha256 = hashlib.sha256(f"{general.sha256} without {sorted(listed)}".encode()).hexdigest()
    return replace(general, sha256=sha256, words=tuple(distinct), vectors=np.stack([*distinct.values()]))


@lru_cache(maxsize=256)
def _random_lists(general: GeneralWords, words: int) -> RandomLists:
    """Return the prominence in random lists of this many words."""
    rng = np.random.default_rng(words)
    lists = np.stack([rng.choice(len(general.words), words, replace=False) for _ in range(_RANDOM_LISTS)])
    vectors = general.vectors[lists]
    profiles = general.profiles(general.centred)[lists]
    cosine_ratios = leading_ratio(eigenvalues(vectors @ vectors.swapaxes(1, 2)))
    profile_ratios = leading_ratio(eigenvalues(profiles @ profiles.swapaxes(1, 2)))
    return RandomLists(float(cosine_ratios.mean()), float(cosine_ratios.std()), float(profile_ratios.mean()))
