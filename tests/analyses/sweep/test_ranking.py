"""The sentence that ranks versions goes no further than their paired difference."""

import pandas as pd
import pytest

from bayes_bias.analyses.sweep.ranking import VersionRanking
from tests.helpers import says


def ranking(lead: float, low: float, high: float, surely: float) -> VersionRanking:
    """Two versions; how much more 'soft' leaves than 'hard', as a share of the bias."""
    names = ["soft", "hard"]
    table = pd.DataFrame({"mean": [0.5, 0.5 + lead], "eti95_lb": 0.1, "eti95_ub": 0.9, "rank": [2.0, 1.0]}, names)
    better = pd.DataFrame([[float("nan"), 1 - surely], [surely, float("nan")]], names, names)
    paired = pd.DataFrame({"mean": [lead], "eti95_lb": [low], "eti95_ub": [high]}, ["soft"])
    cells = pd.MultiIndex.from_tuples([("glove", "weat6")], names=["embedding", "list"])
    return VersionRanking(table, better, paired, cells, of=3)


@pytest.mark.parametrize(
    ("interval", "surely", "words"),
    [
        ((0.05, 0.35), 0.99, "'hard' leaves least 'soft' 20.0 points +5.0 +35.0 .990"),
        ((-0.05, 0.45), 0.93, "'hard' 'soft' open 20.0 points −5.0 +45.0 .930"),
    ],
)
def test_version_ranking_leader_has_paired_interval_above_zero(
    interval: tuple[float, float], surely: float, words: str
) -> None:
    text = ranking(0.2, *interval, surely).text
    assert says(text, f"'hard' 70% 'soft' 50% one of three cells {words}")
    assert ("leaves least:" in text) == (interval[0] > 0)


def test_version_ranking_names_no_leader_below_one_point() -> None:
    text = ranking(0.004, 0.002, 0.006, 0.999).text
    assert says(text, "'hard' 'soft' practically same .4 points")
    assert "least" not in text
    assert ".999" not in text
