"""What a check of a report looks at, and what it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.checks.calibration import RandomLists
from bayes_bias.documents.methods import Sentence
from bayes_bias.errors import BayesBiasError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.models.spec import ModelSpec
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.scopes import ScopeName


@dataclass(frozen=True, eq=False)
class Study:
    """The input of a check: one list, its fit, and the settings of the report."""

    table: AssociationTable
    fitted: Fitted
    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    seed: int
    sampling: Sampling
    # Waits for random lists of the list's design, or for why there are none; None for a table without an embedding.
    nulls: Callable[[], RandomLists] | None
    null_draws: int | None
    against_published: bool = False
    title: str | None = None  # of the list in figures, such as "WEAT 6"; None for the name of the table


_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Check:
    """The result of one check of one list."""

    text: str  # or why the check was not made
    brief: str  # the same in a few words, for the line that has all checks of a list
    numbers: Mapping[str, Any] = _NOTHING  # its row of ``evidence.csv``, by the checker's columns
    alarm: bool = False  # whether a reader must know before anything else
    in_verdict: bool = False  # whether the verdict says so already
    no_verdict: str = ""  # why the list can have no verdict
    figures: Mapping[str, Axes] = _NOTHING  # by the names of their files
    figure_options: Mapping[str, Mapping[str, Any]] = _NOTHING  # arguments for the list's other plots, by their kind
    tables: Mapping[str, pd.DataFrame] = _NOTHING  # CSV files by name, which hold the rows of all lists
    result: Any = None  # the numbers behind it; None if the check was not made


@dataclass(frozen=True)
class Checker:
    """A check that every report makes, list by list."""

    name: str
    title: str  # its heading on the page
    columns: tuple[str, ...]  # its columns of ``evidence.csv``
    run: Callable[[Study], Check]
    # Its sentence in the methods text, from the results of the lists whose check was made.
    methods: Callable[[Mapping[str, Any]], Sentence] | None = None

    def check(self, study: Study) -> Check:
        """Run the check of one list.

        Raises
        ------
        BayesBiasError
            If the check returns a number that the checker has no column for: ``evidence.csv`` would lose it.
        """
        check = self.run(study)
        if undeclared := sorted(set(check.numbers) - set(self.columns)):
            raise BayesBiasError(
                f"check '{self.name}': its numbers {', '.join(map(repr, undeclared))} are not among its columns,"
                f" {', '.join(map(repr, self.columns)) or 'of which there are none'}. Add them to `columns` of the"
                " Checker, or correct their names."
            )
        return check
