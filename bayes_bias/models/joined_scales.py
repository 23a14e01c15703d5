"""Scales with priors of one family as a single vector, for the compiler.

Most of a density's time goes to making small arrays: a dozen scales in five variables take five of each, one vector of
them takes one.
"""

from collections.abc import Iterable, Iterator
from math import prod
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.model.fgraph import fgraph_from_model, model_deterministic, model_free_rv, model_from_fgraph
from pymc.pytensorf import constant_fold, toposort_replace
from pymc.util import get_transformed_name
from pytensor.compile import SharedVariable
from pytensor.graph.basic import Apply
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.op import RandomVariable

from bayes_bias.models.folded_scale import FoldedScale


def with_joined_scales(model: pm.Model) -> pm.Model:
    """The same model, in which scales with priors of one family are parts of one variable.

    These are scales that `FoldedScale` moves, of fixed shapes and with fixed priors. They keep their names and dims, as
    deterministic variables, and the name of what they are parts of ends in ``_z``.
    """
    if any(start is not None for start in model.rvs_to_initial_values.values()):
        return model  # PyMC takes no model apart in which a variable begins somewhere of its own
    families: dict[RandomVariable, list[pt.TensorVariable]] = {}
    for variable in model.free_RVs:
        if _can_be_joined(variable, model):
            families.setdefault(variable.owner.op, []).append(variable)
    several = [family for family in families.values() if len(family) > 1]
    if not several:
        return model
    graph, copies = fgraph_from_model(model)
    for family in several:
        separate = [copies[variable] for variable in family]
        toposort_replace(graph, list(zip(separate, _parts_of_one(separate), strict=True)))
    return model_from_fgraph(graph, mutate_fgraph=True)


def _can_be_joined(variable: pt.TensorVariable, model: pm.Model) -> bool:
    distribution = variable.owner.op
    if not isinstance(model.rvs_to_transforms[variable], FoldedScale) or not isinstance(distribution, RandomVariable):
        return False
    given = set(ancestors(distribution.dist_params(variable.owner)))
    is_fixed = given.isdisjoint(model.free_RVs) and not any(isinstance(each, SharedVariable) for each in given)
    return is_fixed and None not in variable.type.shape


def _parts_of_one(scales: list[pt.TensorVariable]) -> Iterator[pt.TensorVariable]:
    """Scales of a PyMC model's graph as deterministic variables, parts of a free one."""
    labels: list[Apply] = [scale.owner for scale in scales]
    draws = [label.inputs[0] for label in labels]
    distribution, shapes = draws[0].owner.op, [draw.type.shape for draw in draws]
    parameters = zip(*(distribution.dist_params(draw.owner) for draw in draws), strict=True)
    generator = draws[0].owner.inputs[0]
    joined = distribution.make_node(generator, None, *(_spread(of_each, shapes) for of_each in parameters)).outputs[1]
    name = "_and_".join(label.op.name for label in labels) + "_z"
    transform = FoldedScale(_of_each((label.op.transform.typical for label in labels), shapes))
    whole = model_free_rv(joined, joined.type(get_transformed_name(name, transform)), transform, name)
    end = 0
    for label, shape in zip(labels, shapes, strict=True):
        begin, end = end, end + prod(shape)
        yield model_deterministic(whole[begin:end].reshape(shape), label.op.name, *label.op.dims)


def _spread(parameters: Iterable[pt.TensorVariable], shapes: Iterable[tuple[int, ...]]) -> NDArray[Any]:
    """A parameter of each scale, for all scales."""
    return _of_each(constant_fold(list(parameters)), shapes)


def _of_each(values: Iterable[Any], shapes: Iterable[tuple[int, ...]]) -> NDArray[Any]:
    """What each scale has, for all scales one after the other."""
    each = zip(values, shapes, strict=True)
    return np.concatenate([np.broadcast_to(value, shape).ravel() for value, shape in each])
