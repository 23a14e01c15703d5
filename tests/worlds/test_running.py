"""A short world end to end: the truth is found, a killed run repeats nothing, a measure of one's own joins."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.measures import Result, measure
from bayes_bias.measures.registry import MEASURES
from bayes_bias.tasks.store import MARKER
from bayes_bias.worlds import downstream, reading
from bayes_bias.worlds.asking import POSTERIOR, SCORE
from bayes_bias.worlds.corpus import draw_truth
from bayes_bias.worlds.found import GroundTruth
from bayes_bias.worlds.questions.asked import answers
from bayes_bias.worlds.retest import retest
from tests.worlds.helpers import short_world


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("worlds") / "short"


@pytest.fixture(scope="module")
def found(folder: Path) -> GroundTruth:
    return bb.ground_truth(short_world(seeds=2), folder, jobs=1)


@pytest.mark.slow
def test_a_model_of_a_corpus_knows_what_the_corpus_says(found: GroundTruth) -> None:
    words = found.words_with_truth
    for name in (SCORE, POSTERIOR, "SAME (signed)", "RIPA"):
        for _, own in words[words.measure == name].groupby("seed"):
            assert np.corrcoef(own.value, own.log_odds)[0, 1] > 0.8, name


@pytest.mark.slow
def test_the_posterior_of_a_word_lies_between_its_bounds_and_knows_sure_signs(found: GroundTruth) -> None:
    own = found.words_with_truth[found.words_with_truth.measure == POSTERIOR]
    assert ((own.lower < own.value) & (own.value < own.upper)).all()
    clear = own[(own.lower > 0) | (own.upper < 0)]
    assert len(clear) > 10
    assert (np.sign(clear.value) == np.sign(clear.log_odds)).mean() > 0.9


@pytest.mark.slow
def test_what_is_kept_is_neither_trained_nor_asked_again(
    found: GroundTruth, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(reading, "train_static", refuse)
    again = bb.ground_truth(short_world(seeds=2), folder, jobs=1)
    pd.testing.assert_frame_equal(again.words, found.words)
    next(path for path in (folder / "answers").glob("*.json") if path.name != MARKER).unlink()
    asked_again = bb.ground_truth(short_world(seeds=2), folder, jobs=1)
    pd.testing.assert_frame_equal(asked_again.models, found.models)


@pytest.mark.slow
def test_a_measure_of_ones_own_is_in_every_table(folder: Path, found: GroundTruth) -> None:
    class Lean(Result):
        measure = "lean"
        word_value = "lean"

    @measure("lean")
    def _lean(occasion: object) -> Lean:
        scores = occasion.table.values.mean("attribute").to_series()  # type: ignore[attr-defined]
        return Lean(value=float(scores.mean()), range=(-1, 1), words=scores.to_frame("lean"))

    try:
        joined = bb.ground_truth(short_world(seeds=2), folder, jobs=1)
    finally:
        MEASURES.pop("lean")
    assert "lean" in set(joined.words.measure)
    assert "lean" in set(joined.models.measure)


@pytest.mark.slow
def test_the_page_answers_every_question_that_the_world_can(found: GroundTruth, tmp_path: Path) -> None:
    page = bb.write(found, tmp_path / "page", figures=()).read_text(encoding="utf-8")
    asked = [answer.question for answer in answers(found)]
    assert {each.name for each in asked} == {"words", "robustness"}
    assert all(each.title in page for each in asked)
    assert len(pd.read_csv(tmp_path / "page" / "words.csv.gz")) == len(found.words)


@pytest.mark.slow
def test_debiasing_takes_the_bias_out_of_words_and_leaves_the_gaps_of_a_classifier(
    found: GroundTruth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downstream, "CLASSIFIERS", ("logistic regression",))
    world = found.world
    vectors = reading.vectors_of(world, next(world.readings()), found.folder / "models")
    classes = pd.DataFrame(downstream.downstream(world, draw_truth(world, 0), vectors, seed=0))
    of = classes.groupby("components")
    size, gaps = (of[name].apply(lambda values: values.abs().mean()) for name in ("bias", "gap"))
    assert size[1] < 0.2 * size[0]
    assert gaps[1] > 0.5 * gaps[0]


@pytest.mark.slow
def test_a_larger_part_of_the_targets_changes_a_score_less(found: GroundTruth) -> None:
    world = found.world
    vectors = reading.vectors_of(world, next(world.readings()), found.folder / "models")
    changes = pd.DataFrame(retest(world, vectors, seed=0)).pivot_table(
        index="measure", columns="share", values="change"
    )
    assert (changes[0.5] < changes[0.05]).all()
