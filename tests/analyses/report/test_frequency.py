"""A report shows how frequent words are, and warns where groups and classes both differ."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.analyses.report.check import Check, Study
from bayes_bias.analyses.report.check_frequency import CHECKER, check_of
from bayes_bias.associations.lists import measure_lists, with_random_words
from bayes_bias.checks.frequency import Frequency, frequency_of
from bayes_bias.embeddings.in_memory import MemoryReader
from bayes_bias.errors import TableError
from bayes_bias.models.spec import load_spec
from bayes_bias.table.association_table import AssociationTable
from tests.helpers import FEW, refused, says

WORDS = [f"w{chr(97 + k // 676)}{chr(97 + k // 26 % 26)}{chr(97 + k % 26)}" for k in range(3_000)]
# The cosine of two words grows with the product of their log ranks, less the mean.
RANKS = np.log(np.arange(1, len(WORDS) + 1))
_NOISE = np.random.default_rng(1).normal(size=(len(WORDS), 40)) / 40**0.5
VECTORS = np.column_stack([(RANKS.mean() - RANKS) / 8, _NOISE]).round(4)


@pytest.fixture(scope="module")
def ordered(tmp_path_factory) -> Path:
    """Frequent words first, as word2vec and GloVe write them."""
    path = tmp_path_factory.mktemp("vectors") / "ordered.txt"
    path.write_text("\n".join(f"{word} {' '.join(map(str, v))}" for word, v in zip(WORDS, VECTORS, strict=True)))
    return path


def table_of(words: Mapping[str, Sequence[str]], embedding: object, **options: Any) -> AssociationTable:
    opened = bb.open_embedding(embedding, **options)
    (table,) = with_random_words([bb.cosines(words, opened, (), sub_topics="independent")])
    return table


def frequency(words: Mapping[str, Sequence[str]], embedding: object, **options: Any) -> Frequency:
    table = table_of(words, embedding, **options)
    return frequency_of(table, table.origin.embedding)


def spelt(parts: dict[str, list[str]], spelling: Callable[[str], str]) -> dict[str, list[str]]:
    """The same words in another spelling."""
    return {category: list(map(spelling, words)) for category, words in parts.items()}


def words_from(first_group: int, first_class: int) -> dict[str, list[str]]:
    """Words of the second group, and class, lie among the last; those of the first from a place on."""
    parts = {"a=c": first_group, "b=d": 2_500, "c": first_class, "d": 2_705}
    return {category: WORDS[start : start + 160 : 20] for category, start in parts.items()}


def check(of: Frequency, sd: float = 0.01, *, is_adjusted: bool = False) -> Check:
    return check_of(of, sd, pool=30_000, decimals=3, is_adjusted=is_adjusted)


def test_bias_by_frequency_matches_bias_of_meaningless_words(ordered):
    """Vectors of random length-one noise tell nothing else; their lengths make the relation a little steeper."""
    found = frequency(words_from(0, 10), ordered)
    assert found.bias == pytest.approx(bb.verdict(table_of(words_from(0, 10), ordered)).mean, rel=0.25)
    assert found.largest == pytest.approx(abs(found.bias))
    assert found.overlap == {"target": 0, "attribute": 0}


def test_bias_by_frequency_is_small_when_one_side_differs(ordered):
    found = frequency(words_from(0, 2_710), ordered)
    assert abs(found.bias) < 0.1 * abs(frequency(words_from(0, 10), ordered).bias)
    assert found.overlap["attribute"] > 0.5


def test_frequency_check_is_alarm_when_words_hardly_overlap(ordered):
    found = check(frequency(words_from(0, 10), ordered))
    assert found.alarm
    assert says(found.text, "a 71 b 2,571 c 81 d 2,776 hardly overlap")
    assert "hardly overlap" in found.no_verdict
    assert check(frequency(words_from(0, 10), ordered), is_adjusted=True).no_verdict


def test_frequency_check_recommends_covariates_when_words_overlap(ordered):
    words = words_from(0, 10)
    words["a=c"][-4:], words["b=d"][-4:] = words["b=d"][-4:], words["a=c"][-4:]
    found = check(frequency(words, ordered), sd=0.001)
    assert found.alarm
    assert not found.no_verdict
    assert "covariates='rank'" in found.text
    assert not check(frequency(words, ordered), sd=0.001, is_adjusted=True).alarm


def test_frequency_check_has_no_alarm_for_wide_posterior(ordered):
    found = check(frequency(words_from(0, 10), ordered), sd=10.0)
    assert not found.alarm
    assert "covariates" not in found.text


@pytest.mark.slow
def test_report_withholds_verdict_when_words_hardly_overlap(ordered):
    report = bb.report(words_from(0, 10), ordered, calibration_draws=0, sampling=FEW)
    verdict = report.sections[0].verdict
    assert verdict.label == "confounded with frequency"
    assert says(verdict.text, "No verdict groups hardly overlap in frequency")
    assert not report.together.table.survives.any()


def test_frequency_check_has_no_numbers_for_unordered_vectors():
    table = table_of(words_from(0, 10), dict(zip(WORDS, VECTORS, strict=True)))
    no_fit: Any = None  # which words are frequent needs none
    found = CHECKER.run(Study(table, load_spec("crossed"), "both", 0.95, 1, no_fit, FEW, nulls=None, null_draws=0))
    assert not found.numbers
    assert "does not show" in found.text


NAMES, GENERAL = 16, 31_000


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """31,000 words; those of the list are among the first, in the middle, and beyond the 30,000 most frequent."""
    rng = np.random.default_rng(2)
    words = [
        f"w{chr(97 + k // 676 % 26)}{chr(97 + k // 26 % 26)}{chr(97 + k % 26)}{'xy'[k // 17576]}"
        for k in range(GENERAL)
    ]
    for k in range(NAMES):
        words[40 + k], words[60 + k] = f"frequent{k}", f"job{k}"
        words[20_000 + k], words[20_100 + k] = f"rare{k}", f"felony{k}"
        words[30_500 + k], words[30_700 + k] = f"rarest{k}", f"arson{k}"
    rows = np.column_stack([(9 - np.log(np.arange(1, GENERAL + 1))) / 4, rng.normal(size=(GENERAL, 20)) / 20**0.5])
    path = tmp_path_factory.mktemp("vectors") / "large.npz"
    return bb.save_vectors(dict(zip(words, rows, strict=True)), path)


def of(prefix: str) -> list[str]:
    return [f"{prefix}{k}" for k in range(NAMES)]


@pytest.mark.parametrize(("respelt", "match"), [(str.upper, "case"), (str.title, "case"), ("é{}".format, "accents")])
def test_frequency_ranks_match_spelling_found_in_file(large, tmp_path, respelt, match):
    """The same list as the file spells it: expected numbers come from there."""
    parts = {"rare=crime": of("rare"), "frequent=work": of("frequent"), "crime": of("felony"), "work": of("job")}
    if match == "accents":
        vectors = bb.open_embedding(large).all()
        names = {*chain(*parts.values())}
        large = bb.save_vectors({f"e{w}" if w in names else w: v for w, v in vectors.items()}, tmp_path / "e.npz")
        plain = frequency(spelt(parts, "e{}".format), large)
    else:
        plain = frequency(parts, large)
    found = frequency(spelt(parts, respelt), large, match=match)
    assert found.bias == plain.bias
    np.testing.assert_array_equal(found.ranks.known, plain.ranks.known)
    assert says(check(found).text, "rare 20,008 frequent 48 crime 20,108 work 68")


def test_frequency_ranks_of_phrases_match_joined_word(large, tmp_path):
    vectors = {word.replace("rare", "ra_re"): vector for word, vector in bb.open_embedding(large).all().items()}
    joined = bb.save_vectors(vectors, tmp_path / "joined.npz")
    parts = {"frequent=work": of("frequent"), "crime": of("felony"), "work": of("job")}
    phrases = frequency({"rare=crime": of("ra re"), **parts}, joined)
    assert phrases.bias == pytest.approx(frequency({"rare=crime": of("rare"), **parts}, large).bias)


def test_words_beyond_pool_have_at_least_last_rank(large):
    parts = {"rarest=crime": of("rarest"), "frequent=work": of("frequent"), "crime": of("felony"), "work": of("job")}
    found = check(frequency(parts, large))
    assert found.alarm
    assert "rarest 30,000 or more and frequent 48" in found.text
    assert "Sixteen" not in found.text
    assert "16 words are not among the 30,000 most frequent: rarest0, rarest1" in found.text


def test_frequency_check_is_unknown_for_words_beyond_pool(large):
    """Ranks from 30,000 on are not known, so that either side may be far rarer than the other."""
    parts = {"rarest=crime": of("rarest"), "rare=work": of("rare"), "crime": of("arson"), "work": of("felony")}
    unknown = frequency(parts, large)
    assert unknown.largest > 10 * abs(unknown.bias)
    found = check(unknown, sd=4 * abs(unknown.bias))
    assert found.result is None  # the page marks it with a dash, and not with a tick
    assert found.brief == "frequency unknown"
    assert not found.alarm
    assert says(found.text, "unknown 32 words 30,000")


class _WithSubwords(MemoryReader):
    """Vectors in the order of frequency, and of every word that is not there, as fastText makes them."""

    def made(self, words: Iterable[str]) -> dict[str, np.ndarray]:
        return {word: np.random.default_rng(len(word)).normal(size=VECTORS.shape[1]) for word in words}


@pytest.fixture
def with_subwords() -> bb.Embedding:
    reader = _WithSubwords(WORDS, list(VECTORS), VECTORS.shape[1], frequent_first=True)
    return bb.Embedding("subwords", "made up", reader, match="subwords")


def test_frequency_check_is_unknown_for_words_from_subwords(with_subwords):
    parts = {"a=c": ["Aab", "Bbcd", "Ccdef"], "b=d": WORDS[:3], "c": WORDS[10:14], "d": WORDS[2_700:2_704]}
    unknown = frequency(parts, with_subwords)
    assert np.isnan(unknown.bias)
    found = check(unknown)
    assert found.result is None
    assert found.brief == "frequency unknown"
    assert says(found.text, "a unknown b 2 Three words unknown rank Aab, Bbcd, Ccdef")


def test_cosines_raises_for_rank_of_words_from_subwords(with_subwords):
    words = {"a=c": ["Aab", "Bbcd", *WORDS[20:26]], "b=d": WORDS[:8], "c": WORDS[10:14], "d": WORDS[2_700:2_704]}
    with refused(TableError, "covariate 'rank' Aab, Bbcd subwords unknown Series"):
        bb.cosines(words, with_subwords, (), covariates="rank")
    # Both remedies of the message:
    frequency = {word: 1.0 + k for k, word in enumerate(dict.fromkeys([*words["a=c"], *WORDS[:8]]))}
    assert bb.cosines(words, with_subwords, (), covariates=frequency).covariates
    words["a=c"] = words["a=c"][2:]
    assert bb.cosines(words, with_subwords, (), covariates="rank").covariates


@pytest.mark.parametrize(("respelt", "match"), [(str.upper, "case"), (str.title, "case")])
def test_rank_covariate_matches_spelling_found_in_file(ordered, respelt, match):
    parts = {"a=c": WORDS[:8], "b=d": WORDS[5:40:5], "c": WORDS[50:54], "d": WORDS[2_700:2_704]}
    parts["b=d"] = [word for word in parts["b=d"] if word not in parts["a=c"]]
    plain = bb.cosines(parts, ordered, (), covariates="rank").values["target_covariate: log frequency rank"]
    embedding = bb.open_embedding(ordered, match=match)
    parts = spelt(parts, respelt)
    found = bb.cosines(parts, embedding, (), covariates="rank").values["target_covariate: log frequency rank"]
    np.testing.assert_array_equal(found, plain)
    measured = measure_lists(bb.load_wordlist(parts), embedding, (), covariates="rank")[0]
    np.testing.assert_array_equal(measured.values["target_covariate: log frequency rank"], plain)
