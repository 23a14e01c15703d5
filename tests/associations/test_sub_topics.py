"""Sub-topics that a list does not name, found in the vectors."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

import bayes_bias as bb
from bayes_bias.associations.cosines import cosines_from_matrix
from bayes_bias.associations.lists import measure_lists, related_table
from bayes_bias.associations.sub_topics import MOST, Vocabulary, _silhouette
from bayes_bias.errors import BayesBiasError, EmbeddingError, TableError, WordListError
from bayes_bias.table.clusters import clusters_of
from tests.helpers import refused


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    rng = np.random.default_rng(1)
    return Vocabulary.of({f"v{i}": vector for i, vector in enumerate(rng.normal(size=(400, 50)))})


def around(centres: int, each: int, spread: float, seed: int = 2) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [centre + spread * rng.normal(size=50) for centre in rng.normal(size=(centres, 50)) for _ in range(each)]


def test_words_around_two_centres_are_two_clusters_that_count_as_two_or_more(vocabulary):
    topics = vocabulary.sub_topics([f"w{i}" for i in range(8)], around(2, 4, spread=0.5))
    first, second = topics.cluster[:4], topics.cluster[4:]
    assert len(set(first)) == len(set(second)) == 1
    assert first[0] != second[0]
    # Two words of a cluster have the cosine 1 / (1 + spread ** 2), words of different ones about zero.
    assert topics.share == pytest.approx(1 / 1.25, abs=0.08)
    assert topics.effective == pytest.approx(64 / (8 * (1 - topics.share) + 32 * topics.share))
    assert 2 < topics.effective < 3


def test_random_words_are_independent_in_nineteen_of_twenty_lists(vocabulary):
    lists = (around(8, 1, spread=0.0, seed=seed) for seed in range(100))
    found = [vocabulary.sub_topics([f"w{i}" for i in range(8)], vectors).share > 0 for vectors in lists]
    assert np.mean(found) <= 0.12


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


def test_a_table_from_vectors_says_which_words_belong_together():
    table = bb.cosines("googlenews-demo", "weat6", (), sub_topics="from vectors")
    plain = bb.cosines("googlenews-demo", "weat6", ())
    assert table.has_related_words
    assert not plain.has_related_words
    assert table.provenance["sub_topics"] == "from vectors"
    assert any("family" in notice and "count as" in notice for notice in table.notices)
    np.testing.assert_array_equal(table.values, plain.values)


def with_topics(sub_topics: str) -> bb.WordList:
    by_class = {"career": {"pay": ("salary",), "firm": ("business", "corporation")}}
    return replace(bb.load_wordlist("weat6"), topics=by_class).with_sub_topics(sub_topics)


def test_sub_topics_that_are_pasted_into_a_list_are_those_that_the_vectors_show():
    found = bb.cosines("googlenews-demo", "weat6", (), sub_topics="from vectors").sub_topics
    weat6 = bb.load_wordlist("weat6")
    parts = {"groups": weat6.groups, "classes": weat6.classes, "stereotypes": weat6.stereotypes}
    pasted = bb.wordlist(**parts, **tomllib.loads(found.toml))
    named = {home: list(topics.values()) for home, topics in pasted.topics.items()}
    assert named == {home: related.clusters for home, related in found.homes.items()}
    assert set(named) == {*weat6.groups, *weat6.classes}
    assert pasted.sub_topics == "named"


def test_the_figure_frames_each_sub_topic_and_orders_words_by_them():
    table = bb.cosines("googlenews-demo", "weat6", (), sub_topics="from vectors")
    ax = bb.plots.plot_sub_topics(table, "attribute")
    found = table.sub_topics.classes
    frames = [(patch.get_x(), patch.get_width()) for patch in ax.patches]
    words = [label.get_text() for label in ax.get_yticklabels()]
    shown = [tuple(words[round(start + 0.5) : round(start + 0.5 + width)]) for start, width in frames]
    assert shown == [words for related in found.values() for words in related.clusters]
    similarity = ax.images[0].get_array()
    i, j = words.index("parents"), words.index("children")
    assert similarity[i, j] == pytest.approx(table.vectors["parents"] @ table.vectors["children"])


def test_sub_topics_are_of_a_table_that_was_asked_for_them():
    plain = bb.cosines("googlenews-demo", "weat6", ())
    for ask in (lambda table: table.sub_topics, bb.plots.plot_sub_topics):
        with refused(TableError, "table 'weat6' sub_topics='from"):
            ask(plain)
    alone = plain.with_related_words({}, {})
    assert alone.sub_topics.text == "No sub-topics can be shown."
    with refused(TableError, "side targets 'weat6'"):
        bb.plots.plot_sub_topics(alone)


def test_exhaustive_sub_topics_leave_words_independent():
    for how, labels in {"named": ("attribute_topic",), "exhaustive": (), "none": ()}.items():
        assert bb.cosines("googlenews-demo", with_topics(how), ()).labels == labels


def test_what_a_list_says_of_its_sub_topics_gives_way_to_the_argument():
    words = with_topics("exhaustive")
    named, found = (bb.cosines("googlenews-demo", words, (), sub_topics=how) for how in ("named", "from vectors"))
    assert named.labels == ("attribute_topic",)
    assert found.has_related_words
    assert bb.cosines("googlenews-demo", words.with_sub_topics("from vectors"), ()).sha256 == found.sha256
    assert named.provenance["wordlist_sha256"] == with_topics("named").sha256


def test_only_lists_whose_sub_topics_may_be_a_sample_get_a_second_interval():
    made = {
        how: related_table(*measure_lists(with_topics(how), "googlenews-demo", ()))
        for how in ("named", "none", "exhaustive")
    }
    assert [how for how, table in made.items() if table is not None] == ["named", "none"]


def test_paired_words_keep_their_pairs_and_the_other_side_has_its_sub_topics():
    weat = bb.load_wordlist("weat7")
    he, she = (weat.classes[name] for name in ("male terms", "female terms"))
    paired = replace(weat, pairs=tuple(zip(he[:4], she[:4], strict=True)))
    found, alone = (bb.cosines("googlenews-demo", words, (), sub_topics="from vectors") for words in (paired, weat))
    assert set(alone.sub_topics.classes) == {"male terms", "female terms"}
    assert found.sub_topics.groups.keys() == alone.sub_topics.groups.keys()
    assert (found.sub_topics.classes, found.labels) == ({}, ("attribute_pair",))
    assert "attributes are paired" in found.notices[-1]
    clusters = clusters_of(found, "attribute")
    assert (clusters.kinds, clusters.share.any()) == (("pair",), False)


def test_sub_topics_from_vectors_need_vectors():
    words = with_topics("from vectors")
    matrix = bb.cosines("googlenews-demo", words, (), sub_topics="none").values.to_pandas()
    with refused(WordListError, "sub_topics 'weat6' vectors 'matrix' 'named'"):
        cosines_from_matrix(matrix, words, ())
    with refused(WordListError, "sub_topics 'weat6' log probabilities"):
        bb.log_probabilities(lambda clozes: [0.0 for _ in clozes], words, ())
    with refused(WordListError, "sub_topics 'weat6' sweep"):
        bb.sweep(words)


def test_what_cannot_be_related_is_refused():
    with refused(BayesBiasError, "sub_topics 'vectors' 'from vectors'"):
        bb.cosines("googlenews-demo", "weat6", (), sub_topics="vectors")
    tiny = {word: np.eye(3)[i % 3] + 0.1 * i for i, word in enumerate(bb.load_wordlist("weat6").targets)}
    tiny |= {word: np.ones(3) + 0.1 * i for i, word in enumerate(bb.load_wordlist("weat6").attributes)}
    with refused(EmbeddingError, "sub_topics 200 words"):
        bb.cosines(tiny, "weat6", (), sub_topics="from vectors")
    many = {f"w{i}": vector for i, vector in enumerate(np.random.default_rng(1).normal(size=(MOST + 250, 5)))}
    words = list(many)
    parts = {"a=c": words[: MOST + 1], "b=d": words[-8:-4], "c": words[-4:-2], "d": words[-2:]}
    with refused(EmbeddingError, "sub_topics 'a' 501 500 'none'"):
        bb.cosines(many, parts, (), sub_topics="from vectors")
    with refused(BayesBiasError, "'crossed-long' sub_topics"):
        bb.fit(bb.cosines("googlenews-demo", "weat6", (), sub_topics="from vectors"), "crossed-long")


def test_named_sub_topics_take_their_correlation_from_the_vectors():
    found = bb.cosines("googlenews-demo", "weat6", (), sub_topics="from vectors")
    weat6 = bb.load_wordlist("weat6")
    parts = {"groups": weat6.groups, "classes": weat6.classes, "stereotypes": weat6.stereotypes}
    pasted = bb.wordlist(**parts, **tomllib.loads(found.sub_topics.toml), sub_topics="named with vectors")
    table = bb.cosines("googlenews-demo", pasted, ())
    for home, related in table.sub_topics.homes.items():
        assert related.clusters == found.sub_topics.homes[home].clusters
        assert related.share == pytest.approx(found.sub_topics.homes[home].share, abs=1e-12)
    assert not table.labels
    assert table.provenance["sub_topics"] == "named with vectors"
    whole = replace(pasted, topics={"family": {"all": weat6.classes["family"]}})
    assert not bb.cosines("googlenews-demo", whole, ()).has_related_words
    with refused(WordListError, "sub_topics 'weat6' [topics] 'from"):
        bb.cosines("googlenews-demo", "weat6", (), sub_topics="named with vectors")
