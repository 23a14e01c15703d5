"""What a check of a report is: one record for each list, the same for all renderers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from matplotlib.axes import Axes

from bayes_bias.associations.table import Associations
from bayes_bias.checks.calibration import Calibration
from bayes_bias.citation import Reference
from bayes_bias.estimands.facets import ScopeName
from bayes_bias.inference.sampling import Sampling
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.spec import ModelSpec
from bayes_bias.progress import Progress


@dataclass(frozen=True, eq=False)
class Study:
    """What a check may look at: one list, its fit, and how the report was asked for.

    Attributes
    ----------
    nulls : callable or None
        Random nulls of the list's design once they are drawn, or why there are none; None for a table without
        embedding.
    null_draws : int
        How many random nulls were asked for.
    against_published : bool
        Whether the published model is to be fitted, too.
    """

    table: Associations
    fitted: Fitted
    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    seed: int
    sampling: Sampling
    nulls: Callable[[], Calibration | str] | None
    null_draws: int
    progress: Progress
    against_published: bool = False


@dataclass(frozen=True, eq=False)
class Check:
    """What one check says of one list.

    Attributes
    ----------
    text : str
        In sentences; where the check was not made, why.
    numbers : mapping of str to number or text
        Its row of ``evidence.csv``; the checker names the columns.
    alarm : bool
        Whether a reader has to know before anything else.
    figures : mapping of str to Axes
        What it has to show, with a name for each file.
    found : object
        The numbers behind it; None where the check was not made.
    """

    text: str
    numbers: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    alarm: bool = False
    figures: Mapping[str, Axes] = field(default_factory=lambda: MappingProxyType({}))
    found: Any = None


@dataclass(frozen=True)
class Cite:
    """Works that a sentence cites: keys of ``references.toml``, or references of their own."""

    works: tuple[str | Reference, ...]


type Sentence = tuple[str | Cite, ...]


@dataclass(frozen=True)
class Checker:
    """A check that every report makes: `Study` to `Check`, list by list.

    Attributes
    ----------
    name, title : str
        By which a section finds it, and its heading on the page.
    columns : tuple of str
        What it adds to ``evidence.csv``.
    run : callable
        Makes the check.
    methods : callable
        What the methods text says of it, from the checks of all lists by name; empty where there is nothing to say.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    run: Callable[[Study], Check]
    methods: Callable[[Mapping[str, Check]], Sentence]


def works_of(sentence: Sentence) -> tuple[str | Reference, ...]:
    """All that a sentence cites."""
    return tuple(work for part in sentence if isinstance(part, Cite) for work in part.works)
