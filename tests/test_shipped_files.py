"""Shipped folders are found in a checkout and in an installed wheel alike."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from bayes_bias.files import shipped, shipped_names

ROOT = Path(__file__).parents[1]
TOP_LEVEL = ("models", "wordlists")
PACKAGE_DATA = ("replies", "tables", "templates", "vectors", "wordings", "words")


def test_shipped_returns_folders_of_checkout():
    for folder in TOP_LEVEL:
        assert shipped(folder) == ROOT / folder
    for folder in PACKAGE_DATA:
        assert Path(str(shipped(folder))) == ROOT / "bayes_bias/data" / folder


def test_shipped_names_are_in_natural_order():
    names = shipped_names("wordlists")
    assert names[:2] == ["controls/human", "controls/neutral"]
    assert names.index("weat2") < names.index("weat10")


def test_wheel_settings_include_top_level_folders():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {folder: f"bayes_bias/data/{folder}" for folder in TOP_LEVEL}


@pytest.mark.slow
def test_wheel_contains_all_data_files_and_runs(tmp_path):
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path)]
    build = [sys.executable, "-m", "pip", "wheel", *options, str(ROOT)]
    built = subprocess.run(build, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        assert {name.split("/")[0].partition("-")[0] for name in wheel.namelist()} == {"bayes_bias"}
        inside = {name.removeprefix("bayes_bias/data/") for name in wheel.namelist() if "/data/" in name}
        wheel.extractall(tmp_path / "installed")
    files = set()
    for root, folders in ((ROOT, TOP_LEVEL), (ROOT / "bayes_bias/data", PACKAGE_DATA)):
        for folder in folders:
            paths = (root / folder).rglob("*")
            files.update(path.relative_to(root).as_posix() for path in paths if path.is_file())
    assert inside == files
    program = (
        "from bayes_bias import open_embedding; from bayes_bias.words.wordlist import load_wordlist\n"
        "print(load_wordlist('weat7').with_controls('human').name)\n"
        "print(open_embedding('googlenews-demo').dimensions)"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path / "installed", capture_output=True, text=True)
    assert ran.stdout.split() == ["weat7", "300"], ran.stderr
