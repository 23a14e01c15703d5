"""SEAT is WEAT with sentences as words; CEAT is a mean of WEATs; what both rest on is said."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import MeasureError
from bayes_bias.measures import ceat, measure_all, seat, weat
from bayes_bias.measures.seat import random_effects_mean
from bayes_bias.table.association_table import AssociationTable, assemble
from tests.helpers import Vectors, refused


@pytest.fixture(scope="module")
def weat7() -> AssociationTable:
    return bb.cosines("weat7", "minilm-demo", controls=())


def _unit(table: AssociationTable) -> Vectors:
    """Rows of length one of each word, one for each sentence."""
    stored = bb.open_embedding("minilm-demo").find([*table.values.target.values, *table.values.attribute.values])
    return {word: rows / np.linalg.norm(rows.astype(float), axis=1, keepdims=True) for word, rows in stored.items()}


def _sentences_as_words(table: AssociationTable) -> AssociationTable:
    """A table of sentences by the textbook: each is a word with a vector of its own."""
    unit = _unit(table)
    categories, vectors = [], []
    for coordinate in ("group", "attribute_class"):
        category_of_sentence, rows = {}, []
        for sentence in range(10):
            for word, category in table.values[coordinate].to_series().items():
                category_of_sentence[f"{word} in {sentence}"] = category
                rows.append(unit[word][sentence])
        categories.append(category_of_sentence)
        vectors.append(np.array(rows))
    return assemble(vectors[0] @ vectors[1].T, *categories, table.stereotypes)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_seat_matches_weat_with_sentences_as_words(weat7, alternative) -> None:
    table = weat7
    found = seat(table, alternative=alternative, seed=3)
    whole = weat(_sentences_as_words(table), alternative=alternative, permutations=99_999, seed=3)
    assert found.value == pytest.approx(whole.value, rel=1e-9)
    assert found.difference == pytest.approx(whole.difference, rel=1e-9)
    assert found.p_value == pytest.approx(whole.p_value, abs=0.002)
    assert found.partitions == 99_999
    assert found.across


@pytest.mark.parametrize(
    ("name", "d", "p"),
    [("weat6", 1.27, 0.00001), ("weat7", 0.38, 0.0077), ("weat9", 0.44, 0.0082), ("gender", 1.83, 0.00001)],
)
def test_seat_matches_independent_script(name, d, p) -> None:
    """Found with numpy alone before there was this function (design notes on replicates, section 1)."""
    found = seat(bb.cosines(name, "minilm-demo", controls=()))
    assert found.value == pytest.approx(d, abs=0.006)
    assert found.p_value == pytest.approx(p, abs=0.001)
    assert found.range[0] < found.value < found.range[1]


def test_seat_compares_within_replicates_for_separate_spaces(weat7) -> None:
    """The mean of scores within replicates is that of the mean table."""
    table = weat7
    assert table.replicates is not None
    seeds = replace(table, replicates=replace(table.replicates, kind="seed"))
    alone, without_vectors = seat(replace(table, vectors=None), permutations=99), seat(seeds, permutations=99)
    assert not alone.across
    assert not without_vectors.across
    assert alone.value == without_vectors.value
    assert alone.difference == pytest.approx(weat(table).difference, rel=1e-6)


def test_seat_word_scores_equal_mean_of_sentences(weat7) -> None:
    table = weat7
    words = seat(table, permutations=99).words
    assert words.index.tolist() == weat(table).words.index.tolist()
    mean = pd.DataFrame({word: rows.mean(axis=0) for word, rows in _unit(table).items()})
    first, second = table.associated_classes
    classes = bb.load_wordlist("weat7").classes
    difference = mean[list(classes[first])].mean(axis=1) - mean[list(classes[second])].mean(axis=1)
    assert words.association["algebra"] == pytest.approx(mean["algebra"] @ difference, abs=1e-9)


def test_seat_p_value_is_exact_for_few_sentences() -> None:
    words = bb.WordList.from_mapping({
        "groups": {"man": ["he", "boy"], "woman": ["she", "girl"]},
        "classes": {"work": ["office", "career"], "home": ["family", "marriage"]},
        "stereotypes": {"man": "work", "woman": "home"},
    })  # fmt: skip
    table = bb.cosines(words, "minilm-demo", controls=())
    assert table.replicates is not None
    assert not seat(table).exact  # 137,846,528,820 partitions of 40 sentences
    kept = {}
    for label in table.replicates.labels[:3]:
        kept[label] = replace(table, values=table.replicates.tables[label], replicates=None)
    found = seat(bb.combine_replicates(kept, "template"))
    assert found.exact
    assert found.partitions == 924


def test_ceat_effect_sizes_match_weat_of_drawn_sentences(weat7) -> None:
    table = weat7
    draws = 200
    found = ceat(table, draws=draws, seed=5)
    unit, rng = _unit(table), np.random.default_rng(5)
    groups = table.values.group.to_series().to_dict()
    classes = table.values.attribute_class.to_series().to_dict()
    target_vectors, attribute_vectors = np.stack([*map(unit.get, groups)]), np.stack([*map(unit.get, classes)])
    target_rows = rng.integers(10, size=(draws, len(groups)))
    attribute_rows = rng.integers(10, size=(draws, len(classes)))
    for k in (0, 7, 199):
        x = target_vectors[np.arange(len(groups)), target_rows[k]]
        y = attribute_vectors[np.arange(len(classes)), attribute_rows[k]]
        whole = weat(assemble(x @ y.T, groups, classes, table.stereotypes), permutations=1)
        assert found.effect_sizes[k] == pytest.approx(whole.value, rel=1e-9)


def test_random_effects_mean_matches_dersimonian_laird() -> None:
    """DerSimonian & Laird (1986); and without heterogeneity the fixed-effect mean."""
    y, v = np.array([0.1, 0.5, 0.3, 0.9]), np.array([0.01, 0.04, 0.02, 0.05])
    w = 1 / v
    fixed = np.average(y, weights=w)
    q = (w * (y - fixed) ** 2).sum()
    tau2 = (q - 3) / (w.sum() - (w**2).sum() / w.sum())
    mixed = 1 / (v + tau2)
    mean = np.average(y, weights=mixed)
    assert random_effects_mean(y, v) == pytest.approx((mean, mixed.sum() ** -0.5, tau2))
    assert random_effects_mean(y, 100 * v) == pytest.approx((fixed, (w.sum() / 100) ** -0.5, 0.0))


def test_ceat_standard_error_decreases_with_draws_alone(weat7) -> None:
    """What "Misleads" says of it: the standard error is that of the mean of so many draws of the same sentences."""
    few, many = ceat(weat7, draws=1_000), ceat(weat7, draws=10_000)
    assert many.standard_error == pytest.approx(few.standard_error / 10**0.5, rel=0.1)
    assert many.standard_error == pytest.approx(many.effect_sizes.std() / 100, rel=0.02)
    assert many.p_value < 1e-100
    assert bb.measures.weat(weat7).p_value > 0.1


def test_measure_all_contains_seat_and_ceat(weat7) -> None:
    table = weat7
    measured = measure_all(table)
    assert {"WEAT", "SEAT", "CEAT"} <= set(measured.table.index)
    lower, upper = measured.table.loc["CEAT", ["ci95_lb", "ci95_ub"]]
    assert lower < measured.table.loc["CEAT", "value"] < upper


def test_seat_and_ceat_raise_without_sentences(weat7) -> None:
    table = weat7
    with refused(MeasureError, "SEAT sentences"):
        seat(replace(table, replicates=None))
    with refused(MeasureError, "CEAT sentences"):
        ceat(replace(table, replicates=None))
    assert table.replicates is not None
    seeds = replace(table, replicates=replace(table.replicates, kind="seed"))
    with refused(MeasureError, "seed space"):
        ceat(seeds)
    assert "with_vectors" in measure_all(replace(table, vectors=None)).left_out["CEAT"]
