"""Compare the subpackages in ARCHITECTURE.md with those of the package.

    python scripts/check_architecture.py

Prints each difference in one line and exits with 1 if there is one; part of `make lint`.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "bayes_bias"
MOST_AT_THE_ROOT = 8

_ROW = re.compile(r"^\| `([\w/]+)` \| [^|]+ \|$", re.MULTILINE)


def listed(page: str) -> set[str]:
    """Return the subpackages that the page lists."""
    return set(_ROW.findall(page))


def subpackages(package: Path) -> set[str]:
    """Return the folders of modules and the folder of the data."""
    folders = {path.parent.relative_to(package).as_posix() for path in package.rglob("*.py")}
    return folders - {"."} | {"data"}


def differences(page: set[str], tree: set[str], at_the_root: int) -> list[str]:
    """Return what one has and the other lacks, in sentences."""
    lines = [f"{name}: is in the package, and ARCHITECTURE.md has no row for it" for name in tree - page]
    lines += [f"{name}: has a row in ARCHITECTURE.md, and is not in the package" for name in page - tree]
    if at_the_root > MOST_AT_THE_ROOT:
        lines.append(f"the package has {at_the_root} modules at its root, at most {MOST_AT_THE_ROOT} are meant")
    return sorted(lines)


def main() -> None:
    """Compare page and package."""
    modules = [path for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    lines = differences(listed(page), subpackages(PACKAGE), len(modules))
    print("\n".join(lines) or "ARCHITECTURE.md lists every subpackage")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
