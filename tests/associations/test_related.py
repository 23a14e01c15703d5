"""How words vary together, and how much they are expected to prefer one class, as vectors show it."""

from dataclasses import replace

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.analyses.sweep.cells import VectorCell
from bayes_bias.associations.cosines import cosines_from_matrix
from bayes_bias.associations.related import (
    MOST,
    CategoryWords,
    GeneralWords,
    distance_apart,
    eigenvalues,
    general_words_of,
    preference_variance,
    related_words_of,
    spiked_variance,
)
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.errors import BayesBiasError, EmbeddingError, TableError
from bayes_bias.table.clusters import clusters_of
from bayes_bias.table.combine_tables import pair
from tests.helpers import containing, numbered, random_vectors, refused

DIMENSIONS = 50


@pytest.fixture(scope="module")
def general() -> GeneralWords:
    return GeneralWords.of(random_vectors(1, numbered("v", 1_000), DIMENSIONS))


def category_words(general: GeneralWords, vectors: np.ndarray) -> CategoryWords:
    rows = general.rows(list(vectors))
    return CategoryWords(rows, general.profiles(rows))


def around(centres: int, words: int, spread: float, seed: int = 2) -> np.ndarray:
    """Vectors of several words around each centre."""
    rng = np.random.default_rng(seed)
    means = np.repeat(rng.normal(size=(centres, DIMENSIONS)), words, axis=0)
    return means + spread * rng.normal(size=(centres * words, DIMENSIONS))


@pytest.mark.parametrize("words", [1_000, 30])  # more than dimensions, and fewer, as of many replicates
def test_profiles_products_match_cosines_with_general_words(general, words):
    general = GeneralWords("", "", general.words[:words], general.vectors[:words])
    rows = general.rows(list(around(3, 2, 0.5)))
    cosines = rows @ (general.vectors - general.vectors.mean(axis=0)).T
    profiles = general.profiles(rows)
    np.testing.assert_allclose(profiles @ profiles.T, cosines @ cosines.T / words, atol=1e-12)
    assert profiles.shape[1] <= min(words, DIMENSIONS)


def test_general_words_variance_and_directions_match_definitions(general):
    """By the definitions: mean square of centred cosines, and a ratio of sums over eigenvalues."""
    centred = general.vectors - general.vectors.mean(axis=0)
    cosines = centred @ centred.T
    n = len(cosines)
    expected = (cosines**2).mean() - (np.trace(cosines) / n) ** 2 / n
    assert general.variance == pytest.approx(expected, rel=1e-9)
    values = np.linalg.eigvalsh(cosines)
    assert general.directions == pytest.approx((values**2).sum() ** 2 / (values**4).sum(), rel=1e-9)
    # Independent normal vectors vary in all directions alike, but for what 1,000 words show by chance.
    assert general.directions == pytest.approx(DIMENSIONS, rel=0.2)
    assert general.variance == pytest.approx(1 / DIMENSIONS, rel=0.05)


def test_preference_variance_matches_simulated_random_words(general):
    """General words that were not used for the expectation."""
    rng = np.random.default_rng(5)
    classes = [category_words(general, rng.normal(size=(8, DIMENSIONS))) for _ in range(2)]
    expected = preference_variance(classes, general)
    others = general.rows(list(rng.normal(size=(20_000, DIMENSIONS))))
    preferences = others @ (classes[0].rows.mean(axis=0) - classes[1].rows.mean(axis=0)) / 2
    assert preferences.var() == pytest.approx(expected, rel=0.1)
    variances = []
    for vectors in rng.normal(size=(200, 8, DIMENSIONS)):
        variances.append(category_words(general, vectors).expected_variance(expected, general))
    assert np.mean(variances) == pytest.approx(expected, rel=0.03)
    assert category_words(general, around(1, 8, 0.3)).expected_variance(expected, general) < 0.3 * expected


