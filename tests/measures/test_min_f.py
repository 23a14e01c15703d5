"""min F' of two published F, from two t-tests of a textbook kind."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_ind

from bayes_bias.errors import MeasureError
from bayes_bias.measures import min_f, quasi_f
from tests.helpers import random_table, refused


def test_min_f_matches_formula_of_clark() -> None:
    """Clark (1973), equations of min F' and of its degrees of freedom, with scipy's pooled t-tests."""
    table = random_table(2, targets={"men": 4, "women": 9}, attributes={"work": 3, "home": 7})
    y, g, c = table.values.to_numpy(), table.group_index, table.class_index
    target_preferences = y[:, c == 0].mean(axis=1) - y[:, c == 1].mean(axis=1)
    attribute_preferences = y[g == 0].mean(axis=0) - y[g == 1].mean(axis=0)
    f1 = ttest_ind(target_preferences[g == 0], target_preferences[g == 1]).statistic ** 2
    f2 = ttest_ind(attribute_preferences[c == 0], attribute_preferences[c == 1]).statistic ** 2
    found = min_f(table)
    assert (found.f1, found.f2) == pytest.approx((f1, f2))
    assert found.statistic**2 == pytest.approx(f1 * f2 / (f1 + f2))
    assert found.df == pytest.approx((f1 + f2) ** 2 / (f1**2 / 8 + f2**2 / 11))


def test_min_f_is_below_quasi_f() -> None:
    for seed in range(20):
        table = random_table(seed, targets={"men": 5, "women": 5}, attributes={"work": 4, "home": 4})
        assert min_f(table).statistic ** 2 < quasi_f(table).statistic ** 2


def test_min_f_raises_for_unsuitable_tables() -> None:
    with refused(MeasureError, "min F' 3 3 quasi-F"):
        min_f(random_table(targets={"a": 3, "b": 4, "c": 5}, attributes={"A": 4, "B": 2, "C": 3}))
    with refused(MeasureError, "min F' 'home' 1 2"):
        min_f(random_table(attributes={"work": 4, "home": 1}))
    table = random_table()
    flat = table.values.copy(data=np.full(table.values.shape, 0.1))
    with refused(MeasureError, "min F' spread"):
        min_f(replace(table, values=flat))
