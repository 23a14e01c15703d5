"""What survey statistics makes of pairs that cluster by writer: `python -m benchmarks.by_writer --draws 1000`.

The tables are those of `benchmarks.pairs`, and more of them, since nothing is sampled: how many 95% intervals of
estimating equations and of a bootstrap over writers hold the true share and the true mean difference?
"""

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t

from benchmarks.markdown import circumstances, markdown_table
from benchmarks.paired_tables import CORRELATIONS, SHARES, Truth
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import from_to, share_of

_RESAMPLES = 2000
_ENDS = (0.025, 0.975)
_OURS = "hierarchical"

type Numbers = NDArray[np.float64]
type Interval = tuple[float, float]


def independence(n: Numbers, sums: Numbers) -> Interval:
    """Take all pairs for alike, and the sandwich of writers for the error."""
    return _sandwich(n, sums, np.ones_like(n))


def exchangeable(n: Numbers, sums: Numbers, squares: Numbers) -> Interval:
    """Let the pairs of a writer correlate alike, by moments; the sandwich of writers around that."""
    mean = sums.sum() / n.sum()
    residual, left = sums - n * mean, squares - 2 * mean * sums + n * mean**2
    products = (residual**2 - left).sum() / (n * (n - 1)).sum()
    correlation = max(0.0, products / (left.sum() / (n.sum() - 1)))
    return _sandwich(n, sums, 1 / (1 + (n - 1) * correlation))


def bootstrap(n: Numbers, sums: Numbers, seed: int) -> Interval:
    """Draw writers with replacement, and take percentiles of the means of their pairs."""
    counts = np.random.default_rng(seed).multinomial(len(n), np.full(len(n), 1 / len(n)), size=_RESAMPLES)
    return _ends(np.quantile(counts @ sums / (counts @ n), _ENDS))


def _sandwich(n: Numbers, sums: Numbers, weight: Numbers) -> Interval:
    """The weighted mean, with the variance between writers and Student's t."""
    total, writers = weight @ n, len(n)
    mean = weight @ sums / total
    error = np.sqrt(writers / (writers - 1) * ((weight * (sums - n * mean)) ** 2).sum()) / total
    return _ends(mean + error * t(writers - 1).ppf(_ENDS))


def _ends(both: Numbers) -> Interval:
    lower, upper = both
    return float(lower), float(upper)


def judged(truth: Truth, number: int) -> Iterator[dict[str, object]]:
    """The intervals of one table, for its share and its mean difference, beside the truth."""
    frame = truth.draw(number)
    values = {
        "share": ((frame.difference > 0).astype(float), truth.share),
        "difference": (frame.difference, truth.mean),
    }
    for what, (value, true) in values.items():
        writers = value.groupby(frame.writer)
        n, sums = writers.size().to_numpy(dtype=float), writers.sum().to_numpy()
        intervals = {
            "GEE, independence": independence(n, sums),
            "GEE, exchangeable": exchangeable(n, sums, (value**2).groupby(frame.writer).sum().to_numpy()),
            "bootstrap of writers": bootstrap(n, sums, number),
        }
        for method, (lower, upper) in intervals.items():
            yield {"what": what, "method": method, "covered": lower <= true <= upper, "width": upper - lower}


def main() -> None:
    """Judge all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, help="simulated tables of each cell")
    draws = parser.parse_args().draws
    rows = []
    for truth in (Truth(share, correlation) for correlation in CORRELATIONS for share in SHARES):
        records = pd.DataFrame([row for number in range(draws) for row in judged(truth, number)])
        means = records.groupby(["what", "method"], sort=False)[["covered", "width"]].mean().reset_index()
        rows.append(means.assign(correlation=truth.correlation, truth=truth.share, draws=draws))
    table = pd.concat(rows, ignore_index=True)
    print(table.to_string(float_format="{:.3f}".format))
    write("by-writer", provenance() | {"resamples": _RESAMPLES}, rows_of(table))


def together() -> pd.DataFrame:
    """All methods' coverage, the hierarchical models' of the first tables among them."""
    ours = pd.DataFrame(read("pairs")["rows"]).query("scope == 'all pairs'")
    ours = ours[ours.method.str.contains(_OURS)]
    ours = ours.assign(what=ours.method.str.split(",").str[0], method=_OURS, covered=ours.coverage_95)
    theirs = pd.DataFrame(read("by-writer")["rows"])
    return pd.concat([ours[theirs.columns], theirs], ignore_index=True)


def answer() -> str:
    """Say how many intervals hold the truth if the pairs of a writer are correlated."""
    rows = together().query("correlation > 0")
    held = {method: from_to(own.covered) for method, own in rows.groupby("method")}
    return f"""If the pairs of a writer are correlated, those of the hierarchical models hold it in {held[_OURS]} by
cell, those of an estimating equation with an exchangeable correlation in {held["GEE, exchangeable"]}, of a bootstrap of
writers in {held["bootstrap of writers"]}."""


def _by_method(rows: pd.DataFrame, column: str) -> str:
    """A column for each method."""
    keys = ["what", "correlation", "truth"]
    beside = [own.set_index(keys)[column].rename(str(method)) for method, own in rows.groupby("method", sort=False)]
    return markdown_table(pd.concat(beside, axis=1).sort_index().reset_index())


def section() -> str:
    """Render estimating equations and the bootstrap beside the hierarchical models."""
    result, rows = read("by-writer"), together()
    held = rows.assign(held=[share_of(row.covered, int(row.draws)) for row in rows.itertuples()])
    widths = rows[rows.correlation > 0].set_index(["what", "correlation", "truth", "method"]).width
    wider = widths.xs("GEE, exchangeable", level="method") / widths.xs(_OURS, level="method")
    least, most = int(rows.draws.min()), int(rows.draws.max())
    return f"""## Estimating equations, and a bootstrap of writers

The same tables, {most:,} a cell ({least} of the hierarchical models, the first of them): generalised estimating
equations for a mean, with all pairs alike (independence) or pairs of a writer that correlate alike (exchangeable), both
with the sandwich of writers and Student's t; and percentiles of {result["about"]["resamples"]:,} bootstraps of writers.
How many 95% intervals hold the share, and the mean difference, of new pairs of new writers:

{_by_method(held, "held")}

If the pairs of a writer are correlated, an estimating equation with an exchangeable correlation does as well as the
models, with intervals {wider.min():.2f} to {wider.max():.2f} times as wide. What the models have beside it: types that
are drawn towards each other, numbers of writers and pairs that would be enough, and a posterior.

Mean width of the intervals:

{_by_method(rows.assign(width=rows.width.map("{:.3f}".format)), "width")}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
