"""Published vectors and word sets, where the reference folder is at hand."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_bias.associations.table import Associations

from .designs import STUDIES, Vectors, design


@pytest.fixture(scope="session")
def glove(reference: Path) -> Vectors:
    """GloVe-840B vectors of all WEAT items."""
    return _vectors(reference / "glove840b_weat_items.npz")


@pytest.fixture(scope="session")
def google_news(reference: Path) -> Vectors:
    """GoogleNews vectors, the 26,423 frequent words first."""
    return _vectors(reference / "googlenews_31k.npz")


@pytest.fixture(scope="session")
def bolukbasi() -> dict[str, list]:
    """Defining sets, professions and gender-specific words of Bolukbasi et al. (2016)."""
    return tomllib.loads((Path(__file__).parent / "bolukbasi2016.toml").read_text())


@pytest.fixture(scope="session")
def study(reference: Path, glove: Vectors) -> Callable[[str], Associations]:
    """WEAT 1 to 10 on GloVe-840B, by name."""
    items = pd.read_csv(reference / "weat_items_caliskan.csv")

    def of(name: str) -> Associations:
        words = items[items.Study == name].groupby("Condition").Word.agg(list)
        x, y, a, b = STUDIES[name]
        return design(glove, {x: words[x], y: words[y]}, {a: words[a], b: words[b]})

    return of


def _vectors(path: Path) -> Vectors:
    with np.load(path) as file:
        return dict(zip(file["words"].tolist(), file["vectors"].astype(float), strict=True))
