"""Designs to measure, made up of vectors or of scores."""

from collections.abc import Sequence

import numpy as np

from bayes_bias.associations.table import Associations, assemble

Vectors = dict[str, np.ndarray]
WordSets = dict[str, list[str]]

# Targets, attributes: the first group is paired with the first class (Caliskan et al. 2017, Table 1).
STUDIES: dict[str, tuple[str, str, str, str]] = {
    "WEAT1": ("Flowers", "Insects", "Pleasant", "Unpleasant"),
    "WEAT2": ("Instruments", "Weapons", "Pleasant", "Unpleasant"),
    "WEAT3": ("EuropeanAmericanNames", "AfricanAmericanNames", "Pleasant", "Unpleasant"),
    "WEAT4": ("EuropeanAmericanNames", "AfricanAmericanNames", "Pleasant", "Unpleasant"),
    "WEAT5": ("EuropeanAmericanNames", "AfricanAmericanNames", "Pleasant", "Unpleasant"),
    "WEAT6": ("MaleNames", "FemaleNames", "Career", "Family"),
    "WEAT7": ("Math", "Arts", "MaleTerms", "FemaleTerms"),
    "WEAT8": ("Science", "Arts", "MaleTerms", "FemaleTerms"),
    "WEAT9": ("MentalDisease", "PhysicalDisease", "Temporary", "Permanent"),
    "WEAT10": ("YoungNames", "OldNames", "Pleasant", "Unpleasant"),
}


def design(vectors: Vectors, groups: WordSets, classes: WordSets) -> Associations:
    """Cosines of groups and classes, associated in the order in which they are given."""
    targets = {w: g for g, words in groups.items() for w in words}
    attributes = {w: c for c, words in classes.items() for w in words}
    unit = {w: vectors[w] / np.linalg.norm(vectors[w]) for w in [*targets, *attributes]}
    similarity = np.stack([unit[w] for w in targets]) @ np.stack([unit[w] for w in attributes]).T
    return assemble(similarity, targets, attributes, dict(zip(groups, classes, strict=False)))


def scores_design(x: Sequence[float], y: Sequence[float]) -> Associations:
    """A design with one attribute in each class whose association scores are the given numbers."""
    scores = np.array([*x, *y], dtype=float)
    targets = {f"{g}{i}": g for g, values in (("x", x), ("y", y)) for i in range(len(values))}
    similarity = np.column_stack([scores / 2, -scores / 2])
    return assemble(similarity, targets, {"a": "A", "b": "B"}, {"x": "A", "y": "B"})


def random_vectors(seed: int, names: Sequence[str], dimensions: int = 6) -> Vectors:
    """A vector of random direction and length for each word."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=dimensions) for name in names}


def numbered(prefix: str, n: int) -> list[str]:
    """Words a0, a1, ..."""
    return [f"{prefix}{i}" for i in range(n)]
