"""`write`: save a result as pages, tables, and figures in a folder.

The folder is rendered first and then moved into place in one step.
"""

import base64
import ctypes
import errno
import io
import json
import logging
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import cast

import joblib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayes_bias.arguments import check_path, check_switch, kind_of
from bayes_bias.documents.document import Document, Documented
from bayes_bias.documents.templating import render_html, render_latex, verbatim
from bayes_bias.errors import COMMAND, OutputError, optional
from bayes_bias.files import (
    OVERWRITE,
    UNFINISHED,
    WRITTEN,
    check_formats,
    check_home,
    csv_text,
    sha256_of_file,
    unfinished_name,
)
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.storage import save_posterior
from bayes_bias.formatting import page_with_unit, with_unit
from bayes_bias.jobs import run_in_background
from bayes_bias.plots.style import name_units, style

PROVENANCE = "provenance.json"

# Folder for a complete report while its files replace those of an earlier report, if this is not possible in one step.
_COMPLETE = f"{UNFINISHED}but-complete"
# Constants of Linux: paths are relative to the working folder, and both paths exchange their names.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def check_folder(out: str | Path, overwrite: bool = False) -> None:
    """Raise an error if a folder cannot be written to or is not empty, before anything is computed for it.

    Matplotlib, which its figures need, must be installed.
    """
    with optional(" for the figures of a page"):
        import_module("matplotlib")
    out = check_path("out", out, OutputError)
    check_switch("overwrite", overwrite)
    check_home(out, "out")
    try:
        _finish(out)
        _check_empty(out, overwrite)
        _unfinished(out).rmdir()
    except OSError as error:
        raise _cannot_write(out, error) from error


def _check_empty(out: Path, overwrite: bool) -> None:
    """Raise an error if a folder contains files of others and must not be overwritten."""
    if overwrite or not out.is_dir():
        return
    for path in out.iterdir():
        if not path.name.startswith(UNFINISHED):
            raise OutputError(
                f"The folder '{out}' is not empty. Name another folder, or replace the files of an earlier"
                f" report: {OVERWRITE}."
            )


