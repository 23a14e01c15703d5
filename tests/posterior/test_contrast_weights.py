"""Weights that a user gives for blocks of a table are the contrast that was meant, or are refused."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayes_bias.errors import BayesBiasError
from bayes_bias.posterior.contrast_weights import Weights, checked_weights
from bayes_bias.table.bias_weights import BLOCK, bias_weights
from bayes_bias.table.statistics import table_means
from tests.helpers import random_table, refused

DATA = table_means(random_table())
HALF = {("men", "work"): 0.5, ("men", "home"): -0.5, ("women", "home"): 0.5, ("women", "work"): -0.5}


def weights_of(weights: Weights, label: str = "a", *, levels: bool = False) -> xr.DataArray:
    return checked_weights(DATA, weights, label, levels=levels)


def test_checked_weights_match_bias_weights():
    found = weights_of(HALF, "by hand")
    expected = bias_weights(DATA).transpose("contrast", *BLOCK)
    np.testing.assert_allclose(found, expected.sel({dim: found[dim] for dim in BLOCK}))
    assert found.contrast.item() == "by hand"


def test_checked_weights_are_zero_for_unnamed_blocks():
    found = weights_of({("men", "work"): 1, ("men", "neutral"): -1}, "excess").squeeze("contrast")
    assert (found != 0).sum() == 2
    assert found.sel(group="women").to_numpy().tolist() == [0, 0, 0]


def test_checked_weights_reads_reordered_frames_and_arrays():
    frame = pd.DataFrame({"home": {"women": 0.5, "men": -0.5}, "work": {"women": -0.5, "men": 0.5}})
    assert weights_of(frame).identical(weights_of(HALF))
    array = xr.DataArray(frame.rename_axis(index="group", columns="attribute_class"))
    assert weights_of(array.transpose()).identical(weights_of(HALF))


def test_checked_weights_sums_decimal_fractions_to_zero():
    thirds = {("men", "work"): 0.3, ("men", "home"): -0.1, ("men", "neutral"): -0.2}
    assert sum(thirds.values()) != 0
    assert weights_of(thirds, "thirds").sum() == pytest.approx(0)


def test_checked_weights_raises_for_level_without_levels_argument():
    level = {("men", "work"): 1.0}
    with refused(BayesBiasError, "weights 1 levels=True"):
        weights_of(level, "level")
    assert weights_of(level, "level", levels=True).sum() == 1


@pytest.mark.parametrize("weight", [True, "1", float("nan"), float("inf"), None, 1j])
def test_checked_weights_raises_for_invalid_weight(weight):
    with refused(BayesBiasError, "weights ('men', 'work') finite"):
        weights_of({("men", "work"): weight, ("men", "home"): -1.0})


def test_checked_weights_raises_for_zero_weights():
    for levels in (True, False):
        with refused(BayesBiasError, "weights zero"):
            weights_of(dict.fromkeys(HALF, 0.0), "a", levels=levels)
