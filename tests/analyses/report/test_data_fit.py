"""A fit to the data is printed with a judgement, and an alarm if intervals hold too little."""

import pandas as pd
import pytest

from bayes_bias.analyses.report.check_data_fit import _judge
from bayes_bias.checks.predictive import PROBS, DataFit
from tests.helpers import says


@pytest.mark.parametrize(
    ("shares", "adequate", "words"),
    [
        ((0.60, 0.94), True, "Adequate"),
        ((0.45, 0.94), False, "Poor fewer model underestimates"),
        ((0.60, 0.84), False, "Poor fewer model underestimates"),
        ((0.75, 0.94), True, "Long tails model='robust'"),
        ((0.75, 0.84), False, "Poor"),  # what is wrong goes before what is odd
    ],
)
def test_judge_returns_adequacy_and_sentence_for_coverage(
    shares: tuple[float, float], adequate: bool, words: str
) -> None:
    fit = DataFit(pd.DataFrame([shares], ["crossed"], list(PROBS)), pairs=10_000)
    verdict, sentence = _judge(fit)
    assert verdict is adequate
    assert says(sentence, words)


def test_judge_accepts_sampling_error_of_small_tables() -> None:
    assert _judge(DataFit(pd.DataFrame([[0.45, 0.94]], ["crossed"], list(PROBS)), pairs=64))[0]
