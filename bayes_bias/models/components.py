"""The variance components of the crossed model.

Each component is declared once, and all subpackages read its declaration.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.table.labels import SIDES, Side
from bayes_bias.table.scopes import Part

# Suffix of the scales of differences between replicates in the effect of a word.
BY_REPLICATE = "_by_replicate"

type Need = Literal["controls", "groups", "clusters", "replicates"]


@dataclass(frozen=True)
class Component:
    """The declaration of a source of variance.

    Attributes
    ----------
    name : str
        Name of the standard deviation, in specs (as the parameter of a prior) and in posteriors.
    part : {"targets", "attributes", "residual", "replicates"}
        The part of a contrast's variance to which the component contributes. "targets" and "attributes" also name the
        side.
    effect : str
        Effect in the formula of the model, as text.
    effect_by_replicate : str
        Effect in the formula if it may differ between replicates, or "" if it may not.
    dims : tuple of str
        Dimensions along which the scale may differ, depending on the spec.
    needs : tuple of {"controls", "groups", "clusters", "replicates"}
        What a table must contain: control classes, more than one group, clusters of words, or replicates.
    over_groups, over_classes : str
        Pattern over groups (for attributes and replicates) and over classes (for targets and replicates). See
        `over_classes`.
    """

    name: str
    part: Part
    effect: str
    effect_by_replicate: str = ""
    dims: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    over_groups: str = "all"
    over_classes: str = "all"


COMPONENTS: tuple[Component, ...] = (
    Component("sd_target", "targets", "a", "a[i, r]", dims=("group",), needs=("controls",)),
    Component("sd_target_associated", "targets", "u", "u[i, r]", dims=("group",), over_classes="associated"),
    Component(
        "sd_target_preference",
        "targets",
        "x (associated classes)",
        "x[i, c, r] (associated classes)",
        dims=("group",),
        over_classes="zero-sum",
    ),
    Component(
        "sd_target_control",
        "targets",
        "x (control classes)",
        "x[i, c, r] (control classes)",
        dims=("group", "control"),
        needs=("controls",),
        over_classes="controls",
    ),
    Component("sd_attribute", "attributes", "b", "b[j, r]", dims=("attribute_class",)),
    Component(
        "sd_attribute_preference",
        "attributes",
        "w",
        "w[j, g, r]",
        dims=("attribute_class",),
        needs=("groups",),
        over_groups="zero-sum",
    ),
    Component("sd_residual", "residual", "e", "e[i, j, r]", over_classes="associated"),
    Component(
        "sd_residual_control",
        "residual",
        "e (control classes)",
        "e[i, j, r] (control classes)",
        needs=("controls",),
        over_classes="controls",
    ),
    Component(
        "sd_target_cluster",
        "targets",
        "the shared part of the levels of related targets",
        needs=("clusters",),
        over_classes="associated",
    ),
    Component(
        "sd_target_cluster_preference",
        "targets",
        "the shared part of their preferences",
        needs=("clusters",),
        over_classes="zero-sum",
    ),
    Component(
        "sd_attribute_cluster", "attributes", "the shared part of the levels of related attributes", needs=("clusters",)
    ),
    Component(
        "sd_attribute_cluster_preference",
        "attributes",
        "the shared part of their preferences",
        needs=("clusters", "groups"),
        over_groups="zero-sum",
    ),
    Component("sd_replicate", "replicates", "h[r]", needs=("replicates",)),
    Component("sd_replicate_group", "replicates", "h[r, g]", needs=("replicates", "groups"), over_groups="zero-sum"),
    Component(
        "sd_replicate_class",
        "replicates",
        "h[r, c] (associated classes)",
        needs=("replicates",),
        over_classes="zero-sum",
    ),
    Component(
        "sd_replicate_preference",
        "replicates",
        "h[r, g, c] (associated classes)",
        needs=("replicates", "groups"),
        over_groups="zero-sum",
        over_classes="zero-sum",
    ),
    Component(
        "sd_replicate_control",
        "replicates",
        "h[r, c] (control classes)",
        needs=("replicates", "controls"),
        over_classes="controls",
    ),
    Component(
        "sd_replicate_control_group",
        "replicates",
        "h[r, g, c] (control classes)",
        needs=("replicates", "groups", "controls"),
        over_groups="zero-sum",
        over_classes="controls",
    ),
)

# Effects of single words, and the residual. Effects on control classes come last, because this is the order of
# sampling.
OF_WORDS = sorted(
    (c for c in COMPONENTS if not {"clusters", "replicates"} & set(c.needs)), key=lambda c: "controls" in c.needs
)
# Clusters are the sub-topics or pairs that a word list names. The words of a cluster share these effects.
OF_CLUSTERS: Mapping[Side, tuple[Component, ...]] = {
    side: tuple(c for c in COMPONENTS if "clusters" in c.needs and c.part == f"{side}s") for side in SIDES
}
# Effects of a replicate on blocks.
OF_REPLICATES = tuple(c for c in COMPONENTS if c.part == "replicates")
REPLICATES = tuple(c.name for c in OF_REPLICATES)
DIFFERING = tuple(c.name + BY_REPLICATE for c in COMPONENTS if c.effect_by_replicate)
# Dimensions along which a scale may differ.
DIMS = {c.name + suffix: c.dims for c in COMPONENTS for suffix in ("", BY_REPLICATE)}
# Optional terms, which a model includes if its file contains priors for them.
RESIDUAL, CONTROL_RESIDUAL = "sd_residual", "sd_residual_control"
OPTIONAL = frozenset(
    {*(c.name for c in COMPONENTS if {"clusters", "replicates"} & set(c.needs)), *DIFFERING, CONTROL_RESIDUAL}
)


# Name of the variable with the effects of each variance component, in models with effects as variables. The residual of
# single replicates has no variable, because no scope fixes it.
EFFECT_OF: Mapping[Part, str] = {
    "targets": "target_effect",
    "attributes": "attribute_effect",
    "residual": "pair_effect",
    "replicates": "replicate_effect",
    "targets by replicate": "target_effect" + BY_REPLICATE,
    "attributes by replicate": "attribute_effect" + BY_REPLICATE,
}


def effects_in_formula() -> dict[str, str]:
    """Return the effect of each scale as text for the formula."""
    effects = {c.name: c.effect for c in COMPONENTS}
    return effects | {c.name + BY_REPLICATE: c.effect_by_replicate for c in COMPONENTS if c.effect_by_replicate}


def present(components: Iterable[Component], n_groups: int, *, controls: bool) -> list[Component]:
    """Return the components of variance that apply to a table with these groups and control classes.

    A component may need several groups, or control classes. It is omitted if the table has none.
    """
    missing: set[Need] = set()
    if n_groups <= 1:
        missing.add("groups")
    if not controls:
        missing.add("controls")
    return [component for component in components if not missing & set(component.needs)]


def scales_needed(data: xr.Dataset) -> list[str]:
    """Return the names of the standard deviations that are necessary to compute the variance of a contrast of a table.

    These are the scales of word effects and, for a table with replicates, the scales of their differences between
    replicates and of the effects of replicates. A separate residual of control classes is optional: without it, they
    have the same residual as other classes.
    """
    n_groups, controls = data.sizes["group"], bool(data.sizes["control"])
    of_words = [component.name for component in present(OF_WORDS, n_groups, controls=controls)]
    if CONTROL_RESIDUAL in of_words:
        of_words.remove(CONTROL_RESIDUAL)
    if not data.sizes["replication"]:
        return of_words
    of_replicates = [component.name for component in present(OF_REPLICATES, n_groups, controls=controls)]
    return [*of_words, *(name + BY_REPLICATE for name in of_words), *of_replicates]


def over_classes(n_classes: int, n_associated: int) -> dict[str, NDArray[np.float64]]:
    """Return an array (effects, classes) for each named pattern, which is 1 if an effect acts on a class, and else 0.

    A pattern has one effect for all classes, one effect for all associated classes, one effect per associated class
    (which sum to zero, as do effects over groups), or one effect per control class. Control classes come last.
    """
    one_per_class = np.eye(n_classes)
    return {
        "all": np.ones((1, n_classes)),
        "associated": one_per_class[:n_associated].sum(axis=0, keepdims=True),
        "zero-sum": one_per_class[:n_associated],
        "controls": one_per_class[n_associated:],
    }
