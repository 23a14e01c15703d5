"""The formula of a PyMC model with its numbers, and its priors."""

from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pymc.printing import str_for_dist
from pytensor.compile import SharedVariable
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors

# Variables with these dims are effects, and the distribution of an effect is not a prior.
_OF_EFFECTS = {"target", "attribute", "pair", "replicate"}
# Longer arrays are data and not parameters, so only their length is shown.
_MOST_NUMBERS = 12


def prior_names(model: pm.Model) -> list[str]:
    """Return the free variables other than effects of words, pairs and replicates."""
    names = []
    for variable in model.free_RVs:
        name = variable.name
        is_part_of_effect = name.endswith("_z") and not name.startswith("sd_")
        if not is_part_of_effect and _OF_EFFECTS.isdisjoint(model.named_vars_to_dims.get(name, ())):
            names.append(name)
    return names


def formula_of(model: pm.Model) -> str:
    """Return PyMC's formula of a model, with the numbers of small arrays instead of ``<constant>``."""
    lines = []
    for line in model.str_repr().splitlines():
        variable = model[line.split()[0]]
        if isinstance(variable, SharedVariable):
            line = f"{line.partition(' = ')[0]} = Data({_numbers(variable.get_value())})"
        elif variable in model.basic_RVs:
            line = f"{line.partition(' ~ ')[0]} ~ {distribution_of(model, variable)}"
        lines.append(line)
    return "\n".join(lines)


def distribution_of(model: pm.Model, variable: Any) -> str:
    """Return the distribution of a variable with its parameters, such as ``HalfNormal(0, 1.65)``."""
    family = str_for_dist(variable, include_params=False).partition(" ~ ")[2]
    parameters = variable.owner.op.dist_params(variable.owner)
    return f"{family}({', '.join(_parameter(model, parameter) for parameter in parameters)})"


def priors_of(model: pm.Model) -> dict[str, str]:
    """Return the prior of each parameter, in the units of the table."""
    priors = {}
    for name in prior_names(model):
        factor = _unit(model, name)
        parameter = name.removesuffix("_z") if factor else name
        priors[parameter] = factor + distribution_of(model, model[name])
    return priors


def _unit(model: pm.Model, name: str) -> str:
    """Return the unit by which the free variable of a standard deviation is multiplied, as a factor, or ""."""
    whole = name.removesuffix("_z")
    if whole == name or whole not in model.named_vars:
        return ""
    [unit] = graph_replace([model[whole]], {model[name]: np.ones(model[name].shape.eval(mode="FAST_COMPILE"))})
    return f"{_numbers(unit.eval(mode='FAST_COMPILE'))} * "


def _parameter(model: pm.Model, parameter: Any) -> str:
    """Return the numbers of a parameter, or the names of the variables that it depends on."""
    variables = {*model.basic_RVs, *model.deterministics}
    names = [node.name for node in ancestors([parameter], variables) if node in variables]
    if not names:
        return _numbers(parameter.eval(mode="FAST_COMPILE"))
    return names[0] if parameter in variables else f"f({', '.join(names)})"


def _numbers(values: NDArray[Any]) -> str:
    """Return a short array as text, or the number of values of a longer array."""
    flat = np.unique(values) if np.ptp(values) == 0 else np.ravel(values)
    if flat.size == 1:
        return f"{flat.item():.4g}"
    if flat.size > _MOST_NUMBERS:
        return f"{flat.size:,} numbers"
    return f"[{', '.join(f'{value:.4g}' for value in flat)}]"
