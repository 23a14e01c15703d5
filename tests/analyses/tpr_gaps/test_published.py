"""The published formulas, by hand and by others' code; what noise adds to them, and how it is taken away."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import recall_score

from bayes_bias.analyses.tpr_gaps.counts import (
    count,
    gaps,
    mean_absolute,
    root_mean_square,
    unbiased_mean_square,
    unbiased_variance,
    variances,
    without_gaps,
)


def test_gaps_of_two_groups_match_calculation_by_hand():
    # De-Arteaga et al. (2019): Gap[g, y] = TPR[g, y] - TPR[not g, y]. Nurses: 3 of 4 women, 1 of 2 men. Surgeons: 1 of
    # 2 women, 3 of 3 men.
    hits, people = np.array([[3, 1], [1, 3]]), np.array([[4, 2], [2, 3]])
    gap = gaps(hits / people, people)
    assert np.allclose(gap, [[0.25, -0.25], [-0.5, 0.5]])
    assert np.isclose(mean_absolute(gap), 0.375)
    assert np.isclose(root_mean_square(gap), np.sqrt((0.0625 + 0.25) / 2))


def test_gaps_of_three_groups_match_calculation_by_hand():
    # A: 2 of 4; B: 3 of 3; C: 0 of 1. Not A: 3 of 4; not B: 2 of 5; not C: 5 of 7. Rates .5, 1, 0: variance 1/6.
    hits, people = np.array([[2, 3, 0]]), np.array([[4, 3, 1]])
    assert np.allclose(gaps(hits / people, people), [[0.5 - 0.75, 1 - 0.4, 0 - 5 / 7]])
    assert np.allclose(variances(hits / people), [1 / 6])


def test_rates_match_recall_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, prediction = (rng.choice(["nurse", "poet", "surgeon"], size=300) for _ in range(2))
    group = rng.choice(["F", "M", "X"], size=300)
    counts = count(y, prediction, group)
    for name in counts.groups:
        own = group == name
        recall = recall_score(y[own], prediction[own], labels=counts.classes, average=None)
        assert np.allclose(counts.hits[name] / counts.people[name], recall)


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_count_ignores_order_of_people(seed: int):
    rng = np.random.default_rng(seed)
    people = [rng.choice(list(labels), size=60) for labels in ("abc", "abc", "FM")]
    shuffled = rng.permutation(60)
    ordered, in_any_order = (
        count(*people, leave_out=True),
        count(*(labels[shuffled] for labels in people), leave_out=True),
    )
    assert ordered.hits.equals(in_any_order.hits)
    assert ordered.people.equals(in_any_order.people)


@pytest.mark.parametrize("n_groups", [2, 4])
@pytest.mark.parametrize("size", [2, 10])
def test_unbiased_mean_square_and_variance_match_truth(n_groups: int, size: int):
    rng = np.random.default_rng(n_groups + size)
    rates = rng.uniform(0.2, 0.9, size=(6, n_groups))
    people = rng.integers(size, 2 * size, size=rates.shape)
    draws = [rng.binomial(people, rates) for _ in range(4000)]
    true = gaps(rates, people)
    for found, truth in (
        ([unbiased_mean_square(hits, people) for hits in draws], (true**2).mean()),
        ([unbiased_variance(hits, people) for hits in draws], variances(rates).mean()),
    ):
        assert abs(np.mean(found) - truth) < 4 * np.std(found) / np.sqrt(len(found))
    raw = [(gaps(hits / people, people) ** 2).mean() for hits in draws]
    assert np.mean(raw) - (true**2).mean() > 20 * np.std(raw) / np.sqrt(len(raw))


def test_unbiased_mean_square_is_nan_for_one_person():
    assert np.isnan(unbiased_mean_square(np.array([[1, 3]]), np.array([[1, 5]])))


def test_without_gaps_keeps_number_of_hits():
    hits, people = np.array([[3, 5], [2, 9]]), np.array([[4, 10], [6, 12]])
    rates = without_gaps(hits, people, seed=1)
    assert np.allclose((rates * people).sum(axis=-1), hits.sum(axis=1))
    dealt = gaps(rates, people)
    assert np.allclose(dealt.mean(axis=0), 0, atol=0.02)
    # The variance of the gap of n of N people, of whom the share p are hits: p (1 - p) N^2 / (N - 1) / (n (N - n)).
    everyone = people.sum(axis=1, keepdims=True)
    share = hits.sum(axis=1, keepdims=True) / everyone
    variance = share * (1 - share) * everyone**2 / (everyone - 1) / (people * (everyone - people))
    assert np.allclose(dealt.std(axis=0), np.sqrt(variance), rtol=0.05)
