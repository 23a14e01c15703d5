"""The style of all figures.

Its colours are distinguishable for all readers and in greyscale, and it does not change global settings of Matplotlib.
"""

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from textwrap import fill
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
import matplotlib.figure
import numpy as np
import pandas as pd
from cycler import cycler
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import is_color_like
from matplotlib.font_manager import get_font_names
from matplotlib.gridspec import SubplotSpec
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import IdentityTransform, ScaledTranslation
from numpy.typing import ArrayLike

from bayes_bias.errors import BayesBiasError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import WORD, with_unit
from bayes_bias.table.columns import interval_of
from bayes_bias.table.metric import Metric

# The palette of Okabe and Ito. Intervals that exclude zero are filled in the first colour, and other intervals are grey
# and hollow, so that they also differ in greyscale.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
INK, GREY, NOISE, PAPER = "#1c1c1c", "#6b6b6b", "#dcdcdc", "white"

WIDTH = 4.5
_SHOWN_DPI = 110
# Distance from the axes to a legend in inches: gaps, and lines of text. The gaps remain if text is scaled.
_GAP, _SMALL_GAP, _TICK_LABEL_HEIGHT, _AXIS_LABEL_HEIGHT = 0.1, 0.06, 0.12, 0.17
# Letters of a long label that are shown before and after the omitted middle.
_LABEL_START, _LABEL_END = 14, 13
# In inches: height of a line, width of a letter in a legend, in a row's label, and in a heading, and width of a handle.
_LINE_HEIGHT, _LETTER_WIDTH, _ROW_LETTER_WIDTH, _HEADING_LETTER_WIDTH, _HANDLE_WIDTH = 0.13, 0.07, 0.08, 0.088, 0.5
# Width in inches below which text is scaled, and the smallest factor. Share of the width that a colour bar takes.
# Number of title letters per inch.
_FULL_WIDTH, _SMALLEST_FACTOR, _SHARE_OF_BAR, _TITLE_LETTERS_PER_INCH = 4.5, 0.6, 0.25, 10
# An axis label may be wider than its axes by this factor. Broken labels and entries have at least this many letters.
# Ticks are at least this many inches apart. Width of a letter in inches, relative to its size in points.
_LABEL_RATIO, _FEWEST_LETTERS, _TICK_DISTANCE, _WIDTH_PER_POINT = 1.1, 14, 0.62, 0.0075
NOT_CONVERGED = "NOT CONVERGED – do not interpret"

# Fonts for Chinese, Japanese, and Korean. Most machines have at least one of these fonts.
_OTHER_SCRIPTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "Arial Unicode MS",
)

_RC: Mapping[Any, Any] = MappingProxyType(
    {
        "font.size": 9.5,
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.edgecolor": GREY,
        "axes.labelcolor": INK,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.color": INK,
        "xtick.color": GREY,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "legend.fontsize": 8.5,
        "legend.frameon": False,
        "axes.unicode_minus": True,
        # Labels contain words of users, in which a dollar sign must not start a formula.
        "text.parse_math": False,
        "text.usetex": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "bayes_bias",
        "pdf.fonttype": 42,
        # Matplotlib 3.11 uses this setting, also for PDF, to check whether a font contains a minus sign. The setting
        # must be a single font.
        "ps.fonttype": 42,
    }
)


@contextmanager
def style(palette: Sequence[str] | None = None) -> Iterator[None]:
    """Apply the style of the figures while something is drawn or saved, with the colours of a palette."""
    colours = cycler(color=COLOURS if palette is None else _valid_colours(palette))
    with mpl.rc_context({**_RC, "font.family": _families(), "axes.prop_cycle": colours}):
        yield


