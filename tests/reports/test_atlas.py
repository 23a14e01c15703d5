"""The atlas shows every cell, also those that failed, did not converge, or were only screened."""

from pathlib import Path

import pandas as pd

import bayes_bias as bb
from bayes_bias.plots.atlas import looks_of
from tests.helpers import states
from tests.sweeps.made_up import made_sweep


def test_every_cell_is_marked_by_what_became_of_it() -> None:
    found = made_sweep()
    looks = looks_of(found.cells)
    assert looks.iloc[[1, 5, 7]].tolist() == ["no numbers", "not converged", "screened by the quasi-F alone"]
    assert set(looks[found.cells.survives]) == {"distinguishable after Holm"}


def test_the_page_tells_what_is_missing_and_the_files_hold_every_cell(tmp_path: Path) -> None:
    found = made_sweep()
    page = bb.write(found, tmp_path / "atlas", figures=())
    text = page.read_text(encoding="utf-8")
    for claim in ("half words no vector", "R-hat 1.030", "geometry", "screened"):
        assert states(text, claim)
    assert states(text, "false finding 12")
    assert len(pd.read_csv(page.parent / "cells.csv")) == len(found.cells) == 12
    assert (page.parent / "tables.tex").read_text(encoding="utf-8").count(r" \\") >= 12


def test_a_single_cell_is_an_atlas_too(tmp_path: Path) -> None:
    text = bb.write(made_sweep(1, 1), tmp_path / "atlas", figures=()).read_text(encoding="utf-8")
    assert states(text, "One embedding one list 1 cell 1 posterior")
    assert not states(text, "false finding")
