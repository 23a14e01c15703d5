"""The section of a report about one list: its data, and its table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import xarray as xr

from bayes_bias.analyses.report.check import Check
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import (
    DASH,
    Column,
    Layout,
    bounds,
    in_words,
    mean_of_interval,
    plain,
    plural,
    probability,
    probability_in_words,
    signed,
    value_and_interval,
)
from bayes_bias.measures.crossed_tests import QuasiF
from bayes_bias.measures.measure_table import MeasureTable
from bayes_bias.measures.weat import Weat
from bayes_bias.plots.style import shortened
from bayes_bias.posterior.contrast import Contrast
from bayes_bias.posterior.summary import CHANCE, chance, row_of, with_posterior
from bayes_bias.posterior.verdict import Verdict
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_of
from bayes_bias.table.scopes import SCOPES, WEAT_SCOPE, ScopeName


@dataclass(frozen=True, eq=False)
class Section:
    """The content of a report about one list.

    Attributes
    ----------
    title, description : str
        Title and description of the word list. For a table, these are its name and "".
    table : AssociationTable
    fitted : Fitted
        The fit. ``fitted.tree`` is the result of `bayes_bias.fit`.
    summaries : mapping of scope to pandas.DataFrame
        Results of `summarize` under the scope of the report (first), "all", "both" and "targets", if the design
        supports these scopes.
    verdict : Verdict
    contrasts : tuple of Contrast
        Those contrasts of the report whose groups and classes the list contains.
    measures : MeasureTable
        Every published measure that applies to the list, and the reasons why other measures do not.
    coverage : pandas.DataFrame
        A row for each group and class. Columns: ``role``; ``name``; ``asked``, the number of words in the list (missing
        if unknown); ``found``; and ``lost``, the words that have no usable vector, or have the vector of another word.
    variance_shares : pandas.DataFrame
    checks : mapping of str to Check
        Results of the checks, by name.
    errata : tuple of str
        Known errors in published copies of the list and its control classes.
    """

    title: str
    description: str
    table: AssociationTable
    fitted: Fitted
    summaries: Mapping[ScopeName, pd.DataFrame]
    verdict: Verdict
    contrasts: tuple[Contrast, ...]
    measures: MeasureTable
    coverage: pd.DataFrame
    variance_shares: pd.DataFrame
    checks: Mapping[str, Check]
    errata: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the list in tables and files."""
        return self.table.name

    @property
    def fit(self) -> xr.DataTree:
        """The fit, as returned by `bayes_bias.fit`."""
        return self.fitted.tree

    @property
    def summary(self) -> pd.DataFrame:
        """The summary of all estimands under the scope of the report."""
        return next(iter(self.summaries.values()))

    @property
    def diagnostics(self) -> Diagnostics:
        """Return the diagnostics of the fit."""
        return Diagnostics.of(self.fitted)

    @property
    def weat(self) -> Weat | None:
        """WEAT of the list, or None if it is not defined, which is the case without two groups and two classes."""
        result = self.measures.results.get("WEAT")
        return result if isinstance(result, Weat) else None

    @property
    def no_weat(self) -> str:
        """A sentence with the reason why WEAT is not defined for this list, or "" if it is defined."""
        reason = self.measures.left_out.get("WEAT", "")
        return f"{reason.removesuffix('.')}." if reason else ""

    @property
    def quasi_f(self) -> QuasiF | None:
        """The quasi-F of the list, or None if it is not defined."""
        result = self.measures.results.get("quasi-F")
        return result if isinstance(result, QuasiF) else None

    @property
    def replicate_kind(self) -> str:
        """Kind of the replicates, such as "template", or "" if there are none."""
        return self.fitted.replicate_kind

    @property
    def replicates(self) -> Mapping[str, float]:
        """Estimates from replicates for ``evidence.csv``, or an empty mapping if there are no replicates.

        These are the number of replicates, the standard deviation of the bias between them, the probability that a new
        replicate has a bias with the sign of the raw bias, and the reliability of one replicate and of all of them.
        """
        if not self.replicate_kind:
            return {}
        reliability = self.summary.loc["reliability", "mean"]
        return {
            "replicates": self.fitted.data.sizes["replicate"],
            "replicate_sd": row_of(self.summary, "replicate_sd")["mean"],
            "same_sign": row_of(self.summary, "same_sign")["mean"],
            "reliability_one": reliability.iloc[0],
            "reliability_all": reliability.iloc[-1],
        }

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices about the table, such as omitted words and classes."""
        return self.table.notices

    @property
    def provenance(self) -> dict[str, str]:
        """Hashes, names and settings that are stored in the fit."""
        return self.fitted.provenance

    @property
    def measures_table(self) -> pd.DataFrame:
        """Return every measure, with the posterior in the last rows (see `with_posterior`)."""
        return with_posterior(self.measures.table, self.summaries, self.table.metric)


def short_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Return the titles of lists up to a colon, such as "WEAT 6", by their names.

    The name of a list is returned instead if its short title is empty, or if figures would show the same short title
    for another list.
    """
    short = {name: title.partition(":")[0].strip() for name, title in titles.items()}
    n_lists = Counter(map(shortened, short.values()))  # the number of lists with each title in figures
    return {name: title if title and n_lists[shortened(title)] == 1 else name for name, title in short.items()}


