"""What a check of a report looks at, and what it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.checks.calibration import Calibration
from bayes_bias.citation import Reference
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.sampling import Sampling
from bayes_bias.progress import Progress
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.scopes import ScopeName


@dataclass(frozen=True, eq=False)
class Study:
    """What a check may look at: one list, its fit, and the settings of the report.

    Attributes
    ----------
    nulls : callable or None
        Waits for the random nulls of the list's design; returns them, or why there are none. None for a table without
        an embedding.
    null_draws : int
        The number of random nulls.
    against_published : bool
        Whether to fit the published model, too.
    """

    table: AssociationTable
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


_NOTHING: Mapping[str, Any] = MappingProxyType({})


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
    in_verdict : bool
        Whether the verdict says so already, and the page need not say it beside it.
    figures : mapping of str to Axes
        What it has to show, with a name for each file.
    figure_options : mapping of str to mapping
        What it adds to the list's other figures: arguments of their plots, by the kind of figure.
    tables : mapping of str to pandas.DataFrame
        Its CSV files by name. Each holds the rows of all lists.
    result : object
        The numbers behind it; None where the check was not made.
    """

    text: str
    numbers: Mapping[str, Any] = _NOTHING
    alarm: bool = False
    in_verdict: bool = False
    figures: Mapping[str, Axes] = _NOTHING
    figure_options: Mapping[str, Mapping[str, Any]] = _NOTHING
    tables: Mapping[str, pd.DataFrame] = _NOTHING
    result: Any = None


@dataclass(frozen=True)
class Cite:
    """Works that a sentence cites: keys of ``references.toml``, or references."""

    works: tuple[str | Reference, ...]


type Sentence = tuple[str | Cite, ...]


@dataclass(frozen=True)
class Checker:
    """A check that every report makes: `Study` to `Check`, list by list.

    Attributes
    ----------
    name, title : str
        Its key in a section, and its heading on the page.
    columns : tuple of str
        Its columns of ``evidence.csv``.
    run : callable
        Makes the check.
    methods : callable
        Its sentence in the methods text, from the checks of all lists by name; empty where it has none.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    run: Callable[[Study], Check]
    methods: Callable[[Mapping[str, Check]], Sentence]


def works_of(sentence: Sentence) -> tuple[str | Reference, ...]:
    """All works that a sentence cites."""
    return tuple(work for part in sentence if isinstance(part, Cite) for work in part.works)
