"""Before and after debiasing: planted changes are found, arithmetic is called arithmetic."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_bias import AssociationTable, combine_replicates, posterior_draws, write
from bayes_bias.analyses.comparison.compare import compare, zero_by_construction
from bayes_bias.analyses.comparison.comparison import Comparison, methods_of, share_removed
from bayes_bias.debiasing.damage import Damage
from bayes_bias.errors import BayesBiasError, SpecError, TableError
from bayes_bias.formatting import probability
from bayes_bias.table.association_table import assemble
from bayes_bias.table.combine_tables import difference, pair
from bayes_bias.table.related_words import Related
from tests.helpers import PLANTED, SHORT, changed, equalised, html_of, random_table, refused, says, states

ROPE = 0.15


@pytest.fixture(scope="module")
def construction(sampled: None, small_table: AssociationTable) -> Comparison:
    return compare(small_table, equalised(small_table), sampling=SHORT, rope=ROPE)


def test_compare_recovers_planted_change_precisely(planted: Comparison) -> None:
    change = planted.bias.loc["change"]
    assert change.eti95_lb < PLANTED < change.eti95_ub
    assert planted.verdict.label == "distinguishable"
    apart = np.hypot(*planted.bias.sd[["before", "after"]])
    assert change.sd < apart / 4


def test_observed_change_equals_after_minus_before(planted: Comparison) -> None:
    observed = planted.bias.observed
    assert observed["change"] == pytest.approx(observed["after"] - observed["before"], abs=1e-12)


def test_change_has_rows_for_estimands_words_and_scopes(planted: Comparison) -> None:
    assert set(planted.change.index.get_level_values("estimand")) == {
        "bias",
        "class_bias",
        "group_bias",
        "excess",
        "repulsion",
        "target_bias",
        "attribute_bias",
    }
    assert len(planted.change.loc["target_bias"]) == 11
    for scope in ("both", "targets", "attributes", "none"):
        assert planted.summary("change", scope).loc[("bias", "overall"), "mean"] == pytest.approx(PLANTED, abs=0.02)


def test_intervals_of_unchanged_controls_include_zero(planted: Comparison) -> None:
    assert list(planted.controls.index) == ["men, neutral", "women, neutral"]
    assert (planted.controls.eti95_lb < 0).all()
    assert (planted.controls.eti95_ub > 0).all()


def test_comparison_text_counts_learned_words_and_prints_cost(planted: Comparison) -> None:
    words = json.dumps([str(planted.after.values.target[0].item()), "elsewhere"])
    after = replace(planted.after, provenance={**planted.after.provenance, "debiasing_words": words})
    cost = Damage(words=30, neighbours_kept=0.9, lower=0.8, upper=0.95, variance_gone=0.1)
    text = replace(planted, after=after, damage=cost).text
    assert says(text, "learned 1 men neighbours 90% 80% 95% 10% variance")
    assert not says(planted.text, "learned")


def test_comparison_text_warns_about_short_intervals_for_few_words(planted: Comparison) -> None:
    assert says(planted.text, "five words 88% 94%")
    eight = random_table(targets={"men": 8, "women": 8}, attributes={"work": 8, "home": 9, "neutral": 3})
    assert not says(replace(planted, before=eight).text, "88%")


@pytest.mark.slow
def test_comparison_text_reports_moved_controls(small_table: AssociationTable) -> None:
    after = changed(small_table, PLANTED)
    neutral = after.values.attribute_class == "neutral"
    found = compare(small_table, replace(after, values=after.values + 0.05 * neutral), sampling=SHORT)
    assert (found.controls.eti95_lb > 0).all()
    assert says(str(found), "Control")
    assert "+0.05" in str(found)


def test_equalised_side_is_zero_by_construction_and_not_sampled(construction: Comparison) -> None:
    assert construction.zero_by_construction == ("after",)
    assert set(construction.fits) == {"before", "change"}
    assert says(construction.text, "after zero construction")
    assert str(construction.share_removed) == "100%"
    after = construction.bias.loc["after"]
    assert after["mean"] == 0
    assert np.isnan([after.eti95_lb, after.eti95_ub, after.prob_direction]).all()
    assert construction.measures.p_after.isna().all()
    assert construction.measures.after["gWEAT"] == 0
    with refused(TableError, "'after' zero by construction"):
        construction.summary("after")


def test_comparison_reports_negligible_changes_only_with_rope(
    construction: Comparison, planted: Comparison, tmp_path: Path, sketched: None
) -> None:
    negligible = construction.bias.prob_negligible
    for state in ("before", "change"):
        inside = abs(posterior_draws(construction.fits[state], "bias")) < ROPE
        assert 0.01 < negligible[state] == pytest.approx(float(inside.mean()), abs=0.03)
    assert np.isnan(negligible["after"])  # zero by construction is no finding
    assert construction.verdict.prob_negligible == negligible["change"]
    words = f"negligible {ROPE} probability {probability(negligible['change'])}"
    page = write(construction, tmp_path / "found", figures=())
    assert says(construction.text, words)
    for file in ("index.html", "methods.txt", "tables.tex"):
        assert states((page.parent / file).read_text(encoding="utf-8"), f"and +{ROPE}")
    assert "negligible" not in planted.text
    assert "prob_negligible" not in {*planted.bias, *planted.to_frame()}
    with refused(BayesBiasError, "rope 0"):
        compare(construction.before, construction.after, rope=0)


def test_share_removed_has_interval_only_for_clear_bias(planted: Comparison) -> None:
    share, before = planted.share_removed, planted.bias.observed["before"]
    assert share.lower < -PLANTED / before < share.upper
    assert share.lower < share.observed < share.upper
    unclear = planted.bias.assign(sd=[planted.bias["mean"]["before"], 0.01, 0.01])
    assert np.isnan(share_removed(unclear, "both", 0.95).lower)


@pytest.mark.slow
def test_share_removed_is_not_reported_for_bias_that_may_be_zero() -> None:
    before = random_table(3, bias=0.0)
    found = compare(before, changed(before, 0.01), sampling=SHORT)
    low, high = found.bias.loc["before", ["eti95_lb", "eti95_ub"]]
    assert low < 0 < high
    assert np.isnan(found.share_removed.observed)
    assert np.isnan(found.in_spread.share_removed)
    for text in (found.text, methods_of(found).plain, html_of(found)):
        assert states(text, "No share removed is reported, because the bias before is not distinguishable from zero")
        assert "The share removed is" not in text
        assert "1 - after / before" not in text


def test_compare_omits_controls_of_which_sides_know_different_words(small_table: AssociationTable) -> None:
    """Nobody asked for the control class, whose words one vocabulary knows and the other does not."""
    attributes = small_table.values.attribute.to_numpy()
    is_control = small_table.values.attribute_class.to_numpy() == "neutral"
    known = attributes[is_control][:3]
    before = small_table.select(lambda values: values[:, ~is_control | np.isin(attributes, known)])
    after = changed(small_table, PLANTED).select(lambda values: values[:, ~np.isin(attributes, known)])
    for one, other in ((before, after), (before, after.without_controls())):
        first, second = pair(one, other)
        assert first.controls == second.controls == ()
        assert any("'neutral' is omitted" in notice for notice in first.notices)


def test_share_removed_interval_covers_at_nominal_rate() -> None:
    rng = np.random.default_rng(0)
    truth, spread = np.array([0.10, 0.04]), np.array([[4e-4, 2e-4], [2e-4, 3e-4]])
    change_sd = np.sqrt(spread[0, 0] + spread[1, 1] - 2 * spread[0, 1])
    hits = []
    for before, after in rng.multivariate_normal(truth, spread, size=1000):
        values = np.array([before, after, after - before])
        table = pd.DataFrame(
            {
                "mean": values,
                "observed": values,
                "sd": [0.02, np.sqrt(3e-4), change_sd],
                "eti95_lb": values - 1.96 * np.array([0.02, np.sqrt(3e-4), change_sd]),
                "eti95_ub": values + 1.96 * np.array([0.02, np.sqrt(3e-4), change_sd]),
                "by_construction": False,
            },
            index=["before", "after", "change"],
        )
        share = share_removed(table, "both", 0.95)
        hits.append(share.lower < 0.6 < share.upper)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.015)


@pytest.mark.slow
def test_comparison_without_generalisation_has_no_intervals(small_table: AssociationTable, tmp_path, sketched) -> None:
    found = compare(small_table, changed(small_table, PLANTED, noise=0.02), scope="none", sampling=SHORT)
    assert found.bias[["eti95_lb", "eti95_ub"]].isna().all(axis=None)
    assert says(found.text, "exactly these words")
    assert says(found.text, "raw contrasts without intervals")
    page = write(found, tmp_path / "found", figures=()).read_text(encoding="utf-8")
    for sentence in found.details:
        assert sentence in page
    assert "<img" not in page


def test_text_of_narrow_scope_quotes_verdict_of_wide_scope(planted: Comparison, small_table: AssociationTable) -> None:
    found = compare(small_table, changed(small_table, PLANTED), scope="targets", sampling=SHORT)
    alone, _, rest = found.text.partition("Generalised to new attributes: ")
    assert planted.verdict.size in rest
    assert says(alone, "with these attributes decreased Targets sample attributes fixed")
    assert "distinguishable" not in alone


def test_compare_raises_for_equal_values(small_table: AssociationTable) -> None:
    with refused(TableError, "same values"):
        compare(small_table, small_table)


def test_compare_raises_for_two_equalised_sides(small_table: AssociationTable) -> None:
    second = random_table(5)
    with refused(TableError, "construction"):
        compare(equalised(small_table), equalised(second))


def test_pair_drops_words_absent_from_one_side(small_table: AssociationTable) -> None:
    fewer = replace(small_table, values=small_table.values[1:, ::-1])
    before, after = pair(small_table, fewer)
    assert before.values.target.equals(after.values.target)
    assert before.values.attribute.equals(after.values.attribute)
    assert says(before.notices, "one target 'after' men 0")


def test_compare_raises_for_different_designs(small_table: AssociationTable) -> None:
    swapped = replace(small_table, stereotypes={"men": "home", "women": "work"})
    with refused(TableError, "after stereotypes men home women work"):
        compare(small_table, swapped)
    y = small_table.values
    elsewhere = replace(small_table, values=y.assign_coords(group=("target", y.group.to_numpy()[::-1])))
    with refused(TableError, "'men 0' 'women' 'men' before"):
        compare(small_table, elsewhere)
    one_group = replace(small_table, values=y[:5])
    with refused(TableError, "table 'after' no target of 'women'"):
        compare(small_table, one_group)


def test_compare_raises_for_hierarchical_model(small_table: AssociationTable) -> None:
    with refused(SpecError, "crossed"):
        compare(small_table, changed(small_table, PLANTED), "hierarchical")


def test_zero_by_construction_recognises_three_equalised_groups() -> None:
    words = [f"{g} {i}" for g in "abc" for i in range(2)]
    y = np.tile(np.random.default_rng(0).random((2, 6)), (3, 1))
    targets, attributes = {w: w[0] for w in words}, {f"{c}{i}": c for c in "xyz" for i in range(2)}
    table = assemble(y, targets, attributes, {"a": "x", "b": "y", "c": "z"})
    assert zero_by_construction(table)
    assert not zero_by_construction(random_table())
    assert not zero_by_construction(difference(random_table(1), random_table(2)))


@pytest.mark.slow
def test_compare_of_debiased_reddit_vectors_matches_lme4(published_cosines) -> None:
    """lme4 1.1.31 (tests/reference/lme4.csv): bias .01478 before, 5e-16 after."""
    found = compare(*map(published_cosines, ("gender_reddit", "gender_reddit_debiased")), sampling=SHORT)
    assert found.bias.observed["before"] == pytest.approx(0.0147836, abs=1e-6)
    assert found.bias.observed["change"] == pytest.approx(-0.0147836, abs=1e-6)
    assert found.zero_by_construction == ("after",)
    assert found.verdict.lower < 0 < found.verdict.upper


def test_difference_keeps_replicates_of_both_sides(small_table):
    def shifted(by: float) -> AssociationTable:
        tables = {f"seed {k}": replace(small_table, values=small_table.values + by * (k + 1)) for k in range(3)}
        return combine_replicates(tables, "seed")

    before, after = shifted(0.0), shifted(0.01)
    found = difference(*pair(before, after))
    assert found.replicates.kind == "seed"
    for k, values in enumerate(found.replicates.tables.values()):
        np.testing.assert_allclose(values, 0.01 * (k + 1))
    singles = after.singles()
    turned = combine_replicates({label: singles[label] for label in reversed(singles)}, "seed")
    assert difference(*pair(before, turned)).sha256 == found.sha256
    assert says(difference(*pair(before, changed(small_table, PLANTED))).notices, "before: 3 after: none only means")


def test_difference_takes_related_words_and_covariates_from_before(small_table: AssociationTable) -> None:
    words = small_table.values.target.to_numpy().tolist()
    men = tuple(small_table.values.target.to_numpy()[small_table.values.group == "men"].tolist())
    known = small_table.with_related_words({"men": Related(men, 1.4)})
    known = known.with_covariates({word: float(k % 4) for k, word in enumerate(words)})
    related = changed(small_table, PLANTED).with_related_words({"men": Related(men, 1.9)})
    before, after = pair(known, related)
    for table in (after, difference(before, after)):
        assert table.related_words.groups["men"].inflation == 1.4
        assert table.covariates == known.covariates
