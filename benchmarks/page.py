"""Render the pages of `docs/evidence` from `benchmarks/pages` and the results: `python -m benchmarks.page`.

Text is in the templates, tables and numbers come from `benchmarks/results`; `speed.md` is rendered by the scripts that
measure it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks import (
    anchors,
    compiling,
    draws,
    encoding,
    one_list,
    opening,
    published,
    quadrature,
    sampling,
    speed,
    sweeps,
)
from benchmarks.cells import RESULTS
from benchmarks.figures import plot_reliability, plot_shares
from benchmarks.markdown import markdown_table
from benchmarks.methods import OF_WORDS, OURS
from benchmarks.provenance import PAGES, measured, read
from benchmarks.provenance import RESULTS as FOLDER
from benchmarks.shares import WANTED, from_to, nulls_by_size, related, rows_of, share_of, worst

TEMPLATES = Path(__file__).parent / "pages"
# Those of the evidence, in their order; the file of speed has its own sections.
NAMES = (
    "false-positives",
    "power-and-coverage",
    "replicates-and-embeddings",
    "other-analyses",
    "model-fit-and-computation",
    "all-results",
)
_SPEED: Sequence[tuple[str, Callable[[], str]]] = (
    ("compiling", compiling.section),
    ("one-list", one_list.section),
    ("sweeps", sweeps.section),
    ("quadrature", quadrature.section),
    ("sampling", sampling.section),
    ("draws", draws.section),
    ("scale", speed.scale_section),
    ("path", speed.path_section),
    ("anchors", anchors.section),
    ("opening-word2vec", opening.section),
    ("encoding", encoding.section),
)
# Of which a result has one, if its cells have different numbers of draws.
_COLUMNS_OF_NUMBERS = (
    *("draws", "lists", "simulations", "splits", "fits"),
    *("atlases", "worlds", "truths", "vocabularies", "families"),
)
_ABOUT = "*Part of the [evidence](index.md), rendered by `python -m benchmarks.page`.*"


def main() -> None:
    """Write the pages and their figures."""
    plot_shares(rows_of("nulls"), FOLDER / "nulls.png", WANTED)
    plot_reliability(rows_of("published"), FOLDER / "published.png")
    PAGES.mkdir(exist_ok=True)
    for name, text in pages().items():
        (PAGES / name).write_text(text, encoding="utf-8")
    print(f"wrote {PAGES}")


def pages() -> dict[str, str]:
    """Render each page by the name of its file."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    environment.globals |= _SHOWN
    environment.filters |= {"percent": percent, "from_to": from_to}
    answers, texts = {}, {}
    for name in NAMES:
        module = environment.get_template(f"{name}.md.jinja").module
        answers[name] = " ".join(str(module.answer).split())
        texts[f"{name}.md"] = f"# {module.title}\n\n{answers[name]}\n\n{_ABOUT}\n\n{_wrapped(str(module.body))}\n"
        environment.globals[name.replace("-", "_")] = {"title": module.title, "answer": answers[name]}
    speed_answer = " ".join(compiling.answer().split())
    sections = [section() for name, section in _SPEED if measured(name)]
    texts["speed.md"] = "\n".join([f"# Speed\n\n{speed_answer}\n\n{_ABOUT}\n", *sections])
    environment.globals["speed"] = speed_answer
    return {"index.md": environment.get_template("index.md.jinja").render().strip() + "\n"} | texts


def _wrapped(text: str) -> str:
    """Prose in lines of one length; tables, figures, lists, headings, and lines on results as they are."""
    parts = []
    for part in filter(str.strip, text.strip().split("\n\n")):
        if part.lstrip().startswith(("|", "#", "!", "- ", "*`")):
            parts.append(part.strip("\n"))
        else:
            parts.append(fill(" ".join(part.split()), 118, break_on_hyphens=False, break_long_words=False))
    return "\n\n".join(parts)


def percent(value: float, digits: int = 1) -> str:
    """Format a share."""
    return "" if pd.isna(value) else f"{value:.{digits}%}"


