"""The text and the figure, from the results alone."""

import json
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayes_bias.plots.style import GREY, colour_and_marker, style
from studies.debiasing_league.methods import METHODS, ORIGINAL, SHAM
from studies.debiasing_league.results import LEAGUE, by_truth, over_truths, removers, winners, worlds_of
from studies.debiasing_league.worlds import KINDS

HERE = Path(__file__).parent
TITLES = {"apart": "religion apart from gender", "tied": "religion goes with gender"}
# Its neutral words are those of hard debiasing without it, and the points of both, and of linear projection, are one.
_EQUALISED = "hard, equalised"
# Where names stand that would meet another one, in points from their mark.
_PLACED = {
    "partial projection": (-30, 8),
    "double-hard": (2, 7),
    "INLP": (-8, -12),
    "hard, linear projection": (-34, -13),
    "soft, strong": (8, -2),
    "LEACE, leaning words": (-60, -12),
    "half-sibling": (-46, 6),
}


def write_page() -> None:
    """README and figure again."""
    league = pd.read_csv(LEAGUE)
    (HERE / "figures").mkdir(exist_ok=True)
    draw(by_truth(league)).savefig(HERE / "figures" / "bias-and-damage.png", dpi=150)
    (HERE / "README.md").write_text(page(league), encoding="utf-8")


def page(league: pd.DataFrame) -> str:
    """README.md.jinja with the numbers of the results, which have a row for each world and method."""
    template = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    text = (HERE / "README.md.jinja").read_text(encoding="utf-8")
    return template.from_string(text).render(facts(by_truth(league)), spread=_between_corpora(league))


def _between_corpora(league: pd.DataFrame) -> float:
    """Standard deviation of the bias that hard debiasing leaves, between corpora of one truth read by one model."""
    left = league[league.version == "hard"].groupby(["kind", "truth", "model"]).new_left
    return float(np.sqrt(left.var().mean()))


def facts(league: pd.DataFrame) -> dict[str, Any]:
    """What the text is made of."""
    means = over_truths(league)
    kinds = [kind for kind in KINDS if kind in worlds_of(league)]
    of_kind = {kind: league[league.kind == kind] for kind in kinds}
    return {
        "means": lambda kind, version, number: means.loc[(kind, version), number],
        "share": lambda kind, version, number, digits=1: _share(means.loc[(kind, version)], number, digits),
        "turned": means.drop(index=ORIGINAL, level="version").turned.max(),
        "worlds": worlds_of(league),
        "truths": {kind: rows.truth.nunique() for kind, rows in of_kind.items()},
        "tables": {kind: _table(means.loc[kind]) for kind in kinds},
        "corpora": {kind: int(rows.corpora.max()) for kind, rows in of_kind.items()},
        "ranking": _ranking(of_kind["apart"]),
        "least": removers(of_kind["apart"]).left,
        "winners": winners(of_kind["apart"]),
        "winners_by_model": {name: winners(rows) for name, rows in of_kind["apart"].groupby("model", sort=False)},
        "about": json.loads((HERE / "results" / "provenance.json").read_text(encoding="utf-8")),
    }


def _table(rows: pd.DataFrame) -> str:
    shown = {
        "gender left": [_share(row, "new_left") for _, row in rows.iterrows()],
        "r": rows.new_r.map("{:.2f}".format),
        "religion left": [_share(row, "religion_left", 0) for _, row in rows.iterrows()],
        "neighbours kept": [_share(row, "neighbours_kept") for _, row in rows.iterrows()],
        "variance gone": rows.variance_gone.map("{:.1%}".format),
        "clustering": rows.clustering.map("{:.2f}".format),
        "classifier": rows.classifier.map("{:.2f}".format),
    }
    return pd.DataFrame({"method": rows.index, **{name: list(column) for name, column in shown.items()}}).to_markdown(
        index=False, disable_numparse=True
    )


def _ranking(league: pd.DataFrame) -> str:
    rows = removers(league)
    more = [
        "" if pd.isna(row.p) else f"{row.more:+.1%} [{row.more_lb:+.1%}, {row.more_ub:+.1%}]".replace("-", "−")
        for row in rows.itertuples()
    ]
    p = ["" if pd.isna(p) else "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0") for p in rows.p_holm]
    frame = pd.DataFrame({"method": rows.index, "left": rows.left.map("{:.1%}".format), "more than the first": more})
    return frame.assign(**{"p (Holm)": p}).to_markdown(index=False, disable_numparse=True)


def _share(row: "pd.Series[float]", number: str, digits: int = 1) -> str:
    """A share and its interval; none where all worlds have one value."""
    value, lower, upper = (row[name] for name in (number, f"{number}_lb", f"{number}_ub"))
    exact = f"{value:.{digits}%}"
    text = exact if upper - lower < 1e-9 else f"{exact} [{lower:.{digits}%}, {upper:.{digits}%}]"
    return text.replace("-", "−")


def draw(league: pd.DataFrame) -> Figure:
    """Bias left against neighbours lost, a point a method, intervals over truths both ways; a panel for each kind."""
    means = over_truths(league)
    kinds = [kind for kind in KINDS if kind in worlds_of(league)]
    with style():
        figure = Figure(figsize=(5 * len(kinds), 5), layout="constrained")
        axes = figure.subplots(1, len(kinds), squeeze=False, sharey=True)[0]
        for ax, kind in zip(axes, kinds, strict=True):
            _draw_kind(ax, means.loc[kind].drop(index=ORIGINAL))
            ax.set_title(f"{TITLES[kind]}, {worlds_of(league)[kind]} worlds")
        axes[0].set_ylabel("nearest neighbours lost (log scale)")
    return figure


def _draw_kind(ax: Axes, rows: pd.DataFrame) -> None:
    for name, row in rows.drop(index=[_EQUALISED, "linear projection"]).iterrows():
        label = "hard, linear projection" if name == "hard" else str(name)
        x, y = row.new_left, 1 - row.neighbours_kept
        look = {"color": GREY, "marker": "x"} if name == SHAM else colour_and_marker(list(METHODS).index(str(name)) % 8)
        wide = [[x - row.new_left_lb], [row.new_left_ub - x]]
        high = [[y - (1 - row.neighbours_kept_ub)], [1 - row.neighbours_kept_lb - y]]
        ax.errorbar(x, y, yerr=high, xerr=wide, linewidth=1, markersize=5, **look)
        ax.annotate(label, (x, y), xytext=_PLACED.get(label, (6, 4)), textcoords="offset points", fontsize="x-small")
    ax.set(xscale="log", yscale="log", xlim=(0.005, 4), xlabel="bias of new words that is left (log scale)")
    ax.set_xticks([0.01, 0.1, 1])
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.yaxis.set_major_formatter("{x:.1%}")
