"""The input and the result of the checks in a report."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.checks.calibration import RandomLists
from bayes_bias.checks.null_jobs import NULL_SAMPLING, posterior_of
from bayes_bias.documents.methods import Sentence
from bayes_bias.errors import BayesBiasError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.models.spec import ModelSpec
from bayes_bias.posterior.quadrature import integrated, integrated_row
from bayes_bias.posterior.summary import row_of_bias
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.scopes import ScopeName


@dataclass(frozen=True, eq=False)
class Question:
    """The input of a check that needs no fit: one list, its model, and the settings of the report."""

    table: AssociationTable
    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    seed: int

    @property
    def row(self) -> "pd.Series[float]":
        """The mean, interval, and probabilities of the bias."""
        return self.row_under(self.table, self.spec)

    def row_under(self, table: AssociationTable, spec: ModelSpec) -> "pd.Series[float]":
        """Return the mean, interval, and probabilities of the bias under another model, or of a changed table.

        The posterior is integrated numerically if possible, and otherwise sampled.
        """
        if spec_and_statistics := integrated(table, spec):
            return integrated_row(*spec_and_statistics, self.scope, self.ci_prob)
        fitted, _ = posterior_of(table, spec, seed=self.seed, sampling=_SAMPLING)
        return row_of_bias(fitted, self.scope, self.ci_prob)


@dataclass(frozen=True, eq=False)
class Study(Question):
    """The input of a check: one list, its fit, and the settings of the report."""

    fitted: Fitted
    sampling: Sampling
    # Function that waits for random lists with this design, and returns the lists or the reason why there are none. It
    # is None if there is no embedding.
    nulls: Callable[[], RandomLists] | None
    null_draws: int | None
    against_published: bool = False
    title: str | None = None  # of the list in figures, such as "WEAT 6"; None for the name of the table

    @property
    def row(self) -> "pd.Series[float]":
        """The mean, interval, and probabilities of the bias in the fit."""
        return row_of_bias(self.fitted, self.scope, self.ci_prob)


_NOTHING: Mapping[str, Any] = MappingProxyType({})
# One chain is enough: the Monte Carlo error of interval limits is about a twentieth of the posterior sd.
_SAMPLING = replace(NULL_SAMPLING, draws=1000, tune=500)


@dataclass(frozen=True, eq=False)
class Check:
    """The result of one check of one list."""

    text: str  # or the reason why the check was not made
    brief: str  # a summary in a few words, for the line with all checks of a list
    numbers: Mapping[str, Any] = _NOTHING  # the row of ``evidence.csv``, by the columns of the checker
    alarm: bool = False  # True if the result is so important that it is shown first
    in_verdict: bool = False  # True if the verdict already includes the result
    no_verdict: str = ""  # the reason why the list cannot have a verdict
    caveat: str = ""  # a sentence that belongs to the verdict
    figures: Mapping[str, Axes] = _NOTHING  # by file name
    figure_options: Mapping[str, Mapping[str, Any]] = _NOTHING  # arguments for other plots of the list, by kind of plot
    tables: Mapping[str, pd.DataFrame] = _NOTHING  # tables by name of the CSV file for all lists
    result: Any = None  # the underlying result; None if the check was not made


@dataclass(frozen=True)
class Checker:
    """A check that is made for every list in a report."""

    name: str
    title: str  # the heading on the page
    columns: tuple[str, ...]  # the columns in ``evidence.csv``
    run: Callable[[Study], Check]
    # Function that returns the sentence for the methods text, given the results for all lists for which the check was
    # made.
    methods: Callable[[Mapping[str, Any]], Sentence] | None = None

    def check(self, study: Study) -> Check:
        """Run the check of one list.

        Raises
        ------
        BayesBiasError
            If the check returns a number that has no column in ``evidence.csv``.
        """
        check = self.run(study)
        if undeclared := sorted(set(check.numbers) - set(self.columns)):
            raise BayesBiasError(
                f"check '{self.name}': its numbers {', '.join(map(repr, undeclared))} are not among its columns,"
                f" {', '.join(map(repr, self.columns)) or 'of which there are none'}. Add them to `columns` of the"
                " Checker, or correct their names."
            )
        return check
