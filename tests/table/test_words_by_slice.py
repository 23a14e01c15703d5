"""Words by slice: what each slice lacks, which slice costs most, and sweeps that omit a series."""

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.errors import TableError
from bayes_bias.table.words_by_slice import words_by_slice
from tests.helpers import says

LIST = {"he=work": ["he", "man", "boy"], "she=home": ["she", "her"], "work": ["office"], "home": ["garden", "nest"]}
WORDS = [word for words in LIST.values() for word in words]


def tables(**lacking):
    rng = np.random.default_rng(0)
    vectors = {word: rng.normal(size=4) for word in WORDS}
    return {
        time: bb.cosines(LIST, {word: v for word, v in vectors.items() if word not in words}, (), allow_loss=True)
        for time, words in lacking.items()
    }


def test_words_by_slice_names_the_slice_and_the_words_that_cost_most() -> None:
    found = words_by_slice(tables(first=["nest", "boy"], second=["man", "boy", "her"], third=["boy"]))
    assert found.slices.index.tolist() == ["second", "first", "third"]
    assert found.slices.lacks.tolist() == [3, 2, 1]
    assert found.slices.alone.tolist() == [2, 1, 0]
    assert found.present.loc[("he", "boy")].tolist() == [False, False, False]
    assert says(found.text, "All 3 slices have 4 of 8 words (1 of 3 he, 1 of 2 she")
    assert says(found.text, "second costs most: 6 words remain without it boy (three slices)")


def test_words_by_slice_names_no_slice_if_none_costs_a_word_alone() -> None:
    found = words_by_slice(tables(first=["nest"], second=["nest"], third=[]))
    assert found.slices.alone.tolist() == [0, 0, 0]
    assert says(found.text, "Omitting a single slice keeps no further word. nest (two slices)")
    assert "costs most" not in found.text


def test_words_by_slice_counts_no_loss_if_all_slices_have_all_words() -> None:
    found = words_by_slice(tables(first=[], second=[]))
    assert found.text == "All 2 slices have 8 of 8 words (3 of 3 he, 2 of 2 she, 1 of 1 work, 2 of 2 home)."
    assert found.slices.alone.tolist() == [0, 0]


def test_words_by_slice_raises_without_slices() -> None:
    with pytest.raises(TableError, match="no slices"):
        words_by_slice({})
