"""The content of a report as data, from which pages and tables are rendered."""

import webbrowser
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from bayes_bias.analyses.report.check import Check
from bayes_bias.analyses.report.checks import CHECKERS
from bayes_bias.analyses.report.registration import Registration
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import (
    Column,
    Layout,
    Tabled,
    bounds,
    in_words,
    marked,
    plain,
    plural,
    probability,
    probability_in_words,
)
from bayes_bias.measures.measure_table import MeasureTable
from bayes_bias.measures.quasi_f import QuasiF
from bayes_bias.measures.weat import Weat
from bayes_bias.models.spec import ModelSpec
from bayes_bias.plots.style import shortened
from bayes_bias.posterior.contrast import Contrast
from bayes_bias.posterior.holm import ManyLists, many_lists
from bayes_bias.posterior.pooling import compared_words_of
from bayes_bias.posterior.summary import row_of, with_posterior
from bayes_bias.posterior.verdict import Verdict
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import estimates, interval_names, interval_of
from bayes_bias.table.labels import SIDES
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import ScopeName

if TYPE_CHECKING:
    from bayes_bias.documents.document import Document


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
        """WEAT of the list, or None if it is not defined."""
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
        """Estimates from replicates for ``evidence.csv``, or an empty mapping if there are no replicates."""
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


