"""A fit to the data is printed with a judgement, and an alarm if intervals hold too little."""

import numpy as np
import pandas as pd
import pytest

from bayes_bias import fit
from bayes_bias.analyses.report.check_data_fit import _judge
from bayes_bias.checks.predictive import PROBS, DataFit, predictive_coverage
from bayes_bias.table.association_table import assemble
from tests.helpers import SHORT, labelled, says


@pytest.mark.parametrize(
    ("shares", "adequate", "words"),
    [
        ((0.60, 0.94), True, "Adequate"),
        ((0.45, 0.94), False, "Poor fewer model underestimates"),
        ((0.60, 0.84), False, "Poor fewer model underestimates"),
        ((0.75, 0.94), True, "Long tails model='robust'"),
        ((0.75, 0.995), True, "Adequate close predictions few words"),  # as normal values whose effects are fitted
        ((1.0, 1.0), True, "Adequate close predictions few words"),
        ((0.75, 0.84), False, "Poor"),  # what is wrong goes before what is odd
    ],
)
def test_data_fit_judgement_depends_on_coverage(shares: tuple[float, float], adequate: bool, words: str) -> None:
    data_fit = DataFit(pd.DataFrame([shares], ["crossed"], list(PROBS)), pairs=10_000)
    verdict, sentence = _judge(data_fit)
    assert verdict is adequate
    assert says(sentence, words)


def test_data_fit_is_adequate_within_sampling_error() -> None:
    assert _judge(DataFit(pd.DataFrame([[0.45, 0.94]], ["crossed"], list(PROBS)), pairs=64))[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("distribution", "words", "judgements"),
    [
        ("normal", 2, {"Adequate"}),
        ("uniform", 2, {"Adequate"}),
        ("normal", 3, {"Adequate"}),
        ("normal", 8, {"Adequate"}),
        ("uniform", 8, {"Adequate"}),
        ("student", 8, {"Long tails"}),
    ],
)
def test_only_long_tails_of_residuals_are_called_so(distribution: str, words: int, judgements: set[str]) -> None:
    """Tables of two groups and classes, each with `words` words: 70% or more of few values lie in the 50% intervals."""
    draw = {
        "normal": lambda rng, shape: rng.normal(size=shape),
        "uniform": lambda rng, shape: rng.uniform(-1.7, 1.7, shape),
        "student": lambda rng, shape: rng.standard_t(1.5, shape),
    }[distribution]
    found = set()
    for seed in range(3):
        residuals = draw(np.random.default_rng(seed), (2 * words, 2 * words))
        targets, attributes = labelled(["men", "women"], words), labelled(["work", "home"], words)
        stereotypes = {"men": "work", "women": "home"}
        table = assemble(0.2 + 0.05 * residuals, targets, attributes, stereotypes, name="small")
        fitted = fit(table, seed=1, sampling=SHORT)
        shares = predictive_coverage(fitted, PROBS).to_numpy()
        coverage = pd.DataFrame([shares], ["crossed"], list(PROBS))
        found.add(_judge(DataFit(coverage, pairs=table.values.size))[1].partition(",")[0])
    assert found == judgements
