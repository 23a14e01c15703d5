"""A table of log probabilities is what the model says of single sentences; so is what the command line makes of it."""

from pathlib import Path

import numpy as np
import pytest

from bayes_bias import Cloze, log_probabilities
from bayes_bias.cli import main
from bayes_bias.language_models import load_masked
from tests.transformers.conftest import Made

LIST = """
[groups]
people = ["nurse", "doctor"]
others = ["poet", "engineer"]
[classes]
skill = ["programmer", "gardener"]
place = ["hospital", "house"]
[stereotypes]
people = "place"
others = "skill"
[word_classes]
noun = ["nurse", "doctor", "poet", "engineer", "programmer", "gardener", "hospital", "house"]
"""
TEMPLATES = """
classes = ["noun", "name"]
[[sentences]]
text = "{target} was in {attribute}."
[[sentences]]
text = "He works as {target} and of {attribute}."
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A word list and templates in words that the tiny models have pieces of."""
    (tmp_path / "words.toml").write_text(LIST)
    (tmp_path / "two.toml").write_text(TEMPLATES)
    return str(tmp_path / "words.toml"), str(tmp_path / "two.toml")


def test_masked_log_probability_ratio_equals_word_minus_mask(masked: Made, files: tuple[str, str]):
    model = load_masked(masked.folder)
    table = log_probabilities(files[0], model, (), templates=files[1])
    together = Cloze("He works as a ", "poet", " and of a hospital.")
    beside_a_mask = Cloze("He works as a ", "poet", " and of something.", hidden=((26, 35),))
    assert beside_a_mask.seen == "He works as a ___ and of ___."
    (seen,), (hidden,) = model([together]), model([beside_a_mask])
    (_, second) = table.singles().values()
    assert second.values.sel(target="poet", attribute="hospital").item() == pytest.approx(seen - hidden, abs=1e-5)
    assert np.ptp(table.values.to_numpy()) > 1e-3


def test_measures_command_prints_measures_of_log_probabilities(
    made, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
):
    arguments = ["--masked", str(made("roberta").folder), "--templates", files[1], "--controls", "none"]
    with pytest.raises(SystemExit) as left:
        main(["measures", files[0], *arguments, "--no-posterior", "--csv"])
    assert left.value.code == 0
    rows = {line.partition(",")[0] for line in capsys.readouterr().out.splitlines()}
    assert {"WEAT", "LPBS"} <= rows
    assert not {"SEAT", "unmasking"} & rows