def _valid_colours(palette: Sequence[str]) -> list[str]:
    """Return the colours of a palette, or raise an error if there are none or if Matplotlib does not know one."""
    colours = [palette] if isinstance(palette, str) else list(palette)
    if not colours:
        raise BayesBiasError("`palette` is empty. Pass one or more colours, such as ['#0072B2', '#D55E00'].")
    for name in colours:
        if not is_color_like(name):
            raise BayesBiasError(
                f"`palette` contains {name!r}, which is not a colour. Use names or hex codes that matplotlib accepts."
            )
    return colours


@cache
def _families() -> list[str]:
    """Return Matplotlib's default font, followed by installed fonts for letters that it lacks."""
    installed = set(get_font_names())
    return ["sans-serif", *(name for name in _OTHER_SCRIPTS if name in installed)]


class Figure(matplotlib.figure.Figure):
    """A figure that every notebook can show, even without pyplot."""

    def _repr_png_(self) -> bytes:
        """Return the figure as PNG, which notebooks show, in the style of all figures."""
        buffer = io.BytesIO()
        with style():
            self.savefig(buffer, format="png", dpi=_SHOWN_DPI)
        return buffer.getvalue()


def axes_or_new(ax: Axes | None, *, rows: float, row_height: float = 0.25, extra: float = 1.3) -> Axes:
    """Return the axes to draw on: `ax` without its lines at the top and right, or the axes of a new figure.

    A new figure is as high as its `rows`, plus `extra` inches for the title and the horizontal axis. It is not managed
    by pyplot, so it is not shown automatically.
    """
    if ax is not None:
        ax.spines[["top", "right"]].set_visible(False)
        return ax
    figure = Figure(figsize=(WIDTH, rows * row_height + extra), layout="constrained", facecolor=PAPER)
    return figure.add_subplot()


def colour(index: int) -> str:
    """Return the colour at an index of the palette."""
    colours: list[str] = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    return colours[index % len(colours)]


def colour_and_marker(index: int) -> dict[str, Any]:
    """Return the style of one of several series, for figures in studies and benchmarks that compare methods."""
    return {"color": colour(index), "marker": MARKERS[index % len(MARKERS)]}


def excludes(lower: float, upper: float, null: float = 0.0) -> bool:
    """Return True if the interval excludes the null value."""
    return lower > null or upper < null


def estimate_look(excludes_null: bool) -> dict[str, Any]:
    """Return the style of a posterior mean and its interval, as options of matplotlib.

    They are filled in the first colour of the palette if the interval excludes the null value, or else grey and hollow.
    """
    shade = colour(0) if excludes_null else GREY
    return {"color": shade, "marker": "o", "markerfacecolor": shade if excludes_null else PAPER}


def estimate_handles(text: str, null: str = "zero") -> list[Line2D]:
    """Return the entries of a legend for both styles of `estimate_look`: intervals that exclude or include the null.

    The `text` of an entry is followed by "excludes zero" or "includes zero". The colour of its points is its gid, an id
    that matplotlib does not use, and `legend_below` omits an entry if no point of this colour is drawn.
    """
    handles = []
    for verb in ("excludes", "includes"):
        look = estimate_look(verb == "excludes")
        handles.append(Line2D([], [], markersize=5, gid=look["markerfacecolor"], label=f"{text} {verb} {null}", **look))
    return handles


