"""The biases of all slices and their covariance over new words, from mean squares: a quasi-F with a matrix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from bayes_bias.measures.word_scores import WordScores
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.scopes import ATTRIBUTES, TARGETS, Scope
from bayes_bias.table.statistics import table_means


@dataclass(frozen=True, eq=False)
class Part:
    """The covariance of the biases (slice, slice) that the words of one cell give them, or the residual, or seeds."""

    source: str
    matrix: Numbers
    df: float


@dataclass(frozen=True, eq=False)
class SliceMoments:
    r"""Biases of slices over the same words, and the parts of their covariance over new ones.

    As in `bayes_bias.measures.quasi_f`, but of all slices at once: scores of targets and of attributes are vectors over
    slices, and mean squares matrices :math:`V = V_T + V_A - V_E`. Only traces of V are used, never the matrix itself:
    the variance :math:`L' V L` of a contrast, or its sum over several, which mean squares estimate without bias and
    with degrees of freedom of their own (Satterthwaite).
    """

    biases: Numbers
    parts: tuple[Part, ...]
    within_sd: float  # of values within blocks, over all slices: the unit of the prior

    @classmethod
    def of(cls, tables: Sequence[AssociationTable], scope: Scope) -> Self:
        """Of tables over the same words."""
        first, *_ = associated = [table.without_controls() for table in tables]
        means, g, c = table_means(first), first.group_index, first.class_index
        (weights,) = bias_weights(means).to_numpy()
        group_sizes, class_sizes = np.bincount(g), np.bincount(c)
        in_group, in_class = np.eye(len(weights))[g] / group_sizes, np.eye(weights.shape[1])[c] / class_sizes
        y = np.stack([table.values.to_numpy() for table in associated])
        rows, columns = y @ in_class, in_group.T @ y
        blocks = in_group.T @ rows
        fitted = blocks[:, g][:, :, c]
        parts: list[Part] = []
        if TARGETS in scope:
            parts += _parts_of_cells("targets", (rows * weights[g]).sum(axis=2), g)
        if ATTRIBUTES in scope:
            parts += _parts_of_cells("attributes", (columns * weights[:, c]).sum(axis=1), c)
        if TARGETS in scope and ATTRIBUTES in scope:
            residual = (y - rows[:, :, c] - columns[:, g] + fitted).reshape(len(y), -1)
            df = float(np.outer(group_sizes - 1, class_sizes - 1).sum())
            scale = float((weights**2 / np.outer(group_sizes, class_sizes)).sum())
            parts.append(Part("residual", -scale * residual @ residual.T / df, df))
        if scope.samples_replicates:
            parts += _parts_of_replicates(associated)
        within = ((y - fitted) ** 2).sum() / (len(y) * (g.size * c.size - weights.size))
        return cls((blocks * weights).sum(axis=(1, 2)), tuple(parts), float(np.sqrt(within)))

    def trace(self, form: Numbers, rank: float = 1.0) -> tuple[float, float]:
        """The trace of form V, and its degrees of freedom; `rank` of them for each of a single contrast.

        As for the quasi-F, a second sampled side makes nothing more certain: the largest of the sums counts.
        """
        sums = []
        for omitted in ((), ("attributes", "residual"), ("targets", "residual")):
            values, squares = [], []
            for part in self.parts:
                if part.source not in omitted:
                    value, df = float((form * part.matrix).sum()), part.df * rank
                    values.append(value)
                    if df:
                        squares.append(value**2 / df)
            sums.append((sum(values), sum(squares)))
        variance, doubt = max(sums, key=itemgetter(0))
        return variance, variance**2 / doubt if doubt else np.inf

    def rank(self, form: Numbers) -> float:
        """How many independent contrasts a form is worth: (tr form V)² / tr (form V)²."""
        product = form @ sum(part.matrix for part in self.parts)
        return float(max(1.0, np.trace(product) ** 2 / np.trace(product @ product)))

    def interval(self, contrast: Numbers, ci_prob: float) -> tuple[float, float, float]:
        """Estimate and Student's interval of a contrast of slices."""
        variance, df = self.trace(np.outer(contrast, contrast))
        estimate = float(contrast @ self.biases)
        reach = float(student.ppf((1 + ci_prob) / 2, df)) * max(variance, 0.0) ** 0.5
        return estimate, estimate - reach, estimate + reach


def trend_weights(times: Sequence[float]) -> Numbers:
    """Weights of slices whose sum is the change along the least-squares line, from the first time to the last."""
    x = np.asarray(times, float) - np.mean(times)
    return np.asarray(x * (x.max() - x.min()) / (x @ x))


def residual_form(times: Sequence[float]) -> Numbers:
    """The form that takes constant and trend out: b' M b is the sum of squares about the least-squares line."""
    design = np.column_stack([np.ones(len(times)), np.asarray(times, float) - np.mean(times)])
    return np.asarray(np.eye(len(times)) - design @ np.linalg.pinv(design))


def weights_of(slices: Sequence[Any], weights: Mapping[Any, float]) -> Numbers:
    """Weights in the order of the slices. Zero for those that are not named."""
    return np.array([float(weights.get(label, 0.0)) for label in slices])


def _parts_of_cells(source: str, scores: Numbers, cells: NDArray[np.integer]) -> list[Part]:
    """Return the covariance of mean scores (slice, word) of the words of each group, or class."""
    parts = []
    for cell in np.unique(cells):
        own = scores[:, cells == cell]
        deviations, words = own - own.mean(axis=1, keepdims=True), own.shape[1]
        parts.append(Part(source, deviations @ deviations.T / ((words - 1) * words), words - 1.0))
    return parts


def _parts_of_replicates(tables: Sequence[AssociationTable]) -> list[Part]:
    """Return the variance of each slice's mean over its replicates.

    It contains their noise of words, which counts once more.
    """
    parts = []
    for position, table in enumerate(tables):
        singles = table.singles().values()
        if not singles:
            continue
        biases = np.array([WordScores.from_table(single).bias for single in singles])
        matrix = np.zeros((len(tables), len(tables)))
        matrix[position, position] = biases.var(ddof=1) / len(biases)
        parts.append(Part("replicates", matrix, len(biases) - 1.0))
    return parts
