"""One group of targets, such as occupations, and two classes or more: one of them against the rest."""

from collections.abc import Mapping

import numpy as np
import pytest
import xarray as xr

from bayes_bias import AssociationTable, WordList, compare, fit, report, summarize, verdict
from bayes_bias.analyses.report.results import figures_of, methods_of
from bayes_bias.errors import BayesBiasError, MeasureError, TableError, WordListError
from bayes_bias.measures import weat, wefat
from bayes_bias.posterior.estimates import estimate_of
from tests.helpers import FEW, SHORT, changed, html_of, random_table, refused, says

LIST = {
    "groups": {"jobs": ["nurse", "smith", "clerk"]},
    "classes": {"male": ["he", "man"], "female": ["she", "woman"], "other": ["they", "one"]},
    "stereotypes": {"jobs": "male"},
}


def jobs(classes: Mapping[str, int] | None = None, opposites: tuple[str, ...] = ("female",)) -> AssociationTable:
    """Occupations with male and female words and a control class."""
    classes = classes or {"male": 6, "female": 5, "neutral": 8}
    return random_table(3, targets={"jobs": 7}, attributes=dict(classes), opposites=opposites)


@pytest.fixture(scope="module")
def fitted(sampled: None) -> xr.DataTree:
    return fit(jobs(), seed=1, sampling=SHORT)


def test_wordlist_has_default_or_named_opposites():
    assert WordList.from_mapping(LIST).opposites == ("female", "other")
    named = WordList.from_mapping(LIST | {"opposites": ["female"]})
    assert (named.opposites, tuple(named.controls)) == (("female",), ("other",))
    assert named.sha256 != WordList.from_mapping(LIST).sha256


def test_bias_of_one_group_equals_class_minus_rest(fitted):
    table = jobs()
    male, female = (table.block("jobs", name) for name in ("male", "female"))
    raw = summarize(fitted, "none")["observed"]
    assert raw["bias", "overall"] == raw["group_bias", "jobs"] == pytest.approx(male.mean() - female.mean())
    words = male.mean(axis=1) - female.mean(axis=1)
    np.testing.assert_allclose(raw["target_bias"], words)
    three = jobs({"male": 4, "female": 5, "other": 6}, ("female", "other"))
    rest = [three.block("jobs", name).mean() for name in ("female", "other")]
    few = summarize(fit(three, seed=1, sampling=FEW), "none").observed
    assert few["bias", "overall"] == pytest.approx(three.block("jobs", "male").mean() - np.mean(rest))


def test_target_biases_of_one_group_shrink_and_keep_order(fitted):
    found = summarize(fitted).loc["target_bias"]
    assert np.ptp(found["mean"]) < np.ptp(found.observed)
    assert found["mean"].rank().equals(found.observed.rank())


def test_attribute_bias_is_omitted_for_one_group(fitted):
    assert "attribute_bias" not in summarize(fitted).index
    with refused(BayesBiasError, "'attribute_bias' groups"):
        estimate_of(fitted, "attribute_bias")


def test_wefat_measures_one_group_and_weat_raises():
    table = jobs().without_controls()
    (word, row), *_ = wefat(table).words.iterrows()
    cosines = table.values.sel(target=word).to_numpy()
    assert row.effect_size == pytest.approx((cosines[:6].mean() - cosines[6:].mean()) / cosines.std(ddof=1))
    with refused(MeasureError, "WEFAT 2"):
        weat(table)


def test_report_of_one_group_omits_group_terms_and_figure(sampled):
    made = report(jobs(), sampling=FEW, calibration_draws=0)
    said = methods_of(made)
    assert "b[j] + e[i, j]" in said.plain
    assert "w_{jg}" not in said.latex
    assert says(said.plain, "opposite classes")
    assert "small-attributes" not in figures_of(made)
    assert "small-attributes" not in html_of(made)


def test_verdict_of_one_group_names_fixed_attributes(fitted):
    assert "attributes as fixed" in verdict(fitted, "targets").text


def test_compare_estimates_change_and_raises_for_other_opposites(sampled):
    before = jobs()
    after = changed(before, -0.05)
    found = compare(before, after, sampling=FEW)
    assert found.change.observed["bias", "overall"] == pytest.approx(-0.05, abs=0.01)
    with_other_class = jobs({"male": 6, "neutral": 8, "female": 5}, ("neutral",))
    with refused(TableError, "jobs male neutral before"):
        compare(before, with_other_class)


def test_from_frame_reads_opposites_of_one_group():
    columns = {name: name for name in ("target", "group", "attribute", "attribute_class")}
    frame = jobs().to_frame()
    table = AssociationTable.from_frame(frame, value="cosine", stereotypes={"jobs": "male"}, **columns)
    assert (table.opposites, table.controls) == (("female", "neutral"), ())
    with_opposites = AssociationTable.from_frame(
        frame, value="cosine", stereotypes={"jobs": "male"}, opposites=["female"], **columns
    )
    assert with_opposites.sha256 == jobs().sha256 != table.sha256
    with refused(TableError, "opposites 'femal' 'female'"):
        AssociationTable.from_frame(frame, value="cosine", stereotypes={"jobs": "male"}, opposites=["femal"], **columns)


@pytest.mark.parametrize(
    ("opposites", "message"), [(["femal"], "'femal' 'female'"), (["male"], "'male' stereotypical"), ("female", "list")]
)
def test_wordlist_raises_for_invalid_opposites(opposites, message):
    with refused(WordListError, message):
        WordList.from_mapping(LIST | {"opposites": opposites})
