"""A short scenario end to end: the truth is found, a killed run repeats nothing, a measure of one's own joins."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.jobs import MARKER
from bayes_bias.measures import Result, measure
from bayes_bias.measures.registry import MEASURES
from studies.known_bias import classifier, running
from studies.known_bias.asking import EQUAL_FREQUENCY, POSTERIOR, SCORE, retest
from studies.known_bias.corpora import draw_truth
from studies.known_bias.questions import answers
from studies.known_bias.results import KnownBias
from studies.known_bias.running import run, vectors_of
from tests.studies.known_bias.helpers import short_scenario

pytestmark = [pytest.mark.gensim, pytest.mark.slow]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scenarios") / "short"


@pytest.fixture(scope="module")
def found(folder: Path) -> KnownBias:
    return run(short_scenario(seeds=2), folder, jobs=1)


@pytest.mark.thorough
def test_word_bias_correlates_with_log_odds_of_corpus(found: KnownBias) -> None:
    words = found.words_with_truth
    for name in (SCORE, POSTERIOR, "SAME (signed)", "RIPA"):
        for _, own in words[words.measure == name].groupby("seed"):
            assert np.corrcoef(own.value, own.log_odds)[0, 1] > 0.8, name


def test_word_interval_contains_mean_and_has_true_sign(found: KnownBias) -> None:
    own = found.words_with_truth[found.words_with_truth.measure == POSTERIOR]
    assert ((own.ci95_lb < own.value) & (own.value < own.ci95_ub)).all()
    clear = own[(own.ci95_lb > 0) | (own.ci95_ub < 0)]
    assert len(clear) > 10
    assert (np.sign(clear.value) == np.sign(clear.log_odds)).mean() > 0.9


def test_run_reuses_kept_models(found: KnownBias, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(running, "train_static", refuse)
    again = run(short_scenario(seeds=2), folder, jobs=1)
    pd.testing.assert_frame_equal(again.words, found.words)
    next(path for path in (folder / "answers").glob("*.json") if path.name != MARKER).unlink()
    asked_again = run(short_scenario(seeds=2), folder, jobs=1)
    pd.testing.assert_frame_equal(asked_again.models, found.models)


def test_run_adds_new_measure_to_every_table(folder: Path, found: KnownBias) -> None:
    @measure("lean")
    def _lean(table: bb.AssociationTable) -> Result:
        scores = table.values.mean("attribute").to_series()
        return Result(value=float(scores.mean()), range=(-1, 1), words=scores.to_frame("lean"), word_value="lean")

    try:
        joined = run(short_scenario(seeds=2), folder, jobs=1)
    finally:
        MEASURES.pop("lean")
    assert "lean" in set(joined.words.measure)
    assert "lean" in set(joined.models.measure)


def test_page_contains_every_question(found: KnownBias, tmp_path: Path) -> None:
    page = bb.write(found, tmp_path / "page", figures=()).read_text(encoding="utf-8")
    asked = [answer.question for answer in answers(found)]
    assert {question.name for question in asked} == {"words", "robustness"}
    assert all(question.title in page for question in asked)
    assert len(pd.read_csv(tmp_path / "page" / "words.csv.gz")) == len(found.words)


def test_debiasing_reduces_bias_but_keeps_classifier_gaps(found: KnownBias, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier, "CLASSIFIERS", ("logistic regression",))
    scenario = found.scenario
    vectors = vectors_of(scenario, next(scenario.readings()), found.folder / "models")
    classes = pd.DataFrame(classifier.downstream(scenario, draw_truth(scenario, 0), vectors, seed=0))
    of = classes.groupby("components")
    size, gaps = (of[name].apply(lambda values: values.abs().mean()) for name in ("bias", "gap"))
    assert size[1] < 0.2 * size[0]
    assert gaps[1] > 0.5 * gaps[0]


@pytest.mark.thorough
def test_retest_changes_less_for_larger_share(found: KnownBias) -> None:
    scenario = found.scenario
    vectors = vectors_of(scenario, next(scenario.readings()), found.folder / "models")
    changes = pd.DataFrame(retest(scenario, vectors, seed=0)).pivot_table(
        index="measure", columns="share", values="change"
    )
    assert (changes[0.5] < changes[0.05]).all()


def test_run_returns_bias_at_equal_frequency(tmp_path: Path) -> None:
    scenario = short_scenario(truth={"scheme": "skew", "mu": [0.9], "sigma": [0], "frequency": [8]}, repeats=4)
    models = run(scenario, tmp_path / "frequency", jobs=1).models.set_index("measure")
    adjusted, raw = models.loc[EQUAL_FREQUENCY], models[models.list == "two groups 1"].loc[POSTERIOR]
    assert adjusted.ci95_lb < adjusted.value < adjusted.ci95_ub
    # The half that is said more is said eight times as often, which may account for its bias.
    assert raw.ci95_lb > 0 > adjusted.ci95_lb
    assert 0 < adjusted.value < raw.value
    assert adjusted.answer == "undecided"
