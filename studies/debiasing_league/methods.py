"""What takes part: methods, what they are taught, and what they are compared with."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_bias.debiasing import (
    INLP,
    LEACE,
    RAN,
    Conceptor,
    Debiaser,
    DoubleHardDebias,
    HalfSiblingRegression,
    HardDebias,
    LinearProjection,
    OSCaR,
    PartialProjection,
    SoftDebias,
)
from studies.debiasing_league.worlds import GENDER, SCENARIO, World, vectors_of

type Vectors = Mapping[str, np.ndarray]

# Defaults, but where these vectors have too few words or dimensions for them.
METHODS: Mapping[str, Debiaser[Any]] = {
    "hard": HardDebias(),
    "hard, equalised": HardDebias(equalize=True),
    "soft": SoftDebias(),
    "soft, strong": SoftDebias(strength=1000),
    "double-hard": DoubleHardDebias(most_biased=20),
    "linear projection": LinearProjection(),
    "partial projection": PartialProjection(),
    "half-sibling": HalfSiblingRegression(),
    "conceptor": Conceptor(),
    "RAN": RAN(),
    "OSCaR": OSCaR(),
    "INLP": INLP(iterations=5),
    "INLP, leaning words": INLP(iterations=5, most_biased=20),
    "LEACE": LEACE(),
    "LEACE, leaning words": LEACE(most_biased=20),
}
ORIGINAL, SHAM = "original", "a random direction"
_SPLIT, _DIRECTION = 8, 9  # streams of random numbers of their own


@dataclass(frozen=True)
class Split:
    """Half of the pairs of gender words and half of the occupations; the other halves are new to all methods."""

    pairs: tuple[tuple[str, str], ...]
    new_pairs: tuple[tuple[str, str], ...]
    occupations: tuple[str, ...]
    new_occupations: tuple[str, ...]

    @property
    def sets(self) -> dict[str, Any]:
        """What methods are taught."""
        return {"defining_sets": self.pairs, "independent": self.occupations}

    def taught(self, vectors: Vectors) -> Vectors:
        """All vectors that a method may learn from."""
        new = {*self.new_occupations, *(word for pair in self.new_pairs for word in pair)}
        return {word: vector for word, vector in vectors.items() if word not in new}


def split_of(world: World) -> Split:
    """Drawn anew for each corpus, and the same for all models of it."""
    rng = np.random.default_rng([SCENARIO.seed, _SPLIT, world.truth, world.corpus])
    pairs = list(zip(*GENDER.classes.values(), strict=True))
    one, other = (tuple(pairs[k] for k in half) for half in np.split(rng.permutation(len(pairs)), 2))
    words, new_words = (tuple(half.tolist()) for half in np.split(rng.permutation(SCENARIO.words), 2))
    return Split(one, other, words, new_words)


def versions(world: World, folder: Path) -> Iterator[tuple[str, Vectors]]:
    """The vectors of a world as they are, after each method, and without a direction that means nothing."""
    vectors, split = vectors_of(world, folder), split_of(world)
    yield ORIGINAL, vectors
    for name, method in METHODS.items():
        yield name, method.fit(split.taught(vectors), split.sets).transform(vectors)
    yield SHAM, _without_a_random_direction(vectors, world)


def _without_a_random_direction(vectors: Vectors, world: World) -> Vectors:
    """What a projection costs that takes out anything but gender."""
    words, rows = list(vectors), np.stack(list(vectors.values())).astype(float)
    direction = np.random.default_rng([SCENARIO.seed, _DIRECTION, world.truth, world.corpus]).normal(size=rows.shape[1])
    direction /= np.linalg.norm(direction)
    return dict(zip(words, rows - np.outer(rows @ direction, direction), strict=True))
