"""How to sample is said by the same options wherever something is fitted."""

from dataclasses import replace

import pytest

from bayes_bias import Sampling, load_fit
from bayes_bias.analyses.sentence_pairs.estimation import SAMPLING
from bayes_bias.cli.options import Sampler
from tests.helpers import says


def test_sampler_options_equal_python_defaults():
    assert Sampler().sampling == Sampling()
    assert replace(Sampler().sampling, tune=SAMPLING.tune) == SAMPLING


@pytest.mark.slow
def test_fit_command_uses_sampling_options(run, tmp_path):
    options = ["--draws", 110, "--chains", 2, "--target-accept", 0.9]
    code, _, err = run("fit", "weat7", "--controls", "none", *options, "--out", tmp_path / "fit.nc")
    assert code == 0, err
    attrs = load_fit(tmp_path / "fit.nc").attrs
    assert [attrs[name] for name in ("draws", "chains", "target_accept")] == [110, 2, 0.9]


@pytest.mark.parametrize(
    "command",
    [
        "fit weat7",
        "report weat7",
        "compare weat7 --before googlenews-demo --after googlenews-demo",
        "stability weat7",
        "plan weat7",
        "measures weat7",
        "sentence-pairs pairs-demo",
        "tpr-gaps tpr-demo",
    ],
)
def test_fitting_commands_reject_invalid_target_accept(run, command):
    code, _, err = run(*command.split(), "--target-accept", 2)
    assert code == 2
    assert says(err, "'--target-accept'")
