"""A report says what its interval would be if the sub-topics that the vectors show were a sample."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_bias import AssociationTable
from bayes_bias.analyses.report.check import Study
from bayes_bias.analyses.report.check_clusters import CHECKER
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.posterior.verdict import RELATED, verdict
from tests.helpers import FEW, says


def related(table: AssociationTable) -> AssociationTable:
    """Each group and class as two sub-topics of words that are almost the same."""
    words = {**table.values.target.to_series().to_dict(), **table.values.attribute.to_series().to_dict()}
    clusters = {word: str(int(word.split()[1]) % 2) for word in words}
    shown = table.with_related_words(clusters, dict.fromkeys((*table.groups, *table.associated_classes), 0.9))
    return replace(shown, notices=(*table.notices, "men: 5 words that count as 2: men 0 | men 1"))


@pytest.fixture(scope="module")
def study(small_table, small_fit) -> Study:
    fitted = Fitted.of(small_fit)
    return Study(
        small_table, fitted, fitted.spec, "both", 0.95, 1, FEW, nulls=None, null_draws=0,
        related=lambda: related(small_table),
    )  # fmt: skip


@pytest.mark.slow
def test_the_second_interval_stands_beside_the_first(study):
    check = CHECKER.run(study)
    first = verdict(study.fitted)
    assert check.numbers["from_vectors_ub"] - check.numbers["from_vectors_lb"] > 1.3 * (first.upper - first.lower)
    assert says(check.text, "men 0 | men 1 sample interval instead of")
    assert says(check.listing, '"men 1"')
    assert not check.figures  # no vectors
    assert says("".join(map(str, CHECKER.methods({"small": check.result}))), "small sub-topics silhouette")


def test_where_the_vectors_show_nothing_nothing_is_said(study, small_table):
    for there_is in (None, small_table):
        check = CHECKER.run(replace(study, related=lambda there_is=there_is: there_is))
        assert "from_vectors_lb" not in check.numbers
        assert "vectors" not in check.text


def test_a_verdict_says_that_related_words_count_as_fewer(study):
    answer = verdict(study.fitted)
    assert RELATED not in answer.text
    assert RELATED in replace(answer, related=True).text
    assert np.isfinite(answer.mean)
