"""A comparison as a document: bias before, after and its change; controls; measures; words."""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType

import xarray as xr
from matplotlib.axes import Axes

from bayes_bias.analyses.comparison.comparison import Comparison, State
from bayes_bias.documents.document import Document, PageSection, methods_section, model_provenance, notices_section
from bayes_bias.documents.methods import Methods, methods_of_fits, model_facts, source_facts
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import Layout, capitalized, joined, level
from bayes_bias.plots import plot_overview, plot_word_bias
from bayes_bias.plots.style import set_title, shortened, style
from bayes_bias.table.association_table import words_in
from bayes_bias.table.columns import estimates, interval_columns
from bayes_bias.table.scopes import scope_of


def comparison_document(comparison: Comparison) -> Document:
    """The document of a comparison."""
    table, names, decimals = comparison.before, comparison.names, comparison.before.metric.decimals
    methods, figures = methods_of(comparison), _figures(comparison)
    fits = {str(state): Fitted.of(fit) for state, fit in comparison.fits.items()}
    change = capitalized(names["change"])
    of = comparison.between if comparison.corpora else "Before and after"
    heading = f"{of}: {comparison.name}"
    measures = f"Every measure in {comparison.between}" if comparison.corpora else "Every measure before and after"
    # The change of each control class has no interval under scope "none".
    rows = comparison.controls
    if scope_of(comparison.scope).samples_nothing:
        rows = rows.assign(**dict.fromkeys(interval_columns(rows), math.nan))
    columns = estimates(rows, names["change"], comparison.ci_prob, decimals)
    controls = Layout(list(map(str, rows.index)), columns, "group and class", capitalized(comparison.between))
    return Document(
        title=heading,
        heading=heading,
        opening={"answer": f"{comparison.headline}. {comparison.details[0]}", "lede": comparison.between},
        sections=(
            PageSection("bias", "Bias", "comparison-bias.html"),
            PageSection("controls", "Control classes", "comparison-controls.html") if controls.labels else None,
            PageSection("measures", measures, "comparison-measures.html"),
            PageSection("words", f"{change}, word by word", "comparison-words.html", look="words") if figures else None,
            notices_section("Omitted words", table.notices),
            methods_section(methods),
        ),
        facts={
            "comparison": comparison,
            "names": names,
            "level": level(comparison.ci_prob),
            "rope": comparison.verdict.rope,
            "scope": scope_of(comparison.scope).with_replicates_called(comparison.verdict.replicate_kind),
            "failed": [names[state] for state, fit in comparison.fits.items() if not Diagnostics.of(fit).converged],
            "controls": controls,
            "bias": comparison.layout,
            "measures": comparison.measures_layout,
            "metric": table.metric,
            "decimals": decimals,
        },
        figures=figures,
        latex="comparison.tex",
        tables={
            "change": comparison.change,
            "before-and-after": comparison.to_frame(),
            "controls": comparison.controls,
        },
        methods=methods,
        fits=fits,
        provenance=model_provenance(comparison, fits["change"])
        | {
            "before": dict(table.provenance),
            "after": dict(comparison.after.provenance),
            "fits": {state: fitted.provenance for state, fitted in fits.items()},
        },
    )


def _figures(comparison: Comparison) -> dict[str, Callable[[], Axes]]:
    """Return the figures by name: none under scope "none", which has no intervals to draw."""
    if scope_of(comparison.scope).samples_nothing:
        return {}
    scope, ci_prob = comparison.scope, comparison.ci_prob
    words = partial(plot_word_bias, comparison.fits["change"], scope=scope, ci_prob=ci_prob)
    figures: dict[str, Callable[[], Axes]] = {
        "bias": partial(_plot_sides, comparison),
        "targets": partial(words, side="target"),
    }
    if len(comparison.before.groups) > 1:
        figures["attributes"] = partial(words, side="attribute")
    return figures


def _plot_sides(comparison: Comparison) -> Axes:
    """Plot both biases and the change, or difference."""
    ax = plot_overview(list(comparison.fits.values()), comparison.scope, ci_prob=comparison.ci_prob)
    with style():
        set_title(ax, f"{shortened(comparison.name)}: {joined(list(comparison.names.values()))}")
    return ax


# The methods text of a comparison: its pairs of values, and its fits.

_CHANGE_FIRST: tuple[State, ...] = ("change", "before", "after")

# As in the methods text of a report.
_MEASURES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"WEAT": ("caliskan2017semantics",), "quasi-F": ("clark1973language", "satterthwaite1946approximate")}
)


def methods_of(comparison: Comparison) -> Methods:
    """The methods text, written from the tables, the spec and the fits themselves."""
    fits: dict[str, Fitted] = {}
    for state in _CHANGE_FIRST:
        if state in comparison.fits:
            fits[state] = Fitted.of(comparison.fits[state])
    values, table = comparison.before.values, comparison.before
    facts = model_facts(fits, comparison.spec, comparison.scope, comparison.ci_prob) | {
        "comparison": comparison,
        "names": comparison.names,
        "rope": comparison.verdict.rope,
        "modelled": f"{comparison.names['change']} of the {table.metric.name}",
        "finding": comparison.names["change"],
        "targets": _counted(values.group, table.groups),
        "attributes": _counted(values.attribute_class, table.associated_classes),
        "controls": _counted(values.attribute_class, table.controls),
        **source_facts(table),
        "pairs": f"{values.size:,}",
        "by_themselves": [comparison.names[state] for state in comparison.fits if state != "change"],
        "fieller": not math.isnan(comparison.share_removed.lower),
        "measures": [(name, _MEASURES.get(name, ())) for name in comparison.measures.index],
    }
    return methods_of_fits("methods-of-comparison.txt", fits, comparison.spec, facts, sources=tuple(table.references))


def _counted(labels: xr.DataArray, names: Iterable[str]) -> str:
    """Return the number of words of each group or class, as text."""
    return ", ".join(f"{number} {name}" for name, number in words_in(labels, names).items())
