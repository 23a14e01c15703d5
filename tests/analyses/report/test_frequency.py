"""A report shows how frequent words are, and warns where groups and classes both differ."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.analyses.report.check import Check, Study
from bayes_bias.analyses.report.check_frequency import CHECKER
from bayes_bias.associations.lists import measure_lists, with_random_words
from bayes_bias.embeddings.in_memory import MemoryReader
from bayes_bias.errors import TableError
from bayes_bias.models.spec import load_spec
from tests.helpers import FEW, refused, says

WORDS = [f"w{chr(97 + k // 676)}{chr(97 + k // 26 % 26)}{chr(97 + k % 26)}" for k in range(3_000)]
VECTORS = np.random.default_rng(1).normal(size=(len(WORDS), 20)).round(4)


@pytest.fixture(scope="module")
def ordered(tmp_path_factory) -> Path:
    """Frequent words first, as word2vec and GloVe write them."""
    path = tmp_path_factory.mktemp("vectors") / "ordered.txt"
    path.write_text("\n".join(f"{word} {' '.join(map(str, v))}" for word, v in zip(WORDS, VECTORS, strict=True)))
    return path


def checked(embedding: object, first_group: int, first_class: int) -> Check:
    """Words of the second group, and class, lie among the last; those of the first from a place on."""
    parts = {"a=c": first_group, "b=d": 2_500, "c": first_class, "d": 2_705}
    words = {home: WORDS[start : start + 160 : 20] for home, start in parts.items()}
    (table,) = with_random_words([bb.cosines(words, embedding, (), sub_topics="independent")])
    no_fit: Any = None  # which words are frequent needs none
    return CHECKER.run(Study(table, no_fit, load_spec("crossed"), "both", 0.95, 1, FEW, nulls=None, null_draws=0))


def test_unequal_frequency_is_an_alarm_with_remedy(ordered):
    check = checked(ordered, 0, 10)
    assert check.alarm
    assert says(check.text, "a 71 b 2,571 c 81 d 2,776 covariates rank")
    assert check.numbers["rank_ratio_groups"] > check.numbers["rank_limit_groups"] > 1


def test_where_one_side_alone_differs_it_is_none(ordered):
    check = checked(ordered, 0, 2_310)
    assert not check.alarm
    assert "covariates" not in check.text
    assert check.numbers["rank_ratio_classes"] < check.numbers["rank_limit_classes"]


def test_vectors_in_no_order_tell_no_frequency():
    check = checked(dict(zip(WORDS, VECTORS, strict=True)), 0, 10)
    assert not check.numbers
    assert "does not show" in check.text


NAMES, GENERAL = 16, 31_000


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """31,000 words; those of the list are among the first, in the middle, and beyond the 30,000 most frequent."""
    rng = np.random.default_rng(2)
    words = [
        f"w{chr(97 + k // 676 % 26)}{chr(97 + k // 26 % 26)}{chr(97 + k % 26)}{k // 17576}" for k in range(GENERAL)
    ]
    for k in range(NAMES):
        words[40 + k], words[60 + k] = f"frequent{k}", f"job{k}"
        words[20_000 + k], words[20_100 + k] = f"rare{k}", f"felony{k}"
        words[30_500 + k], words[30_700 + k] = f"rarest{k}", f"arson{k}"
    path = tmp_path_factory.mktemp("vectors") / "large.npz"
    return bb.save_vectors(dict(zip(words, rng.normal(size=(GENERAL, 20)), strict=True)), path)


def of(prefix: str) -> list[str]:
    return [f"{prefix}{k}" for k in range(NAMES)]


def checked_list(words: dict[str, list[str]], embedding: Any, **options: Any) -> Check:
    opened = bb.open_embedding(embedding, **options)
    (table,) = with_random_words([bb.cosines(words, opened, (), sub_topics="independent")])
    no_fit: Any = None
    return CHECKER.run(Study(table, no_fit, load_spec("crossed"), "both", 0.95, 1, FEW, nulls=None, null_draws=0))


@pytest.mark.parametrize(("respelt", "match"), [(str.upper, "case"), (str.title, "case"), ("é{}".format, "accents")])
def test_ranks_are_those_of_the_spelling_that_was_found(large, tmp_path, respelt, match):
    """The same list as the file spells it: expected numbers come from there."""
    parts = {"rare=crime": of("rare"), "frequent=work": of("frequent"), "crime": of("felony"), "work": of("job")}
    if match == "accents":
        vectors = bb.open_embedding(large).all()
        names = {word for words in parts.values() for word in words}
        large = bb.save_vectors({f"e{w}" if w in names else w: v for w, v in vectors.items()}, tmp_path / "e.npz")
        plain = checked_list({home: [f"e{word}" for word in words] for home, words in parts.items()}, large)
    else:
        plain = checked_list(parts, large)
    found = checked_list({home: [respelt(w) for w in words] for home, words in parts.items()}, large, match=match)
    assert found.alarm
    assert plain.alarm
    assert found.text == plain.text
    assert found.numbers == plain.numbers
    assert says(found.text, "rare 20,008 frequent 48 crime 20,108 work 68")


def test_ranks_of_phrases_are_those_of_the_joined_word(large, tmp_path):
    vectors = {word.replace("rare", "ra_re"): vector for word, vector in bb.open_embedding(large).all().items()}
    joined = bb.save_vectors(vectors, tmp_path / "joined.npz")
    parts = {"frequent=work": of("frequent"), "crime": of("felony"), "work": of("job")}
    phrases = checked_list({"rare=crime": of("ra re"), **parts}, joined)
    assert phrases.numbers == checked_list({"rare=crime": of("rare"), **parts}, large).numbers


def test_words_beyond_the_pool_have_at_least_the_last_rank(large):
    parts = {"rarest=crime": of("rarest"), "frequent=work": of("frequent"), "crime": of("felony"), "work": of("job")}
    check = checked_list(parts, large)
    assert check.alarm
    assert "rarest 30,000 or more and frequent 48" in check.text
    assert "Sixteen" not in check.text
    assert "16 words are not among the 30,000 most frequent: rarest0, rarest1" in check.text


def test_a_confound_is_unknown_if_words_beyond_the_pool_may_hide_one(large):
    """Ranks from 30,000 on are not known, so that either side may be far rarer than the other."""
    parts = {"rarest=crime": of("rarest"), "rare=work": of("rare"), "crime": of("arson"), "work": of("felony")}
    check = checked_list(parts, large)
    assert check.result is None  # the page marks it with a dash, and not with a tick
    assert check.brief == "frequency unknown"
    assert not check.alarm
    assert says(check.text, "unknown 32 words 30,000")


def test_one_word_beyond_the_pool_hides_no_confound(large):
    parts = {"a=crime": [*of("rare")[:15], "rarest1"], "b=work": of("rare")[15:] + of("felony")[:14]}
    parts |= {"crime": of("arson")[:1] + of("frequent")[:13], "work": of("job")}
    check = checked_list(parts, large)
    assert check.result is not None
    assert says(check.text, "Two words 30,000 rarest1 arson0")


class _WithSubwords(MemoryReader):
    """Vectors in the order of frequency, and of every word that is not there, as fastText makes them."""

    def by_frequency(self) -> bool:
        return True

    def made(self, words: Iterable[str]) -> dict[str, np.ndarray]:
        return {word: np.random.default_rng(len(word)).normal(size=20) for word in words}


@pytest.fixture
def with_subwords() -> bb.Embedding:
    return bb.Embedding("subwords", "made up", _WithSubwords(WORDS, list(VECTORS), 20), match="subwords")


def test_ranks_of_words_made_from_subwords_are_unknown(with_subwords):
    parts = {"a=c": ["Aab", "Bbcd", "Ccdef"], "b=d": WORDS[:3], "c": WORDS[10:14], "d": WORDS[2_700:2_704]}
    check = checked_list(parts, with_subwords)
    assert check.result is None
    assert check.brief == "frequency unknown"
    assert says(check.text, "a unknown b 2 Three words unknown rank Aab, Bbcd, Ccdef")


def test_rank_as_covariate_is_rejected_for_words_made_from_subwords(with_subwords):
    words = {"a=c": ["Aab", "Bbcd", *WORDS[20:26]], "b=d": WORDS[:8], "c": WORDS[10:14], "d": WORDS[2_700:2_704]}
    with refused(TableError, "covariates 'rank' Aab, Bbcd subwords unknown Series"):
        bb.cosines(words, with_subwords, (), covariates="rank")
    # Both remedies of the message:
    frequency = {word: 1.0 + k for k, word in enumerate(dict.fromkeys([*words["a=c"], *WORDS[:8]]))}
    assert bb.cosines(words, with_subwords, (), covariates=frequency).covariates
    words["a=c"] = words["a=c"][2:]
    assert bb.cosines(words, with_subwords, (), covariates="rank").covariates


@pytest.mark.parametrize(("respelt", "match"), [(str.upper, "case"), (str.title, "case")])
def test_rank_as_covariate_is_that_of_the_spelling_that_was_found(ordered, respelt, match):
    parts = {"a=c": WORDS[:8], "b=d": WORDS[5:40:5], "c": WORDS[50:54], "d": WORDS[2_700:2_704]}
    parts["b=d"] = [word for word in parts["b=d"] if word not in parts["a=c"]]
    plain = bb.cosines(parts, ordered, (), covariates="rank").values["target_covariate: log frequency rank"]
    embedding = bb.open_embedding(ordered, match=match)
    parts = {home: [respelt(word) for word in words] for home, words in parts.items()}
    found = bb.cosines(parts, embedding, (), covariates="rank").values["target_covariate: log frequency rank"]
    np.testing.assert_array_equal(found, plain)
    measured = measure_lists(bb.load_wordlist(parts), embedding, (), covariates="rank")[0]
    np.testing.assert_array_equal(measured.values["target_covariate: log frequency rank"], plain)
