"""The choices of a multiverse: alternative decisions that a reasonable analyst could make for the same table."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from bayes_bias.models.preferences import PREFERENCE
from bayes_bias.models.spec import AS_MEASURED, BY_GROUP, COMMON, FALLBACK, FROM_VECTORS, OPTIONS, ModelSpec
from bayes_bias.models.structures import modelled
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import SIDES

type Model = tuple[AssociationTable, ModelSpec]
type Change = Callable[[AssociationTable, ModelSpec], Model]
# The options of each choice, by name. The first option is the setting of the model.
type Choices = dict[str, dict[str, Change]]

PRIOR, UNIT, SCALES, RELATED, CONTROLS = "prior", "unit", "scales", "related words", "control classes"
_FROM_VECTORS = "from vectors"
# Alternative priors for the standard deviation of preferences. Their mean is .4 units, as in the exponential prior for
# tables without vectors, or twice this value.
_OTHERS: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "exponential": (FALLBACK, {"lam": 2.5}),
    "wide exponential": (FALLBACK, {"lam": 1.25}),
    "half-normal": ("HalfNormal", {"sigma": 0.5}),
}


def choices_of(table: AssociationTable, spec: ModelSpec) -> tuple[Choices, tuple[str, ...]]:
    """Return the choices that are possible for a table, and a sentence for each choice that is not possible."""
    choices: Choices = {PRIOR: _priors(table, spec)}
    for name in (UNIT, SCALES):
        own = spec.options[name]
        choices[name] = {own: _with_option(name, own)}
        for value in OPTIONS["crossed"][name]:
            if value not in (own, AS_MEASURED):
                choices[name][value] = _with_option(name, value)
    left_out: list[str] = []
    if _FROM_VECTORS not in choices[PRIOR]:
        left_out.append("No prior from vectors, because the table does not contain what vectors show of preferences.")
    if has_relations(table):
        choices[RELATED] = {"less weight": _unchanged, "full weight": _with_independent_words}
    else:
        left_out.append("No choice of how to weight related words, because the table names none.")
    if table.controls:
        choices[CONTROLS] = {"with": _unchanged, "without": lambda table, spec: (table.without_controls(), spec)}
    else:
        left_out.append("No choice of control classes, because the table has none.")
    return choices, tuple(left_out)


def reason_against(options: Mapping[str, str]) -> str:
    """Return the reason why options cannot be combined, or "" if they can."""
    if _FROM_VECTORS in options[PRIOR] and options[SCALES] != BY_GROUP:
        return (
            f"A prior from vectors is combined with the scales '{BY_GROUP}' alone, because others have no such prior."
        )
    return ""


def same_model(options: Mapping[str, str], first: Mapping[str, str]) -> str:
    """Return the reason why options define the same model as other options, or "" if the model is different."""
    if options[SCALES] == COMMON and options[UNIT] != first[UNIT]:
        return f"The scales '{COMMON}' have one unit, because no group or class has its own."
    return ""


def has_relations(table: AssociationTable) -> bool:
    """Return True if some words of a table are treated as related."""
    inflated = any((table.values.coords.get(f"{side}_inflation", np.ones(1)) > 1).any() for side in SIDES)
    return inflated or (not table.has_related_words and any(name.endswith("_topic") for name in table.labels))


def _priors(table: AssociationTable, spec: ModelSpec) -> dict[str, Change]:
    """Return the priors for the standard deviation of preferences that are compared."""
    _, spec_for_table = modelled(table, spec)
    priors_of_model = [spec_for_table.priors[parameter] for parameter in PREFERENCE.values()]
    priors: dict[str, Change] = {}
    if all(prior.distribution == FROM_VECTORS for prior in priors_of_model):
        priors[_FROM_VECTORS] = _unchanged
        priors[f"{_FROM_VECTORS}, half the degrees of freedom"] = _with_degrees_of_freedom(0.5)
        priors[f"{_FROM_VECTORS}, twice the degrees of freedom"] = _with_degrees_of_freedom(2.0)
    elif {str(prior) for prior in priors_of_model} != {f"{FALLBACK}(lam=2.5)"}:
        priors["of the model"] = _unchanged
    for name, (distribution, parameters) in _OTHERS.items():
        priors[name] = _with_prior(distribution, parameters)
    return priors


def _unchanged(table: AssociationTable, spec: ModelSpec) -> Model:
    """Return the table and the model unchanged."""
    return table, spec


def _with_option(name: str, value: str) -> Change:
    """Return a function that sets an option of the model."""
    return lambda table, spec: (table, spec.with_option(name, value))


def _with_prior(distribution: str, parameters: Mapping[str, float]) -> Change:
    """Return a function that sets the prior of preferences."""

    def change(table: AssociationTable, spec: ModelSpec) -> Model:
        for parameter in PREFERENCE.values():
            spec = spec.with_prior(parameter, distribution, **parameters)
        return table, spec

    return change


def _with_degrees_of_freedom(multiple: float) -> Change:
    """Return a function that multiplies the degrees of freedom of the prior from vectors."""

    def change(table: AssociationTable, spec: ModelSpec) -> Model:
        for parameter in PREFERENCE.values():
            numbers = {name: float(value) for name, value in spec.priors[parameter].parameters.items()}
            numbers["nu"] *= multiple
            spec = spec.with_prior(parameter, FROM_VECTORS, **numbers)
        return table, spec

    return change


def _with_independent_words(table: AssociationTable, spec: ModelSpec) -> Model:
    """Return a table whose words are treated as independent, with the same prior of preferences."""
    values = table.values
    for side in SIDES:
        name = f"{side}_inflation"
        if name in values.coords:
            values = values.assign_coords({name: xr.ones_like(values[name])})
    if values is table.values:
        return table.with_related_words({}), spec
    return replace(table, values=values), spec
