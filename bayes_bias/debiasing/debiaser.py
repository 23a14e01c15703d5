"""The interface of debiasing methods, the registry of methods, and changes of vectors in blocks of words."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from itertools import batched
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from bayes_bias.arguments import import_modules
from bayes_bias.embeddings.in_memory import as_mapping, in_form_of
from bayes_bias.embeddings.word_vectors import lengths, stack
from bayes_bias.errors import MeasureError
from bayes_bias.measures.gonen_goldberg import bias_towards, most_biased
from bayes_bias.words.defining_sets import DebiasSets, GivenSets, read_debias_sets

# 10,000 vectors of 300 dimensions take 24 MB as float64.
BLOCK = 10_000
# If less than this share of the length of a word remains, the remainder is a rounding error without a direction.
_NOTHING = 1e-9

# Products of four values between these are neither zero nor infinite.
_SMALLEST, _LARGEST = 1e-60, 1e60

# Entry-point group under which installed packages name modules with their own methods.
ENTRY_POINTS = "bayes_bias.debiasing"


@dataclass(frozen=True)
class Debiaser[Learned](ABC):
    """A debiasing method. `fit` learns from sets of words, and `transform` removes the bias from vectors.

    Vectors are a mapping from words to arrays, a DataFrame with words in its index, or a pair of an array (words,
    dimensions) and its words. As in scikit-learn, the result of `transform` has the type of its input: a mapping, a
    DataFrame, or an array.

    A method is a frozen dataclass that is registered by `debiaser`. The fields of the dataclass are the settings of the
    method, which you can also set in sweep files and on the command line. `fit` does not change the method and returns
    a copy that contains the learned parameters.

    Examples
    --------
    >>> from bayes_bias.debiasing import HardDebias
    >>> vectors = {"she": np.array([0.6, 0.8]), "he": np.array([-0.6, 0.8]), "nurse": np.array([0.8, 0.6])}
    >>> method = HardDebias(equalize=True)
    >>> method.fit(vectors, "she:he").transform(vectors)["nurse"].round(3).tolist()
    [0.0, 1.0]
    """

    name: ClassVar[str]

    learned: Learned | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __init_subclass__(cls, **options: Any) -> None:
        """Wrap the `fit` and `transform` that a subclass defines, so that both accept every type of input.

        The code of a method then always receives `DebiasSets` and a mapping from words to vectors, although users may
        pass a text, a file, or pairs of words instead of the sets, and a frame or an array instead of a mapping.
        """
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            cls.fit = _with_sets_read(vars(cls)["fit"])  # type: ignore[method-assign]
        if "transform" in vars(cls):
            cls.transform = _with_mapping(vars(cls)["transform"])  # type: ignore[method-assign]

    @abstractmethod
    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        """Return a copy that has learned from the vectors of these sets. See `read_debias_sets` for types of `sets`.

        The code of a method always receives `DebiasSets`, because other forms are read before it is called.

        Raises
        ------
        MeasureError
            If the method is not defined for these vectors or sets.
        """

    @abstractmethod
    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return debiased vectors of the same words, in the same order, without changing `vectors`.

        Raises
        ------
        MeasureError
            If `fit` was not called, or if the method is not defined for these vectors.
        """

    def fit_transform(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> dict[str, np.ndarray]:
        """Return ``fit(vectors, sets).transform(vectors)``."""
        return self.fit(vectors, sets).transform(vectors)

    @property
    def fitted(self) -> Learned:
        """The parameters that `fit` has learned, for use in `transform`."""
        if self.learned is None:
            raise MeasureError(f"{self.name} is not fitted. Call `fit(vectors, sets)` first, and use its result.")
        return self.learned

    @property
    def needs_vocabulary(self) -> bool:
        """True if the method requires all vectors of an embedding, and not only those of the lists and sets."""
        return False

    @property
    def provenance(self) -> dict[str, Any]:
        """The name and settings, as recorded in tables and files."""
        return {"method": self.name} | {name: getattr(self, name) for name in self.settings()}

    @classmethod
    def settings(cls) -> tuple[str, ...]:
        """Return the names of the settings."""
        return tuple(setting.name for setting in fields(cls) if setting.name != "learned")


def _with_sets_read(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the `fit` of a method, so that it receives `DebiasSets` even if the user passes text, a file, or pairs.

    Vectors are passed on as a mapping, after a check that their size allows the computations of the method.
    """

    @wraps(fit)
    def read_first(self: Any, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Any:
        debias_sets = read_debias_sets(sets)
        mapping = as_mapping(vectors, "vectors")
        _check_size(mapping, debias_sets)
        return fit(self, mapping, debias_sets)

    return read_first


def _with_mapping(transform: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the `transform` of a method, so that it receives a mapping even if the user passes a frame or an array.

    Its result, which is a mapping, is returned in the form of the input.
    """

    @wraps(transform)
    def in_its_form(self: Any, vectors: Any) -> Any:
        return in_form_of(vectors, transform(self, as_mapping(vectors, "vectors")))

    return in_its_form


def _check_size(vectors: Mapping[str, np.ndarray], sets: DebiasSets) -> None:
    """Raise an error if vectors are so large or small that products in the method are zero or infinite.

    Only the words of the sets are checked. Vectors with missing or infinite values, and vectors that are zero, are
    reported later, by the method.
    """
    for word in sets.words:
        largest = float(np.abs(vectors[word]).max()) if word in vectors else 1.0
        if np.isfinite(largest) and largest != 0 and not _SMALLEST < largest < _LARGEST:
            raise MeasureError(
                f"Debiasing requires values near 1, but the largest value of '{word}' in `vectors` is {largest:.1g}."
                " Multiply all vectors by the same number, which does not affect cosines."
            )


DEBIASERS: dict[str, type[Debiaser[Any]]] = {}


def debiaser[Method: Debiaser[Any]](name: str) -> Callable[[type[Method]], type[Method]]:
    """Register a debiasing method under a name, for sweeps and the command line.

    Raises
    ------
    MeasureError
        If another class has this name.
    """

    def register(method: type[Method]) -> type[Method]:
        """Give a class the name of the method, and keep it in `DEBIASERS`. The class itself is returned.

        A class that is loaded again, from the same module, replaces itself.
        """
        namesake = DEBIASERS.get(name)
        if namesake is not None and namesake.__module__ != method.__module__:
            raise MeasureError(
                f"The name '{name}' of a debiasing method is already used by {namesake.__module__}. Choose another"
                " name."
            )
        method.name = name
        DEBIASERS[name] = method
        return method

    return register


def debiaser_names() -> list[str]:
    """Return the names of all methods, including methods of installed packages.

    A package adds its own methods through an entry point in the group ``bayes_bias.debiasing``, which names a module
    that uses `debiaser`.
    """
    import_modules("bayes_bias.debiasing", "debias_", ENTRY_POINTS, MeasureError)
    return sorted(DEBIASERS)


def make_debiaser(name: str, settings: Mapping[str, Any], argument: str = "method") -> Debiaser[Any]:
    """Create the method with this name and these settings.

    Raises
    ------
    MeasureError
        If the name or a setting is unknown, or if a value is invalid.
    """
    names = debiaser_names()
    if name not in names:
        raise MeasureError(f"There is no debiasing `{argument}` '{name}'.", name, names)
    method = DEBIASERS[name]
    for setting in settings:
        if setting not in method.settings():
            valid = method.settings() or ("none",)
            raise MeasureError(f"The method '{name}' of `{argument}` has no setting '{setting}'.", setting, valid)
    return method(**settings)


# Changes of vectors in blocks of words, so that a large vocabulary needs little additional memory.


def iterate_blocks(vectors: Mapping[str, np.ndarray], method: str) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yield blocks of at most 10,000 words, each with their vectors (words, dimensions) as float64.

    `method` is the name of the debiasing method, for the message about a word without a usable vector.
    """
    for words in batched(vectors, BLOCK):
        yield list(words), stack(vectors, words, method)


def change_rows(
    vectors: Mapping[str, np.ndarray],
    change: Callable[[np.ndarray], np.ndarray],
    method: str,
    kept: Collection[str] = (),
) -> dict[str, np.ndarray]:
    """Apply `change`, a function of rows (words, dimensions), to the vectors of all words except the `kept` words.

    Changes are computed in blocks of words, in float64, and returned in the precision of the vectors, or in float32 if
    that is higher. A vector is lost if the change leaves less than a rounding error of its length (`_NOTHING`).

    Raises
    ------
    MeasureError
        If a word has no usable vector, or if nothing remains of its vector.
    """
    kept = frozenset(kept)
    vectors_after: dict[str, np.ndarray] = {}
    for words, rows in iterate_blocks(vectors, method):
        is_changed = [word not in kept for word in words]
        if any(is_changed):
            lengths_before = lengths(rows)
            rows[is_changed] = change(rows[is_changed])
            lengths_after = lengths(rows)
            has_unit_length = np.isclose(lengths_after, 1)  # vectors that `change` has scaled to this length
            is_lost = (lengths_after < _NOTHING * lengths_before) & ~has_unit_length
            if is_lost.any():
                raise MeasureError(
                    f"{method}: nothing remains of '{words[int(is_lost.argmax())]}' without these directions. Remove"
                    " fewer directions, or omit the word from the vectors."
                )
        precision = np.result_type(np.float32, *{np.asarray(vectors[word]).dtype for word in words})
        vectors_after.update(zip(words, rows.astype(precision), strict=True))
    return vectors_after


# Words with a known group, for methods that learn from labels.


def labelled_rows(
    vectors: Mapping[str, np.ndarray], sets: DebiasSets, also: int, method: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of the labelled words (words, dimensions), and the index of the group of each word.

    The words are those that the sets label with a group (`DebiasSets.labelled`), such as female and male words. If
    `also` is above 0, they include this number of words of the vocabulary for each group, those that are most biased
    towards the group. Error messages begin with the name of the `method`.

    Raises
    ------
    MeasureError
        If a group has fewer than two words, a word has no usable vector, or too few words are biased towards a group.
    """
    groups = [list(words) for words in sets.labelled]
    if also:
        for group, biased_words in enumerate(leaning_words(vectors, sets, also, method)):
            groups[group] += biased_words
    if (smallest := min(map(len, groups))) < 2:
        raise MeasureError(
            f"{method}: each group must have two or more labelled words, but one has {smallest}. Add defining sets, or"
            " groups."
        )
    rows = np.vstack([stack(vectors, words, method) for words in groups])
    # The words of the first group are first, with index 0, then those of the second group with index 1, and so on.
    return rows, np.repeat(np.arange(len(groups)), list(map(len, groups)))


def leaning_words(vectors: Mapping[str, np.ndarray], sets: DebiasSets, count: int, method: str) -> list[list[str]]:
    """Return the `count` most biased words of the vocabulary for each group, without words of the sets.

    The groups are those in which the sets label words, in the same order. The bias of a word towards a group is
    computed from its similarity with the labelled words of each group.
    """
    classes = {str(group): words for group, words in enumerate(sets.labelled)}
    biases = pd.concat([bias_towards(vectors, words, classes) for words, _ in iterate_blocks(vectors, method)])
    return list(most_biased(biases.drop(index=list(sets.words), errors="ignore"), count).values())