def about(name: str) -> str:
    """Return the number of draws of a table, the standard error of a share of 5%, the model, and if it is outdated."""
    kept, result = read(name)["about"], RESULTS[name]
    least, most = min(_numbers(name)), max(_numbers(name))
    number = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    error = (0.05 * 0.95 / least) ** 0.5
    model = "" if result.model is None else f"; {result.model} {kept.get('model', '')}"
    stale = "" if result.is_up_to_date else ", outdated"
    return f"*`{name}`: {number} draws per cell, Monte Carlo error {error:.1%}{model}{stale}.*"


def _numbers(name: str) -> list[int]:
    rows = rows_of(name)
    for column in _COLUMNS_OF_NUMBERS:
        if column in rows:
            return rows[column].dropna().astype(int).tolist()
    return [int(read(name)["about"]["draws"])]


def table(frame: pd.DataFrame, shares: Sequence[str] = (), digits: int = 1, **names: str) -> str:
    """A Markdown table of some columns; shares in percent, and columns by another name."""
    shown = frame.copy()
    for name in shares:
        shown[name] = frame[name].map(partial(percent, digits=digits))
    return markdown_table(shown.rename(columns={old.replace("_", " "): new for old, new in names.items()}))


def by_method(frame: pd.DataFrame, keys: Sequence[str], value: str, digits: int = 1) -> pd.DataFrame:
    """A row for each cell and a column for each method, in percent."""
    wide = frame.pivot_table(index=list(keys), columns="method", values=value, sort=False)
    return wide.map(lambda share: percent(share, digits)).rename_axis(columns=None).reset_index()


def methods_of_words() -> pd.DataFrame:
    """Highest and mean size, and mean power, of each method in related words of both embeddings."""
    rows = []
    for method in OF_WORDS:
        row: dict[str, Any] = {"method": method}
        for embedding, names in (("GloVe", ("words-glove",)), ("GoogleNews", ("words-googlenews", "words-wide"))):
            own = related(*names, method=method)
            row[f"{embedding}, highest"] = percent(own.found.max())
            row[f"{embedding}, mean"] = percent(own.found.mean())
            row[f"{embedding}, power"] = percent(own.power.mean(), 0)
        rows.append(row)
    return pd.DataFrame(rows)


def cells_of_words() -> pd.DataFrame:
    """Found and power of our model and of two classical tests in each design, in both embeddings."""
    keys = ["kind", "words", "sub-topics"]
    columns = []
    for embedding, name in (("GloVe", "words-glove"), ("GoogleNews", "words-googlenews")):
        rows = rows_of(name)
        for method in (OURS, "moderated F", "quasi-F"):
            own = rows[rows.method == method].set_index(keys)
            cells = (100 * own.found).map("{:.1f} / ".format) + (100 * own.power).map("{:.0f}".format)
            columns.append(cells.rename(f"{embedding}, {method}"))
    return pd.concat(columns, axis=1).reset_index()


def pools(name: str) -> pd.DataFrame:
    """False positives and power of our model and of the quasi-F in random halves of each pool, in percent."""
    rows = rows_of(name)
    text = (100 * rows.found).map("{:.1f} / ".format) + (100 * rows.power).map("{:.0f}".format)
    columns = rows.method + ", " + rows.words.astype(str) + " words"
    wide = rows.assign(text=text, column=columns).pivot_table(
        index=["pool", "classes"], columns="column", values="text", aggfunc="first", sort=False
    )
    return wide.rename_axis(columns=None).fillna("").reset_index()


def every_method(name: str) -> pd.DataFrame:
    """Found and power of each method in each design, without a per cent sign."""
    rows, keys = rows_of(name), ["kind", "words", "sub-topics"]
    rows["text"] = (100 * rows.found).map("{:.1f}/".format) + (100 * rows.power).map("{:.0f}".format)
    wide = rows.pivot_table(index=keys, columns="method", values="text", aggfunc="first", sort=False)
    return wide.rename_axis(columns=None).reset_index()


