"""`calibrate` and `plan`: what a user sees."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.helpers import letters, says

LIST = """
[groups]
men = ["he", "him", "his"]
women = ["she", "her", "hers"]
[classes]
work = ["boss", "job", "firm"]
home = ["maid", "cook", "crib"]
other = ["tree", "rock", "cloud", "river"]
[stereotypes]
men = "work"
women = "home"
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    content = tomllib.loads(LIST)
    listed = [word for words in (*content["groups"].values(), *content["classes"].values()) for word in words]
    words = [*listed, *letters(40)]
    vectors = np.random.default_rng(0).standard_normal((len(words), 20)).astype(np.float32)
    np.savez(tmp_path / "tiny.npz", words=np.array(words), vectors=vectors)
    (tmp_path / "tiny.toml").write_text(LIST, encoding="utf-8")
    return str(tmp_path / "tiny.toml"), str(tmp_path / "tiny.npz")


@pytest.mark.slow
def test_calibrate_prints_shares_and_keeps_records(run, files, tmp_path):
    wordlist, embedding = files
    options = ["--controls", "none", "--draws", "2", "--jobs", "1", "--out", tmp_path / "records.csv"]
    code, out, _ = run("calibrate", wordlist, "-e", embedding, *options)
    assert code == 0
    assert says(out.replace("\n", " "), "findings 5% WEAT")
    assert set(pd.read_csv(tmp_path / "records.csv").method) == {"WEAT", "crossed"}


def test_calibrate_command_exchanges_targets_by_default(run, files):
    wordlist, embedding = files
    options = ["--controls", "none", "--draws", "2", "--jobs", "1", "--drawn", "own words"]
    code, out, _ = run("calibrate", wordlist, "-e", embedding, *options)
    assert code == 0
    assert says(out, "targets of the list exchanged at random between groups")


def test_calibrate_command_rejects_too_many_random_words(run, files):
    wordlist, embedding = files
    options = ["--controls", "none", "--draws", "2", "--jobs", "1", "--size", "60"]
    code, _, err = run("calibrate", wordlist, "-e", embedding, *options)
    assert code == 2
    assert says(err, "120 words 40")


@pytest.mark.slow
def test_plan_command_prints_power_and_writes_figure(run, files, tmp_path):
    wordlist, embedding = files
    path = tmp_path / "plan.png"
    options = ("-e", embedding, "--controls", "none")
    code, out, _ = run("plan", wordlist, "--bias", "0.02", *options, "--n-targets", "20", "--n-attributes", "20,30,20")
    assert code == 0
    assert says(out, "targets 20 30 20")
    code, out, _ = run("plan", wordlist, "--bias", "0.02", *options, "--out", path)
    assert code == 0
    assert says(out.replace("\n", " "), "detecting 0.02 80% words")
    assert path.stat().st_size > 10_000
