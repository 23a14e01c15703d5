"""Tables that are simulated with scales of real cosines, from the model and beyond it; most of them have no bias."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_bias.table.association_table import AssociationTable, assemble
from benchmarks.harness import Numbers, Result, Row, judged
from benchmarks.methods import OF_TABLES, OURS

# Medians of real lists: what a target and an attribute prefer, and the residual.
TARGET, ATTRIBUTE, RESIDUAL = 0.009, 0.018, 0.036
# Where effects of words are large beside the residual.
LARGE = (0.024, 0.038, 0.04)


@dataclass(frozen=True)
class Simulated:
    """Tables without a bias.

    Attributes
    ----------
    words, groups, first : int
        Words of each group and class, how many of these, and how many words the first one has if not as many.
    side : {"targets", "attributes"}
        Where the first one is of another length, or varies more.
    times : float
        How many times as much the words of the first one vary.
    correlation : float
        Of a word's effects on two classes, or groups.
    sub_topics, within : int, float
        Into how many sub-topics, which no list names, the attributes of a class fall, and how much they correlate.
    sds : tuple of float
        Standard deviations of effects of targets and of attributes, and of the residual.
    """

    kind: str
    words: int = 8
    groups: int = 2
    first: int | None = None
    side: str = "targets"
    times: float = 1.0
    correlation: float = 0.0
    sub_topics: int = 0
    within: float = 0.0
    sds: tuple[float, float, float] = (TARGET, ATTRIBUTE, RESIDUAL)

    @property
    def label(self) -> Row:
        """The columns that name the cell."""
        return {"kind": self.kind, "words": self.words, "groups": self.groups}

    def draw(self, seed: int) -> tuple[AssociationTable, float]:
        """One random table."""
        rng = np.random.default_rng([seed, self.words, self.groups, self.first or 0])
        g, c = self._categories("targets"), self._categories("attributes")
        topic = c * self.words + np.concatenate([np.arange(n) * self.sub_topics // n for n in np.bincount(c)])
        target_sd, attribute_sd, residual_sd = self.sds
        target = target_sd * self._effects(np.arange(len(g)), rng)
        attribute = attribute_sd * self._effects(topic if self.sub_topics else np.arange(len(c)), rng)
        varying, codes = (target, g) if self.side == "targets" else (attribute, c)
        varying[codes == 0] *= self.times
        y = target[:, c] + attribute[:, g].T + residual_sd * rng.standard_normal((len(g), len(c)))
        return table_of(0.1 + y, g, c), 0.0

    def _categories(self, side: str) -> NDArray[np.int64]:
        """The group, or class, of each word."""
        first = self.first if self.first and side == self.side else self.words
        return np.repeat(np.arange(self.groups), [first, *[self.words] * (self.groups - 1)])

    def _effects(self, cluster: NDArray[np.int64], rng: np.random.Generator) -> Numbers:
        """Of words, and of what their sub-topics share, (words, groups), of variance one."""
        own = _correlated(len(cluster), self.groups, self.correlation, rng)
        if not self.within or len(np.unique(cluster)) == len(cluster):
            return own
        shared = _correlated(int(cluster.max()) + 1, self.groups, self.correlation, rng)
        return np.asarray(np.sqrt(1 - self.within) * own + np.sqrt(self.within) * shared[cluster])


def _correlated(n: int, k: int, correlation: float, rng: np.random.Generator) -> Numbers:
    """Normal effects (n, k), of variance one."""
    values, vectors = np.linalg.eigh(correlation + (1 - correlation) * np.eye(k))
    return np.asarray(rng.standard_normal((n, k)) @ (vectors * np.sqrt(np.maximum(values, 0))).T)


def table_of(y: Numbers, g: NDArray[np.int64], c: NDArray[np.int64], **more: Any) -> AssociationTable:
    """A table of numbered words, whose groups and classes are numbered, too."""
    targets = {f"t{i}": f"g{k}" for i, k in enumerate(g)}
    attributes = {f"a{j}": f"c{k}" for j, k in enumerate(c)}
    return assemble(y, targets, attributes, {f"g{k}": f"c{k}" for k in range(int(max(g)) + 1)}, **more)


ALIKE = "independent words"
UNEVEN = {
    ("targets", 1.0): "3 against 30 targets",
    ("targets", 3.0): "3 against 30 targets, the 3 three times as variable",
    ("attributes", 1.0): "3 against 30 attributes",
    ("attributes", 3.0): "3 against 30 attributes, the 3 three times as variable",
}
DESIGNS = (
    Simulated(ALIKE, 4),
    Simulated(ALIKE, 8),
    Simulated(ALIKE, 25),
    Simulated("preferences correlate by -0.5", 8, correlation=-0.5),
    Simulated("preferences correlate by 0.5", 8, correlation=0.5),
    Simulated("five groups and classes", 8, groups=5),
    *(Simulated(f"sub-topics, correlation {rho:g}", 8, sub_topics=2, within=rho) for rho in (0.1, 0.3, 0.5)),
    Simulated("sub-topics, correlation 0.3", 25, sub_topics=5, within=0.3),
    *(Simulated(kind, 30, first=3, side=side, times=times) for (side, times), kind in UNEVEN.items()),
)


def simulated(draws: int, designs: Iterable[Simulated] = DESIGNS) -> list[Row]:
    """All designs by all methods; min F' is defined for two groups, and our slowest cells are sampled."""
    rows: list[Row] = []
    for design in designs:
        methods = dict(OF_TABLES)
        if design.groups != 2:
            del methods["min F'"]
        rows += judged(design, methods, range(draws))
    return rows


def uneven(draws: int) -> list[Row]:
    """Three words that vary three times as much as thirty others, with large effects of words."""
    methods = {name: OF_TABLES[name] for name in (OURS, "quasi-F", "REML")}
    rows: list[Row] = []
    for side in ("targets", "attributes"):
        design = Simulated(UNEVEN[side, 3.0], 30, first=3, side=side, times=3, sds=LARGE)
        rows += judged(design, methods, range(draws))
    return rows


_USES = ("benchmarks.methods", "benchmarks.harness")
RESULTS = (Result("simulated", simulated, 150, uses=_USES), Result("uneven", uneven, 300, uses=_USES))
