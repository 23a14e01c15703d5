"""Sets of words that define a direction: read from text or from a file."""

import json

import pytest

import bayes_bias as bb
from bayes_bias.errors import WordListError
from bayes_bias.words.defining_sets import DebiasSets, read_debias_sets
from tests.helpers import refused, says


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


TWO_LISTS = [["she", "her", "woman"], ["he", "his", "man"]]


@pytest.mark.parametrize(
    "content", [TWO_LISTS, {"definitional_pairs": TWO_LISTS}, {"gender": {"definitional_pairs": TWO_LISTS}}]
)
@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_read_debias_sets_rejects_two_lists_in_file_and_prints_their_pairs(tmp_path, content, suffix):
    path = tmp_path / f"sets.{suffix}"
    path.write_text(json.dumps(content))
    with refused(WordListError, "two lists 3 and 3 words groups pairs defining_sets") as caught:
        read_debias_sets(path)
    printed = str(caught.value).split("`")[1]
    assert read_debias_sets(printed).defining_sets == (("she", "he"), ("her", "his"), ("woman", "man"))
    path.write_text(json.dumps({"defining_sets": TWO_LISTS}))
    assert read_debias_sets(path).defining_sets == tuple(map(tuple, TWO_LISTS))


@pytest.mark.parametrize(
    "source",
    [
        TWO_LISTS,
        tuple(map(tuple, TWO_LISTS)),
        "she:her:woman,he:his:man",
        [["she", "her", "woman", "girl"], ["he", "his", "man"]],
    ],
)
def test_read_debias_sets_rejects_two_lists_in_memory_and_as_text(source):
    with refused(WordListError, "sets two lists 3 words groups she:he,her:his,woman:man"):
        read_debias_sets(source)


def test_read_debias_sets_uses_repeated_and_mirrored_sets_once(caplog):
    sets = read_debias_sets("she:he,woman:man,she:he,he:she")
    assert sets.defining_sets == (("she", "he"), ("woman", "man"))
    assert says(caplog.text, "sets: defining_sets lists she:he 3 times used only once")
    caplog.clear()
    equalize_sets = [("priest", "imam", "rabbi"), ("imam", "rabbi", "priest")]
    sets = read_debias_sets({"defining_sets": [("she", "he")], "equalize_sets": equalize_sets})
    assert sets.equalize_sets == (("priest", "imam", "rabbi"),)
    (notice,) = caplog.messages
    assert says(notice, "equalize_sets lists priest:imam:rabbi 2 times")


def test_read_debias_sets_reads_two_pairs_and_three_longer_sets():
    for sets in ([["she", "he"], ["woman", "man"]], [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]]):
        assert read_debias_sets(sets).defining_sets == tuple(map(tuple, sets))


def test_pairs_of_two_lists_have_direct_bias_of_pairs():
    table = bb.cosines(
        "weat7", "googlenews-demo", controls=(), also=["woman", "man", "girl", "boy", "sister", "brother"]
    )
    lists = [["she", "woman", "sister"], ["he", "man", "brother"]]
    with refused(WordListError, "she:he,woman:man,sister:brother") as caught:
        bb.measures.measure_all(table, defining_sets=lists, only=["Direct Bias"])
    printed = str(caught.value).split("`")[1]
    pairs = list(zip(*lists, strict=True))
    measured = [bb.measures.measure_all(table, defining_sets=sets, only=["Direct Bias"]) for sets in (printed, pairs)]
    assert measured[0].table.equals(measured[1].table)
