"""The covariance of the crossed model as a sum of terms. Each term is a coefficient times a known pattern.

A coefficient is a squared scale. A pattern is the covariance over groups and classes that the effects of a component
would have if the scale were one. It follows from the declaration in `bayes_bias.models.components`. The likelihood,
word effects, noise floor, planning, and power-scaling all use these terms. The means of related words vary more than
the means of independent words. Each group and class has a factor for this inflation.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.models.components import (
    BY_REPLICATE,
    COMPONENTS,
    CONTROL_RESIDUAL,
    DIMS,
    REPLICATES,
    Component,
    over_classes,
)
from bayes_bias.models.preferences import inflation_name
from bayes_bias.shared_types import Numbers
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side
from bayes_bias.table.scopes import Part

type Counts = NDArray[Any] | float

_BY_REPLICATE: Mapping[Part, Part] = {
    "targets": "targets by replicate",
    "attributes": "attributes by replicate",
    "residual": "residual by replicate",
}
_COMPONENT = {component.name: component for component in COMPONENTS}


@dataclass(frozen=True, eq=False)
class Effects:
    """Covariances of the effects of single words. Arrays may have additional leading axes.

    Attributes
    ----------
    target : array (..., groups, classes, classes)
        Covariance between classes of the effects of one target, for each group.
    attribute : array (..., classes, groups, groups)
        Covariance between groups of the effects of one attribute, for each class.
    residual : array (..., classes)
    """

    target: Numbers
    attribute: Numbers
    residual: Numbers

    def plus(self, other: Self, weight: float) -> Self:
        """Return the covariances ``self + weight * other``, such as those of words plus a part of those between
        replicates.
        """
        return type(self)(
            self.target + weight * other.target,
            self.attribute + weight * other.attribute,
            self.residual + weight * other.residual,
        )

    def block_covariances(self, target: Numbers, attribute: Numbers) -> dict[Part, Numbers]:
        """Return the covariances of block averages for these numbers of targets and attributes, (..., blocks, blocks),
        group by group.

        A block is a group g and a class c, and its average is over all its pairs of words. Blocks of the same group
        contain the same targets, and blocks of the same class the same attributes, so their averages are correlated.
        The covariance of an average of n words is that of a single word divided by n. Residuals of different blocks are
        independent.
        """
        *sample, n_groups, n_classes, _ = self.target.shape
        targets, attributes = np.zeros((2, *sample, n_groups, n_classes, n_groups, n_classes))
        for g in range(n_groups):
            targets[..., g, :, g, :] = self.target[..., g, :, :] / target[g]
        for c in range(n_classes):
            attributes[..., :, c, :, c] = self.attribute[..., c, :, :] / attribute[c]
        n_blocks = n_groups * n_classes
        residual = (self.residual[..., None, :] / np.outer(target, attribute)).reshape(*sample, n_blocks)
        return {
            "targets": targets.reshape(*sample, n_blocks, n_blocks),
            "attributes": attributes.reshape(*sample, n_blocks, n_blocks),
            "residual": residual[..., None] * np.eye(n_blocks),
        }

    def value_variances(self, classes: list[int]) -> dict[Part, Numbers]:
        """Return the variances of the effects on single values, averaged over groups and these classes, as (...).

        The variances are the diagonals of the covariances: of targets, (..., groups, classes), and of attributes,
        (..., classes, groups).
        """
        return {
            "targets": _diagonal(self.target)[..., classes].mean(axis=(-2, -1)),
            "attributes": _diagonal(self.attribute)[..., classes, :].mean(axis=(-2, -1)),
            "residual": self.residual[..., classes].mean(axis=-1),
        }


@dataclass(frozen=True, eq=False)
class Patterns:
    """Patterns of all terms of a model. The first axis of each array has one entry for each single scale.

    Attributes
    ----------
    words : Effects
        Patterns of the effects of words.
    between : Effects
        Patterns of the differences of word effects between replicates.
    replicate : array (terms, blocks, blocks)
        Patterns of the effects of a replicate on blocks, group by group.
    cluster : mapping of side to array (terms, k, k)
        Patterns of the effects that the words of a sub-topic or pair share, on the k cells of the other side. They do
        not depend on the cell of the words.
    overlap : mapping of side to array (cells, cells)
        Covariance of averages over groups, or classes, of a cluster effect with variance one, for sides with clusters.
    counts : mapping of side to array (cells,)
        Numbers of words.
    replicates : int
        Number of replicates, or 0 if the model has no effects of replicates.
    """

    words: Effects
    between: Effects
    replicate: Numbers
    cluster: Mapping[Side, Numbers]
    overlap: Mapping[Side, Numbers]
    counts: Mapping[Side, Numbers]
    replicates: int

    @classmethod
    def of(cls, dims: Mapping[str, Collection[str]], data: xr.Dataset) -> Self:
        """Return the patterns of all single scales of a model, one row of each array for each scale.

        `dims` has the dims along which each parameter differs, by its name. A parameter with dims, such as a scale for
        each group, has a term for each index along its dims. The pattern of a term is the covariance that effects would
        have if this scale were one and all others zero. Each array has the patterns of one part of the variance, and
        they are zero for the terms of other parts. `words` has the effects of words and the residual, `between` the
        differences of these between replicates, `cluster` the effects of sub-topics or pairs, and `replicate` the
        effects of replicates on blocks.
        """
        terms: list[tuple[str, dict[str, int]]] = []
        for name, along in dims.items():
            for index in np.ndindex(*(data.sizes[dim] for dim in along)):
                terms.append((name, dict(zip(along, index, strict=True))))
        n, n_groups, n_classes = len(terms), data.sizes["group"], data.sizes["attribute_class"]
        n_associated = n_classes - data.sizes["control"]
        n_blocks = n_groups * n_classes
        # The shapes of the patterns of targets, of attributes, and of the residual, for n terms.
        shapes = (n, n_groups, n_classes, n_classes), (n, n_classes, n_groups, n_groups), (n, n_classes)
        words = Effects(*map(np.zeros, shapes))
        between = Effects(*map(np.zeros, shapes))
        target_cluster = np.zeros((n, n_classes, n_classes))
        attribute_cluster = np.zeros((n, n_groups, n_groups))
        replicate = np.zeros((n, n_blocks, n_blocks))
        # `index_along` has the position of term k along each of its dims. A scale without the dim "group" (or
        # "attribute_class") is the scale of all groups (or classes), so its pattern is written to all of them.
        for k, (name, index_along) in enumerate(terms):
            component = _COMPONENT[name.removesuffix(BY_REPLICATE)]
            effects = between if name.endswith(BY_REPLICATE) else words
            group_pattern = _group_covariance(component, n_groups)
            class_pattern = _class_covariance(component, n_classes, n_associated, index_along.get("control"))
            match component.part:
                case "residual":
                    has_own_controls = CONTROL_RESIDUAL + name.removeprefix(component.name) in dims
                    pattern = component.over_classes if has_own_controls else "all"
                    effects.residual[k] = over_classes(n_classes, n_associated)[pattern].sum(axis=0)
                case "replicates":
                    replicate[k] = np.kron(group_pattern, class_pattern)
                case "targets" if "clusters" in component.needs:
                    target_cluster[k] = class_pattern
                case "attributes" if "clusters" in component.needs:
                    attribute_cluster[k] = group_pattern
                case "targets":
                    effects.target[k, index_along.get("group", slice(None))] = class_pattern
                case "attributes":
                    effects.attribute[k, index_along.get("attribute_class", slice(None))] = group_pattern
        return cls(
            words=words,
            between=between,
            replicate=replicate,
            cluster={"target": target_cluster, "attribute": attribute_cluster},
            overlap={side: data[f"{side}_overlap"].to_numpy() for side in SIDES if f"{side}_overlap" in data},
            counts={"target": data.n_targets.to_numpy(), "attribute": data.n_attributes.to_numpy()},
            replicates=data.sizes["replicate"] if set(REPLICATES) & set(dims) else 0,
        )

    @cached_property
    def table(self) -> Effects:
        """The patterns of word effects in the mean over these replicates."""
        return self.words.plus(self.between, 1 / self.replicates) if self.replicates else self.words

    def block_covariances(
        self, n_targets: Counts | None = None, n_attributes: Counts | None = None
    ) -> dict[Part, Numbers]:
        """Return the covariances of block means around their expectation, by source of variance, (terms, blocks,
        blocks).

        The covariances are for single replicates. Without other numbers of words, they are for those of the table
        (`counts`). For other numbers, clusters keep their size, so longer lists contain more clusters, and the
        covariance of cluster averages between two cells (`overlap`) shrinks with the square roots of both lengths.
        """
        n_words = dict(self.counts)
        if n_targets is not None:
            n_words["target"] = np.broadcast_to(n_targets, n_words["target"].shape)
        if n_attributes is not None:
            n_words["attribute"] = np.broadcast_to(n_attributes, n_words["attribute"].shape)
        parts = self.words.block_covariances(**n_words)
        for side, overlap in self.overlap.items():
            shrinkage = np.sqrt(self.counts[side] / n_words[side])
            over_cells = overlap * np.outer(shrinkage, shrinkage)
            if side == "target":
                parts["targets"] += np.kron(over_cells, self.cluster[side])
            else:
                parts["attributes"] += np.kron(self.cluster[side], over_cells)
        if self.replicates:
            between = self.between.block_covariances(**n_words)
            parts["replicates"] = self.replicate
            parts |= {_BY_REPLICATE[part]: covariance for part, covariance in between.items()}
        return parts

    def value_variances(self, classes: list[int]) -> dict[Part, Numbers]:
        """Return the variances (terms,) of a single value in a single replicate, by source of variance.

        The variances of a pattern are its diagonal, averaged over groups and these classes. The variance of the effects
        of clusters is added to the variance of their words. With replicates, there are also the effects of a replicate,
        (groups, classes), and the differences of word effects between replicates.
        """
        parts = self.words.value_variances(classes)
        parts["targets"] = parts["targets"] + _diagonal(self.cluster["target"])[:, classes].mean(axis=-1)
        parts["attributes"] = parts["attributes"] + _diagonal(self.cluster["attribute"]).mean(axis=-1)
        if self.replicates:
            # (terms, groups, classes)
            by_block = _diagonal(self.replicate).reshape(len(self.replicate), *map(len, self.counts.values()))
            parts["replicates"] = by_block[..., classes].mean(axis=(-2, -1))
            between = self.between.value_variances(classes)
            parts |= {_BY_REPLICATE[part]: variance for part, variance in between.items()}
        return parts

    def rows(self, side: Side, cell: int, shared: float) -> Numbers:
        """Return the patterns (terms, k, k) of the means of a word, relative to other words of its cell, in the mean
        table.

        A cell is a group of targets, or a class of attributes, and a word has one mean for each of the k cells of the
        other side. A pattern is the sum of four covariances: of effects of single words, of effects that clusters share
        (with the weight `shared`), of differences between replicates, averaged over them, and of the residual.
        """
        words = side_covariances(self.words, side)[:, cell]
        clusters = shared * self.cluster[side]
        replicates = side_covariances(self.between, side)[:, cell] / max(self.replicates, 1)
        residual = averaged_residual(self.table.residual, side, self.counts)[:, cell]
        return np.asarray(words + clusters + replicates + residual)

    def rows_between(self, side: Side, cell: int) -> Numbers:
        """Return the patterns (terms, k, k) of the means of a word, relative to other words of its cell, between
        replicates.

        A cell is a group of targets, or a class of attributes. Here, means are computed from the differences between
        single replicates and the mean of replicates.
        """
        residual = averaged_residual(self.between.residual, side, self.counts)
        return np.asarray(side_covariances(self.between, side)[:, cell] + residual[:, cell])


def averaged_residual(residual: Numbers, side: Side, counts: Mapping[Side, Numbers]) -> Numbers:
    """Return the covariance (..., cells, k, k) of the residuals of a word's means, for words of each cell of a side.

    A target has k means, one over the attributes of each class, and an attribute has one over the targets of each
    group. A mean over n words has 1 / n of the residual variance, which may differ between classes, (..., classes).
    Different means have independent residuals, so the covariance is diagonal.
    """
    if side == "target":
        by_class = residual / counts["attribute"]
        variances = np.repeat(by_class[..., None, :], len(counts["target"]), axis=-2)
    else:
        variances = residual[..., None] / counts["target"]
    return np.asarray(variances[..., None] * np.eye(variances.shape[-1]))


def side_covariances(effects: Effects, side: Side) -> Numbers:
    """Return the covariances of the effects of one side's words."""
    return effects.target if side == "target" else effects.attribute