def label_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Label rows from top to bottom, without ticks."""
    ax.set_yticks(range(len(labels)), labels=[shortened(label) for label in labels], parse_math=False)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def legend_below(ax: Axes, *, shown: bool = True, ncols: int = 1, **options: Any) -> None:
    """Draw a legend below the axis label, or below the ticks if there is no label, at a fixed distance in inches.

    It has fewer than `ncols` columns if these would be wider than the axes. Further `options` are those of matplotlib,
    such as `handles` (the entries). Entries from `estimate_handles` are only shown if their style is drawn.
    """
    if not shown:
        return
    if "handles" in options:
        # An entry whose gid is a colour is only shown if a line or point of this colour is drawn.
        lines = [line for axes in ax.figure.axes for line in axes.lines if np.size(line.get_xdata())]
        drawn_colours = {None, *(line.get_markerfacecolor() for line in lines)}  # None: entries without a gid
        options["handles"] = [handle for handle in options["handles"] if handle.get_gid() in drawn_colours]
    labels = [handle.get_label() for handle in options.get("handles", ax.get_legend_handles_labels()[0])]
    width, scale = _width_and_scale(ax)
    column_width = scale * (_HANDLE_WIDTH + _LETTER_WIDTH * max(map(len, labels), default=0))
    legend = ax.legend(
        loc="upper left",
        ncols=max(1, min(ncols, int(width / column_width))),
        borderaxespad=0,
        borderpad=0,
        handletextpad=0.7,
        **options,
    )
    _place_legend(legend, ax)


def _place_legend(legend: Legend, ax: Axes, scale: float = 1.0) -> None:
    """Put a legend at a fixed distance in inches below the axes, whose text is scaled by a factor."""
    figure = ax.get_figure(root=True)
    below = ScaledTranslation(0, -_distance_below(ax, scale), figure.dpi_scale_trans) if figure else IdentityTransform()
    legend.set_bbox_to_anchor((0, 0), ax.transAxes + below)


def _distance_below(ax: Axes, scale: float) -> float:
    """Return the distance between axes and legend in inches, which is the height of the labels between them.

    The constants are heights in inches of a label of a tick, of a line of the axis label, and of gaps. Between axes and
    legend are the labels of the ticks, unless they are above the axes, and the lines of the axis label, with a gap
    before each. Heights of text are multiplied by `scale`, but gaps are not.
    """
    has_ticks = ax.xaxis.get_ticks_position() in {"bottom", "default"}
    ticks = _GAP + scale * _TICK_LABEL_HEIGHT if has_ticks else _SMALL_GAP
    n_lines = len(ax.get_xlabel().splitlines())
    return ticks + _GAP * bool(n_lines) + scale * _AXIS_LABEL_HEIGHT * n_lines


def draw_classical(
    ax: Axes, lower: ArrayLike, upper: ArrayLike, at: ArrayLike, *, vertical: bool = False, label: str = ""
) -> None:
    """Draw confidence intervals as thin lines with caps, which differ from credible intervals even without colour.

    The intervals from `lower` to `upper` are at the positions `at` on the other axis.
    """
    draw_lines, cap = (ax.vlines, "_") if vertical else (ax.hlines, "|")
    draw_lines(at, lower, upper, color=GREY, linewidth=1, zorder=2, label=label)
    for ends in (lower, upper):
        points = (at, ends) if vertical else (ends, at)
        ax.plot(*points, linestyle="", marker=cap, markersize=6, color=GREY, zorder=2)


def shortened(label: str) -> str:
    """Omit the middle of a long label, so that enough space remains for the data.

    Names of models often differ only at their ends: "bert-base-uncased-seed-1", "bert-base-uncased-seed-2". If a label
    is a difference, such as "men − women", both names are shortened, so that it is not mistaken for one name.
    """
    if len(label) <= _LABEL_START + 1 + _LABEL_END:
        return label
    names = label.split(" − ")
    start, end = _LABEL_START // len(names), _LABEL_END // len(names)
    return " − ".join(name if len(name) <= start + 1 + end else f"{name[:start]}…{name[-end:]}" for name in names)


def set_title(ax: Axes, title: str, *, converged: bool = True, bars: Sequence[Axes] = ()) -> None:
    """Set a title with line breaks that fit the width of the axes, and fit all text to the axes (see `fit_text`)."""
    ax.set_title(title if converged else f"{title}\n{NOT_CONVERGED}", parse_math=False)
    fit_text(ax, bars)


def fit_text(ax: Axes, bars: Sequence[Axes] = ()) -> None:
    """Break labels and legend entries that are too wide, and reduce the font size on small axes.

    First, texts are broken into lines at the available width and height in inches: entries of the legend, the labels of
    both axes, which may be a tenth longer than the axes (`_LABEL_RATIO`), and the title. There are fewer ticks if they
    would be too close (`_TICK_DISTANCE`). Then, all text is scaled down by a `factor` if the axes are narrow, rows
    would overlap, or headings are too wide. `bars` are colour bars beside the axes, and take a quarter of the width.
    """
    width, scale = _width_and_scale(ax)
    width -= _SHARE_OF_BAR * width * bool(bars)
    legend = ax.get_legend()
    for entry in legend.get_texts() if legend else ():
        _break_lines(entry, width - scale * _HANDLE_WIDTH, scale)
    _break_lines(ax.xaxis.label, _LABEL_RATIO * width, scale)
    height = _height_without_legend(ax, scale)
    for label in (ax.yaxis.label, *(bar.yaxis.label for bar in bars)):
        _break_lines(label, _LABEL_RATIO * height, scale)
    locator = ax.xaxis.get_major_locator()
    if isinstance(locator, MaxNLocator):
        locator.set_params(nbins=max(int(width / scale / _TICK_DISTANCE), 2))
    factor = max(min(scale, _text_factor(ax, width, height)), _SMALLEST_FACTOR)
    n_letters = max(int(width * _TITLE_LETTERS_PER_INCH / factor), 20)  # in a line of the title
    ax.set_title("\n".join(fill(line, n_letters) for line in ax.get_title(loc="left").splitlines()), parse_math=False)
    if factor < 1:
        for axes in (ax, *bars):
            _scale_text(axes, factor)
    if legend:
        _place_legend(legend, ax, factor)


def _width_and_scale(ax: Axes) -> tuple[float, float]:
    """Return the approximate width of axes in inches without their labels, and a factor by which to scale text.

    The factor is 1 for axes of the usual width (4.5 inches) and smaller for narrow axes, but at least 0.6. The labels
    of the rows, beside the axes, are subtracted from the width of the axes in the size that they have after scaling.
    """
    cell = _cell(ax)
    root = ax.get_figure(root=True)
    assert root is not None
    width = ax.get_window_extent().width / root.dpi
    # Before layout, a figure has no margins. Its axes will fill their part of the figure.
    if cell is not None and root.get_layout_engine() is not None:
        width = ax.figure.bbox.width / root.dpi * len(cell.colspan) / cell.get_gridspec().ncols
    scale = min(1.0, max(width / _FULL_WIDTH, _SMALLEST_FACTOR))
    return float(width - scale * _width_of_labels(ax)), scale


def _cell(ax: Axes) -> SubplotSpec | None:
    """Return the part of a figure's grid that contains the axes."""
    cell = ax.get_subplotspec()
    return None if cell is None else cell.get_topmost_subplotspec()


