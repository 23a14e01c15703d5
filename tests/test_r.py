"""The session of docs/how-to/r.md, run by R if it is installed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-to" / "r.md"
# What reticulate before 1.35 imports to find NumPy, and Python 3.12 lacks.
_IMP = """
import importlib.util, pathlib
def find_module(name):
    return None, str(pathlib.Path(importlib.util.find_spec(name).origin).parent), None
"""


def r_can(code: str) -> bool:
    """Whether R is installed and runs the code."""
    return (
        bool(shutil.which("Rscript")) and subprocess.run(["Rscript", "-e", code], capture_output=True).returncode == 0
    )


@pytest.mark.thorough
@pytest.mark.skipif(not r_can("library(reticulate)"), reason="needs R with reticulate")
def test_session_on_the_page_runs(tmp_path: Path) -> None:
    (tmp_path / "imp.py").write_text(_IMP, encoding="utf-8")
    scores_for(tmp_path / "scores.csv")
    blocks = re.findall(r"```r\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    needed = [block for block in blocks if "install.packages" not in block]
    if not r_can("library(jsonlite)"):
        needed = [block for block in needed if "jsonlite" not in block]
    session = "\n".join(["library(reticulate)", 'bb <- import("bayes_bias")', *needed, 'cat("RAN", verdict$label)'])
    (tmp_path / "session.R").write_text(session, encoding="utf-8")
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    surroundings = {"PATH": os.pathsep.join(paths), "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    ran = subprocess.run(
        ["Rscript", "session.R"],
        cwd=tmp_path,
        env={**os.environ, **surroundings, "RETICULATE_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "RAN not distinguishable" in ran.stdout


def scores_for(path: Path) -> None:
    """Write a score for each pair of five targets a group and five attributes a class."""
    rng = np.random.default_rng(1)
    rows = []
    for group, own in (("women", "family"), ("men", "career")):
        for target in range(5):
            for kind in ("family", "career"):
                for attribute in range(5):
                    score = (group == "women") + 0.5 * (kind == own) + rng.normal()
                    rows.append((f"{group}{target}", group, f"{kind}{attribute}", kind, score))
    columns = ["target", "group", "attribute", "class", "score"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
