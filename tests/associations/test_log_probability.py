"""Log probabilities of words beside each other, from whatever scores a sentence with a blank."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from bayes_bias import WordList, cosines, fit, log_probabilities, verdict
from bayes_bias.errors import MeasureError, TableError, TemplateError
from bayes_bias.measures import lpbs, measure_all, unmasking
from bayes_bias.table.metric import LOG_PROBABILITY, LOG_PROBABILITY_RATIO
from bayes_bias.words.templates import Cloze
from tests.helpers import FEW, refused

WORDS = WordList.from_mapping(
    {
        "groups": {"men": ["John", "Paul"], "women": ["Amy", "Joan"]},
        "classes": {"work": ["boss", "office"], "home": ["cook", "orchid"]},
        "stereotypes": {"men": "work", "women": "home"},
        "word_classes": {"noun": ["boss", "office", "cook"]},
    },
    name="jobs",
)
WORK = ("boss", "office")


class Model:
    """Men are likelier beside work by one nat, women beside home by two; long words are less likely."""

    name, identity = "by hand", "1"

    def __init__(self) -> None:
        self.asked: list[Cloze] = []

    def __call__(self, clozes: Sequence[Cloze]) -> list[float]:
        self.asked += clozes
        return [self.log_probability(cloze) for cloze in clozes]

    def log_probability(self, cloze: Cloze) -> float:
        at_work = any(word in cloze.seen for word in WORK)
        at_home = any(word in cloze.seen for word in ("cook", "orchid"))
        gain = {"John": at_work, "Paul": at_work, "Amy": 2 * at_home, "Joan": 2 * at_home}
        return -5.0 - len(cloze.word) / 10 + gain.get(cloze.word, 0)


def test_log_probabilities_equals_gain_by_attribute():
    table = log_probabilities(WORDS, Model(), ())
    assert table.metric == LOG_PROBABILITY_RATIO
    assert table.replicates is not None
    assert len(table.replicates.labels) == 10
    for own in table.singles().values():
        np.testing.assert_allclose(own.block("men", "work"), 1)
        np.testing.assert_allclose(own.block("women", "home"), 2)
        np.testing.assert_allclose(own.block("women", "work"), 0, atol=1e-12)


def test_log_probabilities_scores_word_with_attribute_and_mask():
    model = Model()
    log_probabilities(WORDS, model, ())
    with_other = Cloze("When people think of ", "John", ", they think of an orchid.")
    assert with_other in model.asked
    hidden = next(cloze for cloze in model.asked if cloze.word == "John" and cloze.hidden)
    assert hidden.seen == "When people think of ___, they think of ___."
    assert len(model.asked) == (16 + 4) * 10


def test_log_probabilities_predicts_attributes_when_requested():
    model = Model()
    table = log_probabilities(WORDS, model, (), predict="attributes", corrected=False)
    assert table.metric == LOG_PROBABILITY
    assert table.provenance["predicted"] == "attributes"
    assert {cloze.word for cloze in model.asked} == {"boss", "office", "cook", "orchid"}
    assert not any(cloze.hidden for cloze in model.asked)
    with refused(TableError, "'target' 'targets'"):
        log_probabilities(WORDS, model, (), predict="target")


def test_lpbs_equals_standardised_difference_of_scores():
    table = log_probabilities(WORDS, Model(), ())
    found = lpbs(table)
    scores = np.array([1.0, 1.0, -2.0, -2.0])
    np.testing.assert_allclose(found.words.score, scores)
    assert found.value == pytest.approx(3 / scores.std(ddof=1))
    assert (found.difference, found.p_value, found.exact) == (pytest.approx(3), pytest.approx(2 / 6), True)
    raw = log_probabilities(WORDS, Model(), (), corrected=False)
    assert lpbs(raw).value == pytest.approx(found.value)  # the prior cancels


def test_unmasking_equals_jensen_shannon_distance_from_even_odds():
    class Halves(Model):
        def log_probability(self, cloze: Cloze) -> float:
            return float(np.log(0.6 if cloze.word in WORK and "John" in cloze.seen else 0.2))

    found = unmasking(log_probabilities(WORDS, Halves(), (), predict="attributes", corrected=False))
    assert found.words.loc["John", "work"] == pytest.approx(0.75)
    assert found.words.loc["John", "distance"] == pytest.approx(jensenshannon([0.75, 0.25], [0.5, 0.5], base=2))
    assert found.words.loc["Amy", "distance"] == pytest.approx(0, abs=1e-7)
    assert found.range[1] == pytest.approx(0.5579, abs=1e-4)  # sqrt(H(.75) - 1/2) bits


def test_lpbs_and_unmasking_raise_for_unsuitable_table():
    cosine = cosines("weat7", "googlenews-demo", controls=())
    with refused(MeasureError, "LPBS log probabilities cosines"):
        lpbs(cosine)
    with refused(MeasureError, "predict='attributes' corrected=False"):
        unmasking(log_probabilities(WORDS, Model(), ()))
    rows = measure_all(log_probabilities(WORDS, Model(), ())).table.index
    assert "LPBS" in rows
    assert not {"MAC", "SAME", "SEAT", "CEAT", "unmasking"} & set(rows)


@pytest.mark.slow
def test_fit_and_verdict_of_log_probabilities_have_unit_nats():
    class Noisy(Model):
        def log_probability(self, cloze: Cloze) -> float:
            noise = np.random.default_rng(crc32(f"{cloze.seen} {cloze.word}".encode())).normal()
            return super().log_probability(cloze) - 5 + 0.1 * noise

    fitted = fit(log_probabilities(WORDS, Noisy(), ()), sampling=FEW)
    assert fitted.attrs["metric"].startswith('{"name": "log probability ratio", "unit": "nats"')
    found = verdict(fitted)
    assert found.metric.unit == "nats"
    assert found.mean == pytest.approx(1.5, abs=0.1)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (lambda clozes: [-1.0], "log probability 20"),
        (lambda clozes: [float("nan")] * len(clozes), "nan 'John' When people think of"),
        (lambda clozes: [0.7] * len(clozes), "0.7 logarithms"),
    ],
)
def test_log_probabilities_raises_for_invalid_answers(answers, message):
    with refused(TableError, message):
        log_probabilities(WORDS, answers, ())


def test_log_probabilities_raises_for_one_slot_and_unclassed_words():
    with refused(TemplateError, "{word} {target} {attribute}"):
        log_probabilities(WORDS, Model(), (), templates="plain-10")
    unknown = WordList.from_mapping(
        {
            "groups": {"men": ["Ottokar"], "women": ["Amy"]},
            "classes": {"work": ["boss"], "home": ["cook"]},
            "stereotypes": {"men": "work", "women": "home"},
        }
    )
    with refused(TemplateError, '"Ottokar"'):
        log_probabilities(unknown, Model(), ())