def _width_of_labels(ax: Axes) -> float:
    """Return the approximate width in inches of the labels beside axes, and beside other axes in the same cell.

    The width is estimated from the number of letters, because texts have no size before the figure is drawn.
    """
    widths = [0.0]
    for axes in ax.get_shared_x_axes().get_siblings(ax):
        if axes is ax or _cell(axes) == _cell(ax):
            lines = [line for label in axes.get_yticklabels() for line in label.get_text().splitlines()]
            longest = max(map(len, lines), default=0)
            # The label of the axis, if there is one, is written upwards and takes one and a half lines.
            widths.append(_ROW_LETTER_WIDTH * longest + 1.5 * _LINE_HEIGHT * bool(axes.get_ylabel()))
    return max(widths)


def _height_without_legend(ax: Axes, scale: float) -> float:
    """Return the approximate height of axes in inches, between the title and a legend.

    If the figure has a layout engine, this is the height of the axes' part of the figure (`cell`) without the title,
    which takes two lines, and without the labels below the axes. The lines of the legend are subtracted as well. All
    text has the height that it has after scaling by `scale`.
    """
    cell = _cell(ax)
    root = ax.get_figure(root=True)
    legend = ax.get_legend()
    assert root is not None
    height = ax.get_window_extent().height / root.dpi
    if cell is not None and cell == ax.get_subplotspec() and root.get_layout_engine() is not None:
        # The layout engine moves the axes when it draws, so their share of the figure is taken instead.
        cell_height = ax.figure.bbox.height / root.dpi * len(cell.rowspan) / cell.get_gridspec().nrows
        height = cell_height - 2 * scale * _LINE_HEIGHT - _distance_below(ax, scale)
    if legend is None:
        return float(height)
    n_lines = sum(len(text.get_text().splitlines()) for text in legend.get_texts())
    n_rows = math.ceil(n_lines / legend._ncols)  # type: ignore[attr-defined]
    return float(height - scale * _LINE_HEIGHT * n_rows)


