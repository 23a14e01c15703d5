"""Render CALIBRATION.md and its figure from `benchmarks/results/*.json`: `python -m benchmarks.page`."""

from collections.abc import Callable

import pandas as pd
from scipy.stats import binomtest

from benchmarks.figures import plot_shares
from benchmarks.provenance import PAGE, RESULTS, read

WANTED = (0.025, 0.075)

_HEAD = """# Calibration: what the evidence says

Every number here was measured on real GoogleNews vectors (the shipped `googlenews-demo`) and is rendered from
`benchmarks/results/*.json` by `python -m benchmarks.page`. Shares come with exact 95% Monte Carlo intervals.
Nothing is left out because it looks bad.
"""


def main() -> None:
    """Write the page and its figure."""
    if _measured("nulls"):
        plot_shares(pd.DataFrame(read("nulls")["rows"]), RESULTS / "nulls.png", WANTED)
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE.name}")


def render() -> str:
    """The page from what has been measured so far; a part without results is not on it."""
    sections = [section() for name, section in SECTIONS.items() if _measured(name)]
    return "\n".join([_HEAD, *sections])


def nulls() -> str:
    """Real targets, random attribute classes."""
    result = read("nulls")
    rows = pd.DataFrame(result["rows"])
    draws = f"{rows.draws.min():.0f}"
    return f"""## Real targets, attribute words drawn at random

Both classes are samples of the same words, so there is no bias to find. Share of findings at the 5% level, ten WEAT
lists together, {draws} draws of each. (In the n-th draw lists see much the same random words, so that they are not
independent of each other and pooled intervals are somewhat too short.)

Scope "targets" asks another question, WEAT's: are *these* attribute words different? They are, in the way that any two
handfuls of words are. Only "both" and "attributes" speak of the classes that the words stand for.

{_table(_pooled(rows))}

![Share of findings by method, size and list](benchmarks/results/nulls.png)

Wanted: `crossed`, scope both, between 2.5% and 7.5% in every cell. {_held(rows)}

{_table(_by_list(rows))}

Intervals of `crossed`, scope both: how many hold the truth, and how wide they are (cosine similarity).

{_table(_coverage(rows[(rows.method == "crossed") & (rows.scope == "both")], ["controls", "size"]))}

{_about(result["about"])}
"""


def null_groups() -> str:
    """Other nulls."""
    result = read("null-groups")
    rows = pd.DataFrame(result["rows"])
    return f"""## Other nulls

Random groups against random classes, and real groups against random halves of the neutral control words. (The means
of two halves differ by as much as those of two independent samples do, so 5% is right there, too.)

{_table(_pooled(rows, ["part", "method", "scope"]))}

{_about(result["about"])}
"""


def planted() -> str:
    """Known bias."""
    result = read("planted")
    rows = pd.DataFrame(result["rows"])
    crossed = rows[(rows.method == "crossed") & (rows.scope == "both")]
    return f"""## A planted bias

Vectors of associated words are moved towards each other along a direction of their own, by exactly as much as makes
the population bias equal to the planted value; the attribute words are random. Wanted: power grows to 1, and
intervals cover the planted value at their nominal rate.

{_table(_coverage(crossed, ["wordlist", "size", "planted"], power=True))}

{_about(result["about"])}
"""


def sbc() -> str:
    """Simulation-based calibration."""
    result = read("sbc")
    rows = pd.DataFrame(result["rows"])
    worst = rows.loc[rows.p_uniform.idxmin()]
    threshold = 0.05 / len(rows)
    verdict = "none is below" if worst.p_uniform >= threshold else f"`{worst.quantity}` is below"
    return f"""## Simulation-based calibration

Parameters from the priors, cosines from the model, {rows.fits.iloc[0]:.0f} fits: the truth's rank among the posterior
draws must be uniform. Kolmogorov-Smirnov p-values; of {len(rows)} quantities {verdict} .05 / {len(rows)}.

{_table(rows.rename(columns={"p_uniform": "p", "coverage_50": "50%", "coverage_95": "95%"}).drop(columns="fits"))}

![ECDF of ranks less the uniform's, with simultaneous bands](benchmarks/results/sbc.png)

{_about(result["about"])}
"""


def data_fit() -> str:
    """Predictive coverage and LOO."""
    result = read("data-fit")
    return f"""## Fit to the raw cosines

Share of raw cosines inside 50% and 89% posterior predictive intervals; difference of the expected log predictive
density (PSIS-LOO) of `crossed` less that of the published model, with its standard error; cosines with a Pareto k
that is too high; sensitivity of `bias` to the priors (above .05 the prior matters).

{_table(pd.DataFrame(result["rows"]))}

{_about(result["about"])}
"""


def planning() -> str:
    """Predicted against real widths."""
    result = read("planning")
    return f"""## Planned designs against real ones

From the fit of a whole list, without controls: the width that `plan` predicts for shorter lists, and the probability
of excluding zero; then the same of random sub-lists, fitted. (The whole list's contrast is the truth of its sub-lists,
while the prediction allows for the population's being another, and so is nearer to one half.)

{_table(pd.DataFrame(result["rows"]))}

{_about(result["about"])}
"""


