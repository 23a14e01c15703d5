"""The covariance of the crossed model, piece by piece, written once.

Word effects, power-scaling, the noise floor and the design study read it as arrays of draws. It is linear in the
variances, and the likelihood reads what each of them contributes (`Components.single`): one set of formulas serves.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.table.scopes import Part
from bayes_bias.table.word_labels import SIDES, Side

type Array = Any  # numbers of any shape

# The suffix of a scale by which a word's effect differs between replicates.
BY_REPLICATE = "_by_replicate"

type Need = Literal["controls", "groups", "clusters", "replicates"]


@dataclass(frozen=True)
class Component:
    """A source of variance: its declaration, which all rooms read.

    Attributes
    ----------
    name : str
        Of its standard deviation, in specs (the parameter of a prior) and in posteriors.
    part : {"targets", "attributes", "residual", "replicates"}
        The part of a contrast's variance that it feeds; of targets and attributes also the side.
    effect : str
        Its effect in the model's formula, as texts write it.
    effect_by_replicate : str
        The same where the effect may differ between replicates; "" where it may not.
    dims : tuple of str
        Along which its scale may differ: a spec says along which of them it does, see `bayes_bias.models.priors.scale`.
    needs : tuple of {"controls", "groups", "clusters", "replicates"}
        What a table must have: control classes, more than one group, words in clusters, replicates.
    over_groups, over_classes : str
        Its pattern over groups (of attributes and replicates) and over classes (of targets and replicates), see
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
    Component("sd_residual", "residual", "e", "e[i, j, r]"),
    Component(
        "sd_target_cluster",
        "targets",
        "what targets that belong together share of their levels",
        needs=("clusters",),
        over_classes="associated",
    ),
    Component(
        "sd_target_cluster_preference",
        "targets",
        "what they share of their preferences",
        needs=("clusters",),
        over_classes="zero-sum",
    ),
    Component(
        "sd_attribute_cluster",
        "attributes",
        "what attributes that belong together share of their levels",
        needs=("clusters",),
    ),
    Component(
        "sd_attribute_cluster_preference",
        "attributes",
        "what they share of their preferences",
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

# Effects of single words, and the residual; controls last, which is the order of sampling.
OF_WORDS = sorted(
    (c for c in COMPONENTS if not {"clusters", "replicates"} & set(c.needs)), key=lambda c: "controls" in c.needs
)
# Clusters are the sub-topics or pairs that a word list names: effects that their words share.
OF_CLUSTERS: Mapping[Side, tuple[Component, ...]] = {
    side: tuple(c for c in COMPONENTS if "clusters" in c.needs and c.part == f"{side}s") for side in SIDES
}
# A replicate's own effects on blocks.
OF_REPLICATES = tuple(c for c in COMPONENTS if c.part == "replicates")
REPLICATES = tuple(c.name for c in OF_REPLICATES)
DIFFERING = tuple(c.name + BY_REPLICATE for c in COMPONENTS if c.effect_by_replicate)
# Terms that a model has if its file gives them a prior.
OPTIONAL = frozenset({*(c.name for c in COMPONENTS if {"clusters", "replicates"} & set(c.needs)), *DIFFERING})


# Where a model has effects as variables, that of each part of a contrast's variance. No scope takes what is left of
# single replicates' values for fixed, so that it has none.
EFFECT_OF: Mapping[Part, str] = {
    "targets": "target_effect",
    "attributes": "attribute_effect",
    "residual": "pair_effect",
    "replicates": "replicate_effect",
    "targets by replicate": "target_effect" + BY_REPLICATE,
    "attributes by replicate": "attribute_effect" + BY_REPLICATE,
}


def effects_in_formula() -> dict[str, str]:
    """The effect of each scale, as the formula in texts has it."""
    own = {c.name: c.effect for c in COMPONENTS}
    return own | {c.name + BY_REPLICATE: c.effect_by_replicate for c in COMPONENTS if c.effect_by_replicate}


def present(components: Iterable[Component], n_groups: int, *, controls: bool) -> list[Component]:
    """The components that a design has use for, by its groups and control classes."""
    missing = {need for need, there in {"groups": n_groups > 1, "controls": controls}.items() if not there}
    return [component for component in components if not missing & set(component.needs)]


def scales_needed(data: xr.Dataset) -> list[str]:
    """The standard deviations without which the variance of a contrast of a table is not known."""
    of_words, of_replicates = (
        [c.name for c in present(each, data.sizes["group"], controls=bool(data.sizes["control"]))]
        for each in (OF_WORDS, OF_REPLICATES)
    )
    if not data.sizes["replication"]:
        return of_words
    return [*of_words, *(name + BY_REPLICATE for name in of_words), *of_replicates]


def over_classes(n_classes: int, n_associated: int) -> dict[str, NDArray[np.float64]]:
    """Patterns by name: which effects move which classes, (effects, classes).

    One effect for all classes, or for all associated ones; one for each associated class, which sum to zero, as they do
    over groups; one for each control class.
    """
    single = np.eye(n_classes)
    associated = single[:n_associated].sum(axis=0, keepdims=True)
    return {
        "all": np.ones((1, n_classes)),
        "associated": associated,
        "zero-sum": single[:n_associated],
        "controls": single[n_associated:],
    }


@dataclass(frozen=True, eq=False)
class Covariance:
    """``M = diag(diagonal) + sum of coefficient loading loading'``.

    Shapes: diagonal ``(..., k)``, each loading ``(k,)``, each coefficient ``(...)``. A coefficient may be negative
    as long as M is positive definite.
    """

    diagonal: Array
    loadings: Sequence[Array]
    coefficients: Sequence[Array]

    def plus(self, diagonal: Array) -> Self:
        """With more on the diagonal."""
        return type(self)(self.diagonal + diagonal, self.loadings, self.coefficients)

    def at(self, index: Array) -> Self:
        """Those at these positions of the axis before the last; None for a new axis there."""
        return type(self)(self.diagonal[..., index, :], self.loadings, [each[..., index] for each in self.coefficients])

    def times(self, factor: Array) -> Self:
        """So many times it, for each position of the axis before the last."""
        return type(self)(self.diagonal * factor[..., None], self.loadings, [c * factor for c in self.coefficients])

    def with_share(self, other: Self, times: Array) -> Self:
        """With so many times another covariance of the same loadings."""
        coefficients = zip(self.coefficients, other.coefficients, strict=True)
        return type(self)(
            self.diagonal + times[..., None] * other.diagonal,
            self.loadings,
            [own + times * more for own, more in coefficients],
        )

    def matrix(self) -> NDArray[np.float64]:
        """Written out, ``(..., k, k)``."""
        dense = self.diagonal[..., :, None] * np.eye(self.diagonal.shape[-1])
        for loading, coefficient in zip(self.loadings, self.coefficients, strict=True):
            dense = dense + coefficient[..., None, None] * np.outer(loading, loading)
        return np.asarray(dense)


@dataclass(frozen=True, eq=False)
class Components:
    """Variances of the effects of words.

    Attributes
    ----------
    target_own : array (..., groups or 1, classes)
        The part of a target's effects that belongs to one class: preferences over the associated classes, deviations in
        the controls. An axis of length one where groups share their scales.
    target_shared : array (..., groups or 1, 2)
        Coefficients of what it has in common in all classes, and in the associated ones. The latter is the variance
        of its level less what the sum of the preferences takes away, and may be negative.
    attribute_own, attribute_shared : array (..., classes)
        The same for the attributes of each class, over the groups.
    residual : array (..., 1)
    target_cluster : array (..., 2)
        What the targets of a sub-topic or pair share: the part of their effects that belongs to one associated
        class, and the coefficient of what all associated classes have in common. Zero without clusters.
    attribute_cluster : array (..., 2)
        The same for attributes, over the groups.
    target_overlap, attribute_overlap : array (groups, groups), (classes, classes)
        Variance of the averages over groups, or classes, of an effect of variance one that clusters share, times the
        number of words: as it would be for single words, were there more clusters of the same size.
    target_inflation, attribute_inflation : array (groups,), (classes,)
        How many times the variance of the average of a group's, or a class's, effects is that of independent words;
        None where words are independent.
    n_groups, n_classes, n_associated : int
    by_group : bool
        Whether the targets of each group have scales of their own.

    Examples
    --------
    Two groups, two classes, scales in units of the residual. A target's preferences for the two classes are x and -x,
    so its contrast ``(y[1] - y[2]) / 2`` is x, and its level cancels; likewise for attributes. With 8 targets in each
    group and 10 attributes in each class the bias has the variance 2 * .2**2 / 8 = .01 from targets,
    2 * .4**2 / 10 = .032 from attributes, and 4 / 4 / (8 * 10) = .0125 from the residual:

    >>> sd = {"sd_target_associated": 0.7, "sd_target_preference": 0.2, "sd_attribute": np.array([0.5, 0.9])}
    >>> sd |= {"sd_attribute_preference": np.array([0.4, 0.4]), "sd_residual": 1.0}
    >>> sd = {name: np.asarray(value) for name, value in sd.items()}
    >>> components = Components.of(sd, n_groups=2, n_classes=2, n_associated=2)
    >>> components.target().matrix()
    array([[[0.53, 0.45],
            [0.45, 0.53]]])
    >>> bias = np.array([[[0.5, -0.5], [-0.5, 0.5]]])
    >>> parts = components.of_contrast(bias, n_targets=np.array([8, 8]), n_attributes=np.array([10, 10]))
    >>> {part: round(variance.item(), 4) for part, variance in parts.items()}
    {'targets': 0.01, 'attributes': 0.032, 'residual': 0.0125}
    """

    target_own: Array
    target_shared: Array
    attribute_own: Array
    attribute_shared: Array
    residual: Array
    target_cluster: Array
    attribute_cluster: Array
    n_groups: int
    n_classes: int
    n_associated: int
    by_group: bool = False
    target_overlap: NDArray[np.float64] | None = None
    attribute_overlap: NDArray[np.float64] | None = None
    target_inflation: NDArray[np.float64] | None = None
    attribute_inflation: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls, sd: Mapping[str, Array], *, n_groups: int, n_classes: int, n_associated: int, by_group: bool = False
    ) -> Self:
        """From standard deviations by name: ``(...)`` for those of all classes, ``(..., classes)`` for the others. If
        `by_group`, those of targets are ``(..., groups)`` and ``(..., groups, classes)``.

        Attributes of a single group have a level and no preference, so that there is no scale of one.
        """
        k, g = n_associated, n_groups
        preference, controls = sd["sd_target_preference"][..., None] ** 2, sd.get("sd_target_control")
        own = [preference * (k / (k - 1)) * np.ones(k)]
        level = sd["sd_target_associated"] ** 2 - preference[..., 0] / (k - 1)
        everywhere = 0 * level
        if controls is not None:
            own.append(controls**2)
            everywhere = sd["sd_target"] ** 2
        target_own = np.concatenate(own, axis=-1)
        target_shared = np.stack([everywhere, level], axis=-1)
        if not by_group:
            target_own, target_shared = target_own[..., None, :], target_shared[..., None, :]
        of_attribute = _own_and_shared(sd, "sd_attribute", g)

        def of_cluster(side: str, n: int) -> Array:
            if f"sd_{side}_cluster" not in sd:
                nothing = 0 * (level[..., 0] if by_group else level)
                return np.stack([nothing, nothing], axis=-1)
            return np.stack(_own_and_shared(sd, f"sd_{side}_cluster", n), axis=-1)

        return cls(
            target_own=target_own,
            target_shared=target_shared,
            attribute_own=of_attribute[0],
            attribute_shared=of_attribute[1],
            residual=sd["sd_residual"][..., None] ** 2,
            target_cluster=of_cluster("target", k),
            attribute_cluster=of_cluster("attribute", g),
            n_groups=g,
            n_classes=n_classes,
            n_associated=k,
            by_group=by_group,
        )

    @classmethod
    def of_posterior(cls, posterior: xr.Dataset, data: xr.Dataset) -> Self:
        """Those of draws ``(chain, draw)``, or of any other sample dims that come first."""
        sd = scales_of_posterior(posterior, data)
        found = cls.of(sd, **sizes_of(data), by_group=differs_by_group(posterior))
        counts = {"target": data.n_targets.to_numpy(), "attribute": data.n_attributes.to_numpy()}
        overlaps: dict[str, Any] = {
            f"{side}_overlap": data[f"{side}_overlap"].to_numpy() * np.sqrt(np.outer(n, n))
            for side, n in counts.items()
            if f"{side}_overlap" in data and f"sd_{side}_cluster" in sd
        }
        inflations: dict[str, Any] = {name: data[name].to_numpy() for name in _INFLATIONS if name in data}
        return replace(found, **overlaps, **inflations)

    def plus(self, other: Self, times: Array) -> Self:
        """With so many times the variances of other effects of the same words, which clusters do not share."""
        return replace(
            self,
            target_own=self.target_own + other.target_own * times,
            target_shared=self.target_shared + other.target_shared * times,
            attribute_own=self.attribute_own + other.attribute_own * times,
            attribute_shared=self.attribute_shared + other.attribute_shared * times,
            residual=self.residual + other.residual * times,
        )

    def only(self, *, targets: bool, attributes: bool) -> Self:
        """Without residual, and with the effects of these sides alone."""
        return replace(
            self,
            target_own=targets * self.target_own,
            target_shared=targets * self.target_shared,
            attribute_own=attributes * self.attribute_own,
            attribute_shared=attributes * self.attribute_shared,
            residual=0 * self.residual,
        )

    def target(self) -> Covariance:
        """Of a target's own effects on the classes, ``a + u + x``, for each group, ``(..., groups or 1)``."""
        own = Covariance(self.target_own, [self._in_associated], [self.target_shared[..., 1]])
        if self.n_classes == self.n_associated:
            return own
        everywhere = [np.ones(self.n_classes), *own.loadings]
        return Covariance(own.diagonal, everywhere, [self.target_shared[..., 0], *own.coefficients])

    def attributes(self) -> Covariance:
        """Of an attribute's own effects on the groups, ``b + w``, for each class, ``(..., classes)``."""
        return Covariance(
            self.attribute_own[..., None] * np.ones(self.n_groups), [np.ones(self.n_groups)], [self.attribute_shared]
        )

    def single_target(self) -> Covariance:
        """Of all effects of one target, its own and what it shares with its cluster."""
        return self.target().with_share(self.of_target_cluster(), np.ones(()))

    def of_target_cluster(self) -> Covariance:
        """Of what the targets of a cluster share, on the classes, whatever their group, ``(..., 1)``."""
        own = self.target_cluster[..., :1, None] * self._in_associated
        nothing = [0 * self.target_cluster[..., :1]] * (len(self.target().loadings) - 1)
        return Covariance(own, self.target().loadings, [*nothing, self.target_cluster[..., 1:]])

    def of_attribute_cluster(self) -> Covariance:
        """Of what the attributes of a cluster share, on the groups, whatever their class, ``(..., 1)``."""
        own = self.attribute_cluster[..., :1, None] * np.ones(self.n_groups)
        return Covariance(own, [np.ones(self.n_groups)], [self.attribute_cluster[..., 1:]])

    def rows(self, per_attribute: Array, own: Array, shared: Array, groups: Array) -> Covariance:
        """Of targets' class means about their group's, in directions of these groups, with ``1 / W`` of each class;
        their own effects and what clusters share count so often; (..., directions)."""
        of_group = groups if self.by_group else np.zeros_like(groups)
        effects = self.target().at(of_group).times(own).plus((self.residual * per_attribute)[..., None, :])
        return effects.with_share(self.of_target_cluster(), shared)

    def columns(self, per_target: Array, own: Array, shared: Array, classes: Array) -> Covariance:
        """Of attributes' group means about their class's, in directions of these classes, with ``1 / P`` of each
        group; (..., directions)."""
        effects = self.attributes().at(classes).times(own).plus(self.residual[..., None] * per_target)
        return effects.with_share(self.of_attribute_cluster(), shared)

    def of_blocks(self, per_target: NDArray[np.float64], per_attribute: NDArray[np.float64]) -> NDArray[np.float64]:
        """Covariance of block means about their expectation, (..., blocks, blocks), group after group.

        With ``1 / P`` of each group and ``1 / W`` of each class: blocks of a group share its targets, blocks of a class
        its attributes. Without what clusters share.
        """
        # Linear in the variances, so that thousands of draws take one product of matrices.
        single = self.single(self.n_groups, self.n_classes, self.n_associated, by_group=self.by_group)
        inflated = replace(single, target_inflation=self.target_inflation, attribute_inflation=self.attribute_inflation)
        return np.tensordot(self.flat(), inflated._each_of_blocks(per_target, per_attribute), 1)

    def _each_of_blocks(
        self, per_target: NDArray[np.float64], per_attribute: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        g, c = (index.ravel() for index in np.indices((self.n_groups, self.n_classes)))
        same_group, in_class = g[:, None] == g, np.eye(self.n_classes)[c].T
        root_targets, root_attributes = self.roots_of_counts(1 / per_target, 1 / per_attribute)
        of_group = g if self.by_group else np.zeros_like(g)
        target = self.target().matrix()[..., of_group[:, None], c[:, None], c] * same_group / root_targets[g] ** 2
        attributes = self.attributes().matrix()[..., g[:, None], g] / root_attributes[:, None, None] ** 2
        of_class = (attributes * in_class[:, :, None] * in_class[:, None, :]).sum(axis=-3)
        residual = self.residual * per_target[g] * per_attribute[c]
        return np.asarray(target + of_class + residual[..., None] * np.eye(len(g)))

    def roots_of_counts(
        self, n_targets: NDArray[Any] | float, n_attributes: NDArray[Any] | float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Square roots of the numbers of words in each group and class, or of independent words that these count as."""
        of_targets = 1.0 if self.target_inflation is None else self.target_inflation
        of_attributes = 1.0 if self.attribute_inflation is None else self.attribute_inflation
        return np.sqrt(n_targets / of_targets), np.sqrt(n_attributes / of_attributes)

    def flat(self) -> Array:
        """All variances one after the other, (..., variances)."""
        groups = range(self.n_groups if self.by_group else 1)
        of_targets = [getattr(self, name)[..., g, :] for name in _OF_TARGETS for g in groups]
        return np.concatenate([*of_targets, *(getattr(self, name) for name in _VARIANCES)], axis=-1)

    @classmethod
    def single(cls, n_groups: int, n_classes: int, n_associated: int, *, by_group: bool = False) -> Self:
        """Each variance of `flat` in turn one, the others zero: what is linear in the variances gives its patterns."""
        groups = n_groups if by_group else 1
        shapes = ((groups, n_classes), (groups, 2), (n_classes,), (n_classes,), (1,), (2,), (2,))
        found: dict[str, Any] = one_at_a_time(dict(zip((*_OF_TARGETS, *_VARIANCES), shapes, strict=True)))
        return cls(**found, n_groups=n_groups, n_classes=n_classes, n_associated=n_associated, by_group=by_group)

    @property
    def _in_associated(self) -> NDArray[np.float64]:
        return (np.arange(self.n_classes) < self.n_associated).astype(float)

    def _for_each_group(self, values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        """Of each group, where groups share them too."""
        return values if self.by_group else np.repeat(values, self.n_groups, axis=axis)

    def of_contrast(
        self, weights: NDArray[np.float64], n_targets: NDArray[Any] | float, n_attributes: NDArray[Any] | float
    ) -> dict[Part, NDArray[np.float64]]:
        """Sampling variance of contrasts of block means, by where it comes from, for a design with so many words.

        Given the scales it is also the posterior variance of the contrast, whose prior is flat, given the block means.
        Where words come in clusters, these stay as large as they are, and longer lists have more of them. Shapes:
        weights (contrasts, groups, classes), numbers of words (groups,) and (classes,); each part (..., contrasts), in
        squared units of the table.
        """
        root_targets, root_attributes = self.roots_of_counts(n_targets, n_attributes)
        by_target, by_attribute = weights / np.reshape(root_targets, (-1, 1)), weights / root_attributes
        target = self.target()
        of_targets = np.einsum("...gc,jgc->...j", self._for_each_group(target.diagonal, -2), by_target**2)
        for loading, coefficient in zip(target.loadings, target.coefficients, strict=True):
            of_group = self._for_each_group(coefficient, -1)
            of_targets += np.einsum("...g,jg->...j", of_group, (by_target @ loading) ** 2)
        of_attributes = np.einsum("...c,jgc->...j", self.attribute_own, by_attribute**2)
        of_attributes += np.einsum("...c,jc->...j", self.attribute_shared, by_attribute.sum(axis=1) ** 2)
        if self.target_overlap is not None:
            shared = self.of_target_cluster().matrix()[..., 0, :, :]
            of_targets += np.einsum(
                "jgc,gh,...cd,jhd->...j", by_target, self.target_overlap, shared, by_target, optimize=True
            )
        if self.attribute_overlap is not None:
            shared = self.of_attribute_cluster().matrix()[..., 0, :, :]
            of_attributes += np.einsum(
                "jgc,cd,...gh,jhd->...j", by_attribute, self.attribute_overlap, shared, by_attribute, optimize=True
            )
        squares = ((weights / np.sqrt(n_attributes)) ** 2 / np.reshape(n_targets, (-1, 1))).sum(axis=(1, 2))
        return {"targets": of_targets, "attributes": of_attributes, "residual": self.residual * squares}

    def of_value(self, classes: Iterable[int]) -> dict[Part, NDArray[np.float64]]:
        """Variance of a single value about its block's mean, averaged over groups and some classes, by where it comes
        from; (...)."""
        kept = list(classes)
        target = self.single_target()
        shared = sum(
            coefficient[..., None] * loading[kept] ** 2
            for loading, coefficient in zip(target.loadings, target.coefficients, strict=True)
        )
        return {
            "targets": (target.diagonal[..., kept] + shared).mean(axis=(-2, -1)),
            "attributes": (self.attribute_own + self.attribute_shared)[..., kept].mean(axis=-1)
            + self.attribute_cluster.sum(axis=-1),
            "residual": self.residual[..., 0],
        }


def one_at_a_time(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[np.float64]]:
    """For each entry of arrays of these shapes, that entry one and all others zero: (entries, *shape)."""
    ends = np.cumsum([prod(shape) for shape in shapes.values()])
    each = np.split(np.eye(ends[-1]), ends[:-1], axis=1)
    return {name: ones.reshape(-1, *shape) for (name, shape), ones in zip(shapes.items(), each, strict=True)}


def _own_and_shared(sd: Mapping[str, Array], level: str, n: int) -> tuple[Array, Array]:
    """Of a level and of preferences for n cells that sum to zero: what belongs to one cell, and what all have in
    common."""
    of_level = sd[level] ** 2
    if n == 1:
        return 0 * of_level, of_level
    preference = sd[f"{level}_preference"] ** 2
    return preference * (n / (n - 1)), of_level - preference / (n - 1)


_INFLATIONS = ("target_inflation", "attribute_inflation")

# In the order of `Components.flat`; the first two have an axis of groups.
_OF_TARGETS = ("target_own", "target_shared")
_VARIANCES = ("attribute_own", "attribute_shared", "residual", "target_cluster", "attribute_cluster")


def sizes_of(data: xr.Dataset) -> dict[str, int]:
    """How many groups there are, classes, and among these associated ones, which come first."""
    n_classes = data.sizes["attribute_class"]
    return {"n_groups": data.sizes["group"], "n_classes": n_classes, "n_associated": n_classes - data.sizes["control"]}


# Dims along which scales may differ.
_DIMS_OF = {component.name: component.dims for component in COMPONENTS}


def differs_by_group(posterior: xr.Dataset) -> bool:
    """Whether the targets of each group have scales of their own."""
    return any("group" in posterior[name].dims for name in map(str, posterior.data_vars) if "group" in _dims_of(name))


def _dims_of(scale: str) -> tuple[str, ...]:
    """The dims along which a scale may differ; empty for any other variable."""
    return _DIMS_OF.get(scale.removesuffix(BY_REPLICATE), ())


def scales_of_posterior(posterior: xr.Dataset, data: xr.Dataset) -> dict[str, NDArray[np.float64]]:
    """Draws of all standard deviations by name, sample dims first; scales that classes share are spread over them, and
    those that groups share where others differ by group."""
    by_group = ("group",) if differs_by_group(posterior) else ()
    spread = {dim: data.sizes[dim] for dim in ("attribute_class", "control", *by_group)}
    found = {}
    # Without labels: finding out that they agree takes longer than all the rest.
    for name in (str(each) for each in posterior.data_vars if str(each).startswith("sd_")):
        values, dims = posterior.variables[name], _dims_of(name)
        missing = {dim: n for dim, n in spread.items() if dim in dims and dim not in values.dims}
        ends_with = [dim for dim in dims if dim in (*missing, *values.dims)]
        values = values.set_dims({**missing, **values.sizes})  # type: ignore[no-untyped-call]  # xarray has no types here
        found[name] = values.transpose(*(dim for dim in values.dims if dim not in ends_with), *ends_with).to_numpy()
    return found
