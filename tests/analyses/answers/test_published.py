"""The published D on the published answers of another model, and what it makes of one label."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayes_bias.analyses.answers.published import published_d, published_row, t_test, two_way
from bayes_bias.analyses.answers.reading import read_answers
from tests.analyses.answers.made_up import LIST, answers

GPT4 = pd.read_csv(Path(__file__).parents[2] / "reference/gpt4_answers.csv")
# Words of each class that each label got, as numbers of stereotypical and of valid choices.
COUNTS = pd.DataFrame(
    {
        "hits_b": GPT4.b_words_of_b,
        "valid_b": GPT4.b_words_of_b + GPT4.a_words_of_b,
        "hits_a": GPT4.a_words_of_a,
        "valid_a": GPT4.a_words_of_a + GPT4.b_words_of_a,
    }
)


def test_published_d_matches_617_published_answers():
    """To .01 where all or none of the choices are stereotypical, and on average.

    The file's numbers of other answers scatter about the formula. They are what a mean of eleven or so samples of 30
    choices, with replacement, would be: the same answer has several numbers, and in those of wholly stereotypical
    answers the added .01 is that of 30 choices to seven digits, however many words there were.
    """
    ours, theirs = published_d(COUNTS), GPT4.published
    assert len(GPT4) == 617
    unmixed = (GPT4.b_words_of_a + GPT4.a_words_of_b == 0) | (GPT4.b_words_of_b + GPT4.a_words_of_a == 0)
    assert unmixed.sum() > 400
    assert np.abs(ours - theirs)[unmixed].max() < 0.01
    assert ours.mean() == pytest.approx(theirs.mean(), abs=0.005)
    assert np.abs(ours - theirs).max() < 0.16


def test_published_scatter_matches_redrawn_choices():
    rng = np.random.default_rng(1)
    mixed = GPT4[(GPT4.published.abs() < 0.95)]
    scores = []
    for row in mixed.itertuples():
        shares = np.array([row.b_words_of_b, row.b_words_of_a, row.a_words_of_b, row.a_words_of_a], float)
        drawn = rng.multinomial(30, shares / shares.sum(), 800)
        d = drawn[:, 0] / (drawn[:, 0] + drawn[:, 1] + 0.01) + drawn[:, 3] / (drawn[:, 2] + drawn[:, 3] + 0.01) - 1
        scores.append((row.published - d.mean()) / d.std())
    assert np.mean(scores) == pytest.approx(0, abs=4 / np.sqrt(11 * len(mixed)))
    assert 8 < 1 / np.var(scores) < 15


def test_published_d_is_minus_half_for_one_label():
    counts = pd.DataFrame({"hits_a": [8], "valid_a": [8], "hits_b": [0], "valid_b": [8]})
    assert published_d(counts)[0] == pytest.approx(-0.5, abs=0.001)


def test_t_test_matches_scipy_and_is_certain_for_constants():
    values = np.random.default_rng(1).normal(0.2, 1, 30)
    assert t_test(values) == pytest.approx(stats.ttest_1samp(values, 0))
    assert t_test(np.full(20, 0.99)) == (np.inf, 0)


def test_two_way_intervals_match_t_test_without_shared_labels():
    values = np.random.default_rng(1).normal(0.2, 1, 30)
    own = np.arange(30).astype(object)
    low, high, _ = two_way(values, own, own, 0.95)
    assert (low, high) == pytest.approx(stats.ttest_1samp(values, 0).confidence_interval(0.95))


def test_published_row_matches_answers_of_cell():
    (cell,) = read_answers(answers(50), LIST).cells
    row = published_row(cell, 0.95)
    assert row["published_d"] == pytest.approx(published_d(cell.counted).mean())
    assert row["choices"] == 50 * 9
    assert row["robust_ci95_lb"] < row["robust_ci95_ub"]
