"""The methods text of a comparison: its pairs of values, and its fits."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import xarray as xr

from bayes_bias.debiasing.comparison import Comparison, State
from bayes_bias.models.fitted import Fitted
from bayes_bias.reports.methods_text import Methods, methods_of_fits, model_facts, source_facts
from bayes_bias.table.association_table import words_in

_CHANGE_FIRST: tuple[State, ...] = ("change", "before", "after")

# As in the methods text of a report.
_MEASURES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"WEAT": ("caliskan2017semantics",), "quasi-F": ("clark1973language", "satterthwaite1946approximate")}
)


def methods_of(comparison: Comparison) -> Methods:
    """The methods text, written from the tables, the spec and the fits themselves."""
    fits: dict[str, Fitted] = {
        state: Fitted.of(comparison.fits[state]) for state in _CHANGE_FIRST if state in comparison.fits
    }
    values, table = comparison.before.values, comparison.before
    facts = model_facts(fits, comparison.spec, comparison.scope, comparison.ci_prob) | {
        "comparison": comparison,
        "rope": comparison.verdict.rope,
        "modelled": f"change of the {table.metric.name}",
        "finding": "change",
        "targets": _counted(values.group, table.groups),
        "attributes": _counted(values.attribute_class, table.associated_classes),
        "controls": _counted(values.attribute_class, table.controls),
        **source_facts(table),
        "pairs": f"{values.size:,}",
        "by_themselves": [state for state in comparison.fits if state != "change"],
        "fieller": not math.isnan(comparison.share_removed.lower),
        "measures": [(name, _MEASURES.get(name, ())) for name in comparison.measures.index],
    }
    return methods_of_fits("methods-of-comparison.txt", fits, comparison.spec, facts, sources=tuple(table.references))


def _counted(labels: xr.DataArray, names: Iterable[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in words_in(labels, names).items())
