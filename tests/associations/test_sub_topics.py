"""Sub-topics that a list does not name, found in the vectors."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest
from bayes_bias.associations.common_sub_topics import share_in_common
from bayes_bias.associations.sub_topics import MOST, Vocabulary, _silhouette, vocabulary_of
from sklearn.metrics import silhouette_score

import bayes_bias as bb
from bayes_bias.analyses.sweep.cells import VectorCell
from bayes_bias.associations.cosines import cosines_from_matrix
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.errors import BayesBiasError, EmbeddingError, TableError
from bayes_bias.table.clusters import clusters_of
from bayes_bias.table.combine_tables import pair
from tests.helpers import refused


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    rng = np.random.default_rng(1)
    return Vocabulary.of({f"v{i}": vector for i, vector in enumerate(rng.normal(size=(400, 50)))})


def around(centres: int, each: int, spread: float, seed: int = 2) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [centre + spread * rng.normal(size=50) for centre in rng.normal(size=(centres, 50)) for _ in range(each)]


def test_two_centres_are_two_clusters(vocabulary):
    topics = vocabulary.sub_topics([f"w{i}" for i in range(8)], around(2, 4, spread=0.5))
    first, second = topics.cluster[:4], topics.cluster[4:]
    assert len(set(first)) == len(set(second)) == 1
    assert first[0] != second[0]
    # Two words of a cluster have the cosine 1 / (1 + spread ** 2), words of different ones about zero.
    assert topics.share == pytest.approx(1 / 1.25, abs=0.08)
    assert topics.effective == pytest.approx(64 / (8 * (1 - topics.share) + 32 * topics.share))
    assert 2 < topics.effective < 3


def test_common_topics_are_the_variance_a_difference_lacks():
    """Of what their sub-topics differ by along a random direction, in closed form."""
    axes, cluster = np.eye(5), np.array([0, 0, 1, 1])
    one = axes[[0, 0, 1, 1]]
    alike, apart = 0.8, 0.5
    turned = alike * one + np.sqrt(1 - alike**2) * axes[[2, 2, 3, 3]]
    other = np.sqrt(1 - apart) * axes[4] + np.sqrt(apart) * turned
    of_one, of_other = one[0] - one[2], other[0] - other[2]
    difference = of_one - of_other
    cancels = 1 - difference @ difference / (of_one @ of_one + of_other @ of_other)
    assert share_in_common(one, other, cluster, cluster) == pytest.approx(cancels)
    assert share_in_common(one, other[::-1], cluster, cluster) == pytest.approx(cancels)
    assert share_in_common(one, other, cluster, np.arange(4)) == 0  # nothing to match


def test_sub_topics_of_both_groups_count_little(vocabulary):
    one, other = around(2, 4, spread=0.5), [vector + 0.2 for vector in around(2, 4, spread=0.5)]
    words = [[f"{group}{i}" for i in range(8)] for group in "gh"]
    vectors = dict(zip(words[0] + words[1], one + other, strict=True))
    alone = [vocabulary.sub_topics(own, [vectors[word] for word in own]) for own in words]
    both = vocabulary.without_common(*alone, vectors)
    for before, after in zip(alone, both, strict=True):
        assert before.effective < 3
        assert after.effective > 7
        assert after.in_common > 0.8


def test_random_words_are_hardly_believed_to_belong_together(vocabulary):
    lists = [around(8, 1, spread=0.0, seed=seed) for seed in range(100)]
    found = [vocabulary.sub_topics([f"w{i}" for i in range(8)], vectors) for vectors in lists]
    assert np.mean([topics.share for topics in found]) < 0.02
    assert np.mean([topics.effective for topics in found]) > 7.7


def test_the_silhouette_is_scikit_learns():
    """Ours is an array expression, since limits take thousands; theirs checks its input each time."""
    points = np.stack(around(3, 4, spread=0.7))
    distance = np.linalg.norm(points[:, None] - points, axis=-1)
    for cluster in (np.arange(12) // 4, np.arange(12) % 5, np.minimum(np.arange(12), 4)):
        assert _silhouette(distance, cluster) == pytest.approx(
            silhouette_score(distance, cluster, metric="precomputed")
        )


def test_too_few_words_are_never_split(vocabulary):
    topics = vocabulary.sub_topics(["a", "b", "c"], around(1, 3, spread=0.1))
    assert topics.share == 0
    assert topics.effective == 3


def test_related_words_count_as_fewer_by_default():
    table = bb.cosines("weat6", "googlenews-demo", ())
    plain = bb.cosines("weat6", "googlenews-demo", (), sub_topics="independent")
    assert table.has_related_words
    assert not plain.has_related_words
    assert (table.provenance["sub_topics"], plain.provenance["sub_topics"]) == ("from vectors", "independent")
    assert any("family" in notice and "count as" in notice for notice in table.notices)
    np.testing.assert_array_equal(table.values, plain.values)


def with_topics(sub_topics: str) -> bb.WordList:
    by_class = {"career": {"pay": ("salary",), "firm": ("business", "corporation")}}
    return replace(bb.load_wordlist("weat6"), topics=by_class).with_sub_topics(sub_topics)


def test_pasted_sub_topics_equal_those_of_vectors():
    found = bb.cosines("weat6", "googlenews-demo", ()).sub_topics
    weat6 = bb.load_wordlist("weat6")
    parts = {"groups": weat6.groups, "classes": weat6.classes, "stereotypes": weat6.stereotypes}
    pasted = bb.wordlist(**parts, **tomllib.loads(found.toml))
    named = {home: list(topics.values()) for home, topics in pasted.topics.items()}
    assert named == {home: related.clusters for home, related in found.homes.items()}
    assert set(named) == {*weat6.groups, *weat6.classes}
    again = bb.cosines(pasted, "googlenews-demo", ())
    for home, related in again.sub_topics.homes.items():
        assert related.clusters == found.homes[home].clusters
        assert related.share > 0


def test_figure_frames_and_orders_sub_topics():
    table = bb.cosines("weat6", "googlenews-demo", ())
    ax = bb.plots.plot_sub_topics(table, "attribute")
    found = table.sub_topics.classes
    frames = [(patch.get_x(), patch.get_width()) for patch in ax.patches]
    words = [label.get_text() for label in ax.get_yticklabels()]
    shown = [tuple(words[round(start + 0.5) : round(start + 0.5 + width)]) for start, width in frames]
    assert shown == [words for related in found.values() for words in related.clusters]
    similarity = ax.images[0].get_array()
    i, j = words.index("parents"), words.index("children")
    assert similarity[i, j] == pytest.approx(table.vectors["parents"] @ table.vectors["children"])


def test_independent_words_show_no_sub_topics():
    plain = bb.cosines("weat6", "googlenews-demo", (), sub_topics="independent")
    for ask in (lambda table: table.sub_topics, bb.plots.plot_sub_topics):
        with refused(TableError, "table 'weat6' sub_topics='from"):
            ask(plain)
    alone = plain.with_related_words({}, {})
    assert alone.sub_topics.text == "No sub-topics can be shown."
    with refused(TableError, "side targets 'weat6'"):
        bb.plots.plot_sub_topics(alone)


def test_the_argument_comes_before_what_a_list_says():
    for how in ("independent", "exhaustive"):
        words = with_topics(how)
        said, found = (bb.cosines(words, "googlenews-demo", (), sub_topics=asked) for asked in (None, "from vectors"))
        assert not said.has_related_words
        assert not said.labels
        assert said.provenance["sub_topics"] == how
        assert found.has_related_words
        assert found.provenance["wordlist_sha256"] == with_topics("from vectors").sha256


def test_named_sub_topics_without_vectors_are_estimated():
    words = with_topics("from vectors")
    matrix = bb.cosines(words, "googlenews-demo", (), sub_topics="independent").values.to_pandas()
    table = cosines_from_matrix(matrix, words, ())
    assert table.labels == ("attribute_topic",)
    assert not table.has_related_words


def test_pairs_stay_and_others_have_sub_topics():
    weat = bb.load_wordlist("weat6")
    career, family = (weat.classes[name] for name in ("career", "family"))
    paired = replace(weat, pairs=tuple(zip(career[:4], family[:4], strict=True)))
    found, alone = (bb.cosines(words, "googlenews-demo", ()) for words in (paired, weat))
    assert set(alone.sub_topics.classes) == {"career", "family"}
    assert found.sub_topics.groups.keys() == alone.sub_topics.groups.keys()
    assert (found.sub_topics.classes, found.labels) == ({}, ("attribute_pair",))
    assert "attributes are paired" in found.notices[-1]
    clusters = clusters_of(found, "attribute")
    assert (clusters.kinds, clusters.share.any()) == (("pair",), False)


def few_words(**vectors: np.ndarray) -> dict[str, np.ndarray]:
    words = [*bb.load_wordlist("weat6").targets, *bb.load_wordlist("weat6").attributes]
    rng = np.random.default_rng(1)
    return {word: rng.normal(size=20) for word in words} | vectors


def test_without_general_words_independent_or_refused():
    for more in (0, 499):
        general = {f"word{k:03d}": np.random.default_rng(100 + k).normal(size=20) for k in range(more)}
        table = bb.cosines("weat6", few_words(**general), ())
        assert not table.has_related_words
        assert table.provenance["sub_topics"] == "independent"
        assert any("independent draws" in notice and f" {more} general words" in notice for notice in table.notices)
        with refused(EmbeddingError, f"sub_topics {more} 500 words 'independent'"):
            bb.cosines("weat6", few_words(**general), (), sub_topics="from vectors")
    assert "500 are needed" in bb.cosines("weat6", few_words(), ()).notices[-1]


def test_names_are_no_general_words():
    names = {f"Name{chr(97 + k % 26)}{k}": np.random.default_rng(k).normal(size=20) for k in range(2_500)}
    with refused(EmbeddingError, "sub_topics 0 general 500"):
        bb.cosines("weat6", few_words(**names), (), sub_topics="from vectors")


def test_vectors_that_are_all_one_show_nothing():
    same = {f"word{k:03d}": np.ones(20) for k in range(600)}
    with refused(EmbeddingError, "sub_topics same vector 'independent'"):
        bb.cosines("weat6", few_words(**same), (), sub_topics="from vectors")


def test_a_cluster_of_all_words_says_nothing(vocabulary):
    topics = vocabulary.sub_topics([f"w{i}" for i in range(8)], [np.ones(50) + 1e-9 * k for k in range(8)])
    assert topics.share == 0
    whole = {f"w{i}": "all" for i in range(8)}
    assert vocabulary.named(list(whole), around(2, 4, spread=0.5), whole).share == 0


def test_what_cannot_be_related_is_refused():
    with refused(BayesBiasError, "sub_topics 'vectors' 'from vectors'"):
        bb.cosines("weat6", "googlenews-demo", (), sub_topics="vectors")
    many = {f"w{i}": vector for i, vector in enumerate(np.random.default_rng(1).normal(size=(MOST + 850, 5)))}
    words = list(many)
    parts = {"a=c": words[: MOST + 1], "b=d": words[-8:-4], "c": words[-4:-2], "d": words[-2:]}
    with refused(EmbeddingError, "sub_topics 'a' 501 500 'independent'"):
        bb.cosines(parts, many, (), sub_topics="from vectors")


def test_lists_too_long_count_as_independent_everywhere(monkeypatch):
    monkeypatch.setattr("bayes_bias.associations.sub_topics.MOST", 4)
    embedding, weat6 = bb.open_embedding("googlenews-demo"), bb.load_wordlist("weat6")
    cell = VectorCell("cell", weat6, embedding, False, vocabulary=vocabulary_of(embedding))
    null = NullDesign.of(weat6, embedding)
    for measured in (bb.cosines(weat6, embedding, ()), null.draw(1, 0), cell.table()):
        assert not measured.has_related_words
        assert any("independent draws" in notice and "4 at most" in notice for notice in measured.notices)


def test_an_encoder_reads_general_words_in_sentences():
    asked: list[str] = []

    def encoder(sentences):
        asked.extend(sentences)
        return [[text.count(letter) + 0.1 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in sentences]

    table = bb.cosines("weat6", encoder, (), templates="noun-10", sub_topics="from vectors")
    assert table.provenance["sub_topics"] == "from vectors"
    assert len(asked) < 10 * 32 + 900 + 10 * len(table.origin.embedding.pool())


def test_a_comparison_has_sub_topics_of_before():
    vectors = bb.open_embedding("googlenews-demo").all()
    direction = vectors["he"] - vectors["she"]
    direction /= np.linalg.norm(direction)
    after = {word: vector - 0.5 * (vector @ direction) * direction for word, vector in vectors.items()}
    tables = [bb.cosines("weat6", each, ()) for each in (vectors, after)]
    told = [[notice for notice in table.notices if "count as" in notice] for table in tables]
    assert told[0] != told[1]
    assert any("cancels" in notice for notice in told[1])
    first, second = pair(*tables)
    assert [notice for notice in first.notices if "count as" in notice] == told[0]
    assert not [notice for notice in second.notices if "count as" in notice]
