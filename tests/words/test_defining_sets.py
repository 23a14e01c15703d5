"""Sets of words that define a direction: read from text or from a file."""

import re

import pytest

from bayes_bias.errors import WordListError
from bayes_bias.words.defining_sets import DebiasSets, read_debias_sets


def test_sets_are_read_from_text_and_from_a_file(tmp_path):
    assert read_debias_sets("she:he, woman : man").defining_sets == (("she", "he"), ("woman", "man"))
    file = tmp_path / "faith.toml"
    file.write_text(
        'defining_sets = [["church", "mosque", "synagogue"]]\n'
        'equalize_sets = [["priest", "imam", "rabbi"]]\n'
        'specific = ["bible"]\n'
    )
    told = read_debias_sets(file)
    assert told == DebiasSets(
        (("church", "mosque", "synagogue"),), (("priest", "imam", "rabbi"),), ("bible",)
    )
    assert told.words[-1] == "bible"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('definig_sets = [["a", "b"]]', "did you mean 'defining_sets'"),
        ("specific = ['a']", "has no defining sets"),
        ('defining_sets = "she:he"', "is no list of sets"),
        ('defining_sets = ["she", "he"]', "where a list of words is needed"),
        ('defining_sets = [["she"]]', "a set of 1 word"),
        ('defining_sets = [["she", "she"]]', "lists 'she' twice"),
        ("defining_sets = [", "not valid TOML"),
    ],
)
def test_a_wrong_file_of_sets_is_one_clear_line(tmp_path, text, message):
    file = tmp_path / "sets.toml"
    file.write_text(text)
    with pytest.raises(WordListError, match=re.escape(message)):
        read_debias_sets(file)


def test_a_missing_file_and_a_single_word_are_refused(tmp_path):
    with pytest.raises(WordListError, match="no file"):
        read_debias_sets(tmp_path / "none.toml")
    with pytest.raises(WordListError, match="write them as she:he,woman:man"):
        read_debias_sets("she,he")
