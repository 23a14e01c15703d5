"""`write`: save a result as pages, tables, and figures in a folder."""

import base64
import io
import json
import logging
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import cast

import joblib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayes_bias.arguments import check_path, kind_of
from bayes_bias.documents.document import Document, Documented
from bayes_bias.documents.folder import PROVENANCE, check_folder, hashes, write_folder
from bayes_bias.documents.templating import left_to_right, render_html, render_latex, verbatim
from bayes_bias.errors import COMMAND, OutputError
from bayes_bias.files import WRITTEN, check_formats, csv_text
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.storage import save_posterior
from bayes_bias.formatting import page_with_unit, with_unit
from bayes_bias.jobs import run_in_background
from bayes_bias.plots.style import name_units, style

logger = logging.getLogger("bayes_bias")

DPI = 220
# A figure file takes at least .1 s, and starting another process takes 2 s.
_WORTH_PROCESSES = 40

_NO_DATES = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None, "Creator": None}}

# A browser has fonts for scripts that Matplotlib's default font lacks.
_FONTS = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Rendered:
    """A figure in each format, including SVG, and whether the font lacks some of its letters."""

    name: str
    files: Mapping[str, bytes]
    lacks_letters: bool


def render_in_background(
    axes: Mapping[str, Axes], formats: Sequence[str]
) -> AbstractContextManager[Iterator[Rendered]]:
    """Return a context manager whose iterator yields rendered figures, in SVG for the page and in the other formats.

    If there are many files, other processes start rendering them immediately, while the caller writes other files.
    Starting processes takes too long for few files, which are rendered in this process.
    """
    suffixes = tuple(dict.fromkeys(("svg", *formats)))
    jobs = -1 if len(axes) * len(suffixes) >= _WORTH_PROCESSES else 1
    work = (joblib.delayed(_render_formats)(name, ax, suffixes) for name, ax in axes.items())
    return run_in_background(work, jobs)


def write_figures(figures: Iterable[Rendered], folder: Path, formats: Sequence[str]) -> dict[str, bytes]:
    """Write every figure to a folder in each format, and return the SVG of each figure, by name, for the page.

    If the font lacks letters of some words, a notice recommends the page, whose browser has fonts for most scripts.
    """
    if formats:
        folder.mkdir(exist_ok=True)
    svgs = {}
    for figure in figures:
        svgs[figure.name] = figure.files["svg"]
        for suffix in formats:
            (folder / f"{figure.name}.{suffix}").write_bytes(figure.files[suffix])
            if figure.lacks_letters and suffix != "svg":
                logger.warning(
                    f"{figure.name}.{suffix}: the font lacks letters of some words. Use the"
                    " figure in index.html instead."
                )
    return svgs


def _render_formats(name: str, ax: Axes, formats: Sequence[str]) -> Rendered:
    """Return the figure that contains these axes in several formats, and whether its font lacks some letters.

    If letters are missing, Matplotlib issues warnings, which are collected in `messages`.
    """
    figure = cast(Figure, ax.get_figure(root=True))
    with _missing_glyphs() as messages:
        # Layout takes longer than drawing, so the figure is laid out only once for all formats.
        if (layout := figure.get_layout_engine()) is not None:
            with style():
                layout.execute(figure)
        figure.set_layout_engine("none")
        files = {suffix: rendered(figure, suffix) for suffix in formats}
    return Rendered(name, files, bool(messages))


def rendered(figure: Figure, suffix: str) -> bytes:
    """Return a figure as PNG, PDF, or SVG with text as text. Equal figures produce equal bytes.

    For this purpose, metadata contains no dates. In SVG, Matplotlib's font is replaced by fonts of the browser.
    """
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format=suffix, dpi=DPI, metadata=_NO_DATES[suffix])
    content = buffer.getvalue()
    return content.replace(b"'DejaVu Sans'", _FONTS.encode()) if suffix == "svg" else content


