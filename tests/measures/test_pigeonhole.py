"""The pigeonhole bootstrap: the variance that Owen (2007) expects of it, and the same draws from the same seed."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_bias.errors import BayesBiasError, MeasureError
from bayes_bias.measures import pigeonhole, quasi_f
from bayes_bias.table.related_words import Products
from tests.helpers import random_table, refused

TABLE = random_table(3, targets={"men": 6, "women": 9}, attributes={"work": 7, "home": 5})


def test_pigeonhole_variance_equals_sum_of_sides_and_pairs() -> None:
    """With n words a side, drawn words vary by (n - 1) / n of the unbiased variance. The mean of words drawn twice over
    has the variance of targets, of attributes, and the product of both for what is left of the pairs."""
    found, sources = pigeonhole(TABLE, draws=40_000), quasi_f(TABLE).sources
    words = sources[sources.source != "residual"]
    side_variance = (words.variance * words.df / (words.df + 1)).sum()
    y, g, c = TABLE.values.to_numpy(), TABLE.group_index, TABLE.class_index
    pair_variance = 0.0
    for group in (0, 1):
        for own in (0, 1):
            block = y[np.ix_(g == group, c == own)]
            left = block - block.mean(axis=1, keepdims=True) - block.mean(axis=0) + block.mean()
            pair_variance += (left**2).mean() / block.size / 4
    assert found.se**2 == pytest.approx(side_variance + pair_variance, rel=0.02)
    assert found.draws.mean() == pytest.approx(found.value, abs=4 * found.se / 200)


def test_pigeonhole_interval_and_p_value_match_draws() -> None:
    found = pigeonhole(TABLE, draws=999, ci_prob=0.8)
    assert [found.below(end) for end in found.interval] == pytest.approx([0.1, 0.9], abs=1e-3)
    weak = pigeonhole(random_table(8, bias=0.0))
    other_side = min((weak.draws <= 0).sum(), (weak.draws >= 0).sum())
    assert weak.p_value == pytest.approx(2 * (other_side + 1) / 2001)
    assert pigeonhole(random_table(bias=1.0)).p_value == pytest.approx(2 / 2001)  # never zero


def test_pigeonhole_is_equal_for_lazy_products() -> None:
    rng = np.random.default_rng(5)
    vectors = Products(rng.normal(size=(15, 4)), rng.normal(size=(12, 4)))
    lazy = replace(TABLE, values=TABLE.values.copy(data=vectors))
    formed = replace(TABLE, values=TABLE.values.copy(data=np.asarray(vectors)))
    assert pigeonhole(lazy).draws == pytest.approx(pigeonhole(formed).draws, abs=1e-8)  # digits are kept


def test_pigeonhole_draws_are_equal_for_same_seed() -> None:
    first = pigeonhole(TABLE, seed=1).draws
    assert (first == pigeonhole(TABLE, seed=1).draws).all()
    assert not (first == pigeonhole(TABLE, seed=2).draws).any()


def test_pigeonhole_raises_for_invalid_options_and_tables() -> None:
    with refused(MeasureError, "draws 0"):
        pigeonhole(TABLE, draws=0)
    with refused(BayesBiasError, "ci_prob 95"):
        pigeonhole(TABLE, ci_prob=95)
    with refused(MeasureError, "pigeonhole bootstrap 'men' 1 2"):
        pigeonhole(random_table(targets={"men": 1, "women": 5}))
    with refused(MeasureError, "spread"):
        pigeonhole(replace(TABLE, values=TABLE.values.copy(data=np.full(TABLE.values.shape, 0.1))))
