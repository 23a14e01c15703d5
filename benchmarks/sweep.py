"""Embeddings for sweeps: the shipped vectors, and made ones, with their debiased versions."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

import bayes_bias as bb

DEBIASED = bb.debiasing.Debiasing(bb.debiasing.HardDebias(), "she:he,woman:man,daughter:son,mother:father")
DIMENSIONS = (50, 100, 200)


def embeddings(count: int) -> dict[str, Mapping[str, NDArray[np.float64]]]:
    """The shipped vectors, and made ones: projected at random to fewer dimensions, with noise, by several seeds."""
    shipped = bb.open_embedding("googlenews-demo").all()
    words, vectors = list(shipped), np.stack(list(shipped.values())).astype(float)
    made: dict[str, Mapping[str, NDArray[np.float64]]] = {"shipped": shipped}
    for number in range(count - 1):
        dimensions, seed = DIMENSIONS[number % len(DIMENSIONS)], number // len(DIMENSIONS)
        rng = np.random.default_rng([dimensions, seed])
        projected = vectors @ rng.standard_normal((vectors.shape[1], dimensions)) / np.sqrt(dimensions)
        projected += 0.3 * projected.std() * rng.standard_normal(projected.shape)
        made[f"{dimensions} dimensions, seed {seed}"] = dict(zip(words, projected, strict=True))
    return made
