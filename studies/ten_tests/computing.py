"""Ten lists in GoogleNews and GloVe vectors, and in a sentence encoder in ten templates."""

from pathlib import Path
from typing import Any

import pandas as pd

import bayes_bias as bb
from studies.auditing import audit, swept
from studies.study import Results

FILES = ("googlenews_31k.npz", "glove840b_weat_items.npz", "minilm_templates.npz")
_NAMES = ("GoogleNews", "GloVe", "MiniLM")
LISTS = tuple(f"weat{number}" for number in range(1, 11))
# Table 1 (GloVe) and table S1 (GoogleNews) of Caliskan, Bryson & Narayanan (2017).
PUBLISHED = {
    "GoogleNews": (1.54, 1.63, 0.58, 1.24, 0.72, 1.89, 0.97, 1.24, 1.30, -0.08),
    "GloVe": (1.50, 1.53, 1.41, 1.50, 1.28, 1.81, 1.06, 1.24, 1.38, 1.21),
}
# Two more names in each group, which the original states for GoogleNews alone.
_MORE_NAMES = {"European American names": ("Jay", "Kristen"), "African American names": ("Tremayne", "Latonya")}


def compute(folder: Path, kept: Path, jobs: int) -> Results:
    """The ten tests of Caliskan, Bryson & Narayanan (2017) in two embeddings and a sentence encoder."""
    files = {name: folder / file for name, file in zip(_NAMES, FILES, strict=True)}
    opened = {name: bb.open_embedding(file, name=name) for name, file in files.items()}
    found, cells = audit(opened, LISTS, kept, jobs)
    independent = swept(opened, [bb.load_wordlist(name).with_sub_topics("independent") for name in LISTS], kept, jobs)
    cells = cells.join(independent.cells[["ci95_lb", "ci95_ub", "verdict"]].add_prefix("independent_"))
    published = {(name, words): d for name, of in PUBLISHED.items() for words, d in zip(LISTS, of, strict=True)}
    cells.insert(0, "published_d", pd.Series(published))
    cells.insert(1, "d", cells.pop("weat_d"))
    return {
        "cells": cells,
        "coverage": found.coverage.set_index(["embedding", "list"]),
        "eighteen_names": _eighteen(opened["GoogleNews"]),
    }


def _eighteen(vectors: Any) -> pd.DataFrame:
    """WEAT 5 with the 18 names for each group that the original states."""
    words = bb.load_wordlist("weat5")
    groups = {group: (*names, *_MORE_NAMES[group]) for group, names in words.groups.items()}
    table = bb.cosines(bb.wordlist(groups, words.classes, words.stereotypes), vectors, ())
    weat = bb.measures.weat(table)
    return pd.DataFrame({"d": weat.value, "p": weat.p_value}, index=pd.Index(["weat5"], name="list"))
