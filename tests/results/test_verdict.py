"""The answer in words, and how many words it would take."""

import numpy as np
import pytest

from bayes_bias import Associations, cosines, fit, summarize, verdict
from bayes_bias.errors import ScopeError
from bayes_bias.results.design import variance_shares, words_needed
from tests.helpers import REFERENCE, random_table

# What a trial of the design found: WEAT's numerator on GloVe-840B,
# and the verdicts that the issue asks for.
GLOVE = {
    "weat1": (0.089, "distinguishable"),
    "weat2": (0.091, "distinguishable"),
    "weat3": (0.051, "distinguishable"),
    "weat4": (0.045, "distinguishable"),
    "weat5": (0.057, "borderline"),
    "weat6": (0.158, "distinguishable"),
    "weat7": (0.025, "not distinguishable"),
    "weat8": (0.043, "distinguishable"),
    "weat9": (0.083, "not distinguishable"),
    "weat10": (0.048, "not distinguishable"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GLOVE)
def test_weat_on_glove(name):
    table = cosines(REFERENCE / "glove840b_weat_items.npz", name, controls=())
    numerator, label = GLOVE[name]
    found = verdict(fit(table, seed=1))
    assert 2 * found.bias == pytest.approx(numerator, abs=0.0025)
    assert found.label == label


@pytest.mark.slow
def test_a_planted_bias_is_told_from_noise_and_no_bias_is_not():
    planted = verdict(fit(random_table(3, bias=0.1), seed=1))
    assert planted.label == "distinguishable"
    assert planted.lower > 0
    assert planted.words_needed is None
    none = verdict(fit(random_table(4, bias=0.0), seed=1))
    assert none.label == "not distinguishable"
    assert none.lower < 0 < none.upper


def test_the_sentence_says_over_which_words_it_generalises(small_fit):
    assert "if both word lists are samples" in verdict(small_fit).text
    assert "if the targets are a sample" in verdict(small_fit, "targets").text
    assert verdict(small_fit, "none").text.startswith("Raw contrast: +0.")


def test_the_verdict_rests_on_the_row_of_the_summary(small_fit):
    found, row = (
        verdict(small_fit, "targets"),
        summarize(small_fit, "targets", ci_prob=0.95).loc[("bias", "overall")],
    )
    assert (found.bias, found.lower, found.upper) == (row["mean"], row.eti95_lb, row.eti95_ub)


@pytest.mark.slow
def test_more_words_are_needed_for_a_smaller_bias_and_for_more_certainty():
    small, large = (fit(random_table(5, bias=bias), seed=1) for bias in (0.02, 0.05))
    assert words_needed(small) > words_needed(large)
    assert words_needed(large, ci_prob=0.99) > words_needed(large)
    assert words_needed(large, "targets") <= words_needed(large)


@pytest.mark.slow
def test_that_many_words_would_indeed_settle_it():
    """Asked of a long list, which knows bias and scales well; lists of the proposed length then bear it out."""

    def sized(n: int, seed: int) -> Associations:
        targets = dict.fromkeys(("men", "women"), n)
        return random_table(
            seed, bias=0.03, targets=targets, attributes=dict.fromkeys(("work", "home", "neutral"), n)
        )

    needed = words_needed(fit(sized(40, seed=1), seed=1), power=0.8)
    settled = [verdict(fit(sized(needed, seed), seed=1)).lower > 0 for seed in range(12)]
    assert 0.5 <= np.mean(settled) < 1


def test_without_new_words_their_number_has_no_meaning(small_fit):
    with pytest.raises(ScopeError, match="no number of them matters"):
        words_needed(small_fit, "none")


def test_shares_of_variance_sum_to_one(small_fit):
    shares = variance_shares(small_fit)
    assert list(shares.columns) == ["targets", "attributes", "residual"]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(1)
