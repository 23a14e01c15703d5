"""Slices over time whose biases are known, as tables: words persist, and drift a little from slice to slice."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.table.association_table import AssociationTable, assemble

type Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Sizes:
    """Standard deviations of effects of words: those that all slices share, and those of single slices.

    With eight words in a group or class, values within a block have a standard deviation of about a tenth, as in
    skip-gram vectors, and pairing words makes intervals of a change about half as wide.
    """

    target: tuple[float, float] = (0.05, 0.02)
    target_preference: tuple[float, float] = (0.06, 0.025)
    attribute: tuple[float, float] = (0.05, 0.02)
    attribute_preference: tuple[float, float] = (0.04, 0.015)
    residual: tuple[float, float] = (0.04, 0.03)
    seed: float = 0.02  # of single values between seeds


def slices(
    rng: np.random.Generator,
    times: Sequence[float],
    biases: Sequence[float],
    *,
    groups: int = 2,
    words: int = 8,
    controls: int = 0,
    seeds: Sequence[int] = (),
    noise: Sequence[float] = (),
    drift: bool = False,
    sizes: Sizes = Sizes(),
) -> dict[float, AssociationTable]:
    """One table for each time. `seeds` has the number of replicates of each slice, `noise` what multiplies effects of
    the slice alone; with `drift` these are random walks, so that neighbours are more alike."""
    scale = np.ones(len(times)) if not len(noise) else np.asarray(noise, float)
    design = {f"g{k}": f"c{k}" for k in range(groups)}
    categories = [*design.values(), *["control"] * bool(controls)]
    targets = {f"{g}t{i}": g for g in design for i in range(words)}
    attributes = {f"{c}a{j}": c for c in categories for j in range(words)}
    class_indicators = np.eye(len(categories))[np.repeat(np.arange(len(categories)), words)]
    group_indicators = np.eye(groups)[np.repeat(np.arange(groups), words)]
    stereotypical = group_indicators @ class_indicators[:, :groups].T

    def effects(shape: tuple[int, ...], of: tuple[float, float]) -> Numbers:
        own = rng.normal(0, of[1], (len(times), *shape))
        if drift:
            own = np.cumsum(own, axis=0) / np.sqrt((len(times) + 1) / 2)  # as large as without, on average
        own = own * scale.reshape(-1, *[1] * len(shape))
        return np.asarray(rng.normal(0, of[0], (1, *shape)) + own)

    n, m = len(targets), len(attributes)
    y = np.asarray(biases, float)[:, None, None] * stereotypical
    y = y + effects((n, 1), sizes.target) + effects((1, m), sizes.attribute)
    preferences = effects(
        (n, len(categories)), (sizes.target_preference[0] / 2**0.5, sizes.target_preference[1] / 2**0.5)
    )
    y = y + preferences @ class_indicators.T
    towards = effects((m, groups), (sizes.attribute_preference[0] / 2**0.5, sizes.attribute_preference[1] / 2**0.5))
    y = y + group_indicators @ np.swapaxes(towards, 1, 2)
    y = y + effects((n, m), sizes.residual)
    tables = {}
    for time, values, number in zip(times, y, seeds or [0] * len(times), strict=True):
        tables[time] = _table(rng, values, int(number), sizes.seed, targets, attributes, design)
    return tables


def _table(
    rng: np.random.Generator,
    values: Numbers,
    seeds: int,
    sd: float,
    targets: dict[str, str],
    attributes: dict[str, str],
    design: dict[str, str],
) -> AssociationTable:
    values = np.clip(values, -1, 1)
    singles = {f"seed {k}": values + rng.normal(0, sd, values.shape) for k in range(seeds)}
    mean = np.mean([*singles.values()], axis=0) if singles else values
    return assemble(mean, targets, attributes, design, replicates=singles, kind="seed", name="simulated")
