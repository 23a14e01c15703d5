"""Words that come in clusters are found, words that do not are not, and what a word or a cluster does is exact."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bayes_bias import AssociationTable, cosines, load_wordlist
from bayes_bias.checks.clusters import SIDES, bias_range, clustering, leave_out
from bayes_bias.errors import TableError
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.statistics import table_means
from tests.helpers import random_table, refused

TARGETS, ATTRIBUTES = {"men": 8, "women": 8}, {"work": 8, "home": 8}


def independent(seed: int) -> AssociationTable:
    return random_table(seed, targets=TARGETS, attributes=ATTRIBUTES)


def in_halves(seed: int) -> AssociationTable:
    """The second half of each class is close to other targets than the first, and to men more than to women."""
    table = independent(seed)
    y = table.values.to_numpy().copy()
    second = np.arange(16) % 8 >= 4
    pattern = 0.1 * np.random.default_rng(seed).standard_normal((16, 1))
    preference = 0.06 * np.where(table.group_index == 0, 1, -1)[:, None]
    y[:, second] += pattern + preference
    return replace(table, values=table.values.copy(data=y))


def observed_bias(table: AssociationTable) -> float:
    means = table_means(table)
    return float((means.block_mean * bias_weights(means)).sum())


@pytest.mark.parametrize("side", SIDES)
def test_clustering_seldom_marks_independent_words_as_clustered(side):
    found = [clustering(independent(seed), side, shuffles=99).is_clustered for seed in range(40)]
    assert sum(found) <= 6  # 2 expected; more than 6 once in 300 times


def test_clustering_finds_two_halves_of_each_class():
    found = clustering(in_halves(1), "attribute")
    halves = found.words.groupby(["category", "cluster"], sort=False).word.agg(list)
    assert [len(words) for words in halves] == [4, 4, 4, 4]
    assert halves["work"].iloc[1] == ["work 4", "work 5", "work 6", "work 7"]
    assert found.is_clustered
    assert found.icc > 0.5 > found.limit


def test_clustering_is_reproducible_with_same_seed():
    first, second, third = (clustering(in_halves(1), "target", seed=seed) for seed in (1, 1, 2))
    assert (first.shuffled == second.shuffled).all()
    assert first.icc == third.icc


def test_clustering_icc_matches_balanced_anova():
    """Donner (1986): with clusters of n words, (MSB - MSW) / (MSB + (n - 1) MSW)."""
    words = clustering(in_halves(3), "attribute").words
    n, deviations = 4, words.score - words.groupby("category").score.transform("mean")
    cluster = deviations.groupby([words.category, words.cluster]).transform("mean")
    between, within = (cluster**2).sum() / 2, ((deviations - cluster) ** 2).sum() / 12
    icc = (between - within) / (between + (n - 1) * within)
    assert clustering(in_halves(3), "attribute").icc == pytest.approx(icc)


def test_clustering_uses_named_topics_instead_of_clusters():
    weat = load_wordlist("weat7")
    topics = {"math": {"sums": ("addition", "numbers", "computation"), "fields": ("algebra", "geometry")}}
    words = clustering(cosines(replace(weat, topics=topics), "googlenews-demo", controls=()), "target").words
    math, arts = words[words.category == "math"], words[words.category == "arts"]
    assert set(math.cluster) == {"sums", "fields", ""}
    assert math.named.all()
    assert not arts.named.any()
    assert arts.cluster.nunique() == 2


def test_clustering_returns_nan_for_few_words():
    table = random_table(targets={"men": 3, "women": 2}, attributes={"work": 3, "home": 3})
    found = clustering(table, "target")
    assert np.isnan([found.icc, found.limit, found.p_value]).all()
    assert not found.is_clustered
    assert set(found.words.cluster) == {""}


def test_clustering_raises_for_unknown_side():
    with refused(TableError, "side 'targets' target attribute"):
        clustering(independent(0), "targets")


def test_clustering_ignores_controls():
    with_controls = clustering(cosines("weat7", "googlenews-demo"), "attribute")
    without = clustering(cosines("weat7", "googlenews-demo", controls=()), "attribute")
    pd.testing.assert_frame_equal(with_controls.words, without.words)


def test_clustering_and_leave_out_accept_missing_values():
    table = in_halves(1)
    y = table.values.copy()
    y[0, 0] = np.nan
    found = clustering(replace(table, values=y), "attribute")
    assert found.icc == pytest.approx(clustering(table, "attribute").icc, abs=0.1)
    assert leave_out(replace(table, values=y)).bias.notna().all()


def test_leave_out_equals_bias_of_table_without_word():
    table = in_halves(2)
    without = leave_out(table).set_index("left_out")
    for word, dim in (("men 3", "target"), ("home 11", "attribute")):
        rest = replace(table, values=table.values.drop_sel({dim: word}))
        assert without.bias[word] == pytest.approx(observed_bias(rest))
        assert without.change[word] == pytest.approx(observed_bias(rest) - observed_bias(table))


def test_leave_out_equals_bias_of_table_without_cluster():
    table = in_halves(2)
    without = leave_out(table)
    clusters = without[(without.what == "cluster") & (without.category == "work")]
    half = clusters[clusters.left_out == "work 4, work 5 and 2 more"].iloc[0]
    rest = replace(table, values=table.values.drop_sel(attribute=[f"work {i}" for i in range(4, 8)]))
    assert half.words == 4
    assert half.bias == pytest.approx(observed_bias(rest))


def test_leave_out_omits_each_word_once():
    table = random_table(targets=TARGETS, attributes={**ATTRIBUTES, "neutral": 20})
    without = leave_out(table)
    assert without[without.what == "word"].left_out.is_unique
    assert len(without[without.what == "word"]) == 32
    low, high = bias_range(without, "word")
    assert low < observed_bias(table) < high


def test_leave_out_returns_nan_for_topic_of_whole_group():
    weat = load_wordlist("weat7")
    whole = replace(weat, topics={"math": {"everything": weat.groups["math"]}})
    without = leave_out(cosines(whole, "googlenews-demo", controls=()))
    assert np.isnan(without[without.left_out == "everything"].bias.item())
    assert np.isfinite(bias_range(without, "cluster")).all()
