"""The results that the page shows, and the files that it saves."""

import base64
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from shutil import make_archive
from tempfile import TemporaryDirectory

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.analyses.report import check_prior, check_second_opinion
from bayes_bias.analyses.report.check import Question
from bayes_bias.analyses.report.check_frequency import check_of_table
from bayes_bias.analyses.report.check_nulls import about_own_words
from bayes_bias.analyses.report.report import register, report
from bayes_bias.checks.calibration import calibrate
from bayes_bias.checks.clusters import leave_out
from bayes_bias.documents.word_tables import coverage_of
from bayes_bias.documents.writer import render_in_background, write
from bayes_bias.errors import WordListError, for_reader
from bayes_bias.explore.fields import Fields
from bayes_bias.files import csv_text
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import DASH, Column, Layout, as_count, plain, signed
from bayes_bias.models.spec import load_spec
from bayes_bias.plots.posterior import draw_posterior, plot_posterior
from bayes_bias.plots.style import axes_or_new, bias_axis, legend_below, set_title, style
from bayes_bias.posterior.estimate import Estimate
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.quadrature import integral_of, integrated_bias
from bayes_bias.posterior.verdict import Verdict, integrated_verdict, verdict
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.scopes import DEFAULT_SCOPE, check_design
from bayes_bias.table.statistics import table_means

_SEED = 1


@dataclass(frozen=True, eq=False)
class Results:
    """The results for one list. All but the verdict are computed when the page needs them.

    Attributes
    ----------
    table : AssociationTable
    verdict : Verdict
    fitted : Fitted or None
        The fit, if the posterior needs a sampler.
    sentences : tuple of str
        Sentences of checks.
    """

    table: AssociationTable
    verdict: Verdict
    fitted: Fitted | None = None
    sentences: tuple[str, ...] = ()

    @cached_property
    def estimate(self) -> Estimate:
        """The posterior of the bias."""
        if self.fitted is not None:
            return bias_estimate(self.fitted, scope=DEFAULT_SCOPE)
        return integrated_bias(*integral_of(self.table, load_spec("crossed")), DEFAULT_SCOPE)

    @cached_property
    def left_out(self) -> pd.DataFrame:
        """The observed bias without each word, and without each cluster. See `bayes_bias.checks.clusters.leave_out`."""
        return leave_out(self.table)

    @cached_property
    def image(self) -> str:
        """The posterior and its noise floor as an SVG image, in the form of a data address that a page can show."""
        with render_in_background({"bias": self._draw()}, ()) as figures:
            svg = next(iter(figures)).files["svg"]
        return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"

    def _draw(self) -> Axes:
        """Draw the figure of `plot_posterior`.

        That function needs a fit. An integrated posterior, which was computed without sampling, has no draws of
        parameters, so its figure is composed here from the same parts: the density of the bias with its 95% interval,
        its noise floor, and the bias without each word.
        """
        if self.fitted is not None:
            return plot_posterior(self.fitted, without=self.left_out)
        with style():
            ax = axes_or_new(None, rows=1, row_height=1.9, extra=1.35)
            unit = bias_axis(self.table.metric)
            draw_posterior(ax, self.estimate, "the bias", unit, 0.95, halved=True, without=self.left_out)
            legend_below(ax)
            set_title(ax, f"{self.table.name}: the bias and its noise floor")
            return ax

    def words(self, start: int = 0, end: int | None = None) -> Layout:
        """Return the observed bias without each word, beginning with the word that changes the bias most.

        `left_out` has a row for each word and for each cluster of related words, which are omitted here. Only the rows
        from `start` to `end` are returned, because the page first shows only some of them.
        """
        rows = self.left_out[self.left_out.what == "word"]
        rows = rows.sort_values("change", key=abs, ascending=False, kind="stable").iloc[start:end]
        decimals = self.table.metric.decimals
        columns = [
            Column("group or class", rows.category, words=True),
            Column("bias without it", rows.bias, lambda bias: signed(bias, decimals)),
            Column("change", rows.change, lambda change: signed(change, decimals)),
        ]
        return Layout(rows.left_out.tolist(), columns, heading="word")

    @property
    def notices(self) -> list[str]:
        """The notices about the list. A language is stated for a report, because the page has no option for it."""
        in_report = "or make a report of the saved list with --language"
        return [for_reader(notice).replace("or with --language", in_report) for notice in self.table.notices]

    @property
    def categories(self) -> Layout:
        """The words of each group and class, as a table: requested, found, effective number, and omitted.

        The effective number of words is smaller than the number of words if some are related. It is missing for groups
        and classes in which related words were not searched for.
        """
        rows = coverage_of(self.table).query("role != 'control'")
        related = self.table.related_words.categories
        effective = [related[name].effective if name in related else float("nan") for name in rows.name]
        columns = [
            Column("requested", rows.asked, as_count),
            Column("found", rows.found, as_count),
            Column("effective number", effective, lambda number: plain(number, 0)),
            Column("omitted", rows.lost, lambda words: words or DASH, words=True),
        ]
        return Layout(rows.name.tolist(), columns, heading="words of")


