"""A series as a document: figure, trend, changes between neighbours, comparability of slices, words, methods."""

from collections.abc import Callable
from functools import partial

from matplotlib.axes import Axes

from bayes_bias.analyses.over_time.results import OverTime
from bayes_bias.documents.document import Document, PageSection, methods_section, model_provenance, notices_section
from bayes_bias.documents.methods import Methods, methods_of_fits, model_facts, source_facts
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import level
from bayes_bias.plots import plot_over_time, plot_word_bias
from bayes_bias.table.association_table import words_in
from bayes_bias.table.scopes import scope_of


def over_time_document(series: OverTime) -> Document:
    """The document of a series."""
    methods, fitted = methods_of(series), Fitted.of(series.fit)
    first, *_, last = series.tables
    return Document(
        title=f"Over time: {series.name}",
        heading=f"Did the bias of {series.name} change from {first} to {last}?",
        opening={"answer": series.text, "lede": f"Slices: {', '.join(map(str, series.tables))}"},
        sections=(
            PageSection("slices", "Each slice", "over-time-slices.html"),
            PageSection("trend", "Trend", "over-time-trend.html"),
            PageSection("changes", "From slice to slice", "over-time-changes.html"),
            PageSection("alike", "Are the slices comparable?", "over-time-alike.html"),
            PageSection("words", "Words that moved", "over-time-words.html", look="words"),
            PageSection("lost", "Words that a slice lacks", "over-time-lost.html") if len(series.lost) else None,
            notices_section("Omitted words", series.notices),
            methods_section(methods),
        ),
        facts={
            "series": series,
            "level": level(series.ci_prob),
            "metric": series.metric,
            "decimals": series.metric.decimals,
            "tau": None if series.new is None else series.new.tau,
        },
        figures=_figures(series),
        tables={
            "alike": series.alike.table.rename_axis("slice"),
            "slices": series.table,
            "trend": series.trend.table,
            "changes": series.changes,
            "words": series.moved,
            "lost": series.lost,
        },
        methods=methods,
        fits={"trend": fitted},
        provenance=model_provenance(series, fitted)
        | {
            "slices": {str(time): dict(table.provenance) for time, table in series.sources.items()},
            "reference": str(series.alike.reference),
            "fit": fitted.provenance,
        },
    )


def _figures(series: OverTime) -> dict[str, Callable[[], Axes]]:
    """Return the figures by name."""
    words = partial(plot_word_bias, series.fit, scope=series.scope, ci_prob=series.ci_prob)
    figures: dict[str, Callable[[], Axes]] = {
        "series": partial(plot_over_time, series),
        "targets": partial(words, side="target"),
    }
    if "attribute" in series.moved.index.get_level_values("side"):
        figures["attributes"] = partial(words, side="attribute")
    return figures


def methods_of(series: OverTime) -> Methods:
    """The methods text, written from the tables and fits themselves."""
    fits = {"trend": Fitted.of(series.fit)} | {change.label: Fitted.of(change.fit) for change in series.steps}
    table = next(iter(series.tables.values()))
    first, *_, last = series.tables
    facts = model_facts(fits, series.spec, series.scope, series.ci_prob) | {
        "series": series,
        "modelled": f"weighted sum of the {table.metric.plural}",
        "finding": "change",
        "first": first,
        "last": last,
        "targets": _counted(words_in(table.values.group, table.groups)),
        "attributes": _counted(words_in(table.values.attribute_class, table.associated_classes)),
        "scope": scope_of(series.scope).with_replicates_called(fits["trend"].replicate_kind),
        **source_facts(table),
    }
    return methods_of_fits("methods-of-over-time.txt", fits, series.spec, facts, sources=tuple(table.references))


def _counted(words: dict[str, int]) -> str:
    """Return the number of words of each group or class, as text."""
    return ", ".join(f"{number} {name}" for name, number in words.items())
