"""`calibrate`, `plan` and `check`: what a user sees."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_bias.cli import main

LIST = """
[groups]
men = ["he", "him", "his"]
women = ["she", "her", "hers"]
[classes]
work = ["boss", "job", "firm"]
home = ["maid", "cook", "crib"]
other = ["tree", "rock", "cloud", "river"]
[associations]
men = "work"
women = "home"
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    content = tomllib.loads(LIST)
    listed = [word for words in (*content["groups"].values(), *content["classes"].values()) for word in words]
    words = [*listed, *(f"word{chr(97 + k % 26)}{chr(97 + k // 26)}" for k in range(40))]
    vectors = np.random.default_rng(0).standard_normal((len(words), 20)).astype(np.float32)
    np.savez(tmp_path / "tiny.npz", words=np.array(words), vectors=vectors)
    (tmp_path / "tiny.toml").write_text(LIST, encoding="utf-8")
    return str(tmp_path / "tiny.toml"), str(tmp_path / "tiny.npz")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code


def test_calibrate_prints_shares_and_keeps_records(files, tmp_path, capsys):
    wordlist, embedding = files
    options = ["--controls", "none", "--draws", "2", "--jobs", "1", "--out", str(tmp_path / "records.csv")]
    assert run("calibrate", wordlist, "-e", embedding, *options) == 0
    assert "findings at the 5% level: WEAT" in capsys.readouterr().out.replace("\n", " ")
    assert set(pd.read_csv(tmp_path / "records.csv").method) == {"WEAT", "crossed"}


def test_more_random_words_than_there_are_are_refused_in_one_line(files, capsys):
    wordlist, embedding = files
    options = ["--controls", "none", "--draws", "2", "--jobs", "1", "--size", "60"]
    assert run("calibrate", wordlist, "-e", embedding, *options) == 2
    assert "a null needs 120 random words and there are 40 to draw from" in capsys.readouterr().err


def test_plan_prints_power_and_draws_it(files, tmp_path, capsys):
    wordlist, embedding = files
    assert (
        run("plan", wordlist, "-e", embedding, "--controls", "none", "--out", str(tmp_path / "plan.png")) == 0
    )
    assert "Probability of excluding zero" in capsys.readouterr().out.replace("\n", " ")
    assert (tmp_path / "plan.png").stat().st_size > 10_000


def test_check_compares_with_the_published_model(files, capsys):
    wordlist, embedding = files
    assert run("check", wordlist, "-e", embedding, "--controls", "none") == 0
    out = capsys.readouterr().out
    for part in ("predictive intervals", "PSIS-LOO", "hierarchical", "Sensitivity"):
        assert part in out
