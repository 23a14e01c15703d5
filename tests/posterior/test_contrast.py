"""A contrast of one's own is answered as the package answers its own."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayes_bias import contrast, summarize, verdict
from bayes_bias.errors import BayesBiasError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.plots import plot_forest, plot_posterior
from bayes_bias.posterior.contrast_weights import checked_weights
from tests.helpers import refused

GROUP_BIAS = {("men", "work"): 1, ("men", "home"): -1}
COLUMNS = ["mean", "sd", "eti95_lb", "eti95_ub", "prob_direction", "observed", "noise_sd"]


@pytest.mark.parametrize("scope", ["both", "targets", "attributes"])
def test_contrast_with_estimand_weights_equals_summary_row(small_fit, scope):
    row = summarize(small_fit, scope, ci_prob=0.95).loc[("group_bias", "men")]
    table = contrast(small_fit, GROUP_BIAS, scope).table
    np.testing.assert_allclose(table.loc["contrast", COLUMNS].astype(float), row[COLUMNS].astype(float), rtol=1e-9)
    assert set(table.columns) == set(row.index)


def test_contrast_table_has_numeric_dtypes(small_fit):
    """No Series of objects, on which `round` and arithmetic fail."""
    table = contrast(small_fit, GROUP_BIAS, label="men").table
    assert table.index.tolist() == ["men"]
    assert table.pop("converged").dtype.kind == "b"
    assert all(dtype.kind == "f" for dtype in table.dtypes)


@pytest.mark.parametrize("scope", ["both", "targets", "none"])
def test_contrast_with_bias_weights_equals_verdict(small_fit, scope):
    weights = {("men", "work"): 0.5, ("men", "home"): -0.5, ("women", "home"): 0.5, ("women", "work"): -0.5}
    found, bias = contrast(small_fit, weights, scope, label="own bias"), verdict(small_fit, scope)
    assert found.verdict.label == bias.label
    np.testing.assert_allclose(found.chance, bias.chance)
    assert str(found).startswith("own bias: ")
    assert bias.size.partition(" is ")[2] in found.text or scope == "none"
    assert "stereotype" not in found.text
    assert (found.verdict.wider is None) == (bias.wider is None)


def test_contrast_of_level_has_no_verdict(small_fit):
    level = contrast(small_fit, {("men", "work"): 1}, levels=True, label="men, work")
    assert level.verdict is None
    assert np.isnan(level.chance)
    assert "cosine similarity" in level.text


def test_contrast_is_equal_for_mappings_frames_and_arrays(small_fit):
    frame = pd.DataFrame({"home": [-1.0], "work": [1.0]}, index=["men"])
    array = xr.DataArray(
        [[-1.0], [1.0]],
        dims=("attribute_class", "group"),
        coords={"attribute_class": ["home", "work"], "group": ["men"]},
    )
    means = [contrast(small_fit, weights).table.loc["contrast", "mean"] for weights in (GROUP_BIAS, frame, array)]
    assert len(set(means)) == 1


@pytest.mark.parametrize(
    ("formula", "weights"),
    [
        ("men: work - home", GROUP_BIAS),
        ("men - women: work", {("men", "work"): 1, ("women", "work"): -1}),
        (
            "men - women: work - home",
            {("men", "work"): 1, ("men", "home"): -1, ("women", "work"): -1, ("women", "home"): 1},
        ),
    ],
)
def test_contrast_formula_equals_weights(small_fit, formula, weights):
    by_formula, by_weights = contrast(small_fit, formula), contrast(small_fit, weights, label=formula)
    pd.testing.assert_frame_equal(by_formula.table, by_weights.table)
    assert str(by_formula) == str(by_weights)
    row = summarize(small_fit, words=False, contrasts=[formula]).loc[("contrast", formula)]
    np.testing.assert_array_equal(row[COLUMNS], by_formula.table.loc[formula, COLUMNS])


def test_checked_weights_reads_names_with_colons_and_hyphens(small_fit):
    data = Fitted.of(small_fit).data.assign_coords(group=["a: b - c", "b - c"], attribute_class=["x", "y: x", "n"])
    weights = checked_weights(data, "a: b - c - b - c: y: x", "it")
    assert weights.sel(group="a: b - c", attribute_class="y: x").item() == 1
    assert weights.sel(group="b - c", attribute_class="y: x").item() == -1
    assert abs(weights).sum().item() == 2


def test_plots_show_contrast_formula(small_fit):
    ax = plot_posterior(small_fit, contrast="men - women: work")
    observed = contrast(small_fit, "men - women: work").table.observed.item()
    assert any(np.allclose(line.get_xdata(), observed) for line in ax.get_lines())
    assert "men - women: work" in ax.get_title("left")
    rows = plot_forest(small_fit, contrasts=["men - women: work"]).get_yticklabels()
    assert "men - women: work" in [label.get_text() for label in rows]


def test_contrast_in_scope_none_equals_raw_numbers(small_table, small_fit):
    blocks = {c: small_table.block("men", c).mean() for c in ("work", "home")}
    raw = contrast(small_fit, GROUP_BIAS, "none").table.loc["contrast"]
    assert raw["mean"] == pytest.approx(blocks["work"] - blocks["home"])
    level = contrast(small_fit, {("men", "work"): 1}, levels=True).table.loc["contrast"]
    assert level.observed == pytest.approx(blocks["work"])
    assert level["mean"] == pytest.approx(blocks["work"])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({("man", "work"): 1, ("women", "work"): -1}, "'man' group 'men'"),
        ({("men", "wrk"): 1, ("women", "work"): -1}, "'wrk' class 'work'"),
        ({("men", "work"): 1}, "levels=True"),
        ({("men", "work"): np.nan}, "('men' 'work') nan"),
        ({("men", "work"): "1"}, "'1' finite number"),
        ({("men", "work"): 0}, "zero"),
        ({}, "zero"),
        ({"men": 1}, "dict group class"),
        ("men - women", "'men - women' class colon"),
        ("man - women: work", "contrast 'man' group 'men'"),
        ("men - women: wrk", "contrast 'wrk' class 'work'"),
        ("men - men: work", "'men - men: work' different"),
        ("men: work", "contrast 'men: work' two groups two classes"),
        ([1, -1], "list group class"),
        (xr.DataArray([1.0, -1.0], dims="group"), "DataArray"),
    ],
)
def test_contrast_raises_for_invalid_weights(small_fit, weights, message):
    with refused(BayesBiasError, message):
        contrast(small_fit, weights)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("men - women: work", 1),
        ("men - women: home", -1),
        ({("men", "work"): 1, ("men", "home"): 1, ("women", "work"): -1, ("women", "home"): -1}, 0),
    ],
)
def test_contrast_verdict_has_expected_sign(small_fit, weights, expected):
    """So that a contrast that points the other way says so."""
    assert contrast(small_fit, weights).verdict.expected == expected
