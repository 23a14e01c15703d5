"""How the share of each group among a target's mentions is drawn: the two published schemes, and no bias at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bayes_bias.arguments import is_between, is_number
from bayes_bias.errors import ScenarioError, did_you_mean

MAJORITY, SKEW, EQUAL = "majority", "skew", "equal"

_KEYS = {MAJORITY: ("min_p", "max_p"), SKEW: ("mu", "sigma"), EQUAL: ("truths",)}


@dataclass(frozen=True)
class Scheme:
    """A way to draw p(group | target), and the cells that it is drawn in.

    ``majority`` [1]_: groups stand in random order for each target; each but the last has, with n groups and `left` of
    them still to come,

        p ~ Uniform(min_p / n, min(max_p / n, unspent - left min_p / n))

    and the last what is unspent, so that every target has a majority group. ``skew`` [2]_, of two groups: the first has
    p ~ Normal(mu, sigma), cut to [0, 1]; mu shifts all targets to one group, sigma spreads them over both. ``equal``:
    p = 1 / n, so that nothing is biased but by chance.

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
    """A scheme from the table [truth] of a scenario.

    Raises
    ------
    ScenarioError
        No table, an unknown scheme or key, probabilities that cannot be met, or `skew` for more than two groups.
    """
    if not isinstance(content, Mapping) or "scheme" not in content:
        raise ScenarioError(f"{name}: has no [truth] with a scheme; add scheme = 'majority', 'skew' or 'equal'")
    kind = content["scheme"]
    if kind not in _KEYS:
        raise ScenarioError(f"{name}: unknown scheme '{kind}'; {did_you_mean(kind, _KEYS)}")
    for key in content:
        if key not in ("scheme", *_KEYS[kind]):
            raise ScenarioError(f"{name}: scheme '{kind}' has no key '{key}'; {did_you_mean(key, _KEYS[kind])}")
    if kind == EQUAL:
        truths = count_in({"truths": 1, **content}, "truths", 1, name)
        return Scheme(kind, tuple({} for _ in range(truths)))
    grid = [_numbers(content, key, name) for key in _KEYS[kind]]
    cells = tuple(dict(zip(_KEYS[kind], values, strict=True)) for values in product(*grid))
    if kind == MAJORITY:
        for cell in cells:
            _check_majority(cell["min_p"], cell["max_p"], max(groups.values()), name)
    else:
        _check_skew(cells, groups, name)
    return Scheme(kind, cells)


def count_in(content: Mapping[str, Any], key: str, least: int, name: str) -> int:
    """The whole number under `key`; anything else, or fewer than `least`, raises ScenarioError."""
    value = content[key]
    if type(value) is not int or value < least:
        raise ScenarioError(f"{name}: '{key}' is {value!r}; give a whole number, {least} or more")
    return value


def _with_majority(least: float, most: float, groups: int, rng: np.random.Generator) -> np.ndarray:
    shares = np.empty(groups)
    unspent = 1.0
    order = rng.permutation(groups)
    for left, group in zip(range(groups - 1, 0, -1), order[:-1], strict=True):
        shares[group] = rng.uniform(least / groups, min(most / groups, unspent - left * least / groups))
        unspent -= shares[group]
    shares[order[-1]] = unspent
    return shares


def _check_majority(least: float, most: float, groups: int, name: str) -> None:
    if not 0 <= least <= most:
        raise ScenarioError(f"{name}: 'min_p' is {least:g} and 'max_p' {most:g}; give 0 <= min_p <= max_p")
    if least > 1:
        raise ScenarioError(
            f"{name}: 'min_p' is {least:g}: each of {groups} groups would have {least / groups:.2f} or more, which is"
            f" {least:.2f} together; give at most 1"
        )
    if most > 1:
        raise ScenarioError(
            f"{name}: 'max_p' is {most:g}: a group before the last may have more than 1/{groups}, and the last no"
            " majority; give at most 1"
        )


def _check_skew(cells: tuple[dict[str, float], ...], groups: Mapping[str, int], name: str) -> None:
    for attribute, number in groups.items():
        if number != 2:
            raise ScenarioError(
                f"{name}: scheme 'skew' is for two groups, and '{attribute}' has {number}; take 'majority', or other"
                " attributes"
            )
    for cell in cells:
        if not is_between(cell["mu"], 0, 1) or cell["sigma"] < 0:
            raise ScenarioError(
                f"{name}: 'mu' is {cell['mu']:g} and 'sigma' {cell['sigma']:g}; give mu from 0 to 1, sigma 0 or more"
            )


def _numbers(content: Mapping[str, Any], key: str, name: str) -> list[float]:
    values = content.get(key)
    if not isinstance(values, list) or not values or not all(is_number(value) for value in values):
        raise ScenarioError(f"{name}: '{key}' is {values!r}; give a list of numbers, such as [0.1, 0.2]")
    return [float(value) for value in values]
