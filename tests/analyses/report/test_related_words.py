"""A report counts related words as fewer; independence is a row of its checks."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_bias import AssociationTable
from bayes_bias.analyses.report.check import Study
from bayes_bias.analyses.report.check_clusters import CHECKER
from bayes_bias.fitting.fit import fit_table
from bayes_bias.posterior.verdict import verdict
from bayes_bias.table.related_words import Related
from tests.helpers import FEW, SHORT, says


def related(table: AssociationTable) -> AssociationTable:
    """Groups and classes whose means are three times as variable as those of independent words."""
    related = {}
    for side, coord in (("target", "group"), ("attribute", "attribute_class")):
        belongs_to = table.values[coord].to_numpy()
        for name in dict.fromkeys(belongs_to.tolist()):
            words = tuple(table.values[side].to_numpy()[belongs_to == name].tolist())
            loading = np.linspace(1, -1, len(words))
            related[name] = Related(words, 3.0 if name not in table.controls else 1.0, loading=loading)
    return table.with_related_words(related)


@pytest.fixture(scope="module")
def study(small_table, sampled) -> Study:
    table = related(small_table)
    fitted = fit_table(table, sampling=SHORT)
    return Study(table, fitted, fitted.spec, "both", 0.95, 1, FEW, nulls=None, null_draws=0)


def test_related_words_check_has_independent_interval_without_alarm(study):
    check, answer = CHECKER.run(study), verdict(study.fitted)
    assert answer.upper - answer.lower > 1.2 * (check.numbers["independent_ub"] - check.numbers["independent_lb"])
    assert says(check.text, "effective number 'men' independent draws")
    assert "explain" not in check.text
    assert not check.figures  # no vectors
    assert not check.alarm


def test_related_words_check_omits_interval_for_independent_words(study, small_table):
    check = CHECKER.run(replace(study, table=small_table))
    assert "independent_lb" not in check.numbers
    assert "effective number" not in check.text


def test_verdict_states_weight_of_related_words(study):
    answer = verdict(study.fitted)
    assert "related words get less weight" in answer.text
    assert "related words" not in replace(answer, related=False).text
    assert np.isfinite(answer.mean)
