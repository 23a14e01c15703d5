"""The answer in words."""

import pytest

from bayes_bias import cosines, fit, summarize, verdict
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
    assert "if both word lists are samples" in str(verdict(small_fit))
    assert "if the targets are a sample" in verdict(small_fit, "targets").text
    assert verdict(small_fit, "none").text.startswith("Raw contrast: +0.")


def test_the_verdict_rests_on_the_row_of_the_summary(small_fit):
    found, row = (
        verdict(small_fit, "targets"),
        summarize(small_fit, "targets", ci_prob=0.95).loc[("bias", "overall")],
    )
    assert (found.bias, found.lower, found.upper) == (row["mean"], row.eti95_lb, row.eti95_ub)
