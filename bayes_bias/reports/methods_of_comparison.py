"""What the methods text of a comparison says: what was paired, and what was fitted to what."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import xarray as xr

from bayes_bias.debiasing.comparison import Comparison, State
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fitted
from bayes_bias.reports.checks import convergence
from bayes_bias.reports.methods import Methods, model_facts, source_facts

_CHANGE_FIRST: tuple[State, ...] = ("change", "before", "after")

# The works that measures are cited by, as in the methods text of a report.
_MEASURES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "WEAT": ("caliskan2017semantics",),
        "quasi-F": ("clark1973language", "satterthwaite1946approximate"),
    }
)


def methods_of(found: Comparison) -> Methods:
    """The methods text, written from the tables, the spec and the fits themselves."""
    fits: dict[str, Fitted] = {
        state: Fitted.of(found.fits[state]) for state in _CHANGE_FIRST if state in found.fits
    }
    values, table = found.before.values, found.before
    facts = model_facts(fits, found.spec, found.scope, found.ci_prob) | {
        "found": found,
        "rope": found.verdict.rope,
        "modelled": f"change of the {table.association.name}",
        "finding": "change",
        "embeddings": _embeddings(found),
        "targets": _counted(values.group, table.groups),
        "attributes": _counted(values.attribute_class, table.associated_classes),
        "controls": _counted(values.attribute_class, table.controls),
        **source_facts(table),
        "pairs": f"{values.size:,}",
        "alone": [state for state in found.fits if state != "change"],
        "fieller": not math.isnan(found.share_removed.lower),
        "measures": [(name, _MEASURES.get(name, ())) for name in found.measures.index],
    }
    said = convergence.sentence({state: Diagnostics.of(fitted) for state, fitted in fits.items()})
    model = (found.spec.reference,) if found.spec.reference else ()
    return Methods("methods-of-comparison.txt", facts, {"convergence": said}, (*table.references, *model))


def _embeddings(found: Comparison) -> tuple[str, ...]:
    sides = {"before": found.before, "after": found.after}
    named = {side: table.provenance.get("embedding") for side, table in sides.items()}
    return tuple(f"{side}: {name}" for side, name in named.items() if name)


def _counted(labels: xr.DataArray, names: Iterable[str]) -> str:
    return ", ".join(f"{int((labels == name).sum())} {name}" for name in names)