def _break_lines(text: Text, width: float, scale: float) -> None:
    """Break a text into lines of at most this width in inches, which the text will have after scaling by `scale`.

    If the text is too wide, a bracket always begins a new line.
    """
    content = text.get_text()
    # The number of letters in a line, from the width of a letter of this size in points, but at least a few.
    n_letters = max(int(width / scale / _WIDTH_PER_POINT / float(text.get_fontsize())), _FEWEST_LETTERS)
    if len(content) > n_letters:
        content = content.replace(" (", "\n(")
    text.set_text("\n".join(fill(line, n_letters) for line in content.splitlines()))


def _scale_text(ax: Axes, factor: float) -> None:
    """Multiply the size of all text of axes, including labels of ticks that are only made when the figure is drawn."""
    texts = set(ax.findobj(Text))  # before the labels of ticks become smaller, which can add ticks
    tick_labels: set[Text] = set()
    for axis in (ax.xaxis, ax.yaxis):
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        for tick in ticks:
            tick_labels |= {tick.label1, tick.label2}
        if ticks:
            axis.set_tick_params(which="both", labelsize=factor * float(ticks[0].label1.get_fontsize()))
    for text in texts - tick_labels:
        text.set_fontsize(factor * float(text.get_fontsize()))


def _text_factor(ax: Axes, width: float, height: float) -> float:
    """Return the factor by which to scale text, so that rows do not overlap and headings do not exceed the axes.

    `width` and `height` are the size of the axes in inches. Rows are labelled by ticks or headings, each of which needs
    the height of a line, and headings are the texts in the axes.
    """
    longest_heading = max((len(heading.get_text()) for heading in ax.texts), default=0)
    # Names of points, in coordinates of the data, are no rows.
    headings = {text.xy[1] for text in ax.texts if isinstance(text, Annotation) and text.xycoords != "data"}
    n_rows = len({*ax.get_yticks(), *headings})
    factor_of_rows = height / (_LINE_HEIGHT * max(n_rows, 1))
    factor_of_headings = width / (_HEADING_LETTER_WIDTH * max(longest_heading, 20))
    return min(1.0, factor_of_rows, factor_of_headings)


def name_units(artist: Artist, unit: str) -> None:
    """Replace the noun "word" in the texts of axes or a figure by the unit of a list, such as "image".

    Labels of ticks are not changed, because matplotlib writes them when the figure is drawn.
    """
    if unit == WORD:
        return
    for text in artist.findobj(Text):
        text.set_text(with_unit(text.get_text(), unit))


def finish(
    ax: Axes, fit: Fit, what: str, name: str | None = None, *, converged: bool | None = None, bars: Sequence[Axes] = ()
) -> Axes:
    """Set the title, with the name of the list and `what` the figure shows, and return the axes.

    The noun "word" is replaced by the unit of the list. If the fit has not converged, which is determined from its
    diagnostics unless `converged` is set, the figure has a conspicuous warning.
    """
    fitted = Fitted.of(fit)
    converged = Diagnostics.of(fitted).converged if converged is None else converged
    name_units(ax, fitted.unit)
    title = f"{shortened(fitted.name if name is None else name)}: {with_unit(what, fitted.unit)}"
    set_title(ax, title, converged=converged, bars=bars)
    if not converged:
        mark: dict[str, Any] = {"fontsize": 30, "color": INK, "alpha": 0.16, "rotation": 18, "zorder": 10}
        ax.text(0.5, 0.5, "not converged", transform=ax.transAxes, ha="center", va="center", **mark)
    return ax


