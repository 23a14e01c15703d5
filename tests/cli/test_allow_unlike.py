"""The option `--allow-unlike` on embeddings that are not comparable."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayes_bias import load_wordlist, save_vectors
from tests.helpers import letters, says

LIST = load_wordlist("weat7")
SHORT = ("--draws", "500", "--figures", "none")


@pytest.fixture
def years(tmp_path: Path) -> list[Path]:
    """Files of two slices, of which the second has words that are much nearer to each other."""
    files = []
    for seed, (year, shared) in enumerate({1900: 0.2, 1950: 0.9}.items()):
        rng = np.random.default_rng(seed)
        words = [*LIST.targets, *LIST.attributes, *letters(200)]
        save_vectors({word: rng.standard_normal(30) + shared for word in words}, tmp_path / f"{year}.npz")
        files.append(tmp_path / f"{year}.npz")
    return files


def series(files: list[Path]) -> tuple[object, ...]:
    return "over-time", "weat7", *(part for file in files for part in ("--at", f"{file.stem}={file}"))


def comparison(files: list[Path]) -> tuple[object, ...]:
    return "compare", "weat7", "--before", files[0], "--after", files[1], "--controls", "none"


@pytest.mark.slow
@pytest.mark.parametrize("command", [series, comparison])
def test_commands_return_no_verdict_for_dissimilar_embeddings_unless_allowed(run, years, sketched, tmp_path, command):
    arguments = (*command(years), *SHORT)
    code, withheld, err = run(*arguments)
    assert code == 0, err
    assert says(withheld, "Not similarly trained no verdict")
    assert not says(withheld, "A verdict was requested")
    code, allowed, err = run(*arguments, "--allow-unlike", "--out", tmp_path / "made")
    assert code == 0, err
    assert says(allowed, "Not similarly trained A verdict was requested nevertheless")
    provenance = json.loads((tmp_path / "made" / "provenance.json").read_text())
    assert provenance.get("alike", provenance)["allow_unlike"]
