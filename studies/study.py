"""A study: its command line, its results with provenance, and its text, whose numbers are those of the results."""

import argparse
import hashlib
import json
import logging
import math
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from studies.auditing import SEED

HERE = Path(__file__).parent
_VERSIONED = ("bayes-bias", "pymc", "pytensor", "nutpie", "arviz", "numpy", "scipy")

type Results = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Study:
    """A study: the data that it reads, and what it makes of them.

    Attributes
    ----------
    name : str
        Its folder.
    files : tuple of str
        The files of data, relative to the folder of data.
    compute : callable
        From the folder of data, a folder that keeps posteriors, and a number of processes to tables of results.
    facts : callable
        From the results to what `README.md.jinja` says.
    headlines : callable
        From the results to rows of the table of all studies: the finding, as published, with both lists as samples.
    draw : callable
        From the results to figures in a folder.
    """

    name: str
    files: tuple[str, ...]
    compute: Callable[[Path, Path, int], Results]
    facts: Callable[[Results], dict[str, Any]]
    headlines: Callable[[Results], list[tuple[str, str, str]]]
    draw: Callable[[Results, Path], None]

    @property
    def home(self) -> Path:
        """Where the text and the results lie that the project ships."""
        return HERE / self.name

    def page(self, home: Path) -> str:
        """The text, with the numbers of the results in `home`."""
        template = _templates().from_string((self.home / "README.md.jinja").read_text(encoding="utf-8"))
        return template.render(self.facts(read_results(home / "results")), about=_provenance_in(home))

    def write_page(self, home: Path) -> None:
        """The text and the figures again, from the results."""
        (home / "figures").mkdir(parents=True, exist_ok=True)
        self.draw(read_results(home / "results"), home / "figures")
        (home / "README.md").write_text(self.page(home), encoding="utf-8")


def main(study: Study) -> None:
    """``python -m studies.NAME --data FOLDER``: compute what is missing, then write results, figures and text."""
    asked = _arguments(study)
    home: Path = asked.out
    if asked.data is not None:
        logging.getLogger("bayes_bias").setLevel(logging.ERROR)  # which words a language lacks; coverage counts them
        begun = time.perf_counter()
        results = study.compute(asked.data, home / "kept", asked.jobs)
        about = _provenance([asked.data / file for file in study.files], asked.data)
        write_results(home / "results", results, about | {"minutes": round((time.perf_counter() - begun) / 60, 1)})
    study.write_page(home)


def _arguments(study: Study) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m studies.{study.name}", description=study.compute.__doc__)
    parser.add_argument("--data", type=Path, help="folder of the data; without it text and figures are made again")
    parser.add_argument("--out", type=Path, default=study.home, help="folder of results, figures and text")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; one on each core by default")
    asked = parser.parse_args()
    missing = [file for file in study.files if asked.data is not None and not (asked.data / file).is_file()]
    if missing:
        parser.error(f"--data: {asked.data} lacks {', '.join(missing)}; the README says where they come from")
    return asked


def write_results(folder: Path, results: Results, about: Mapping[str, Any]) -> None:
    """Each table as CSV, and what it was computed with as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in results.items():
        table.to_csv(folder / f"{name}.csv", float_format="%.6g")
    (folder / "provenance.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def read_results(folder: Path) -> Results:
    """Tables by name; the first column is not taken for an index."""
    return {path.stem: pd.read_csv(path, keep_default_na=True) for path in sorted(folder.glob("*.csv"))}


def _provenance(files: Sequence[Path], data: Path) -> dict[str, Any]:
    """Versions, seed and the hashes of the data; no names of machines."""
    return {
        "versions": {package: version(package) for package in _VERSIONED},
        "python": platform.python_version(),
        "seed": SEED,
        "sha256": {str(path.relative_to(data)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
    }


def _provenance_in(home: Path) -> dict[str, Any]:
    return json.loads((home / "results" / "provenance.json").read_text(encoding="utf-8"))


def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    environment.filters |= {
        "signed": signed,
        "interval": interval,
        "p": p_value,
        "table": markdown,
        "versions": versions,
    }
    return environment


def versions(of: Mapping[str, str]) -> str:
    """Packages and their versions."""
    return ", ".join(f"{name} {number}" for name, number in of.items())


def signed(value: float, decimals: int = 3) -> str:
    """A difference, with its sign."""
    return f"{value:+.{decimals}f}".replace("-", "−")


def interval(bounds: Sequence[float], decimals: int = 3) -> str:
    """Both ends of an interval."""
    return f"[{', '.join(signed(end, max(decimals, _decisive(end))) for end in bounds)}]"


def _decisive(end: float) -> int:
    """Decimals that show on which side of zero it lies."""
    return 0 if end == 0 else max(0, math.ceil(-math.log10(2 * abs(end))))


def p_value(value: float) -> str:
    """A probability to three digits, without the leading zero."""
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def markdown(frame: pd.DataFrame) -> str:
    """A table whose cells are text already."""
    return frame.to_markdown(index=False, disable_numparse=True)