@contextmanager
def _missing_glyphs() -> Iterator[list[str]]:
    """Yield a list, which contains Matplotlib's messages about missing glyphs after the `with` block.

    Matplotlib's font lacks some scripts, and would warn of each glyph. These warnings are only collected, and all other
    warnings of the block are issued afterwards.
    """
    about_glyphs: list[str] = []
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        yield about_glyphs
    for warning in recorded:
        if "missing from font" in str(warning.message):
            about_glyphs.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


PAGE = "index.html"


def write(result: Documented, out: str | Path, *, overwrite: bool = False, figures: Sequence[str] = WRITTEN) -> Path:
    """Write a report, a comparison, a sweep, or another result to a folder, either completely or not at all.

    Every folder has the page ``index.html``, ``figures/``, CSV files, and ``provenance.json`` with a hash of every
    file. All folders except those of stability also contain the methods text (``methods.txt``, ``methods.tex``,
    ``references.bib``).

    Parameters
    ----------
    result : Report, Comparison, Stability, SentencePairs, TprGaps, CriterionValidity, Sweep or a change
        From `bayes_bias.report`, `bayes_bias.compare`, `bayes_bias.stability`, `bayes_bias.sentence_pairs.estimate`,
        `bayes_bias.tpr_gaps.estimate`, `bayes_bias.criterion` or `bayes_bias.sweep`; or any other result with a method
        ``document()``.
    out : str or Path
        The folder. It must be empty or not exist yet.
    overwrite : bool
        Replace the files of an earlier report in the folder. All other files are kept.
    figures : sequence of {"svg", "pdf", "png"}
        The formats of the files in ``figures/``; ``()`` for none. The page always contains its figures as SVG, so SVG
        files take no additional time. PDF is for LaTeX, and PNG (220 dots per inch) for programs that cannot read SVG;
        each figure takes .4 s as PDF and .15 s as PNG.

    Returns
    -------
    pathlib.Path
        The path of the page. Its folder contains:

        - for a report, ``summary.csv``, ``weat.csv``, ``measures.csv``, ``evidence.csv``, ``left-out.csv``,
          ``related-words.csv``, ``prior-sensitivity.csv``, ``coverage.csv``, ``words.csv``, ``appendix.tex`` (the words
          of all lists), ``tables.tex``, and ``posterior-<list>.nc``.
        - for a comparison, ``change.csv`` (the change of every estimand and word), ``before-and-after.csv``,
          ``controls.csv``, ``words.csv``, ``table-before.csv`` and ``table-after.csv`` (from which the comparison can
          be repeated), ``tables.tex``, ``appendix.tex``, ``posterior-change.nc``, and ``posterior-before.nc`` and
          ``posterior-after.nc`` if these posteriors were sampled.
        - for stability, ``stability.txt``, ``measures.csv``, ``spread.csv``, ``shares.csv``, ``summary.csv`` and the
          posterior.
        - for a series, ``slices.csv``, ``trend.csv``, ``changes.csv``, ``word-trends.csv``, ``words.csv``, a file
          ``table-<time>.csv`` for each slice (``table-minus-50.csv`` for -50), ``tables.tex``, ``appendix.tex``, and
          the posterior.
        - for sentence pairs, ``summary.csv``, ``scores.csv``, ``published.csv``, ``plan.csv`` and ``checks.csv`` (for a
          change, ``before-and-after.csv`` instead), ``tables.tex`` and the posteriors.
        - for answers, ``summary.csv``, ``replies.csv``, ``words.csv``, and further tables.
        - for gaps, ``gaps.csv``, ``aggregate.csv``, ``variances.csv``, ``counts.csv``, ``tables.tex`` and
          ``posterior.nc``.
        - for criterion validity, ``summary.csv``, ``labels.csv`` and the posteriors.
        - for a sweep, ``cells.csv`` (a row for each cell), ``atlas.nc`` (these values and the pooled model, embeddings
          x lists), ``embeddings.csv`` and ``lists.csv`` (rankings), ``more-biased.csv``, ``effects.csv``,
          ``posteriors.csv``, ``screening.csv``, ``measures.csv``, ``words.csv``, ``coverage.csv``, ``failures.csv``
          and ``tables.tex``.

        In CSV files, text that begins with ``=``, ``+``, ``-``, ``@``, a tab, or a carriage return gets a single quote
        in front, so that spreadsheets do not interpret it as a formula.

    Raises
    ------
    OutputError
        If this kind of result has no page, if a figure format is unknown, if the folder cannot be written to, or if it
        contains files that must not be overwritten. In these cases, the folder is unchanged.

    Examples
    --------
    >>> write(report(["weat6", "weat7"]), "report")                               # doctest: +SKIP
    """
    if not hasattr(type(result), "document"):
        raise OutputError(
            f"Cannot write a report for {kind_of(result)}. Pass the result of `report`, `compare`,"
            " `stability`, `sweep`, or another analysis."
        )
    check_formats(figures)
    folder = check_path("out", out, OutputError)
    check_folder(folder, overwrite)
    return write_document(result.document(), folder, overwrite, figures)


