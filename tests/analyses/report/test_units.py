"""Numbers of another kind, from frame to pages: their own name, unit and decimals, and not a word of cosines."""

import base64
import html
import json
import math
import re
from pathlib import Path

import pytest
from matplotlib.text import Text

from bayes_bias import AssociationTable, Metric, compare, report, summarize, verdict, write
from bayes_bias.analyses.report.results import Report
from bayes_bias.errors import TableError
from bayes_bias.plots import plot_forest, plot_overview, plot_posterior, plot_variance_shares, plot_word_bias
from bayes_bias.plots.plan import plot_plan
from bayes_bias.table.from_frames import WORDS
from tests.helpers import SHORT, changed, random_table, refused, states

LOG_ODDS = Metric("log odds", unit="logits", range=(-math.inf, math.inf), decimals=2)

# What is a matter of cosines by nature.
BY_NATURE = r"(?:MAC|published model)[^.<\n]* cosine distances"


def read(table: AssociationTable) -> AssociationTable:
    """A table of log odds by way of a frame, as a user would bring one."""
    return AssociationTable.from_frame(
        table.to_frame(),
        **{name: name for name in WORDS},
        value=table.metric.name,
        stereotypes=table.stereotypes,
        metric=LOG_ODDS,
        name="toy",
    )


@pytest.fixture(scope="module")
def toy() -> AssociationTable:
    """Values about as large as cosines, so that the priors fit."""
    return read(random_table(metric=LOG_ODDS))


@pytest.fixture(scope="module")
def made(sampled: None, toy: AssociationTable) -> Report:
    return report(toy, seed=1, sampling=SHORT)


@pytest.fixture(scope="module")
def folder(made: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(made, tmp_path_factory.mktemp("units") / "report", figures=()).parent


def said(path: Path) -> str:
    """What a reader sees, references and what is of cosines by nature left out."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'src="data:[^"]*"|<style>.*?</style>|<ol class="references">.*?</ol>', "", text, flags=re.S)
    text = html.unescape(text.split("\nReferences\n")[0])
    return re.sub(BY_NATURE, "", text)


def test_to_frame_and_from_frame_keep_metric(toy):
    assert toy.to_frame().columns[-1] == "log odds"
    assert read(toy).sha256 == toy.sha256
    assert toy.provenance["source"] == "table of log odds"


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_from_frame_raises_for_infinite_or_missing_value(toy, value):
    frame = toy.to_frame()
    frame.loc[4, "log odds"] = value
    with refused(TableError, f"log odds {value}"):
        AssociationTable.from_frame(
            frame, **{name: name for name in WORDS}, value="log odds", stereotypes=toy.stereotypes, metric=LOG_ODDS
        )


def test_report_raises_for_tables_of_different_metrics(toy, small_table):
    with refused(TableError, "'small' cosines 'toy' log odds"):
        report([toy, small_table])


def test_fit_and_verdict_have_metric_of_table(made):
    section = made.sections[0]
    assert section.verdict.metric == made.metric == section.fitted.metric == LOG_ODDS
    assert json.loads(section.fit.attrs["metric"])["unit"] == "logits"
    assert re.search(r" is \+0\.\d\d \(95% credible interval \+0\.\d\d to \+0\.\d\d\)", verdict(section.fit).text)
    assert f" {section.verdict.mean:+.2f}." in verdict(section.fit, "none").text


def test_summarize_ignores_name_and_unit_of_metric(made, planted):
    """A name and a unit change nothing but words."""
    assert summarize(made.sections[0].fit).equals(summarize(planted.fits["before"]))


@pytest.mark.parametrize("plot", [plot_forest, plot_posterior, plot_word_bias, lambda fit: plot_overview([fit])])
def test_axes_of_plots_have_unit_of_metric(made, plot):
    assert plot(made.sections[0].fit).get_xlabel() == "difference in mean logits (positive: stereotypical)"


def test_other_figures_contain_metric_or_unit(made):
    fit = made.sections[0].fit
    labels = [label.get_text() for label in plot_variance_shares(fit).get_yticklabels()]
    assert any("log odds" in label for label in labels)
    figure = plot_plan(fit, 0.5).figure
    shown = " ".join(text.get_text() for text in figure.findobj(Text))
    assert "logits" in shown
    assert "cosine" not in shown


@pytest.mark.parametrize("name", ["index.html", "methods.txt", "methods.tex", "tables.tex"])
def test_pages_and_tables_contain_unit_of_metric(folder, name):
    text = said(folder / name)
    assert "logits" in text
    assert "cosine" not in text.lower()


def test_methods_contain_metric_and_unit(made, folder):
    text = said(folder / "methods.txt")
    within = made.sections[0].fitted.data.within_sd.item()
    assert states(text, "mean log odds units logits")
    assert states(text, "log odds y[i, j] target i")
    assert states(text, f"pooled standard deviation toy {within:.4g} logits")
    assert states(text, "209 raw log odds")


def test_page_and_tables_print_bias_with_two_decimals(made, folder):
    section = made.sections[0]
    bias, lower, upper = (getattr(section.verdict, name) for name in ("mean", "lower", "upper"))
    interval = f'{bias:+.2f} <span class="ci">[{lower:+.2f}, {upper:+.2f}]</span>'
    assert interval in (folder / "index.html").read_text(encoding="utf-8")
    assert f"{bias:+.2f} & {{[}}{lower:+.2f}, {upper:+.2f}{{]}}" in said(folder / "tables.tex")


def test_figures_of_page_omit_cosines(folder):
    page = (folder / "index.html").read_text(encoding="utf-8")
    drawn = [base64.b64decode(data).decode() for data in re.findall(r'svg\+xml;base64,([^"]*)"', page)]
    assert len(drawn) == 7
    assert not any("cosine" in svg for svg in drawn)
    assert sum("logits" in svg for svg in drawn) >= 6


@pytest.mark.slow
@pytest.mark.thorough
def test_comparison_page_contains_unit_of_metric(toy, tmp_path, sketched):
    found = compare(toy, changed(toy, -0.06), sampling=SHORT)
    assert re.search(r"\+0\.\d\d \[.*\+0\.\d\d \[.*−0\.\d\d \[", found.text)
    text = said(write(found, tmp_path / "comparison", figures=()))
    assert "logits" in text
    assert "cosine" not in text.lower()
