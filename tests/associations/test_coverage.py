"""Lost words are told per group and class, and too many of them stop the run."""

import numpy as np
import pytest

from bayes_bias import cosines
from bayes_bias.associations.coverage import check_coverage, lookup
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.embeddings.word_vectors import sha256_of_vectors
from bayes_bias.errors import CoverageError
from bayes_bias.words.wordlist import WordList
from tests.helpers import refused, says

LIST = WordList.from_mapping(
    {
        "groups": {"men": ["he", "him", "John"], "women": ["she", "her", "Amy"]},
        "classes": {"career": ["office", "salary", "boss"], "family": ["home", "<b>kin</b>"], "food": ["soup", "tea"]},
        "stereotypes": {"men": "career", "women": "family"},
    }
)
VECTORS = {word: np.array([1.0, number]) for number, word in enumerate(LIST.words)}


def without(*words, **others):
    return open_embedding({w: v for w, v in VECTORS.items() if w not in words} | others, name="toy")


def test_lookup_returns_unit_vectors_for_extreme_lengths():
    vectors, coverage = lookup(without(he=[3e200, 4e200], she=[3e-200, 4e-200]), LIST)
    np.testing.assert_allclose(vectors["he"], [0.6, 0.8])
    np.testing.assert_allclose(vectors["she"], [0.6, 0.8])
    assert np.linalg.norm([*vectors.values()], axis=1) == pytest.approx(1)
    assert coverage.notices() == ()


def test_lookup_warns_about_each_lost_word():
    embedding = without("John", "tea", john=[1.0, 2.0], she=[0.0, 0.0], office=[np.nan, 1.0], boss=[np.inf, 1.0])
    vectors, coverage = lookup(embedding, LIST)
    assert not {"John", "john", "she", "office", "boss", "tea"} & set(vectors)
    lost = (
        "group 'men' 1 of 3 not toy John john",
        "group 'women' 1 of 3 zero she",
        "class 'career' 2 of 3 finite office, boss",
        "control class 'food' 1 of 2 not toy tea",
    )
    for notice, words in zip(coverage.notices(), lost, strict=True):
        assert says(notice, words)
    frame = coverage.to_frame().set_index("name")
    assert frame.asked.to_dict() == {"men": 3, "women": 3, "career": 3, "family": 2, "food": 2}
    assert frame.found.to_dict() == {"men": 2, "women": 2, "career": 1, "family": 2, "food": 1}
    assert frame.role["food"] == "control"
    assert frame.variants["men"] == "John: john"


def test_cosines_logs_missing_builtin_controls_at_info_level(caplog):
    words = WordList.from_mapping(
        {
            "groups": {"men": ["he", "man"], "women": ["she", "woman"]},
            "classes": {
                "work": ["office", "salary", "zzzz"],
                "home": ["home", "family"],
                "mine": ["cello", "flute", "qqqq"],
            },
            "stereotypes": {"men": "work", "women": "home"},
        },
        name="own",
    )
    with caplog.at_level("INFO", "bayes_bias"):
        notices = cosines(words, "googlenews-demo").notices
    levels = {record.getMessage(): record.levelname for record in caplog.records}
    for words, level in (
        ("control classes 80 of 311 googlenews-demo", "INFO"),
        ("class 'work' 1 of 3 googlenews-demo zzzz", "WARNING"),
        ("control class 'mine' 1 of 3 googlenews-demo qqqq", "WARNING"),
    ):
        assert [levels[message] for message in levels if says(message, words)] == [level]
    assert set(levels) <= set(notices)


def test_cosines_omits_builtin_controls_with_few_words():
    vectors = without(acknowledges=[1.0, 2.5], accept=[1.0, 3.5])  # one of 226 neutral words, and of 85 human ones
    table = cosines(LIST, vectors)
    assert not {"neutral", "human"} & {*table.classes}
    assert says(table.notices, "control classes too few toy neutral, human")
    assert {"neutral", "human"} <= {*cosines(LIST, vectors, allow_loss=True).classes}


def test_lookup_reads_missing_phrase_as_joined_word_with_notice(tmp_path):
    words = {"groups": {"left": ["prime minister", "He"], "right": ["tea room", "tea_room"]}}
    words |= {"classes": {"a": ["office", "boss"], "b": ["home", "kin"]}, "stereotypes": {"left": "a", "right": "b"}}
    file = tmp_path / "toy.txt"
    spelt = ("prime_minister", "He", "tea_room", "office", "boss", "home", "kin")
    file.write_text("\n".join(f"{word} {number + 1} 2 {number % 3}" for number, word in enumerate(spelt)) + "\n")
    listed = WordList.from_mapping(words)
    vectors, coverage = lookup(open_embedding(file).excerpt(listed.words), listed)
    np.testing.assert_allclose(vectors["prime minister"], np.array([1, 2, 0]) / np.sqrt(5))
    assert "tea room" not in vectors  # the list has it a second time, as tea_room
    as_joined, missing = coverage.notices()
    assert says(as_joined, "'left' toy 'prime minister' 'prime_minister'")
    assert says(missing, "'right' tea room tea_room")


def test_check_coverage_error_contains_spellings_with_vectors():
    embedding = without("he", "him", John=[1.0, 2.0], hims=[1.0, 3.0], He=[2.0, 1.0])
    with refused(CoverageError, "'men' 2 of 3 he He"):
        check_coverage(lookup(embedding, LIST)[1])


def test_check_coverage_accepts_loss_of_under_half():
    check_coverage(lookup(without("John", "Amy", "boss"), LIST)[1])


def test_check_coverage_raises_for_lost_half_without_allow_loss():
    _, coverage = lookup(without("<b>kin</b>"), LIST)
    with refused(CoverageError, "'family' 1 of 2 <b>kin</b> allow_loss=True"):
        check_coverage(coverage)
    check_coverage(coverage, allow_loss=True)


def test_check_coverage_raises_for_all_lost_with_allow_loss():
    _, coverage = lookup(without("he", "him", "John"), LIST)
    with refused(CoverageError, "'men' 3 of 3 embedding"):
        check_coverage(coverage, allow_loss=True)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_check_coverage_error_states_why_vectors_are_not_usable(value):
    """Vectors that diverged in training are rows of nan."""
    coverage = lookup(without(**dict.fromkeys(("he", "him", "John"), [value] * 2)), LIST)[1]
    with refused(CoverageError, "'men' because the values of three words are all zero or not finite as 32-bit numbers"):
        check_coverage(coverage)


def test_check_coverage_error_suggests_omitting_control_class():
    with refused(CoverageError, "'food' controls=() --controls none"):
        check_coverage(lookup(without("tea"), LIST)[1])


def test_check_coverage_raises_without_common_words():
    with refused(CoverageError, "'men' 3 of 3"):
        check_coverage(lookup(open_embedding({"xyzzy": [1.0, 2.0]}), LIST)[1])


def test_sha256_of_vectors_ignores_order():
    backwards = dict(reversed(VECTORS.items()))
    assert sha256_of_vectors(VECTORS) == sha256_of_vectors(backwards)
    assert sha256_of_vectors(VECTORS) != sha256_of_vectors(VECTORS | {"he": np.array([2.0, 0.0])})


def test_cosines_omits_control_classes_for_controls_none():
    assert cosines("weat6", "googlenews-demo").controls
    assert cosines("weat6", "googlenews-demo", controls="none").controls == ()