def write_folder(out: Path, render: Callable[[Path], None], overwrite: bool) -> None:
    """Render files into a new folder, and move them into place when all of them are complete."""
    check_folder(out, overwrite)
    unfinished = _unfinished(out)
    try:
        render(unfinished)
        _move_into_place(unfinished, out, overwrite)
    except OSError as error:
        raise _cannot_write(out, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _unfinished(out: Path) -> Path:
    """Create a new folder on the file system of `out`: next to it or, if the two cannot exchange their names, inside
    it.
    """
    place = parent = out.resolve()
    while not parent.exists():
        parent = parent.parent
    if parent == place:
        is_writable = os.access(place, os.W_OK) and os.access(place.parent, os.W_OK)
        # A folder cannot be exchanged if the working folder is inside it.
        if is_writable and not place.is_mount() and not Path.cwd().is_relative_to(place):
            parent = place.parent
    unfinished = unfinished_name(parent, out)
    unfinished.mkdir()
    return unfinished


def _cannot_write(out: Path, error: OSError) -> OutputError:
    """Return the error for a folder that cannot be written to."""
    return OutputError(f"Cannot write to the folder '{out}': {error.strerror or error}. Choose another folder.")


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a folder, by its path in the folder."""
    sha256_of = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            sha256_of[path.relative_to(folder).as_posix()] = sha256_of_file(path)
    return sha256_of


def _move_into_place(unfinished: Path, out: Path, overwrite: bool) -> None:
    """Give a complete report the name of the folder, and keep files of others that the folder contains."""
    _check_empty(out, overwrite)  # another program may have created the folder first
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        unfinished.rename(out)
        return
    for name in _names(unfinished):
        if (out / name).is_dir() or (out / name).parent.is_file():
            raise OutputError(
                f"Cannot write the report, because '{out / name}' is not a file of a report."
                " Move it, or choose another folder."
            )
    try:
        shutil.copymode(out, unfinished)
        _link_what_is_not_ours(out, unfinished)
        _exchange(unfinished, out.resolve())
    except OSError:
        unfinished.rename(out / _COMPLETE)
        _finish(out)
        return
    _link_what_is_not_ours(unfinished, out)  # files that were added in the meantime


def _link_what_is_not_ours(old: Path, new: Path) -> None:
    """Link all files from the old folder into the new folder, except unchanged files that the old report wrote."""
    ours = {name for name, sha256 in _written_files(old).items() if _unchanged(old / name, sha256)}
    for path in old.rglob("*"):
        name = path.relative_to(old).as_posix()
        if _is_folder(path):
            (new / name).mkdir(exist_ok=True)
        elif name not in ours and (_is_folder(new / name) or not os.path.lexists(new / name)):
            os.link(path, new / name, follow_symlinks=False)


def _is_folder(path: Path) -> bool:
    """Return True for a folder, but not for a link to one."""
    return path.is_dir() and not path.is_symlink()


def _exchange(first: Path, second: Path) -> None:
    """Exchange the names of two folders in one step.

    Raises
    ------
    OSError
        If the system or the file system does not support this.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    rename = ctypes.CDLL(None, use_errno=True).renameat2
    if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _finish(out: Path) -> None:
    """Move a complete report into place.

    If this is interrupted, the next run with the same folder completes the move.
    """
    complete = out / _COMPLETE
    if not complete.is_dir():
        return
    if new := _written_files(complete):
        # Remove unchanged files of an earlier report that the new report lacks, such as figures of another list.
        for name, sha256 in _written_files(out).items():
            path = (out / name).resolve()
            is_stale = name != PROVENANCE and name not in new
            if is_stale and path.is_relative_to(out.resolve()) and _unchanged(path, sha256):
                path.unlink()
    # the provenance comes last, because it describes the other files
    for name in sorted(_names(complete), key=PROVENANCE.__eq__):
        (out / name).parent.mkdir(exist_ok=True)
        (complete / name).replace(out / name)
    shutil.rmtree(complete)


def _names(folder: Path) -> list[str]:
    """Return the paths of all files in a folder, relative to the folder."""
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def _unchanged(path: Path, sha256: str) -> bool:
    """Return True if a file has this hash."""
    return path.is_file() and sha256_of_file(path) == sha256


def _written_files(folder: Path) -> dict[str, str]:
    """Return the files that an earlier report wrote to a folder, with their hashes, or nothing without an earlier
    report.
    """
    file = folder / PROVENANCE
    if not file.is_file():
        return {}
    try:
        files = json.loads(file.read_text(encoding="utf-8")).get("files", {})
    except (ValueError, AttributeError, RecursionError):
        return {}  # a file with this name from another program, so no file in the folder belongs to a report
    return {str(name): str(sha256) for name, sha256 in files.items()} if isinstance(files, dict) else {}


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
    """Yield rendered figures. If there are many files, other processes start rendering them immediately."""
    suffixes = tuple(dict.fromkeys(("svg", *formats)))
    jobs = -1 if len(axes) * len(suffixes) >= _WORTH_PROCESSES else 1
    work = (joblib.delayed(_render_formats)(name, ax, suffixes) for name, ax in axes.items())
    return run_in_background(work, jobs)


def write_figures(figures: Iterable[Rendered], folder: Path, formats: Sequence[str]) -> dict[str, bytes]:
    """Write every figure in each format, and return it as SVG for the page."""
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
    """Return the figure of a plot in several formats."""
    figure = cast(Figure, ax.get_figure(root=True))
    with _missing_glyphs() as lacking:
        with style():
            figure.draw_without_rendering()
        # Layout takes longer than drawing, so the figure is laid out only once for all formats.
        figure.set_layout_engine("none")
        files = {suffix: rendered(figure, suffix) for suffix in formats}
    return Rendered(name, files, bool(lacking))


def rendered(figure: Figure, suffix: str) -> bytes:
    """Return a figure as PNG, PDF, or SVG with text as text. Equal figures produce equal bytes."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format=suffix, dpi=DPI, metadata=_NO_DATES[suffix])
    content = buffer.getvalue()
    return content.replace(b"'DejaVu Sans'", _FONTS.encode()) if suffix == "svg" else content


@contextmanager
def _missing_glyphs() -> Iterator[list[str]]:
    """Collect messages about missing glyphs, instead of one warning per glyph, because Matplotlib's font lacks some
    scripts.
    """
    lacking: list[str] = []
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        yield lacking
    for warning in messages:
        if "missing from font" in str(warning.message):
            lacking.append(str(warning.message))
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
          ``table-<time>.csv`` for each slice, ``tables.tex``, ``appendix.tex``, and the posterior.
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
    """Write all files of a document."""
    axes = {name: draw() for name, draw in document.figures.items()}
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
            save_posterior(tree, folder / (f"posterior-{name}.nc" if name else "posterior.nc"))
        svgs = write_figures(figures, folder / "figures", formats)
    (folder / PAGE).write_text(page(document, svgs), encoding="utf-8")
    # The provenance comes last, because it contains a hash of every other file.
    command = {"command": COMMAND.get()} if COMMAND.get() else {}
    provenance = {**command, **document.provenance, "files": hashes(folder)}
    (folder / PROVENANCE).write_text(json.dumps(provenance, indent=2, ensure_ascii=False), encoding="utf-8")


def page(document: Document, svgs: Mapping[str, bytes]) -> str:
    """Return the page as a single file that contains its figures."""
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
    return page_with_unit(text, document.unit)


def tables_tex(document: Document) -> str:
    """Return tables for a paper, in LaTeX with booktabs."""
    return with_unit(render_latex(document.latex, **document.facts), document.unit)
