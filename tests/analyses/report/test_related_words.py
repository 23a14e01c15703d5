"""A report gives related words less weight, and says where clusters of words have almost full weight."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_bias import AssociationTable
from bayes_bias.analyses.report.check import Study
from bayes_bias.analyses.report.check_clusters import CHECKER
from bayes_bias.analyses.report.report import report
from bayes_bias.fitting.fit import fit_table
from bayes_bias.posterior.verdict import verdict
from bayes_bias.table.related_words import Related
from tests.helpers import FEW, SHORT, says


def related(table: AssociationTable, inflation: float = 3.0) -> AssociationTable:
    """Groups and classes whose means are more variable than those of independent words."""
    related = {}
    for side, coord in (("target", "group"), ("attribute", "attribute_class")):
        belongs_to = table.values[coord].to_numpy()
        for name in dict.fromkeys(belongs_to.tolist()):
            words = tuple(table.values[side].to_numpy()[belongs_to == name].tolist())
            loading = np.linspace(1, -1, len(words))
            related[name] = Related(words, 1.0 if name in table.controls else inflation, loading=loading)
    return table.with_related_words(related)


@pytest.fixture(scope="module")
def study(small_table, sampled) -> Study:
    table = related(small_table)
    fitted = fit_table(table, sampling=SHORT)
    return Study(table, fitted.spec, "both", 0.95, 1, fitted, FEW, nulls=None, null_draws=0)


def test_clusters_check_contains_effective_numbers_only_for_related_words(study, small_table):
    check = CHECKER.run(study)
    assert says(check.text, "effective number 'men'")
    assert not check.figures  # no vectors
    assert not check.alarm
    assert "effective number" not in CHECKER.run(replace(study, table=small_table)).text


@pytest.fixture(scope="module")
def clustered(small_table) -> AssociationTable:
    """Every second attribute is close to the other half of its class, and prefers one group."""
    y, half = small_table.values.to_numpy().copy(), np.arange(small_table.values.sizes["attribute"]) % 2 == 1
    men = np.where(small_table.group_index == 0, 0.2, -0.2)[:, None]
    y[:, half] += 0.2 * np.random.default_rng(1).standard_normal((len(y), 1)) + men
    return replace(small_table, values=small_table.values.copy(data=y))


@pytest.mark.parametrize("inflation", [1.0, 1.1])
def test_clusters_check_is_alarm_if_clustered_words_have_almost_full_weight(study, clustered, inflation):
    check = CHECKER.run(replace(study, table=related(clustered, inflation)))
    assert says(check.text, "attributes vary together intraclass correlation almost full weight interval too short")
    assert check.brief == "attributes vary together"
    assert check.alarm


def test_clusters_check_is_no_alarm_if_clustered_words_have_less_weight(study, clustered):
    check = CHECKER.run(replace(study, table=related(clustered, 1.3)))
    assert says(check.text, "attributes vary together intraclass correlation")
    assert "full weight" not in check.text
    assert check.brief == "attributes vary together, with less weight"
    assert not check.alarm


def test_clusters_check_reads_weight_of_clustered_side(study, clustered):
    """Less weight of targets does not account for clusters of attributes."""
    table = related(clustered)
    words = table.related_words
    classes = {name: replace(own, inflation=1.0) for name, own in words.classes.items()}
    check = CHECKER.run(replace(study, table=table.with_related_words({**words.groups, **classes})))
    assert check.alarm
    assert "almost full weight" in check.text


def test_verdict_says_if_only_quasi_f_finds_bias(small_table, sampled):
    """Words that are related have little weight here, and the quasi-F treats them as independent."""
    section = report(related(small_table, 40.0), sampling=SHORT).sections[0]
    (caveat,) = section.verdict.caveats
    assert caveat == "Only the quasi-F test finds a bias (p < .001)."
    assert section.verdict.headline == "Not distinguishable from noise"
    assert f"). {caveat} Even if there were no bias" in section.verdict.text
    assert section.checks["second-opinion"].alarm


def test_verdict_says_if_only_model_finds_bias(sampled):
    section = report("religion", sampling=SHORT, calibration_draws=0).sections[0]
    assert section.verdict.headline.startswith("Distinguishable from noise")
    assert section.verdict.caveats[0] == "Only the model finds a bias, and the quasi-F test does not (p = .12)."
    assert section.verdict.caveats[0] in section.verdict.text


def test_verdict_has_no_caveat_if_quasi_f_agrees(small_table, sampled):
    section = report(small_table, sampling=SHORT).sections[0]
    assert section.checks["second-opinion"].brief == "quasi-F agrees (p < .001)"
    assert section.verdict.caveats == ()


def test_verdict_text_contains_weight_of_related_words(study):
    answer = verdict(study.fitted)
    assert "related words get less weight" in answer.text
    assert "related words" not in replace(answer, related=False).text
    assert np.isfinite(answer.mean)