def scale() -> str:
    """Very long lists."""
    row = read("scale")["rows"][0]
    agreement = read("scale-agreement")["rows"][0]
    opened = [read(name)["rows"][0] for name in ("opening-word2vec", "opening-glove") if _measured(name)]
    return f"""## Scale

Sufficient statistics of {row["targets"]:,} x {row["attributes"]:,} words in {row["dimensions"]} dimensions,
without forming a cosine: {row["seconds"]} s, peak memory {row["peak_gigabytes"]} GB, vectors included (wanted: 5 s,
1 GB; measured on a machine that did other work at the same time). At {agreement["words"]:,} x
{agreement["words"]:,} words they differ from those of the materialised matrix by
{agreement["largest_relative_difference"]:.0e} at most (wanted: 1e-6).

Opening a generated file and measuring the cosines of WEAT 6, beside gensim's full load; memory beyond that of the
imports (wanted: at least 5 times faster, a tenth of the memory, at 3 million words of word2vec and 2.2 million of
GloVe text).

{_table(pd.DataFrame(opened).drop(columns=["ours, gigabytes", "gensim, gigabytes"], errors="ignore"))}
"""


def _measured(name: str) -> bool:
    return (RESULTS / f"{name}.json").is_file()


SECTIONS: dict[str, Callable[[], str]] = {
    "nulls": nulls,
    "null-groups": null_groups,
    "planted": planted,
    "sbc": sbc,
    "data-fit": data_fit,
    "planning": planning,
    "scale": scale,
}


def _pooled(rows: pd.DataFrame, by: list[str] | None = None) -> pd.DataFrame:
    """Share of findings over cells, with its interval."""
    by = by or ["method", "scope", "controls", "size"]
    rows = rows.sort_values([b for b in by if b != "size"] + ["size"], key=_in_order)
    counts = rows.groupby(by, as_index=False, sort=False)[["findings", "draws"]].sum()
    intervals = [
        binomtest(int(f), int(d)).proportion_ci() for f, d in zip(counts.findings, counts.draws, strict=True)
    ]
    shares = counts.findings / counts.draws
    shown = [f"{s:.1%} [{i.low:.1%}, {i.high:.1%}]" for s, i in zip(shares, intervals, strict=True)]
    return counts.assign(share=shown).drop(columns="findings").astype({"draws": int})


def _in_order(column: pd.Series) -> pd.Series:
    """Methods from the oldest to ours, everything else as it sorts."""
    return (
        column.map({"WEAT": 0, "SD-WEAT": 1, "hierarchical": 2, "crossed": 3})
        if column.name == "method"
        else column
    )


def _by_list(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each list: share of `crossed`, scope both, in each cell; bold where outside what is wanted."""
    mine = rows[(rows.method == "crossed") & (rows.scope == "both")]
    with_controls = mine.controls.map({True: "with", False: "no"})
    shown = mine.assign(
        shown=mine["share"].map(_mark),
        cell=mine["size"].map("{:.0f} words, ".format) + with_controls + " controls",
        order=mine.wordlist.str.removeprefix("weat").astype(int),
    )
    wide = shown.pivot_table(index=["order", "wordlist"], columns="cell", values="shown", aggfunc="first")
    return (
        wide[list(dict.fromkeys(shown.sort_values(["controls", "size"]).cell))]
        .reset_index()
        .drop(columns="order")
    )


def _mark(share: float) -> str:
    return f"{share:.1%}" if WANTED[0] <= share <= WANTED[1] else f"**{share:.1%}**"


def _held(rows: pd.DataFrame) -> str:
    mine = rows[(rows.method == "crossed") & (rows.scope == "both")]
    below, above = (mine["share"] < WANTED[0]).sum(), (mine["share"] > WANTED[1]).sum()
    sure_below, sure_above = (mine.share_ub < WANTED[0]).sum(), (mine.share_lb > WANTED[1]).sum()
    return (
        f"Of {len(mine)} cells {below} are below and {above} above (bold); of these {sure_below} and {sure_above}"
        f" beyond their Monte Carlo interval. The largest share is {mine['share'].max():.1%}."
    )


def _coverage(rows: pd.DataFrame, by: list[str], *, power: bool = False) -> pd.DataFrame:
    levels = [column for column in rows if str(column).startswith("coverage_")]
    table = rows.groupby(by, as_index=False)[[*levels, "width", *(["share"] if power else [])]].mean()
    table = table.assign(**{level: table[level].map("{:.1%}".format) for level in levels})
    renamed = {level: f"{str(level).removeprefix('coverage_')}%" for level in levels} | {"share": "power"}
    return table.rename(columns=renamed)


def _table(frame: pd.DataFrame) -> str:
    """A Markdown table; numbers to three digits."""
    lines = [" | ".join(map(str, frame.columns)), " | ".join("---" for _ in frame.columns)]
    lines += [" | ".join(map(_cell, row)) for row in frame.itertuples(index=False)]
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if value == int(value) else f"{value:.3g}"
    return str(value)


def _about(about: dict[str, object]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    more = "; ".join(
        f"{key}: {value}" for key, value in about.items() if key in ("specs", "sampling", "seed")
    )
    return f"*{versions}; {about['cores']} cores{'; ' + more if more else ''}.*"


if __name__ == "__main__":
    main()
