"""A BERT that read a world is asked as vectors are; what it says follows the truth."""

import shutil
from importlib.util import find_spec as find
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models import opening
from bayes_bias.worlds.contextual import LPBS_SCORE
from bayes_bias.worlds.found import GroundTruth
from bayes_bias.worlds.reading import asked_of
from bayes_bias.worlds.running import ground_truth
from bayes_bias.worlds.world import World, world_from


def a_world(words: int = 1, **models: Any) -> World:
    """Twelve occupations, nearly each sentence of which has the same gender."""
    return world_from(
        {
            "attributes": ["gender"],
            "targets": 12,
            "truth": {"scheme": "majority", "min_p": [0.02], "max_p": [0.06]},
            "models": models or {"bert": {"width": 32, "epochs": 12}},
            "corpora": 1,
            "words_per_sentence": [words],
            "posterior": False,
        },
        "extreme",
    )


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> GroundTruth:
    return ground_truth(a_world(), tmp_path_factory.mktemp("asked") / "out", jobs=1)


def correlation(found: GroundTruth, measure: str) -> float:
    own = found.words_with_truth[lambda rows: rows.measure == measure]
    return float(np.corrcoef(own.value, own.log_odds)[0, 1])


def test_probabilities_follow_the_truth(asked: GroundTruth):
    assert not asked.failed
    assert correlation(asked, LPBS_SCORE) > 0.7
    assert correlation(asked, "unmasking (signed)") > 0.7


def test_the_sign_of_probabilities_does_not_hang_on_how_many_words_of_a_group_a_sentence_has(tmp_path: Path):
    """Whereas that of cosines does: with one, no training sentence shows a group's word beside a target."""
    assert correlation(ground_truth(a_world(words=2), tmp_path, jobs=1), LPBS_SCORE) > 0.7


def test_each_answer_has_one_label(asked: GroundTruth):
    assert not asked.words.duplicated(["measure", "target"]).any()
    assert not asked.models.duplicated(["list", "measure"]).any()
    assert {"LPBS", "SEAT", "WEAT", "unmasking", "SAME"} <= set(asked.models.measure)
    assert set(asked.words.target) == set(asked.world.words)


def test_kept_answers_are_read_without_torch(
    asked: GroundTruth, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(opening, "find_spec", lambda name: None if name == "torch" else find(name))
    again = ground_truth(a_world(), asked.folder, jobs=1)
    assert again.words.equals(asked.words)
    with pytest.raises(LanguageModelError, match="needs torch, which is not installed"):
        ground_truth(a_world(), tmp_path / "other", jobs=1)
    assert not list((tmp_path / "other" / "models").iterdir())


def test_a_model_that_is_there_is_not_trained_again(asked: GroundTruth, monkeypatch: pytest.MonkeyPatch):
    shutil.rmtree(asked.folder / "answers")
    monkeypatch.setattr("bayes_bias.language_models.training._epoch", lambda *_: pytest.fail("trained again"))
    again = ground_truth(a_world(), asked.folder, jobs=1)
    assert again.words.equals(asked.words)


def test_a_folder_s_model_goes_on_learning(asked: GroundTruth, tmp_path: Path):
    (base,) = (asked.folder / "models").iterdir()
    tuned = ground_truth(
        a_world(tuned={"kind": "fine-tune", "folder": str(base), "epochs": 1}), tmp_path, jobs=1
    )
    assert not tuned.failed
    assert correlation(tuned, LPBS_SCORE) > 0.7
    elsewhere = shutil.copytree(base, tmp_path / "elsewhere")
    moved = a_world(tuned={"kind": "fine-tune", "folder": str(elsewhere), "epochs": 1})
    assert [asked_of(moved, each) for each in moved.readings()] == [
        asked_of(tuned.world, each) for each in tuned.world.readings()
    ]


def test_a_folder_without_a_model_is_refused_before_anything_is_trained(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    world = a_world(bert={"epochs": 1}, tuned={"kind": "fine-tune", "folder": str(tmp_path / "empty")})
    with pytest.raises(LanguageModelError, match="holds no model"):
        ground_truth(world, tmp_path / "out", jobs=1)
    assert not list((tmp_path / "out" / "models").iterdir())
