"""Does ARCHITECTURE.md list every room of the package, and none that is not there?

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
    """Return the rooms that the page lists."""
    return set(_ROW.findall(page))


def rooms(package: Path) -> set[str]:
    """Return the rooms that there are: folders of modules, and that of the data."""
    folders = {path.parent.relative_to(package).as_posix() for path in package.rglob("*.py")}
    return folders - {"."} | {"data"}


def differences(page: set[str], tree: set[str], at_the_root: int) -> list[str]:
    """Return what one has and the other lacks, in sentences."""
    lines = [f"{room}: is in the package, and ARCHITECTURE.md has no row for it" for room in tree - page]
    lines += [f"{room}: has a row in ARCHITECTURE.md, and is not in the package" for room in page - tree]
    if at_the_root > MOST_AT_THE_ROOT:
        lines.append(f"the package has {at_the_root} modules at its root, at most {MOST_AT_THE_ROOT} are meant")
    return sorted(lines)


def main() -> None:
    """Compare page and package."""
    modules = [path for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    lines = differences(listed(page), rooms(PACKAGE), len(modules))
    print("\n".join(lines) or "ARCHITECTURE.md lists every room")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
