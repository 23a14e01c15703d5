"""The registry of measures.

Each measure is registered in the module that defines it, and then appears in every table.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayes_bias.arguments import check_kind
from bayes_bias.embeddings.word_vectors import Vectors, defining_subspace
from bayes_bias.errors import MeasureError
from bayes_bias.formatting import as_json
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_names
from bayes_bias.table.labels import words_of
from bayes_bias.words.defining_sets import DebiasSets


@dataclass(frozen=True, eq=False)
class Occasion:
    """The data that a measure can use. A measure raises a `MeasureError` if it is not defined for these data.

    Attributes
    ----------
    table : AssociationTable
        The word list in an embedding. Read its vectors through `vectors`.
    defining_sets : sequence of sequences of str
        Words that differ only in the protected attribute. Read them through `subspace`.
    vocabulary : str or None
        The control class of random words for a negative control.
    seed : int
        Seed of random draws.
    ci_prob : float
        Probability of intervals, for measures with an interval.
    permutations : int or None
        Number of partitions that permutation tests draw, or None for the default of each test.
    """

    table: AssociationTable
    defining_sets: Sequence[Sequence[str]] = ()
    vocabulary: str | None = None
    seed: int = 0
    ci_prob: float = 0.95
    permutations: int | None = None

    @property
    def vectors(self) -> Vectors:
        """The vectors of all words."""
        return _required(self.table.vectors)

    @property
    def original_vectors(self) -> Vectors:
        """The vectors of all words, at their original lengths.

        The table may only have vectors that were scaled to unit length. If a word has such a vector (in
        `self.vectors`), but none at its original length, raise an error.
        """
        vectors = _required(self.table.original_vectors)
        if any(word in self.vectors and word not in vectors for word in self.table_words):
            raise MeasureError(
                "needs the original lengths of vectors, which this table lacks. Make it again with"
                " `bayes_bias.cosines`, or pass the original vectors to `AssociationTable.with_vectors`"
            )
        return vectors

    @property
    def subspace(self) -> np.ndarray:
        """The direction, or the directions, in which the defining sets differ."""
        return defining_subspace(self.vectors, self._covered_sets)

    @property
    def original_subspace(self) -> np.ndarray:
        """The direction, or the directions, from vectors at their original lengths."""
        return defining_subspace(self.original_vectors, self._covered_sets, normalize=False)

    @property
    def _covered_sets(self) -> DebiasSets:
        """The defining sets, such as pairs of gendered words, from which measures derive a subspace.

        Raise an error if there are none, or if a word in these sets has no vector in the table.
        """
        if not self.defining_sets:
            raise MeasureError(
                "This measure needs defining sets. Pass some, such as defining_sets='she:he,woman:man'"
                " (--sets she:he,woman:man)."
            )
        words = dict.fromkeys(chain.from_iterable(self.defining_sets))
        if missing := [word for word in words if word not in self.vectors]:
            remedy = (
                f"Make it with also={(*missing,)} (--sets without these words), or omit words that the embedding lacks"
                if "embedding" in self.table.provenance
                else "Add them to the vectors that you pass to `AssociationTable.with_vectors`"
            )
            raise MeasureError(f"this table has no vector of {', '.join(missing)}. {remedy}")
        return DebiasSets(defining_sets=tuple(map(tuple, self.defining_sets)))

    @property
    def table_words(self) -> list[str]:
        """All targets and attributes of the table, including control classes."""
        return [*words_of(self.table.values, "target"), *words_of(self.table.values, "attribute")]

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """Targets by group."""
        return self._words_by_category("target", "group", self.table.groups)

    @cached_property
    def classes(self) -> dict[str, list[str]]:
        """Attributes by associated class."""
        return self._words_by_category("attribute", "attribute_class", self.table.associated_classes)

    @property
    def words(self) -> list[str]:
        """All targets, sorted by group."""
        return list(chain.from_iterable(self.groups.values()))

    def answered_by(self, function: Callable[..., Any]) -> Any:
        """Call the function of a measure, and return its result.

        Parameters that have the name of an attribute of this class (`_PROVIDED`) are filled in. A function without
        these parameters receives the occasion itself. The default number of permutations is that of the function.
        """
        parameters = inspect.signature(function).parameters
        provided = {}
        for name in parameters:
            if name in _PROVIDED and (name != "permutations" or self.permutations):
                provided[name] = getattr(self, name)
        return function(**provided) if provided else function(self)

    def _words_by_category(self, dim: str, label: str, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the words of each of these groups, or classes."""
        labels = self.table.values[label].to_numpy()
        words = self.table.values[dim].to_numpy()
        return {name: words[labels == name].tolist() for name in names}


def _required(vectors: Vectors | None) -> Vectors:
    """Return vectors, or raise an error if there are none."""
    if vectors is None:
        raise MeasureError("This measure needs vectors, but the table has none. See `AssociationTable.with_vectors`.")
    return vectors


_PROVIDED = {
    *("table", "defining_sets", "vocabulary", "seed", "ci_prob", "permutations"),
    *("vectors", "original_vectors", "subspace", "original_subspace", "groups", "classes", "words"),
}


