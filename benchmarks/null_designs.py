"""Variants of a null that only the benchmarks draw from."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from bayes_bias.checks.null_lists import NullDesign


def centred(design: NullDesign) -> NullDesign:
    """The same with the mean vector of the pool taken off all vectors, and these brought to unit length again."""
    mean = np.mean([design.vectors[word] for word in design.pool], axis=0)
    moved = {word: vector - mean for word, vector in design.vectors.items()}
    unit = {word: vector / np.linalg.norm(vector) for word, vector in moved.items()}
    return replace(design, vectors=MappingProxyType(unit))


def halves_of(control: str, design: NullDesign) -> NullDesign:
    """The same with the classes random halves (thirds, ...) of one control class instead."""
    pool = design.controls[control]
    sizes = dict.fromkeys(design.sizes, len(pool) // len(design.sizes))
    return replace(design, pool=pool, sizes=MappingProxyType(sizes), controls=MappingProxyType({}))


def with_replicates(design: NullDesign, count: int) -> NullDesign:
    """The same with the first replicates alone."""
    times = (len(design.replicates) / count) ** 0.5
    kept = {word: rows[:count] * times for word, rows in design.vectors.items()}
    if count > 1:
        return replace(design, vectors=MappingProxyType(kept), replicates=design.replicates[:count])
    alone = {word: rows[0] for word, rows in kept.items()}
    return replace(design, vectors=MappingProxyType(alone), replicates=())
