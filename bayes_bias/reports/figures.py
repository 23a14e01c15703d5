"""The figures of a report, drawn once and saved in the formats that are asked for."""

import io
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import joblib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayes_bias.estimands.facets import ScopeName
from bayes_bias.files import file_names
from bayes_bias.plots import (
    plot_forest,
    plot_overview,
    plot_posterior,
    plot_replicates,
    plot_variance_shares,
    plot_word_bias,
)
from bayes_bias.plots.style import style
from bayes_bias.reports.record import Report, Section

logger = logging.getLogger("bayes_bias")

DPI = 220
OVERVIEW = "overview"
ATTRIBUTES = "attributes"
# What every list has (but for the attributes, where it has one group), and one with replicates.
KINDS = ("forest", "posterior", "targets", ATTRIBUTES, "variance-shares")
REPLICATES = "replicates"

# Files of one figure take half a second, a process that renders them some seconds to start.
_WORTH_PROCESSES = 16

_NO_DATES = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
    "svg": {"Date": None, "Creator": None},
}

# A browser has fonts for scripts that Matplotlib's own font lacks.
_FONTS = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def draw(report: Report) -> dict[str, Axes]:
    """Every figure by its file name: the overview, then each list's own."""
    names = file_names([section.name for section in report.sections])
    fits = [section.fitted for section in report.sections]
    summaries = {section.name: section.summary for section in report.sections}
    overview = plot_overview(fits, report.scope, ci_prob=report.ci_prob, summaries=summaries)
    drawn = {OVERVIEW: overview}
    for section in report.sections:
        name, axes = names[section.name], _of_section(section, report.scope, report.ci_prob)
        drawn |= {f"{name}-{kind}": ax for kind, ax in axes.items()}
        for checked, check in section.checks.items():
            drawn |= {check_figure(name, checked, kind): ax for kind, ax in check.figures.items()}
    return drawn


def kinds_of(section: Section) -> tuple[str, ...]:
    """The figures that a list has of its own."""
    kinds = tuple(kind for kind in KINDS if kind != ATTRIBUTES or len(section.table.groups) > 1)
    return (*kinds, REPLICATES) if section.replicate_kind else kinds


def check_figure(section: str, check: str, kind: str) -> str:
    """The file name of a figure that a check has to show."""
    return f"{section}-{check}-{kind}"


def write_figures(drawn: Mapping[str, Axes], folder: Path, formats: Sequence[str]) -> dict[str, bytes]:
    """Every figure in a file of each format, and as SVG for the page."""
    if formats:
        folder.mkdir(exist_ok=True)
    # Processes that have drawn a report's nulls are there still.
    jobs = -1 if len(drawn) >= _WORTH_PROCESSES else 1
    made = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(_files)(ax, tuple(dict.fromkeys(("svg", *formats)))) for ax in drawn.values()
    )
    svgs = {}
    for name, (files, lacking) in zip(drawn, made, strict=True):
        svgs[name] = files["svg"]
        for suffix in formats:
            (folder / f"{name}.{suffix}").write_bytes(files[suffix])
            if lacking and suffix != "svg":
                logger.warning(
                    f"{name}.{suffix}: the font lacks letters of some words; index.html shows them"
                )
    return svgs


def _files(ax: Axes, formats: Sequence[str]) -> tuple[dict[str, bytes], bool]:
    """The figure of these axes in each format, and whether the font lacks letters of it."""
    with _missing_glyphs() as lacking:
        figure = _laid_out(ax)
        files = {suffix: rendered(figure, suffix) for suffix in formats}
    return files, bool(lacking)


def _laid_out(ax: Axes) -> Figure:
    """Arranging a figure takes longer than drawing it, and once is enough for all formats."""
    figure = cast(Figure, ax.get_figure(root=True))
    with style():
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def rendered(figure: Figure, suffix: str) -> bytes:
    """As PNG, PDF, or SVG with text as text; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format=suffix, dpi=DPI, metadata=_NO_DATES[suffix])
    found = buffer.getvalue()
    return found.replace(b"'DejaVu Sans'", _FONTS.encode()) if suffix == "svg" else found


def _of_section(section: Section, scope: ScopeName, ci_prob: float) -> dict[str, Axes]:
    fit, summary = section.fitted, section.summary
    _, without = section.checks["clusters"].found
    drawn = {
        "forest": plot_forest(fit, scope, ci_prob=ci_prob, summary=summary),
        "posterior": plot_posterior(fit, scope, ci_prob=ci_prob, without=without),
        "targets": plot_word_bias(fit, "target", scope, ci_prob=ci_prob, summary=summary),
        "variance-shares": plot_variance_shares(fit, shares=section.variance_shares),
    }
    if ATTRIBUTES in kinds_of(section):
        drawn[ATTRIBUTES] = plot_word_bias(fit, "attribute", scope, ci_prob=ci_prob, summary=summary)
    if section.replicate_kind:
        drawn[REPLICATES] = plot_replicates(fit, scope, ci_prob=ci_prob, summary=summary)
    return drawn


@contextmanager
def _missing_glyphs() -> Iterator[list[str]]:
    """Matplotlib's font lacks some scripts: what it says of them, instead of a warning for each glyph."""
    lacking: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield lacking
    for each in caught:
        if "missing from font" in str(each.message):
            lacking.append(str(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