# Sentences on the variation of the bias between templates, seeds, or corpora.


def about_replicates(section: Section) -> str:
    """Describe the variation of the bias between replicates, or return "" if there are no replicates.

    Replicates are of a kind, such as seeds or templates. The summary has the standard deviation of the bias between
    them, the probability of the raw bias's sign in a new one, and the reliability of one replicate and of all.
    """
    if not section.replicate_kind:
        return ""

    def text(row: "pd.Series[float]", decimals: int) -> str:
        return value_and_interval(row["mean"], *interval_of(row), decimals, sign="")

    kind = section.replicate_kind
    sd = text(row_of(section.summary, "replicate_sd"), section.table.metric.decimals)
    same_sign = row_of(section.summary, "same_sign")["mean"]
    one, mean_of_all = (text(row, 2) for _, row in section.summary.loc["reliability"].iterrows())
    return (
        f"Over all words of these kinds, the standard deviation of the bias between {plural(kind)} is {sd}. The bias"
        f" in a new {kind} has the sign of the raw bias with probability {probability_in_words(same_sign)}."
        f" Reliability, the share of variance that is due to the choice of words rather than {plural(kind)},"
        f" is {one} for one {kind} and {mean_of_all} for the mean of all"
        f" {in_words(section.fitted.data.sizes['replicate'])}."
    )


class _Row(NamedTuple):
    """A quantity with its unit, its value in WEAT, and its posterior under each scope."""

    label: str
    weat: str
    posterior: Sequence[str]


def quantities_layout(section: Section, reaches: Sequence[str]) -> Layout:
    """Lay out bias, effect size, and evidence against chance, from WEAT and from the posterior under each scope.

    Each row is a quantity with its unit, its value in WEAT, and its posterior under each scope. A dash means that it is
    not defined. `reaches` describes the scopes in words, for the headings of columns.
    """
    weat = section.weat
    verdict = section.verdict
    tables = list(section.summaries.values())
    biases = [row_of(table, "bias") for table in tables]
    unit, decimals = section.table.metric.unit, section.table.metric.decimals
    difference = signed(weat.difference / 2, decimals) if weat else DASH
    rows = [_Row(f"bias\n{unit}", difference, _estimates(tables, "bias", decimals))]
    if verdict.covariates:
        label = f"the same without adjustment\nthe first row is at equal {verdict.covariates}"
        rows.append(_Row(label, DASH, _estimates(tables, "unadjusted_bias", decimals)))
        label = f"difference between the two\nexplained by {verdict.covariates}"
        rows.append(_Row(label, DASH, _estimates(tables, "explained_bias", decimals)))
    effect_size, p_value, partitions = DASH, DASH, "partitions of targets"
    if weat is not None:
        effect_size = plain(weat.effect_size, 2)
        p_value = probability(weat.p_value)
        partitions = f"{'all' if weat.exact else 'random'} {weat.partitions:,} partitions"
    label = "effect size d\nin sd of association scores"
    rows.append(_Row(label, effect_size, list(map(_effect_size, tables))))
    rows.append(_Row(f"p\none-sided; {partitions}", p_value, [DASH] * len(tables)))
    chances = [probability(chance(row.prob_direction)) for row in biases]
    rows.append(_Row(f"probability\n{CHANCE.removeprefix('probability ')}", DASH, chances))
    rows.append(_Row(f"noise floor\nsd, {unit}", DASH, [plain(row.noise_sd, decimals) for row in biases]))
    if verdict.rope is not None:
        label = f"probability that it is negligible\nthat the bias is smaller than {verdict.rope:g}"
        rows.append(_Row(label, DASH, [probability(row.prob_negligible) for row in biases]))
    columns = [Column(f"WEAT\n{SCOPES[WEAT_SCOPE].reach}", [row.weat for row in rows])]
    for place, reach in enumerate(reaches):
        columns.append(Column(f"Posterior\n{reach}", [row.posterior[place] for row in rows]))
    return Layout([row.label for row in rows], columns)


def _estimates(tables: Sequence[pd.DataFrame], name: str, decimals: int) -> list[str]:
    """Return the mean and interval of an estimand as text, under each scope, from the summaries under these scopes."""
    texts = []
    for table in tables:
        row = row_of(table, name)
        texts.append(value_and_interval(row["mean"], *interval_of(row), decimals))
    return texts


def _effect_size(table: pd.DataFrame) -> str:
    """Return the effect size with its interval as text, from a summary under one scope.

    It is a dash if the effect size is not defined: for more than two groups, for groups of the same class, or for new
    attributes.
    """
    if "effect_size" not in table.index.get_level_values("estimand"):
        return DASH
    row = row_of(table, "effect_size")
    lower, upper = interval_of(row)
    return f"{mean_of_interval(row['mean'], lower, upper, 2, sign='')} {bounds(lower, upper, decimals=2)}"
