"""`python -m studies.known_bias run` in a terminal."""

from pathlib import Path

import pytest

from studies.known_bias.__main__ import app
from tests.helpers import says

SCENARIO = """
title = "A short scenario"
attributes = ["gender"]
targets = 20
words_per_sentence = [3]
corpora = 1
posterior = false
[truth]
scheme = "majority"
min_p = [0.05]
max_p = [0.8]
[models.cbow]
dimensions = 20
"""


@pytest.mark.gensim
@pytest.mark.slow
def test_run_command_writes_page_and_trains_once(run, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SCENARIO, encoding="utf-8")
    out = tmp_path / "out"
    code, said, _ = run("run", tmp_path / "short.toml", "--out", out, "--jobs", 1, commands=app)
    assert code == 0
    assert "1 trainings" in " ".join(said.split())
    assert (out / "page" / "index.html").is_file()
    models = {path: path.stat().st_mtime_ns for path in (out / "models").iterdir()}
    code, _, _ = run("run", tmp_path / "short.toml", "--out", out, "--jobs", 1, commands=app)
    assert (code, {path: path.stat().st_mtime_ns for path in (out / "models").iterdir()}) == (0, models)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["majorty", "--out", "out"], "scenario 'majorty' 'majority'"),
        (["majority", "--out", "file"], "file"),
        (["majority", "--out", "out", "--figures", "gif"], "'gif'"),
    ],
)
def test_run_command_rejects_bad_arguments(run, arguments, message, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    code, _, error = run("run", *arguments, commands=app)
    assert code == 2
    assert says(error, message)
    assert not Path("out").exists()
