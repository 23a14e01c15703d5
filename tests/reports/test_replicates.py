"""A report of a list in several templates: what they do to the bias, on the page and in its files."""

import html
from dataclasses import replace

import pandas as pd
import pytest

from bayes_bias import report
from bayes_bias.reports import Report
from bayes_bias.reports.figures import REPLICATES, draw
from bayes_bias.reports.latex import tables
from bayes_bias.reports.methods_of_report import methods_of
from tests.helpers import SHORT, html_of, random_table


@pytest.fixture(scope="module")
def made(sampled: None) -> Report:
    return report("weat7", "minilm-demo", controls=(), calibration_draws=0, sampling=SHORT)


def test_the_page_says_what_templates_do(made):
    page = html.unescape(html_of(made))
    assert "Does it depend on the template?" in page
    assert "the bias differs between templates by a standard deviation of 0.0" in page
    assert "generalise to new targets, new attributes and new templates" in page
    assert "new targets and new attributes, these templates" in page
    assert "replicate" not in page.split('<h2 id="methods">')[0]


def test_the_numbers_are_those_of_the_summary(made):
    (section,), row = made.sections, made.evidence().loc["weat7"]
    assert list(section.summaries) == ["all", "both", "targets"]
    assert row.replicates == 10
    assert row.replicate_sd == section.summary.loc[("replicate_sd", "overall"), "mean"]
    assert 0 < row.reliability_one < row.reliability_all < 1
    assert "weat7-" + REPLICATES in draw(made)


def test_the_methods_name_every_scale_and_what_is_generalised_to(made):
    said = methods_of(made)
    assert "e[i, j] + h[r] + h[r, g] + h[r, c] + h[r, g, c] + u[i, r]" in said.plain
    assert "y_{ijr}" in said.latex
    assert said.latex.count(r"\begin{array}") == said.latex.count(r"\end{array}") == 1
    assert "sd_" not in said.plain
    assert "new targets, new attributes and new templates" in said.plain
    assert "brennan2001generalizability" in said.bibliography
    assert "10 templates" in said.plain
    assert "new attributes and new templates" in tables(made)


def test_a_table_without_replicates_reads_as_before(sampled):
    made = report(random_table(1), sampling=SHORT)
    (section,) = made.sections
    assert made.scope == section.verdict.scope == next(iter(section.summaries)) == "both"
    assert "replicates" not in made.evidence()
    assert "Does it depend on" not in html_of(made)
    assert "brennan" not in methods_of(made).bibliography
    pd.testing.assert_frame_equal(section.summary, section.summaries["both"])


def test_the_methods_say_which_sentences_an_encoder_read(made):
    assert "whole sentences" not in methods_of(made).plain
    (section,) = made.sections
    told = {"encoder": "tiny", "pooling": "cls", "templates": "noun-10"}
    encoded = replace(section, table=replace(section.table, provenance={**section.table.provenance, **told}))
    text = methods_of(replace(made, sections=(encoded,))).plain
    assert (
        "Vectors are those of whole sentences, encoded by tiny (pooling: cls), where each word stood in the"
        " sentences of noun-10." in text
    )


def test_sentence_tests_stand_among_the_measures(made):
    measures = made.sections[0].measures
    assert {"SEAT", "CEAT"} <= set(measures.table.index)
