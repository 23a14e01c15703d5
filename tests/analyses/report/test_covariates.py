"""A report of words with covariates has the bias at equal covariates beside the unadjusted one, on every surface."""

import numpy as np
import pytest

from bayes_bias import Report, Sampling, cosines, load_wordlist, report
from bayes_bias.analyses.report.results import methods_of
from bayes_bias.analyses.report.section import quantities_layout
from bayes_bias.plots import plot_posterior
from tests.helpers import html_of


@pytest.fixture(scope="module")
def made() -> Report:
    words = load_wordlist("weat7")
    letters = {word: float(len(word)) for word in (*words.targets, *words.attributes)}
    table = cosines(words, "googlenews-demo", (), covariates={"target": letters, "attribute": letters})
    sampling = Sampling(draws=1500, tune=700, chains=2)
    return report(table, sampling=sampling, calibration_draws=0)


@pytest.mark.slow
def test_report_shows_adjusted_and_unadjusted_bias_everywhere(made):
    section = made.sections[0]
    assert section.verdict.adjustment is not None
    quantities = quantities_layout(section, list(section.summaries))
    bias, unadjusted, _ = quantities.columns[1].cells[:3]
    assert unadjusted != bias
    assert "explained by covariate of targets and attributes" in quantities.labels[2]
    for text in (html_of(made), "\n".join(methods_of(made).paragraphs)):
        assert "adjusted for covariate" in text
    labels = [line.get_label() for line in plot_posterior(section.fitted).lines]
    assert "interval without adjustment" in labels
    assert {"unadjusted_bias", "explained_bias", "slope"} <= set(section.summary.index.get_level_values("estimand"))


@pytest.mark.slow
def test_adjusted_and_explained_bias_sum_to_unadjusted_bias(made):
    answer = made.sections[0].verdict.adjustment
    assert np.isclose(answer.adjusted[0] + answer.explained[0], answer.unadjusted[0])
    assert answer.unadjusted[1] < 0 < answer.unadjusted[2]
    assert answer.answer == "no bias"