def write_document(document: Document, out: Path, overwrite: bool, formats: Sequence[str]) -> Path:
    """Render a document to a folder, either completely or not at all, and return the path of the page."""
    write_folder(out, lambda folder: _render(document, folder, formats), overwrite)
    return out / PAGE


def _render(document: Document, folder: Path, formats: Sequence[str]) -> None:
    """Write all files of a document to a folder: texts, tables, data, posteriors, figures, page, and provenance.

    Figures are rendered in other processes while this process writes the files that do not depend on them.
    """
    axes = {name: draw() for name, draw in document.figures.items()}  # the functions draw the figures
    for ax in axes.values():
        name_units(cast(Figure, ax.get_figure(root=True)), document.unit)
    with render_in_background(axes, formats) as figures:
        texts = dict(document.texts)
        if document.latex:
            texts["tables.tex"] = tables_tex(document)
        if document.methods:
            texts |= replace(document.methods, unit=document.unit).files
        for name, table in document.tables.items():
            texts[f"{name}.csv"] = csv_text(table, index=table.index.names != [None])
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        for name, save in document.data.items():
            save(folder / name)
        for name, fit in document.fits.items():
            tree = fit.tree if isinstance(fit, Fitted) else fit
            file_name = f"posterior-{name}.nc" if name else "posterior.nc"  # a single posterior has no name
            save_posterior(tree, folder / file_name)
        svgs = write_figures(figures, folder / "figures", formats)
    (folder / PAGE).write_text(page(document, svgs), encoding="utf-8")
    # The provenance comes last, because it contains a hash of every other file.
    command = {"command": COMMAND.get()} if COMMAND.get() else {}
    provenance = {**command, **document.provenance, "files": hashes(folder)}
    (folder / PROVENANCE).write_text(json.dumps(provenance, indent=2, ensure_ascii=False), encoding="utf-8")


def page(document: Document, svgs: Mapping[str, bytes]) -> str:
    """Return the HTML of the page as a single file, which contains its style sheet, script, and figures.

    `svgs` has the figures by name. Each section is rendered with its own template, which receives the facts of the
    document and of the section.
    """
    figures = {}
    for name, svg in svgs.items():
        # An SVG that is embedded as an image cannot run scripts or load resources.
        figures[name] = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    sections = []
    for section in document.sections:
        if section is not None:
            facts = {**document.facts, **section.facts, "figures": figures}
            body = render_html(section.template, document.templates, **facts)
            sections.append((section, Markup(body)))
    # SOURCE_DATE_EPOCH overrides the date, so that a page can be reproduced byte for byte.
    seconds = float(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    text = render_html(
        "document.html",
        document=document,
        sections=sections,
        written=f"bayes_bias {version('bayes-bias')}, {datetime.fromtimestamp(seconds, UTC):%-d %B %Y}",
        css=verbatim("style.css"),
        script=verbatim("sort.js") if document.sortable else "",
    )
    return left_to_right(page_with_unit(text, document.unit))


def tables_tex(document: Document) -> str:
    """Return tables for a paper, in LaTeX with booktabs."""
    return with_unit(render_latex(document.latex, **document.facts), document.unit)
