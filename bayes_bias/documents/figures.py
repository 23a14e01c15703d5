"""Figures as files: each is laid out once and saved in the formats that are asked for."""

import io
import logging
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import joblib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayes_bias.jobs import run_in_background
from bayes_bias.plots.style import style

logger = logging.getLogger("bayes_bias")

DPI = 220
# A file takes .1 s and more, and a process that renders some of them 2 s to start.
_WORTH_PROCESSES = 40

_NO_DATES = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None, "Creator": None}}

# A browser has fonts for scripts that Matplotlib's own font lacks.
_FONTS = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Rendered:
    """A figure in each format, as SVG among them, and whether the font lacks letters of it."""

    name: str
    files: Mapping[str, bytes]
    lacks_letters: bool


def render_in_background(
    axes: Mapping[str, Axes], formats: Sequence[str]
) -> AbstractContextManager[Iterator[Rendered]]:
    """One figure after the other; if there are many files, other processes render them from now on."""
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
    with _missing_glyphs() as lacking:
        figure = _laid_out(ax)
        files = {suffix: rendered(figure, suffix) for suffix in formats}
    return Rendered(name, files, bool(lacking))


def _laid_out(ax: Axes) -> Figure:
    """Arranging a figure takes longer than drawing it, and once is enough for all formats."""
    figure = cast(Figure, ax.get_figure(root=True))
    with style():
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def rendered(figure: Figure, suffix: str) -> bytes:
    """A figure as PNG, PDF, or SVG with text as text. The same figure gives the same bytes."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format=suffix, dpi=DPI, metadata=_NO_DATES[suffix])
    content = buffer.getvalue()
    return content.replace(b"'DejaVu Sans'", _FONTS.encode()) if suffix == "svg" else content


@contextmanager
def _missing_glyphs() -> Iterator[list[str]]:
    """Matplotlib's font lacks some scripts: what it says of them, instead of a warning for each glyph."""
    lacking: list[str] = []
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        yield lacking
    for warning in messages:
        if "missing from font" in str(warning.message):
            lacking.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
