"""Results as JSON: what was measured, and what it was measured with."""

import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_bias.models.spec import load_spec

_HERE = Path(__file__).parent
# Short runs keep theirs elsewhere, so that they do not replace what took hours.
RESULTS = Path(os.environ.get("BENCHMARK_RESULTS", _HERE / "results"))
PAGES = _HERE.parent / "docs" / "evidence" if RESULTS == _HERE / "results" else RESULTS / "evidence"
_VERSIONED = ("bayes-bias", "pymc", "pytensor", "nutpie", "arviz", "numpy", "scipy")


def provenance() -> dict[str, object]:
    """Versions, default model, processor and number of cores; no names of machines."""
    return {
        "versions": {package: version(package) for package in _VERSIONED},
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "default model": load_spec("crossed").sha256[:12],
    }


def processor() -> str:
    """The name of the processor, as Linux has it."""
    names = re.findall(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return names[0] if names else platform.machine()


def write(name: str, about: Mapping[str, object], rows: Sequence[Mapping[str, object]]) -> None:
    """Keep a result in `benchmarks/results/<name>.json`."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"about": about, "rows": rows}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Its rows as `write` wants them: JSON has no NaN."""
    return table.astype(object).where(table.notna(), None).to_dict("records")


def read(name: str) -> dict[str, list[dict[str, object]]]:
    """A result that `write` kept."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def measured(name: str) -> bool:
    """Whether there is a result of this name."""
    return (RESULTS / f"{name}.json").is_file()