def realised() -> pd.DataFrame:
    """How often lists without a bias have a small chance, in GloVe."""
    rows = rows_of("words-glove").query("method == @OURS")
    kinds = {"random words": "random words", "sub-topics": "in sub-topics", "nested": "nested", "chains": "chains"}
    shown = []
    for what, part in kinds.items():
        own = rows[rows.kind.str.contains(part)]
        row = {"lists": what, "number": f"{int(own.draws.sum()):,}", "below .05": percent(own.found.mean())}
        row |= {"below .10": percent(own["below 0.1"].mean()), "below .20": percent(own["below 0.2"].mean())}
        shown.append(row)
    return pd.DataFrame(shown)


def other_sides() -> pd.DataFrame:
    """Our model where targets, both sides, or one group are random, pooled over lists."""
    rows = pd.concat([rows_of("random-targets"), rows_of("one-group")])
    rows = rows[(rows.method == OURS) & (rows.scope == "both")]
    pooled = rows.groupby("part", sort=False)[["findings", "draws"]].sum()
    largest = rows.groupby("part", sort=False)["share"].max()
    shares = [share_of(row.findings / row.draws, int(row.draws)) for row in pooled.itertuples()]
    columns = {"lists": pooled.draws.astype(int), "found": shares, "largest cell": largest.map(percent)}
    return pooled.assign(**columns)[list(columns)].reset_index()


def planted() -> pd.DataFrame:
    """Power and coverage for planted biases, by size of the bias."""
    rows = rows_of("planted")
    rows = rows[(rows.method == OURS) & (rows.scope == "both")]
    keys = ["wordlist", "size", "planted"]
    return rows[[*keys, "share", "coverage_95", "width"]].rename(columns={"share": "found", "coverage_95": "covered"})


def of_frequency() -> pd.DataFrame:
    """Both embeddings beside each other."""
    keys = ["groups", "classes", "words"]
    columns = {OURS: "found", "warned": "warned", "no verdict": "no verdict", "found, not warned": "not warned"}
    beside = []
    for embedding, name in (("GloVe", "frequency-glove"), ("GoogleNews", "frequency")):
        own = rows_of(name).set_index(keys)[list(columns)].rename(columns=columns)
        beside.append(own.map(lambda share: percent(share, 0)).add_prefix(f"{embedding}, "))
    return pd.concat(beside, axis=1).reset_index()


def brier() -> pd.DataFrame:
    """Mean squared errors of the probability for a published d and of WEAT's verdict, judged by the quasi-F."""
    rows = rows_of("published")
    found = (rows["quasi-F p"] < 0.05).astype(float)
    weat = (rows.p < 0.05).astype(float)
    columns = {"the probability": rows.predicted, "WEAT's p, taken at its word": weat, "the mean share": found.mean()}
    shown = []
    for name, column in columns.items():
        error = (column - found) ** 2
        significant = f"{error[weat == 1].mean():.3f}"
        shown.append({"prediction": name, "all tables": f"{error.mean():.3f}", "WEAT's p < .05": significant})
    return pd.DataFrame(shown)


def by_pivot(frame: pd.DataFrame, index: str, columns: str, *, share: bool = False) -> pd.DataFrame:
    """A table of values, as they are or in percent."""
    wide = frame.pivot_table(index=index, columns=columns, values="value", sort=False)
    wide = wide.map(percent if share else "{:.2f}".format).rename_axis(columns=None).reset_index()
    return wide.rename(columns=lambda column: f"{column} words" if isinstance(column, int) else column)


def of_atlases() -> pd.DataFrame:
    """Coverage of each quantity with its standard error."""
    rows = rows_of("atlases")
    shown = rows[["kind"]].copy()
    for name in ("cells", "means of embeddings", "means of lists", "ranks of embeddings", "ranks of lists"):
        shown[name] = rows[name].map("{:.1%} ± ".format) + rows[f"{name}, se"].map("{:.1%}".format)
    return shown


def found_and_covered(rows: pd.DataFrame, found: str, covered: str) -> "pd.Series[str]":
    """Both as per cent in one cell."""
    return (100 * rows[found]).map("{:.0f} / ".format) + (100 * rows[covered]).map("{:.0f}".format)


