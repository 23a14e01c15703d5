"""Plot the sources of variance: targets, attributes, replicates, and the residual."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.plots.style import INK, PAPER, axes_or_new, colour, finish, legend_below, style
from bayes_bias.posterior.planning import part_named, variance_shares
from bayes_bias.table.scopes import Part

# Each part has a colour (or the index of a colour in the palette), a hatch that distinguishes the part in greyscale,
# and a colour of text that is readable on the fill.
_WORDS: tuple[tuple[Part, int | str, str, str], ...] = (
    ("targets", 2, "", PAPER),
    ("attributes", 4, "////", INK),
    ("residual", "#cfcfcf", "", INK),
)
# Interactions with replicates have a paler colour than the corresponding main effects.
_REPLICATES: tuple[tuple[Part, int | str, str, str], ...] = (
    ("replicates", 3, "", PAPER),
    ("targets by replicate", "#a6dccb", "....", INK),
    ("attributes by replicate", "#f6dc9e", "\\\\\\\\", INK),
    ("residual by replicate", "#e2e2e2", "xxxx", INK),
)
_LEAST_LABELLED = 0.06


def plot_variance_shares(
    fit: Fit,
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
    shares: pd.DataFrame | None = None,
    name: str | None = None,
) -> Axes:
    """Plot shares of variance due to targets, attributes and residual, and to replicates if there are any.

    The upper bar is the variance of one value around the mean of its group and class. The lower bar is the sampling
    variance of ``bias`` for lists of this length, if targets and attributes are samples. To narrow the interval, add
    words to the side with the largest part.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    ax, legend, palette
        As in `plot_forest`.
    shares : pandas.DataFrame, optional
        Result of ``variance_shares(fit)``, to avoid computing it again.
    name : str, optional
        Name of the list in the title. The default is the name of the table.

    Examples
    --------
    >>> plot_variance_shares(posterior)                                           # doctest: +SKIP
    """
    table = variance_shares(fit) if shares is None else shares
    kind = Fitted.of(fit).replicate_kind
    bars = {"value": f"a single {Fitted.of(fit).metric.name}", "bias": "the noise of the bias"}
    with style(palette):
        ax = axes_or_new(ax, rows=len(bars), row_height=0.42, extra=1.6 if kind else 1.05)
        start = pd.Series(0.0, index=list(bars))
        for part, fill, hatch, ink in _WORDS + _REPLICATES if kind else _WORDS:
            share = table.loc[list(bars), part]
            shade = colour(fill) if isinstance(fill, int) else fill  # a number is a position in the palette
            _draw_part(ax, share, start, part_named(part, kind), shade, hatch, ink)
            start = start + share
        ax.set_yticks(range(len(bars)), labels=list(bars.values()))
        ax.set(xlim=(0, 1), ylim=(len(bars) - 0.5, -0.5), xlabel="share of the variance")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        legend_below(ax, shown=legend, ncols=2 if kind else len(_WORDS))
        return finish(ax, fit, "where the variance comes from", name)


def _draw_part(ax: Axes, share: pd.Series, starts: pd.Series, part: str, fill: str, hatch: str, ink: str) -> None:
    """Draw one part of each bar, with its share as text if there is enough space (`_LEAST_LABELLED`).

    `share` is the length of the part in each bar, and `starts` are the lengths of all earlier parts. The part is filled
    with a colour and a hatch, and `ink` is the colour of its text.
    """
    for y, (width, start) in enumerate(zip(share, starts, strict=True)):
        label = part if y == 0 else None
        ax.barh(y, width, left=start, height=0.62, color=fill, hatch=hatch, edgecolor=PAPER, linewidth=1, label=label)
        if width >= _LEAST_LABELLED:
            box = {"facecolor": fill, "edgecolor": "none", "pad": 1.5}
            ax.text(start + width / 2, y, f"{width:.0%}", ha="center", va="center", color=ink, bbox=box)
