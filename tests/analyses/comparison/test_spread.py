"""An embedding that shrinks has smaller cosines and the same d: the change is given in units of the spread too."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_bias import AssociationTable, write
from bayes_bias.analyses.comparison.compare import compare
from bayes_bias.analyses.comparison.comparison import Comparison
from bayes_bias.measures import weat
from bayes_bias.table.statistics import within_sd
from tests.helpers import PLANTED, SHORT, equalised, says, states


@pytest.fixture(scope="module")
def shrunk(sampled: None, small_table: AssociationTable) -> Comparison:
    return compare(small_table, replace(small_table, values=0.68 * small_table.values), sampling=SHORT)


def test_in_spread_has_no_change_for_uniform_shrinking(shrunk: Comparison) -> None:
    found = shrunk.in_spread
    assert weat(shrunk.after).effect_size == pytest.approx(weat(shrunk.before).effect_size)
    assert str(shrunk.share_removed).startswith("32%")
    assert shrunk.verdict.label == "distinguishable"
    assert found.spread_after == pytest.approx(0.68 * found.spread_before)
    assert found.share_removed == pytest.approx(0, abs=1e-9)
    assert found.lower - 0.05 < 0 < found.upper + 0.05
    assert found.disagrees
    assert says(shrunk.text, "32% spread 68% share removed disagree")


def test_change_of_bias_alone_is_in_cosines_and_spread(planted: Comparison) -> None:
    found, change = planted.in_spread, planted.bias.loc["change"]
    first, second = within_sd(planted.before), within_sd(planted.after)
    observed = planted.bias.observed
    assert found.change == pytest.approx(observed["after"] / second - observed["before"] / first, abs=0.02)
    assert found.lower < PLANTED / first < found.upper
    assert found.upper - found.lower == pytest.approx((change.eti95_ub - change.eti95_lb) / first, rel=0.6)
    assert not found.disagrees
    assert not says(planted.text, "disagree")


@pytest.mark.slow
def test_in_spread_bias_grows_when_words_approach_block_means(small_table: AssociationTable) -> None:
    """Blocks stay where they are, and words come closer to the mean of their block."""
    values = small_table.values
    means = values.copy()
    for group in small_table.groups:
        for name in small_table.classes:
            at = np.ix_(values.group == group, values.attribute_class == name)
            means.values[at] = values.values[at].mean()
    tight = replace(small_table, values=means + 0.5 * (values - means))
    found = compare(small_table, tight, sampling=SHORT)
    assert found.verdict.label == "not distinguishable"
    assert found.in_spread.spread_after == pytest.approx(0.5 * found.in_spread.spread_before)
    assert found.in_spread.share_removed == pytest.approx(-1)
    assert found.in_spread.lower > 0
    assert says(found.text, "50% disagree another way")


@pytest.mark.slow
def test_in_spread_of_scope_none_and_zero_by_construction(small_table: AssociationTable) -> None:
    exact = compare(small_table, replace(small_table, values=0.68 * small_table.values), scope="none", sampling=SHORT)
    assert np.isnan(exact.in_spread.lower)
    assert exact.in_spread.change == pytest.approx(0, abs=1e-9)
    assert not exact.in_spread.disagrees
    gone = compare(small_table, equalised(small_table), sampling=SHORT).in_spread
    assert (gone.after, gone.share_removed) == (0, 1)
    assert gone.upper < 0


def test_page_and_methods_have_spread_of_both_sides(shrunk: Comparison, tmp_path, sketched) -> None:
    page = write(shrunk, tmp_path / "found", figures=())
    spreads = f"{shrunk.in_spread.spread_before:.4g} {shrunk.in_spread.spread_after:.4g}"
    for file in ("index.html", "methods.txt"):
        assert states((page.parent / file).read_text(encoding="utf-8"), f"standard deviation {spreads}")
