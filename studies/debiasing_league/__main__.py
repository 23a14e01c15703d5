"""The league again: `python -m studies.debiasing_league --folder FOLDER`; without a folder, text and figure alone.

Vectors and what was measured stay in the folder, so that a run which was stopped goes on; `--minutes` stops it. Results
are of all worlds that the folder has. With `--further` it starts from the worlds of the results, and adds others.
"""

import argparse
import json
import logging
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from time import perf_counter

import pandas as pd

from studies.debiasing_league.measuring import measured
from studies.debiasing_league.methods import METHODS
from studies.debiasing_league.page import HERE, write_page
from studies.debiasing_league.results import LEAGUE, NUMBERS, WORLD
from studies.debiasing_league.worlds import KINDS, SCENARIO, World, worlds

_VERSIONED = ("bayes-bias", "numpy", "scipy", "scikit-learn", "gensim")


def main() -> None:
    """Train, measure, keep, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--corpora", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--further", action="store_true")
    asked, start = parser.parse_args(), perf_counter()
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)  # which classes are controls, in each of many tables
    if asked.folder is not None:
        (asked.folder / "measured").mkdir(parents=True, exist_ok=True)
        if asked.further:
            _taken_up(asked.folder / "measured")
        for corpus in range(asked.corpora):
            for world in chain.from_iterable(zip(*(worlds(kind, corpus) for kind in KINDS), strict=True)):
                if perf_counter() - start < 60 * asked.minutes:
                    _measure(world, asked.folder)
        _keep(asked.folder / "measured")
    write_page()


def _measure(world: World, folder: Path) -> None:
    path = folder / "measured" / f"{world.name}.csv"
    if not path.exists():
        measured(world, folder / "vectors").to_csv(path, index=False)
        print(world.name, flush=True)


def _taken_up(folder: Path) -> None:
    """The worlds of the results as files of the folder, which are not trained again."""
    for world, rows in pd.read_csv(LEAGUE).groupby(list(WORLD), sort=False):
        path = folder / f"{'-'.join(map(str, world))}.csv"
        if not path.exists():
            rows.to_csv(path, index=False)


def _keep(folder: Path) -> None:
    rows = pd.concat([pd.read_csv(path) for path in sorted(folder.iterdir())], ignore_index=True)
    about = {
        "scenario": SCENARIO.text,
        "scenario sha256": SCENARIO.sha256,
        "methods": {name: method.provenance for name, method in METHODS.items()},
        "versions": {package: version(package) for package in _VERSIONED},
    }
    LEAGUE.parent.mkdir(exist_ok=True)
    rows[[*WORLD, "version", *NUMBERS]].to_csv(LEAGUE, index=False, float_format="%.5g")
    (HERE / "results" / "provenance.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