def analyse(table: AssociationTable) -> Results:
    """Return the verdict on a table, from the default ("crossed") model.

    If possible, the posterior is integrated numerically, which is fast. Otherwise, `integrated_verdict` returns None,
    and the model is fitted by a sampler, which takes longer.

    Raises
    ------
    BayesBiasError
        If the design does not support a verdict.
    """
    if judgement := integrated_verdict(table):
        return Results(table, judgement)
    check_design(table_means(table), DEFAULT_SCOPE)  # before sampling
    fitted = fit_table(table, load_spec("crossed"), seed=_SEED)
    return Results(table, verdict(fitted), fitted)


def check(results: Results) -> Results:
    """Return the results with the sentences of those checks of a report that need no fit.

    Lists in which the words of this list are exchanged at random (`nulls`) show how often there is such a bias by
    chance. A second opinion by another method, and other priors, may disagree with the verdict, which then gets a
    caveat. If the frequency of words does not allow a verdict, it is withheld.

    If the posterior needs a sampler (`results.fitted` is not None), other lists and other priors need it as well and
    take too long for the page, so that only a report has them.
    """
    table, spec = results.table, load_spec("crossed")
    question = Question(table, spec, results.verdict.scope, results.verdict.ci_prob, _SEED)
    frequency = check_of_table(table, lambda: float(results.estimate.draws.std()))
    sentences: list[str] = []
    caveats: list[str] = []
    if results.fitted is None:
        with suppress(WordListError):  # groups of one word each, for example, cannot be exchanged
            nulls = calibrate(table, models=[spec], drawn="own words", scopes=question.scope, seed=_SEED, jobs=1)
            sentences.append(about_own_words(nulls, question))
        caveats += filter(None, (check_second_opinion.caveat_of(question), check_prior.caveat_of(question)))
    judgement = replace(results.verdict, caveats=tuple(caveats))
    if frequency.no_verdict:
        judgement = results.verdict.withheld(frequency.no_verdict)
    return replace(results, verdict=judgement, sentences=(*sentences, frequency.text))


type Analyse = Callable[[Fields], Results]


def _list(fields: Fields, results: Analyse) -> bytes:
    """Return the word list as a spreadsheet. No results are needed, so words need not be in an embedding.

    All functions in `FILES` receive the fields and a function that returns their results.
    """
    return fields.csv().encode()


def _numbers(fields: Fields, results: Analyse) -> bytes:
    """Return the observed bias without each word and each cluster of words, as CSV."""
    return csv_text(results(fields).left_out, index=False).encode()


def _plan(fields: Fields, results: Analyse) -> bytes:
    """Return the file that `bayes-bias register` writes, whose content is only available after saving it."""
    with TemporaryDirectory(prefix="bayes_bias-") as folder:
        path = Path(folder, "plan.json")
        register(results(fields).table).save(path)
        return path.read_bytes()


def _report(fields: Fields, results: Analyse) -> bytes:
    """Return the folder that `bayes-bias report` writes, as an archive."""
    with TemporaryDirectory(prefix="bayes_bias-") as folder:
        write(report(results(fields).table), Path(folder, "report"), figures=())
        return Path(make_archive(str(Path(folder, "archive")), "zip", folder, "report")).read_bytes()


# For each kind of file, the label of its button, the end of its name, and a function that returns its content.
FILES: Mapping[str, tuple[str, str, Callable[[Fields, Analyse], bytes]]] = {
    "list": ("Word list (CSV)", ".csv", _list),
    "numbers": ("Numbers (CSV)", "-numbers.csv", _numbers),
    "plan": ("Registration (JSON)", "-plan.json", _plan),
    "report": ("Report (ZIP)", "-report.zip", _report),
}