def test_spiked_variance_matches_simulated_spike():
    """Simulated: one direction of 200 varies 30 times as much, and there are 100 vectors."""
    rng = np.random.default_rng(3)
    n, d, spike = 100, 200, 30.0
    scale = np.append(np.sqrt(spike), np.ones(d - 1))
    ratios = {}
    for name, factor in (("random", np.ones(d)), ("spiked", scale)):
        lists = rng.normal(size=(200, n, d)) * factor
        values = eigenvalues(lists @ lists.swapaxes(1, 2))
        # Relative to what the other directions have.
        ratios[name] = float((values[:, 0] / values[:, 1:].mean(axis=1)).mean())
    assert spiked_variance(ratios["spiked"], ratios["random"]) == pytest.approx(spike * n / d, rel=0.15)


def test_inflation_is_large_only_for_clustered_words(general):
    found = [category_words(general, around(8, 1, 0.0, seed=seed)).inflation(general, np.inf) for seed in range(100)]
    assert np.mean(found) < 1.1
    assert category_words(general, around(2, 4, 0.4)).inflation(general, np.inf) > 2.5


def test_inflation_is_limited_by_distance_between_groups(general):
    first, second = around(2, 4, 0.4), around(2, 4, 0.4) + 0.05
    pair = [category_words(general, first), category_words(general, second)]
    apart = distance_apart(pair)
    assert pair[0].inflation(general, apart) == pytest.approx(max(1.0, 1.25 * apart), rel=1e-5)
    assert distance_apart(pair[:1]) == np.inf


def test_inflation_is_smaller_for_shared_sub_topics(general):
    """Two centres in both groups cancel in the difference; centres of its own do not."""
    shift = np.random.default_rng(7).normal(size=DIMENSIONS)
    own = around(2, 8, 0.3)
    same, others = category_words(general, own + shift), category_words(general, around(2, 8, 0.3, seed=9) + shift)
    group = category_words(general, own)
    alone = group.inflation(general, np.inf)
    assert alone > 4
    assert group.inflation(general, np.inf, [others]) > 0.8 * alone
    assert group.inflation(general, np.inf, [same]) < 0.5 * alone
    halfway = (group.inflation(general, np.inf, [others]) + group.inflation(general, np.inf, [same])) / 2
    assert group.inflation(general, np.inf, [same, others]) == pytest.approx(halfway, rel=1e-5)


def test_inflation_is_unchanged_for_unequally_shared_sub_topics(general):
    """Seven words of the first centre and one of the second, against one and seven: nothing cancels."""
    words = around(2, 8, 0.3)
    first, second = words[[0, 1, 2, 3, 4, 5, 6, 8]], words[[7, 9, 10, 11, 12, 13, 14, 15]]
    group, compared = category_words(general, first), category_words(general, second)
    assert group.inflation(general, np.inf, [compared]) == pytest.approx(group.inflation(general, np.inf), rel=0.05)


def test_inflation_is_one_for_two_words(general):
    assert category_words(general, around(1, 2, 0.1)).inflation(general, np.inf) == 1


def test_inflation_ignores_order_of_words(general):
    vectors = around(2, 4, 0.5)
    category = category_words(general, vectors).inflation(general, np.inf)
    assert category_words(general, vectors[::-1]).inflation(general, np.inf) == category


def test_cosines_reduces_effective_number_of_words_by_default():
    table = bb.cosines("weat6", "googlenews-demo", ())
    plain = bb.cosines("weat6", "googlenews-demo", (), sub_topics="independent")
    found, independent = table.related_words, plain.related_words
    assert found.classes["family"].effective < 6
    assert not independent.reduced
    # What vectors tell of preferences does not depend on it.
    assert found.categories.keys() == independent.categories.keys()
    for category, related in found.categories.items():
        assert related.preference_sd == independent.categories[category].preference_sd
    assert (table.provenance["sub_topics"], plain.provenance["sub_topics"]) == ("from vectors", "independent")
    assert containing(table.notices, "family", "effective number")
    np.testing.assert_array_equal(table.values, plain.values)


