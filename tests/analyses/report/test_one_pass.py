"""A report does nothing twice: one reading of the file, one WEAT a list, and for each fit one draw of the word effects
that estimands are about and one of all."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from bayes_bias import WordList, open_embedding, report, write
from bayes_bias.associations.lists import measure_lists
from bayes_bias.embeddings.embedding import Reader, Vector
from bayes_bias.measures import Weat
from bayes_bias.posterior import word_effects
from tests.helpers import FEW, SHORT, letters, numbered, random_vectors

DRAWS = 2
CLASSES = {name: numbered(name, 6) for name in ("work", "home", "neutral")}
LISTS = [
    WordList.from_mapping(
        {
            "groups": {name: numbered(f"{number} {name}", 6) for name in ("men", "women")},
            "classes": CLASSES,
            "stereotypes": {"men": "work", "women": "home"},
        },
        name=f"list {number}",
    )
    for number in (1, 2)
]


@dataclass(frozen=True)
class Counting(Reader):
    """A source that counts how often it is read."""

    of: Reader
    dimensions: int
    readings: list[int]

    def words(self) -> Iterator[str]:
        return self.of.words()

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        self.readings.append(1)
        return self.of.entries(wanted, first)


@pytest.fixture
def embedding():
    words = []
    for word_list in LISTS:
        words += [*word_list.targets, *word_list.attributes]
    words = dict.fromkeys([*words, *letters(40)])
    vectors = {word: vector + 1 for word, vector in random_vectors(0, words, 20).items()}
    opened = open_embedding(vectors, name="counted")
    return replace(opened, reader=Counting(opened.reader, opened.dimensions, []))


@pytest.fixture
def counts(monkeypatch):
    """How often word effects were drawn, and WEAT was computed."""
    counted = {"effects": 0, "weat": 0}
    drawn, made = word_effects._draw_effects, Weat.__init__

    def draw(*arguments):
        counted["effects"] += 1
        return drawn(*arguments)

    def make(self, **fields):
        counted["weat"] += 1
        made(self, **fields)

    monkeypatch.setattr(word_effects, "_draw_effects", draw)
    monkeypatch.setattr(Weat, "__init__", make)
    return counted


@pytest.mark.thorough
@pytest.mark.slow
def test_report_repeats_no_reading_draws_or_weat(embedding, counts, tmp_path):
    made = report(measure_lists(LISTS, embedding, ()), sampling=SHORT, calibration_draws=DRAWS)
    assert made.converged
    assert made.evidence().no_data_fit.eq("").all()  # predictive intervals need the effects of words, too
    write(made, tmp_path / "report", figures=())  # the page has them all the same
    assert len(embedding.reader.readings) == 1
    # Random nulls are judged as arrays. Of the list, and of each random list of its measures, WEAT is a row, and ML-EAT
    # contains it.
    assert counts == {"effects": 2 * len(LISTS), "weat": 2 * len(LISTS) * (1 + DRAWS)}


@pytest.mark.slow
def test_report_without_nulls_reads_file_once(embedding):
    report(measure_lists(LISTS, embedding, ()), calibration_draws=0, sampling=FEW)
    assert len(embedding.reader.readings) == 1


def test_excerpt_with_pool_reads_file_once(embedding):
    excerpt = embedding.excerpt(LISTS[0].targets, pool=True)
    assert len(excerpt.pool()) == len(embedding.vocabulary())
    assert set(excerpt.find(LISTS[0].targets)) == set(LISTS[0].targets)
    assert len(embedding.reader.readings) == 1
