"""The answer in words."""

import re
from dataclasses import replace

import pytest
from scipy.stats import norm

from bayes_bias import cosines, fit, summarize, verdict
from bayes_bias.associations.association import COSINE
from bayes_bias.estimands.estimates import bias_estimate
from bayes_bias.estimands.facets import scope_of
from bayes_bias.results.design import WordsNeeded
from bayes_bias.results.summary import chance
from bayes_bias.results.verdict import Verdict, _label
from tests.helpers import REFERENCE, SHORT, random_table

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
    found = verdict(fit(table, seed=1, sampling=SHORT))
    assert 2 * found.bias == pytest.approx(numerator, abs=0.0025)
    assert found.label == label


@pytest.mark.slow
def test_a_planted_bias_is_told_from_noise_and_no_bias_is_not():
    planted = verdict(fit(random_table(3, bias=0.1), seed=1, sampling=SHORT))
    assert planted.label == "distinguishable"
    assert planted.lower > 0
    assert planted.words_needed is None
    assert "would tell it" not in planted.text
    none = verdict(fit(random_table(4, bias=0.0), seed=1, sampling=SHORT))
    assert none.label == "not distinguishable"
    assert none.lower < 0 < none.upper


def test_the_sentence_says_over_which_words_it_generalises(small_fit):
    assert "if both word lists are samples" in str(verdict(small_fit))
    assert "for these targets alone, if the attributes are a sample" in verdict(small_fit, "attributes").text
    assert verdict(small_fit, "none").text.startswith("Raw contrast: +0.")
    assert verdict(small_fit, "none").label == "raw contrast"


@pytest.mark.parametrize("scope", ["both", "targets", "attributes"])
def test_what_the_noise_floor_says_and_what_the_posterior_says_is_one_probability(small_fit, scope):
    """Given the scales noise exceeds the observed contrast as often as the bias has the other sign, on either side."""
    bias = bias_estimate(small_fit, scope)
    under_noise = 2 * norm.sf(abs(bias.observed.item()) / bias.noise_sd.to_numpy()).mean()
    assert verdict(small_fit, scope).chance == pytest.approx(under_noise, rel=1e-9)


def test_these_attribute_words_alone_are_never_told_from_noise_and_never_stand_alone(small_fit):
    found, both = verdict(small_fit, "targets"), verdict(small_fit)
    assert found.label == "these words differ"
    assert found.beside == both
    own, wider = found.text.split(" With new attributes as well: ")
    assert "these particular attribute words differ between the groups" in own
    assert "random words would in about 4 of 10 cases (CALIBRATION.md)" in own
    assert "distinguishable" not in own
    assert f"Posterior: {wider}" == both.text


@pytest.mark.slow
def test_a_class_of_one_word_says_nothing_of_new_attributes():
    posterior = fit(random_table(attributes={"work": 1, "home": 5}), seed=1, sampling=SHORT)
    found = verdict(posterior, "targets")
    assert found.beside is None
    assert found.text.endswith("Of new attributes nothing can be said, since a class has only one word.")


@pytest.mark.parametrize(
    ("needed", "said"),
    [
        (
            WordsNeeded(118, power=0.8, averaged=0.57),
            "About 120 words in each list would tell it from zero with probability 80% if the bias is as large as"
            " estimated; averaged over the posterior, 57%.",
        ),
        (
            None,
            "Even 1,000 words in each list would not tell it from zero if the bias is as large as estimated.",
        ),
    ],
)
def test_a_number_of_words_says_what_it_presupposes(needed, said):
    unsure = Verdict(
        "not distinguishable", 0.01, -0.01, 0.03, 0.95, "both", COSINE, 0.84, words_needed=needed
    )
    assert unsure.chance == pytest.approx(0.32)
    assert unsure.text.endswith(f"(chance of so large a contrast if there were no bias: .32). {said}")


@pytest.mark.parametrize(
    ("prob_direction", "label"),
    [(0.976, "distinguishable"), (0.974, "borderline"), (0.949, "not distinguishable")],
)
def test_the_label_follows_the_chance(prob_direction, label):
    assert _label(chance(prob_direction), 0.05, "both") == label


def test_the_verdict_rests_on_the_row_of_the_summary(small_fit):
    found, row = (
        verdict(small_fit, "targets"),
        summarize(small_fit, "targets", ci_prob=0.95).loc[("bias", "overall")],
    )
    assert (found.bias, found.lower, found.upper) == (row["mean"], row.eti95_lb, row.eti95_ub)


@pytest.mark.parametrize(
    ("words", "templates", "said"),
    [
        (
            80,
            40,
            "About 80 words .*averaged over the posterior, 60%; so would about 40 templates of these lists.",
        ),
        (80, None, "About 80 words .*averaged over the posterior, 60%; more templates would not."),
        (None, 40, "Even 1,000 words .*; about 40 templates of these lists would, with probability 80%."),
        (None, None, "Even 1,000 words .*; nor would more templates, but only both together."),
    ],
)
def test_an_unsettled_bias_is_told_what_more_templates_would_do(words, templates, said):
    needed = [None if n is None else WordsNeeded(n, 0.8, 0.6) for n in (words, templates)]
    numbers = (0.01, -0.01, 0.03, 0.95)
    found = Verdict("not distinguishable", *numbers, "all", COSINE, 0.84, *needed, replicate_kind="template")
    assert re.search(
        f"if both word lists and the templates are samples .*{re.escape('.')} {said}$", found.text
    )
    narrower = replace(found, scope="both")
    assert "for these templates alone, if both word lists are samples" in narrower.text
    assert "more templates" not in narrower.text


def test_what_a_replicate_is_has_its_plural():
    assert scope_of("all").told_of("corpus").reach == "new targets, new attributes and new corpora"
    assert scope_of("targets").told_of("seed").reach == "new targets, these attributes, these seeds"


def test_a_table_without_replicates_reads_as_both(small_fit):
    assert verdict(small_fit) == verdict(small_fit, "both")


def test_a_verdict_over_templates_names_them(fit_of_templates):
    widest, narrow = verdict(fit_of_templates), verdict(fit_of_templates, "targets")
    assert widest.scope == narrow.beside.scope == "all"
    assert "new attributes and new templates not distinguishable" in narrow.short
    assert verdict(fit_of_templates, "both").upper < widest.upper
