"""The registry of measures: a measure is registered where it is defined, and so joins every table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from bayes_bias.arguments import check_kind
from bayes_bias.embeddings.subspace import defining_subspace
from bayes_bias.embeddings.word_vectors import Vectors
from bayes_bias.errors import MeasureError
from bayes_bias.measures.measure_result import Result
from bayes_bias.table.association_table import AssociationTable


@dataclass(frozen=True, eq=False)
class Occasion:
    """What a measure can work with. A measure that is not defined on it raises a `MeasureError`.

    Attributes
    ----------
    table : AssociationTable
        The word list in an embedding; read its vectors through `vectors`.
    defining_sets : sequence of sequences of str
        Words that differ in the protected attribute alone; read them through `subspace`.
    vocabulary : str or None
        The control class of random words for a negative control.
    seed : int
        Seed of random draws.
    ci_prob : float
        Probability of the intervals of measures that have one.
    """

    table: AssociationTable
    defining_sets: Sequence[Sequence[str]] = ()
    vocabulary: str | None = None
    seed: int = 0
    ci_prob: float = 0.95

    @property
    def vectors(self) -> Vectors:
        """The vectors of all words."""
        if self.table.vectors is None:
            raise MeasureError("needs vectors, and this table has none; see `AssociationTable.with_vectors`")
        return self.table.vectors

    @property
    def subspace(self) -> np.ndarray:
        """The direction, or the directions, in which the defining sets differ."""
        if not self.defining_sets:
            raise MeasureError("needs defining sets, such as pairs ('she', 'he'); none given")
        return defining_subspace(self.vectors, self.defining_sets)

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """Targets by group."""
        return self._words("target", "group", self.table.groups)

    @cached_property
    def classes(self) -> dict[str, list[str]]:
        """Attributes by associated class."""
        return self._words("attribute", "attribute_class", self.table.associated_classes)

    @property
    def targets(self) -> list[str]:
        """All targets, group after group."""
        return [word for words in self.groups.values() for word in words]

    def _words(self, dim: str, label: str, names: Sequence[str]) -> dict[str, list[str]]:
        labels, words = (self.table.values[coordinate].to_numpy() for coordinate in (label, dim))
        return {name: words[labels == name].tolist() for name in names}


type Run = Callable[[Occasion], Result | float | pd.DataFrame]


class Registered(NamedTuple):
    """A measure's place in tables, and how it is run."""

    rank: float
    run: Run


MEASURES: dict[str, Registered] = {}


def measure(name: str, *, rank: float = 1000) -> Callable[[Run], Run]:
    """Register a measure: a function from an `Occasion` to a number, a `Result`, or rows of `Result.to_frame`.

    A number alone has neither a range nor a value that means "no bias"; a `Result` states both.

    Parameters
    ----------
    name : str
        What tables call it; each name is taken once.
    rank : float
        Where it stands in tables. Those of this package have 10, 20, ...; by default a new one comes after them.

    Raises
    ------
    MeasureError
        The name is not a string or is taken by another function, or what is registered is not a function.

    Examples
    --------
    >>> @measure("largest gap")
    ... def _gap(occasion):
    ...     return occasion.table.values.max() - occasion.table.values.min()
    >>> MEASURES.pop("largest gap").rank
    1000
    """
    check_kind("measure", name, str, "not a name; write @measure('my measure')", MeasureError)

    def register(run: Run) -> Run:
        if not callable(run):
            raise MeasureError(f"measure: '{name}' is {run!r}; decorate a function of an occasion")
        known = MEASURES.get(name)
        if known is not None and known.run.__module__ != run.__module__:
            raise MeasureError(f"measure: '{name}' is taken by {known.run.__module__}; give it another name")
        MEASURES[name] = Registered(rank, run)
        return run

    return register
