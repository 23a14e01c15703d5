"""A contrast of one's own is answered as the package answers its own."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayes_bias import contrast, summarize
from bayes_bias.errors import BayesBiasError

GROUP_BIAS = {("men", "work"): 1, ("men", "home"): -1}
COLUMNS = ["mean", "sd", "eti95_lb", "eti95_ub", "prob_direction", "observed", "noise_sd"]


@pytest.mark.parametrize("scope", ["both", "targets", "attributes"])
def test_the_weights_of_an_estimand_give_the_row_of_that_estimand(small_fit, scope):
    row = summarize(small_fit, scope, ci_prob=0.95).loc[("group_bias", "men")]
    own = contrast(small_fit, GROUP_BIAS, scope)
    np.testing.assert_allclose(own[COLUMNS].astype(float), row[COLUMNS].astype(float), rtol=1e-9)
    assert set(own.index) == set(row.index)
    assert own.converged


def test_a_frame_an_array_and_a_mapping_ask_the_same(small_fit):
    frame = pd.DataFrame({"home": [-1.0], "work": [1.0]}, index=["men"])
    array = xr.DataArray(
        [[-1.0], [1.0]],
        dims=("attribute_class", "group"),
        coords={"attribute_class": ["home", "work"], "group": ["men"]},
    )
    asked = [contrast(small_fit, weights)["mean"] for weights in (GROUP_BIAS, frame, array)]
    assert len(set(asked)) == 1


def test_scope_none_is_the_raw_contrast_and_a_level_a_raw_mean(small_table, small_fit):
    blocks = {c: small_table.block("men", c).mean() for c in ("work", "home")}
    assert contrast(small_fit, GROUP_BIAS, "none")["mean"] == pytest.approx(blocks["work"] - blocks["home"])
    level = contrast(small_fit, {("men", "work"): 1}, levels=True)
    assert level.observed == pytest.approx(blocks["work"])
    assert level["mean"] == pytest.approx(blocks["work"])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({("man", "work"): 1, ("women", "work"): -1}, "'man' is no group of this fit; did you mean 'men'"),
        ({("men", "wrk"): 1, ("women", "work"): -1}, "'wrk' is no class of this fit; did you mean 'work'"),
        ({("men", "work"): 1}, r"sum to 1, and a contrast's sum to zero; change them, or say levels=True"),
        ({("men", "work"): np.nan}, r"that of \('men', 'work'\) is nan; give a finite number"),
        ({("men", "work"): "1"}, "is '1'; give a finite number"),
        ({("men", "work"): 0}, "are all zero"),
        ({}, "are all zero"),
        ({"men": 1}, "a dict that does not say which group and class"),
        ([1, -1], "a list that does not say which group and class"),
        (xr.DataArray([1.0, -1.0], dims="group"), "a DataArray that does not say"),
    ],
)
def test_weights_that_ask_nothing_are_refused_in_a_line(small_fit, weights, message):
    with pytest.raises(BayesBiasError, match=message) as refused:
        contrast(small_fit, weights)
    assert "\n" not in str(refused.value)
