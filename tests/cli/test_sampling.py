"""How to sample is said by the same options wherever something is fitted."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_bias import Sampling, load_fit, load_wordlist, save_vectors
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


# Commands that sample, with the least that each of them needs.
COMMANDS = [
    "fit weat7",
    "report weat7",
    "compare weat7 --before googlenews-demo --after hard --sets she:he",
    "stability weat7 -e googlenews-demo -e trained-again.npz",
    "plan weat7 --bias 0.02",
    "measures weat7 --word-draws 0",
    "sentence-pairs pairs-demo",
    "tpr-gaps tpr-demo",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_fitting_commands_pass_target_accept_to_sampler(run, command, monkeypatch):
    def sampler(model, seed, sampling):
        raise RuntimeError(f"sampler called with {sampling.target_accept}")

    monkeypatch.setattr("bayes_bias.fitting.fit_model.sample_model", sampler)
    rng = np.random.default_rng(1)
    save_vectors({word: rng.standard_normal(300) for word in load_wordlist("weat7").words}, "trained-again.npz")
    assert says(run(*command.split(), "--target-accept", 0.987)[2], "sampler called with 0.987")


@pytest.mark.parametrize("command", COMMANDS)
def test_fitting_commands_reject_invalid_target_accept(run, command):
    code, _, err = run(*command.split(), "--target-accept", 2)
    assert code == 2
    assert says(err, "'--target-accept'")
