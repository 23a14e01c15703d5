"""Shipped folders are found in a checkout and in an installed wheel alike."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from bayes_bias.resources import shipped, shipped_names

ROOT = Path(__file__).parents[1]
FOLDERS = ("models", "tables", "templates", "vectors", "wordlists", "worlds")


def test_a_checkout_comes_before_the_installed_copy():
    assert all(shipped(folder) == ROOT / folder for folder in FOLDERS)


def test_names_are_sorted_as_people_count():
    names = shipped_names("wordlists")
    assert names[:2] == ["controls/human", "controls/neutral"]
    assert names.index("weat2") < names.index("weat10")


def test_every_shipped_folder_goes_into_the_wheel():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {folder: f"bayes_bias/_data/{folder}" for folder in FOLDERS}


@pytest.mark.slow
def test_wheel_has_the_files_of_the_folders_and_works_alone(tmp_path):
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path)]
    build = [sys.executable, "-m", "pip", "wheel", *options, str(ROOT)]
    built = subprocess.run(build, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        inside = {name.removeprefix("bayes_bias/_data/") for name in wheel.namelist() if "/_data/" in name}
        wheel.extractall(tmp_path / "installed")
    files = {
        p.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for p in (ROOT / folder).rglob("*")
        if p.is_file()
    }
    assert inside == files
    program = (
        "from bayes_bias.embeddings import open_embedding; from bayes_bias.words.wordlist import load_wordlist\n"
        "print(load_wordlist('weat7').with_controls('human').name)\n"
        "print(open_embedding('googlenews-demo').dimensions)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path / "installed", capture_output=True, text=True
    )
    assert ran.stdout.split() == ["weat7", "300"], ran.stderr
