"""What the folders of analyses contain: every file that they cite, and all that is needed to repeat the result."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.documents.document import Documented
from bayes_bias.table.files import read_table
from benchmarks.simulated_series import slices
from tests.analyses.answers.made_up import LIST, answers
from tests.analyses.sentence_pairs.tables import simulated
from tests.analyses.sweep.made_up import made_sweep
from tests.helpers import changed, random_table

BRIEF = bb.Sampling(draws=150, tune=150, chains=2)
_SOURCES = {"vectors.txt"}  # the file of vectors of the made-up sweep
_FILE = re.compile(r"\b[\w-]+\.(?:csv|tex|txt|json|nc|bib|parquet)\b")


def compared() -> bb.Comparison:
    return bb.compare(random_table(), changed(random_table(), -0.05), sampling=BRIEF)


def series() -> bb.OverTime:
    return bb.over_time(slices(np.random.default_rng(3), (1900, 1950), (0.02, 0.1)), sampling=BRIEF)


def asked() -> Documented:
    return bb.answers.estimate(answers(40), LIST)


def pairs() -> bb.sentence_pairs.SentencePairs:
    return bb.sentence_pairs.estimate(simulated(60, 6), sampling=BRIEF)


FOLDERS: dict[str, tuple[Callable[[], Documented], set[str]]] = {
    "comparison": (compared, {"words.csv", "table-before.csv", "table-after.csv", "tables.tex", "appendix.tex"}),
    "over time": (series, {"words.csv", "table-1900.csv", "table-1950.csv", "tables.tex", "appendix.tex"}),
    "answers": (asked, {"words.csv", "replies.csv", "tables.tex"}),
    "pairs": (pairs, {"scores.csv", "tables.tex"}),
    "sweep": (made_sweep, {"cells.csv", "tables.tex"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS)
def test_folder_contains_every_file_that_it_cites(name: str, tmp_path: Path) -> None:
    analyse, expected = FOLDERS[name]
    folder = bb.write(analyse(), tmp_path / "out", figures=()).parent
    files = {path.name for path in folder.iterdir()}
    assert expected <= files
    for text in ("index.html", "methods.txt", "tables.tex"):
        assert set(_FILE.findall((folder / text).read_text(encoding="utf-8"))) - _SOURCES <= files
    assert "seed" in (folder / "provenance.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_comparison_is_repeated_from_its_folder_alone(tmp_path: Path) -> None:
    found = compared()
    folder = bb.write(found, tmp_path / "out", figures=()).parent
    before, after = (read_table(folder / f"table-{side}.csv") for side in ("before", "after"))
    again = bb.compare(before, after, versions=True, sampling=BRIEF)
    pd.testing.assert_frame_equal(again.bias, found.bias)


def test_provenance_contains_command_line(run, from_priors, tmp_path: Path) -> None:
    code, _, error = run("tpr-gaps", "tpr-demo", "--of", "F", "--out", tmp_path / "gaps", "--figures", "none")
    assert code == 0, error
    provenance = json.loads((tmp_path / "gaps" / "provenance.json").read_text(encoding="utf-8"))
    assert provenance["command"].startswith("bayes-bias tpr-gaps tpr-demo --of F --out ")
    assert (tmp_path / "gaps" / "tables.tex").is_file()
