"""Before and after debiasing: planted changes are found, arithmetic is called arithmetic."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayes_bias import Associations
from bayes_bias.debiasing.compare import compare
from bayes_bias.debiasing.comparison import Comparison, share_removed
from bayes_bias.associations.table import assemble
from bayes_bias.errors import AssociationsError, SpecError
from bayes_bias.debiasing.pairing import difference, pair, zero_by_construction
from tests.conftest import random_cosines

PLANTED = -0.06


def changed(before: Associations, by: np.ndarray | float, *, noise: float = 0.01, seed: int = 7) -> Associations:
    """The same table after debiasing: the stereotypical blocks shifted, with some noise."""
    y = before.values.to_numpy()
    own = np.array([before.stereotypes[g] for g in before.values.group.to_numpy()])
    stereotypical = own[:, None] == before.values.attribute_class.to_numpy()[None, :]
    moved = y + by * stereotypical + noise * np.random.default_rng(seed).standard_normal(y.shape)
    return replace(before, values=before.values.copy(data=moved))


def equalised(before: Associations) -> Associations:
    """Every attribute of an associated class equally close to all groups; controls as they were."""
    y = before.values.copy()
    near = np.isin(y.attribute_class.to_numpy(), before.associated_classes)
    y[:, near] = y[:, near].to_numpy().mean(axis=0, keepdims=True)
    return replace(before, values=y)


@pytest.fixture(scope="module")
def planted(small_cosines: Associations, small_fit: xr.DataTree) -> Comparison:
    return compare(small_cosines, changed(small_cosines, PLANTED))


@pytest.fixture(scope="module")
def construction(small_cosines: Associations, small_fit: xr.DataTree) -> Comparison:
    return compare(small_cosines, equalised(small_cosines))


def test_a_planted_change_is_recovered_far_better_than_two_posteriors_would(planted: Comparison) -> None:
    change = planted.bias.loc["change"]
    assert change.lower < PLANTED < change.upper
    assert planted.verdict.label == "distinguishable"
    apart = np.hypot(*planted.bias.sd[["before", "after"]])
    assert change.sd < apart / 4


def test_the_change_of_the_raw_contrast_is_exact(planted: Comparison) -> None:
    observed = planted.bias.observed
    assert observed["change"] == pytest.approx(observed["after"] - observed["before"], abs=1e-12)


def test_the_change_is_told_for_every_estimand_and_word(planted: Comparison) -> None:
    assert set(planted.change.index.get_level_values("estimand")) == {
        "bias",
        "group_bias",
        "excess",
        "repulsion",
        "target_bias",
        "attribute_bias",
    }
    assert len(planted.change.loc["target_bias"]) == 11
    for scope in ("both", "targets", "attributes", "none"):
        assert planted.summary("change", scope).loc[("bias", "overall"), "mean"] == pytest.approx(
            PLANTED, abs=0.02
        )


def test_controls_that_were_left_alone_are_told_to_be_alone(planted: Comparison) -> None:
    assert list(planted.controls.index) == ["men, neutral", "women, neutral"]
    assert (planted.controls.eti95_lb < 0).all()
    assert (planted.controls.eti95_ub > 0).all()


def test_controls_that_moved_are_found_out(small_cosines: Associations, small_fit: xr.DataTree) -> None:
    after = changed(small_cosines, PLANTED)
    neutral = after.values.attribute_class == "neutral"
    found = compare(small_cosines, replace(after, values=after.values + 0.05 * neutral))
    assert (found.controls.eti95_lb > 0).all()
    assert "Control classes moved by +0.05" in found.text


def test_equalised_rows_are_zero_by_construction_and_never_sampled(construction: Comparison) -> None:
    assert construction.zero_by_construction == ("after",)
    assert set(construction.fits) == {"before", "change"}
    assert "after: zero by construction" in construction.text
    assert str(construction.share_removed) == "100%"
    after = construction.bias.loc["after"]
    assert after.bias == 0
    assert np.isnan([after.lower, after.upper, after.prob_noise]).all()
    assert construction.measures.p_after.isna().all()
    assert construction.measures.after["gWEAT"] == 0
    with pytest.raises(AssociationsError, match="'after' was not sampled, its bias is zero by construction"):
        construction.summary("after")


def test_the_share_removed_is_covered_and_told_only_for_a_bias_that_is_there(planted: Comparison) -> None:
    share, before = planted.share_removed, planted.bias.observed["before"]
    assert share.lower < -PLANTED / before < share.upper
    assert share.lower < share.observed < share.upper
    unclear = planted.bias.assign(sd=[planted.bias.bias["before"], 0.01, 0.01])
    assert np.isnan(share_removed(unclear, "both", 0.95).lower)


def test_fieller_covers_the_true_share_at_its_rate() -> None:
    rng = np.random.default_rng(0)
    truth, spread = np.array([0.10, 0.04]), np.array([[4e-4, 2e-4], [2e-4, 3e-4]])
    change_sd = np.sqrt(spread[0, 0] + spread[1, 1] - 2 * spread[0, 1])
    hits = []
    for before, after in rng.multivariate_normal(truth, spread, size=2000):
        values = [before, after, after - before]
        table = pd.DataFrame(
            {
                "bias": values,
                "observed": values,
                "sd": [0.02, np.sqrt(3e-4), change_sd],
                "by_construction": False,
            },
            index=["before", "after", "change"],
        )
        share = share_removed(table, "both", 0.95)
        hits.append(share.lower < 0.6 < share.upper)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.015)


def test_exactly_these_words_need_no_interval(
    small_cosines: Associations, small_fit: xr.DataTree, tmp_path
) -> None:
    found = compare(small_cosines, changed(small_cosines, PLANTED, noise=0.02), scope="none")
    assert found.bias[["lower", "upper"]].isna().all(axis=None)
    assert "for exactly these words" in found.text
    assert "of the raw contrast" in found.text
    page = found.write(tmp_path / "found").read_text(encoding="utf-8")
    assert found.text in page
    assert "<img" not in page


def test_the_same_embedding_twice_is_refused(small_cosines: Associations) -> None:
    with pytest.raises(AssociationsError, match="same cosines as before; nothing changed"):
        compare(small_cosines, small_cosines)


def test_two_equalised_sides_are_refused(small_cosines: Associations) -> None:
    other = random_cosines(5)
    with pytest.raises(AssociationsError, match="by construction twice"):
        compare(equalised(small_cosines), equalised(other))


def test_words_that_one_side_lacks_are_left_out_of_both_with_a_notice(small_cosines: Associations) -> None:
    fewer = replace(small_cosines, values=small_cosines.values[1:, ::-1])
    before, after = pair(small_cosines, fewer)
    assert before.values.target.equals(after.values.target)
    assert before.values.attribute.equals(after.values.attribute)
    assert "1 target word(s) are not in 'after' and were left out: men 0" in before.notices


def test_different_designs_are_refused(small_cosines: Associations) -> None:
    swapped = replace(small_cosines, stereotypes={"men": "home", "women": "work"})
    with pytest.raises(AssociationsError, match="men=home, women=work"):
        compare(small_cosines, swapped)
    y = small_cosines.values
    elsewhere = replace(small_cosines, values=y.assign_coords(group=("target", y.group.to_numpy()[::-1])))
    with pytest.raises(AssociationsError, match="target 'men 0' is in 'women', and before it is in 'men'"):
        compare(small_cosines, elsewhere)
    one_group = replace(small_cosines, values=y[:5])
    with pytest.raises(AssociationsError, match="shares no target of 'women' with before"):
        compare(small_cosines, one_group)


def test_a_model_of_distances_is_refused(small_cosines: Associations) -> None:
    with pytest.raises(SpecError, match="use a crossed model"):
        compare(small_cosines, changed(small_cosines, PLANTED), "hierarchical")


def test_three_equalised_groups_are_zero_by_construction_too() -> None:
    words = [f"{g} {i}" for g in "abc" for i in range(2)]
    y = np.tile(np.random.default_rng(0).random((2, 6)), (3, 1))
    targets, attributes = {w: w[0] for w in words}, {f"{c}{i}": c for c in "xyz" for i in range(2)}
    table = assemble(y, targets, attributes, dict(zip("abc", "xyz", strict=True)))
    assert zero_by_construction(table)
    assert not zero_by_construction(random_cosines())
    assert not zero_by_construction(difference(random_cosines(1), random_cosines(2)))


@pytest.mark.slow
def test_the_published_debiasing_of_reddit_vectors_is_arithmetic(published_cosines) -> None:
    """lme4 1.1.31 (shared/reference/lme4.csv): bias .01478 before, 5e-16 after."""
    found = compare(published_cosines("gender_reddit"), published_cosines("gender_reddit_debiased"))
    assert found.bias.observed["before"] == pytest.approx(0.0147836, abs=1e-6)
    assert found.bias.observed["change"] == pytest.approx(-0.0147836, abs=1e-6)
    assert found.zero_by_construction == ("after",)
    assert found.verdict.lower < 0 < found.verdict.upper