# Rows of a forest plot: a point and its interval.


def bias_axis(metric: Metric) -> str:
    """Return the label for the axis of a bias, which is a difference between means."""
    return f"difference in mean {metric.unit} (positive: stereotypical)"


@dataclass(frozen=True, eq=False)
class Rows:
    """Consecutive rows of a forest plot under one heading: part of a summary, with the names of the rows."""

    heading: str
    labels: Sequence[str]
    summary: pd.DataFrame


def draw_forest(ax: Axes, blocks: Sequence[Rows], metric: Metric, *, raw: bool = False) -> None:
    """Draw blocks of rows from top to bottom. `raw` adds the raw contrasts.

    Each block has a heading, unless it is empty, and a row for each line of a summary: a point, its interval, and its
    label at the axis. `top` is the position of the next row on the vertical axis, which points downwards.
    """
    top, ticks = 0.0, {}
    for block in blocks:
        if block.heading:
            ax.annotate(block.heading, (0, top), xycoords=("axes fraction", "data"), **_HEADING)
            top += 1
        for label, (_, row) in zip(block.labels, block.summary.iterrows(), strict=True):
            draw_row(ax, top, row, raw="observed" if raw else "")
            ticks[top] = label
            top += 1
        top += 0.4
    ax.axvline(0, color=INK, linewidth=0.9, zorder=1)
    ax.set_yticks(list(ticks), labels=list(ticks.values()), parse_math=False)
    ax.set_ylim(top - 0.6, -0.7)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(bias_axis(metric))


def forest_legend(ax: Axes, *, ci_prob: float, shown: bool = True, raw: bool = False) -> None:
    """Add a legend below the axes for both styles of intervals and, with `raw`, for the crosses of raw contrasts."""
    handles = estimate_handles(f"posterior mean; {ci_prob:.0%} interval")
    if raw:
        cross: dict[str, Any] = {"color": GREY, "marker": "x", "markersize": 5, "linestyle": ""}
        handles.append(Line2D([], [], label="raw contrast of these words", **cross))
    legend_below(ax, shown=shown, handles=handles)


def height(blocks: Sequence[Rows]) -> float:
    """Return the number of rows of all blocks, including headings and gaps."""
    return sum(len(block.labels) + bool(block.heading) + 0.4 for block in blocks)


_HEADING: dict[str, Any] = {
    "ha": "left",
    "va": "center",
    "fontweight": "bold",
    "fontsize": 9,
    "annotation_clip": False,
    "parse_math": False,
    "zorder": 5,
    "bbox": {"facecolor": PAPER, "edgecolor": "none", "pad": 1},
}


def draw_row(
    ax: Axes, y: float, row: pd.Series, *, null: float = 0.0, factor: float = 1.0, raw: str = "", marker: str = "o"
) -> None:
    """Draw the mean and the interval of a row of a summary at the height `y`.

    A cross shows the raw value in the column `raw`, if it is not "". All values are multiplied by the `factor`, and the
    interval is coloured if it excludes the `null` value.
    """
    lower, upper = (factor * end for end in interval_of(row))
    look = estimate_look(excludes(lower, upper, null)) | {"marker": marker}
    ax.plot([lower, upper], [y, y], color=look["color"], linewidth=1.8, zorder=3)
    if raw:
        ax.plot([factor * row[raw]], [y], color=GREY, marker="x", markersize=4.5, linestyle="", zorder=4)
    ax.plot([factor * row["mean"]], [y], markersize=5.5, linestyle="", zorder=5, markeredgewidth=1.2, **look)
