"""A report counts words of a sub-topic as fewer; independence is a row of its checks."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_bias import AssociationTable
from bayes_bias.analyses.report.check import Study
from bayes_bias.analyses.report.check_clusters import CHECKER
from bayes_bias.fitting.fit import fit_table
from bayes_bias.posterior.verdict import COUNTED, verdict
from tests.helpers import FEW, SHORT, says


def related(table: AssociationTable) -> AssociationTable:
    """Each group and class as two sub-topics of words that are almost the same."""
    words = {**table.values.target.to_series().to_dict(), **table.values.attribute.to_series().to_dict()}
    clusters = {word: str(int(word.split()[1]) % 2) for word in words}
    return table.with_related_words(clusters, dict.fromkeys((*table.groups, *table.associated_classes), 0.9))


@pytest.fixture(scope="module")
def study(small_table, sampled) -> Study:
    table = related(small_table)
    fitted = fit_table(table, sampling=SHORT)
    return Study(table, fitted, fitted.spec, "both", 0.95, 1, FEW, nulls=None, null_draws=0)


def test_independence_is_a_check_without_verdict(study):
    check, answer = CHECKER.run(study), verdict(study.fitted)
    assert answer.upper - answer.lower > 1.2 * (check.numbers["independent_ub"] - check.numbers["independent_lb"])
    assert says(check.text, "men 0 men 1 sub-topics all there are")
    assert "explain" not in check.text
    assert '"men 1"' in check.listing
    assert not check.figures  # no vectors
    assert not check.alarm


def test_independent_words_say_nothing_of_sub_topics(study, small_table):
    check = CHECKER.run(replace(study, table=small_table))
    assert "independent_lb" not in check.numbers
    assert "sub-topics" not in check.text


def test_verdict_says_related_words_count_as_fewer(study):
    answer = verdict(study.fitted)
    assert COUNTED in answer.text
    assert COUNTED not in replace(answer, related=False).text
    assert np.isfinite(answer.mean)