def test_related_words_ends_split_family_by_topic():
    family = bb.cosines("weat6", "googlenews-demo", ()).related_words.classes["family"]
    upper, lower = family.ends
    assert set(upper) | set(lower) == set(family.words)
    assert {"parents", "children"} <= set(upper)
    assert {"marriage", "wedding"} <= set(lower)


def with_topics(sub_topics: str) -> bb.WordList:
    by_class = {"career": {"pay": ("salary",), "firm": ("business", "corporation")}}
    return replace(bb.load_wordlist("weat6"), topics=by_class).with_sub_topics(sub_topics)


def test_sub_topics_argument_takes_precedence_over_list():
    for how in ("independent", "exhaustive"):
        words = with_topics(how)
        said = bb.cosines(words, "googlenews-demo", ())
        found = bb.cosines(words, "googlenews-demo", (), sub_topics="from vectors")
        assert said.provenance["sub_topics"] == how
        assert found.related_words.reduced
        assert found.provenance["wordlist_sha256"] == with_topics("from vectors").sha256


def test_cosines_warns_about_unused_sub_topics_of_list():
    def is_noted(table: bb.AssociationTable) -> bool:
        return bool(containing(table.notices, "the sub-topics of the list are not used"))

    assert is_noted(bb.cosines(with_topics("from vectors"), "googlenews-demo", ()))
    assert not is_noted(bb.cosines(with_topics("independent"), "googlenews-demo", ()))
    assert not is_noted(bb.cosines("weat6", "googlenews-demo", ()))


def test_cosines_from_matrix_keeps_named_sub_topics():
    words = with_topics("from vectors")
    matrix = bb.cosines(words, "googlenews-demo", (), sub_topics="independent").values.to_pandas()
    table = cosines_from_matrix(matrix, words, ())
    assert table.labels == ("attribute_topic",)
    assert not table.has_related_words


def test_cosines_keeps_pairs_and_relates_unpaired_words():
    weat = bb.load_wordlist("weat6")
    paired = replace(weat, pairs=tuple(zip(weat.classes["career"][:4], weat.classes["family"][:4], strict=True)))
    found, alone = bb.cosines(paired, "googlenews-demo", ()), bb.cosines(weat, "googlenews-demo", ())
    assert set(alone.related_words.classes) == {"career", "family"}
    assert found.related_words.groups.keys() == alone.related_words.groups.keys()
    assert (found.related_words.classes, found.labels) == ({}, ("attribute_pair",))
    assert "attributes are paired" in found.notices[-1]
    assert clusters_of(found, "attribute").kinds == ("pair",)


def few_words(**vectors: np.ndarray) -> dict[str, np.ndarray]:
    return random_vectors(1, bb.load_wordlist("weat6").words, 20) | vectors


def test_related_words_require_500_general_words():
    for more in (0, 499):
        general = {f"word{k:03d}": np.random.default_rng(100 + k).normal(size=20) for k in range(more)}
        table = bb.cosines("weat6", few_words(**general), ())
        assert not table.has_related_words
        assert table.provenance["sub_topics"] == "independent"
        assert containing(table.notices, "treated as independent", f" {more} general words")
        with refused(EmbeddingError, f"sub_topics {more} 500 words 'independent'"):
            bb.cosines("weat6", few_words(**general), (), sub_topics="from vectors")
    assert "500 are required" in bb.cosines("weat6", few_words(), ()).notices[-1]


def test_general_words_omit_names():
    names = {f"Name{chr(97 + k % 26)}{k}": np.random.default_rng(k).normal(size=20) for k in range(2_500)}
    with refused(EmbeddingError, "sub_topics 0 general 500"):
        bb.cosines("weat6", few_words(**names), (), sub_topics="from vectors")


