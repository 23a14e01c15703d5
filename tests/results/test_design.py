"""Designs planned from one fit: what longer lists would show."""

import numpy as np
import pytest

from bayes_bias import summarize
from bayes_bias.errors import ScopeError
from bayes_bias.plots.plan import plot_plan
from bayes_bias.results.design import plan
from bayes_bias.results.summary import interval_columns


def test_longer_lists_give_narrower_intervals_and_more_power(small_fit):
    table = plan(small_fit, targets=[4, 8, 32], attributes=[4, 8, 32])
    width = table.width.unstack("attributes").to_numpy()
    assert (np.diff(width, axis=0) < 0).all()
    assert (np.diff(width, axis=1) < 0).all()
    power = table.power.unstack("attributes").to_numpy()
    assert (np.diff(power, axis=0) > 0).all()
    assert (np.diff(power, axis=1) > 0).all()
    assert ((table.width_lb < table.width) & (table.width < table.width_ub)).all()


def test_the_design_at_hand_is_predicted_as_it_is(small_fit):
    row = summarize(small_fit, "both", ci_prob=0.95, ci_kind="eti").loc[("bias", "overall")]
    lower, upper = interval_columns(row.to_frame().T)
    predicted = plan(small_fit, targets=[5, 6], attributes=[5, 6]).width
    assert predicted.mean() == pytest.approx(row[upper] - row[lower], rel=0.25)


def test_a_scope_that_keeps_words_leaves_their_variance_out(small_fit):
    both, targets = (plan(small_fit, [8], [8], scope=scope).width.item() for scope in ("both", "targets"))
    assert targets < both


@pytest.mark.parametrize(("lengths", "scope"), [([1], "both"), ([], "both"), ([8], "none")])
def test_designs_that_make_no_sense_are_refused(small_fit, lengths, scope):
    with pytest.raises(ScopeError, match=r"each two or more|no number of words that matters"):
        plan(small_fit, lengths, lengths, scope=scope)


def test_the_figure_shows_this_design_among_the_others(small_fit):
    ax = plot_plan(small_fit)
    cross = next(line for line in ax.lines if line.get_label() == "these lists")
    np.testing.assert_allclose(cross.get_xydata(), [[5.5, 5.5]])
    assert ax.get_xlabel() == "attributes in each class"
