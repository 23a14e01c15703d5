"""A report of a list in several templates: what they do to the bias, on the page and in its files."""

from dataclasses import replace

import pandas as pd
import pytest

from bayes_bias import cosines, report
from bayes_bias.analyses.report.results import Report, figures_of, methods_of
from bayes_bias.formatting import probability_in_words
from tests.helpers import SHORT, html_of, latex_tables_of, random_table, states


@pytest.fixture(scope="module")
def made(sampled: None) -> Report:
    return report(cosines("weat7", "minilm-demo", ()), calibration_draws=0, sampling=SHORT)


def test_report_page_contains_standard_deviation_between_templates(made):
    page = html_of(made)
    means = made.sections[0].summary["mean"]
    assert states(page, f"standard deviation bias between templates {means['replicate_sd', 'overall']:.3f}")
    same_sign = probability_in_words(means["same_sign", "overall"])
    assert states(page, f"bias in a new template has the sign of the raw bias with probability {same_sign}")
    assert states(page, f"{means['reliability', '1']:.2f} for one {means['reliability', '10']:.2f} mean of all ten")
    assert states(page, "Crosses: raw bias of one template")
    assert states(page, "Circles: its estimate from all templates")
    assert states(page, "new targets new attributes new templates")
    assert states(page, "new targets new attributes these templates")
    assert "replicate" not in page.split('<h2 id="methods">')[0]


def test_evidence_of_replicates_matches_summary(made):
    (section,), row = made.sections, made.evidence().loc["weat7"]
    assert list(section.summaries) == ["all", "both", "targets"]
    assert row.replicates == 10
    assert row.replicate_sd == section.summary.loc[("replicate_sd", "overall"), "mean"]
    assert 0 < row.reliability_one < row.reliability_all < 1
    assert "weat7-replicates" in figures_of(made)


def test_methods_contain_every_scale_and_generalisation(made):
    said = methods_of(made)
    assert "e[i, j] + h[r] + h[r, g] + h[r, c] + h[r, g, c] + u[i, r]" in said.plain
    assert "y_{ijr}" in said.latex
    assert said.latex.count(r"\begin{array}") == said.latex.count(r"\end{array}") == 1
    assert "sd_" not in said.plain
    assert states(said.plain, "new targets new attributes new templates")
    assert "brennan2001generalizability" in said.bibliography
    assert "10 templates" in said.plain
    assert states(latex_tables_of(made), "new attributes new templates")


def test_report_without_replicates_omits_templates(sampled):
    made = report(random_table(1), sampling=SHORT)
    (section,) = made.sections
    assert made.scope == section.verdict.scope == next(iter(section.summaries)) == "both"
    assert "replicates" not in made.evidence()
    assert "templates" not in html_of(made)
    assert "brennan" not in methods_of(made).bibliography
    pd.testing.assert_frame_equal(section.summary, section.summaries["both"])


def test_methods_contain_encoder_pooling_and_templates(made):
    assert "whole sentences" not in methods_of(made).plain
    assert "numerical integration" not in methods_of(made).plain  # a table with templates is sampled
    (section,) = made.sections
    encoder = {"encoder": "tiny", "pooling": "cls", "templates": "noun-10"}
    encoded = replace(section, table=replace(section.table, provenance={**section.table.provenance, **encoder}))
    text = methods_of(replace(made, sections=(encoded,))).plain
    assert states(text, "whole sentences tiny pooling cls noun-10")


def test_measures_contain_sentence_tests(made):
    measures = made.sections[0].measures
    assert {"SEAT", "CEAT"} <= set(measures.table.index)
