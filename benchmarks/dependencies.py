"""What each dependency weighs: `python -m benchmarks.dependencies`.

Megabytes on disk, of a dependency and of what it alone brings; processor seconds that importing it takes in a new
process; and how many modules of the package import it, read from the sources.
"""

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.provenance import provenance, write

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = {"arviz": "arviz_stats", "lazy-loader": "lazy_loader", "scikit-learn": "sklearn"}


def main() -> None:
    """One row for each dependency."""
    direct = sorted(named([*PROJECT["dependencies"], "bayes-bias[all]"]))
    files = imported()
    rows = []
    for k, name in enumerate(direct):
        others = brought(direct[:k] + direct[k + 1 :])
        alone = brought([name]) - others
        rows.append(
            {
                "dependency": name,
                "megabytes": megabytes(name),
                "with what it alone brings": round(sum(map(megabytes, alone | {name})), 1),
                "also needed by others": name in others,
                "seconds": seconds(MODULES.get(name, name)),
                "modules": files[MODULES.get(name, name)],
            }
        )
        print(rows[-1], flush=True)
    everything = brought(direct)
    about = provenance() | {"distributions": len(everything), "megabytes": round(sum(map(megabytes, everything)))}
    write("dependencies", about | {"python": sys.version.split()[0]}, rows)


def named(requirements: list[str]) -> set[str]:
    """Return the distributions in requirements. Extras of this package are replaced by their distributions."""
    found: set[str] = set()
    for required in map(Requirement, requirements):
        own = [PROJECT["optional-dependencies"][extra] for extra in required.extras]
        found |= set().union(*map(named, own)) if own else {canonicalize_name(required.name)}
    return found


def brought(names: list[str]) -> set[str]:
    """Distributions that are installed with these, themselves included."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = canonicalize_name(left.pop())
        if name in found:
            continue
        found.add(name)
        for line in metadata.requires(name) or []:
            required = Requirement(line)
            if required.marker is None or required.marker.evaluate({"extra": ""}):
                left.append(required.name)
    return found


def megabytes(name: str) -> float:
    """Size of a distribution's files on disk."""
    files = [Path(str(file.locate())) for file in metadata.files(name) or []]
    return round(sum(file.stat().st_size for file in files if file.is_file()) / 1e6, 1)


def seconds(module: str) -> float:
    """Processor time that importing this takes in a new process."""
    code = f"import time\nbegan = time.process_time()\nimport {module}\nprint(time.process_time() - began)"
    return round(float(subprocess.check_output([sys.executable, "-c", code], text=True)), 1)


def imported() -> Counter[str]:
    """How many files of the package import each module, at their top or where they need it."""
    files: Counter[str] = Counter()
    for file in (ROOT / "bayes_bias").rglob("*.py"):
        names: set[str] = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names=aliases):
                    names |= {alias.name.partition(".")[0] for alias in aliases}
                case ast.ImportFrom(module=str(module), level=0):
                    names.add(module.partition(".")[0])
        files.update(names)
    return files


if __name__ == "__main__":
    main()
