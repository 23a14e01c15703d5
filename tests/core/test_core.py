"""An installation without optional dependencies: `make test-core`, in an environment of its own.

What measures, verdicts, and word lists need is there, and all else fails with the command that installs it.
"""

import json
import sys
from importlib import metadata
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.analyses import answers, sentence_pairs, tpr_gaps
from bayes_bias.cli import main
from bayes_bias.cli.main import COMMANDS
from bayes_bias.errors import LIBRARIES, BayesBiasError

VERDICT = "Not distinguishable from noise. The estimated bias is +0.014 (95% credible interval −0.012 to +0.040)."
# What docs/start.md promises, in bytes; compiled modules, which pip writes next to them, have a third as many.
LARGEST = 300_000_000
TESTED_WITH = {"iniconfig", "pip", "pluggy", "pytest"}


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        return stopped.value.code, *capsys.readouterr()

    return run


def test_wheel_is_installed_without_optional_dependencies():
    assert Path(bb.__file__).is_relative_to(sys.prefix)
    assert not [library for library in chain(*LIBRARIES.values(), ["gensim"]) if find_spec(library)]


def test_installed_files_are_smaller_than_promised():
    files = [
        file.locate()
        for distribution in metadata.distributions()
        if distribution.name not in TESTED_WITH
        for file in distribution.files
    ]
    assert sum(file.stat().st_size for file in files if file.suffix != ".pyc" and file.is_file()) < LARGEST


def test_verdict_and_weat_find_planted_bias_in_own_vectors():
    words = bb.load_wordlist("weat7")
    rng = np.random.default_rng(1)
    vectors = {}
    for group, own in words.stereotypes.items():
        axis = rng.normal(size=50)
        for word in (*words.groups[group], *words.classes[own]):
            vectors[word] = axis + rng.normal(size=50)
    table = bb.cosines(words, vectors, controls=())
    assert bb.verdict(table).text.startswith("Distinguishable from noise.")
    assert bb.measures.weat(table).effect_size > 1


def test_verdict_equals_that_of_whole_installation():
    assert bb.verdict(bb.cosines("weat7", "googlenews-demo")).text.startswith(VERDICT)


@pytest.mark.parametrize("arguments", [["weat", "weat7"], ["check", "weat7", "--rope", "0.05"]], ids=" ".join)
def test_commands_print_json(run, arguments):
    code, out, _ = run(*arguments, "--json")
    assert code == 0
    content = json.loads(out)
    assert content["command"] == arguments[0]
    assert content["results"]


def test_measures_command_needs_option_without_sampler(run):
    code, out, err = run("measures", "weat7")
    assert (code, out) == (2, "")
    assert "--no-posterior" in err
    code, out, _ = run("measures", "weat7", "--no-posterior", "--word-draws", "0")
    assert code == 0
    assert "WEAT" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_is_printed(run, name):
    assert run(name, "--help")[0] == 0


@pytest.mark.parametrize(
    ("extra", "command"),
    [
        ("sampling", "fit weat7"),
        ("sampling", "compare weat7 --before googlenews-demo --after googlenews-demo"),
        ("sampling", "calibrate weat7"),
        ("sampling", "multiverse weat7"),
        ("sampling", "summarize weat7.nc"),
        ("sampling", "tpr-gaps labels.csv"),
        ("sampling", "sentence-pairs scores.csv"),
        ("report", "report weat7"),
        ("report", "report weat7 --out report"),
        ("report", "compare weat7 --before googlenews-demo --after googlenews-demo --out report"),
        ("sklearn", "debias --method inlp --sets she:he,woman:man,her:his,girl:boy --out debiased.npz"),
        ("excel", "wordlists list.xlsx"),
        ("arrow", "wordlists list.parquet"),
        ("gensim", "weat weat7 --embedding glove-twitter-25"),
    ],
)
def test_command_fails_in_one_line_without_optional_dependency(run, extra, command):
    for name in ("list.xlsx", "list.parquet"):
        Path(name).write_bytes(b"PAR1")
    code, _, err = run(*command.split())
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert code == 2
    assert f"pip install 'bayes-bias[{extra}]'" in line
    assert "not installed" in line
    assert "Traceback" not in err


@pytest.mark.parametrize("space", [bb, bb.plots, answers, sentence_pairs, tpr_gaps], ids=lambda space: space.__name__)
def test_public_names_exist_or_name_command(space):
    for name in {*space.__all__, *(bb.TYPES if space is bb else ())}:
        try:
            getattr(space, name)
        except BayesBiasError as error:
            assert "pip install 'bayes-bias[" in str(error)  # noqa: PT017 (most names exist)
