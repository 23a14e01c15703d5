"""Frequency ranks come from the order of files whose frequent words come first, and from nowhere else."""

import numpy as np
import pytest

from bayes_bias import cosines, load_wordlist, open_embedding, save_vectors
from bayes_bias.associations.lists import measure_lists
from bayes_bias.errors import EmbeddingError, TableError
from tests.helpers import random_vectors, refused

WEAT8 = load_wordlist("weat8")
WORDS = WEAT8.words


@pytest.fixture
def file(tmp_path):
    """Vectors as word2vec writes them, with each word of the list behind another one."""
    order = [name for word in WORDS for name in (f"other{word}", word)]
    return save_vectors(random_vectors(1, order), tmp_path / "vectors.txt")


def test_rank_covariate_equals_logarithm_of_file_position(file):
    table = cosines(WEAT8, file, (), covariates="rank")
    ranks = table.values["target_covariate: log frequency rank"].to_series()
    for word in WEAT8.targets:
        assert ranks[word] == pytest.approx(np.log(2 * WORDS.index(word) + 2))


def test_rank_covers_targets_unless_sides_are_named(file):
    given = {"target": "rank", "attribute": {word: len(word) for word in WEAT8.attributes}}
    for covariates, attributes in (
        ("rank", []),
        (given, ["covariate"]),
        ({"target": "rank", "attribute": "rank"}, ["log frequency rank"]),
    ):
        found = cosines(WEAT8, file, (), covariates=covariates).covariates
        assert found["target"] == ["log frequency rank"]
        assert found.get("attribute", []) == attributes


def test_measure_lists_has_same_ranks_as_cosines(file):
    (measured,) = measure_lists(WEAT8, file, (), covariates=["rank", {word: len(word) for word in WORDS}])
    assert measured.covariates == {"target": ["log frequency rank", "covariate"], "attribute": ["covariate"]}
    alone = cosines(WEAT8, file, (), covariates="rank").values["target_covariate: log frequency rank"]
    np.testing.assert_array_equal(measured.values["target_covariate: log frequency rank"], alone)


@pytest.mark.parametrize("source", ["googlenews-demo", random_vectors(1, WORDS)], ids=["demo vectors", "mapping"])
def test_rank_covariate_raises_for_unsorted_vectors(source):
    with refused(EmbeddingError, "covariate sorted by frequency 'rank'"):
        cosines(WEAT8, open_embedding(source), (), covariates="rank")


def test_covariates_raise_for_rank_of_table_and_unknown_name(file):
    with refused(TableError, "covariates 'rank' embedding cosines(...,"):
        cosines(WEAT8, file, ()).with_covariates("rank")
    with refused(TableError, "'frequency'"):
        cosines(WEAT8, file, (), covariates="frequency")
    with refused(TableError, "'frequency'"):
        cosines(WEAT8, file, (), covariates={"attribute": "frequency"})