def of_series() -> pd.DataFrame:
    """Simulated series: found and covered by scope, and found by what others do."""
    rows = rows_of("over-time")
    shown = rows[["kind", "slices"]].copy()
    for scope, name in {"these": "these slices", "new": "new slices", "least squares": "least squares"}.items():
        shown[name] = found_and_covered(rows, f"{scope} found", f"{scope} covers")
    for method, name in {"independent": "independent", "WEAT": "WEAT's d"}.items():
        found = rows[f"{method} found"]
        shown[name] = (100 * found).map("{:.0f}".format).mask(found.isna(), "")
    return shown


def of_criterion() -> pd.DataFrame:
    """Covered and excludes zero, for each correlation, number of labels, and reliability."""
    rows = rows_of("criterion")
    rows = rows[~rows.heavy & (rows.share == 0)]
    rows = rows.assign(
        ours=found_and_covered(rows, "covered", "excludes zero"),
        fisher=found_and_covered(rows, "naive covered", "naive excludes zero"),
    )
    wide = rows.pivot_table(index=["rho", "labels"], columns="reliability", values=["ours", "fisher"], aggfunc="first")
    names = {"ours": "model", "fisher": "Fisher"}
    wide = wide[["ours", "fisher"]]
    wide.columns = [f"{names[method]}, reliability {reliability:g}" for method, reliability in wide]
    return wide.reset_index()


def of_gates(name: str = "gates", *more: str) -> pd.DataFrame:
    """Shares of passes and failures for each gate and size of a bias, beside those that the gates state."""
    rows = rows_of(name)
    shown = rows[["gate", *more, "size"]].copy()
    for column in ("passed", "stated passes", "failed", "stated failures"):
        shown[column] = rows[column].map(percent)
    return shown


def of_gaps() -> pd.DataFrame:
    """Sizes of gaps as they are, as seen, and as estimated; coverage of single gaps."""
    rows = rows_of("tpr")
    shown = rows[["true rms", "people", "groups"]].copy()
    for name, key in {"true": "truth", "raw": "raw", "posterior": "estimate"}.items():
        shown[name] = rows[f"mean absolute gap: {key}"].map("{:.3f}".format)
    shown["covered, single gaps"] = rows.covered.map(percent)
    shown["chance"] = rows["chance below .05"].map(percent)
    return shown


def of_pairs() -> pd.DataFrame:
    """Coverage of each method, for each true share and correlation of the pairs of a writer."""
    rows = pd.concat([rows_of("pairs"), rows_of("by-writer")]).query("scope == 'all pairs'")
    return by_method(rows, ["what", "correlation", "truth"], "covered").fillna("")


def up_to_date() -> pd.DataFrame:
    """Each result with its number of draws, model, and state."""
    rows = []
    for result in RESULTS.values():
        draws = read(result.name)["about"].get("draws", "") if measured(result.name) else "none yet"
        state = "yes" if result.is_up_to_date else "no"
        rows.append({"table": result.name, "draws": draws, "model": result.model or "", "up to date": state})
    return pd.DataFrame(rows)


_SHOWN = {
    "up_to_date": up_to_date,
    "of_series": of_series,
    "of_pairs": of_pairs,
    "of_gaps": of_gaps,
    "of_gates": of_gates,
    "of_criterion": of_criterion,
    "measured": measured,
    "of_atlases": of_atlases,
    "by_pivot": by_pivot,
    "about": about,
    "brier": brier,
    "by_method": by_method,
    "cells_of_words": cells_of_words,
    "every_method": every_method,
    "methods_of_words": methods_of_words,
    "nulls_by_size": nulls_by_size,
    "of_frequency": of_frequency,
    "other_sides": other_sides,
    "ours": OURS,
    "planted": planted,
    "pools": pools,
    "published": published,
    "realised": realised,
    "related": related,
    "rows": rows_of,
    "share_of": share_of,
    "table": table,
    "worst": worst,
}


if __name__ == "__main__":
    main()
