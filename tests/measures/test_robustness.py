"""Robustness: one function for halves of lists, for retraining, for seeds."""

import numpy as np
import pytest

from bayes_bias.errors import MeasureError
from bayes_bias.measures import half_lists, robustness, sd_weat, weat
from bayes_bias.table.association_table import assemble
from tests.helpers import labelled, refused, scores_design


def noisy(seed: int, noise: float = 0.05):
    """A clear bias under noise: the same words in an embedding trained once more."""
    rng = np.random.default_rng(seed)
    signal = np.random.default_rng(0).uniform(0, 0.3, (12, 12))
    signal[:6, :4] += 0.1
    values = signal + noise * rng.normal(size=(12, 12))
    return assemble(values, labelled("xy", 6), labelled("ABN", 4), {"x": "A", "y": "B"})


def test_half_lists_halve_groups_and_keep_originals() -> None:
    table = noisy(0)
    halves = list(half_lists(table, draws=3))
    assert len(halves) == 3
    for half in halves:
        assert half.values.shape == (6, 6)
        assert sorted(half.values.group.to_numpy()) == ["x"] * 3 + ["y"] * 3
    assert table.values.shape == (12, 12)
    hashes = [half.sha256 for half in halves]
    assert len(set(hashes)) == 3
    assert hashes == [half.sha256 for half in half_lists(table, draws=3)]


def test_robustness_returns_spread_over_half_lists() -> None:
    table = noisy(0)
    result = robustness(weat, half_lists(table))
    assert len(result.values) == 100
    assert result.low < weat(table).effect_size < result.high
    assert result.same_side > 0.8
    assert result.to_frame().sd.item() == pytest.approx(result.values.std(ddof=1))


def test_reliability_falls_with_noise_of_training() -> None:
    steady = robustness(weat, [noisy(seed, 0.01) for seed in range(1, 6)])
    shaky = robustness(weat, [noisy(seed, 0.3) for seed in range(1, 6)])
    assert steady.reliability > 0.95
    assert shaky.reliability < 0.5


def test_robustness_over_seeds_has_sd_without_reliability() -> None:
    table = noisy(0)
    result = robustness(lambda seed: sd_weat(table, seed=seed), range(20))
    assert 0 < result.sd < 0.1
    assert np.isnan(result.reliability)
    assert np.isnan(result.same_side)


def test_robustness_and_half_lists_raise_for_invalid_input() -> None:
    with refused(MeasureError, "1 occasion"):
        robustness(weat, [noisy(0)])
    with refused(MeasureError, "fraction 0"):
        next(half_lists(noisy(0), fraction=0))
    with refused(MeasureError, "same score"):
        robustness(weat, [scores_design([0.1, 0.1], [0.1, 0.1])] * 2)
