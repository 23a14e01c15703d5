"""Names of files, and what a killed run leaves."""

import os
import re
from pathlib import Path

import pytest

from bayes_bias.documents.folder import check_folder
from bayes_bias.files import UNFINISHED, file_names, unfinished_name, whole_file


def test_file_names_are_safe_and_differ():
    names = file_names(["weat6", "WEAT6", "../../etc/passwd", "中文", "<b>", "a/b"])
    assert len({name.lower() for name in names.values()}) == 6
    assert all(re.fullmatch(r"[a-z0-9_-]+", name) for name in names.values())


def left_by_a_killed_run(home: Path, path: Path) -> Path:
    left = unfinished_name(home, path)
    if path.suffix:
        left.write_text("half")
    else:
        (left / "figures").mkdir(parents=True)
        (left / "figures" / "half.png").write_text("half")
    return left


@pytest.mark.parametrize("name", ["fit.nc", "中文.csv"])
def test_a_killed_runs_file_is_cleared(tmp_path, name):
    left_by_a_killed_run(tmp_path, tmp_path / name)
    other = left_by_a_killed_run(tmp_path, tmp_path / "other.nc")
    with whole_file(tmp_path / name) as unfinished:
        unfinished.write_text("whole")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / name, other])


@pytest.mark.parametrize(("there", "within"), [(False, False), (True, False), (True, True)])
def test_a_killed_runs_folder_is_cleared(tmp_path, monkeypatch, there, within):
    out = tmp_path / "report"
    if there:
        out.mkdir()
    if within:  # a working folder does not change places with another
        monkeypatch.chdir(out)
    home = out if within else tmp_path
    left_by_a_killed_run(home, out)
    other = left_by_a_killed_run(home, tmp_path / "another")
    check_folder(out)
    assert list(tmp_path.rglob(f"{UNFINISHED}*")) == [other]


def test_another_runs_unfinished_file_stays(tmp_path):
    mine = left_by_a_killed_run(tmp_path, tmp_path / "fit.nc")
    of_another = mine.rename(tmp_path / mine.name.replace(f"-{os.getpid()}.", f"-{os.getppid()}."))
    with whole_file(tmp_path / "fit.nc") as unfinished:
        unfinished.write_text("whole")
    assert of_another.exists()
