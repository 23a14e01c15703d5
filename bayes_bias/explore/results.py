"""The results that the page shows, with the numbers, sentences, and figure of a report."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.analyses.report import check_prior, check_second_opinion
from bayes_bias.analyses.report.check import Question
from bayes_bias.analyses.report.check_frequency import check_of_table
from bayes_bias.analyses.report.check_nulls import about_own_words
from bayes_bias.checks.calibration import calibrate
from bayes_bias.checks.clusters import leave_out
from bayes_bias.documents.word_tables import coverage_of
from bayes_bias.documents.writer import render_in_background
from bayes_bias.errors import WordListError, for_reader
from bayes_bias.fitting.fit import fit_table
from bayes_bias.formatting import DASH, Column, Layout, as_count, plain, signed
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.plots.posterior import draw_posterior, plot_posterior
from bayes_bias.plots.style import axes_or_new, bias_axis, legend_below, set_title, style
from bayes_bias.posterior.estimate import Estimate
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.quadrature import integrated, integrated_bias
from bayes_bias.posterior.verdict import Verdict, verdict
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.scopes import DEFAULT_SCOPE

_SEED = 1


@dataclass(frozen=True, eq=False)
class Results:
    """The results for one list.

    Attributes
    ----------
    table : AssociationTable
    verdict : Verdict
    estimate : Estimate
        The posterior of the bias.
    left_out : pandas.DataFrame
        The observed bias without each word, and without each cluster. See `bayes_bias.checks.clusters.leave_out`.
    draw : callable
        Draws the posterior and its noise floor, which takes longer than the verdict.
    integrated : bool
        True if the posterior needs no sampler.
    sentences : tuple of str
        Sentences of checks.
    """

    table: AssociationTable
    verdict: Verdict
    estimate: Estimate
    left_out: pd.DataFrame
    draw: Callable[[], Axes]
    integrated: bool
    sentences: tuple[str, ...] = ()

    @cached_property
    def image(self) -> str:
        """The figure as the address of an image."""
        with render_in_background({"bias": self.draw()}, ()) as figures:
            svg = next(iter(figures)).files["svg"]
        return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"

    def words(self, start: int = 0, end: int | None = None) -> Layout:
        """Return the observed bias without each word, beginning with the word that changes the bias most."""
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
        """The notices about the list."""
        return list(map(for_reader, self.table.notices))

    @property
    def categories(self) -> Layout:
        """The words of each group and class: requested, found, effective number, and omitted."""
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
    """Return the verdict on a table and its figure. The posterior is integrated, or sampled if it needs a sampler.

    Raises
    ------
    BayesBiasError
        If the design does not support a verdict.
    """
    spec, left_out = load_spec("crossed"), leave_out(table)
    if known := integrated(table, spec):
        estimate = integrated_bias(*known, DEFAULT_SCOPE)
        return Results(table, verdict(table), estimate, left_out, partial(_plot, table, estimate, left_out), True)
    fitted = fit_table(table, spec, seed=_SEED)
    estimate = bias_estimate(fitted, scope=DEFAULT_SCOPE)
    return Results(table, verdict(fitted), estimate, left_out, partial(plot_posterior, fitted, without=left_out), False)


def _plot(table: AssociationTable, estimate: Estimate, left_out: pd.DataFrame) -> Axes:
    """Draw the figure of `plot_posterior` for a posterior without draws of parameters."""
    with style():
        axes = axes_or_new(None, rows=1, row_height=1.9, extra=1.35)
        unit = bias_axis(table.metric)
        draw_posterior(axes, estimate, "the bias", unit, 0.95, halved=True, without=left_out)
        legend_below(axes)
        set_title(axes, f"{table.name}: the bias and its noise floor")
        return axes


def check(results: Results) -> Results:
    """Add the sentences of the report's checks that need no fit, and the verdict in their light.

    If the posterior needs a sampler, so do random lists and other priors, and only a report has them.
    """
    table, spec = results.table, load_spec("crossed")
    question = Question(table, spec, results.verdict.scope, results.verdict.ci_prob, _SEED)
    frequency = check_of_table(table, lambda: float(results.estimate.draws.std()))
    sentences = [frequency.text]
    caveats = []
    if results.integrated:
        sentences.insert(0, _exchanged(question, spec))
        caveats = [check_second_opinion.caveat_of(question), check_prior.caveat_of(question)]
    judgement = replace(results.verdict, caveats=tuple(filter(None, caveats)))
    if frequency.no_verdict:
        judgement = results.verdict.withheld(frequency.no_verdict)
    return replace(results, verdict=judgement, sentences=tuple(filter(None, sentences)))


def _exchanged(question: Question, spec: ModelSpec) -> str:
    """Return the sentence on lists in which the words of groups were exchanged, or why there are none."""
    try:
        nulls = calibrate(
            question.table, models=[spec], drawn="own words", scopes=question.scope, seed=question.seed, jobs=1
        )
    except WordListError as error:
        return str(error)
    return about_own_words(nulls, question)
