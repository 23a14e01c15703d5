"""Which measures can be trusted? Properties of Schröder et al. (2021, 2024), tried out on designs.

Run as a script it prints the table, the published verdicts beside ours.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayes_bias.errors import MeasureError
from bayes_bias.measures import defining_subspace, direct_bias, mac, same, weat
from bayes_bias.measures.registry import Result
from bayes_bias.table.association_table import AssociationTable, assemble
from tests.helpers import numbered

# Verdicts that are proved or claimed in the papers; what they say of the others is not known to us.
PUBLISHED = {
    ("WEAT", "unbiased-trustworthy"): False,  # 2024, theorem 3
    ("WEAT", "magnitude-comparable"): True,  # 2024, theorem 4
    ("MAC", "unbiased-trustworthy"): False,  # 2021, 1 at opposite attributes
    ("Direct Bias", "unbiased-trustworthy"): False,  # 2024, theorem 6
    ("Direct Bias", "magnitude-comparable"): True,  # 2024, theorem 5
    ("SAME", "unbiased-trustworthy"): True,
    ("SAME", "magnitude-comparable"): True,
    ("SAME", "skew-sensitive"): True,
    ("SAME", "stereotype-sensitive"): True,
}

_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Setting:
    """Words (rows) and two classes of as many attributes each (rows)."""

    words: np.ndarray
    a: np.ndarray
    b: np.ndarray

    @property
    def direction(self) -> np.ndarray:
        """Unit direction from the mean of B to that of A: what decides which class is closer."""
        difference = _unit(self.a).mean(axis=0) - _unit(self.b).mean(axis=0)
        return difference / np.linalg.norm(difference)

    @property
    def biases(self) -> np.ndarray:
        """The truth: each word's cosine with that direction."""
        return _unit(self.words) @ self.direction


def measure_with_weat(setting: Setting) -> Result:
    """The first half of the words against the second."""
    n = len(setting.words) // 2
    return weat(_cosines(setting, np.repeat(["x", "y"], n)), ddof=0, permutations=1)


def measure_with_mac(setting: Setting) -> Result:
    return mac(_cosines(setting, np.resize(["x", "y"], len(setting.words))))


def measure_with_direct_bias(setting: Setting) -> Result:
    vectors, sets = _vectors(setting)
    return direct_bias(vectors, sets["w"], defining_subspace(vectors, list(zip(sets["a"], sets["b"], strict=True))))


def measure_with_same(setting: Setting) -> Result:
    vectors, sets = _vectors(setting)
    return same(vectors, sets["w"], {"A": sets["a"], "B": sets["b"]})


MEASURES: dict[str, Callable[[Setting], Result]] = {
    "WEAT": measure_with_weat,
    "MAC": measure_with_mac,
    "Direct Bias": measure_with_direct_bias,
    "SAME": measure_with_same,
}


