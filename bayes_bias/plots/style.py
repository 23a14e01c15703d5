"""How all figures look: colours that every eye and a grey printer can tell apart, and no global state."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font_names
from matplotlib.transforms import IdentityTransform, ScaledTranslation

from bayes_bias.models.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fit, Fitted

# Okabe & Ito's palette; markers say the same in grey. The overall bias is black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
INK, GREY, NOISE, PAPER = "#1c1c1c", "#6b6b6b", "#dcdcdc", "white"

WIDTH = 5.4
_BELOW_LABEL = 0.5  # inches
_LONGEST_LABEL = 28
_LONGEST_TITLE = 44
NOT_CONVERGED = "NOT CONVERGED – do not interpret"

# Fonts with Chinese, Japanese and Korean letters, of which most machines have one.
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
        # Words come from users: a dollar sign is a dollar sign.
        "text.parse_math": False,
        "text.usetex": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "bayes_bias",
        "pdf.fonttype": 42,
        # Matplotlib 3.11 asks this one, for PDF too, whether a font of its letters holds a minus: one font, not two.
        "ps.fonttype": 42,
    }
)


@contextmanager
def style() -> Iterator[None]:
    """The look of the figures, for as long as something is drawn or saved."""
    with mpl.rc_context({**_RC, "font.family": _families()}):
        yield


@cache
def _families() -> list[str]:
    """Matplotlib's own font, then installed ones for the letters that it lacks."""
    installed = set(get_font_names())
    return ["sans-serif", *(name for name in _OTHER_SCRIPTS if name in installed)]


def axes_or_new(ax: Axes | None, *, rows: float, row_height: float = 0.25, extra: float = 1.3) -> Axes:
    """The axes to draw on; new ones belong to a figure of their own, unknown to pyplot, as high as needed."""
    if ax is not None:
        return ax
    figure = Figure(figsize=(WIDTH, rows * row_height + extra), layout="constrained", facecolor=PAPER)
    return figure.add_subplot()


def colour_and_marker(index: int) -> dict[str, Any]:
    """What the points of the index-th group look like."""
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}


def legend_below(ax: Axes, **options: Any) -> None:
    """A legend under the axis label, clear of the data however high the figure is."""
    figure = ax.get_figure(root=True)
    below = ScaledTranslation(0, -_BELOW_LABEL, figure.dpi_scale_trans) if figure else IdentityTransform()
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + below,
        borderaxespad=0,
        borderpad=0,
        handletextpad=0.7,
        **options,
    )


def shortened(label: str) -> str:
    """A label that leaves room for the data, whatever a user calls a word or group."""
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"


def finish(ax: Axes, fit: Fit, what: str) -> Axes:
    """Title with the list's name, and a mark that nobody overlooks where the fit has not converged."""
    fitted = Fitted.of(fit)
    converged, name = Diagnostics.of(fitted).converged, shortened(fitted.name)
    title = f"{name}: {what}" if len(name) + len(what) < _LONGEST_TITLE else f"{name}:\n{what}"
    ax.set_title(title if converged else f"{title}\n{NOT_CONVERGED}", parse_math=False)
    if not converged:
        mark: dict[str, Any] = {"fontsize": 30, "color": INK, "alpha": 0.16, "rotation": 18, "zorder": 10}
        ax.text(0.5, 0.5, "not converged", transform=ax.transAxes, ha="center", va="center", **mark)
    return ax
