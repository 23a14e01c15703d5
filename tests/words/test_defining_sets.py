"""Sets of words that define a direction: read from text or from a file."""

import pytest

from bayes_bias.errors import WordListError
from bayes_bias.words.defining_sets import DebiasSets, read_debias_sets
from tests.helpers import refused


def test_read_debias_sets_reads_text_and_toml(tmp_path):
    assert read_debias_sets("she:he, woman : man").defining_sets == (("she", "he"), ("woman", "man"))
    file = tmp_path / "faith.toml"
    file.write_text(
        'defining_sets = [["church", "mosque", "synagogue"]]\n'
        'equalize_sets = [["priest", "imam", "rabbi"]]\n'
        'specific = ["bible"]\n'
    )
    sets = read_debias_sets(file)
    assert sets == DebiasSets((("church", "mosque", "synagogue"),), (("priest", "imam", "rabbi"),), ("bible",))
    assert sets.words[-1] == "bible"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('definig_sets = [["a", "b"]]', "'defining_sets'"),
        ("specific = ['a']", "defining sets"),
        ('defining_sets = "she:he"', "list sets"),
        ('defining_sets = ["she", "he"]', "list words"),
        ('defining_sets = [["she"]]', "two words ['she']"),
        ('defining_sets = [["she", "she"]]', "'she' times"),
        ("defining_sets = [", "TOML"),
    ],
)
def test_read_debias_sets_raises_for_invalid_file(tmp_path, text, message):
    file = tmp_path / "sets.toml"
    file.write_text(text)
    with refused(WordListError, message):
        read_debias_sets(file)


def test_read_debias_sets_raises_for_missing_file_or_colon(tmp_path):
    with refused(WordListError, "file"):
        read_debias_sets(tmp_path / "none.toml")
    with refused(WordListError, "she:he,woman:man"):
        read_debias_sets("she,he")