def _group_covariance(component: Component, n_groups: int) -> Numbers:
    """Return the covariance over groups of a component's effects, which sum to zero or are equal in all groups."""
    return zero_sum_covariance(n_groups) if component.over_groups == "zero-sum" else np.ones((n_groups, n_groups))


def _class_covariance(component: Component, n_classes: int, n_associated: int, control: int | None) -> Numbers:
    """Return the covariance over classes of a component's effects with variance one, ``L' E L``.

    The loadings L (effects, classes) are 1 if an effect acts on a class, and the covariance E of the effects is the
    identity, unless effects sum to zero. For the scale of one `control` class, only the effect on this class counts.
    """
    loadings = over_classes(n_classes, n_associated)[component.over_classes]
    if control is not None:
        loadings = loadings[[control]]
    n_effects = len(loadings)
    effects = zero_sum_covariance(n_effects) if component.over_classes == "zero-sum" else np.eye(n_effects)
    return np.asarray(loadings.T @ effects @ loadings)


def dims_in_posterior(posterior: xr.Dataset) -> dict[str, tuple[str, ...]]:
    """Return the scales in a posterior by name, each with the dims along which it differs.

    `DIMS` has the names of all scales of the crossed model, with the dims along which they may differ.
    """
    scales = {}
    for name in map(str, posterior.data_vars):
        if name in DIMS:
            scales[name] = tuple(dim for dim in DIMS[name] if dim in posterior[name].dims)
    return scales


