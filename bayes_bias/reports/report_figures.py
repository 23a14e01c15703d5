"""The figures of a report of lists: an overview, and each list's figures."""

from collections.abc import Callable
from functools import partial
from typing import Any

from matplotlib.axes import Axes

from bayes_bias.files import file_names
from bayes_bias.plots import (
    plot_forest,
    plot_overview,
    plot_posterior,
    plot_replicates,
    plot_variance_shares,
    plot_word_bias,
)
from bayes_bias.reports.report_record import Report, Section

type Drawing = Callable[[], Axes]


def figures_of(report: Report) -> dict[str, Drawing]:
    """How every figure is drawn, by its file name."""
    names = file_names([section.name for section in report.sections])
    fits = [section.fitted for section in report.sections]
    summaries = {section.name: section.summary for section in report.sections}
    figures: dict[str, Drawing] = {
        "overview": partial(plot_overview, fits, report.scope, ci_prob=report.ci_prob, summaries=summaries)
    }
    for section in report.sections:
        drawings = _of_list(section, report) | _of_checks(section)
        figures |= {f"{names[section.name]}-{kind}": drawing for kind, drawing in drawings.items()}
    return figures


def _of_list(section: Section, report: Report) -> dict[str, Drawing]:
    fit = section.fitted
    read = {"scope": report.scope, "ci_prob": report.ci_prob}
    summarised = {**read, "summary": section.summary}
    drawn: dict[str, tuple[Callable[..., Axes], dict[str, Any]]] = {
        "forest": (plot_forest, summarised),
        "posterior": (plot_posterior, read),
        "targets": (plot_word_bias, {"side": "target", **summarised}),
        "variance-shares": (plot_variance_shares, {"shares": section.variance_shares}),
    }
    if len(section.table.groups) > 1:
        drawn["attributes"] = (plot_word_bias, {"side": "attribute", **summarised})
    if section.replicate_kind:
        drawn["replicates"] = (plot_replicates, summarised)
    return {kind: partial(plot, fit, **options, **_added(section, kind)) for kind, (plot, options) in drawn.items()}


def _added(section: Section, kind: str) -> dict[str, Any]:
    added: dict[str, Any] = {}
    for check in section.checks.values():
        added |= check.figure_options.get(kind, {})
    return added


def _of_checks(section: Section) -> dict[str, Drawing]:
    return {
        f"{name}-{kind}": partial(_as_drawn, ax)
        for name, check in section.checks.items()
        for kind, ax in check.figures.items()
    }


def _as_drawn(ax: Axes) -> Axes:
    return ax
