"""An encoder that needs no model: a sentence is the sum of the random directions of its words."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


def bag_of_words(sentences: Sequence[str]) -> NDArray[np.float64]:
    """Shape (sentences, 32), the same in every process."""
    return np.array([sum(map(_direction, text.lower().strip(".?").split())) for text in sentences])


def _direction(word: str) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).normal(size=32)


@dataclass
class Counting:
    """Counts what it is asked, and can fail."""

    name: str = "counting"
    identity: str = "bag of words, 32 dimensions"
    pooling: str = ""
    fails_after: float = float("inf")
    asked: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)

    def __call__(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]] = ()) -> NDArray[np.float64]:
        if len(self.asked) + len(sentences) > self.fails_after:
            raise KeyboardInterrupt
        self.asked += sentences
        self.spans += spans
        return bag_of_words(sentences)