class Registered(NamedTuple):
    """The position of a measure in tables, and its function."""

    rank: float
    function: Callable[..., Any]


MEASURES: dict[str, Registered] = {}


def measure[F: Callable[..., Any]](name: str, *, rank: float = 1000) -> Callable[[F], F]:
    """Register a function that returns a number, a `Result`, or rows of `Result.to_frame`.

    Parameters of the function with the name of an attribute of `Occasion` are filled in: ``table``, ``vectors``,
    ``words``, ``groups``, ``classes``, ``subspace``, ``seed``, ... A function without any of these parameters receives
    the `Occasion` itself. If the function returns a plain number, the table contains no range and no value that means
    "no bias". A `Result` contains both.

    Parameters
    ----------
    name : str
        Name in tables. Each name can be used only once.
    rank : float
        Position in tables. Measures of this package have 10, 20, .... By default, a new measure comes after them.

    Raises
    ------
    MeasureError
        If the name is not a string or belongs to another function, if the object is not a function, or if it needs an
        argument that cannot be filled in.

    Examples
    --------
    >>> @measure("largest gap")
    ... def _gap(table):
    ...     return table.values.max() - table.values.min()
    >>> MEASURES.pop("largest gap").rank
    1000
    """
    check_kind("measure", name, str, "not a name. Write @measure('my measure').", MeasureError)

    def register(function: F) -> F:
        """Add the function to the measures under the `name` and `rank` of the decorator, and return it unchanged.

        A name that a function of another module has is an error. In the same module, the new function takes the place
        of the earlier one, so that a module can be loaded again.
        """
        if not callable(function):
            raise MeasureError(f"The measure '{name}' is {function!r}. Decorate a function.")
        _check_signature(name, function)
        namesake = MEASURES.get(name)
        if namesake is not None and namesake.function.__module__ != function.__module__:
            raise MeasureError(
                f"The measure name '{name}' is already used by {namesake.function.__module__}. Use another name."
            )
        MEASURES[name] = Registered(rank, function)
        return function

    return register


def _check_signature(name: str, function: Callable[..., Any]) -> None:
    """Raise an error if a function cannot be called, so that its author sees the reason at registration.

    All parameters without a default must be among `_PROVIDED`, or there must be a single one, for the occasion.
    """
    signature = inspect.signature(function)
    provided = dict.fromkeys(parameter for parameter in signature.parameters if parameter in _PROVIDED)
    try:
        signature.bind(**provided) if provided else signature.bind(None)
    except TypeError as error:
        raise MeasureError(
            f"The measure '{name}' cannot be called ({error}). Its parameters are filled in by name, which"
            f" must be among {', '.join(sorted(_PROVIDED))}."
        ) from error


# The result of a measure: a number, the expected number without bias, and the words from which the number was computed.


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """The result of one measure for one set of words.

    Attributes
    ----------
    measure : str
        The name of the measure.
    value : float
        The value, in the units of the paper.
    range : tuple of float
        The smallest and the largest value that the measure can have for this design; infinity where there is no bound.
    b0 : float
        The value that means "no bias", or NaN if there is none.
    p_value : float or None
        The measure's own p-value, if its paper defines one.
    interval : tuple of float or None
        Both bounds of the measure's own interval, if it has one.
    words : pandas.DataFrame or None
        One row for each word, if the measure is defined on single words.
    word_value : str or None
        The column of `words` with the value of the measure for each word.
    """

    value: float
    range: tuple[float, float]
    b0: float = 0.0
    measure: str = "measure"
    p_value: float | None = None
    interval: tuple[float, float] | None = None
    words: pd.DataFrame | None = None
    word_value: str | None = None

    @property
    def word_values(self) -> pd.Series | None:
        """The value of the measure for each word."""
        return None if self.words is None or self.word_value is None else self.words[self.word_value]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as text, numbers, lists, and dicts (see `bayes_bias.formatting.Tabled.to_dict`)."""
        return dict(as_json(self))

    def to_frame(self, ci_prob: float = 0.95) -> pd.DataFrame:
        """Return one numeric row, with the same columns for every measure (see `row_columns`): the value, the value
        that means no bias (`b0`), both bounds of the range, the p-value, and both bounds of the interval.

        A number that the measure does not have is NaN. `ci_prob` is the probability of the interval.
        """
        p_value = float("nan") if self.p_value is None else self.p_value
        interval = self.interval or (float("nan"), float("nan"))
        row = (self.value, self.b0, *self.range, p_value, *interval)
        return pd.DataFrame([row], pd.Index([self.measure], name="measure"), row_columns(ci_prob))


@dataclass(frozen=True, eq=False, kw_only=True)
class WordResult(Result):
    """A `Result` with values of single words, so `words` is never None."""

    words: pd.DataFrame


def row_columns(ci_prob: float) -> list[str]:
    """Return the columns of a table of measures."""
    return ["value", "b0", "low", "high", "p_value", *interval_names(ci_prob, "ci")]