def test_related_words_raise_for_identical_general_vectors():
    same = dict.fromkeys(numbered("word", 600), np.ones(20))
    with refused(EmbeddingError, "sub_topics one different vector 'independent'"):
        bb.cosines("weat6", few_words(**same), (), sub_topics="from vectors")


def test_cosines_raises_for_invalid_sub_topics_and_long_groups():
    with refused(BayesBiasError, "sub_topics 'vectors' 'from vectors'"):
        bb.cosines("weat6", "googlenews-demo", (), sub_topics="vectors")
    many = random_vectors(1, numbered("w", MOST + 850), 5)
    words = list(many)
    parts = {"a=c": words[: MOST + 1], "b=d": words[-8:-4], "c": words[-4:-2], "d": words[-2:]}
    with refused(EmbeddingError, "sub_topics 'a' 1,001 1000 'independent'"):
        bb.cosines(parts, many, (), sub_topics="from vectors")


def test_long_lists_are_independent_in_cosines_nulls_and_sweeps(monkeypatch):
    monkeypatch.setattr("bayes_bias.associations.related.MOST", 4)
    embedding, weat6 = bb.open_embedding("googlenews-demo"), bb.load_wordlist("weat6")
    cell = VectorCell("cell", weat6, embedding, False, vocabulary=general_words_of(embedding))
    for measured in (bb.cosines(weat6, embedding, ()), NullDesign.of(weat6, embedding).draw(1, 0), cell.table()):
        assert not measured.has_related_words
        assert containing(measured.notices, "treated as independent", "at most 4")


def test_cosines_limits_sentences_of_encoder_for_related_words():
    asked: list[str] = []

    def encoder(sentences):
        asked.extend(sentences)
        return [[text.count(letter) + 0.1 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in sentences]

    table = bb.cosines("weat6", encoder, (), templates="noun-10", sub_topics="from vectors")
    assert table.provenance["sub_topics"] == "from vectors"
    assert len(asked) < 10 * 32 + 900 + 10 * len(table.origin.embedding.pool())


def test_pair_keeps_related_words_notice_of_first_table():
    vectors = bb.open_embedding("googlenews-demo").all()
    direction = vectors["he"] - vectors["she"]
    direction /= np.linalg.norm(direction)
    after = {word: vector - 0.5 * (vector @ direction) * direction for word, vector in vectors.items()}
    alone, after_alone = bb.cosines("weat6", vectors, ()), bb.cosines("weat6", after, ())
    expected = containing(alone.notices, "effective number")
    assert expected != containing(after_alone.notices, "effective number")
    first, second = pair(alone, after_alone)
    assert containing(first.notices, "effective number") == expected
    assert not containing(second.notices, "effective number")


def test_plot_related_words_has_similarities_and_title():
    table = bb.cosines("weat6", "googlenews-demo", ())
    ax = bb.plots.plot_related_words(table, "attribute")
    words = [label.get_text() for label in ax.get_yticklabels()]
    similarity = ax.images[0].get_array()
    titles = [ax.get_title(loc="left"), bb.plots.plot_related_words(table, name="WEAT 6").get_title(loc="left")]
    assert titles == ["weat6: related attributes", "WEAT 6: related targets"]
    i, j = words.index("parents"), words.index("children")
    assert similarity[i, j] == pytest.approx(table.vectors["parents"] @ table.vectors["children"])
    with refused(TableError, "side targets 'weat6'"):
        bb.plots.plot_related_words(bb.cosines("weat6", "googlenews-demo", (), sub_topics="independent"), "target")


def test_cosines_inflation_and_directions_match_vector_functions():
    """The same numbers from the functions on vectors, and rounded to six digits."""
    embedding = bb.open_embedding("googlenews-demo")
    table = bb.cosines("weat7", embedding, ())
    general = general_words_of(embedding).without(table.origin.wordlist)
    assert related_words_of(table, general)["arts"].inflation == table.related_words.groups["arts"].inflation
    assert f"{table.related_words.groups['arts'].directions:.6g}" == f"{general.directions:.6g}"
