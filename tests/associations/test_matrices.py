"""A matrix that was computed elsewhere gives the table that its vectors would give."""

import numpy as np
import pytest

from bayes_bias import cosines, load_wordlist
from bayes_bias.associations.cosines import cosines_from_matrix
from bayes_bias.errors import CoverageError, TableError
from tests.helpers import refused, saying, says

TABLE = cosines("weat6", "googlenews-demo", controls=(), sub_topics="independent")
MATRIX = TABLE.values.to_pandas()


def test_cosines_from_matrix_ignores_order_and_unused_columns():
    shuffled = MATRIX.iloc[::-1, ::-1].assign(unused=0.5)
    table = cosines_from_matrix(shuffled, "weat6", ["neutral"])
    # What vectors tell of preferences is not in a matrix.
    np.testing.assert_array_equal(table.values, TABLE.values)
    assert table.sha256 == cosines_from_matrix(MATRIX, "weat6", ()).sha256
    assert table.source == TABLE.source
    assert saying(table.notices, "control matrix neutral")


def test_cosines_from_matrix_keeps_topics_and_pairs():
    words = load_wordlist("weat7")
    own = {"math": {"numbers": words.groups["math"][:2]}}
    listed = {"groups": dict(words.groups), "classes": dict(words.classes), "stereotypes": dict(words.stereotypes)}
    listed |= {"topics": own, "pairs": [["he", "she"]]}
    expected = cosines(listed, "googlenews-demo", controls=(), sub_topics="independent")
    named = cosines(listed, "googlenews-demo", controls=())
    assert named.labels == ("target_topic", "attribute_pair")
    table = cosines_from_matrix(expected.values.to_pandas(), listed)
    assert table.labels == named.labels
    for label in named.labels:
        assert table.values[label].to_series().to_dict() == named.values[label].to_series().to_dict()


def test_cosines_from_matrix_warns_about_missing_words():
    few = MATRIX.drop(index="John").rename(columns={"salary": "salaryy"})
    notices = cosines_from_matrix(few, "weat6", name="mine.csv").notices
    assert says(notices[0], "'male names' 1 of 8 mine.csv John")
    assert says(notices[1], "'career' mine.csv salary salaryy")
    with refused(CoverageError, "'male names' 8 words mine.csv exchange rows columns"):
        cosines_from_matrix(MATRIX.T, "weat6", name="mine.csv")
    capitals = MATRIX.rename(columns=str.upper)
    with refused(CoverageError, "'career' EXECUTIVE another source") as caught:
        cosines_from_matrix(capitals, "weat6", name="mine.csv")
    assert "match" not in str(caught.value)
    holed = MATRIX.copy()
    holed.iloc[0, 0] = np.nan
    assert not cosines_from_matrix(holed, "weat6").is_complete


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (MATRIX.iloc[[0, *range(len(MATRIX))]], "rows 'John'"),
        (MATRIX * 100, "value -1 1"),
        (MATRIX.to_numpy(), "matrix DataFrame"),
    ],
)
def test_cosines_from_matrix_raises_for_invalid_matrix(matrix, message):
    with refused(TableError, message):
        cosines_from_matrix(matrix, "weat6")
