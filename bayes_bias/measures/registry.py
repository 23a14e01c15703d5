"""Which measures there are: each is registered where it is defined, and joins every table by that alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from bayes_bias.associations.table import Associations
from bayes_bias.embeddings.subspace import defining_subspace
from bayes_bias.embeddings.vectors import Vectors
from bayes_bias.errors import MeasureError
from bayes_bias.measures.result import Result


@dataclass(frozen=True, eq=False)
class Occasion:
    """What a measure may ask for; it refuses with a `MeasureError` what it is not defined on.

    Attributes
    ----------
    table : Associations
        The word list in an embedding.
    given : mapping of str to array, or None
        Vectors of all its words; read them through `vectors`.
    defining_sets : sequence of sequences of str
        Words that differ in the protected attribute alone; read them through `subspace`.
    vocabulary : str or None
        The control class of random words for a negative control.
    seed : int
        Seed of whatever draws.
    ci_prob : float
        Probability of the intervals of measures that have one.
    """

    table: Associations
    given: Vectors | None = None
    defining_sets: Sequence[Sequence[str]] = ()
    vocabulary: str | None = None
    seed: int = 0
    ci_prob: float = 0.95

    @property
    def vectors(self) -> Vectors:
        """The vectors of all words."""
        if self.given is None:
            raise MeasureError("vectors: none given, and a table does not suffice")
        return self.given

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
        labels, words = (self.table.values[each].to_numpy() for each in (label, dim))
        return {name: words[labels == name].tolist() for name in names}


type Run = Callable[[Occasion], Result | pd.DataFrame]


class Registered(NamedTuple):
    """A measure's place in tables, and how it is run."""

    rank: float
    run: Run


MEASURES: dict[str, Registered] = {}


def measure(name: str, *, rank: float = 1000) -> Callable[[Run], Run]:
    """Register a measure: a function from an `Occasion` to a `Result`, or to rows of one.

    Parameters
    ----------
    name : str
        What tables call it; each name is taken once.
    rank : float
        Where it stands in tables. Those of this package have 10, 20, ...; by default a new one comes after them.

    Raises
    ------
    MeasureError
        The name is taken by another function.

    Examples
    --------
    >>> from bayes_bias.measures import Result
    >>> class Gap(Result):
    ...     measure = "largest gap"
    >>> @measure("largest gap")
    ... def _gap(occasion):
    ...     values = occasion.table.values
    ...     return Gap(value=float(values.max() - values.min()), range=(0.0, 2.0))
    >>> MEASURES.pop("largest gap").rank
    1000
    """

    def register(run: Run) -> Run:
        known = MEASURES.get(name)
        if known is not None and known.run.__module__ != run.__module__:
            raise MeasureError(f"measure: '{name}' is taken by {known.run.__module__}; give it another name")
        MEASURES[name] = Registered(rank, run)
        return run

    return register
