"""Tables with replicates, simulated from the model: effects of words as large as on real cosines."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from bayes_bias.checks.null_jobs import (
    NULL_SAMPLING,
    Record,
    describe,
    judge,
    judge_by_weat,
    judge_posterior,
    posterior_of,
)
from bayes_bias.models.components import BY_REPLICATE
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.posterior.estimates import estimate_of
from bayes_bias.table.association_table import AssociationTable, assemble
from benchmarks.effects import of_attributes, of_replicate, of_targets
from benchmarks.replicated_cells import FEW_TEMPLATES, PRIORS, under
from benchmarks.simulated import ATTRIBUTE, RESIDUAL, TARGET

WORDS = 8
# Levels and preferences alike, so that effects on two classes, or groups, are independent.
_OF_WORDS = {
    "sd_target_associated": TARGET / 2**0.5,
    "sd_target_preference": TARGET / 2**0.5,
    "sd_attribute": ATTRIBUTE / 2**0.5,
    "sd_attribute_preference": ATTRIBUTE / 2**0.5,
    "sd_residual": RESIDUAL,
}
# Word effects differ between replicates by half as much as between words.
_BY_REPLICATE = {name + BY_REPLICATE: sd / 2 for name, sd in _OF_WORDS.items()}
_OF_REPLICATES = {"sd_replicate": 0.02, "sd_replicate_group": 0.01, "sd_replicate_class": 0.01}
# What a bias varies by from one pair of lists of so many words to the next.
SD_OF_WORDS = ((TARGET**2 + ATTRIBUTE**2) / WORDS + RESIDUAL**2 / WORDS**2) ** 0.5
TIMES = (0, 1, 3)
REPLICATES = (2, 3, 5, 10)


def simulated(seed: int, replicates: int, shift: float, words: int = WORDS) -> AssociationTable:
    """Two groups and two classes without a bias, which differs between replicates with standard deviation `shift`."""
    rng = np.random.default_rng([seed, replicates, words])
    theta = {**_OF_WORDS, **_BY_REPLICATE, **_OF_REPLICATES, "sd_replicate_preference": shift / 2}
    index = np.repeat([0, 1], words)
    singles = {}
    of_words = _of_words(theta, index, rng)
    for r in range(replicates):
        block = of_replicate(theta, 2, 2, 2, rng)[np.ix_(index, index)]
        singles[f"r{r}"] = 0.1 + of_words + block + _of_words(theta, index, rng, BY_REPLICATE)
    return assemble(
        np.mean(list(singles.values()), axis=0),
        {f"t{i}": f"g{k}" for i, k in enumerate(index)},
        {f"a{j}": f"c{k}" for j, k in enumerate(index)},
        {"g0": "c0", "g1": "c1"},
        replicates=singles,
    )


def _of_words(theta: dict[str, float], index: np.ndarray, rng: np.random.Generator, suffix: str = "") -> np.ndarray:
    target = of_targets(theta, index, 2, 2, rng, suffix)[:, index]
    attribute = of_attributes(theta, index, 2, rng, suffix)[:, index].T
    return target + attribute + theta["sd_residual" + suffix] * rng.standard_normal(target.shape)


@dataclass(frozen=True)
class PlantedCell:
    """Tables whose bias differs between so many replicates by so many times what it differs by between lists."""

    replicates: int
    times: float
    spec: ModelSpec
    alone: bool = False  # no other method beside the third facet
    design = SimpleNamespace(name="planted-replicates")

    @property
    def shift(self) -> float:
        """The standard deviation of the bias between replicates."""
        return self.times * SD_OF_WORDS

    @property
    def key(self) -> str:
        """Hash of all that determines the numbers."""
        scales = sorted({**_OF_WORDS, **_BY_REPLICATE, **_OF_REPLICATES}.items())
        told = f"{self.replicates} {self.times} {self.spec.sha256} {scales} {WORDS} {vars(NULL_SAMPLING)}"
        told += " alone" if self.alone else ""
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def judge(self, number: int) -> list[Record]:
        """The bias of one random table, where replicates are a facet and where they are not, and the sd between them,
        of which a finding would say nothing."""
        table = simulated(number, self.replicates, self.shift)
        fitted, divergences = posterior_of(table, self.spec, seed=number + 1)
        between = describe(estimate_of(fitted, "replicate_sd"), self.shift)
        records = [
            *judge_posterior(fitted, scopes=("all",)),
            {"method": "replicate_sd", "scope": "all", **between, "p_value": 1.0},
        ]
        if not self.alone:
            mean = replace(table, replicates=None)
            on_mean = judge(mean, self.spec, seed=number + 1, scopes=("both",))
            records += [record | {"method": "crossed on the mean table"} for record in on_mean]
            records.append(judge_by_weat(table, seed=number))
        return [{"draw": number, "divergences": divergences, **record} for record in records]


@dataclass(frozen=True)
class Row:
    """One cell with what the table says of it; `part` names the priors of what replicates differ by."""

    part: str
    replicates: int
    times: float
    shift: float
    cell: PlantedCell


def rows() -> Iterator[Row]:
    """No shifts, and such as words have, and three times of them."""
    yield from _rows(PRIORS[0], REPLICATES)


def priors() -> Iterator[Row]:
    """Few replicates under other priors, which decide there."""
    for prior in PRIORS[1:]:
        yield from _rows(prior, FEW_TEMPLATES, alone=True)


def _rows(prior: Prior, counts: Sequence[int], *, alone: bool = False) -> Iterator[Row]:
    for times in TIMES:
        for count in counts:
            cell = PlantedCell(count, times, under(prior), alone)
            yield Row(str(prior), count, times, cell.shift, cell)
