"""A BERT that read a scenario is asked as vectors are; what it says follows the truth."""

import shutil
from importlib.util import find_spec as find
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models import opening
from studies.known_bias.asking import LPBS_SCORE
from studies.known_bias.results import KnownBias
from studies.known_bias.running import decided_by, run
from studies.known_bias.scenario import Scenario, scenario_from
from tests.helpers import refused


def a_scenario(words: int = 1, **models: Any) -> Scenario:
    """Twelve occupations, nearly each sentence of which has the same gender."""
    return scenario_from(
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
def asked(tmp_path_factory: pytest.TempPathFactory) -> KnownBias:
    return run(a_scenario(), tmp_path_factory.mktemp("asked") / "out", jobs=1)


def correlation(found: KnownBias, measure: str) -> float:
    own = found.words_with_truth[lambda rows: rows.measure == measure]
    return float(np.corrcoef(own.value, own.log_odds)[0, 1])


def test_lpbs_and_unmasking_correlate_with_truth(asked: KnownBias):
    assert not asked.failed
    assert correlation(asked, LPBS_SCORE) > 0.7
    assert correlation(asked, "unmasking (signed)") > 0.7


def test_lpbs_correlates_with_truth_in_longer_sentences(tmp_path: Path):
    """Whereas that of cosines does: with one, no training sentence shows a group's word beside a target."""
    assert correlation(run(a_scenario(words=2), tmp_path, jobs=1), LPBS_SCORE) > 0.7


def test_known_bias_results_have_unique_measures_and_targets(asked: KnownBias):
    assert not asked.words.duplicated(["measure", "target"]).any()
    assert not asked.models.duplicated(["list", "measure"]).any()
    assert {"LPBS", "SEAT", "WEAT", "unmasking", "SAME"} <= set(asked.models.measure)
    assert set(asked.words.target) == set(asked.scenario.words)


def test_run_reads_kept_answers_without_torch(asked: KnownBias, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(opening, "find_spec", lambda name: None if name == "torch" else find(name))
    again = run(a_scenario(), asked.folder, jobs=1)
    assert again.words.equals(asked.words)
    with refused(LanguageModelError, "torch installed"):
        run(a_scenario(), tmp_path / "other", jobs=1)
    assert not list((tmp_path / "other" / "models").iterdir())


def test_run_reuses_trained_model(asked: KnownBias, monkeypatch: pytest.MonkeyPatch):
    shutil.rmtree(asked.folder / "answers")
    monkeypatch.setattr("studies.known_bias.training._epoch", lambda *_: pytest.fail("trained again"))
    again = run(a_scenario(), asked.folder, jobs=1)
    assert again.words.equals(asked.words)


def test_run_fine_tunes_model_of_folder(asked: KnownBias, tmp_path: Path):
    (base,) = (asked.folder / "models").iterdir()
    tuned = run(a_scenario(tuned={"kind": "fine-tune", "folder": str(base), "epochs": 1}), tmp_path, jobs=1)
    assert not tuned.failed
    assert correlation(tuned, LPBS_SCORE) > 0.7
    elsewhere = shutil.copytree(base, tmp_path / "elsewhere")
    moved = a_scenario(tuned={"kind": "fine-tune", "folder": str(elsewhere), "epochs": 1})
    assert [decided_by(moved, reading) for reading in moved.readings()] == [
        decided_by(tuned.scenario, reading) for reading in tuned.scenario.readings()
    ]


def test_run_raises_for_empty_model_folder_before_training(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    scenario = a_scenario(bert={"epochs": 1}, tuned={"kind": "fine-tune", "folder": str(tmp_path / "empty")})
    with refused(LanguageModelError, "model"):
        run(scenario, tmp_path / "out", jobs=1)
    assert not list((tmp_path / "out" / "models").iterdir())