def differs_by_group(posterior: xr.Dataset) -> bool:
    """Return True if the targets of each group have their own scales."""
    return any("group" in dims for dims in dims_in_posterior(posterior).values())


def inflations_of(posterior: xr.Dataset, side: Side, like: Counts) -> Numbers:
    """Return the ratio of the variance of each group or class mean to the variance for independent words.

    The result has the shape (..., groups or classes), with the sample dims of the posterior first. If no words are
    related, it is 1 and has the shape of `like`.
    """
    name = inflation_name(side)
    if name not in posterior:
        return np.ones_like(like)
    inflation = posterior.variables[name]
    sample = [dim for dim in inflation.dims if dim != CATEGORY_COORD[side]]
    return np.asarray(inflation.transpose(*sample, CATEGORY_COORD[side]).to_numpy())


@dataclass(frozen=True, eq=False)
class Variances:
    """Coefficients (..., terms) of all terms, for example one set per draw, with their patterns. The inflation is the
    ratio of the variance of group (..., groups) and class means to the variance for independent words.
    """

    coefficients: Numbers
    patterns: Patterns
    inflation: Mapping[Side, Numbers]

    @classmethod
    def from_posterior(cls, posterior: xr.Dataset, data: xr.Dataset) -> Self:
        """Return the coefficients of draws ``(chain, draw)``, or of draws with any other leading sample dims.

        Examples
        --------
        Two groups of 8 targets, two classes of 10 attributes, and scales in units of the residual scale. The
        preferences of a target for the two classes are x and -x. Its contrast ``(y[1] - y[2]) / 2`` is therefore x,
        because its level cancels. The same applies to attributes. The bias has the variance 2 * .2**2 / 8 = .01 from
        targets, 2 * .4**2 / 10 = .032 from attributes, and 4 / 4 / (8 * 10) = .0125 from the residual:

        >>> sd = {"sd_target_associated": 0.7, "sd_target_preference": 0.2, "sd_attribute": 0.5}
        >>> sd |= {"sd_attribute_preference": 0.4, "sd_residual": 1.0}
        >>> design = xr.Dataset(
        ...     {"n_targets": ("group", [8, 8]), "n_attributes": ("attribute_class", [10, 10])},
        ...     coords={"control": [], "attribute_class": ["c", "d"], "group": ["g", "h"]},
        ... )
        >>> posterior = xr.Dataset({name: ("draw", [value]) for name, value in sd.items()})
        >>> variances = Variances.from_posterior(posterior, design)
        >>> parts = variances.contrast_variances(np.array([[[0.5, -0.5], [-0.5, 0.5]]]))
        >>> {part: round(variance.item(), 4) for part, variance in parts.items()}
        {'targets': 0.01, 'attributes': 0.032, 'residual': 0.0125}
        """
        dims = dims_in_posterior(posterior)
        scales = []
        for name, along in dims.items():
            # Labels are dropped, because comparing them takes longer than the computation.
            array = posterior.variables[name]
            sample = [dim for dim in array.dims if dim not in along]
            values = array.transpose(*sample, *along).to_numpy()
            scales.append(values.reshape(*values.shape[: len(sample)], -1))
        patterns = Patterns.of(dims, data)
        inflation = {side: inflations_of(posterior, side, patterns.counts[side]) for side in SIDES}
        return cls(np.concatenate(scales, axis=-1) ** 2, patterns, inflation)

    def of(self, patterns: Any) -> Numbers:
        """Return the sum of patterns (terms, ...), each times its coefficient."""
        return np.tensordot(self.coefficients, patterns, 1)

    def effects(self, effects: Effects) -> Effects:
        """Return the sum of the patterns of each covariance of effects, each times its coefficient."""
        return Effects(self.of(effects.target), self.of(effects.attribute), self.of(effects.residual))

    @cached_property
    def words(self) -> Effects:
        """The covariances of word effects in the average over all possible replicates."""
        return self.effects(self.patterns.words)

    @cached_property
    def table(self) -> Effects:
        """The covariances of word effects and the residual in the mean of these replicates."""
        return self.effects(self.patterns.table)

    def contrast_variances(
        self,
        weights: Numbers,
        n_targets: Counts | None = None,
        n_attributes: Counts | None = None,
        n_replicates: float | None = None,
    ) -> dict[Part, Numbers]:
        """Return the sampling variance of contrasts of block means in the mean table, by source of variance.

        Given the scales and the block means, this is also the posterior variance of the contrast, because its prior is
        flat. Weights have the shape (contrasts, groups, classes). Numbers of words are those in the table, or
        ``(groups,)`` and ``(classes,)``. Each part is (..., contrasts), in squared units of the table.
        """
        w = weights.reshape(len(weights), -1)
        n_replicates = self.patterns.replicates if n_replicates is None else n_replicates
        variances: dict[Part, Numbers] = {}
        for part, blocks in self.patterns.block_covariances(n_targets, n_attributes).items():
            # For each term s and contrast j with weights w, the contributions of blocks b to the variance w' C w.
            by_block = np.einsum("jb,sbd,jd->sjb", w, blocks, w, optimize=True)
            variance = self._inflated_sum(part, by_block.reshape(*by_block.shape[:2], *weights.shape[1:]))
            variances[part] = variance / (n_replicates if "replicate" in part else 1)
        return variances

    def _inflated_sum(self, part: Part, blocks: Numbers) -> Numbers:
        """Return the variance of contrasts (..., contrasts) from the contributions of blocks (terms, contrasts, groups,
        classes).

        Related words contribute in proportion to the variance of their mean. Only blocks of the same group (class)
        share targets (attributes), so contributions are summed within groups (classes), multiplied by the inflation of
        the group (class), and then summed over groups (classes). Other sources of variance have no inflation.
        """
        if part not in ("targets", "attributes"):
            return self.of(blocks.sum(axis=(-2, -1)))
        side: Side = "target" if part == "targets" else "attribute"
        by_cell = self.of(blocks.sum(axis=-1 if side == "target" else -2))  # (..., contrasts, groups or classes)
        return np.asarray((by_cell * self.inflation[side][..., None, :]).sum(axis=-1))

    def block_covariances(self) -> dict[Part, Numbers]:
        """Return the covariances of block means in the mean table, by source of variance, (..., blocks, blocks).

        Blocks are listed group by group. The covariance of targets is multiplied by the inflation of each block's
        group, and the covariance of attributes by the inflation of its class. Differences between replicates are
        averaged in the mean table, so their covariance is divided by the number of replicates.
        """
        n_groups, n_classes = map(len, self.patterns.counts.values())  # one count of words for each group and class
        inflation_of_block = {
            "targets": np.repeat(self.inflation["target"], n_classes, axis=-1),
            "attributes": np.tile(self.inflation["attribute"], n_groups),
        }
        covariances: dict[Part, Numbers] = {}
        for part, patterns in self.patterns.block_covariances().items():
            covariances[part] = self.of(patterns) / (self.patterns.replicates if "replicate" in part else 1)
            if part in inflation_of_block:
                covariances[part] = covariances[part] * inflation_of_block[part][..., None, :]
        return covariances

    def value_variances(self, classes: Iterable[int]) -> dict[Part, Numbers]:
        """Return the variance (...) of a single value in a single replicate around its block mean, averaged over groups
        and some classes, by source of variance.
        """
        patterns = self.patterns.value_variances(list(classes))
        return {part: self.of(pattern) for part, pattern in patterns.items()}


def _diagonal(covariance: Numbers) -> Numbers:
    """Return the variances of covariance matrices (..., k, k)."""
    return np.diagonal(covariance, axis1=-2, axis2=-1)


# Effects with variance one that sum to zero. The covariance of n effects is ``(I - 1/n) n / (n - 1)``.


def zero_sum_sd(n: Any, numerics: Any = np) -> Any:
    """Return the standard deviation that n values need so that their deviations from the mean have variance one."""
    return numerics.sqrt(n / (n - 1))


def zero_sum_covariance(n: int) -> NDArray[np.float64]:
    """Return the covariance of n effects with variance one that sum to zero. It is zero for a single effect."""
    return np.asarray((np.eye(n) - 1 / n) * n / max(n - 1, 1))
