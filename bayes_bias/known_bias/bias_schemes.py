"""How the share of each group among a target's mentions is drawn: the two published schemes, and no bias at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bayes_bias.errors import ScenarioError, did_you_mean
from bayes_bias.known_bias.toml_values import count, numbers, read_values

MAJORITY, SKEW, EQUAL = "majority", "skew", "equal"

# In any scheme: how many times as frequent targets are that are said most with the first group.
FREQUENCY = "frequency"

_KEYS: Mapping[str, tuple[str, ...]] = {MAJORITY: ("min_p", "max_p"), SKEW: ("mu", "sigma"), EQUAL: ()}


@dataclass(frozen=True)
class Scheme:
    """A way to draw p(group | target), and the cells that it is drawn in.

    ``majority`` [1]_: groups stand in random order for each target; each but the last has, with n groups and `left` of
    them still to come,

        p ~ Uniform(min_p / n, min(max_p / n, unspent - left min_p / n))

    and the last what is unspent, so that every target has a majority group. ``skew`` [2]_, of two groups: the first has
    p ~ Normal(mu, sigma), cut to [0, 1]; mu shifts all targets to one group, sigma spreads them over both. ``equal``:
    p = 1 / n, so that nothing is biased but by chance.

    Cells may have a ``frequency``, too. Targets that are said most with the first group have that many times as many
    sentences, in the geometric mean, as those that are said least with it.

    Parameters
    ----------
    kind : str
        "majority", "skew" or "equal".
    cells : tuple of mapping of str to float
        The parameters of each truth.

    References
    ----------
    .. [1] Schröder, S., Schulz, A., Kenneweg, P., & Hammer, B. (2023). So can we use intrinsic bias measures or not?
       ICPRAM 2023, 403-410. https://doi.org/10.5220/0011693700003411
    .. [2] Schröder, S., Schulz, A., Kenneweg, P., Feldhans, R., Hinder, F., & Hammer, B. (2021). Evaluating metrics for
       bias in word embeddings. arXiv:2111.07864. https://doi.org/10.48550/arXiv.2111.07864

    Examples
    --------
    >>> shares = Scheme("equal", ({},)).draw({}, 3, 4, np.random.default_rng(1))
    >>> shares[0].tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    kind: str
    cells: tuple[Mapping[str, float], ...]

    def draw(self, cell: Mapping[str, float], targets: int, groups: int, rng: np.random.Generator) -> np.ndarray:
        """Shares ``(targets, groups)``, each row summing to one."""
        if self.kind == MAJORITY:
            return np.stack([_with_majority(cell["min_p"], cell["max_p"], groups, rng) for _ in range(targets)])
        if self.kind == SKEW:
            first = np.clip(rng.normal(cell["mu"], cell["sigma"], targets), 0, 1)
            return np.stack([first, 1 - first], axis=1)
        return np.full((targets, groups), 1 / groups)


def scheme_from(content: Any, groups: Mapping[str, int], name: str) -> Scheme:
    """A scheme from the table [truth] of a scenario, for attributes with these numbers of groups."""
    if not isinstance(content, Mapping) or "scheme" not in content:
        raise ScenarioError(f"{name}: has no [truth] with a scheme; add scheme = 'majority', 'skew' or 'equal'")
    kind = content["scheme"]
    if not isinstance(kind, str) or kind not in _KEYS:
        raise ScenarioError(f"{name}: unknown scheme '{kind}'; {did_you_mean(kind, _KEYS)}")
    given = {key: value for key, value in content.items() if key != "scheme"}
    where = f"{name}: scheme '{kind}'"
    readers = {**dict.fromkeys((*_KEYS[kind], FREQUENCY), numbers), "truths": count(1)}
    grid = read_values({**dict.fromkeys(_KEYS[kind]), "truths": 1, **given}, readers, where)
    truths = grid.pop("truths")
    cells = tuple(dict(zip(grid, map(float, values), strict=True)) for values in product(*grid.values()))
    for cell in cells:
        _check_cell(kind, cell, where)
    for attribute, number in groups.items():
        if kind == SKEW and number != 2:
            raise ScenarioError(
                f"{where} is for two groups, and '{attribute}' has {number}; take 'majority', or other attributes"
            )
    return Scheme(kind, tuple(cell for cell in cells for _ in range(truths)))


def _check_cell(kind: str, cell: Mapping[str, float], where: str) -> None:
    possible, needed = cell.get(FREQUENCY, 1) > 0, "a frequency above 0"
    if possible and kind == MAJORITY:
        possible, needed = 0 <= cell["min_p"] <= cell["max_p"] <= 1, "0 <= min_p <= max_p <= 1"
    if possible and kind == SKEW:
        possible, needed = 0 <= cell["mu"] <= 1 and cell["sigma"] >= 0, "mu from 0 to 1, sigma 0 or more"
    if not possible:
        values = " and ".join(f"'{key}' {value:g}" for key, value in cell.items())
        raise ScenarioError(f"{where} has {values}; give {needed}")


def _with_majority(least: float, most: float, groups: int, rng: np.random.Generator) -> np.ndarray:
    shares = np.empty(groups)
    unspent = 1.0
    order = rng.permutation(groups)
    for left, group in zip(range(groups - 1, 0, -1), order[:-1], strict=True):
        shares[group] = rng.uniform(least / groups, min(most / groups, unspent - left * least / groups))
        unspent -= shares[group]
    shares[order[-1]] = unspent
    return shares
