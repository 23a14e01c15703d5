"""Shared data: small cosines made here, one fit of them, and the reference folder where it is present."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import benchmarks.reference
from bayes_bias import Associations, fit
from bayes_bias.associations.table import assemble


@pytest.fixture(scope="session")
def reference() -> Path:
    """Published numbers and raw cosines that live beside the project, never in it."""
    if not benchmarks.reference.REFERENCE.is_dir():
        pytest.skip(benchmarks.reference.ABSENT)
    return benchmarks.reference.REFERENCE


def random_cosines(
    seed: int = 0,
    *,
    targets: dict[str, int] | None = None,
    attributes: dict[str, int] | None = None,
    bias: float = 0.1,
) -> Associations:
    """Cosines from the crossed model: groups 'men', 'women'; classes 'work', 'home', control 'neutral'."""
    rng = np.random.default_rng(seed)
    targets = targets or {"men": 5, "women": 6}
    attributes = attributes or {"work": 6, "home": 5, "neutral": 8}
    group = [g for g, n in targets.items() for _ in range(n)]
    attribute_class = [c for c, n in attributes.items() for _ in range(n)]
    associations = dict(zip(targets, attributes, strict=False))
    stereotypical = np.array([[associations[g] == c for c in attribute_class] for g in group])
    of_class = np.eye(len(attributes))[[list(attributes).index(c) for c in attribute_class]]
    of_group = np.eye(len(targets))[[list(targets).index(g) for g in group]]
    n, m = stereotypical.shape
    y = 0.2 + bias * stereotypical
    y = y + 0.04 * rng.standard_normal((n, 1)) + 0.02 * rng.standard_normal((n, len(attributes))) @ of_class.T
    y = y + 0.05 * rng.standard_normal((1, m)) + of_group @ (0.02 * rng.standard_normal((len(targets), m)))
    y = y + 0.03 * rng.standard_normal((n, m))
    return assemble(
        y,
        {f"{g} {i}": g for i, g in enumerate(group)},
        {f"{c} {j}": c for j, c in enumerate(attribute_class)},
        associations,
        name="small",
    )


@pytest.fixture(scope="session")
def small_cosines() -> Associations:
    return random_cosines()


@pytest.fixture(scope="session")
def small_fit(small_cosines: Associations) -> xr.DataTree:
    """One fit of the default model for all tests: compiling it is what takes time."""
    return fit(small_cosines, seed=1)


@pytest.fixture(scope="session")
def published_cosines(reference: Path):
    """Reads a published table of cosines, its rows that code missing words removed."""
    return benchmarks.reference.published_cosines