def classes(trials: int = 8) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Attributes of two classes: the published counterexamples, then random ones."""
    yield np.array([[1.0, 0, 0, 0]] * 2), np.array([[-1.0, 0, 0, 0]] * 2)  # opposite classes
    # Pairs that differ most along the second axis, where the classes' means agree.
    yield np.array([[0.3, 1.0, 0, 0], [0.3, -1.0, 0, 0]]), np.array([[-0.3, -1.0, 0, 0], [-0.3, 1.0, 0, 0]])
    rng = np.random.default_rng(0)
    for _ in range(trials):
        yield rng.normal(size=(2, 4)), rng.normal(size=(2, 4))


def with_biases(a: np.ndarray, b: np.ndarray, biases: list[float], seed: int = 0, *, plain: bool = False) -> Setting:
    """Words with just these biases; what else is in them is random, or the last axis alone."""
    direction = Setting(np.empty((0, a.shape[1])), a, b).direction
    rest = np.random.default_rng(seed).normal(size=(len(biases), a.shape[1]))
    rest = np.tile(np.eye(a.shape[1])[-1], (len(biases), 1)) if plain else rest
    rest = _unit(rest - np.outer(rest @ direction, direction))
    signed = np.array(biases)[:, None]
    return Setting(signed * direction + np.sqrt(1 - signed**2) * rest, a, b)


def settings(*biases: list[float]) -> Iterator[Setting]:
    """Words with these biases towards all sorts of classes."""
    for a, b in classes():
        for signed in biases:
            yield with_biases(a, b, signed)
            yield with_biases(a, b, signed, plain=True)


def value(measure: Callable[[Setting], Result], setting: Setting) -> float:
    """How far the measure is from "no bias"; a measure that is not defined reports none."""
    try:
        result = measure(setting)
    except MeasureError:
        return 0.0
    return result.value - result.b0


def reports_bias(measure: Callable[[Setting], Result], *biases: list[float]) -> np.ndarray:
    """Whether the measure reports a bias of words with these biases, towards each of all sorts of classes."""
    return np.array([abs(value(measure, setting)) >= _TOLERANCE for setting in settings(*biases)])


def is_unbiased_trustworthy(measure: Callable[[Setting], Result]) -> bool:
    """No bias is reported if, and only if, no word has any."""
    reported = reports_bias(measure, [0.5, -0.5, 0.5, -0.5], [0.3] * 4, [0.4, 0.1, -0.2, -0.5])
    return bool(reported.all() and not reports_bias(measure, [0.0] * 4).any())


def is_magnitude_comparable(measure: Callable[[Setting], Result]) -> bool:
    """The largest value that words can reach is the same whatever the attributes."""
    largest = []
    for a, b in classes():
        values = []
        for word in _candidates(a, b):
            values.append(value(measure, Setting(np.array([word, word, -word, -word]), a, b)))
            values.append(value(measure, Setting(np.array([word, word, word, -word]), a, b)))
        largest.append(max(values))
    return float(np.ptp(largest)) < 1e-2


def is_skew_sensitive(measure: Callable[[Setting], Result]) -> bool:
    """A bias that all words share is reported."""
    return bool(reports_bias(measure, [0.4] * 4).all())


def is_stereotype_sensitive(measure: Callable[[Setting], Result]) -> bool:
    """Biases that cancel out over the list are reported, in whichever order the words stand."""
    return bool(reports_bias(measure, [0.4, -0.4, 0.4, -0.4], [0.4, 0.4, -0.4, -0.4]).all())


PROPERTIES = {
    "unbiased-trustworthy": is_unbiased_trustworthy,
    "magnitude-comparable": is_magnitude_comparable,
    "skew-sensitive": is_skew_sensitive,
    "stereotype-sensitive": is_stereotype_sensitive,
}


def verdicts() -> pd.DataFrame:
    """Our verdict on every measure and property, the published one beside it."""
    rows = []
    for m, measure in MEASURES.items():
        for p, holds in PROPERTIES.items():
            rows.append({"measure": m, "property": p, "ours": holds(measure), "published": PUBLISHED.get((m, p))})
    return pd.DataFrame(rows).astype({"published": object}).set_index(["measure", "property"])


def _candidates(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """Words among which a measure's extremes lie: the axes that it looks along."""
    means = _unit(a).mean(axis=0), _unit(b).mean(axis=0)
    axes = [means[0] - means[1], means[0] + means[1], *(_unit(a) - _unit(b)), *np.eye(a.shape[1])]
    deviations = _unit(np.vstack([a, b])) - np.tile((_unit(a) + _unit(b)) / 2, (2, 1))
    principal = np.linalg.svd(deviations)[2][0]
    axes = [axis for axis in (*axes, principal) if np.linalg.norm(axis) > _TOLERANCE]
    return [*axes, *np.negative(axes)]


def _vectors(setting: Setting) -> tuple[dict[str, np.ndarray], dict[str, list[str]]]:
    vectors, sets = {}, {}
    for name, rows in (("w", setting.words), ("a", setting.a), ("b", setting.b)):
        sets[name] = numbered(name, len(rows))
        vectors |= dict(zip(sets[name], rows, strict=True))
    return vectors, sets


def _cosines(setting: Setting, groups: np.ndarray) -> AssociationTable:
    _, sets = _vectors(setting)
    attributes = dict.fromkeys(sets["a"], "A") | dict.fromkeys(sets["b"], "B")
    similarity = _unit(setting.words) @ _unit(np.vstack([setting.a, setting.b])).T
    targets = dict(zip(sets["w"], groups.tolist(), strict=True))
    return assemble(similarity, targets, attributes, {"x": "A", "y": "B"})


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


if __name__ == "__main__":
    answers = {True: "yes", False: "no", None: "?"}
    table = verdicts()
    both = table.ours.map(answers) + " (" + table.published.map(lambda v: answers[v]) + ")"
    print("ours (published)")
    print(both.rename("both").reset_index().pivot_table("both", "measure", "property", aggfunc="first").to_string())