@dataclass(frozen=True, eq=False, repr=False)
class Report(Tabled):
    """Sections for several lists, with one model and one scope. `bayes_bias.write` creates the pages.

    `registration` is the plan with which the analysis is compared, and `deviations` has a row for each setting that
    deviates from the plan (see `Registration.differences`). Both attributes are None if there is no plan.

    Examples
    --------
    >>> write(report(["weat6", "weat7"]), "report")                               # doctest: +SKIP
    """

    sections: tuple[Section, ...]
    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    rope: float | None = None
    registration: Registration | None = None
    deviations: pd.DataFrame | None = None

    def document(self) -> "Document":
        """Return the page of the report and its files, which `bayes_bias.write` writes into a folder."""
        from bayes_bias.analyses.report.document import report_document

        return report_document(self)

    def open(self) -> Path:
        """Show the page in the browser, using a temporary folder. Use `bayes_bias.write` to save the page."""
        from bayes_bias.documents.writer import write_document

        page = write_document(self.document(), Path(mkdtemp(prefix="bayes_bias-")), overwrite=True, formats=())
        webbrowser.open(page.as_uri())
        return page

    @property
    def text(self) -> str:
        """Describe the verdict on each list."""
        verdicts = "; ".join(f"{section.name}: {section.verdict.label}" for section in self.sections)
        return f"{verdicts} (model '{self.spec.name}', scope '{self.scope}')"

    @property
    def layout(self) -> Layout:
        """Show verdict, bias and WEAT of each list."""
        rows, verdicts = self.table(), [section.verdict for section in self.sections]
        columns = [
            Column("verdict", verdicts, _marked, words=True),
            *estimates(rows, "bias", self.ci_prob, self.metric.decimals),
            Column("probability\nunder no bias", [verdict.chance for verdict in verdicts], probability, spare=True),
        ]
        if len(rows) > 1:
            columns.append(Column("after Holm", self.together.table.chance_holm, probability, spare=True))
        columns.append(Column("WEAT d", rows.weat_d, partial(plain, decimals=2)))
        columns.append(Column("p\none-sided", rows.weat_p_value, probability))
        return Layout(list(map(str, rows.index)), columns, heading="list", caption=f"Bias in {self.metric.unit}")

    @property
    def metric(self) -> Metric:
        """The metric of the numbers in all tables."""
        return self.sections[0].table.metric

    @property
    def replicate_kind(self) -> str:
        """The kind of the replicates: "replicate" if tables have different kinds, and "" if there are no replicates."""
        kinds = {section.replicate_kind for section in self.sections} - {""}
        return "replicate" if len(kinds) > 1 else "".join(kinds)

    @property
    def converged(self) -> bool:
        """Return True if every fit has converged."""
        return all(section.diagnostics.for_bias.converged for section in self.sections)

    @property
    def together(self) -> ManyLists:
        """The verdicts on all lists before and after Holm's adjustment for the number of lists."""
        verdicts, words = {}, {}
        for section in self.sections:
            verdicts[section.name] = section.verdict
            words[section.name] = [compared_words_of(section.fitted, side) for side in SIDES]
        return many_lists(verdicts, words)

    def table(self) -> pd.DataFrame:
        """Return one row for each list: verdict, bias with its interval and probabilities, and WEAT.

        Columns: ``verdict``; ``mean`` and interval of the bias (units of the table); ``prob_direction``;
        ``noise_sd`` (units of the table); ``weat_d`` (standard deviations) and ``weat_p_value``, which are missing if
        WEAT is not defined; and ``prob_negligible``, which is missing if `rope` was not set.
        """
        rows = {}
        for section in self.sections:
            verdict, weat = section.verdict, section.weat
            lower, upper = interval_names(verdict.ci_prob)
            rows[section.name] = {
                "verdict": verdict.short,
                "mean": verdict.mean,
                lower: verdict.lower,
                upper: verdict.upper,
                "prob_direction": verdict.prob_direction,
                "noise_sd": float(row_of(section.summary, "bias").noise_sd),
                "weat_d": float("nan") if weat is None else weat.effect_size,
                "weat_p_value": float("nan") if weat is None else weat.p_value,
                "prob_negligible": float("nan") if verdict.prob_negligible is None else verdict.prob_negligible,
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("list")

    def summary(self) -> pd.DataFrame:
        """Return all numbers in a tidy frame, one row for each list, scope, estimand and label."""
        tables = {}
        for section in self.sections:
            for scope, table in section.summaries.items():
                tables[section.name, scope] = table
        return pd.concat(tables, names=["list", "scope"])

    def measures(self) -> pd.DataFrame:
        """Return every measure of every list, with the posterior in the last rows (see `with_posterior`)."""
        return pd.concat({section.name: section.measures_table for section in self.sections}, names=["list"])

    def evidence(self) -> pd.DataFrame:
        """Return one row for each list with the results of all checks.

        Columns: ``chance``, ``chance_holm``, and ``survives`` (see `ManyLists`); ``nulls``, the number of random lists;
        ``null_share``, the share of random lists in which the model finds a bias under the scope of the report, and the
        exact 95% interval of this share, with corresponding columns for WEAT; ``prior_sensitivity`` (the bias is
        prior-sensitive above .05); ``icc_targets``, the intraclass correlation of target words in the same cluster, and
        ``icc_limit_targets``, the value that this correlation exceeds in one of 20 cases after words are shuffled, with
        corresponding columns for attributes; ``bias_without_word_min`` and ``_max``, the range of the observed bias
        without one word, with corresponding columns for clusters; ``coverage_50`` and ``coverage_89``, the shares of
        raw values inside posterior predictive intervals, with corresponding columns for the published model;
        ``elpd_difference`` to the published model, ``elpd_se``, and ``bad_k`` (PSIS-LOO); ``no_data_fit``,
        ``no_comparison``, and ``no_calibration``, the reasons for missing numbers. If there are replicates, further
        columns contain their number, the standard deviation of the bias between replicates (``replicate_sd``), the
        probability that the bias in a new replicate has the same sign (``same_sign``), and the reliability of one
        replicate (``reliability_one``) and of all replicates together (``reliability_all``).
        """
        columns: list[str] = []
        for checker in CHECKERS:
            columns += checker.columns
        numbers: dict[str, dict[str, Any]] = {}
        replicates = {}
        for section in self.sections:
            numbers[section.name] = {}
            for check in section.checks.values():
                numbers[section.name] |= check.numbers
            replicates[section.name] = section.replicates
        evidence = pd.DataFrame.from_dict(numbers, orient="index").reindex(columns=columns).rename_axis("list")
        return (
            self.together.table.drop(columns="verdict")
            .join(evidence)
            .join(pd.DataFrame.from_dict(replicates, orient="index").rename_axis("list"))
        )


def short_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Return the titles of lists up to a colon, such as "WEAT 6", by their names.

    The name of a list is returned instead if its short title is empty, or if figures would show the same short title
    for another list.
    """
    short = {name: title.partition(":")[0].strip() for name, title in titles.items()}
    times = Counter(map(shortened, short.values()))
    return {name: title if title and times[shortened(title)] == 1 else name for name, title in short.items()}


def _marked(verdict: Verdict) -> str:
    """Return the label with its mark and, on a second line, the short verdict if it differs from the label."""
    return marked(verdict.label) + (f"\n{verdict.short}" if verdict.short != verdict.label else "")


# Sentences on the variation of the bias between templates, seeds, or corpora.


def about_replicates(section: Section) -> str:
    """Describe the variation of the bias between replicates, or return "" if there are no replicates."""
    if not section.replicate_kind:
        return ""
    kind, decimals = section.replicate_kind, section.table.metric.decimals
    sd, same_sign = row_of(section.summary, "replicate_sd"), row_of(section.summary, "same_sign")
    reliability = section.summary.loc["reliability", "mean"]
    count = in_words(section.fitted.data.sizes["replicate"])
    return (
        f"Over all words of these kinds, the standard deviation of the bias between {plural(kind)} is"
        f" {plain(sd['mean'], decimals)} {bounds(*interval_of(sd), decimals, sign='')}. A new {kind} would"
        f" have a bias of the same sign with probability {probability_in_words(same_sign['mean'])}."
        f" Reliability, the share of variance that is due to the choice of words rather than {plural(kind)},"
        f" is {probability_in_words(reliability.iloc[0])} for one {kind} and"
        f" {probability_in_words(reliability.iloc[1])} for the mean of all {count}."
    )
